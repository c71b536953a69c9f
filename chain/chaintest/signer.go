package chaintest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"cointill/chain"
	"cointill/core/money"
)

// Signer is a chain.Signer without a network. What it answers is set before use; what it was asked
// is read afterwards.
type Signer struct {
	Terms   string // of PrepareTerms
	Fails   error  // of PrepareTerms
	Refuses error  // of Broadcast
	// Blocks are of FindTransaction by the transaction's id; without one there is no such transaction.
	Blocks    map[string]chain.Block
	FindFails error           // of FindTransaction
	Contracts map[string]bool // of IsContract, of BuildUnsigned, and of ReadClaim
	Last      int64           // of ReadClaim
	// Differences are of CheckSigned for a transaction that is not the order's; nil for one of the destination.
	Differences []chain.Difference
	// Shown has further fields of BuildUnsigned: FeeRate, Token and Change.
	Shown chain.Unsigned
	Token string // of TokenContract

	mu      sync.Mutex
	Earlier []string      // terms that PrepareTerms was given
	Orders  []chain.Order // that PrepareTerms was given
	Sent    []string      // raw transactions that were broadcast
}

var (
	_ chain.NumberSigner      = (*Signer)(nil)
	_ chain.TransactionFinder = (*Signer)(nil)
	_ chain.BatchSigner       = (*Signer)(nil)
	_ chain.TokenSigner       = (*Signer)(nil)
)

// Sign returns a signed transaction: its hash, and what CheckSigned compares.
func Sign(hash string, o chain.Order, terms string) string {
	parts := []string{hash, o.From, o.To.Address, o.Asset, o.Amount.String(), terms}
	for _, p := range o.Beside {
		parts = append(parts, p.To.Address, p.Amount.String())
	}
	return strings.Join(parts, "|")
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
		Fee: money.Units(21_000_000_000), FeeAsset: string(money.ETH), Contract: s.Contracts[o.From],
		FeeRate: s.Shown.FeeRate, Token: s.Shown.Token, Change: s.Shown.Change,
		Files: []chain.SigningFile{{Name: "unsigned.txt", Type: "text/plain",
			Content: []byte(Sign("", o, terms))}}}, nil
}

// ReadClaim implements chain.NumberSigner: terms are a number.
func (s *Signer) ReadClaim(o chain.Order, terms string) (c chain.Claim, err error) {
	if c.Last = s.Last; !s.Contracts[o.From] {
		c.Keys, c.Number = []string{strings.ToLower(o.From) + ":" + terms}, terms
	}
	return c, nil
}

// CheckSigned implements chain.Signer.
func (s *Signer) CheckSigned(o chain.Order, terms, signed string) (chain.Signed, []chain.Difference, error) {
	hash, content, found := strings.Cut(signed, "|")
	if !found {
		return chain.Signed{}, nil, errors.New("not a transaction")
	}
	checked := chain.Signed{Hash: hash, Raw: signed, Fee: money.Units(1)}
	if _, want, _ := strings.Cut(Sign("", o, terms), "|"); content != want {
		if s.Differences != nil {
			return checked, s.Differences, nil
		}
		return checked, []chain.Difference{{Field: "destination", Approved: want, Signed: content}}, nil
	}
	return checked, nil, nil
}

// FindTransaction implements chain.TransactionFinder. Ids begin with 0x. Transfers without a block are the
// mempool's.
func (s *Signer) FindTransaction(_ context.Context, id string, watch chain.Watch) (chain.Block, error) {
	if s.FindFails != nil {
		return chain.Block{}, s.FindFails
	}
	block, known := s.Blocks[id]
	switch {
	case !strings.HasPrefix(id, "0x"):
		return block, chain.ErrTransactionID
	case !known:
		return block, chain.ErrNoTransaction
	case block.Height == 0 && len(block.Transfers) == 0:
		return block, chain.ErrUnconfirmed
	}
	block.Transfers = slices.DeleteFunc(slices.Clone(block.Transfers), func(t chain.Transfer) bool {
		return !watch.Address(t.Address)
	})
	if block.Height == 0 {
		return block, chain.ErrPending
	}
	return block, nil
}

// IsContract implements chain.BatchSigner.
func (s *Signer) IsContract(_ context.Context, account string) (bool, error) {
	return s.Contracts[account], s.Fails
}

// BuildBatch implements chain.BatchSigner.
func (s *Signer) BuildBatch(orders []chain.Order, created time.Time) (chain.SigningFile, error) {
	text := created.UTC().Format(time.RFC3339)
	for _, o := range orders {
		text += "\n" + Sign("", o, "")
	}
	return chain.SigningFile{Name: "safe.json", Type: "application/json", Content: []byte(text)}, nil
}

// Broadcast implements chain.Signer.
func (s *Signer) Broadcast(_ context.Context, raw string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Sent = append(s.Sent, raw)
	return s.Refuses
}

// TokenContract implements chain.TokenSigner.
func (s *Signer) TokenContract() string { return s.Token }

// ErrAccount is the error of ParseAccount for the account 0xerror.
var ErrAccount = errors.New("chaintest: the account can't be read")

// ParseAccount implements chain.Signer. Accounts begin with 0x.
func (s *Signer) ParseAccount(address string) (account, spendPrefix string, err error) {
	if address == "0xerror" {
		return "", "", ErrAccount
	}
	if !strings.HasPrefix(address, "0x") {
		return "", "", chain.InputRefusal("Must begin with 0x.")
	}
	return "0x" + strings.ToUpper(address[2:]), strings.ToLower(address) + ":", nil
}
