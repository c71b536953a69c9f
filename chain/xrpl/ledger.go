package xrpl

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
	"cointill/chain/node"
)

const (
	// maxLedger bounds the answer with a ledger's transactions: the fullest that
	// the network makes are a tenth of it.
	maxLedger = 32 << 20
	// maxTransactions bounds how many transactions a ledger has; some hundred are usual.
	maxTransactions = 10_000
	// maxNodes bounds how many entries of the ledger one transaction changes.
	maxNodes = 10_000
	// maxPages bounds in how many answers a ledger may come.
	maxPages = 1_000
	// maxMarker bounds what a server wants to hear to go on where it stopped.
	maxMarker = 4 << 10
)

// ledgerResult is the answer to the command ledger, and where its transactions go.
type ledgerResult struct {
	refusal
	Ledger    ledgerBody     `json:"ledger"`
	Validated bool           `json:"validated"`
	Marker    jsontext.Value `json:"marker"`
}

type ledgerBody struct {
	head
	Transactions entries `json:"transactions"`
}

// entries hands each transaction of a list on as it is read, so that a list takes
// the memory of one. The entry is used again for the next.
type entries struct{ each func(*entry) error }

// UnmarshalJSONFrom reads the list.
func (l *entries) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '[' {
		return errors.New("transactions are no list")
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	var e entry
	for dec.PeekKind() == '{' {
		e.clear()
		if err := json.UnmarshalDecode(dec, &e); err != nil {
			return err
		}
		if l.each == nil {
			continue
		}
		if err := l.each(&e); err != nil {
			return err
		}
	}
	token, err := dec.ReadToken()
	if err == nil && token.Kind() != ']' {
		err = errors.New("a transaction is no object")
	}
	return err
}

// entry is a transaction with what it did. It has deliberately no field for
// Amount and DeliverMax: those are what a sender asked for, and with a partial
// payment nobody gets them.
type entry struct {
	body            // version 1 of the API
	TxJSON   body   `json:"tx_json"` // version 2
	Hash     string `json:"hash"`
	Meta     meta   `json:"meta"`     // version 2, and the command tx of version 1
	MetaData meta   `json:"metaData"` // version 1
}

// body is what is read of a transaction itself.
type body struct {
	TransactionType string         `json:"TransactionType"`
	Account         string         `json:"Account"`
	Destination     string         `json:"Destination"`
	DestinationTag  jsontext.Value `json:"DestinationTag"` // only what is a number of 32 bits is one
	Fee             jsontext.Value `json:"Fee"`
	Delegate        jsontext.Value `json:"Delegate"` // who pays the fee instead of Account
	Sponsor         jsontext.Value `json:"Sponsor"`  // the same
}

// meta is what a transaction did.
type meta struct {
	Result    string         `json:"TransactionResult"`
	Index     jsontext.Value `json:"TransactionIndex"` // its place in the ledger
	Delivered jsontext.Value `json:"delivered_amount"`
	Nodes     affected       `json:"AffectedNodes"`
}

// clear forgets an entry and keeps its memory.
func (e *entry) clear() {
	*e = entry{body: e.body.cleared(), TxJSON: e.TxJSON.cleared(), Meta: e.Meta.cleared(), MetaData: e.MetaData.cleared()}
}

func (b *body) cleared() body {
	return body{DestinationTag: b.DestinationTag[:0], Fee: b.Fee[:0], Delegate: b.Delegate[:0], Sponsor: b.Sponsor[:0]}
}

func (m *meta) cleared() meta {
	return meta{Index: m.Index[:0], Delivered: m.Delivered[:0], Nodes: affected{roots: m.Nodes.roots[:0], lines: m.Nodes.lines[:0]}}
}

// affected are the accounts whose XRP a transaction moved, and the trust lines
// over which it moved issued currencies.
type affected struct {
	roots []root
	lines []line
	count int
}

// root is what became of one account's XRP. Place is its number among all that the
// transaction changed, which is the same on every server.
type root struct {
	place         int
	account       string
	kept          bool           // it was there before
	before, after jsontext.Value // before is nothing where it didn't change
}

// change is one of AffectedNodes; what is deleted is no matter.
type change struct {
	Created  ledgerNode `json:"CreatedNode"`
	Modified ledgerNode `json:"ModifiedNode"`
}

type ledgerNode struct {
	Kind     string `json:"LedgerEntryType"`
	New      fields `json:"NewFields"`
	Final    fields `json:"FinalFields"`
	Previous fields `json:"PreviousFields"`
}

// fields are those of an account, and of a trust line; entries of other kinds have
// their own by these names.
type fields struct {
	Account   jsontext.Value `json:"Account"`
	Balance   jsontext.Value `json:"Balance"`
	HighLimit jsontext.Value `json:"HighLimit"`
	LowLimit  jsontext.Value `json:"LowLimit"`
}

// UnmarshalJSONFrom reads the list and keeps the accounts and trust lines.
func (a *affected) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '[' {
		return errors.New("AffectedNodes are no list")
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for ; dec.PeekKind() == '{'; a.count++ {
		if a.count == maxNodes {
			return fmt.Errorf("a transaction changes more than %d entries", maxNodes)
		}
		var c change
		if err := json.UnmarshalDecode(dec, &c); err != nil {
			return err
		}
		a.keep(&c)
	}
	token, err := dec.ReadToken()
	if err == nil && token.Kind() != ']' {
		err = errors.New("one of AffectedNodes is no object")
	}
	return err
}

const accountRoot = "AccountRoot"

// keep keeps what became of an account or trust line that received something, or
// may have: what is deleted doesn't.
func (a *affected) keep(c *change) {
	switch trustLine {
	case c.Created.Kind:
		n := &c.Created.New
		a.lines = append(a.lines, line{place: a.count, low: n.LowLimit, high: n.HighLimit, after: n.Balance})
		return
	case c.Modified.Kind:
		if n := &c.Modified; len(n.Previous.Balance) > 0 {
			a.lines = append(a.lines, line{place: a.count, low: n.Final.LowLimit, high: n.Final.HighLimit, before: n.Previous.Balance, after: n.Final.Balance})
		}
		return
	}
	r := root{place: a.count}
	var account jsontext.Value
	switch accountRoot {
	case c.Created.Kind:
		account, r.after = c.Created.New.Account, c.Created.New.Balance
	case c.Modified.Kind:
		account, r.before, r.after = c.Modified.Final.Account, c.Modified.Previous.Balance, c.Modified.Final.Balance
		r.kept = true
	default:
		return
	}
	var ok bool
	if r.account, ok = plain(account); !ok {
		return // only a link of its history changed
	}
	a.roots = append(a.roots, r)
}

// plain is a JSON text that needs no unquoting, as everything that we read.
func plain(v jsontext.Value) (string, bool) {
	if len(v) < 2 || v[0] != '"' {
		return "", false
	}
	text := v[1 : len(v)-1]
	for _, c := range text {
		if c < ' ' || c > '~' || c == '\\' || c == '"' {
			return "", false
		}
	}
	return string(text), true
}

// reading collects what a ledger's transactions bring the watched accounts.
type reading struct {
	watch     chain.Watch
	log       *slog.Logger
	transfers []chain.Transfer
	places    []uint64 // a bit for each place in the ledger that was read
	count     int
}

// next is a reading that goes on where another ended, which stays as it is: a page
// that is asked for twice counts once. The first begins with nothing.
func (r *reading) next(watch chain.Watch, log *slog.Logger) *reading {
	if r == nil {
		return &reading{watch: watch, log: log, places: make([]uint64, maxTransactions/64+1)}
	}
	return &reading{watch: watch, log: log, transfers: slices.Clone(r.transfers), places: slices.Clone(r.places), count: r.count}
}

// take reads one transaction, and blames the server for one that makes no sense.
func (r *reading) take(e *entry) error {
	if err := r.entry(e); err != nil {
		return node.Damaged("a ledger", err)
	}
	return nil
}

// entry reads one transaction.
func (r *reading) entry(e *entry) error {
	tx, did, err := e.parts()
	if err != nil {
		return err
	}
	place, ok := number(did.Index)
	if !ok || place >= maxTransactions || r.count == maxTransactions {
		return errors.New("a transaction has no place in its ledger")
	}
	r.places[place/64] |= 1 << (place % 64)
	r.count++
	found, err := transfersOf(tx, did, e.Hash, r.watch)
	for _, t := range found {
		if t.Via != "" {
			r.log.Warn("value came to a watched account in a way that credits nothing", "transaction", t.TxID, "via", t.Via, "account", t.Address, "amount", t.Amount, "asset", t.Asset)
		}
	}
	r.transfers = append(r.transfers, found...)
	return err
}

// parts are the transaction and what it did, in whichever version they came.
func (e *entry) parts() (*body, *meta, error) {
	tx, did := &e.body, &e.MetaData
	if e.TxJSON.TransactionType != "" {
		tx = &e.TxJSON
	}
	if did.Result == "" {
		did = &e.Meta
	}
	switch {
	case !isHash(e.Hash):
		return nil, nil, errors.New("a transaction has no hash")
	case tx.TransactionType == "" || e.body.TransactionType != "" && e.TxJSON.TransactionType != "":
		return nil, nil, errors.New("a transaction has no type, or two")
	case did.Result == "" || e.Meta.Result != "" && e.MetaData.Result != "":
		return nil, nil, errors.New("a transaction has no result, or two")
	}
	return tx, did, nil
}

// complete reports whether the transactions that were read are all of the
// ledger's, as far as their places tell: none is missing between two others, and
// none was read twice, which leaves the last place empty.
func (r *reading) complete(h *head) error {
	for place := range r.count {
		if r.places[place/64]&(1<<(place%64)) == 0 {
			return fmt.Errorf("of %d transactions, the one at place %d is missing", r.count, place)
		}
	}
	if h.empty() != (r.count == 0) {
		return fmt.Errorf("the header doesn't go with %d transactions", r.count)
	}
	return nil
}
