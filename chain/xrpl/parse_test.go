package xrpl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	gojson "github.com/go-json-experiment/json"

	"cointill/chain"
	"cointill/chain/node"
	"cointill/chain/xrpl/ledgertest"
)

// lastLedgerAnswer returns a server's answer for the last ledger with its transactions.
func lastLedgerAnswer(t testing.TB, l *ledgertest.Ledger, version int) []byte {
	t.Helper()
	index, _ := l.Tip()
	ask := fmt.Sprintf(`{"method":"ledger","params":[{"ledger_index":%d,"transactions":true,"expand":true,`+
		`"api_version":%d}]}`, index, version)
	w := httptest.NewRecorder()
	ledgertest.NewServer(l, 2).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(ask)))
	if w.Code != http.StatusOK {
		t.Fatalf("the server answers with HTTP %d, want 200", w.Code)
	}
	return bytes.TrimSpace(w.Body.Bytes())
}

// readLedger reads an answer as fetchBlock does.
func readLedger(answer []byte, watch chain.Watch) (*ledgerResult, *ledgerReading, error) {
	var none *ledgerReading
	page := none.nextPage(watch, slog.New(slog.DiscardHandler))
	into := new(ledgerResult)
	into.Ledger.Transactions.each = page.addEntry
	err := decodeResponse(answer, into)
	return into, page, err
}

// FuzzLedger checks that reading any answer ends without a panic, and that every credited transfer
// is an amount of XRP to a watched account in a ledger with a right hash.
//
//fuzz:inputs 25000
func FuzzLedger(f *testing.F) {
	l := ledgertest.New(testID, nil)
	account := ledgertest.Address("the till")
	watch := new(chain.WatchSet)
	watch.AddAddresses(account)
	l.AddAccount(account, 5_000_000, 0)
	l.AddPayment(ledgertest.Payment{To: account, Tag: 5, Amount: 9_000_000, Delivered: 7})
	l.AddPayment(ledgertest.Payment{To: account, Tag: 5, Amount: 9_000_000, Result: "tecPATH_DRY"})
	l.AddIssuedPayment(account, 5, "USD", "1.5")
	l.AddOther("EscrowFinish", account, nil, 77)
	l.AddSwap("OfferCreate", account, true, "-1", "-1.25")
	l.CloseLedgers(1)
	f.Add(lastLedgerAnswer(f, l, 1))
	f.Add(lastLedgerAnswer(f, l, 2))
	f.Add([]byte(`{"result":{"status":"success","validated":true,"ledger":{"transactions":[` +
		`{"hash":"x","meta":{"AffectedNodes":[{}]}}]}}}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		into, page, err := readLedger(answer, watch)
		for _, one := range page.transfers {
			if one.Address != account || one.Amount.Sign() < 0 || one.Via == "" && one.Asset == "XRP" &&
				one.Amount.Sign() == 0 || len(one.Asset) > 200 || len(one.Via) > 100 {
				t.Errorf("transfer %+v, want a bounded amount to the account", one)
			}
		}
		if err != nil {
			return
		}
		index, ok := parseIndex(into.Ledger.LedgerIndex)
		if !ok {
			return
		}
		if h, err := into.Ledger.verifyHeader(index); err == nil {
			if sum, err := into.Ledger.computeHash(index); err != nil || sum != h.Hash || h.Height != index {
				t.Errorf("header %+v, error %v, want the hash that the header gives", h, err)
			}
		}
		_ = page.checkComplete(&into.Ledger.ledgerHeader) // must not panic
	})
}

// makeFullLedger makes a ledger of 200 transactions like the main network's: mostly offers and
// payments between other accounts, which change several entries, and some payments to the watched
// account.
func makeFullLedger(t testing.TB, account string) *ledgertest.Ledger {
	r := rand.New(rand.NewPCG(6, 6))
	l := ledgertest.New(testID, nil)
	l.AddAccount(account, 5_000_000, 0)
	l.CloseLedgers(1)
	for i := range 200 {
		to, tag := ledgertest.Address(fmt.Sprint("somebody ", r.IntN(50))), any(r.Uint32())
		if i%10 == 0 {
			to = account
		}
		l.AddPayment(ledgertest.Payment{To: to, Tag: tag, Amount: 2_000_000 + r.Int64N(1e9),
			Edit: func(tx, meta ledgertest.Fields) {
				nodes := meta["AffectedNodes"].([]any)
				for range 3 + r.IntN(6) {
					nodes = append(nodes, offerNode(r))
				}
				meta["AffectedNodes"] = nodes
				tx["Memos"] = []any{ledgertest.Fields{"Memo": ledgertest.Fields{"MemoData": strings.Repeat("6E",
					r.IntN(60))}}}
			}})
	}
	l.CloseLedgers(1)
	return l
}

func offerNode(r *rand.Rand) ledgertest.Fields {
	hash := fmt.Sprintf("%016X%016X%016X%016X", r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64())
	amount := ledgertest.Fields{"currency": "USD", "issuer": ledgertest.Address("an issuer"),
		"value": fmt.Sprint(r.Float64())}
	return ledgertest.Fields{"ModifiedNode": ledgertest.Fields{"LedgerEntryType": "Offer", "LedgerIndex": hash,
		"PreviousTxnID": hash, "PreviousTxnLgrSeq": 1000,
		"FinalFields": ledgertest.Fields{"Account": ledgertest.Address("a maker"), "BookDirectory": hash,
			"BookNode": "0", "Flags": 131072, "OwnerNode": "1a",
			"Sequence": r.Uint32(), "TakerGets": fmt.Sprint(r.Uint32()), "TakerPays": amount},
		"PreviousFields": ledgertest.Fields{"TakerGets": fmt.Sprint(r.Uint32()), "TakerPays": amount}}}
}

// bareResult is the answer for plain decoding: all of it, in the types of its fields.
type bareResult struct {
	Result struct {
		Ledger struct {
			Hash         string `json:"ledger_hash"`
			Transactions []struct {
				Hash string `json:"hash"`
				Tx   struct {
					Type        string `json:"TransactionType"`
					Account     string `json:"Account"`
					Destination string `json:"Destination"`
					Tag         uint32 `json:"DestinationTag"`
				} `json:"tx_json"`
				Meta struct {
					Result    string `json:"TransactionResult"`
					Index     int    `json:"TransactionIndex"`
					Delivered string `json:"delivered_amount"`
					Nodes     []struct {
						Modified *bareNode `json:"ModifiedNode"`
						Created  *bareNode `json:"CreatedNode"`
					} `json:"AffectedNodes"`
				} `json:"meta"`
			} `json:"transactions"`
		} `json:"ledger"`
	} `json:"result"`
}

type bareNode struct {
	Type     string     `json:"LedgerEntryType"`
	Final    bareFields `json:"FinalFields"`
	New      bareFields `json:"NewFields"`
	Previous bareFields `json:"PreviousFields"`
}

type bareFields struct {
	Account string `json:"Account"`
	Balance any    `json:"Balance"`
}

// benchTags is the number of open tags on the account.
const benchTags = 100_000

// BenchmarkLedger reads a ledger of 200 transactions with 100,000 open tags, and compares it with
// plain decoding of the same answer by the same library into types with the same fields. The
// adapter does not know the tags, so each transfer is looked up, as core does it in its database.
func BenchmarkLedger(b *testing.B) {
	account := ledgertest.Address("the till")
	answer := lastLedgerAnswer(b, makeFullLedger(b, account), 2)
	watch := new(chain.WatchSet)
	watch.AddAddresses(account)
	tags := make(map[uint32]int, benchTags)
	for i := range uint32(benchTags) {
		tags[i*40_009] = int(i)
	}
	var ours, bare time.Duration
	const rounds = 20
	found := 0
	for b.Loop() {
		ours, bare, found = 0, 0, 0
		for range rounds {
			runtime.GC()
			start := time.Now()
			into, page, err := readLedger(answer, watch)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := into.Ledger.verifyHeader(1041); err != nil {
				b.Fatal(err)
			}
			if err := page.checkComplete(&into.Ledger.ledgerHeader); err != nil {
				b.Fatal(err)
			}
			for _, t := range page.transfers {
				if _, ok := tags[*t.Tag]; !ok {
					found++
				}
			}
			ours += time.Since(start)
			runtime.GC()
			start = time.Now()
			var all bareResult
			if err := gojson.Unmarshal(answer, &all, node.AllowDuplicateNames); err != nil ||
				len(all.Result.Ledger.Transactions) != 200 {
				b.Fatal(err)
			}
			bare += time.Since(start)
		}
	}
	if found == 0 {
		b.Fatal("nothing was found")
	}
	ratio := float64(bare) / float64(ours)
	b.ReportMetric(ratio, "x-bare")
	b.ReportMetric(float64(ours.Microseconds())/rounds, "µs/ledger")
	b.ReportMetric(float64(len(answer))/1e3, "kB/ledger")
	if ratio < 0.6 {
		b.Errorf("%.2f times the speed of bare decoding: the limit is 0.6", ratio)
	}
}

// TestAnswersCostBoundedMemory reads answers that are made to fill memory. They must cost only a
// few times the length of the longest answer that is read. It does not run in parallel.
func TestAnswersCostBoundedMemory(t *testing.T) {
	const most = 130 << 20
	fill := func(begin, again, end string) []byte {
		return append(append([]byte(begin),
			bytes.Repeat([]byte(again), (maxLedgerResponse-len(begin)-len(end))/len(again))...), end...)
	}
	ledger := `{"result":{"status":"success","validated":true,"ledger":{"transactions":[`
	var names bytes.Buffer
	names.WriteString(`{"result":{"":0`)
	for i := 0; names.Len() < maxLedgerResponse/4; i++ {
		fmt.Fprintf(&names, `,"%x":0`, i)
	}
	names.WriteString("}}")
	hash := strings.Repeat("A", 64)
	for name, answer := range map[string][]byte{
		"too long":          fill("", " ", " "),
		"many transactions": fill(ledger, "{},", "{}]}}}"),
		"many nodes":        fill(ledger+`{"meta":{"AffectedNodes":[`, "{},", `{}]}}]}}}`),
		"a long tag":        fill(ledger+`{"DestinationTag":"`, "x", `"}]}}}`),
		"a long type": fill(ledger+`{"hash":"`+hash+`","tx_json":{"TransactionType":"`, "x",
			`"},"meta":{"TransactionResult":"tesSUCCESS","TransactionIndex":0}}]}}}`),
		"a long amount": fill(ledger+`{"meta":{"delivered_amount":[`, "1,", `1]}}]}}}`),
		"many names":    names.Bytes(),
		"depth":         fill(ledger, `[`, ``),
	} {
		s := ledgertest.NewServer(ledgertest.New(testID, nil), 2)
		s.Hijack(func(w http.ResponseWriter, r *http.Request) bool {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Length", fmt.Sprint(len(answer)))
			_, _ = w.Write(answer)
			return true
		})
		source := openURLs(t, s.Ledger, "http://"+s.Serve(t))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := source.nodes.Members[0].fetchBlock(t.Context(), 1000, new(chain.WatchSet))
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; err == nil || got > most {
			t.Errorf("%s: %d MB were allocated (error %v)", name, got>>20, err)
		}
	}
}

// TestBothVersionsGiveTheSameTransfers checks that both versions of one ledger give the same
// transfers.
func TestBothVersionsGiveTheSameTransfers(t *testing.T) {
	t.Parallel()
	account := ledgertest.Address("the till")
	l := makeFullLedger(t, account)
	watch := new(chain.WatchSet)
	watch.AddAddresses(account)
	var read [3]string
	for version := 1; version <= 2; version++ {
		_, page, err := readLedger(lastLedgerAnswer(t, l, version), watch)
		if err != nil || len(page.transfers) != 20 {
			t.Fatalf("version %d: %d transfers, error %v, want 20", version, len(page.transfers), err)
		}
		text, err := json.Marshal(page.transfers)
		if err != nil {
			t.Fatal(err)
		}
		read[version] = string(text)
	}
	if read[1] != read[2] {
		t.Errorf("%s\n%s", read[1], read[2])
	}
}
