// Package signing builds the payments of the XRP Ledger that a merchant's wallet signs, and
// compares a signed transaction with the payment that was approved. It holds no key and makes no
// request.
package signing

import (
	"encoding/hex"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"

	"cointill/chain/xrpl/params"
	"cointill/core/money"
)

// Payment is an approved payment of XRP.
type Payment struct {
	Account, Destination string // classic addresses
	Tag                  *uint32
	Amount               money.Amount // drops that Destination receives
	Fee                  money.Amount // drops
	Sequence             uint32
	LastLedgerSequence   uint32
	InvoiceID            [32]byte // identifies the send on the ledger
	// NetworkID is the network's number. Transactions name it only where it is above 1024.
	NetworkID uint32
}

// ErrPayment rejects a payment that no transaction can make.
var ErrPayment = errors.New("no transaction can make this payment")

const (
	// lastUnnamedNetwork is the largest number of a network that transactions must not name.
	lastUnnamedNetwork = 1024
	// maxDrops is all XRP that there is.
	maxDrops = 100_000_000_000_000_000
)

// parse checks the payment and returns its accounts.
func (p Payment) parse() (from, to params.Account, err error) {
	from, err = params.ParseAccount(p.Account)
	to, err2 := params.ParseAccount(p.Destination)
	if err != nil || err2 != nil || from == to || !isAmount(p.Amount) || !isAmount(p.Fee) || p.Sequence == 0 ||
		p.LastLedgerSequence == 0 || p.InvoiceID == [32]byte{} {
		return params.Account{}, params.Account{}, ErrPayment
	}
	return from, to, nil
}

// isAmount reports whether a number of drops is above zero and exists.
func isAmount(a money.Amount) bool { return a.Sign() > 0 && a.Cmp(money.Units(maxDrops)) <= 0 }

// namedNetwork returns the NetworkID of the transaction; nil means none.
func (p Payment) namedNetwork() *uint32 {
	if p.NetworkID <= lastUnnamedNetwork {
		return nil
	}
	return &p.NetworkID
}

// BuildUnsigned returns the transaction as the JSON object that Wallet.sign of xrpl.js takes. It
// has no flags, so it delivers all of its amount or fails.
func BuildUnsigned(p Payment) ([]byte, error) {
	from, to, err := p.parse()
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		TransactionType    string
		Account            string
		Destination        string
		DestinationTag     *uint32 `json:",omitzero"`
		Amount             string
		Fee                string
		Sequence           uint32
		LastLedgerSequence uint32
		InvoiceID          string
		NetworkID          *uint32 `json:",omitzero"`
	}{paymentType, from.String(), to.String(), p.Tag, p.Amount.String(), p.Fee.String(), p.Sequence,
		p.LastLedgerSequence, formatHex(p.InvoiceID[:]), p.namedNetwork()})
}

// formatHex writes bytes as the ledger's tools do.
func formatHex(text []byte) string { return strings.ToUpper(hex.EncodeToString(text)) }
