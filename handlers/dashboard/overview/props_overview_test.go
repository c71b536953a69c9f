package overview

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/payment/list"
	"cointill/core/scope"
	"cointill/core/stats"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/core/webhook/diagnose"
	"cointill/handlers/dashboard/display"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/words"
)

// TestYesterdayAfterAMissingHour asks for the day before at an hour that the day before did not have.
func TestYesterdayAfterAMissingHour(t *testing.T) {
	santiago, err := time.LoadLocation("America/Santiago")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 9, 7, 3, 30, 0, 0, time.UTC) // 00:30; clocks went from 00:00 to 01:00 the day before
	if got := findYesterday(now, santiago); got != "2026-09-06" {
		t.Errorf("findYesterday(%s) = %s, want 2026-09-06", now.In(santiago), got)
	}
}

func TestSpans(t *testing.T) {
	lagos, err := time.LoadLocation("Africa/Lagos")
	if err != nil {
		t.Fatal(err)
	}
	late := time.Date(2026, 3, 1, 23, 30, 0, 0, time.UTC) // the next day in Lagos
	for query, want := range map[string]string{
		"":                                        "30d 2026-02-01 2026-03-02 | 2026-01-02 2026-01-31 | /dashboard",
		"period=today":                            "today 2026-03-02 2026-03-02 | 2026-03-01 2026-03-01 | /dashboard?period=today",
		"period=7d&currency=KES&from=2020-01-01":  "7d 2026-02-24 2026-03-02 | 2026-02-17 2026-02-23 | /dashboard?currency=KES&period=7d",
		"from=2026-01-30&to=2026-02-02":           " 2026-01-30 2026-02-02 | 2026-01-26 2026-01-29 | /dashboard?from=2026-01-30&to=2026-02-02",
		"from=2026-02-28":                         " 2026-02-28 2026-03-02 | 2026-02-25 2026-02-27 | /dashboard?from=2026-02-28&to=2026-03-02",
		"to=2026-02-28":                           " 2026-02-28 2026-02-28 | 2026-02-27 2026-02-27 | /dashboard?from=2026-02-28&to=2026-02-28",
		"from=2024-01-01&to=2024-12-31":           " 2024-01-01 2024-12-31 | 2022-12-31 2023-12-31 | /dashboard?from=2024-01-01&to=2024-12-31",
		"from=2023-01-01&to=2024-12-31":           "30d 2026-02-01 2026-03-02 | 2026-01-02 2026-01-31 | /dashboard !",
		"from=2026-02-02&to=2026-01-01":           "30d 2026-02-01 2026-03-02 | 2026-01-02 2026-01-31 | /dashboard !",
		"period=always&currency=EUR&from=%00&to=": "30d 2026-02-01 2026-03-02 | 2026-01-02 2026-01-31 | /dashboard !!!",
	} {
		values, _ := url.ParseQuery(query)
		s := readSpan(t.Context(), values, lagos, late)
		back := s.previousPeriod(lagos)
		got := strings.Join([]string{s.Period, s.From, s.To, "|", back.From, back.To, "|", s.overviewPath()}, " ")
		if len(s.Wrong) > 0 {
			got += " " + strings.Repeat("!", len(s.Wrong))
		}
		if got != want {
			t.Errorf("%q:\n got %s\nwant %s", query, got, want)
		}
	}
}

func TestOverviewProps(t *testing.T) {
	cell := func(day, currency, status string, count int64) stats.Cell {
		return stats.Cell{Day: day, Currency: currency, Status: status, Count: count}
	}
	f := overviewFacts{Scope: owner, Zone: time.UTC, Asked: readSpan(t.Context(), url.Values{"period": {"7d"}},
		time.UTC, noon),
		Now: stats.Figures{Days: []stats.Cell{cell("2026-02-27", "NGN", "successful", 3), cell("2026-02-27", "NGN", "declined", 1), cell("2026-02-27", "NGN", "reversed", 1),
			cell("2026-03-01", "USD", "successful", 1), cell("2026-03-01", "NGN", "pending", 3)}, Waits: map[int]int64{40: 3}},
		Before: stats.Figures{Days: []stats.Cell{cell("2026-02-20", "NGN", "successful", 1), cell("2026-02-20", "NGN", "failed", 1)}, Waits: map[int]int64{31: 1}},
		Sold: []journal.DaySales{{Day: "2026-02-27", Currency: "NGN", Coin: "XRP", Payments: 2, Received: 10_000_000}, {Day: "2026-02-27", Currency: "NGN", Coin: "BTC", Payments: 1, Received: 5_000_000},
			{Day: "2026-03-01", Currency: "USD", Coin: "BTC", Payments: 1, Received: 120_050}},
		SoldBefore: []journal.DaySales{{Day: "2026-02-20", Currency: "NGN", Coin: "BTC", Payments: 1, Received: 10_000_000}},
		Waiting:    list.Waiting{Decisions: 1, Unmatched: list.CountedTo + 1},
	}
	props := overviewProps(t.Context(), layout.Page{}, f)
	if got := props.Volumes; len(got) != 2 || got[0] != (dashboard.Figure{Value: "₦150,000.00", Change: "+50 %", Was: "₦100,000.00"}) || got[1].Change != "no earlier data" {
		t.Errorf("%+v", got)
	}
	if p := props.Payments; p.Value != "9" || p.Note != "6 completed" || p.Change != "+350 %" {
		t.Errorf("%+v", p)
	}
	if s := props.Success; s.Value != "66 %" || s.Change != "+16 points" || s.Note != "of 6 completed, less 1 reversed" {
		t.Errorf("%+v", s)
	}
	if m := props.Median; m.Value == "–" || !strings.HasSuffix(m.Change, "slower") {
		t.Errorf("%+v", m)
	}
	bars := props.Chart.Bars
	if len(bars) != 7 || bars[4].Text != "₦150,000.00" || bars[4].Note != "3 of 5" || bars[4].Permille != 750 || props.Chart.Top != "₦200k" || bars[6].Text != "₦0.00" {
		t.Errorf("%s %+v", props.Chart.Top, bars)
	}
	if c := props.Coins; len(c) != 2 || c[0].Coin != "XRP" || c[0].Percent != "67 %" || c[0].Href != "/dashboard/payments?currency=NGN&method=crypto_ripple&period=7d&status=successful" {
		t.Errorf("%+v", c)
	}
	if s := props.States; len(s) != 3 || s[1].Value != "5" || s[1].Href != "/dashboard/payments?period=7d&status=successful" {
		t.Errorf("%+v", s)
	}
	if len(props.Attention) != 2 || props.Attention[0].Title != "1 declined payment to resolve" || props.Attention[0].Href != "/dashboard/payments?need=decision" || props.Attention[1].Title != "More than 1,000 unmatched transfers" {
		t.Errorf("%+v", props.Attention)
	}
	f.Asked.Currency = "KES"
	if props := overviewProps(t.Context(), layout.Page{}, f); !props.Chart.Empty() || len(props.Currencies) != 3 || !props.Currencies[1].On {
		t.Errorf("%+v", props.Currencies)
	}
}

// TestChartsHaveTheFiguresOfBothPeriods: bars are stacked by coin and show the same day of the previous period, and the
// charts of success and of times count by day what the figures count in all.
func TestChartsHaveTheFiguresOfBothPeriods(t *testing.T) {
	f := overviewFacts{Scope: owner, Zone: time.UTC, Asked: readSpan(t.Context(), url.Values{"period": {"7d"}},
		time.UTC, noon),
		Now: stats.Figures{Days: []stats.Cell{{Day: "2026-02-27", Currency: "NGN", Status: "successful",
			Count: 3}, {Day: "2026-02-27", Currency: "USD", Status: "declined", Count: 1},
			{Day: "2026-02-28", Currency: "NGN", Status: "pending", Count: 2}}, Waits: stats.Waits{20: 3},
			DayWaits: map[string]stats.Waits{"2026-02-27": {20: 3}}},
		Before: stats.Figures{Days: []stats.Cell{{Day: "2026-02-20", Currency: "NGN", Status: "successful",
			Count: 1}, {Day: "2026-02-20", Currency: "NGN", Status: "failed", Count: 1}},
			DayWaits: map[string]stats.Waits{"2026-02-20": {10: 1}}},
		Sold: []journal.DaySales{{Day: "2026-02-27", Currency: "NGN", Coin: "XRP", Received: 10_000_000},
			{Day: "2026-02-27", Currency: "NGN", Coin: "BTC", Received: 5_000_000},
			{Day: "2026-02-28", Currency: "NGN", Coin: "BTC", Received: -1_000_000}},
		SoldBefore: []journal.DaySales{{Day: "2026-02-20", Currency: "NGN", Coin: "BTC", Received: 20_000_000}}}
	props := overviewProps(t.Context(), layout.Page{}, f)
	bar := props.Chart.Bars[4]
	if got, want := fmt.Sprint(props.Chart.Series, bar.Permille, bar.Parts, bar.Before, bar.BeforeText),
		"[{Bitcoin BTC} {XRP XRP}] 750 [{250 ₦50,000.00} {500 ₦100,000.00}] 1000₦200,000.00"; got != want {
		t.Errorf("the bar of 27 February is %s, want %s", got, want)
	}
	if lost := props.Chart.Bars[5]; !lost.Negative || lost.Permille != 0 || lost.Parts[0].Text != "−₦10,000.00" {
		t.Errorf("a day that lost money is %+v, want one without a bar", lost)
	}
	success, waits := props.SuccessChart.Bars, props.WaitChart.Bars
	if s := success[4]; s.Text != "75 %" || s.Permille != 750 || s.Before != 500 || s.BeforeText != "50 %" || s.Note != "4" {
		t.Errorf("the success of 27 February is %+v, want 75 %% of 4, and 50 %% before", s)
	}
	if s := success[5]; s.Text != "–" || s.Permille != 0 {
		t.Errorf("the success of a day without completed payments is %+v, want none", s)
	}
	if w := waits[4]; strings.ReplaceAll(w.Text, "\u00a0",
		" ") != "20 s" || w.Permille != 666 || w.Before != 333 || waits[5].Text != "–" {
		t.Errorf("the times are %+v, want 20 s of an axis of 30 s, 10 s before, and none on the next day", waits[4:6])
	}
	if empty := overviewProps(t.Context(), layout.Page{}, overviewFacts{Scope: owner, Zone: time.UTC,
		Asked: f.Asked}); len(empty.SuccessChart.Bars) != 0 {
		t.Errorf("a period without completed payments has %d bars of success, want none", len(empty.SuccessChart.Bars))
	}
}

func TestWeeks(t *testing.T) {
	asked := readSpan(t.Context(), url.Values{"from": {"2026-01-01"}, "to": {"2026-04-30"}}, time.UTC, noon)
	f := overviewFacts{Asked: asked, Sold: []journal.DaySales{{Day: "2026-01-01", Currency: "NGN", Received: 100}, {Day: "2026-01-07", Currency: "NGN", Received: 200},
		{Day: "2026-01-08", Currency: "NGN", Received: -100}, {Day: "2026-01-09", Currency: "USD", Received: 100}, {Day: "2026-04-30", Currency: "NGN", Received: 400}}}
	if chart := volumeChart(t.Context(), overviewFacts{Asked: asked, Sold: []journal.DaySales{{Day: "2026-01-08", Currency: "NGN", Received: -100}}}, money.NGN); chart.Empty() {
		t.Error("days with more reversals than sales are shown as empty")
	}
	bars := volumeChart(t.Context(), f, money.NGN).Bars
	if len(bars) != 18 || bars[0].Text != "₦3.00" || bars[17].Text != "₦4.00" || bars[1].Text != "−₦1.00" || bars[1].Permille != 0 || bars[0].Label != "Thu 1 Jan" {
		t.Errorf("%d %+v", len(bars), bars)
	}
}

// TestNegativeCoins checks the shares of coins of which one lost more than it received.
func TestNegativeCoins(t *testing.T) {
	for _, lost := range []int64{-9_000, -11_000} {
		shares := coinShares(t.Context(), []journal.DaySales{{Currency: "NGN", Coin: "BTC", Payments: 1, Received: 10_000},
			{Currency: "NGN", Coin: "XRP", Received: lost}, {Currency: "USD", Coin: "XRP", Payments: 1, Received: 500}}, span{}, money.NGN)
		if len(shares) != 2 || shares[0].Coin != "BTC" || shares[0].Percent != "100 %" || shares[0].Permille != 1000 || shares[1].Percent != "0 %" || shares[1].Permille != 0 {
			t.Errorf("with %d lost in XRP the shares are %+v, want all in BTC", lost, shares)
		}
	}
}

func TestAxis(t *testing.T) {
	for n, want := range map[int64]string{0: "₦0", 3: "₦10", 11: "₦20", 50: "₦50", 999: "₦1k", 2001: "₦5k", 1_250_000: "₦2M", 9_999_999_999: "₦10B"} {
		if got := formatCompact(money.NGN, axisCeiling(n)); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	if got := formatCompact(money.USD, 2_500_000); got != "$2.5M" {
		t.Errorf("compact(money.USD, 2_500_000): got = %v", got)
	}
}

func TestAttention(t *testing.T) {
	since := noon
	f := overviewFacts{Zone: time.UTC, Waiting: list.Waiting{Reversed: 1}, ToApprove: 2,
		Unhealthy: map[money.Coin]string{money.ETH: "It is behind.", money.BTC: "", money.USDT: "It is behind.",
			money.XRP: "It hangs."},
		Endpoints: []webhook.Endpoint{{ID: "whk_1", Name: "Well", Active: true}, {ID: "whk_2", Name: "Shop", OffReason: "It answered 410."}, {ID: "whk_4", Name: "Old", FailingSince: &since},
			{ID: "whk_5", Name: "Stock", Active: true, FailingSince: &since}},
		Failed: map[string]delivery.Delivery{"whk_5": {EventID: "evt_1", EndpointID: "whk_5", Attempt: 1, LastStatus: 500,
			State: webhook.Pending}}}
	var got []string
	for _, a := range listAttention(t.Context(), f) {
		got = append(got, a.Title+" "+a.Href)
	}
	want := []string{"Ether and Tether USD payments are unavailable /dashboard/methods",
		"XRP payments are unavailable /dashboard/methods", "1 reversed payment /dashboard/payments?need=reversed",
		"2 sends wait for approval /dashboard/sends?show=approve", "Webhook “Shop” was switched off /dashboard/webhooks/whk_2",
		"Webhook “Stock” is failing /dashboard/webhooks/whk_5/deliveries/evt_1"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if listAttention(t.Context(), overviewFacts{}) != nil {
		t.Error("something is said when there is nothing")
	}
}

// TestFailingWebhooksShareOneAlert: two or more failing endpoints make one alert, which names at most three.
func TestFailingWebhooksShareOneAlert(t *testing.T) {
	since := noon
	f := overviewFacts{Zone: time.UTC}
	for _, c := range []struct{ add, english, french string }{
		{"One", "", ""},
		{"Two", "2 webhooks are failing: No successful delivery to One, Two.", "2 webhooks sont en échec: Aucune livraison réussie vers One, Two."},
		{"Three", "3 webhooks are failing: No successful delivery to One, Two, Three.", "3 webhooks sont en échec: Aucune livraison réussie vers One, Two, Three."},
		{"Four", "4 webhooks are failing: No successful delivery to One, Two, Three and 1 more.", "4 webhooks sont en échec: Aucune livraison réussie vers One, Two, Three et 1 autre."},
		{"Five", "5 webhooks are failing: No successful delivery to One, Two, Three and 2 more.", "5 webhooks sont en échec: Aucune livraison réussie vers One, Two, Three et 2 autres."},
	} {
		f.Endpoints = append(f.Endpoints, webhook.Endpoint{ID: "whk_" + c.add, Name: c.add, Active: true, FailingSince: &since})
		for lang, want := range map[string]string{"en": c.english, "fr": c.french} {
			items := listAttention(words.WithLanguage(t.Context(), lang), f)
			if len(items) != 1 {
				t.Errorf("%s: %d endpoints fail and make %d alerts, want 1: %+v", lang, len(f.Endpoints), len(items), items)
				continue
			}
			if want == "" {
				if items[0].Href != "/dashboard/webhooks/whk_One" {
					t.Errorf("%s: one failing endpoint leads to %s, want its own page", lang, items[0].Href)
				}
			} else if got := items[0].Title + ": " + items[0].Text; got != want || items[0].Href != "/dashboard/webhooks" {
				t.Errorf("%s: %d endpoints fail: %q (%s), want %q (/dashboard/webhooks)", lang, len(f.Endpoints), got, items[0].Href, want)
			}
		}
	}
}

// TestFailingWebhookSpeaksTheLanguage: what a failing endpoint last did, and why one was switched off, are in the
// language of the reader.
func TestFailingWebhookSpeaksTheLanguage(t *testing.T) {
	since := noon
	f := overviewFacts{Zone: time.UTC, Endpoints: []webhook.Endpoint{
		{ID: "whk_2", OffReason: "Every delivery failed for 5 days.", OffCode: "off_after_failures"},
		{ID: "whk_3", OffReason: "It answered 410 Gone, which asks for no more events.", OffCode: "off_after_gone"},
		{ID: "whk_1", Active: true, FailingSince: &since}},
		Failed: map[string]delivery.Delivery{"whk_1": {EndpointID: "whk_1", Attempt: 1, LastError: diagnose.ConnectionRefused.Describe(),
			LastCode: string(diagnose.ConnectionRefused),
			State:    webhook.Pending}}}
	for lang, want := range map[string][]string{
		"en": {"Every delivery failed for 5 days.", "It answered 410 Gone", "Last response: The connection was refused."},
		"fr": {"Toutes les livraisons ont échoué pendant 5 jours.", "Il a répondu 410 Gone", "Dernière réponse\u00a0: La connexion a été refusée."},
	} {
		for i, item := range listAttention(words.WithLanguage(t.Context(), lang), f) {
			if !strings.Contains(item.Text, want[i]) {
				t.Errorf("%s: the alert of %s says %q, want %q in it", lang, f.Endpoints[i].ID, item.Text, want[i])
			}
		}
	}
}

func TestChecklist(t *testing.T) {
	f := overviewFacts{Scope: owner}
	if got := listSteps(t.Context(), f); len(got) != 4 {
		t.Errorf("%+v", got)
	}
	f.SetUp.CanReceive = true
	if got := listSteps(t.Context(), f); len(got) != 5 {
		t.Errorf("%+v", got)
	}
	f.SetUp = setUp{Keys: 1, Started: true, Paid: true, CanReceive: true, Receives: true}
	if got := listSteps(t.Context(), f); len(got) != 4+1 || got[3].Done {
		t.Errorf("%+v", got)
	}
	f.Endpoints = []webhook.Endpoint{{}}
	if listSteps(t.Context(), f) != nil {
		t.Error("it stays when all is done")
	}
	if got := listSteps(t.Context(), overviewFacts{Scope: scope.Scope{BusinessID: 1, Domain: scope.Test, Role: scope.Finance}}); len(got) != 1 {
		t.Errorf("finance is told to %+v", got)
	}
	if got := listSteps(t.Context(), overviewFacts{Scope: scope.Scope{BusinessID: 1, Domain: scope.Live, Role: scope.Owner}}); got != nil {
		t.Errorf("in live: %+v", got)
	}
	for _, c := range []struct {
		parts []int64
		want  string
	}{
		{[]int64{1, 1, 1}, "34 % 33 % 33 %"}, {[]int64{199, 2, 1}, "99 % 1 % 0 %"}, {[]int64{999, 1}, "99 % 1 %"},
		{[]int64{0, 0}, "– –"}, {[]int64{5}, "100 %"}, {[]int64{5, 0}, "100 % 0 %"}, {[]int64{17, 17, 17, 17, 17, 15}, "17 % 17 % 17 % 17 % 17 % 15 %"},
		{[]int64{13, 13, 13, 13, 13, 13, 13}, "15 % 15 % 14 % 14 % 14 % 14 % 14 %"},
	} {
		if got := strings.Join(display.FormatShares(c.parts), " "); got != c.want {
			t.Errorf("FormatShares(%v) = %s, want %s", c.parts, got, c.want)
		}
	}
	if display.FormatShare(0, 0) != "–" || display.FormatShare(1, 1) != "100 %" || display.FormatShare(999, 1000) != "99 %" {
		t.Error("a rate is rounded up")
	}
	for d, want := range map[time.Duration]string{0: "0 s", 59 * time.Second: "59 s", 61 * time.Second: "1 min 1 s", 18*time.Minute + 31*time.Second: "19 min", 90 * time.Minute: "1 h 30 min", 50 * time.Hour: "2 days"} {
		if got := strings.ReplaceAll(formatDuration(t.Context(), d), "\u00a0", " "); got != want {
			t.Errorf("%s: %s", d, got)
		}
	}
}
