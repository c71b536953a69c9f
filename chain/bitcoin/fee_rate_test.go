package bitcoin

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/core/money"
)

// TestRatesOfSpeeds asks each kind of node for the rates of all speeds.
func TestRatesOfSpeeds(t *testing.T) {
	t.Parallel()
	const core, old, btcd, esplora, both = "core", "old", "btcd", "esplora", "core old btcd"
	for _, c := range []struct {
		name     string
		dialects string
		coin     money.Chain
		fees     map[int]string
		want     string // fast, usual and saving
		asks     string
	}{
		{"no estimates", both + " esplora", money.Bitcoin, nil, "5000 2000 1000", ""},
		{"no estimates", "old", money.Dogecoin, nil, "5000000 2000000 1000000",
			"within 25; within 25; within 3; within 36; within 432"},
		{"all", "core old", money.Bitcoin, map[int]string{3: "0.00020001", 36: "0.0001", 432: "0.000015"},
			"20001 10000 1500", "within 3; within 36; within 432"},
		{"of few blocks", both, money.Bitcoin, map[int]string{3: "0.0002", 25: "7e-05"}, "20000 7000 7000",
			"within 25; within 25; within 3; within 36; within 432"},
		{"of few blocks", "old", money.Dogecoin, map[int]string{3: "0.2", 25: "0.05"}, "20000000 5000000 5000000", ""},
		{"fast alone", both, money.Bitcoin, map[int]string{3: "0.0002"}, "20000 2000 1000", ""},
		{"below the least", both, money.Bitcoin, map[int]string{3: "0.00000999", 25: "0.000001"}, "1000 1000 1000", ""},
		{"fast below", both, money.Bitcoin, map[int]string{3: "0.00001500", 25: "0.00009"}, "1500 1500 1500", ""},
		{"usual below the usual without", both, money.Bitcoin, map[int]string{3: "0.000018"}, "1800 1800 1000", ""},
		{"the highest", both, money.Bitcoin, map[int]string{3: "0.05", 25: "0.051"}, "5000000 5000000 5000000", ""},
		{"above it", both, money.Bitcoin, map[int]string{3: "0.06", 25: "0.04"}, "5000000 4000000 4000000", ""},
		{"above the highest", "old", money.Dogecoin, map[int]string{3: "51"}, "5000000000 2000000 1000000", ""},
		{"negative", both, money.Bitcoin, map[int]string{3: "-1", 25: "-1.00000000"}, "5000 2000 1000", ""},
		{"zero", both, money.Bitcoin, map[int]string{3: "0", 25: "0.00000000"}, "5000 2000 1000", ""},
		{"a huge exponent", both, money.Bitcoin, map[int]string{3: "1e999999999", 25: "1e308"}, "5000 2000 1000", ""},
		{"rounded", both, money.Bitcoin, map[int]string{3: "0.0000200001", 25: "0.0000100001"}, "2001 1001 1001", ""},
		{"all", esplora, money.Bitcoin,
			map[int]string{1: "90", 2: "80.1", 3: "20.5", 4: "19", 25: "10.0001", 144: "3", 504: "2"},
			"20500 10001 3000", "estimates; estimates; estimates"},
		{"nearest below", esplora, money.Bitcoin, map[int]string{2: "30", 36: "9", 432: "2.5", 433: "1"},
			"30000 9000 2500", ""},
		{"none below", esplora, money.Bitcoin, map[int]string{4: "30", 37: "9"}, "5000 5000 5000", ""},
		{"negative", esplora, money.Bitcoin, map[int]string{0: "7", -5: "70", 3: "-1"}, "5000 2000 1000", ""},
	} {
		for _, dialect := range strings.Fields(c.dialects) {
			t.Run(c.name+" "+dialect+" "+string(c.coin), func(t *testing.T) {
				t.Parallel()
				s := &sendNode{dialect: dialect, fees: c.fees}
				source, _ := s.openSource(t, newFakeChain(t, paramsOf(t, c.coin, "regtest")))
				if _, err := source.At(t.Context()); err != nil {
					t.Fatal(err)
				}
				rates, err := source.nodes.Members[0].fetchFeeRates(t.Context())
				got := fmt.Sprint(rates[chain.SpeedFast], rates[chain.SpeedUsual], rates[chain.SpeedSaving])
				if err != nil || got != c.want || len(rates) != 3 {
					t.Errorf("fetchFeeRates = %v, %v, want %s", rates, err, c.want)
				}
				if asked := s.takeAsked(); c.asks != "" && asked != c.asks {
					t.Errorf("the node is asked for %s, want %s", asked, c.asks)
				}
			})
		}
	}
}

// TestFewBlocksAreAskedForOnce: a second question is for nodes that have no estimates for many blocks.
func TestFewBlocksAreAskedForOnce(t *testing.T) {
	t.Parallel()
	s := &sendNode{}
	source, _ := s.openDialect(t, money.Bitcoin, "btcd")
	for blocks, want := range map[int]string{fewBlocks: "within 25", fewBlocks + 1: "within 25; within 26"} {
		rate, err := source.nodes.Members[0].estimateFee(t.Context(), blocks)
		if asked := s.takeAsked(); rate != 0 || err != nil || asked != want {
			t.Errorf("estimateFee within %d = %d, %v, asked for %s, want 0 and %s", blocks, rate, err, asked, want)
		}
	}
}

// TestUnknownSpeedsAreUsual chooses rates by their speed.
func TestUnknownSpeedsAreUsual(t *testing.T) {
	t.Parallel()
	rates := feeRates{chain.SpeedFast: 3, chain.SpeedUsual: 2, chain.SpeedSaving: 1}
	for speed, want := range map[chain.Speed]int64{chain.SpeedFast: 3, chain.SpeedUsual: 2, chain.SpeedSaving: 1, "": 2,
		"slow": 2} {
		if got := rates.chooseRate(speed); got != want {
			t.Errorf("choose(%q) = %d, want %d", speed, got, want)
		}
	}
}

// TestDamagedEstimates checks which answers to a question for a rate are a failure of the node.
func TestDamagedEstimates(t *testing.T) {
	t.Parallel()
	esplora := func(status int, text string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/fee-estimates") {
				return false
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
			return true
		}
	}
	smart := func(status int, text string) func(http.ResponseWriter, *http.Request) bool {
		return answerMethod("estimatesmartfee", status, text)
	}
	usual := feeRates{chain.SpeedFast: 5000, chain.SpeedUsual: 2000, chain.SpeedSaving: 1000}
	for name, c := range map[string]struct {
		dialect   string
		intercept func(http.ResponseWriter, *http.Request) bool
		says      string // "" for the rates without estimates
	}{
		"an object without a rate": {"core", smart(200, `{"id":ID1,"result":{"blocks":2}}`), ""},
		"null":                     {"core", smart(200, `{"id":ID1,"result":null}`), ""},
		"a list":                   {"core", smart(200, `{"id":ID1,"result":[]}`), "no estimate of fees"},
		"a text":                   {"core", smart(200, `{"id":ID1,"result":"1"}`), "no estimate of fees"},
		"a failure":                {"core", smart(500, ``), "internal error"},
		"a failure for many":       {"core", answerMethod("[36]", 500, ``), "internal error"},
		"a failure of btcd":        {"btcd", answerMethod("estimatefee", 500, ``), "internal error"},
		"a failure of Esplora":     {"esplora", esplora(500, ""), "internal error"},
		"a list of Esplora":        {"esplora", esplora(200, "[]"), "no estimates of fees"},
		"no answer of Esplora":     {"esplora", esplora(200, ""), "no estimates of fees"},
		"an Esplora without them":  {"esplora", esplora(404, ""), ""},
		"other names in Esplora": {"esplora", esplora(200, `{"3 ":9,"x":9,"":9,"9999999999999999999":9,"0":9,"3":"9"}`),
			""},
		"an Esplora that starts":    {"esplora", esplora(503, ""), "overloaded"},
		"an Esplora that refuses":   {"esplora", esplora(400, "no"), "HTTP 400"},
		"a node that forbids it":    {"core", smart(403, ``), "forbids"},
		"a node that is starting":   {"core", smart(500, `{"error":{"code":-28,"message":"no"}}`), "starting"},
		"a node without the method": {"core", smart(404, `{"error":{"code":-32601,"message":"no"}}`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &sendNode{dialect: c.dialect}
			source, n := s.openSource(t, newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest")))
			if _, err := source.At(t.Context()); err != nil {
				t.Fatal(err)
			}
			n.update(func(n *fakeNode) { n.intercept = c.intercept })
			rates, err := source.nodes.Members[0].fetchFeeRates(t.Context())
			if c.says == "" && (err != nil || !maps.Equal(rates, usual)) {
				t.Errorf("fetchFeeRates = %v, %v, want %v", rates, err, usual)
			}
			if c.says != "" && (err == nil || rates != nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("fetchFeeRates = %v, %v, want a failure with %q", rates, err, c.says)
			}
			_, err = source.PrepareTerms(t.Context(), s.sampleOrder(source.params, 50_000, 100_000), "")
			var refused chain.Refusal
			if c.says != "" && (err == nil || errors.As(err, &refused) || source.nodes.Members[0].DemotedUntil().IsZero()) {
				t.Errorf("PrepareTerms = %v, demoted until %s; want a failure of the node", err,
					source.nodes.Members[0].DemotedUntil())
			}
		})
	}
}
