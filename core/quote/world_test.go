package quote_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"cointill/core/clock"
	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/quote/source"
	"cointill/core/scope"
	"cointill/models"
)

// world is a server that plays every source, in the formats that they publish,
// with a keeper and service that ask it.
type world struct {
	*testing.T
	*quote.Service
	keeper *quote.Keeper
	clock  *clock.Fake
	db     *models.DB

	mu     sync.Mutex
	prices map[string]string            // by pair, what all say
	own    map[string]map[string]string // by source and pair, what one says instead
	modes  map[string]mode              // by source
	asked  map[string]int               // by source
	late   map[string]time.Duration     // by source, how old its times are; negative is ahead
}

// mode is how a source answers: nil is as it should.
type mode func(w http.ResponseWriter, r *http.Request, body []byte)

func newWorld(t *testing.T, db *models.DB, names ...string) *world {
	w := &world{T: t, db: db, clock: clock.NewFake(now), modes: map[string]mode{}, asked: map[string]int{}, late: map[string]time.Duration{},
		own: map[string]map[string]string{},
		prices: map[string]string{"BTC/USD": "60000", "ETH/USD": "2500", "USDT/USD": "0.999", "XRP/USD": "0.5", "DOGE/USD": "0.125",
			"USD/NGN": "1500", "USD/GHS": "11.37", "USD/KES": "130", "USDT/NGN": "1650"}}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	w.Service = &quote.Service{DB: db, Clock: w.clock.Now}
	for _, s := range source.All() {
		if len(names) == 0 && !s.Street || strings.Contains(" "+strings.Join(names, " ")+" ", " "+s.Name+" ") {
			s.Origin = server.URL + "/" + s.Name
			w.Asked = append(w.Asked, s)
		}
	}
	board := quote.NewBoard(db, w.Asked)
	w.Sources = map[scope.Domain]quote.Source{scope.Live: board}
	w.keeper = w.open(board)
	w.enable()
	return w
}

// open makes a keeper, as another process would have it.
func (w *world) open(board *quote.Board) *quote.Keeper {
	w.Helper()
	k := &quote.Keeper{DB: w.db, Clock: w.clock.Now, Log: slog.New(slog.DiscardHandler), Client: source.NewClient(w.clock.Now), Service: w.Service, Board: board}
	if err := k.Start(w.Context()); err != nil {
		w.Fatal(err)
	}
	return k
}

// enable switches a live payment method on, without which nothing is asked.
func (w *world) enable() {
	w.Helper()
	if err := w.db.Exec(w.Context()).Create(&models.Method{BusinessID: 1, Domain: "live", Code: "crypto_bitcoin", Enabled: true, UpdatedAt: now}).Error; err != nil {
		w.Fatal(err)
	}
}

// pass lets time pass in steps of a second, as the keeper's ticker does.
func (w *world) pass(d time.Duration) {
	w.Helper()
	for end := w.clock.Now().Add(d); ; w.clock.Advance(time.Second) {
		if err := w.keeper.Step(w.Context()); err != nil {
			w.Fatal(err)
		}
		if !w.clock.Now().Before(end) {
			return
		}
	}
}

// set changes the world under its lock.
func (w *world) set(change func(w *world)) { w.mu.Lock(); defer w.mu.Unlock(); change(w) }

// price is what one coin costs now, or "" and why there is no price.
func (w *world) price(coin money.Coin, currency money.Currency) (string, string) {
	q, err := w.Price(scope.Live, coin, currency, quote.Policy{})
	if err != nil {
		return "", err.Error()
	}
	return q.Price.String(), ""
}

// priced expects a price.
func (w *world) priced(coin money.Coin, currency money.Currency, want string) {
	w.Helper()
	if got, why := w.price(coin, currency); got != want {
		w.Errorf("%s in %s is %q (%s), want %s", coin, currency, got, why, want)
	}
}

// none expects that there is no price, for a reason.
func (w *world) none(coin money.Coin, currency money.Currency, why string) {
	w.Helper()
	if got, said := w.price(coin, currency); got != "" || !strings.Contains(said, why) {
		w.Errorf("%s in %s is %q (%s), want none: %s", coin, currency, got, said, why)
	}
}

// problem is what is stored of a source.
func (w *world) problem(name string) models.RateSource {
	w.Helper()
	var row models.RateSource
	if err := w.db.Read(w.Context()).Where("name = ?", name).Take(&row).Error; err != nil {
		w.Fatal(name, err)
	}
	return row
}

func (w *world) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	name, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	w.mu.Lock()
	w.asked[name]++
	m, body := w.modes[name], w.document(name, path, r.URL.RawQuery)
	w.mu.Unlock()
	out.Header().Set("Content-Type", "application/json; charset=utf-8")
	if m != nil {
		m(out, r, []byte(body))
		return
	}
	_, _ = out.Write([]byte(body))
}

// say is what a source says of a pair.
func (w *world) say(name, pair string) string {
	if text, ok := w.own[name][pair]; ok {
		return text
	}
	return w.prices[pair]
}

// document is what a source answers with. Binance's prices are in USDT.
func (w *world) document(name, _, query string) string {
	at := w.clock.Now().Add(-w.late[name])
	coins := []string{"BTC", "ETH", "USDT", "XRP", "DOGE"}
	var rows []string
	each := func(format string, names []string, values func(string) []any) string {
		rows = rows[:0]
		for _, n := range names {
			rows = append(rows, fmt.Sprintf(format, values(n)...))
		}
		return strings.Join(rows, ",")
	}
	usd := func(coin string) string { return w.say(name, coin+"/USD") }
	fiat := func(code string) string { return w.say(name, "USD/"+strings.ToUpper(code)) }
	switch name {
	case "coinbase":
		coin := query[len("currency="):]
		return fmt.Sprintf(`{"data":{"currency":%q,"rates":{"USD":%q,"EUR":"1"}}}`, coin, usd(coin))
	case "coinbase-fx":
		return fmt.Sprintf(`{"data":{"currency":"USD","rates":{"NGN":%q,"GHS":%q,"KES":%q}}}`, fiat("NGN"), fiat("GHS"), fiat("KES"))
	case "kraken":
		names := map[string]string{"BTC": "XXBTZUSD", "ETH": "XETHZUSD", "USDT": "USDTZUSD", "XRP": "XXRPZUSD", "DOGE": "XDGUSD"}
		return `{"error":[],"result":{` + each(`%q:{"a":[%q,"1","1"],"b":[%q,"1","1"],"c":["1","1"]}`, coins, func(c string) []any { return []any{names[c], usd(c), usd(c)} }) + `}}`
	case "bitstamp":
		return `[` + each(`{"pair":%q,"bid":%q,"ask":%q,"last":"1","timestamp":"%d"}`, coins, func(c string) []any { return []any{c + "/USD", usd(c), usd(c), at.Unix()} }) + `]`
	case "kucoin":
		return `{"code":"200000","data":{` + each(`%q:%q`, coins, func(c string) []any { return []any{c, usd(c)} }) + `}}`
	case "okx":
		return `{"code":"0","msg":"","data":[` + each(`{"instId":%q,"idxPx":%q,"ts":"%d"}`, coins, func(c string) []any { return []any{c + "-USD", usd(c), at.UnixMilli()} }) + `]}`
	case "binance":
		return `[` + each(`{"symbol":%q,"price":%q}`, []string{"BTC", "ETH", "XRP", "DOGE"}, func(c string) []any {
			tether := decimal.RequireFromString(w.prices["USDT/USD"])
			if v, err := decimal.NewFromString(usd(c)); err == nil {
				return []any{c + "USDT", v.DivRound(tether, 12).String()}
			}
			return []any{c + "USDT", usd(c)}
		}) + `]`
	case "er-api":
		return fmt.Sprintf(`{"result":"success","time_last_update_unix":%d,"base_code":"USD","rates":{"USD":1,"NGN":%s,"GHS":%s,"KES":%s}}`, at.Unix(), fiat("NGN"), fiat("GHS"), fiat("KES"))
	case "currency-api":
		return fmt.Sprintf(`{"date":%q,"usd":{"ngn":%s,"ghs":%s,"ghc":113749,"kes":%s}}`, at.Format(time.DateOnly), fiat("NGN"), fiat("GHS"), fiat("KES"))
	case "floatrates":
		return `{` + each(`%q:{"code":%q,"rate":%s,"date":%q}`, []string{"ngn", "ghs", "kes"}, func(c string) []any {
			return []any{c, strings.ToUpper(c), fiat(c), at.Format(http.TimeFormat)}
		}) + `}`
	case "frankfurter":
		return `[` + each(`{"date":%q,"base":"USD","quote":%q,"rate":%s}`, []string{"NGN", "KES"}, func(c string) []any { return []any{at.Format(time.DateOnly), c, fiat(c)} }) + `]`
	case "luno":
		return fmt.Sprintf(`{"pair":"USDTNGN","timestamp":%d,"bid":%q,"ask":%q,"status":"ACTIVE"}`, at.UnixMilli(), w.say(name, "USDT/NGN"), w.say(name, "USDT/NGN"))
	case "quidax":
		return fmt.Sprintf(`{"status":"success","data":{"at":%d,"market":"usdtngn","ticker":{"buy":%q,"sell":%q}}}`, at.Unix(), w.say(name, "USDT/NGN"), w.say(name, "USDT/NGN"))
	}
	return `{"unknown":true}`
}

// How sources fail.
func down(w http.ResponseWriter, _ *http.Request, _ []byte) { w.WriteHeader(http.StatusBadGateway) }
func hangUp(http.ResponseWriter, *http.Request, []byte)     { panic(http.ErrAbortHandler) }
func html(w http.ResponseWriter, _ *http.Request, _ []byte) {
	w.Header().Set("Content-Type", "text/html")
	_, _ = w.Write([]byte("<html><body>Checking your browser</body></html>"))
}
func truncated(w http.ResponseWriter, _ *http.Request, body []byte) {
	_, _ = w.Write(body[:len(body)/2])
}
func empty(w http.ResponseWriter, _ *http.Request, _ []byte) { _, _ = w.Write([]byte("{}")) }
func busy(w http.ResponseWriter, _ *http.Request, _ []byte) {
	w.Header().Set("Retry-After", "300")
	w.WriteHeader(http.StatusTooManyRequests)
}
func bomb(w http.ResponseWriter, _ *http.Request, _ []byte) {
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(packedBomb())
}

// packedBomb is 64 MiB of nothing, packed once.
var packedBomb = sync.OnceValue(func() []byte {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	for range 64 {
		_, _ = zip.Write(make([]byte, 1<<20))
	}
	_ = zip.Close()
	return packed.Bytes()
})
