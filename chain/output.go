package chain

import (
	"context"
	"fmt"
	"strings"

	"cointill/core/money"
)

// OutputSigner is a Signer of a network whose transactions spend outputs (Bitcoin, Dogecoin). An
// account is an account key, whose addresses have received the outputs.
type OutputSigner interface {
	Signer
	// FindOutputStates asks a node whether outputs are spent, in their order.
	FindOutputStates(ctx context.Context, outputs []OwnOutput) ([]OutputState, error)
	// ListInputs lists the spend keys of the outputs that a transaction on terms spends, and of those that it shares
	// with all transactions on earlier terms for the same order.
	ListInputs(terms string) (keys, shared []string, err error)
	// CountParts reports how many parts of the QR code of a signed transaction are there, one a line, and how
	// many make the transaction. It returns 0 of 0 for other texts, and for parts of several codes.
	CountParts(text string) (have, want int)
}

// OutputsTaken is the Refusal of a send whose outputs another transaction has spent.
const OutputsTaken Refusal = "Another transaction has spent the money that this send was prepared with. If that one " +
	"was this send, it changes in a moment. Otherwise withdraw the send and ask for it again."

// OwnAddress is an address of an account key.
type OwnAddress struct {
	Address string
	KeyOrigin
}

// KeyOrigin says how a wallet derives a key (BIP 32).
type KeyOrigin struct {
	Fingerprint [4]byte  // of the master key; of the account's key where the master key is unknown
	Path        []uint32 // from the key of the fingerprint; hardened steps have the highest bit
	PublicKey   []byte   // compressed, 33 bytes
}

// OwnOutput is an output that an account has received.
type OwnOutput struct {
	TxID      string
	Index     int
	Amount    money.Amount
	BlockHash string // of the block that holds the transaction
	OwnAddress
}

// SpendKey returns the output's spend key.
func (o OwnOutput) SpendKey() string { return fmt.Sprintf("%s:%d", o.TxID, o.Index) }

// OutputState is what a node says about an output.
type OutputState int

// The states of outputs.
const (
	OutputUnspent OutputState = iota
	OutputClaimed             // a transaction spends it that no block holds yet
	OutputSpent               // a transaction of a block has spent it
)

// Speed is a choice of the fee.
type Speed string

// The speeds: within about an hour, half a day, and some days.
const (
	SpeedFast   Speed = "fast"
	SpeedUsual  Speed = "usual"
	SpeedSaving Speed = "saving"
)

// Speeds lists the speeds, the fastest first.
func Speeds() []Speed { return []Speed{SpeedFast, SpeedUsual, SpeedSaving} }

// HasOutputs reports a real network whose transactions spend outputs.
func (n Network) HasOutputs() bool {
	kind, _, _ := strings.Cut(string(n), "-")
	return kind == string(money.Bitcoin) || kind == string(money.Dogecoin)
}
