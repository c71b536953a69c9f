package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cointill/core/outbox"
	"cointill/core/scope"
	"cointill/core/webhook/delivery"
	"cointill/core/webhook/guard"
	"cointill/models"
)

// shop is a merchant's server that answers with the status it is told to.
func (b *bench) shop() (url string, status *atomic.Int64) {
	b.Helper()
	status = new(atomic.Int64)
	status.Store(204)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(status.Load())) }))
	b.Cleanup(server.Close)
	b.sender.Clients = map[scope.Domain]*http.Client{scope.Test: guard.NewClient(guard.Config{Domain: scope.Test, AllowLoopback: true})}
	return server.URL, status
}

// deliver makes the attempts that are due.
func (b *bench) deliver() {
	b.Helper()
	_, err := b.sender.Worker(outbox.Options{}).Step(b.Context())
	b.must(err)
}

// strangersKeys are keys that may see nothing of the bench's test domain.
func (b *bench) strangersKeys() []string {
	b.Helper()
	_, other, _ := b.merchant("Abena Fabrics", "abena@fabrics.example")
	return []string{other, b.liveKey}
}

type hooked struct {
	ID      string
	Events  []string
	Headers map[string]string
}

func TestWebhookFilterAndHeaders(t *testing.T) {
	each(t, func(b *bench) {
		made := b.expect(b.call("POST", "/v1/webhooks", `{"type":"a","url":"https://shop.example/","active":true,"events":["payment.successful","payment.declined"],`+
			`"headers":{"X-Api-Key":"s3cret-value","x-second":"two"}}`), 201, "")
		var h hooked
		b.into(made, &h)
		if fmt.Sprint(h.Events, h.Headers) != "[payment.successful payment.declined] map[X-Api-Key:•••• X-Second:••••]" || strings.Contains(made.Raw, "s3cret") {
			b.Errorf("%s", made.Raw)
		}
		at := "/v1/webhooks/" + h.ID
		h = hooked{}
		b.into(b.expect(b.call("PATCH", at, `{"headers":{"x-api-key":"••••","X-New":"n"},"events":[]}`), 200, ""), &h)
		if fmt.Sprint(h.Events, h.Headers) != "[] map[X-Api-Key:•••• X-New:••••]" {
			b.Errorf("%+v", h)
		}
		h = hooked{}
		b.into(b.expect(b.call("PATCH", at, `{"active":false}`), 200, ""), &h)
		h = hooked{}
		b.into(b.expect(b.call("GET", at, ""), 200, ""), &h)
		if len(h.Headers) != 2 {
			b.Errorf("another change touched the headers: %+v", h)
		}
		h = hooked{}
		b.into(b.expect(b.call("PATCH", at, `{"headers":{}}`), 200, ""), &h)
		if len(h.Headers) != 0 {
			b.Errorf("%+v", h)
		}
		eleven := make([]string, 11)
		for i := range eleven {
			eleven[i] = fmt.Sprintf(`"X-%d":"v"`, i)
		}
		for text, fields := range map[string]string{
			`{"events":["payment.lost"]}`: "events", `{"events":"payment.successful"}`: "events", `{"events":["webhook.test","webhook.test"]}`: "events",
			`{"events":[` + strings.Repeat(`"a",`, 100) + `"a"]}`: "events", `{"headers":[]}`: "headers", `{"headers":{"X-A":1}}`: "headers", `{"headers":null}`: "headers",
			`{"headers":{` + strings.Join(eleven, ",") + `}}`: "headers", `{"headers":{"X A":"v"}}`: "headers", `{"headers":{"Host":"v","X-B":"a\nb"}}`: "headers.Host headers.X-B",
			`{"headers":{"X-A":"••••"}}`: "headers.X-A", `{"headers":{"X-A":"` + strings.Repeat("v", 513) + `"}}`: "headers.X-A", `{"headers":{"X-A":"1","x-a":"2"}}`: "headers.x-a",
			`{"headers":{"Webhook_Signature":"v"},"events":["x"],"url":"ftp://a"}`: "events headers.Webhook_Signature url",
		} {
			a := b.call("PATCH", at, text)
			var got []string
			for field := range a.Body.Errors {
				got = append(got, field)
			}
			if slices.Sort(got); a.Status != 422 || strings.Join(got, " ") != fields {
				b.Errorf("%.80s: %d %v, want %s", text, a.Status, a.Body.Errors, fields)
			}
		}
	})
}

// TestEventBytes: the list gives each event in the very bytes that are posted.
func TestEventBytes(t *testing.T) {
	each(t, func(b *bench) {
		b.initiate("metadata", "{ \"n\": 1.50, \"html\": \"<a href='x'>&amp;</a>\", \"line\":\"\u2028\u2029\", \"esc\": \"\\u00e9\\/\\ud83d\\ude00\", \"z\":1, \"a\":[ 1e2 ] }")
		b.pass(430 * time.Second)
		b.hook("https://shop.example/hook")
		a := b.expect(b.call("GET", "/v1/events", ""), 200, "")
		var items []json.RawMessage
		b.into(a, &items)
		var rows []models.Event
		b.must(b.db.Read(b.Context()).Order("number DESC, sequence DESC, id DESC").Find(&rows).Error)
		if len(items) == 0 || len(items) != len(rows) {
			b.Fatalf("%d of %d", len(items), len(rows))
		}
		for i, row := range rows {
			if string(items[i]) != row.Body || !strings.Contains(row.Body, `<a href='x'>&amp;</a>`) {
				b.Errorf("%s\nis not what was sent:\n%s", items[i], row.Body)
			}
			var one struct{ Body string }
			if b.into(b.call("GET", "/v1/events/"+row.ID, ""), &one); one.Body != row.Body {
				b.Errorf("%s is not %s", one.Body, row.Body)
			}
		}
	})
}

func TestEventFilters(t *testing.T) {
	each(t, func(b *bench) {
		one, two := b.initiate("business_reference", `"order-1"`), b.initiate("business_reference", `"order-2"`)
		b.clock.Advance(time.Hour)
		b.pass(0)
		b.hook("https://shop.example/hook")
		count := func(key, query string) int {
			b.Helper()
			var items []struct{ ID string }
			b.into(b.expect(b.callAs(key, "GET", "/v1/events?"+query, ""), 200, ""), &items)
			return len(items)
		}
		for query, want := range map[string]int{
			"": 2, "payment=order-1": 1, "payment=" + one.Reference: 1, "payment=" + two.Reference + "&type=payment.expired": 1, "payment=order-1&type=payment.declined": 0,
			"payment=order-3": 0, "created_after=2026-03-01T13:00:00Z": 2, "created_after=2026-03-01T13:00:00.000001Z": 0, "created_before=2026-03-01T13:00:00Z": 0,
			"created_after=2026-03-01&created_before=2026-03-02": 2, "type=payment.expired": 2,
		} {
			if got := count(b.key, query); got != want {
				b.Errorf("%q: %d, want %d", query, got, want)
			}
		}
		for _, key := range b.strangersKeys() {
			if count(key, "") != 0 || count(key, "payment=order-1") != 0 || count(key, "payment="+one.Reference) != 0 {
				b.Error("a stranger sees events")
			}
		}
		first := b.expect(b.call("GET", "/v1/events?limit=1&type=payment.expired", ""), 200, "")
		rest := b.expect(b.call("GET", "/v1/events?limit=1&type=payment.expired&cursor="+*first.Body.Meta.NextCursor, ""), 200, "")
		if string(first.Body.Data) == string(rest.Body.Data) || rest.Body.Meta.HasMore {
			b.Errorf("%s %s", first.Raw, rest.Raw)
		}
		for query, field := range map[string]string{"payment=a%20b": "payment", "payment=" + strings.Repeat("a", 101): "payment", "created_after=tomorrow": "created_after",
			"created_before=0": "created_before", "limit=101": "limit", "cursor=x": "cursor", "type=a": "type"} {
			if a := b.call("GET", "/v1/events?"+query, ""); a.Status != 422 || len(a.Body.Errors[field]) != 1 {
				b.Errorf("%s: %d %v", query, a.Status, a.Body.Errors)
			}
		}
	})
}

type delivered struct {
	State    string
	EventID  string `json:"event_id"`
	Attempts int
	Requests []struct {
		Status  int
		Request string `json:"request_headers"`
		Answer  string `json:"response_headers"`
	}
}

// TestDeliveries: what a webhook got, what it didn't, and what it missed while it was off.
func TestDeliveries(t *testing.T) {
	each(t, func(b *bench) {
		url, status := b.shop()
		var h hook
		b.into(b.expect(b.call("POST", "/v1/webhooks", fmt.Sprintf(`{"type":"a","url":%q,"active":true,"headers":{"X-Key":"s3cret"}}`, url)), 201, ""), &h)
		at := "/v1/webhooks/" + h.ID
		test := func() (id string) {
			var made struct {
				EventID string `json:"event_id"`
			}
			b.into(b.expect(b.call("POST", at+"/test", ""), 200, ""), &made)
			b.deliver()
			b.clock.Advance(time.Second)
			return made.EventID
		}
		good := test()
		status.Store(500)
		bad := test()
		listed := func(query string) (states string) {
			b.Helper()
			var items []delivered
			b.into(b.expect(b.call("GET", at+"/deliveries?"+query, ""), 200, ""), &items)
			for _, d := range items {
				states += d.State + " "
			}
			return states
		}
		if got := listed("state=pending"); got != "pending " {
			b.Errorf("waiting: %q", got)
		}
		b.expect(b.call("PATCH", at, `{"active":false}`), 200, "")
		b.initiate()
		b.pass(421 * time.Second)
		for query, want := range map[string]string{"": "skipped cancelled delivered ", "state=delivered": "delivered ", "state=pending": "", "state=skipped": "skipped ",
			"state=exhausted": "", "state=cancelled": "cancelled ", "limit=2": "skipped cancelled "} {
			if got := listed(query); got != want {
				b.Errorf("%q: %s", query, got)
			}
		}
		first := b.expect(b.call("GET", at+"/deliveries?limit=2", ""), 200, "")
		if got := listed("limit=2&cursor=" + *first.Body.Meta.NextCursor); got != "delivered " {
			b.Errorf("the second page: %s", got)
		}
		for id, want := range map[string]int{good: 204, bad: 500} {
			a := b.expect(b.call("GET", at+"/deliveries/"+id, ""), 200, "")
			var d delivered
			b.into(a, &d)
			if d.EventID != id || d.Attempts != 1 || len(d.Requests) != 1 || d.Requests[0].Status != want || !strings.Contains(d.Requests[0].Request, "X-Key: ••••") || strings.Contains(a.Raw, "s3cret") {
				b.Errorf("%s", a.Raw)
			}
		}
		var items []delivered
		b.into(b.call("GET", at+"/deliveries?state=skipped", ""), &items)
		var left delivered
		b.into(b.expect(b.call("GET", at+"/deliveries/"+items[0].EventID, ""), 200, ""), &left)
		if left.State != "skipped" || len(left.Requests) != 0 {
			b.Errorf("%+v", left)
		}
		if a := b.call("GET", at+"/missed", ""); !strings.Contains(a.Raw, `"events":1,"more":false,"since":"2026-03-01T12:00:01`) {
			b.Errorf("%s", a.Raw)
		}
		b.expect(b.call("GET", at+"/deliveries?state=lost", ""), 422, "validation_failed")
		b.expect(b.call("GET", at+"/deliveries?cursor=x", ""), 422, "validation_failed")
		b.expect(b.call("GET", at+"/deliveries/evt_none", ""), 404, "not_found")
		for _, key := range b.strangersKeys() {
			for _, path := range []string{"/deliveries", "/deliveries/" + good, "/deliveries/" + items[0].EventID, "/missed"} {
				b.expect(b.callAs(key, "GET", at+path, ""), 404, "not_found")
			}
		}
	})
}

type resent struct {
	ID, State     string
	WebhookID     *string `json:"webhook_id"`
	Total, Queued int
	Delivered     int
	CreatedBefore string `json:"created_before"`
	FailedOnly    bool   `json:"failed_only"`
	Events        []string
}

func TestResendOrders(t *testing.T) {
	each(t, func(b *bench) {
		url, _ := b.shop()
		b.expect(b.call("POST", "/v1/events/resend", `{"created_after":"2026-03-01"}`), 422, "validation_failed")
		b.expect(b.call("POST", "/v1/events/resend", `{"created_after":"2026-03-01T00:00:00Z"}`), 409, "no_active_webhook")
		off, on := b.hook(url), b.hook(url)
		b.expect(b.call("PATCH", "/v1/webhooks/"+off.ID, `{"active":false}`), 200, "")
		for range 3 {
			b.initiate()
		}
		b.clock.Advance(time.Hour)
		b.pass(0)
		b.deliver()
		at := "/v1/webhooks/" + off.ID + "/resend"
		const since = `{"created_after":"2026-03-01T12:00:00Z","failed_only":true}`
		b.expect(b.call("POST", at, since), 409, "webhook_inactive")
		b.expect(b.call("PATCH", "/v1/webhooks/"+off.ID, `{"active":true}`), 200, "")
		made := b.expect(b.call("POST", at, since, "Idempotency-Key", "k"), 201, "")
		again := b.call("POST", at, since, "Idempotency-Key", "k")
		if again.Raw != made.Raw || again.Header.Get("Idempotency-Replayed") != "true" {
			b.Errorf("%s then %s", made.Raw, again.Raw)
		}
		var r, all resent
		b.into(made, &r)
		if r.State != "queueing" || r.WebhookID == nil || *r.WebhookID != off.ID || r.Total != 3 || !r.FailedOnly {
			b.Errorf("%s", made.Raw)
		}
		b.clock.Advance(time.Second)
		b.into(b.expect(b.call("POST", "/v1/events/resend", `{"created_after":"2026-03-01T12:00:00Z","created_before":"2026-03-01T12:30:00Z","events":["payment.expired"]}`), 201, ""), &all)
		if all.Total != 0 || all.WebhookID != nil || all.CreatedBefore != "2026-03-01T12:30:00.000000Z" || fmt.Sprint(all.Events) != "[payment.expired]" {
			b.Errorf("%+v", all)
		}
		for range 5 {
			for more := true; more; {
				var err error
				more, err = b.resends.Step(b.Context())
				b.must(err)
			}
			b.deliver()
			b.clock.Advance(10 * time.Second)
		}
		b.into(b.expect(b.call("GET", "/v1/resends/"+r.ID, ""), 200, ""), &r)
		if r.State != "done" || r.Queued != 3 || r.Delivered != 3 {
			b.Errorf("%+v", r)
		}
		first := b.expect(b.call("GET", "/v1/resends?limit=1", ""), 200, "")
		rest := b.expect(b.call("GET", "/v1/resends?limit=1&cursor="+*first.Body.Meta.NextCursor, ""), 200, "")
		if !strings.Contains(first.Raw, all.ID) || !strings.Contains(rest.Raw, r.ID) || rest.Body.Meta.HasMore {
			b.Errorf("%s %s", first.Raw, rest.Raw)
		}
		for text, fields := range map[string]int{`{}`: 1, `{"created_after":5,"events":["x"],"failed_only":1}`: 3, `{"created_after":"2025-01-01T00:00:00Z"}`: 1,
			`{"created_after":"2027-01-01T00:00:00Z"}`: 1, `{"created_after":"2026-03-01T12:00:00Z","created_before":"2026-03-01T12:00:00Z"}`: 1} {
			for _, path := range []string{at, "/v1/events/resend"} {
				if a := b.call("POST", path, text); a.Status != 422 || len(a.Body.Errors) != fields {
					b.Errorf("%s: %d %v", text, a.Status, a.Body.Errors)
				}
			}
		}
		for _, key := range b.strangersKeys() {
			b.expect(b.callAs(key, "POST", at, since), 404, "not_found")
			b.expect(b.callAs(key, "GET", "/v1/resends/"+r.ID, ""), 404, "not_found")
			if a := b.callAs(key, "GET", "/v1/resends", ""); string(a.Body.Data) != "[]" {
				b.Errorf("a stranger sees %s", a.Raw)
			}
		}
		b.redeliverOne(off, on)
	})
}

// redeliverOne sends an event again to one webhook.
func (b *bench) redeliverOne(one, other hook) {
	b.Helper()
	var events []struct{ ID string }
	b.into(b.call("GET", "/v1/events?limit=1", ""), &events)
	path := "/v1/events/" + events[0].ID + "/redeliver"
	if a := b.expect(b.call("POST", path, fmt.Sprintf(`{"webhook_id":%q}`, one.ID)), 200, ""); !strings.Contains(a.Raw, `"webhooks":1`) {
		b.Errorf("%s", a.Raw)
	}
	for id, state := range map[string]string{one.ID: "pending", other.ID: "delivered"} {
		if a := b.call("GET", "/v1/webhooks/"+id+"/deliveries/"+events[0].ID, ""); !strings.Contains(a.Raw, `"state":"`+state) {
			b.Errorf("%s: %s", state, a.Raw)
		}
	}
	if a := b.expect(b.call("POST", path, `{}`), 200, ""); !strings.Contains(a.Raw, `"webhooks":2`) {
		b.Errorf("%s", a.Raw)
	}
	b.expect(b.call("POST", path, `{"webhook_id":"whk_none"}`), 404, "not_found")
	b.expect(b.call("POST", path, `{"webhook_id":""}`), 422, "validation_failed")
	b.expect(b.call("POST", path, `{"webhook_id":5}`), 422, "validation_failed")
	b.expect(b.call("POST", path, `{`), 400, "unreadable_json")
	b.clock.Advance(61 * 24 * time.Hour)
	b.deliver()
	for more := true; more; {
		var err error
		more, err = delivery.Prune(b.Context(), b.db, b.clock.Now())
		b.must(err)
	}
	for _, at := range []string{"/v1/events/" + events[0].ID, "/v1/events"} {
		if a := b.expect(b.call("GET", at, ""), 200, ""); !strings.Contains(a.Raw, `"data":null`) || !strings.Contains(a.Raw, `"type":"payment.expired"`) {
			b.Errorf("%s", a.Raw)
		}
	}
	b.expect(b.call("POST", path, ""), 410, "event_pruned")
}
