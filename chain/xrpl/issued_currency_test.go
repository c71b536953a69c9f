package xrpl

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
	"cointill/chain/xrpl/ledgertest"
)

// TestIssuedAmountsAreDescribedOrUnknown (XRP-2) checks that the text of an issued amount is bounded
// and made only of a number, a currency code or a token's id, and an account.
func TestIssuedAmountsAreDescribedOrUnknown(t *testing.T) {
	t.Parallel()
	issuer, code, token := ledgertest.Address("an issuer"), strings.Repeat("5", 40), strings.Repeat("0A", 24)
	longest := strings.Repeat("1", maxValueLength)
	issued := func(value, currency, by string) string {
		text, err := json.Marshal(map[string]string{"value": value, "currency": currency, "issuer": by})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, c := range []struct{ text, want string }{
		{issued("1.5", "USD", issuer), "1.5 USD issued by " + issuer},
		{issued("-1E+9", "USD", issuer), "-1E+9 USD issued by " + issuer},
		{issued(longest, "USD", issuer), longest + " USD issued by " + issuer},
		{issued(longest+"1", "USD", issuer), unknownAsset},
		{issued("", "USD", issuer), unknownAsset},
		{issued("1x", "USD", issuer), unknownAsset},
		{issued("1", "USD", "nobody"), unknownAsset},
		{issued("1", "USD", ""), unknownAsset},
		{issued("1", "", issuer), unknownAsset},
		{issued("1", "USDX", issuer), unknownAsset},
		{issued("1", code, issuer), "1 " + strings.Repeat("U", 20) + " issued by " + issuer},
		{issued("1", code[:39], issuer), unknownAsset},
		{issued("1", code[:39]+"x", issuer), unknownAsset},
		{`{"value":"1","mpt_issuance_id":"` + token + `"}`, "1 of token " + token},
		{`{"value":"1","mpt_issuance_id":"` + token[:47] + `"}`, unknownAsset},
		{`{"value":"1","mpt_issuance_id":"` + token[:47] + `x"}`, unknownAsset},
		{`{"value":"1","currency":"USD","issuer":"` + issuer + `","x":1}`, "1 USD issued by " + issuer},
		{`{"currency":"USD","issuer":"` + issuer + `","value":"1","mpt_issuance_id":5}`, unknownAsset},
		{`[]`, unknownAsset},
	} {
		if got := describeIssued(jsontext.Value(c.text)); got != c.want {
			t.Errorf("describeIssued(%s) = %q, want %q", c.text, got, c.want)
		}
	}
}

// TestIssuedValuesAreBounded checks that a token's value with a long text or an extreme exponent
// is 0, because adding it would take much memory.
func TestIssuedValuesAreBounded(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("1", maxValueLength)
	for text, want := range map[string]string{"1.5": "1.5", "-2": "-2", "": "0", "x": "0", "1x": "0",
		longest: longest, longest + "1": "0",
		"1e200": "1" + strings.Repeat("0", 200), "1e201": "0",
		"1e-200": "0." + strings.Repeat("0", 199) + "1", "1e-201": "0"} {
		if got := parseValue(text).String(); got != want {
			t.Errorf("parseValue(%s) = %s, want %s", text, got, want)
		}
	}
}

// lineChange returns a trust line between "me", which is the lower account, and an issuer.
func lineChange(before, after string) trustLineChange {
	issuer := ledgertest.Address("an issuer")
	amount := func(value, by string) jsontext.Value {
		if value == "" {
			return nil
		}
		return jsontext.Value(`{"currency":"USD","issuer":"` + by + `","value":"` + value + `"}`)
	}
	return trustLineChange{place: 3, low: amount("0", "me"), high: amount("0", issuer), before: amount(before, "x"),
		after: amount(after, "x")}
}

// TestIssuedCurrencyIsListedWhenReceived (XRP-2) checks which changes of a trust line are listed as
// received: a watched account holds more of the currency than before.
func TestIssuedCurrencyIsListedWhenReceived(t *testing.T) {
	t.Parallel()
	watch := new(chain.WatchSet)
	watch.AddAddresses("me")
	by := " USD issued by " + ledgertest.Address("an issuer")
	for name, c := range map[string]struct {
		line trustLineChange
		edit func(*trustLineChange)
		want string // "" means none
	}{
		"more":                      {lineChange("1", "5"), nil, "4" + by},
		"the first":                 {lineChange("", "5"), nil, "5" + by},
		"less":                      {lineChange("5", "1"), nil, ""},
		"the same, spelled else":    {lineChange("5", "5.0"), nil, ""},
		"a debt that was paid":      {lineChange("-5", "0"), nil, ""},
		"a debt that became income": {lineChange("-5", "1"), nil, "6" + by},
		"a smaller debt":            {lineChange("-5", "-1"), nil, ""},
		"of another account": {lineChange("1", "5"), func(l *trustLineChange) {
			l.low = jsontext.Value(`{"issuer":"somebody"}`)
		}, ""},
		"of another account, as the higher one": {lineChange("-1", "-5"), func(l *trustLineChange) {
			l.low = jsontext.Value(`{"issuer":"somebody"}`)
		}, ""},
		"as the higher account": {lineChange("-1", "-5"), func(l *trustLineChange) { l.low, l.high = l.high, l.low },
			"4" + by},
		"a malformed balance": {lineChange("1", "5"), func(l *trustLineChange) {
			l.after = jsontext.Value(`{"value":"9","currency":7}`)
		}, ""},
		"a malformed account": {lineChange("1", "5"), func(l *trustLineChange) {
			l.low = jsontext.Value(`{"issuer":"me","currency":7}`)
		}, ""},
	} {
		if c.edit != nil {
			c.edit(&c.line)
		}
		did := &txMeta{Nodes: affectedNodes{lines: []trustLineChange{c.line}}}
		got := ""
		for _, one := range findIssued(&txBody{TransactionType: "OfferCreate"}, did, watch, "") {
			got += one.Asset
			if one.Address != "me" || one.Index != 4 || one.Via != "OfferCreate" || one.Tag != nil {
				t.Errorf("%s: transfer %+v, want index 4 to the account without a tag", name, one)
			}
		}
		if got != c.want {
			t.Errorf("%s: received %q, want %q", name, got, c.want)
		}
	}
}

// TestTagBelongsToDestination checks that the destination tag is shown only at the transfer to the
// transaction's destination, in issued currencies and in XRP.
func TestTagBelongsToDestination(t *testing.T) {
	t.Parallel()
	watch := new(chain.WatchSet)
	watch.AddAddresses("me", "you")
	did := &txMeta{Result: resultSuccess, Nodes: affectedNodes{lines: []trustLineChange{lineChange("1", "5")},
		roots: []accountChange{{account: "me", existed: true, before: []byte(`"1"`), after: []byte(`"3"`)}}}}
	for destination, tagged := range map[string]bool{"me": true, "you": false, "": false} {
		tx := &txBody{TransactionType: "CheckCash", Destination: destination, DestinationTag: jsontext.Value("9")}
		all, err := findTransfers(tx, did, "id", watch)
		if err != nil || len(all) != 2 {
			t.Fatalf("destination %q: %+v, error %v; want XRP and an issued currency", destination, all, err)
		}
		for _, one := range all {
			if (one.Tag != nil) != tagged || tagged && *one.Tag != 9 {
				t.Errorf("destination %q: transfer %+v, want its tag 9: %v", destination, one, tagged)
			}
		}
	}
}
