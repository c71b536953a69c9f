package source

import (
	"strings"
	"testing"
)

// variant is a good document with one thing changed.
type variant struct {
	source, file, pair string
	old, new           string
	want               string // what it says then, or the phrase of the error
}

func (v variant) check(t *testing.T) {
	t.Helper()
	body := string(sample(t, v.source, v.file))
	if !strings.Contains(body, v.old) {
		t.Fatalf("%s has no %s", v.source, v.old)
	}
	prices, err := document(t, v.source, v.pair).Read([]byte(strings.Replace(body, v.old, v.new, 1)), noon)
	var got []string
	for _, p := range prices {
		got = append(got, p.String()+" "+p.Value.String())
	}
	if err != nil {
		got = []string{err.Error()}
	}
	if strings.Join(got, ", ") != v.want {
		t.Errorf("%s with %.60s for %.60s says %s, want %s", v.source, v.new, v.old, strings.Join(got, ", "), v.want)
	}
}

// TestValues (FX-3) puts every kind of value where a number belongs: what is no number
// costs that pair and no other; zero and negative values are passed on.
func TestValues(t *testing.T) {
	t.Parallel()
	const others = "USD/NGN 1431.902, USD/KES 129.05"
	for value, cedi := range map[string]string{
		`11.37`: "11.37", `"11.37"`: "11.37", `1.137e1`: "11.37", `1137E-2`: "11.37", `11`: "11",
		`0`: "0", `"0"`: "0", `0.0`: "0", `-0`: "0", `-5`: "-5", `"-11.37"`: "-11.37", `113749`: "113749",
		`null`: "", `""`: "", `"NaN"`: "", `"N/A"`: "", `"Infinity"`: "", `"-Inf"`: "", `true`: "", `[]`: "", `{}`: "", `[11.37]`: "",
		`{"rate":11.37}`: "", `1e-400`: "", `1e400000000`: "", `"1e400000000"`: "", `1e31`: "", `1e-31`: "", `"0x10"`: "", `"1_000"`: "",
		`"1,137"`: "", `"11.37 GHS"`: "", `" 11.37"`: "", `"+11.37"`: "", `"11."`: "", `".5"`: "", `"011"`: "", `"١١"`: "",
		strings.Repeat("9", 41): "", "0." + strings.Repeat("1", 39): "", strings.Repeat("9", 100_000): "",
	} {
		want := others
		if cedi != "" {
			want = "USD/NGN 1431.902, USD/GHS " + cedi + ", USD/KES 129.05"
		}
		variant{"er-api", "usd.json", "USD/NGN", `"GHS": 11.37`, `"GHS": ` + value, want}.check(t)
	}
}

// TestNesting: what nests without end in a number's place is no JSON to read.
func TestNesting(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	variant{"er-api", "usd.json", "USD/NGN", `11.37`, deep, unreadable}.check(t)
	variant{"kucoin", "prices.json", "BTC/USD", `"0.9997"`, deep, unreadable}.check(t)
	variant{"er-api", "usd.json", "USD/NGN", `11.37`, deep[19_990:20_010], "USD/NGN 1431.902, USD/KES 129.05"}.check(t)
}

// TestCedi (FX-5): the cedi of before 2007 is never read as today's.
func TestCedi(t *testing.T) {
	t.Parallel()
	for _, v := range []variant{
		{"currency-api", "usd.json", "USD/NGN", `"ghs": 11.3749,`, "", "USD/NGN 1432.1034, USD/KES 129.06"},
		{"currency-api", "usd.json", "USD/NGN", `"ghs": 11.3749`, `"GHS": 11.3749`, "USD/NGN 1432.1034, USD/KES 129.06"},
		{"currency-api", "usd.json", "USD/NGN", `"ghc": 113749`, `"ghs": 113749`, unreadable}, // twice
		{"er-api", "usd.json", "USD/NGN", `"GHS": 11.37`, `"GHC": 113749`, "USD/NGN 1431.902, USD/KES 129.05"},
		{"coinbase-fx", "usd.json", "USD/NGN", `"GHS":"11.3749"`, `"GHC":"113749"`, "USD/NGN 1432.665, USD/KES 129.1"},
		{"floatrates", "usd.json", "USD/NGN", `"ghs":{"code":"GHS"`, `"ghc":{"code":"GHC"`, "USD/NGN 1433.20110229, USD/KES 129.11"},
		{"floatrates", "usd.json", "USD/NGN", `"ghs":{"code":"GHS"`, `"ghs":{"code":"GHC"`, "USD/NGN 1433.20110229, USD/KES 129.11"},
	} {
		v.check(t)
	}
	only := `{"date":"2026-03-01","usd":{"ghc":113749}}`
	if prices, err := document(t, "currency-api", "USD/GHS").Read([]byte(only), noon); err == nil {
		t.Errorf("read %v from ghc alone", prices)
	}
}

// TestEnvelopes: errors that sources report in documents, and documents of
// something else than was asked for.
func TestEnvelopes(t *testing.T) {
	t.Parallel()
	const kraken = "BTC/USD 67012.45, ETH/USD 3321.05, USDT/USD 0.99985, XRP/USD 0.5215, DOGE/USD 0.12135"
	for _, v := range []variant{
		{"coinbase", "btc.json", "BTC/USD", `"currency":"BTC"`, `"currency":"USD"`, otherShape},
		{"coinbase", "btc.json", "BTC/USD", `"currency"`, `"CURRENCY"`, otherShape},
		{"coinbase-fx", "usd.json", "USD/NGN", `"currency":"USD"`, `"currency":"EUR"`, otherShape},
		{"kraken", "ticker.json", "BTC/USD", `"error": []`, `"error": ["EQuery:Unknown asset pair"]`, ownError},
		{"kraken", "ticker.json", "BTC/USD", `"error": []`, `"error": ["WGeneral:Deprecated"]`, kraken},
		{"kraken", "ticker.json", "BTC/USD", `"error": []`, `"error": ["WGeneral:Deprecated","EService:Busy"]`, ownError},
		{"kraken", "ticker.json", "BTC/USD", `"error": []`, `"error": "none"`, otherShape},
		{"kraken", "ticker.json", "BTC/USD", `"result"`, `"results"`, otherShape},
		{"kucoin", "prices.json", "BTC/USD", `"200000"`, `"400100"`, ownError},
		{"kucoin", "prices.json", "BTC/USD", `"200000"`, `200000`, otherShape},
		{"kucoin", "prices.json", "BTC/USD", `"code":"200000",`, ``, otherShape},
		{"okx", "index.json", "BTC/USD", `"code":"0"`, `"code":"51000"`, ownError},
		{"okx", "index.json", "BTC/USD", `"code":"0",`, ``, otherShape},
		{"er-api", "usd.json", "USD/NGN", `"result": "success"`, `"result": "error", "error-type": "unsupported-code"`, ownError},
		{"er-api", "usd.json", "USD/NGN", `"result": "success",`, ``, otherShape},
		{"er-api", "usd.json", "USD/NGN", `"time_eol_unix": 0`, "\"note\": \"\xff\"", unreadable},
		{"er-api", "usd.json", "USD/NGN", `"base_code": "USD"`, `"base_code": "EUR"`, otherShape},
		{"currency-api", "usd.json", "USD/NGN", `"usd"`, `"eur"`, otherShape},
		{"frankfurter", "rates.json", "USD/NGN", `"base":"USD","quote":"NGN"`, `"base":"EUR","quote":"NGN"`, "USD/KES 129.02"},
		{"frankfurter", "rates.json", "USD/NGN", `"quote":"KES"`, `"quote":"NGN"`, otherShape}, // twice
		{"okx", "index.json", "BTC/USD", `"ETH-USD"`, `"BTC-USD"`, otherShape},
		{"binance", "price.json", "BTC/USDT", `"ETHUSDT"`, `"BTCUSDT"`, otherShape},
		{"bitstamp", "ticker.json", "BTC/USD", `"BTC/USD-PERP"`, `"BTC/USD"`, otherShape},
		{"quidax", "usdtngn.json", "USDT/NGN", `"success"`, `"error"`, ownError},
		{"quidax", "usdtngn.json", "USDT/NGN", `"at"`, `"market":"btcngn","at"`, otherShape},
		{"quidax", "usdtngn.json", "USDT/NGN", `"at"`, `"market":"usdtngn","at"`, "USDT/NGN 1451.5"},
		{"luno", "usdtngn.json", "USDT/NGN", `"USDTNGN"`, `"XBTNGN"`, otherShape},
		{"luno", "usdtngn.json", "USDT/NGN", `"ACTIVE"`, `"POSTONLY"`, ownError},
	} {
		v.check(t)
	}
}

// TestBooks: the middle of a book is a price only where there is a book.
func TestBooks(t *testing.T) {
	t.Parallel()
	luno := func(bid, ask, want string) variant {
		return variant{"luno", "usdtngn.json", "USDT/NGN", `"bid":"1451.00","ask":"1453.00"`, `"bid":` + bid + `,"ask":` + ask, want}
	}
	for _, v := range []variant{
		luno(`"1452"`, `"1452"`, "USDT/NGN 1452"),
		luno(`"1453"`, `"1451"`, priceless), // crossed
		luno(`"1000"`, `"1100"`, "USDT/NGN 1050"),
		luno(`"1000"`, `"1100.01"`, priceless), // too wide
		luno(`"1"`, `"1453"`, priceless),
		luno(`"0"`, `"1453"`, "USDT/NGN 0"), // never 726.5
		luno(`"1451"`, `"0"`, "USDT/NGN 0"),
		luno(`"-1"`, `"1453"`, "USDT/NGN -1"),
		luno(`"0.00"`, `"0.00"`, "USDT/NGN 0"),
		luno(`0.`+strings.Repeat("0", 28)+`10`, `0.`+strings.Repeat("0", 28)+`11`, "USDT/NGN 0."+strings.Repeat("0", 28)+"1"),
		luno(`null`, `"1453"`, priceless),
		luno(`"1451"`, `""`, priceless),
		{"quidax", "usdtngn.json", "USDT/NGN", `"buy":"1450.5"`, `"buy":"1460.5"`, priceless}, // crossed
		{"kraken", "ticker.json", "BTC/USD", `"b": ["67012.40000", "4", "4.000"]`, `"b": []`,
			"ETH/USD 3321.05, USDT/USD 0.99985, XRP/USD 0.5215, DOGE/USD 0.12135"},
		{"kraken", "ticker.json", "BTC/USD", `"b": ["67012.40000"`, `"b": ["67013"`,
			"ETH/USD 3321.05, USDT/USD 0.99985, XRP/USD 0.5215, DOGE/USD 0.12135"},
		{"bitstamp", "ticker.json", "BTC/USD", `"bid": "67010"`, `"bid": "60000"`,
			"ETH/USD 3321, USDT/USD 0.99985, XRP/USD 0.5215, DOGE/USD 0.1214"},
	} {
		v.check(t)
	}
}

// TestTimes: where a source tells a time, a price without one isn't a price.
func TestTimes(t *testing.T) {
	t.Parallel()
	for _, at := range []string{`""`, `null`, `"soon"`, `0`, `-1`, `1e9`, `1772366398.5`, `99999999999999999`, `"99999999999999999999"`, `9223372036854775807`} {
		for _, v := range []variant{
			{"luno", "usdtngn.json", "USDT/NGN", `1772366398123`, at, priceless},
			{"quidax", "usdtngn.json", "USDT/NGN", `1772366397`, at, priceless},
			{"er-api", "usd.json", "USD/NGN", `1772323352`, at, priceless},
			{"okx", "index.json", "BTC/USD", `"1772366399500"`, at, "ETH/USD 3321.02, USDT/USD 0.99983, XRP/USD 0.52148, DOGE/USD 0.121351"},
			{"bitstamp", "ticker.json", "BTC/USD", `"1772366395"`, at, "ETH/USD 3321, USDT/USD 0.99985, XRP/USD 0.5215, DOGE/USD 0.1214"},
		} {
			v.check(t)
		}
	}
	for _, date := range []string{"", "2026-13-01", "1970-01-01", "9999-12-31", "01.03.2026", "2026-03-01T00:00:00Z"} {
		variant{"currency-api", "usd.json", "USD/NGN", "2026-03-01", date, priceless}.check(t)
		variant{"frankfurter", "rates.json", "USD/NGN", "2026-02-27", date, "USD/KES 129.02"}.check(t)
		variant{"floatrates", "usd.json", "USD/NGN", `"1433.20110229","date":"Sun, 01 Mar 2026 11:55:01 GMT"`,
			`"1433.20110229","date":"` + date + `"`, "USD/GHS 11.38, USD/KES 129.11"}.check(t)
	}
}
