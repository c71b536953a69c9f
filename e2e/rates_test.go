package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cointill/e2e/harness"
)

// publishers answers as four of the sources of prices do, each under its own
// name. Luno and Quidax are for the street.
type publishers struct{ asked atomic.Int64 }

func (p *publishers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.asked.Add(1)
	now := time.Now()
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	w.Header().Set("Content-Type", "application/json")
	switch name {
	case "kraken":
		fmt.Fprint(w, `{"error":[],"result":{"XXBTZUSD":{"a":["60010","1","1"],"b":["60000","1","1"]},"USDTZUSD":{"a":["0.999","1","1"],"b":["0.999","1","1"]}}}`)
	case "okx":
		fmt.Fprintf(w, `{"code":"0","data":[{"instId":"BTC-USD","idxPx":"59995","ts":"%d"},{"instId":"USDT-USD","idxPx":"1.001","ts":"%d"}]}`, now.UnixMilli(), now.UnixMilli())
	case "er-api":
		fmt.Fprintf(w, `{"result":"success","time_last_update_unix":%d,"base_code":"USD","rates":{"NGN":1500,"GHS":11.37,"KES":130}}`, now.Unix())
	case "floatrates":
		fmt.Fprintf(w, `{"ngn":{"code":"NGN","rate":1500,"date":%q},"kes":{"code":"KES","rate":150,"date":%q}}`, now.UTC().Format(http.TimeFormat), now.UTC().Format(http.TimeFormat))
	case "luno":
		fmt.Fprintf(w, `{"pair":"USDTNGN","timestamp":%d,"bid":"1650","ask":"1650","status":"ACTIVE"}`, now.UnixMilli())
	case "quidax":
		fmt.Fprintf(w, `{"status":"success","data":{"at":%d,"market":"usdtngn","ticker":{"buy":"1650","sell":"1650"}}}`, now.Unix())
	}
}

// rate is a rate as the API tells it.
type rate struct {
	Available                  bool
	Price, Market, Remark      string
	MarketPrice, SpreadPercent string
	Legs                       []struct {
		Trusted string
		Sources []struct{ Source, Value, LeftOut string }
	}
}

// TestLiveRates takes an instance from "nothing is fetched" to prices by
// evidence: as the API, the command line and the dashboard tell them, by the
// business's own rules, and still there after the process was killed.
func TestLiveRates(t *testing.T) {
	t.Parallel()
	harness.RunEach(t, databases, func(t *testing.T, name string, postgres bool) {
		market := &publishers{}
		server := httptest.NewServer(market)
		t.Cleanup(server.Close)
		var sources []string
		for _, source := range []string{"kraken", "okx", "er-api", "floatrates", "luno", "quidax"} {
			sources = append(sources, source+"="+server.URL+"/"+source)
		}
		i := harness.New(t, postgres)
		i.SetSetting("RATE_SOURCES", strings.Join(sources, ","))
		i.SetSetting("LIVE_BITCOIN_URL", "http://nobody:nothing@127.0.0.1:1") // prices need no node
		i.Start()
		i.CreateBusiness()
		i.RunCommand("", "wallet", "use", "--business", i.Code, "--domain", "live", "--method", "crypto_bitcoin", "--json",
			"--key", "zpub6r34jjzP6iAs6daDD1cDdj57wavTz4skAjgE1NJscUzMYkgZFuF5QXo37uay51RzcihDBF4ThN81Vmqu7Uw2u9CVenipafY8uUeWW89ENgs")
		var key struct{ Key string }
		i.DecodeOutput(i.RunCommand("", "key", "create", "--business", i.Code, "--domain", "live", "--name", "rates", "--json"), &key)
		i.Key = key.Key
		ask := func(currency string) (found rate) {
			t.Helper()
			var all []rate
			i.SendRequest("GET", "/v1/rates?payment_method=crypto_bitcoin&currency="+currency, nil, 200).DecodeData(t, &all)
			return all[0]
		}

		if text := i.RunCommand("", "rates"); !strings.Contains(text, "No live payment method is on") || market.asked.Load() != 0 {
			t.Errorf("asked %d times before anybody needs a price: %s", market.asked.Load(), text)
		}
		if r := ask("NGN"); r.Available || !strings.Contains(r.Remark, "no rate source is reachable") {
			t.Errorf("%+v", r)
		}
		owner := signIn(t, i)
		owner.post("/dashboard/domain", url.Values{"domain": {"live"}, "next": {"/dashboard/methods"}})
		owner.post("/dashboard/methods/crypto_bitcoin", url.Values{"enabled": {"true"}})
		harness.WaitFor(t, time.Minute, "a live price", func() bool { return ask("NGN").Available })
		if r := ask("NGN"); r.Price != "90000000" || r.Market != "official" || len(r.Legs) != 2 || len(r.Legs[0].Sources) != 2 {
			t.Errorf("%+v", r)
		}
		if of := ask("NGN").Legs[1].Sources; len(of) != 2 || of[0].Value != "" || of[1].Value != "1500" { // er-api's terms forbid to pass it on
			t.Errorf("%+v", of)
		}
		if r := ask("KES"); r.Available || !strings.Contains(r.Remark, "USD/KES") || !strings.Contains(r.Remark, "disagree") {
			t.Errorf("130 and 150 are no agreement: %+v", r)
		}
		if r := ask("GHC"); r.Available || !strings.Contains(r.Remark, "1 of the 2") {
			t.Errorf("one source is no agreement: %+v", r)
		}
		var table []struct {
			Base, Quote, Value, Problem string
			Readings                    []struct{ Source string }
		}
		i.DecodeOutput(i.RunCommand("", "rates", "--json"), &table)
		if len(table) != 9 || table[0].Base != "BTC" || table[0].Value != "60000" || len(table[0].Readings) != 2 || table[1].Problem == "" {
			t.Errorf("%+v", table)
		}
		if text := i.RunCommand("", "rates"); !strings.Contains(text, "kraken") || !strings.Contains(text, "counts") || strings.Contains(text, "No live") {
			t.Errorf("%s", text)
		}
		if page := owner.get("/dashboard/rates"); !strings.Contains(page, "Kraken") || !strings.Contains(page, "60,000") {
			t.Errorf("the page lacks the sources: %.2000s", page)
		}

		i.Kill()
		server.Close()
		i.SetSetting("RATE_TRUSTED", "USD/GHS=er-api")
		i.Start()
		if r := ask("NGN"); !r.Available {
			t.Errorf("what was fetched a moment ago is gone: %+v", r)
		}
		if r := ask("GHC"); !r.Available || r.Legs[1].Trusted != "er-api" {
			t.Errorf("the source that is trusted alone isn't named: %+v", r)
		}
	})
}
