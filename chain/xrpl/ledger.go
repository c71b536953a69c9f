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
	// maxLedgerResponse bounds the answer with a ledger's transactions: the fullest that
	// the network makes are a tenth of it.
	maxLedgerResponse = 32 << 20
	// maxTransactions bounds how many transactions a ledger has; some hundred are usual.
	maxTransactions = 10_000
	// maxAffectedNodes bounds how many entries of the ledger one transaction changes.
	maxAffectedNodes = 10_000
	// maxPages bounds in how many answers a ledger may come.
	maxPages = 1_000
	// maxMarker bounds what a server wants to hear to go on where it stopped.
	maxMarker = 4 << 10
)

// ledgerResult is the answer to the command ledger, and where its transactions go.
type ledgerResult struct {
	apiError
	Ledger    ledgerBody     `json:"ledger"`
	Validated bool           `json:"validated"`
	Marker    jsontext.Value `json:"marker"`
}

type ledgerBody struct {
	ledgerHeader
	Transactions transactionList `json:"transactions"`
}

// transactionList hands each transaction of a list on as it is read, so that a list takes
// the memory of one. The entry is used again for the next.
type transactionList struct{ each func(*txEntry) error }

// UnmarshalJSONFrom reads the list.
func (l *transactionList) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '[' {
		return errors.New("transactions are no list")
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	var e txEntry
	for dec.PeekKind() == '{' {
		e.resetFields()
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

// txEntry is a transaction with what it did. It has deliberately no field for
// Amount and DeliverMax: those are what a sender asked for, and with a partial
// payment nobody gets them.
type txEntry struct {
	txBody          // version 1 of the API
	TxJSON   txBody `json:"tx_json"` // version 2
	Hash     string `json:"hash"`
	Meta     txMeta `json:"meta"`     // version 2, and the command tx of version 1
	MetaData txMeta `json:"metaData"` // version 1
}

// txBody is what is read of a transaction itself.
type txBody struct {
	TransactionType string         `json:"TransactionType"`
	Account         string         `json:"Account"`
	Destination     string         `json:"Destination"`
	DestinationTag  jsontext.Value `json:"DestinationTag"` // only what is a number of 32 bits is one
	Fee             jsontext.Value `json:"Fee"`
	Delegate        jsontext.Value `json:"Delegate"` // who pays the fee instead of Account
	Sponsor         jsontext.Value `json:"Sponsor"`  // the same
}

// txMeta is what a transaction did.
type txMeta struct {
	Result    string         `json:"TransactionResult"`
	Index     jsontext.Value `json:"TransactionIndex"` // its place in the ledger
	Delivered jsontext.Value `json:"delivered_amount"`
	Nodes     affectedNodes  `json:"AffectedNodes"`
}

// resetFields forgets an entry and keeps its memory.
func (e *txEntry) resetFields() {
	*e = txEntry{txBody: e.txBody.withoutValues(), TxJSON: e.TxJSON.withoutValues(), Meta: e.Meta.withoutValues(), MetaData: e.MetaData.withoutValues()}
}

func (b *txBody) withoutValues() txBody {
	return txBody{DestinationTag: b.DestinationTag[:0], Fee: b.Fee[:0], Delegate: b.Delegate[:0], Sponsor: b.Sponsor[:0]}
}

func (m *txMeta) withoutValues() txMeta {
	return txMeta{Index: m.Index[:0], Delivered: m.Delivered[:0], Nodes: affectedNodes{roots: m.Nodes.roots[:0], lines: m.Nodes.lines[:0]}}
}

// affectedNodes are the accounts whose XRP a transaction moved, and the trust lines
// over which it moved issued currencies.
type affectedNodes struct {
	roots []accountChange
	lines []trustLineChange
	count int
}

// accountChange is what became of one account's XRP. Place is its number among all that the
// transaction changed, which is the same on every server.
type accountChange struct {
	place         int
	account       string
	existed       bool           // it was there before
	before, after jsontext.Value // before is nothing where it didn't change
}

// affectedNode is one of AffectedNodes; what is deleted is no matter.
type affectedNode struct {
	Created  ledgerNode `json:"CreatedNode"`
	Modified ledgerNode `json:"ModifiedNode"`
}

type ledgerNode struct {
	Kind     string      `json:"LedgerEntryType"`
	New      entryFields `json:"NewFields"`
	Final    entryFields `json:"FinalFields"`
	Previous entryFields `json:"PreviousFields"`
}

// entryFields are those of an account, and of a trust line; entries of other kinds have
// their own by these names.
type entryFields struct {
	Account   jsontext.Value `json:"Account"`
	Balance   jsontext.Value `json:"Balance"`
	HighLimit jsontext.Value `json:"HighLimit"`
	LowLimit  jsontext.Value `json:"LowLimit"`
}

// UnmarshalJSONFrom reads the list and keeps the accounts and trust lines.
func (a *affectedNodes) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '[' {
		return errors.New("AffectedNodes are no list")
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for ; dec.PeekKind() == '{'; a.count++ {
		if a.count == maxAffectedNodes {
			return fmt.Errorf("a transaction changes more than %d entries", maxAffectedNodes)
		}
		var c affectedNode
		if err := json.UnmarshalDecode(dec, &c); err != nil {
			return err
		}
		a.keepChange(&c)
	}
	token, err := dec.ReadToken()
	if err == nil && token.Kind() != ']' {
		err = errors.New("one of AffectedNodes is no object")
	}
	return err
}

const accountRootType = "AccountRoot"

// keepChange keeps what became of an account or trust line that received something, or
// may have: what is deleted doesn't.
func (a *affectedNodes) keepChange(c *affectedNode) {
	switch trustLineType {
	case c.Created.Kind:
		n := &c.Created.New
		a.lines = append(a.lines, trustLineChange{place: a.count, low: n.LowLimit, high: n.HighLimit, after: n.Balance})
		return
	case c.Modified.Kind:
		if n := &c.Modified; len(n.Previous.Balance) > 0 {
			a.lines = append(a.lines, trustLineChange{place: a.count, low: n.Final.LowLimit, high: n.Final.HighLimit, before: n.Previous.Balance, after: n.Final.Balance})
		}
		return
	}
	r := accountChange{place: a.count}
	var account jsontext.Value
	switch accountRootType {
	case c.Created.Kind:
		account, r.after = c.Created.New.Account, c.Created.New.Balance
	case c.Modified.Kind:
		account, r.before, r.after = c.Modified.Final.Account, c.Modified.Previous.Balance, c.Modified.Final.Balance
		r.existed = true
	default:
		return
	}
	var ok bool
	if r.account, ok = plainString(account); !ok {
		return // only a link of its history changed
	}
	a.roots = append(a.roots, r)
}

// plainString is a JSON text that needs no unquoting, as everything that we read.
func plainString(v jsontext.Value) (string, bool) {
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

// ledgerReading collects what a ledger's transactions bring the watched accounts.
type ledgerReading struct {
	watch     chain.Watch
	log       *slog.Logger
	transfers []chain.Transfer
	places    []uint64 // a bit for each place in the ledger that was read
	count     int
}

// nextPage is a reading that goes on where another ended, which stays as it is: a page
// that is asked for twice counts once. The first begins with nothing.
func (r *ledgerReading) nextPage(watch chain.Watch, log *slog.Logger) *ledgerReading {
	if r == nil {
		return &ledgerReading{watch: watch, log: log, places: make([]uint64, maxTransactions/64+1)}
	}
	return &ledgerReading{watch: watch, log: log, transfers: slices.Clone(r.transfers), places: slices.Clone(r.places), count: r.count}
}

// addEntry reads one transaction, and blames the server for one that makes no sense.
func (r *ledgerReading) addEntry(e *txEntry) error {
	if err := r.readEntry(e); err != nil {
		return node.Damaged("a ledger", err)
	}
	return nil
}

// readEntry reads one transaction.
func (r *ledgerReading) readEntry(e *txEntry) error {
	tx, did, err := e.splitVersions()
	if err != nil {
		return err
	}
	place, ok := parseIndex(did.Index)
	if !ok || place >= maxTransactions || r.count == maxTransactions {
		return errors.New("a transaction has no place in its ledger")
	}
	r.places[place/64] |= 1 << (place % 64)
	r.count++
	found, err := findTransfers(tx, did, e.Hash, r.watch)
	for _, t := range found {
		if t.Via != "" {
			r.log.Warn("value came to a watched account in a way that credits nothing", "transaction", t.TxID, "via", t.Via, "account", t.Address, "amount", t.Amount, "asset", t.Asset)
		}
	}
	r.transfers = append(r.transfers, found...)
	return err
}

// splitVersions are the transaction and what it did, in whichever version they came.
func (e *txEntry) splitVersions() (*txBody, *txMeta, error) {
	tx, did := &e.txBody, &e.MetaData
	if e.TxJSON.TransactionType != "" {
		tx = &e.TxJSON
	}
	if did.Result == "" {
		did = &e.Meta
	}
	switch {
	case !isHash(e.Hash):
		return nil, nil, errors.New("a transaction has no hash")
	case tx.TransactionType == "" || e.txBody.TransactionType != "" && e.TxJSON.TransactionType != "":
		return nil, nil, errors.New("a transaction has no type, or two")
	case did.Result == "" || e.Meta.Result != "" && e.MetaData.Result != "":
		return nil, nil, errors.New("a transaction has no result, or two")
	}
	return tx, did, nil
}

// checkComplete reports whether the transactions that were read are all of the
// ledger's, as far as their places tell: none is missing between two others, and
// none was read twice, which leaves the last place empty.
func (r *ledgerReading) checkComplete(h *ledgerHeader) error {
	for place := range r.count {
		if r.places[place/64]&(1<<(place%64)) == 0 {
			return fmt.Errorf("of %d transactions, the one at place %d is missing", r.count, place)
		}
	}
	if h.isEmpty() != (r.count == 0) {
		return fmt.Errorf("the header doesn't go with %d transactions", r.count)
	}
	return nil
}
