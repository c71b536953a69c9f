package xrpl

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
	"cointill/chain/node"
	"cointill/chain/xrpl/ledgertest"
)

// TestOnlyGainsOfAccountsAndLinesAreKept checks which of a transaction's changes are kept: those of
// accounts, and of trust lines whose balance changed.
func TestOnlyGainsOfAccountsAndLinesAreKept(t *testing.T) {
	t.Parallel()
	const line = `{"ModifiedNode":{"LedgerEntryType":"RippleState","FinalFields":{"Balance":{}},"PreviousFields":`
	for text, want := range map[string]string{
		`[]`: "0 accounts, 0 lines, 0 changes", `null`: "0 accounts, 0 lines, 0 changes",
		`[{"CreatedNode":{"LedgerEntryType":"AccountRoot","NewFields":{"Account":"a"}}}]`:   "1 accounts, 0 lines, 1 changes",
		`[{"ModifiedNode":{"LedgerEntryType":"AccountRoot","FinalFields":{}}}]`:             "1 accounts, 0 lines, 1 changes",
		`[{"DeletedNode":{"LedgerEntryType":"AccountRoot","FinalFields":{"Account":"a"}}}]`: "0 accounts, 0 lines, 1 changes",
		`[{"CreatedNode":{"LedgerEntryType":"RippleState","NewFields":{}}}]`:                "0 accounts, 1 lines, 1 changes",
		`[` + line + `{"Balance":{}}}}]`:                                                    "0 accounts, 1 lines, 1 changes",
		`[` + line + `{}}}]`:                                                                "0 accounts, 0 lines, 1 changes",
		`[{"ModifiedNode":{"LedgerEntryType":"Offer"}}]`:                                    "0 accounts, 0 lines, 1 changes",
		`{}`: "error", `[1]`: "error", `[{"CreatedNode":7}]`: "error", `[{}`: "error", `[{},`: "error", `7`: "error",
	} {
		var a affectedNodes
		err := json.Unmarshal([]byte(text), &a, node.AllowDuplicateNames)
		got := fmt.Sprintf("%d accounts, %d lines, %d changes", len(a.roots), len(a.lines), a.count)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: %s (error %v), want %s", text, got, err, want)
		}
	}
}

// TestAffectedNodesAreBounded checks that a transaction changes at most maxAffectedNodes entries,
// also if its metadata has the list twice.
func TestAffectedNodesAreBounded(t *testing.T) {
	t.Parallel()
	list := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("{},", n), ",") + "]" }
	for text, fine := range map[string]bool{
		`{"AffectedNodes":` + list(maxAffectedNodes) + `}`:                                   true,
		`{"AffectedNodes":` + list(maxAffectedNodes+1) + `}`:                                 false,
		`{"AffectedNodes":` + list(maxAffectedNodes) + `,"AffectedNodes":` + list(1) + `}`:   false,
		`{"AffectedNodes":` + list(maxAffectedNodes-1) + `,"AffectedNodes":` + list(1) + `}`: true,
	} {
		var m txMeta
		if err := json.Unmarshal([]byte(text), &m, node.AllowDuplicateNames); (err == nil) != fine {
			t.Errorf("%d bytes of entries: error %v after %d, want accepted: %v", len(text), err, m.Nodes.count, fine)
		}
	}
}

// TestUnrequestedTransactionsAreSkipped checks that a header is read although the server sends
// transactions that were not requested.
func TestUnrequestedTransactionsAreSkipped(t *testing.T) {
	t.Parallel()
	for text, fine := range map[string]bool{`{"transactions":[7]}`: true, `{"transactions":"x"}`: true,
		`{"transactions":[`: false} {
		var body ledgerBody
		if err := json.Unmarshal([]byte(text), &body, node.AllowDuplicateNames); (err == nil) != fine {
			t.Errorf("%s: error %v, want accepted: %v", text, err, fine)
		}
	}
}

// validEntry returns a transaction of version 2 at a place in its ledger.
func validEntry(place string) *txEntry {
	return &txEntry{Hash: strings.Repeat("A", 64), TxJSON: txBody{TransactionType: typePayment},
		Meta: txMeta{Result: resultSuccess, Index: jsontext.Value(place)}}
}

// TestTransactionNeedsPlaceInLedger (XRP-7) checks that each transaction has a place below the limit,
// and that no more transactions than the limit are read.
func TestTransactionNeedsPlaceInLedger(t *testing.T) {
	t.Parallel()
	var none *ledgerReading
	for place, fine := range map[string]bool{"0": true, "9999": true, "10000": false, "01": false, "-1": false, "": false,
		"4294967296": false} {
		r := none.nextPage(new(chain.WatchSet), slog.New(slog.DiscardHandler))
		if err := r.readEntry(validEntry(place)); (err == nil) != fine {
			t.Errorf("place %q: error %v, want accepted: %v", place, err, fine)
		}
	}
	r := none.nextPage(new(chain.WatchSet), slog.New(slog.DiscardHandler))
	for i := range maxTransactions + 1 {
		if err := r.readEntry(validEntry("0")); (err == nil) != (i < maxTransactions) {
			t.Errorf("transaction %d: error %v, want accepted: %v", i+1, err, i < maxTransactions)
		}
	}
}

// TestTransactionHasOneVersion (XRP-7) checks that a transaction has a hash, a type and a result, and
// the fields of only one version of the API.
func TestTransactionHasOneVersion(t *testing.T) {
	t.Parallel()
	old := func(e *txEntry) { e.txBody, e.TxJSON, e.MetaData, e.Meta = e.TxJSON, txBody{}, e.Meta, txMeta{} }
	for name, c := range map[string]struct {
		change func(*txEntry)
		fine   bool
	}{
		"version 2":                  {func(*txEntry) {}, true},
		"version 1":                  {old, true},
		"version 1 with meta":        {func(e *txEntry) { e.txBody, e.TxJSON = e.TxJSON, txBody{} }, true},
		"no hash":                    {func(e *txEntry) { e.Hash = "" }, false},
		"no type":                    {func(e *txEntry) { e.TxJSON = txBody{} }, false},
		"no result":                  {func(e *txEntry) { e.Meta.Result = "" }, false},
		"a type in both versions":    {func(e *txEntry) { e.TransactionType = typePayment }, false},
		"a result in both versions":  {func(e *txEntry) { e.MetaData = e.Meta }, false},
		"version 1, results in both": {func(e *txEntry) { old(e); e.Meta = e.MetaData }, false},
	} {
		e := validEntry("0")
		c.change(e)
		if _, _, err := e.splitVersions(); (err == nil) != c.fine {
			t.Errorf("%s: error %v, want accepted: %v", name, err, c.fine)
		}
	}
}

// TestUncreditedValueIsLogged checks that the operator's log names value that a watched account
// received and that credits nothing, and no other transfer.
func TestUncreditedValueIsLogged(t *testing.T) {
	t.Parallel()
	account := ledgertest.Address("the till")
	watch := new(chain.WatchSet)
	watch.AddAddresses(account)
	for delivered, logged := range map[string]bool{`"7"`: false, `"8"`: true} {
		var log bytes.Buffer
		var none *ledgerReading
		r := none.nextPage(watch, slog.New(slog.NewTextHandler(&log, nil)))
		e := validEntry("0")
		e.TxJSON.Destination, e.Meta.Delivered = account, jsontext.Value(delivered)
		e.Meta.Nodes.roots = []accountChange{rootChange(account, `"1"`, `"8"`)}
		if err := r.readEntry(e); err != nil || len(r.transfers) != 1 {
			t.Fatalf("delivered %s: transfers %+v, error %v; want one", delivered, r.transfers, err)
		}
		if got := strings.Contains(log.String(), account); got != logged {
			t.Errorf("delivered %s: the log is %q, want that it names the account: %v", delivered, log.String(), logged)
		}
	}
}
