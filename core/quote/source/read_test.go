package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// document is one that a test reads: the one of a source that can hold a pair.
func document(t testing.TB, name, pair string) Document {
	t.Helper()
	s, ok := Named(name)
	if !ok {
		t.Fatalf("no source %s", name)
	}
	for _, d := range s.Documents {
		for _, p := range d.Pairs {
			if p.String() == pair {
				return d
			}
		}
	}
	t.Fatalf("%s has no %s", name, pair)
	return Document{}
}

// sample is a good document of a source, from testdata.
func sample(t testing.TB, name, file string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name, file))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// told writes prices as the tests do: "BTC/USD 67012.345 at 12:00:00".
func told(prices []Price) string {
	var lines []string
	for _, p := range prices {
		lines = append(lines, fmt.Sprintf("%s %s at %s", p, p.Value, p.At.Format("2006-01-02 15:04:05.999")))
	}
	return strings.Join(lines, "\n")
}

// good are all documents of all sources, with what they say.
var good = []struct {
	source, file, pair string // the pair finds the document
	want               []string
}{
	{"coinbase", "btc.json", "BTC/USD", []string{"BTC/USD 67012.345 at 2026-03-01 12:00:00"}},
	{"coinbase", "eth.json", "ETH/USD", []string{"ETH/USD 3321.075 at 2026-03-01 12:00:00"}},
	{"coinbase", "usdt.json", "USDT/USD", []string{"USDT/USD 0.99985 at 2026-03-01 12:00:00"}},
	{"coinbase", "xrp.json", "XRP/USD", []string{"XRP/USD 0.5215 at 2026-03-01 12:00:00"}},
	{"coinbase", "doge.json", "DOGE/USD", []string{"DOGE/USD 0.12135 at 2026-03-01 12:00:00"}},
	{"coinbase-fx", "usd.json", "USD/NGN", []string{
		"USD/NGN 1432.665 at 2026-03-01 12:00:00", "USD/GHS 11.3749 at 2026-03-01 12:00:00", "USD/KES 129.1 at 2026-03-01 12:00:00"}},
	{"kraken", "ticker.json", "BTC/USD", []string{
		"BTC/USD 67012.45 at 2026-03-01 12:00:00", "ETH/USD 3321.05 at 2026-03-01 12:00:00",
		"USDT/USD 0.99985 at 2026-03-01 12:00:00", "XRP/USD 0.5215 at 2026-03-01 12:00:00", "DOGE/USD 0.12135 at 2026-03-01 12:00:00"}},
	{"bitstamp", "ticker.json", "BTC/USD", []string{
		"BTC/USD 67012 at 2026-03-01 11:59:55", "ETH/USD 3321 at 2026-03-01 11:59:53",
		"USDT/USD 0.99985 at 2026-03-01 11:59:50", "XRP/USD 0.5215 at 2026-03-01 11:59:51", "DOGE/USD 0.1214 at 2026-03-01 11:59:52"}},
	{"kucoin", "prices.json", "BTC/USD", []string{
		"BTC/USD 67011.9 at 2026-03-01 12:00:00", "ETH/USD 3321.2 at 2026-03-01 12:00:00",
		"USDT/USD 0.9997 at 2026-03-01 12:00:00", "XRP/USD 0.52151 at 2026-03-01 12:00:00", "DOGE/USD 0.12134 at 2026-03-01 12:00:00"}},
	{"okx", "index.json", "BTC/USD", []string{
		"BTC/USD 67012.1 at 2026-03-01 11:59:59.5", "ETH/USD 3321.02 at 2026-03-01 11:59:59.501",
		"USDT/USD 0.99983 at 2026-03-01 11:59:59.502", "XRP/USD 0.52148 at 2026-03-01 11:59:59.503", "DOGE/USD 0.121351 at 2026-03-01 11:59:59.504"}},
	{"binance", "price.json", "BTC/USDT", []string{
		"BTC/USDT 67023.45 at 2026-03-01 12:00:00", "ETH/USDT 3321.6 at 2026-03-01 12:00:00",
		"XRP/USDT 0.5216 at 2026-03-01 12:00:00", "DOGE/USDT 0.12137 at 2026-03-01 12:00:00"}},
	{"er-api", "usd.json", "USD/NGN", []string{
		"USD/NGN 1431.902 at 2026-03-01 00:02:32", "USD/GHS 11.37 at 2026-03-01 00:02:32", "USD/KES 129.05 at 2026-03-01 00:02:32"}},
	{"currency-api", "usd.json", "USD/NGN", []string{
		"USD/NGN 1432.1034 at 2026-03-01 00:00:00", "USD/GHS 11.3749 at 2026-03-01 00:00:00", "USD/KES 129.06 at 2026-03-01 00:00:00"}},
	{"floatrates", "usd.json", "USD/NGN", []string{
		"USD/NGN 1433.20110229 at 2026-03-01 11:55:01", "USD/GHS 11.38 at 2026-03-01 11:55:01", "USD/KES 129.11 at 2026-03-01 11:55:01"}},
	{"frankfurter", "rates.json", "USD/NGN", []string{"USD/NGN 1431.5 at 2026-02-27 00:00:00", "USD/KES 129.02 at 2026-02-26 00:00:00"}},
	{"quidax", "usdtngn.json", "USDT/NGN", []string{"USDT/NGN 1451.5 at 2026-03-01 11:59:57"}},
	{"luno", "usdtngn.json", "USDT/NGN", []string{"USDT/NGN 1452 at 2026-03-01 11:59:58.123"}},
}

func TestReadGood(t *testing.T) {
	t.Parallel()
	read := 0
	for _, g := range good {
		t.Run(g.source+" "+g.file, func(t *testing.T) {
			t.Parallel()
			d, body := document(t, g.source, g.pair), sample(t, g.source, g.file)
			for name, text := range map[string]string{"as it is": string(body), "with a byte order mark": "\ufeff" + string(body)} {
				prices, err := d.Read([]byte(text), noon)
				if want := strings.Join(g.want, "\n"); err != nil || told(prices) != want {
					t.Errorf("%s:\n%s\n%v; want\n%s", name, told(prices), err, want)
				}
			}
		})
		read++
	}
	documents := 0
	for _, s := range All() {
		documents += len(s.Documents)
	}
	if read != documents {
		t.Errorf("%d of %d documents are tested", read, documents)
	}
}

// TestReadBad gives every document what no source publishes, and every part of
// what it does.
func TestReadBad(t *testing.T) {
	t.Parallel()
	bad := map[string]string{ // with the phrase, where it is the same for all
		"<!DOCTYPE html><html><body>Just a moment...</body></html>": webPage,
		" \n<html></html>": webPage, "\ufeff<p>": webPage,
		"": unreadable, " ": unreadable, "nonsense": unreadable, "\xff\xfe{}": unreadable,
		`"text"`: otherShape, "5": otherShape, "true": otherShape,
		"null": "", "{}": "", "[]": "", "[{}]": "", "[[]]": "", "[null]": "", "{}{}": "", `{"a":1,"a":2}`: "", `{"a":NaN}`: "",
		"{\"\xff\":1}": "", `{"data":null}`: "", `{"result":{}}`: "", `{"usd":{}}`: "",
		`{"error":["EGeneral:Internal error"]}`: "", `{"code":-1121,"msg":"Invalid symbol."}`: "",
		`{"errors":[{"id":"not_found","message":"Invalid base"}]}`: "", `{"status":404,"message":"not found"}`: "",
		strings.Repeat("[", 20_000): "", `{"x":` + strings.Repeat("[", 20_000): "",
		strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000):                       "",
		`{"ngn":` + strings.Repeat(`{"x":`, 20_000) + "1" + strings.Repeat("}", 20_001): "",
	}
	for _, g := range good {
		t.Run(g.source+" "+g.file, func(t *testing.T) {
			t.Parallel()
			d, body := document(t, g.source, g.pair), sample(t, g.source, g.file)
			for text, want := range bad {
				prices, err := d.Read([]byte(text), noon)
				if err == nil || len(prices) > 0 || want != "" && err.Error() != want {
					t.Errorf("%.40q: %v, %v; want %q", text, prices, err, want)
				}
			}
			whole := strings.TrimSpace(string(body))
			for end := range len(whole) {
				if prices, err := d.Read([]byte(whole[:end]), noon); err == nil || len(prices) > 0 {
					t.Fatalf("cut after %d bytes: %v, %v", end, prices, err)
				}
			}
		})
	}
}

// TestPhrases: what a document says never gets into what people see.
func TestPhrases(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"error":["EQuery:canary"]}`, `{"code":"canary","data":{}}`, `{"result":"error","error-type":"canary"}`,
		`{"status":"canary"}`, `{"pair":"USDTNGN","status":"canary"}`, `"canary"`, `{"canary":1,"canary":2}`, `<canary>`,
		`[{"symbol":"canary"},{"symbol":"canary"}]`, `{"data":{"currency":"canary"}}`,
	} {
		for _, s := range All() {
			for _, d := range s.Documents {
				_, err := d.Read([]byte(text), noon)
				if err == nil || strings.Contains(err.Error(), "canary") {
					t.Errorf("%s says %v to %s", s.Name, err, text)
				}
			}
		}
	}
}
