package chaintest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"cointill/chain"
	"cointill/core/money"
)

// Signer is a chain.Signer without a network. What it answers is set before use; what it was asked
// is read afterwards.
type Signer struct {
	Terms   string // of PrepareTerms
	Fails   error  // of PrepareTerms
	Refuses error  // of Broadcast

	mu      sync.Mutex
	Earlier []string      // terms that PrepareTerms was given
	Orders  []chain.Order // that PrepareTerms was given
	Sent    []string      // raw transactions that were broadcast
}

var _ chain.Signer = (*Signer)(nil)

// Sign returns a signed transaction: its hash, and what CheckSigned compares.
func Sign(hash string, o chain.Order, terms string) string {
	return strings.Join([]string{hash, o.From, o.To.Address, o.Asset, o.Amount.String(), terms}, "|")
}

// PrepareTerms implements chain.Signer.
func (s *Signer) PrepareTerms(_ context.Context, o chain.Order, earlier string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Orders, s.Earlier = append(s.Orders, o), append(s.Earlier, earlier)
	return s.Terms, s.Fails
}

// BuildUnsigned implements chain.Signer.
func (s *Signer) BuildUnsigned(o chain.Order, terms string) (chain.Unsigned, error) {
	return chain.Unsigned{URI: "ethereum:" + o.To.Address, Request: fmt.Sprintf(`{"from":%q}`, o.From), ChainID: 31337,
		Fee: money.Units(21_000_000_000), FeeAsset: string(money.ETH),
		Files: []chain.SigningFile{{Name: "unsigned.txt", Type: "text/plain",
			Content: []byte(Sign("", o, terms))}}}, nil
}

// CheckSigned implements chain.Signer.
func (s *Signer) CheckSigned(o chain.Order, terms, signed string) (chain.Signed, []chain.Difference, error) {
	hash, content, found := strings.Cut(signed, "|")
	if !found {
		return chain.Signed{}, nil, errors.New("not a transaction")
	}
	checked := chain.Signed{Hash: hash, Raw: signed, Fee: money.Units(1)}
	if _, want, _ := strings.Cut(Sign("", o, terms), "|"); content != want {
		return checked, []chain.Difference{{Field: "destination", Approved: want, Signed: content}}, nil
	}
	return checked, nil, nil
}

// Broadcast implements chain.Signer.
func (s *Signer) Broadcast(_ context.Context, raw string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Sent = append(s.Sent, raw)
	return s.Refuses
}

// ErrAccount is the error of ParseAccount for the account 0xerror.
var ErrAccount = errors.New("chaintest: the account can't be read")

// ParseAccount implements chain.Signer. Accounts begin with 0x.
func (s *Signer) ParseAccount(address string) (account, spendPrefix string, err error) {
	if address == "0xerror" {
		return "", "", ErrAccount
	}
	if !strings.HasPrefix(address, "0x") {
		return "", "", chain.Refusal("Must begin with 0x.")
	}
	return "0x" + strings.ToUpper(address[2:]), strings.ToLower(address) + ":", nil
}
