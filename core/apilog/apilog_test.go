package apilog_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"cointill/core/apilog"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
	"cointill/models/modelstest"
)

var dev = scope.Scope{BusinessID: 7, Domain: scope.Test, Actor: "key:3", Role: scope.Developer}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func each(t *testing.T, test func(t *testing.T, l *apilog.Log, db *models.DB, now *clock.Fake)) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
		test(t, apilog.New(db, now.Now), db, now)
	})
}

// TestNothingSecretIsKept (AP-26) sends secrets in every place where one may stand.
func TestNothingSecretIsKept(t *testing.T) {
	each(t, func(t *testing.T, l *apilog.Log, _ *models.DB, _ *clock.Fake) {
		for _, c := range []apilog.Call{
			{Body: []byte(`{"email":"ngozi.okafor@example.com","first_name":"Ngozi","metadata":{"note":"write to \u006egozi.okafor\u0040example.com","Token":"hush-1"}}`),
				Answer: []byte(`{"data":{"payment_url":"https://till.example/pay/hush-2-C2FVsBQIhrscChlQIMVb5sSYsp","access_token":"hush-3","reference":"PAY_1"}}`)},
			{Body: []byte(`{"headers":{"X-Auth":"hush-4","Authorization":"Basic hush-12","X-List":["hush-13"],"X-Gone":null},"deep":{"Headers":[{"name":"X-Other","value":"hush-14"}]},"url":"https://shop.example"}`), Answer: []byte(`{"data":{"secret":"whsec_hush-5","deep":[["sk_test_hush-6"]]}}`)},
			{Body: []byte(`{"secret":"hush-7"`), Answer: []byte("\x00\xff hush-8")},
			{Body: []byte(`{"a":"` + strings.Repeat("hush-9", 2000) + `"}`)},
			{Body: []byte(`{"a":1}{"secret":"hush-10"}`)},
			{Body: []byte(`{"sk_test_hush-15":1,"b":"whsec_hush-16 /pay/hush-17-C2FVsBQIhrscChlQIMVb5sSYsp","c":["d.okafor@example.com"]}`)},
			{Body: []byte(`{"sk_test_\u0068ush-18":{"SECRET" : "hush-19"}}`)},
		} {
			c.Scope, c.Path = dev, "/v1/payments?email=ngozi.okafor%40example.com&q=sk_live_hush-11"
			l.AddCall(c)
		}
		must(t, l.FlushQueue(t.Context()))
		rows, _, err := l.ListCalls(t.Context(), dev, apilog.Filter{})
		if err != nil || len(rows) != 7 {
			t.Fatalf("len(rows) = %v, err = %v", len(rows), err)
		}
		var all strings.Builder
		for _, row := range rows {
			full, err := l.FindCall(t.Context(), dev, row.ID)
			must(t, err)
			all.WriteString(full.Path + "\n" + full.Sent + "\n" + full.Answered + "\n")
		}
		text := all.String()
		if strings.Contains(text, "hush") || strings.Contains(text, "okafor@") {
			t.Errorf("text = %v", text)
		}
		for _, want := range []string{`"email":"n…@example.com"`, `"first_name":"Ngozi"`, "write to n…@example.com", `"reference":"PAY_1"`, "https://till.example/pay/…", `"X-Auth":"…"`, `"X-Gone":null`, `"Headers":"…"`,
			"(no JSON: 18 bytes, not kept)", "(more than 8 KiB: not kept)", "(more than one JSON value", "/v1/payments?email=n…@example.com&q=sk_live_…"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in %s", want, text)
			}
		}
	})
}

// TestListsAndPrunes asks in every way, as others too, and forgets after thirty days.
func TestListsAndPrunes(t *testing.T) {
	each(t, func(t *testing.T, l *apilog.Log, db *models.DB, now *clock.Fake) {
		add := func(sc scope.Scope, path string, status int) {
			l.AddCall(apilog.Call{Scope: sc, Path: path, Status: status, Method: "GET", Answer: []byte(`{"code":"not_found"}`), Took: 1500 * time.Microsecond})
		}
		other, live := dev, dev
		other.Actor, live.Domain = "key:4", scope.Live
		add(dev, "/v1/rates", 200)
		add(other, "/v1/payments?limit=1", 404)
		add(live, "/v1/rates", 500)
		must(t, l.FlushQueue(t.Context()))
		now.Advance(20 * 24 * time.Hour)
		add(dev, "/v1/payment_methods", 503)
		must(t, l.FlushQueue(t.Context()))
		for name, ask := range map[string]struct {
			filter apilog.Filter
			want   string
		}{
			"all":     {apilog.Filter{}, "/v1/payment_methods /v1/payments?limit=1 /v1/rates"},
			"refused": {apilog.Filter{Class: 4}, "/v1/payments?limit=1"},
			"a key":   {apilog.Filter{Key: 3}, "/v1/payment_methods /v1/rates"},
			"a path":  {apilog.Filter{Path: "/v1/payment_"}, "/v1/payment_methods"},
			"any %":   {apilog.Filter{Path: "/v1/%"}, ""},
		} {
			rows, _, err := l.ListCalls(t.Context(), dev, ask.filter)
			must(t, err)
			var got []string
			for _, row := range rows {
				got = append(got, row.Path)
			}
			if strings.Join(got, " ") != ask.want {
				t.Errorf("%s: %v", name, got)
			}
		}
		rows, next, err := l.ListCalls(t.Context(), dev, apilog.Filter{Limit: 2})
		if err != nil || next != rows[1].ID || rows[1].Code != "not_found" || rows[1].KeyID != 4 || rows[1].Micros != 1500 {
			t.Errorf("%+v %d %v", rows, next, err)
		}
		finance, stranger := dev, dev
		finance.Role, stranger.BusinessID = scope.Finance, 8
		if _, _, err := l.ListCalls(t.Context(), finance, apilog.Filter{}); fault.KindOf(err) != fault.Forbidden {
			t.Error(err)
		}
		if _, err := l.FindCall(t.Context(), stranger, next); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
		now.Advance(11 * 24 * time.Hour)
		if more, err := l.PruneCalls(t.Context()); more || err != nil {
			t.Errorf("l.Prune(t.Context()): more = %v, err = %v", more, err)
		}
		var left int64
		must(t, db.Read(t.Context()).Model(&models.APICall{}).Count(&left).Error)
		if left != 1 {
			t.Errorf("%d calls are left", left)
		}
	})
}

// TestFullQueue loses what there is no place for, without waiting, and counts it;
// what was queued is written at the end.
func TestFullQueue(t *testing.T) {
	each(t, func(t *testing.T, l *apilog.Log, db *models.DB, _ *clock.Fake) {
		for range 2100 {
			l.AddCall(apilog.Call{Scope: dev, Path: "/v1/rates", Status: 200})
		}
		if l.CountLost() != 52 {
			t.Errorf("%d are lost", l.CountLost())
		}
		stopped, stop := context.WithCancel(t.Context())
		stop()
		must(t, l.Run(stopped))
		var n int64
		must(t, db.Read(t.Context()).Model(&models.APICall{}).Count(&n).Error)
		if n != 2048 {
			t.Errorf("%d rows", n)
		}
	})
}

// TestEndsWhatIsBegun stops the program while rows are being written.
func TestEndsWhatIsBegun(t *testing.T) {
	db := modelstest.Open(t, false, time.Now) // of SQLite's one writer it can be told that somebody waits for it
	l := apilog.New(db, time.Now)
	l.AddCall(apilog.Call{Scope: dev, Path: "/v1/rates"})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	must(t, db.Write(t.Context(), func(*models.Tx) error {
		go func() { ended <- l.Run(ctx) }()
		for db.Pools()["write"].Stats().WaitCount == 0 {
			runtime.Gosched()
		}
		stop()
		return nil
	}))
	must(t, <-ended)
	if rows, _, err := l.ListCalls(t.Context(), dev, apilog.Filter{}); err != nil || len(rows) != 1 || l.CountLost() != 0 {
		t.Errorf("l.List(dev, calls.Filter{}): len(rows) = %v, l.Lost() = %v, err = %v", len(rows), l.CountLost(), err)
	}
}
