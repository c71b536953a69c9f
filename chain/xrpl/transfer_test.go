package xrpl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
	"cointill/core/money"
)

// rootChange returns the change of an existing account's XRP.
func rootChange(account, before, after string) accountChange {
	r := accountChange{place: 1, account: account, existed: true}
	if before != "" {
		r.before = jsontext.Value(before)
	}
	if after != "" {
		r.after = jsontext.Value(after)
	}
	return r
}

// TestPaymentIsProvenByBalances (XRP-1, XRP-3) checks what a payment to a watched account gives, by
// its delivered amount and the balances that it changed.
func TestPaymentIsProvenByBalances(t *testing.T) {
	t.Parallel()
	created := rootChange("me", "", `"7"`)
	created.existed = false
	empty := rootChange("me", "", "")
	empty.existed = false
	for name, c := range map[string]struct {
		delivered string
		roots     []accountChange
		want      string // address, amount and Via of each transfer, or "error"
	}{
		"delivered":              {`"7"`, []accountChange{rootChange("me", `"1"`, `"8"`)}, "me 7 "},
		"to a new account":       {`"7"`, []accountChange{created}, "me 7 "},
		"more than arrived":      {`"8"`, []accountChange{rootChange("me", `"1"`, `"8"`)}, "me 7 " + viaUnproven},
		"nothing delivered":      {`"0"`, nil, "me 0 " + viaUnproven},
		"no amount":              {``, nil, "me 0 " + viaUnavailable},
		"an amount in words":     {`"some"`, []accountChange{rootChange("me", `"1"`, `"8"`)}, "me 7 " + viaUnavailable},
		"an account without XRP": {`"7"`, []accountChange{empty}, "me 0 " + viaUnproven},
		"a link that changed": {`"7"`, []accountChange{rootChange("me", `"1"`, `"8"`),
			rootChange("", "", "")}, "me 7 "},
		"an unreadable balance":        {`"7"`, []accountChange{rootChange("me", `"1"`, `8`)}, "error"},
		"an unreadable balance before": {`"7"`, []accountChange{rootChange("me", `1`, `"8"`)}, "error"},
		"another watched account gains": {`"7"`, []accountChange{rootChange("me", `"1"`, `"8"`),
			rootChange("you", `"1"`, `"3"`)}, "me 7 , you 2 Payment"},
		"another watched account keeps its balance": {`"7"`, []accountChange{rootChange("me", `"1"`, `"8"`),
			rootChange("you", "", `"3"`)}, "me 7 "},
		"another watched account pays": {`"7"`, []accountChange{rootChange("me", `"1"`, `"8"`),
			rootChange("you", `"20"`, `"3"`)}, "me 7 "},
		"another watched account is unreadable": {`"7"`, []accountChange{rootChange("me", `"1"`, `"8"`),
			rootChange("you", `"1"`, `3`)}, "error"},
		"an account that is not watched": {`"7"`, []accountChange{rootChange("me", `"1"`, `"8"`),
			rootChange("other", `"1"`, `3`)}, "me 7 "},
	} {
		watch := new(chain.WatchSet)
		watch.AddAddresses("me", "you")
		did := &txMeta{Result: resultSuccess, Delivered: jsontext.Value(c.delivered), Nodes: affectedNodes{roots: c.roots}}
		tx := &txBody{TransactionType: typePayment, Account: "payer", Destination: "me"}
		all, err := findTransfers(tx, did, "id", watch)
		var found []string
		for _, one := range all {
			found = append(found, fmt.Sprintf("%s %s %s", one.Address, one.Amount, one.Via))
		}
		got := strings.Join(found, ", ")
		if err != nil {
			got = "error"
		}
		if got != c.want {
			t.Errorf("%s: %q (error %v), want %q", name, got, err, c.want)
		}
	}
}

// TestIssuedCurrencyBesidePaymentIsListed (XRP-2) checks that issued currency that arrives beside a
// payment in XRP, or in a transaction that is no payment, is listed and credits nothing.
func TestIssuedCurrencyBesidePaymentIsListed(t *testing.T) {
	t.Parallel()
	watch := new(chain.WatchSet)
	watch.AddAddresses("me")
	for kind, want := range map[string]int{typePayment: 2, "CheckCash": 2} {
		did := &txMeta{Result: resultSuccess, Delivered: jsontext.Value(`"7"`), Nodes: affectedNodes{
			roots: []accountChange{rootChange("me", `"1"`, `"8"`)}, lines: []trustLineChange{lineChange("1", "5")}}}
		all, err := findTransfers(&txBody{TransactionType: kind, Account: "payer", Destination: "me"}, did, "id", watch)
		if err != nil || len(all) != want || all[0].Asset != string(money.XRP) || all[1].Asset == string(money.XRP) {
			t.Errorf("%s: %+v, error %v; want XRP and an issued currency", kind, all, err)
		}
	}
}

// TestStringsAreReadPlainly checks that only strings of ASCII without escapes are read.
func TestStringsAreReadPlainly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{`"me"`: "me", `" ~"`: " ~", `""`: "", `"a\u0041"`: "", "\"a\x7f\"": "",
		`"é"`: "", `7`: "", `{}`: "", `["me"]`: "", `null`: "", ``: ""} {
		if got := plainString(jsontext.Value(text)); got != want {
			t.Errorf("plainString(%s) = %q, want %q", text, got, want)
		}
	}
}

// TestDropsAreDigits checks that an amount of XRP is a string of digits up to the total supply.
func TestDropsAreDigits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{`"0"`: 0, `"7"`: 7, `"100000000000000000"`: maxDrops,
		`"100000000000000001"`: -1, `"99999999999999999999"`: -1, `"+7"`: -1, `"-7"`: -1, `"7.0"`: -1, `"1e3"`: -1, `""`: -1,
		`7`: -1, `null`: -1, ``: -1} {
		got, ok := parseDrops(jsontext.Value(text))
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("parseDrops(%s) = %d, %v; want %d, where -1 is no amount", text, got, ok, want)
		}
	}
}
