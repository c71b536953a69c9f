package xrpl

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
	"cointill/chain/xrpl/ledgertest"
	"cointill/core/money"
)

// changeCloseTime changes the time in a ledger's answer and computes its hash again.
func changeCloseTime(t *testing.T, ledger ledgertest.Fields, index int64, at uint32) {
	raw, err := json.Marshal(ledger)
	if err != nil {
		t.Fatal(err)
	}
	var h ledgerHeader
	if err := json.Unmarshal(raw, &h); err != nil {
		t.Fatal(err)
	}
	h.CloseTime = at
	sum, err := h.computeHash(index)
	if err != nil {
		t.Fatal(err)
	}
	ledger["close_time"], ledger["ledger_hash"] = at, sum
}

// TestPagesMustBeOfOneLedger (XRP-7) checks that all pages must have the same header. A server
// that switches to another ledger between two pages is rejected.
func TestPagesMustBeOfOneLedger(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 2)
	for range 3 {
		b.AddPayment(ledgertest.Payment{To: b.account, Tag: 1, Amount: 4_000_000})
	}
	b.CloseLedgers(1)
	at, _ := b.Ledger.Tip()
	b.server.SetBehaviour(func(b *ledgertest.Behaviour) { b.Page = 2 })
	pages := 0
	b.server.Tamper(func(_ string, _ int, result ledgertest.Fields) {
		ledger, _ := result["ledger"].(ledgertest.Fields)
		if pages++; pages == 2 {
			changeCloseTime(t, ledger, at, 800_000_000)
		}
	})
	block, err := b.source.nodes.Members[0].fetchBlock(t.Context(), at, b.watch)
	if err == nil || !strings.Contains(err.Error(), "two ledgers") || pages != 2 {
		t.Errorf("%+v, %v after %d pages", block, err, pages)
	}
}

// TestPagesCountEachTransactionOnce (XRP-7) checks that every transaction of a ledger in pages
// counts once. A ledger is rejected if a page omits a transaction, repeats one of another page, or
// is sent twice.
func TestPagesCountEachTransactionOnce(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 2)
	const payments = 5
	for range payments {
		b.AddPayment(ledgertest.Payment{To: b.account, Tag: 1, Amount: 4_000_000})
	}
	b.CloseLedgers(1)
	at, _ := b.Ledger.Tip()
	b.server.SetBehaviour(func(b *ledgertest.Behaviour) { b.Page = 2 })
	var shown []any // of the first page
	for name, change := range map[string]func(page int, txs []any) []any{
		"": func(_ int, txs []any) []any { return txs },
		"the first of the first page": func(page int, txs []any) []any {
			if page == 1 {
				return txs[1:]
			}
			return txs
		},
		"the last of the second page": func(page int, txs []any) []any {
			if page == 2 {
				return txs[:1]
			}
			return txs
		},
		"a page": func(page int, txs []any) []any {
			if page == 2 {
				return []any{}
			}
			return txs
		},
		"the first page again, for the second": func(page int, txs []any) []any {
			if page == 2 {
				return shown
			}
			return txs
		},
		"one of the first page, for one of the third": func(page int, txs []any) []any {
			if page == 3 {
				return shown[:1]
			}
			return txs
		},
		"one of the first page, beside the second": func(page int, txs []any) []any {
			if page == 2 {
				return append(txs, shown[0])
			}
			return txs
		},
	} {
		pages := 0
		b.server.Tamper(func(_ string, _ int, result ledgertest.Fields) {
			ledger := result["ledger"].(ledgertest.Fields)
			txs := ledger["transactions"].([]any)
			if pages++; pages == 1 {
				shown = txs
			}
			ledger["transactions"] = change(pages, txs)
		})
		block, err := b.source.nodes.Members[0].fetchBlock(t.Context(), at, b.watch)
		if whole := name == ""; whole != (err == nil) || whole && len(block.Transfers) != payments || pages != 3 {
			t.Errorf("%q: %d transfers, %v after %d pages", name, len(block.Transfers), err, pages)
		}
	}
}

// TestHeaderNeedsTime checks that a header without a time is rejected although its hash is right.
func TestHeaderNeedsTime(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 2)
	at, _ := b.Ledger.Tip()
	b.server.Tamper(func(_ string, _ int, result ledgertest.Fields) {
		changeCloseTime(t, result["ledger"].(ledgertest.Fields), at, 0)
	})
	header, err := openURLs(t, b.Ledger, "http://"+b.server.Serve(t)).nodes.Members[0].fetchHeader(t.Context(), at)
	if err == nil || !strings.Contains(err.Error(), "no time") {
		t.Errorf("header %+v, error %v, want \"no time\"", header, err)
	}
}

// TestTipMustMatchServerInfo checks that the last validated ledger in server_info must be the
// ledger that the server shows at that index.
func TestTipMustMatchServerInfo(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 2)
	b.server.Tamper(func(command string, _ int, result ledgertest.Fields) {
		if command == "server_info" {
			result["info"].(ledgertest.Fields)["validated_ledger"].(ledgertest.Fields)["hash"] = strings.Repeat("AB",
				32)
		}
	})
	expectNoTip(t, b.source, "a ledger's header that is damaged")
}

// TestAccountMustBeValidated checks that the state of an account in the open ledger is not used.
func TestAccountMustBeValidated(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 2)
	b.server.Tamper(func(command string, _ int, result ledgertest.Fields) {
		if command == "account_info" {
			result["validated"] = false
		}
	})
	if got, err := b.source.nodes.Members[0].fetchAccount(t.Context(), b.account); err == nil {
		t.Errorf("account %+v from an open ledger, want an error", got)
	}
}

// TestXRPBesideIssuedCurrencyCreditsNothing (XRP-2) checks that XRP that arrives with a payment of
// an issued currency is reported and credits nothing.
func TestXRPBesideIssuedCurrencyCreditsNothing(t *testing.T) {
	t.Parallel()
	watch := new(chain.WatchSet)
	watch.AddAddresses("me")
	delivered := `{"currency":"USD","issuer":"` + ledgertest.Address("an issuer") + `","value":"5"}`
	did := &txMeta{Result: resultSuccess, Delivered: jsontext.Value(delivered)}
	did.Nodes.roots = []accountChange{{place: 2, account: "me", existed: true, before: []byte(`"1000"`),
		after: []byte(`"1700"`)}}
	all, err := findTransfers(&txBody{TransactionType: typePayment, Account: "you", Destination: "me"}, did,
		"id", watch)
	if err != nil || len(all) != 2 || all[0].Asset == string(money.XRP) {
		t.Fatalf("transfers %+v, error %v, want an issued currency and XRP", all, err)
	}
	if got := all[1]; got.Asset != string(money.XRP) || got.Amount.Cmp(money.Units(700)) != 0 ||
		got.Via != typePayment || got.Index != 3 || got.Address != "me" {
		t.Errorf("transfer %+v, want 700 drops at index 3 that credit nothing", got)
	}
}
