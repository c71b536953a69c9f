package chain

import (
	"context"

	"cointill/core/money"
)

// Order is an approved send, as the adapter of its network needs it.
type Order struct {
	From   string // the account that pays
	To     Destination
	Asset  string // a coin symbol
	Amount money.Amount
	// ID identifies the send where the network carries such a number (InvoiceID on the XRP Ledger).
	ID [32]byte
	// Outputs, Change and Speed are for networks of an OutputSigner: the unspent outputs of the account
	// that may pay, where the rest returns to, and how fast a block is to take the transaction.
	Outputs []OwnOutput
	Change  OwnAddress
	Speed   Speed
	// Beside are further sends that the same transaction pays, on networks of an OutputSigner.
	Beside []Payee
}

// Payee is a destination and its amount.
type Payee struct {
	To     Destination
	Amount money.Amount
}

// Payees lists all that an order pays, in the order of the transaction's outputs.
func (o Order) Payees() []Payee { return append([]Payee{{o.To, o.Amount}}, o.Beside...) }

// Total is the sum of all that an order pays.
func (o Order) Total() (sum money.Amount) {
	for _, p := range o.Payees() {
		sum = sum.Add(p.Amount)
	}
	return sum
}

// Unsigned is a transaction for a wallet to sign, in the forms that wallets take.
type Unsigned struct {
	Files []SigningFile
	URI   string // link that a wallet opens; "" for none
	// Request is JSON for a wallet in the browser: with a ChainID the parameter of eth_sendTransaction, without one a
	// transaction that a wallet of Tron signs and returns. "" for none.
	Request  string
	ChainID  uint64 // that such a wallet must be on; 0 for none
	Fee      money.Amount
	FeeAsset string // coin of Fee, the most that the network takes
	FeeRate  string // what the network takes for a unit of size or gas, for people; "" where fees are no rates
	Token    string // contract that the transaction calls; "" where it moves the network's own coin
	Change   *Payee // what returns to the account that pays; nil where nothing does
	// Contract says that a contract wallet makes the transaction from the file: no signed one comes back.
	Contract bool
	// Parts are the texts of an animated QR code, shown one after the other; none without such a code.
	Parts []string
}

// SigningFile is one form of an unsigned transaction.
type SigningFile struct {
	Name, Type string // Type is its media type
	Content    []byte
}

// Signed is a signed transaction that makes exactly its order.
type Signed struct {
	Hash string // as blocks and transfers name the transaction
	Raw  string // as nodes take it
	Fee  money.Amount
}

// Claim is what each transaction uses up that was prepared for an order on its last terms, or on earlier ones.
type Claim struct {
	Keys []string // spend keys; none where nothing is known
	Last int64    // height of the last block that can have one of the transactions; 0 for no such bound
	// Number is that of the transactions (nonce, sequence), of which an account has one of each; "" for none.
	Number string
}

// NumberSigner is a Signer of a network whose accounts number their transactions.
type NumberSigner interface {
	Signer
	// ReadClaim returns what transactions for an order on terms use up. It asks no node.
	ReadClaim(order Order, terms string) (Claim, error)
}

// Refusal is an error whose sentence tells the merchant why an order can't be made, why the network
// didn't take a transaction. A node's failure is another error.
type Refusal string

// Error returns the sentence.
func (r Refusal) Error() string { return string(r) }

// InputRefusal is an error whose sentence tells the merchant the fault of a text that they entered: an account,
// or a signed transaction. It is a literal without verbs of package fmt, as it is also the id of its translations.
type InputRefusal string

// Error returns the sentence.
func (r InputRefusal) Error() string { return string(r) }

// NumberTaken is the Refusal of a transaction whose number (nonce, sequence) the network has used.
const NumberTaken Refusal = "Another transaction of this wallet has taken its number. If that one was this send, " +
	"the send changes in a moment. Otherwise withdraw the send and ask for it again."

// MaxSigned bounds a signed transaction that a wallet returned, in bytes. The longest that is handed out, a PSBT,
// has no more when it is signed and written as base64.
const MaxSigned = 400_000

// Signer builds the transactions of a network that a merchant's wallet signs, checks signed ones,
// and broadcasts them. It holds no key. Its Refusals quote nothing but what a node said.
type Signer interface {
	// PrepareTerms asks a node for what a transaction needs beside its order: the account's number
	// of the transaction and the fee. earlier are the terms of a transaction for the same order
	// that may have been signed, "" for none: its number is taken again, so that only one of the two
	// can confirm. Once the network has used that number the order is refused with NumberTaken, as
	// the transaction may be the order's own, in a block that was not read yet.
	PrepareTerms(ctx context.Context, order Order, earlier string) (terms string, err error)
	// BuildUnsigned returns the transaction that makes an order on terms. It asks no node.
	BuildUnsigned(order Order, terms string) (Unsigned, error)
	// CheckSigned compares a signed transaction with its order and terms. Without differences it
	// makes exactly that order, for at most three times the fee. It asks no node.
	CheckSigned(order Order, terms, signed string) (Signed, []Difference, error)
	// Broadcast has a node send a signed transaction. One that the node has already is no error.
	Broadcast(ctx context.Context, raw string) error
	// ParseAccount reads an account that may pay, and returns it in its usual form, with what the
	// spend keys of its transactions begin with.
	ParseAccount(address string) (account, spendPrefix string, err error)
}

// TokenSigner is a Signer of a network on which USDT is a contract.
type TokenSigner interface {
	Signer
	// TokenContract returns the contract in the usual form of addresses; "" where there is none.
	TokenContract() string
}
