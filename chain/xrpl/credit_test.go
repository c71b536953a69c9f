package xrpl

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/chain/node"
	"cointill/chain/xrpl/ledgertest"
	"cointill/core/money"
)

// fixture is a ledger with a watched account, and a follower that reads it into a book.
type fixture struct {
	*testing.T
	*ledgertest.Ledger
	server   *ledgertest.Server
	source   *Source
	watch    *chain.WatchSet
	book     *chaintest.Ledger
	follower *chain.Follower
	account  string
}

func newFixture(t *testing.T, newest int) *fixture {
	l := ledgertest.New(testID, nil)
	s := ledgertest.NewServer(l, newest)
	watch := new(chain.WatchSet)
	b := &fixture{T: t, Ledger: l, server: s, source: openURLs(t, l, "http://"+s.Serve(t)), watch: watch,
		book: chaintest.NewLedger(watch, 100), account: ledgertest.Address("the till")}
	watch.AddAddresses(b.account)
	b.follower = chain.NewFollower(chain.FollowerConfig{Network: "till", Source: b.source, Store: b.book, Watch: watch})
	l.AddAccount(b.account, 10*ledgertest.Reserve, 0)
	b.closeAndRead()
	return b
}

// closeAndRead closes a ledger and reads it.
func (b *fixture) closeAndRead() {
	b.Helper()
	b.CloseLedgers(1)
	if _, err := b.follower.Step(b.Context()); err != nil {
		b.Fatal(err)
	}
	for _, v := range b.book.ListViolations() {
		b.Fatalf("the book breaks a rule: %v", v)
	}
}

// onlyTransfer returns the transfer of a transaction, which must be the only one.
func (b *fixture) onlyTransfer(id string) chain.Transfer {
	b.Helper()
	rows := b.book.Transfers()[id]
	if len(rows) != 1 {
		b.Fatalf("%d transfers of %s: %+v", len(rows), id, rows)
	}
	return rows[0].Transfer
}

// creditsPayment reports whether a transfer would credit a payment with its tag.
func creditsPayment(t chain.Transfer) bool {
	return t.Asset == string(money.XRP) && t.Via == "" && !t.Reverted && t.Tag != nil
}

// forEachVersion runs a test with both versions of the API.
func forEachVersion(t *testing.T, run func(t *testing.T, newest int)) {
	t.Parallel()
	for _, newest := range []int{1, 2} {
		t.Run(fmt.Sprint("version ", newest), func(t *testing.T) { t.Parallel(); run(t, newest) })
	}
}

// TestPartialPaymentCreditsWhatWasDelivered (XRP-1) checks that the delivered amount of a payment
// counts, never the requested one.
func TestPartialPaymentCreditsWhatWasDelivered(t *testing.T) {
	forEachVersion(t, func(t *testing.T, newest int) {
		b := newFixture(t, newest)
		r := rand.New(rand.NewPCG(1, uint64(newest)))
		const due = 25_000_000
		want := map[string]int64{}
		for i := range 1000 {
			delivered := 1 + r.Int64N(due-1)
			switch i {
			case 0:
				delivered = 1
			case 1:
				delivered = due - 1
			}
			want[b.AddPayment(ledgertest.Payment{To: b.account, Tag: uint32(i + 1), Amount: due,
				Delivered: delivered})] = delivered
			if i%100 == 99 {
				b.closeAndRead()
			}
		}
		for id, delivered := range want {
			if got := b.onlyTransfer(id); got.Amount.Cmp(money.Units(delivered)) != 0 || !creditsPayment(got) {
				t.Errorf("%d was delivered, and %+v read", delivered, got)
			}
		}
	})
}

// TestTypesHaveNoClaimedAmount (XRP-1) checks that the adapter's types have no field for the
// requested amount.
func TestTypesHaveNoClaimedAmount(t *testing.T) {
	t.Parallel()
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(of reflect.Type) {
		if seen[of] {
			return
		}
		seen[of] = true
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Array:
			walk(of.Elem())
		case reflect.Struct:
			for i := range of.NumField() {
				f := of.Field(i)
				for _, name := range []string{f.Name, f.Tag.Get("json")} {
					if name = strings.ToLower(name); name == "amount" || name == "delivermax" || name == "sendmax" {
						t.Errorf("%s has a field %s", of, f.Name)
					}
				}
				walk(f.Type)
			}
		case reflect.Func:
			for i := range of.NumIn() {
				walk(of.In(i))
			}
		}
	}
	for _, one := range []any{ledgerResult{}, txEntry{}, txMeta{}, affectedNode{}, serverInfo{}, accountResult{}} {
		walk(reflect.TypeOf(one))
	}
	if len(seen) < 10 || !seen[reflect.TypeOf(txBody{})] {
		t.Errorf("only %d types were looked at", len(seen))
	}
}

// TestOnlyDropsProvenByBalancesCount (XRP-1, XRP-2) checks that only a string of drops counts, and
// only if the balances changed by exactly that amount.
func TestOnlyDropsProvenByBalancesCount(t *testing.T) {
	forEachVersion(t, func(t *testing.T, newest int) {
		b := newFixture(t, newest)
		const amount = 7 * ledgertest.Drops
		delivered := func(value any) func(tx, meta ledgertest.Fields) {
			return func(_, meta ledgertest.Fields) {
				if meta["delivered_amount"] = value; value == nil {
					delete(meta, "delivered_amount")
				}
			}
		}
		node := func(change func(node ledgertest.Fields)) func(tx, meta ledgertest.Fields) {
			return func(_, meta ledgertest.Fields) {
				for _, one := range meta["AffectedNodes"].([]any) {
					entry := one.(ledgertest.Fields)["ModifiedNode"].(ledgertest.Fields)
					if entry["FinalFields"].(ledgertest.Fields)["Account"] == b.account {
						change(entry)
					}
				}
			}
		}
		for name, c := range map[string]struct {
			edit   func(tx, meta ledgertest.Fields)
			credit bool
			amount int64
			via    string
			asset  string
		}{
			"as it is":           {func(_, _ ledgertest.Fields) {}, true, amount, "", "XRP"},
			"unavailable":        {delivered("unavailable"), false, amount, viaUnavailable, "XRP"},
			"absent":             {delivered(nil), false, amount, viaUnavailable, "XRP"},
			"a number":           {delivered(amount), false, amount, viaUnavailable, "XRP"},
			"a list":             {delivered([]any{"7000000"}), false, amount, viaUnavailable, "XRP"},
			"more":               {delivered("700000000"), false, amount, viaUnproven, "XRP"},
			"less":               {delivered("6999999"), false, amount, viaUnproven, "XRP"},
			"negative":           {delivered("-7000000"), false, amount, viaUnavailable, "XRP"},
			"a fraction":         {delivered("7000000.0"), false, amount, viaUnavailable, "XRP"},
			"with a plus":        {delivered("+7000000"), false, amount, viaUnavailable, "XRP"},
			"nothing":            {delivered("0"), false, amount, viaUnproven, "XRP"},
			"more than there is": {delivered("100000000000000001"), false, amount, viaUnavailable, "XRP"},
			"as an issued currency": {delivered(ledgertest.Fields{"currency": "XRP", "issuer": ledgertest.Address("x"),
				"value": "7000000"}), false, 0, "",
				"7000000 XRP issued by " + ledgertest.Address("x")},
			"as a token": {delivered(ledgertest.Fields{"mpt_issuance_id": strings.Repeat("0A", 24),
				"value": "7000000"}), false, 0, "", "7000000 of token " + strings.Repeat("0A", 24)},
			"as nonsense": {delivered(ledgertest.Fields{"currency": "U\x00D", "value": "7 million"}), false,
				0, "", "an unknown asset"},
			"the balance stood still": {node(func(n ledgertest.Fields) {
				delete(n["PreviousFields"].(ledgertest.Fields), "Balance")
			}), false, 0, viaUnproven, "XRP"},
			"the balance fell": {node(func(n ledgertest.Fields) {
				n["PreviousFields"].(ledgertest.Fields)["Balance"] = "99999999999"
			}), false, 0, viaUnproven, "XRP"},
			"no account changed": {func(_, meta ledgertest.Fields) { meta["AffectedNodes"] = []any{} }, false, 0,
				viaUnproven, "XRP"},
		} {
			id := b.AddPayment(ledgertest.Payment{To: b.account, Tag: 7, Amount: amount, Edit: c.edit})
			b.closeAndRead()
			rows := slices.DeleteFunc(b.book.Transfers()[id], func(r chaintest.Row) bool { return r.Index != 0 })
			if len(rows) != 1 {
				t.Errorf("%s: %d transfers", name, len(rows))
				continue
			}
			got := rows[0].Transfer
			if creditsPayment(got) != c.credit || got.Amount.Cmp(money.Units(c.amount)) != 0 || got.Via != c.via ||
				got.Unproved != (c.via != "") || got.Asset != c.asset {
				t.Errorf("%s: %+v, amount %s", name, got, got.Amount)
			}
		}
	})
}

// TestFailedTransactionsCreditNothing (XRP-3) checks that failed transactions are no transfers,
// with any code, and that unvalidated ones are not read.
func TestFailedTransactionsCreditNothing(t *testing.T) {
	forEachVersion(t, func(t *testing.T, newest int) {
		b := newFixture(t, newest)
		codes := append(tecCodes(t), "tefPAST_SEQ", "terRETRY", "telINSUF_FEE_P", "temMALFORMED", "TESSUCCESS",
			"tesSUCCESS ", "tesNEW", "tec")
		for i, code := range codes {
			b.AddPayment(ledgertest.Payment{To: b.account, Tag: i + 1, Amount: 5_000_000, Result: code})
			// A failed transaction with a delivered_amount.
			b.AddPayment(ledgertest.Payment{To: b.account, Tag: i + 1, Amount: 5_000_000,
				Edit: func(_, meta ledgertest.Fields) { meta["TransactionResult"] = code }})
		}
		before := len(b.book.Transfers())
		b.closeAndRead()
		if n := len(b.book.Transfers()) - before; n != 0 || len(codes) < 90 {
			t.Errorf("%d of %d failed payments were read as transfers", n, 2*len(codes)) // 84 codes are known
		}
		id := b.AddPayment(ledgertest.Payment{To: b.account, Tag: 1, Amount: 5_000_000})
		if _, err := b.follower.Step(t.Context()); err != nil || len(b.book.Transfers()) != before {
			t.Errorf("an open ledger's payment was read (%v)", err)
		}
		b.closeAndRead()
		if !creditsPayment(b.onlyTransfer(id)) {
			t.Error("the validated payment doesn't count")
		}
	})
}

// tecCodes returns the codes of transactions that only cost a fee, from the npm library.
func tecCodes(t *testing.T) (codes []string) {
	if err := json.Unmarshal(readVectors(t, "results.json"), &codes); err != nil {
		t.Fatal(err)
	}
	return codes
}

// TestDestinationTagsAreRead (XRP-4) checks that a tag is a whole number of 32 bits, and that the
// tag 0 differs from no tag.
func TestDestinationTagsAreRead(t *testing.T) {
	forEachVersion(t, func(t *testing.T, newest int) {
		b := newFixture(t, newest)
		tag := func(n uint32) *uint32 { return &n }
		for _, c := range []struct {
			given any
			want  *uint32
		}{
			{nil, nil}, {0, tag(0)}, {1, tag(1)}, {uint32(1<<32 - 1), tag(1<<32 - 1)}, {int64(1 << 32), nil}, {-1, nil},
			{"17", nil}, {"", nil},
			{json.Number("17.0"), nil}, {json.Number("1e2"), nil}, {json.Number("-0"), nil}, {17.5, nil}, {true, nil},
			{[]int{17}, nil}, {ledgertest.Fields{"a": 1}, nil},
		} {
			id := b.AddPayment(ledgertest.Payment{To: b.account, Tag: c.given, Amount: 3_000_000})
			b.closeAndRead()
			got := b.onlyTransfer(id)
			if !reflect.DeepEqual(got.Tag, c.want) || got.Amount.Cmp(money.Units(3_000_000)) != 0 ||
				got.Asset != "XRP" {
				t.Errorf("tag %v: %+v", c.given, got)
			}
		}
	})
}

// TestXRPWithoutPaymentCreditsNothing (XRP-6) checks that XRP from other transactions than
// payments is reported with its amount and credits nothing, and the same for issued currencies.
func TestXRPWithoutPaymentCreditsNothing(t *testing.T) {
	forEachVersion(t, func(t *testing.T, newest int) {
		b := newFixture(t, newest)
		for i, kind := range []string{"EscrowFinish", "CheckCash", "PaymentChannelClaim", "AccountDelete",
			"OfferCreate", "Something\nNew"} {
			var tag any
			if kind == "AccountDelete" {
				tag = 17
			}
			amount := int64(2_000_000 + i)
			id := b.AddOther(kind, b.account, tag, amount)
			b.closeAndRead()
			got := b.onlyTransfer(id)
			if creditsPayment(got) || got.Asset != "XRP" || got.Via != node.PrintableText(kind) || got.Unproved ||
				got.Amount.Cmp(money.Units(amount)) != 0 || got.Address != b.account ||
				(got.Tag != nil) != (tag != nil) {
				t.Errorf("%s: %+v, amount %s", kind, got, got.Amount)
			}
		}
		id := b.AddIssuedPayment(b.account, 17, "USD", "12.5")
		b.closeAndRead()
		if got := b.onlyTransfer(id); creditsPayment(got) || got.Asset != "12.5 USD issued by "+
			ledgertest.Address("an issuer") || got.Amount.Sign() != 0 || *got.Tag != 17 {
			t.Errorf("an issued currency: %+v", got)
		}
	})
}

// TestIssuedCurrencyWithoutPaymentCreditsNothing (XRP-2) checks that issued currencies from
// offers, checks and similar transactions are reported and credit nothing. Outgoing amounts and
// the account's own debt are not reported.
func TestIssuedCurrencyWithoutPaymentCreditsNothing(t *testing.T) {
	forEachVersion(t, func(t *testing.T, newest int) {
		b := newFixture(t, newest)
		for _, c := range []struct {
			higher        bool
			before, after string
			brings        string
		}{
			{false, "", "12.5", "12.5"}, {false, "12.5", "13", "0.5"}, {false, "-3", "2", "5"},
			{true, "-1", "-1.25", "0.25"}, {true, "", "-7", "7"}, {false, "1e-5", "9876543e-2", "98765.42999"},
			{false, "13", "12", ""}, {false, "13", "0", ""}, {true, "-2", "-1", ""}, {false, "-3", "-2", ""},
			{true, "", "4", ""}, {false, "", "0", ""},
			{false, "1", "1e999999999", ""}, {false, "1", "nothing", ""}, {false, "1", strings.Repeat("9", 41), ""},
		} {
			id := b.AddSwap("OfferCreate", b.account, c.higher, c.before, c.after)
			b.closeAndRead()
			rows := b.book.Transfers()[id]
			if c.brings == "" {
				if len(rows) != 0 {
					t.Errorf("case %+v: rows %+v, want none", c, rows)
				}
				continue
			}
			if got := b.onlyTransfer(id); creditsPayment(got) || got.Asset != c.brings+" USD issued by "+
				ledgertest.Address("an issuer") || got.Via != "OfferCreate" || got.Amount.Sign() != 0 ||
				got.Address != b.account || got.Tag != nil {
				t.Errorf("case %+v: transfer %+v, want the issued currency, without credit", c, got)
			}
		}
	})
}

// TestCurrencyCodesAreReadable checks that hexadecimal codes are shown as names, unless the name
// could be mistaken for another currency.
func TestCurrencyCodesAreReadable(t *testing.T) {
	t.Parallel()
	pad := func(name string) string { return (fmt.Sprintf("%X", name) + strings.Repeat("0", 40))[:40] }
	for given, want := range map[string]string{
		"USD": "USD", "524C555344000000000000000000000000000000": "RLUSD",
		"524c555344000000000000000000000000000000": "RLUSD",
		pad("SOLO"): "SOLO", pad("a[1]<{$}>|?"): "a[1]<{$}>|?", pad("twentyCharactersLong"): "twentyCharactersLong",
		pad("XRP"): pad("XRP"), pad("xrp!"): pad("xrp!"), pad("myXrp"): pad("myXrp"), pad("USD"): pad("USD"),
		pad("a b c"): pad("a b c"), pad("R\x00LUSD"): pad("R\x00LUSD"),
		pad("\x00RLUSD"): pad("\x00RLUSD"), pad("ХRРxx"): pad("ХRРxx"), pad("RL\nUSD"): pad("RL\nUSD"),
		strings.Repeat("0", 40): strings.Repeat("0", 40),
	} {
		one := issuedAmount{Currency: given, Issuer: ledgertest.Address("x"), Value: "5"}
		if got := one.describeAmount(); got != "5 "+want+" issued by "+one.Issuer {
			t.Errorf("%s is %s", given, got)
		}
	}
}

// TestOwnFeeIsNoLoss checks that the fee of a transaction that the account sends does not reduce
// the amount that the account received.
func TestOwnFeeIsNoLoss(t *testing.T) {
	t.Parallel()
	tx := &txBody{TransactionType: "CheckCash", Account: "me", Fee: []byte(`"10"`)}
	r := &accountChange{account: "me", existed: true, before: []byte(`"1000"`), after: []byte(`"1990"`)}
	if gain, err := r.balanceGain(tx); err != nil || gain != 1000 {
		t.Errorf("balanceGain = %d, %v, want 1000", gain, err)
	}
	for name, other := range map[string]*jsontext.Value{"delegate": &tx.Delegate, "sponsor": &tx.Sponsor} {
		*other = []byte(`"another"`)
		if gain, err := r.balanceGain(tx); err != nil || gain != 990 {
			t.Errorf("paid by a %s: %d, %v", name, gain, err)
		}
		*other = nil
	}
	r.after = []byte(`1990`)
	if _, err := r.balanceGain(tx); err == nil {
		t.Error("a balance that is a number was read")
	}
}
