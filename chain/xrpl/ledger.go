package xrpl

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
	"cointill/chain/node"
)

const (
	// maxLedgerResponse bounds the answer with a ledger's transactions. The fullest ledgers of the
	// network take a tenth of it.
	maxLedgerResponse = 32 << 20
	// maxTransactions bounds the transactions of a ledger. Usual ledgers have some hundred.
	maxTransactions = 10_000
	// maxAffectedNodes bounds the ledger entries that one transaction changes.
	maxAffectedNodes = 10_000
	// maxPages bounds the pages of one ledger.
	maxPages = 1_000
	// maxMarker bounds the marker with which a server continues on the next page.
	maxMarker = 4 << 10
)

// ledgerResult is the answer to the command ledger.
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

// transactionList passes each transaction of a list on as it is decoded, so that a list takes the
// memory of one transaction. The same txEntry is used again for the next.
type transactionList struct{ each func(*txEntry) error }

// UnmarshalJSONFrom reads the list.
func (l *transactionList) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if l.each == nil {
		return dec.SkipValue() // they were not requested
	}
	var e txEntry
	return node.ReadList(dec, math.MaxInt, func() error {
		e.resetFields()
		if err := json.UnmarshalDecode(dec, &e); err != nil {
			return err
		}
		return l.each(&e)
	})
}

// txEntry is a transaction with its metadata. It deliberately has no field for Amount and
// DeliverMax: they hold the requested amount, and a partial payment delivers less.
type txEntry struct {
	txBody          // version 1 of the API
	TxJSON   txBody `json:"tx_json"` // version 2
	Hash     string `json:"hash"`
	Meta     txMeta `json:"meta"`     // version 2, and the command tx in version 1
	MetaData txMeta `json:"metaData"` // version 1
}

// txBody holds the fields that are read of a transaction.
type txBody struct {
	TransactionType string         `json:"TransactionType"`
	Account         string         `json:"Account"`
	Destination     string         `json:"Destination"`
	DestinationTag  jsontext.Value `json:"DestinationTag"` // used only if it is a number of 32 bits
	Fee             jsontext.Value `json:"Fee"`
	Delegate        jsontext.Value `json:"Delegate"` // pays the fee instead of Account
	Sponsor         jsontext.Value `json:"Sponsor"`  // pays the fee instead of Account
	InvoiceID       string         `json:"InvoiceID"`
}

// txMeta is the effect of a transaction.
type txMeta struct {
	Result    string         `json:"TransactionResult"`
	Index     jsontext.Value `json:"TransactionIndex"` // position in the ledger
	Delivered jsontext.Value `json:"delivered_amount"`
	Nodes     affectedNodes  `json:"AffectedNodes"`
}

// resetFields empties the entry and keeps its memory for the next one.
func (e *txEntry) resetFields() {
	*e = txEntry{txBody: e.txBody.withoutValues(), TxJSON: e.TxJSON.withoutValues(), Meta: e.Meta.withoutValues(),
		MetaData: e.MetaData.withoutValues()}
}

func (b *txBody) withoutValues() txBody {
	return txBody{DestinationTag: b.DestinationTag[:0], Fee: b.Fee[:0], Delegate: b.Delegate[:0],
		Sponsor: b.Sponsor[:0]}
}

func (m *txMeta) withoutValues() txMeta {
	return txMeta{Index: m.Index[:0], Delivered: m.Delivered[:0],
		Nodes: affectedNodes{roots: m.Nodes.roots[:0], lines: m.Nodes.lines[:0]}}
}

// affectedNodes are the accounts whose XRP a transaction changed, and the trust lines over which
// it moved issued currencies.
type affectedNodes struct {
	roots []accountChange
	lines []trustLineChange
	count int
}

// accountChange is the change of one account's XRP by a transaction. Place is its position among
// all entries that the transaction changed. It is the same on every server.
type accountChange struct {
	place         int
	account       string
	existed       bool           // the account existed before
	before, after jsontext.Value // before is empty if the balance did not change
}

// affectedNode is an element of AffectedNodes. Deleted entries are not read.
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

// entryFields are the fields of an account or a trust line. Entries of other types use the same
// names with other content.
type entryFields struct {
	Account   jsontext.Value `json:"Account"`
	Balance   jsontext.Value `json:"Balance"`
	HighLimit jsontext.Value `json:"HighLimit"`
	LowLimit  jsontext.Value `json:"LowLimit"`
}

// UnmarshalJSONFrom reads the list and keeps accounts and trust lines. The bound holds for all lists
// of a transaction together, in case that an answer names several.
func (a *affectedNodes) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return node.ReadList(dec, maxAffectedNodes-a.count, func() error {
		var c affectedNode
		if err := json.UnmarshalDecode(dec, &c); err != nil {
			return err
		}
		a.keepChange(&c)
		a.count++
		return nil
	})
}

const accountRootType = "AccountRoot"

// keepChange keeps the change of an account or a trust line that may have received something.
// Deleted entries receive nothing.
func (a *affectedNodes) keepChange(c *affectedNode) {
	switch trustLineType {
	case c.Created.Kind:
		n := &c.Created.New
		a.lines = append(a.lines, trustLineChange{place: a.count, low: n.LowLimit, high: n.HighLimit, after: n.Balance})
		return
	case c.Modified.Kind:
		if n := &c.Modified; len(n.Previous.Balance) > 0 {
			a.lines = append(a.lines, trustLineChange{place: a.count, low: n.Final.LowLimit, high: n.Final.HighLimit,
				before: n.Previous.Balance, after: n.Final.Balance})
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
	r.account = plainString(account) // none if only the link to the account's history changed
	a.roots = append(a.roots, r)
}

// plainString returns the content of a JSON string of ASCII without escapes, or "" for any other
// value. All strings that this package reads have this form.
func plainString(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	text := v[1 : len(v)-1]
	for _, c := range text {
		if c > '~' || c == '\\' {
			return ""
		}
	}
	return string(text)
}

// ledgerReading collects the transfers of a ledger to watched accounts, and what left these.
type ledgerReading struct {
	watch     chain.Watch
	log       *slog.Logger
	transfers []chain.Transfer
	left      []chain.Departure
	places    []uint64 // one bit for each position in the ledger that was read
	count     int
}

// nextPage returns a copy that continues with the next page. The original stays unchanged, so a
// page that is requested twice counts once. On nil, nextPage returns an empty reading.
func (r *ledgerReading) nextPage(watch chain.Watch, log *slog.Logger) *ledgerReading {
	if r == nil {
		return &ledgerReading{watch: watch, log: log, places: make([]uint64, maxTransactions/64+1)}
	}
	return &ledgerReading{watch: watch, log: log, transfers: slices.Clone(r.transfers), left: slices.Clone(r.left),
		places: slices.Clone(r.places), count: r.count}
}

// addEntry reads one transaction. An invalid transaction is reported as damage by the server.
func (r *ledgerReading) addEntry(e *txEntry) error {
	if err := r.readEntry(e); err != nil {
		return node.DamagedDataError("a ledger", err)
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
	left, err := findDepartures(did, e.Hash, r.watch)
	if err != nil {
		return err
	}
	r.left = append(r.left, left...)
	found, err := findTransfers(tx, did, e.Hash, r.watch)
	for _, t := range found {
		if t.Via != "" {
			r.log.Warn("a watched account received value that credits nothing", "transaction", t.TxID, "via",
				t.Via, "account", t.Address, "amount", t.Amount, "asset", t.Asset)
		}
	}
	r.transfers = append(r.transfers, found...)
	return err
}

// splitVersions returns the transaction and its metadata from the fields of either API version.
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

// checkComplete checks that all transactions of the ledger were read, as far as their positions
// show. No position is missing between others, and no transaction was read twice, because that
// would leave the last position empty.
func (r *ledgerReading) checkComplete(h *ledgerHeader) error {
	for place := range r.count {
		if r.places[place/64]&(1<<(place%64)) == 0 {
			return fmt.Errorf("of %d transactions, the one at place %d is missing", r.count, place)
		}
	}
	if h.isEmpty() != (r.count == 0) {
		return fmt.Errorf("the header doesn't match %d transactions", r.count)
	}
	return nil
}
