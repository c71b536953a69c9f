package ethereum

import (
	"bytes"
	"errors"
	"math"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain/ethereum/rpc"
	"cointill/chain/node"
)

const (
	// maxElements bounds the transactions and receipts of a block, and the logs of a receipt. More
	// cannot fit into maxBlockResponse, because the shortest element, an empty log, takes 340
	// bytes. A block of 60 million gas has at most 2,857 transactions.
	maxElements = 100_000
	// maxWithdrawals bounds the withdrawals of a block. The network allows 16.
	maxWithdrawals = 1_000
)

// errNoHash is the error for an element without a hash, which every element must have. The element
// is rejected as soon as it is read, because a list of {} would take a hundred times its length in
// memory.
var errNoHash = errors.New("an element without its hash")

// element is implemented by the types of list elements.
type element[T any] interface {
	*T
	hasHash() bool
}

func (t *transaction) hasHash() bool { return t.Hash != hash{} }
func (r *receipt) hasHash() bool     { return r.Tx != hash{} }
func (l *logEntry) hasHash() bool    { return l.Tx != hash{} }
func (w *withdrawal) hasHash() bool  { return true } // a withdrawal has no hash, and a block has few of them

// decodeList reads a list of at most most elements. Null gives nil.
func decodeList[T any, P element[T]](d *jsontext.Decoder, most int) (all []T, err error) {
	if d.PeekKind() == '[' {
		all = []T{}
	}
	err = node.ReadList(d, most, func() error {
		all = append(all, *new(T))
		last := P(&all[len(all)-1])
		if err := json.UnmarshalDecode(d, last); err != nil {
			return err
		}
		if !last.hasHash() {
			return errNoHash
		}
		return nil
	})
	return all, err
}

// The lists in blocks and receipts.
type (
	transactions []transaction
	withdrawals  []withdrawal
	receipts     []receipt
	logs         []logEntry
)

// UnmarshalJSONFrom reads the list.
func (l *transactions) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	*l, err = decodeList[transaction](d, maxElements)
	return err
}

// UnmarshalJSONFrom reads the list.
func (l *withdrawals) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	*l, err = decodeList[withdrawal](d, maxWithdrawals)
	return err
}

// UnmarshalJSONFrom reads the list.
func (l *receipts) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	*l, err = decodeList[receipt](d, maxElements)
	return err
}

// UnmarshalJSONFrom reads the list.
func (l *logs) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	*l, err = decodeList[logEntry](d, maxElements)
	return err
}

// streamList reads a result that must be a list of any length and passes each element to take. It
// holds one element in memory at a time.
func streamList[T any](r rpc.Response, empty func() T, take func(*T) error) error {
	if r.Error != nil {
		return r.Error
	}
	var taken error
	d := jsontext.NewDecoder(bytes.NewBuffer(r.Result), node.AllowDuplicateNames)
	err := node.ReadList(d, math.MaxInt, func() error {
		one := empty()
		if err := json.UnmarshalDecode(d, &one); err != nil {
			return err
		}
		taken = take(&one)
		return taken
	})
	if err == nil || taken != nil {
		return taken
	}
	return rpc.InvalidAnswerError(errors.New(node.PrintableText(err.Error())))
}
