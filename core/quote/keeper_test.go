package quote_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestDay is a day of the sources: together, apart, failing one by one and all
// at once, and coming back.
func TestDay(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		w.none(money.BTC, money.NGN, "no rate source is reachable")
		w.pass(0)
		w.priced(money.BTC, money.NGN, "90000000")
		w.priced(money.BTC, money.GHC, "682200") // 60,000 × 11.37, whatever a publisher says of GHC
		w.priced(money.USDT, money.KES, "129.87")
		w.priced(money.DOGE, money.USD, "0.125")
		q, err := w.Price(scope.Live, money.BTC, money.USD, quote.Policy{})
		if err != nil || len(q.Legs[0].Readings) != 6 {
			t.Fatalf("%+v, %v", q, err)
		}

		t.Log("one after the other fails")
		coinSources := []string{"coinbase", "kraken", "bitstamp", "kucoin", "okx", "binance"}
		for i, name := range coinSources {
			w.set(func(w *world) { w.modes[name] = down })
			w.pass(90 * time.Second)
			switch left := len(coinSources) - 1 - i; left {
			case 2: // Binance's prices are in USDT, and OKX alone can't say what that is worth
				w.none(money.BTC, money.NGN, "1 of the 2 sources needed agree")
			case 1, 0:
				w.none(money.BTC, money.NGN, "no rate source is reachable")
			default:
				w.priced(money.BTC, money.NGN, "90000000")
			}
		}
		if row := w.problem("kraken"); row.Problem != "answers 502" || row.Failures < 3 || row.AnsweredAt == nil {
			t.Errorf("kraken: %+v", row)
		}
		healths, err := w.Healths(t.Context())
		if alarms := strings.Join(w.Alarms(healths), "\n"); err != nil || !strings.Contains(alarms, "Kraken failed ") || !strings.Contains(alarms, "BTC/USD now: no rate source is reachable") {
			t.Errorf("%s, %v", alarms, err)
		}

		t.Log("and they come back")
		for _, name := range coinSources {
			w.set(func(w *world) { w.modes[name] = nil })
		}
		w.pass(70 * time.Second) // the last pause between tries
		w.priced(money.BTC, money.NGN, "90000000")

		t.Log("prices move, a little")
		w.set(func(w *world) { w.prices["BTC/USD"] = "61000" })
		w.pass(30 * time.Second)
		w.priced(money.BTC, money.USD, "61000")

		t.Log("the publishers are down for a day and more")
		for _, name := range []string{"coinbase-fx", "er-api", "currency-api", "floatrates", "frankfurter"} {
			w.set(func(w *world) { w.modes[name] = hangUp })
		}
		w.clock.Advance(25*time.Hour + 30*time.Minute)
		w.pass(time.Minute)
		w.priced(money.BTC, money.KES, "7930000")
		w.clock.Advance(40 * time.Minute)
		w.pass(time.Minute)
		w.none(money.BTC, money.KES, "USD/KES")
		w.priced(money.BTC, money.USD, "61000")
	})
}

// TestFaults has two of the coins' sources in every kind of trouble: what they
// say is never in a price, and the others go on.
func TestFaults(t *testing.T) {
	db := modelstest.Open(t, false, clock.NewFake(now).Now)
	w := newWorld(t, db)
	packedBomb() // now: it takes longer than a source may
	for name, test := range map[string]struct {
		mode    mode
		problem string
	}{
		"down":      {down, "answers 502"},
		"hangs up":  {hangUp, ""},
		"html":      {html, "sent a web page instead of JSON"},
		"truncated": {truncated, "sent JSON that can't be read"},
		"empty":     {empty, ""},
		"bomb":      {bomb, "sent more than 1 MiB"},
		"redirect": {func(w http.ResponseWriter, r *http.Request, _ []byte) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		}, "answers 302"},
	} {
		w.set(func(w *world) { w.modes["kraken"], w.modes["okx"] = test.mode, test.mode })
		w.pass(2 * time.Minute)
		for _, source := range []string{"kraken", "okx"} {
			row := w.problem(source)
			if row.Problem == "" || !strings.Contains(row.Problem, test.problem) {
				t.Errorf("%s: %s: %q", name, source, row.Problem)
			}
		}
		q, err := w.Price(scope.Live, money.BTC, money.USD, quote.Policy{})
		if err != nil || q.Price.String() != "60000" {
			t.Errorf("%s: %s, %v", name, q.Price, err)
		}
		for _, r := range q.Legs[0].Readings {
			if (r.Source == "kraken" || r.Source == "okx") != (r.LeftOut == "stale") {
				t.Errorf("%s: %+v", name, r)
			}
		}
		w.set(func(w *world) { w.modes["kraken"], w.modes["okx"] = nil, nil })
		w.pass(70 * time.Second)
		if row := w.problem("okx"); row.Problem != "" || row.Failures != 0 {
			t.Errorf("after %s: %+v", name, row)
		}
	}
}

// TestLies (FX-1) has sources that answer well and say what isn't so.
func TestLies(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		w.pass(time.Minute)
		for name, test := range map[string]struct{ pair, value, why string }{
			"upside down": {"BTC/USD", "0.0000166", "upside down"},
			"one":         {"BTC/USD", "1", "exactly 1 to 1"},
			"zero":        {"BTC/USD", "0", "not a price"},
			"jump":        {"BTC/USD", "80000", "jumped by 33.3 % within a minute"},
		} {
			w.set(func(w *world) { w.own["kucoin"] = map[string]string{test.pair: test.value} })
			w.pass(30 * time.Second)
			var row models.Rate
			if err := db.Read(t.Context()).Where("source = 'kucoin' AND base = 'BTC'").Take(&row).Error; err != nil || row.Refused != test.why || row.Value != "60000" {
				t.Errorf("%s: %+v, %v", name, row, err)
			}
			w.priced(money.BTC, money.USD, "60000")
			healths, err := w.Healths(t.Context())
			if alarms := strings.Join(w.Alarms(healths), "\n"); err != nil || !strings.Contains(alarms, "KuCoin said BTC/USD is "+test.value) {
				t.Errorf("%s: %s, %v", name, alarms, err)
			}
			w.set(func(w *world) { w.own["kucoin"] = nil })
			w.pass(30 * time.Second)
		}

		t.Log("the old cedi, from everybody")
		w.set(func(w *world) { w.prices["USD/GHS"] = "113749" })
		for range 3 {
			w.clock.Advance(time.Hour)
			w.pass(time.Minute)
		}
		w.priced(money.BTC, money.GHC, "682200") // of before
		w.clock.Advance(26 * time.Hour)
		w.pass(time.Minute)
		w.none(money.BTC, money.GHC, "USD/GHS")

		t.Log("halves disagree")
		w.set(func(w *world) {
			for _, name := range []string{"kraken", "okx", "coinbase"} {
				w.own[name] = map[string]string{"BTC/USD": "63000"}
			}
		})
		w.pass(30 * time.Second)
		w.none(money.BTC, money.USD, "the sources disagree")
		w.priced(money.ETH, money.USD, "2500")
	})
}

// TestCrash: a real fall is believed a minute later, when it has stayed.
func TestCrash(t *testing.T) {
	db := modelstest.Open(t, false, clock.NewFake(now).Now)
	w := newWorld(t, db)
	w.pass(30 * time.Second)
	w.set(func(w *world) { w.prices["DOGE/USD"] = "0.09" })
	w.pass(30 * time.Second)
	if got, _ := w.price(money.DOGE, money.USD); got == "0.09" {
		t.Error("a jump was believed at once")
	}
	w.pass(2 * time.Minute)
	w.priced(money.DOGE, money.USD, "0.09")
}

// TestTimes (FX-4) has sources whose clocks are wrong, or that repeat what is old.
func TestTimes(t *testing.T) {
	db := modelstest.Open(t, false, clock.NewFake(now).Now)
	w := newWorld(t, db, "bitstamp", "okx")
	w.pass(0)
	w.priced(money.BTC, money.USD, "60000")
	w.set(func(w *world) { w.late["okx"] = -2 * time.Minute })
	w.pass(90 * time.Second)
	w.none(money.BTC, money.USD, "1 of the 2")
	w.set(func(w *world) { w.late["okx"] = 61 * time.Second; w.prices["BTC/USD"] = "50000" })
	w.pass(30 * time.Second)
	w.none(money.BTC, money.USD, "1 of the 2")
	w.set(func(w *world) { w.late["okx"] = 0 })
	w.pass(90 * time.Second)
	w.priced(money.BTC, money.USD, "50000")
	w.set(func(w *world) { w.late["okx"] = time.Hour; w.own["okx"] = map[string]string{"BTC/USD": "51000"} })
	w.pass(15 * time.Second)
	w.priced(money.BTC, money.USD, "50000") // it went back in time: what it said last holds while it is fresh
}

// TestOurClock (T-4): what was stored while a clock of ours was ahead counts no more
// once it is right, and is replaced at once.
func TestOurClock(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		w.clock.Advance(time.Hour)
		w.pass(30 * time.Second)
		w.priced(money.BTC, money.USD, "60000")
		w.clock.Advance(-time.Hour)
		w.none(money.BTC, money.USD, "no rate source is reachable")
		w.set(func(w *world) { w.prices["BTC/USD"] = "40000" })
		w.pass(2 * time.Second)
		w.priced(money.BTC, money.USD, "40000")
		w.keeper = w.open(w.keeper.Board) // another process, too
		w.pass(30 * time.Second)
		w.priced(money.BTC, money.USD, "40000")
	})
}

// TestMirror: what came from an address that is asked no more doesn't count.
func TestMirror(t *testing.T) {
	db := modelstest.Open(t, false, clock.NewFake(now).Now)
	w := newWorld(t, db, "coinbase-fx", "er-api", "kraken", "okx")
	w.pass(0)
	w.priced(money.BTC, money.NGN, "90000000")
	for i := range w.Asked {
		w.Asked[i].Origin += "/." // the same server by another address
	}
	board := quote.NewBoard(db, w.Asked)
	w.Sources[scope.Live], w.keeper = board, w.open(board)
	if err := board.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.none(money.BTC, money.NGN, "no rate source is reachable")
	w.set(func(w *world) { w.prices["USD/NGN"] = "1000" }) // which were a jump from the other's
	w.pass(0)
	w.priced(money.BTC, money.NGN, "60000000")
}

// TestSilent: a source that answers with the same old prices, or leaves one out, is told of.
func TestSilent(t *testing.T) {
	db := modelstest.Open(t, false, clock.NewFake(now).Now)
	w := newWorld(t, db, "bitstamp", "okx", "kraken")
	w.pass(0)
	w.set(func(w *world) { w.late["okx"] = 2 * time.Hour })
	w.pass(90 * time.Second)
	healths, err := w.Healths(t.Context())
	if alarms := strings.Join(w.Alarms(healths), "\n"); err != nil || !strings.Contains(alarms, "OKX answers, but its price of BTC/USD is from 1 Mar, 12:00:00 UTC.") || strings.Contains(alarms, "Kraken answers") {
		t.Errorf("%s, %v", alarms, err)
	}
}

// TestInPart: a source that fails in part keeps its rhythm, so that the rest of what it says stays fresh.
func TestInPart(t *testing.T) {
	db := modelstest.Open(t, false, clock.NewFake(now).Now)
	w := newWorld(t, db, "coinbase", "kraken")
	w.set(func(w *world) {
		w.modes["coinbase"] = func(out http.ResponseWriter, r *http.Request, body []byte) {
			if strings.Contains(r.URL.RawQuery, "DOGE") {
				down(out, r, body)
				return
			}
			out.Header().Set("Content-Type", "application/json")
			_, _ = out.Write(body)
		}
	})
	w.pass(2 * time.Minute)
	for range 60 {
		w.pass(time.Second)
		w.priced(money.BTC, money.USD, "60000")
	}
	if row := w.problem("coinbase"); row.Problem == "" || w.asked["coinbase"] < 35 { // seven times each of its five tables, at least
		t.Errorf("%d requests, %+v", w.asked["coinbase"], row)
	}
}

// TestShared: what one process fetched, all have, and a takeover asks nobody again.
func TestShared(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		w.pass(0)
		other := quote.NewBoard(db, w.Asked)
		if err := other.Load(t.Context()); err != nil || len(other.Readings(quote.Pair{Base: "BTC", Quote: "USD"})) != 5 {
			t.Errorf("another replica has %+v, %v", other.Readings(quote.Pair{Base: "BTC", Quote: "USD"}), err)
		}
		asked := w.total()
		w.keeper = w.open(other)
		w.pass(5 * time.Second)
		if n := w.total() - asked; n != 0 {
			t.Errorf("%d requests after a takeover", n)
		}
		w.pass(55 * time.Second)
		for name, most := range map[string]int{"coinbase": 4 * 5, "kraken": 5, "bitstamp": 4, "coinbase-fx": 1, "er-api": 1} {
			if n := w.asked[name]; n > most || n == 0 {
				t.Errorf("%s was asked %d times in a minute", name, n)
			}
		}
		if less := quote.NewBoard(db, w.Asked[:1]); less.Load(t.Context()) != nil || len(less.Readings(quote.Pair{Base: "BTC", Quote: "USD"})) != 1 {
			t.Error("a source that is no longer set up still counts")
		}
	})
}

func (w *world) total() (sum int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.asked {
		sum += n
	}
	return sum
}

// TestUnwanted: nothing is asked while no live payment method is on, nor by one
// that is on in the test domain only.
func TestUnwanted(t *testing.T) {
	db := modelstest.Open(t, false, clock.NewFake(now).Now)
	w := newWorld(t, db)
	if err := db.Exec(t.Context()).Model(&models.Method{}).Where("true").Updates(map[string]any{"domain": "test"}).Error; err != nil {
		t.Fatal(err)
	}
	w.pass(time.Minute)
	if n := w.total(); n != 0 {
		t.Errorf("%d requests", n)
	}
	w.enable()
	w.pass(11 * time.Second)
	if w.total() == 0 {
		t.Error("nothing is asked though a live method is on")
	}
}

// TestPatience: what is busy is left alone for as long as it says, what fails
// is asked more and more rarely.
func TestPatience(t *testing.T) {
	db := modelstest.Open(t, false, clock.NewFake(now).Now)
	w := newWorld(t, db)
	w.set(func(w *world) { w.modes["kraken"], w.modes["er-api"], w.modes["coinbase"] = busy, down, down })
	w.pass(4 * time.Minute)
	if w.asked["kraken"] != 1 {
		t.Errorf("a busy source was asked %d times", w.asked["kraken"])
	}
	if n := w.asked["er-api"]; n < 3 || n > 6 { // after 15, 45, 105, 225 s, about
		t.Errorf("a daily source that fails was asked %d times", n)
	}
	if n := w.asked["coinbase"] / 5; n < 4 || n > 8 { // after 15, 45, 105, 165, 225 s, about
		t.Errorf("a coin's source that fails was asked %d times", n)
	}
	w.set(func(w *world) { w.modes["kraken"] = nil })
	w.pass(100 * time.Second)
	if w.problem("kraken").Problem != "" {
		t.Error("it isn't asked again")
	}
}

// TestHistory keeps a row a minute and pair, learns the last day's median from
// them, and forgets what is older than 90 days.
func TestHistory(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		btc := quote.Pair{Base: "BTC", Quote: "USD"}
		old := models.RateMinute{Base: "BTC", Quote: "USD", Minute: now.Unix()/60 - 90*24*60 - 1, Value: "1", Sources: 2}
		edge := old
		edge.Minute += 1 + 60
		for _, row := range []models.RateMinute{old, edge} {
			if err := db.Exec(t.Context()).Create(&row).Error; err != nil {
				t.Fatal(err)
			}
		}
		w.pass(5 * time.Minute)
		points, err := w.History(t.Context(), btc, now.Add(-100*24*time.Hour), time.Minute)
		if err != nil || len(points) != 6 || points[0].At.Unix()/60 != edge.Minute || !points[5].At.Equal(now.Add(5*time.Minute)) || points[5].Value.String() != "60000" || points[5].Sources != 6 {
			t.Fatalf("%+v, %v", points, err)
		}
		if points, err = w.History(t.Context(), btc, now, 5*time.Minute); err != nil || len(points) != 1 {
			t.Errorf("every five minutes: %+v, %v", points, err)
		}
		w.pass(6 * time.Minute) // it has learnt the day by now
		w.clock.Advance(2 * time.Minute)
		w.set(func(w *world) {
			w.own["kraken"], w.own["okx"], w.own["kucoin"] = map[string]string{"BTC/USD": "200000"}, map[string]string{"BTC/USD": "200000"}, map[string]string{"BTC/USD": "200000"}
		})
		w.pass(3 * time.Minute)
		w.priced(money.BTC, money.USD, "60000") // three of six are not most
		var row models.Rate
		if err := db.Read(t.Context()).Where("source = 'kraken' AND base = 'BTC'").Take(&row).Error; err != nil || row.Refused != "far from the last day's median" {
			t.Errorf("%+v, %v", row, err)
		}
		w.set(func(w *world) { w.prices["BTC/USD"] = "201000"; clear(w.own) })
		w.pass(3 * time.Minute)
		w.priced(money.BTC, money.USD, "201000") // all are
		w.set(func(w *world) { w.prices["BTC/USD"] = "1" })
		w.pass(3 * time.Minute)
		w.none(money.BTC, money.USD, "what the rate sources say can't be believed")
		if points, err = w.History(t.Context(), btc, w.clock.Now().Add(-time.Minute), time.Minute); err != nil || len(points) != 0 {
			t.Errorf("a minute without a rate has %+v, %v", points, err)
		}
	})
}

// TestStreet prices by what a dollar's coin costs on the street.
func TestStreet(t *testing.T) {
	db := modelstest.Open(t, false, clock.NewFake(now).Now)
	w := newWorld(t, db, "kraken", "okx", "er-api", "floatrates", "luno", "quidax")
	w.pass(0)
	q, err := w.Price(scope.Live, money.BTC, money.NGN, quote.Policy{Market: quote.Street})
	if err != nil || !q.Price.Round(6).Equal(w.street("60000", "0.999", "1650")) || len(q.Legs) != 3 {
		t.Errorf("%+v, %v", q, err)
	}
	w.priced(money.BTC, money.NGN, "90000000")
	points, err := w.History(t.Context(), quote.Pair{Base: "USDT", Quote: "NGN"}, now.Add(-time.Hour), time.Minute)
	if err != nil || len(points) != 0 {
		t.Errorf("%+v, %v", points, err)
	}
	w.pass(time.Minute)
	if points, err = w.History(t.Context(), quote.Pair{Base: "USDT", Quote: "NGN"}, now.Add(-time.Hour), time.Minute); err != nil || len(points) != 1 {
		t.Errorf("%+v, %v", points, err)
	}
}
