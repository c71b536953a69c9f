package xrpl

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/chain/xrpl/ledgertest"
)

// TestInconsistentLedgersAreRefused checks that a ledger with inconsistent parts is not counted.
func TestInconsistentLedgersAreRefused(t *testing.T) {
	t.Parallel()
	type fields = ledgertest.Fields
	txs := func(change func([]any) []any) func(fields) {
		return func(r fields) {
			ledger := r["ledger"].(fields)
			ledger["transactions"] = change(ledger["transactions"].([]any))
		}
	}
	tx := func(change func(fields)) func(fields) {
		return txs(func(all []any) []any { change(all[1].(fields)); return all })
	}
	header := func(name string, value any) func(fields) {
		return func(r fields) { r["ledger"].(fields)[name] = value }
	}
	for name, spoil := range map[string]func(fields){
		"another hash":       header("ledger_hash", strings.Repeat("AB", 32)),
		"another parent":     header("parent_hash", strings.Repeat("AB", 32)),
		"another time":       header("close_time", 5),
		"another tree":       header("transaction_hash", strings.Repeat("AB", 32)),
		"another state":      header("account_hash", strings.Repeat("AB", 32)),
		"other coins":        header("total_coins", "99999999999999999"),
		"coins from nowhere": header("total_coins", "1000000000000000000000"),
		"another index":      header("ledger_index", 1003),
		"an index in words":  header("ledger_index", "first"),
		"no hash":            header("parent_hash", "none"),
		"small letters": func(r fields) {
			l := r["ledger"].(fields)
			l["ledger_hash"] = strings.ToLower(l["ledger_hash"].(string))
		},
		"open":                   header("closed", false),
		"not validated":          func(r fields) { r["validated"] = false },
		"no transactions":        txs(func([]any) []any { return []any{} }),
		"one is missing":         txs(func(all []any) []any { return all[1:] }),
		"one is there twice":     txs(func(all []any) []any { return append(all, all[0]) }),
		"one is no object":       txs(func(all []any) []any { return append(all, "x") }),
		"only hashes":            txs(func(all []any) []any { return []any{all[0].(fields)["hash"]} }),
		"no list":                header("transactions", fields{}),
		"no hash of one":         tx(func(e fields) { delete(e, "hash") }),
		"no place of one":        tx(func(e fields) { delete(e["meta"].(fields), "TransactionIndex") }),
		"a place far away":       tx(func(e fields) { e["meta"].(fields)["TransactionIndex"] = maxTransactions }),
		"no result":              tx(func(e fields) { delete(e["meta"].(fields), "TransactionResult") }),
		"no meta":                tx(func(e fields) { delete(e, "meta") }),
		"no type":                tx(func(e fields) { delete(e["tx_json"].(fields), "TransactionType") }),
		"both versions at once":  tx(func(e fields) { e["TransactionType"] = "Payment" }),
		"nodes that are no list": tx(func(e fields) { e["meta"].(fields)["AffectedNodes"] = fields{} }),
		"a node that is none":    tx(func(e fields) { e["meta"].(fields)["AffectedNodes"] = []any{1} }),
		"no ledger":              func(r fields) { delete(r, "ledger") },
		"a marker for ever":      func(r fields) { r["marker"] = 0 },
		"a long marker":          func(r fields) { r["marker"] = strings.Repeat("x", maxMarker) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, 2)
			for range 3 {
				b.AddPayment(ledgertest.Payment{To: b.account, Tag: 1, Amount: 4_000_000})
			}
			b.CloseLedgers(1)
			at := b.book.Tip()
			b.server.Tamper(func(command string, _ int, result fields) {
				if l, ok := result["ledger"].(fields); command == "ledger" && ok && l["transactions"] != nil {
					spoil(result)
				}
			})
			if _, err := b.follower.Step(t.Context()); err == nil || b.book.Problem() == "" || b.book.Tip() != at {
				t.Errorf("error %v, health %q, at %v after %v", err, b.book.Problem(), b.book.Tip(), at)
			}
			b.server.Tamper(nil)
			b.closeAndRead()
		})
	}
}

// TestForeignServersAreRefused checks answers of programs that are not servers of the ledger, and
// of servers that are overloaded, restricted or send too much, over both transports.
func TestForeignServersAreRefused(t *testing.T) {
	t.Parallel()
	text := func(status int, body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
			return true
		}
	}
	for name, c := range map[string]struct {
		hijack func(http.ResponseWriter, *http.Request) bool
		reason string
		http   bool // only over JSON-RPC
	}{
		"a page":      {text(200, "<html>secret"), "not as a server of the XRP Ledger", false},
		"nothing":     {text(200, ""), "not as a server", false},
		"no object":   {text(200, "[1]"), "not as a server", false},
		"no result":   {text(200, "{}"), "not as a server", false},
		"null":        {text(200, `{"result":null}`), "not as a server", false},
		"busy":        {text(200, `{"result":{"error":"tooBusy","status":"error"}}`), "overloaded", true},
		"slow down":   {text(200, `{"result":{"error":"slowDown","status":"error"}}`), "overloaded", true},
		"out of step": {text(200, `{"result":{"error":"noNetwork","status":"error"}}`), "not in step", true},
		"blocked": {text(200, `{"result":{"error":"amendmentBlocked","status":"error"}}`),
			"amendment blocked", true},
		"unknown": {text(200, `{"result":{"error":"unknownCmd","status":"error"}}`), "refuses a request", true},
		"401":     {text(401, "secret"), "HTTP 401", false},
		"403":     {text(403, "secret"), "HTTP 403", false},
		"429":     {text(429, "secret"), "overloaded", false},
		"503":     {text(503, "secret"), "overloaded", false},
		"500":     {text(500, "secret"), "internal error", true},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
			return true
		}, "not as a server", false},
		"too long": {text(200, strings.Repeat(" ", maxSmallResponse+1)), "longer than they can be", true},
		"breaks off": {func(http.ResponseWriter, *http.Request) bool {
			panic(http.ErrAbortHandler)
		}, "broke off", true},
		"without end":  {text(200, `{"result":`+strings.Repeat(`[`, 20_000)), "not as a server", false},
		"an odd error": {text(200, `{"result":{"error":["x"]}}`), "not as a server", true},
	} {
		for _, scheme := range []string{"http", "ws"} {
			if c.http && scheme == "ws" {
				continue
			}
			t.Run(name+" "+scheme, func(t *testing.T) {
				t.Parallel()
				l := ledgertest.New(testID, nil)
				s := ledgertest.NewServer(l, 2)
				s.Hijack(c.hijack)
				source := openURLs(t, l, scheme+"://user:hunter2@"+s.Serve(t))
				_, err := source.At(t.Context())
				var told chain.Problem
				if !errors.As(err, &told) || !strings.Contains(string(told), c.reason) {
					t.Errorf("Tip: error %v (%q), want reason %q", err, told, c.reason)
				}
				if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "hunter2")) {
					t.Errorf("the error tells too much: %v", err)
				}
			})
		}
	}
}
