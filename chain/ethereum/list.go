package ethereum

import (
	"bytes"
	"errors"
	"math"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain/node"
)

const (
	// mostElements bounds the transactions and receipts of a block, and the logs of a
	// receipt: more don't fit into maxBlock as nodes write them, of which the shortest, a
	// log with nothing in it, takes 340 bytes. A block of 60 million gas has at most 2,857
	// transactions.
	mostElements = 100_000
	// mostWithdrawals bounds those of a block, of which the network takes 16.
	mostWithdrawals = 1_000
)

// errNameless is an element without the hash that each has: refused as soon as it is
// read, as lists of nothing but {} would take a hundred times their length in memory.
var errNameless = errors.New("an element without its hash")

// element is what lists hold.
type element[T any] interface {
	*T
	named() bool
}

func (t *transaction) named() bool { return t.Hash != hash{} }
func (r *receipt) named() bool     { return r.Tx != hash{} }
func (l *logged) named() bool      { return l.Tx != hash{} }
func (w *withdrawal) named() bool  { return true } // there are few

// elements reads a list; nil is null.
func elements[T any, P element[T]](d *jsontext.Decoder, most int) (all []T, err error) {
	if d.PeekKind() == '[' {
		all = []T{}
	}
	err = node.List(d, most, func() error {
		all = append(all, *new(T))
		last := P(&all[len(all)-1])
		if err := json.UnmarshalDecode(d, last); err != nil {
			return err
		}
		if !last.named() {
			return errNameless
		}
		return nil
	})
	return all, err
}

// The lists of blocks and receipts.
type (
	transactions []transaction
	withdrawals  []withdrawal
	receipts     []receipt
	logs         []logged
)

// UnmarshalJSONFrom reads the list.
func (l *transactions) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	*l, err = elements[transaction](d, mostElements)
	return err
}

// UnmarshalJSONFrom reads the list.
func (l *withdrawals) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	*l, err = elements[withdrawal](d, mostWithdrawals)
	return err
}

// UnmarshalJSONFrom reads the list.
func (l *receipts) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	*l, err = elements[receipt](d, mostElements)
	return err
}

// UnmarshalJSONFrom reads the list.
func (l *logs) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	*l, err = elements[logged](d, mostElements)
	return err
}

// each reads a result that must be a list, of any length, and hands one element after
// the other on: it takes the memory of one.
func each[T any](r reply, empty func() T, take func(*T) error) error {
	if r.Error != nil {
		return r.Error
	}
	var taken error
	d := jsontext.NewDecoder(bytes.NewBuffer(r.Result), node.Frugal)
	err := node.List(d, math.MaxInt, func() error {
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
	return strange(errors.New(node.Clip(err.Error())))
}
