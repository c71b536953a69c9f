package bitcoin

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/core/money"
)

// TestBroadcastAnswers checks what becomes of each answer to a broadcast, in the words of the nodes.
func TestBroadcastAnswers(t *testing.T) {
	t.Parallel()
	id, other := strings.Repeat("1", 64), strings.Repeat("2", 64)
	replaces := "insufficient fee, rejecting replacement " + id
	replacement := "TX rejected: " + id + ": replacement transaction has an insufficient "
	orphan := "TX rejected: orphan transaction " + id + " references outputs of unknown or fully-spent transaction "
	const (
		taken  = string(chain.OutputsTaken)
		cheap  = "Its fee is too low now. Prepare the send again, and sign that transaction."
		denied = "The node refused the transaction: "
		all    = "core old btcd esplora"
		rpc    = "core old btcd"
	)
	for _, c := range []struct{ dialects, text, want string }{
		{all, "", ""},
		// Bitcoin Core 24 to 28.
		{"core esplora", "Transaction already in block chain", ""},
		{"core esplora", "Transaction outputs already in utxo set", ""},
		{"core esplora", "txn-already-in-mempool", ""},
		{"core esplora", "txn-already-known", ""},
		{"core esplora", "bad-txns-inputs-missingorspent", taken},
		{"core esplora", "Missing inputs", taken},
		{"core esplora", "txn-mempool-conflict", taken},
		{"core esplora", replaces + ", less fees than conflicting txs; 0.00000141 < 0.000003", taken},
		{"core esplora", replaces + "; new feerate 0.00001000 BTC/kvB <= old feerate 0.00002000 BTC/kvB", taken},
		{"core esplora", replaces + ", not enough additional fees to relay; 0.00 < 0.00000141", taken},
		{"core esplora", "min relay fee not met, 110 < 141", cheap},
		{"core esplora", "mempool min fee not met, 141 < 2000", cheap},
		{rpc, "dust.", denied + "dust."},
		{"esplora", "dust", denied + `sendrawtransaction RPC error: {"code":-26,"message":"dust"}.`},
		{rpc, "Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)",
			denied + "Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)."},
		// Dogecoin Core 1.14.
		{"old", "transaction already in block chain", ""},
		{"old", "18: txn-already-known", ""},
		{"old", "Missing inputs", taken},
		{"old", "18: bad-txns-inputs-spent", taken},
		{"old", "18: txn-mempool-conflict", taken},
		{"old", "66: insufficient fee", taken},
		{"old", "66: min relay fee not met", cheap},
		{"old", "66: mempool min fee not met", cheap},
		{"old", "66: insufficient priority", cheap},
		{"old", "64: dust", denied + "64: dust."},
		// btcd.
		{"btcd", "TX rejected: already have transaction in mempool " + id, ""},
		{"btcd", "TX rejected: transaction already exists in blockchain", ""},
		{"btcd", orphan + other, taken},
		{"btcd", "TX rejected: output already spent in mempool: output=" + other + ":0, tx=" + id, taken},
		{"btcd", replacement + "fee rate: needs more than 2000, has 1000", taken},
		{"btcd", replacement + "absolute fee: needs 423, has 300", taken},
		{"btcd", "TX rejected: transaction " + id + " has 100 fees which is under the required amount of 141", cheap},
		{"btcd", "TX rejected: transaction " + id + " has insufficient priority (1 <= 5.76e+07)", cheap},
		{"btcd", "TX rejected: transaction " + id + " has been rejected by the rate limiter due to low fees", cheap},
		{"btcd", "TX decode failed: EOF", denied + "TX decode failed: EOF."},
		// Others.
		{rpc, "<b>\nno\x1b[0m</b>", denied + "<b>?no?[0m</b>."},
		{rpc, strings.Repeat("long", 50), denied + strings.Repeat("long", 25) + "."},
	} {
		for _, dialect := range strings.Fields(c.dialects) {
			t.Run(dialect+" "+c.text, func(t *testing.T) {
				t.Parallel()
				s := &sendNode{refusal: c.text}
				source, _ := s.openDialect(t, money.Bitcoin, dialect)
				err := source.Broadcast(t.Context(), "02aa")
				expectRefusal(t, source, err, c.want)
				if asked := s.takeAsked(); asked != "sent 02aa" {
					t.Errorf("the node is asked for %s, want one broadcast", asked)
				}
			})
		}
	}
}

// expectRefusal checks what Broadcast returned; want is "" for no error.
func expectRefusal(t *testing.T, source *Source, err error, want string) {
	t.Helper()
	var refused chain.Refusal
	if want == "" && err != nil || want != "" && (!errors.As(err, &refused) || string(refused) != want) {
		t.Errorf("Broadcast = %v, want %q", err, want)
	}
	if until := source.nodes.Members[0].DemotedUntil(); !until.IsZero() {
		t.Errorf("the node is demoted until %s, want it trusted", until)
	}
}

// TestRefusalsWithoutWords: a refusal without a reason is not taken for a broadcast.
func TestRefusalsWithoutWords(t *testing.T) {
	t.Parallel()
	const want = "The node refused the transaction: it gives no reason."
	s := &sendNode{dialect: "core"}
	source, n := s.openSource(t, newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest")))
	n.update(func(n *fakeNode) {
		n.intercept = answerMethod("sendrawtransaction", 500, `{"id":ID1,"error":{"code":-26,"message":""}}`)
	})
	expectRefusal(t, source, source.Broadcast(t.Context(), "02aa"), want)
	for status, text := range map[int]string{400: "", 404: " \n", 405: ""} {
		s := &sendNode{dialect: "esplora"}
		source, n := s.openSource(t, newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest")))
		n.update(func(n *fakeNode) { n.intercept = answerBroadcast(status, text) })
		expectRefusal(t, source, source.Broadcast(t.Context(), "02aa"), want)
	}
}

// answerBroadcast answers a broadcast to an Esplora server.
func answerBroadcast(status int, text string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost || r.URL.Path != "/api/tx" {
			return false
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
		return true
	}
}

// TestBroadcastsThatFail: a node that can't answer says nothing about the transaction.
func TestBroadcastsThatFail(t *testing.T) {
	t.Parallel()
	send := func(status int, text string) func(http.ResponseWriter, *http.Request) bool {
		return answerMethod("sendrawtransaction", status, text)
	}
	for name, c := range map[string]struct {
		dialect   string
		intercept func(http.ResponseWriter, *http.Request) bool
		says      string
	}{
		"a failure":            {"core", send(502, ""), "internal error"},
		"a node that starts":   {"core", send(500, `{"error":{"code":-28,"message":""}}`), "starting"},
		"a node that forbids":  {"core", send(403, ""), "forbids"},
		"another's answer":     {"core", send(200, `{"id":0,"result":"00"}`), "another request"},
		"a failure of Esplora": {"esplora", answerBroadcast(500, "min relay fee not met"), "internal error"},
		"a busy Esplora":       {"esplora", answerBroadcast(503, ""), "overloaded"},
	} {
		s := &sendNode{dialect: c.dialect}
		source, n := s.openSource(t, newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest")))
		n.update(func(n *fakeNode) { n.intercept = c.intercept })
		err := source.Broadcast(t.Context(), "02aa")
		var refused chain.Refusal
		if err == nil || errors.As(err, &refused) || !strings.Contains(err.Error(), c.says) ||
			source.nodes.Members[0].DemotedUntil().IsZero() {
			t.Errorf("%s: Broadcast = %v, demoted until %s; want a failure with %q", name, err,
				source.nodes.Members[0].DemotedUntil(), c.says)
		}
	}
}
