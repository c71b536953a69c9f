package dashboard_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/core/money"
	"cointill/core/outbox"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/diagnose"
	"cointill/core/webhook/guard"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// hook is a merchant's server, which answers what it is told to.
type hook struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	header http.Header
	body   string
}

func newHook(t *testing.T, status int) *hook {
	t.Helper()
	h := &hook{status: status}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.header, h.body = r.Header.Clone(), string(body)
		w.Header().Set("X-Answered-By", "<b>shop</b>")
		w.WriteHeader(h.status)
		_, _ = io.WriteString(w, "<i>said</i>")
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *hook) answer(status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status = status
}

// hooked are the pages about webhooks with a worker that delivers.
type hooked struct {
	*servertest.Server
	b      *servertest.Browser
	worker *outbox.Worker[models.Delivery]
	hook   *hook
	at     string // the endpoint's page
	sc     scope.Scope
}

// eachHooked runs a test with an endpoint, registered by its form, on every database.
func eachHooked(t *testing.T, status int, test func(t *testing.T, s *hooked)) {
	t.Helper()
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.Sender.Clients = map[scope.Domain]*http.Client{scope.Test: guard.NewClient(guard.Config{Domain: scope.Test, AllowLoopback: true})}
		h := &hooked{Server: s, hook: newHook(t, status), sc: s.CreateBusiness("Ama's Shop", ama), worker: s.Sender.Worker(outbox.Options{Log: slog.New(slog.DiscardHandler)})}
		h.b = s.SignIn(ama)
		made := h.b.PostFrom("/dashboard/webhooks/new", "/dashboard/webhooks", url.Values{"type": {"Shop server"}, "url": {h.hook.URL + "/in"}, "active": {"true"},
			"header_name_0": {"X-Gateway"}, "header_value_0": {"top secret"}})
		expect(t, made, 201, "X-Gateway", "whsec_")
		h.at = regexp.MustCompile(`/dashboard/webhooks/whk_\w+`).FindString(made.Body)
		test(t, h)
	})
}

// id is the endpoint's.
func (h *hooked) id() string { return strings.TrimPrefix(h.at, "/dashboard/webhooks/") }

// pay makes a payment with events, and delivers them.
func (h *hooked) pay() (reference string) {
	h.T.Helper()
	reference = h.InitiatePayment(h.sc, servertest.NewRequest(money.CryptoRipple)).Reference
	v, err := h.Payments.Verify(h.T.Context(), h.sc, reference)
	h.FailOn(err)
	h.FailOn(h.DB.Write(h.T.Context(), func(tx *models.Tx) error {
		return h.Webhooks.Emit(tx, webhook.Event{BusinessID: h.sc.BusinessID, Domain: scope.Test, PaymentID: &v.Payment.ID, Sequence: 1,
			Type: webhook.PaymentInitiated, Data: map[string]string{"reference": reference}})
	}))
	h.deliver()
	return reference
}

// deliver makes the requests that are due, and works on orders.
func (h *hooked) deliver() {
	h.T.Helper()
	for range 20 {
		_, err := h.Resends.Step(h.T.Context())
		h.FailOn(err)
		_, err = h.worker.Step(h.T.Context())
		h.FailOn(err)
	}
}

// delivery is the page of the latest delivery.
func (h *hooked) delivery() string {
	h.T.Helper()
	return regexp.MustCompile(h.at + `/deliveries/evt_\w+`).FindString(h.b.Get(h.at).Body)
}

// TestWebhookDeliveries: a failure is shown with request, answer and what to
// do; sent again it arrives; states narrow the list by its address.
func TestWebhookDeliveries(t *testing.T) {
	eachHooked(t, 404, func(t *testing.T, s *hooked) {
		expect(t, s.b.Get("/dashboard/webhooks"), 200, "Not used yet", "Nothing sent yet")
		reference := s.pay()
		expect(t, s.b.Get("/dashboard/webhooks"), 200, "Failing", "Response 404")
		page := s.b.Get(s.at)
		expect(t, page, 200, "payment.initiated", "Response 404", "No successful delivery since", "0 %", "of the last 1 attempt", "Your server has nothing at this path", "X-Gateway", "1 Mar 2026, 13:00")
		if strings.Contains(page.Body, "top secret") {
			t.Error("the header's value is shown")
		}
		one := s.delivery()
		shown := s.b.Get(one)
		expect(t, shown, 200, "Attempt 1", "The endpoint answered 404 Not Found.", "X-Gateway: ••••", "X-Answered-By: <b>shop</b>", "<i>said</i>", reference, "What to check:", "Next attempt", "Webhook-Signature: v1,")
		expect(t, shown, 200, `data-copy="{&#34;id&#34;:`, "{\n  &#34;id&#34;: ")
		if strings.Contains(shown.Body, "<i>said") || strings.Contains(shown.Body, "<b>shop") || strings.Contains(shown.Body, "top secret") {
			t.Error("what was answered is not escaped, or a header's value is shown")
		}
		expect(t, s.b.Get("/dashboard/payments/"+reference), 200, one)
		s.hook.answer(200)
		leads(t, s.b.PostFrom(one, one+"/resend", nil), one)
		s.deliver()
		expect(t, s.b.Get(one), 200, "Delivered (200)", "Attempt 2", "Attempt 1")
		expect(t, s.b.Get(s.at), 200, "Healthy", "50 %")
		for state, want := range map[string]string{"delivered": "payment.initiated", "exhausted": "No delivery has this status: Given up.", "pending": "this status: Waiting", "odd": "payment.initiated"} {
			expect(t, s.b.Get(s.at+"?state="+state), 200, want)
		}
		expect(t, s.b.Get(s.at+"?after=%21"), 422)
		expect(t, s.b.Get(s.at+"/deliveries/evt_1"), 404)
		expect(t, s.b.PostFrom(one, s.at+"/deliveries/evt_1/resend", nil), 404)

		s.FailOn(s.DB.Exec(t.Context()).Exec("UPDATE events SET body = '', pruned = ?", true).Error)
		s.FailOn(s.DB.Exec(t.Context()).Exec("UPDATE delivery_attempts SET request = '', header = '', answer = ''").Error)
		expect(t, s.b.Get(one), 200, "Bodies are kept for 60 days", "can't be resent", "are kept for 60 days", "/dashboard/payments/"+reference)
		expect(t, s.b.PostFrom(s.at, one+"/resend", nil), 410, "its content is no longer kept")
	})
}

// TestWebhookPaging walks through more deliveries than a page holds.
func TestWebhookPaging(t *testing.T) {
	eachHooked(t, 200, func(t *testing.T, s *hooked) {
		for range 30 {
			s.Clock.Advance(time.Second)
			leads(t, s.b.PostFrom(s.at, s.at+"/test", nil), s.at)
		}
		rows := regexp.MustCompile(`/deliveries/evt_\w+"`)
		first := s.b.Get(s.at + "?state=pending")
		next := regexp.MustCompile(s.at + `\?after=[^"]+`).FindString(first.Body)
		second := s.b.Get(strings.ReplaceAll(next, "&amp;", "&"))
		expect(t, second, 200, "Back to the first page")
		a, b := rows.FindAllString(first.Body, -1), rows.FindAllString(second.Body, -1)
		if len(a) != 25 || len(b) != 5 || !strings.Contains(next, "state=pending") {
			t.Errorf("%d and %d rows, then %s", len(a), len(b), next)
		}
	})
}

// TestWebhookMissed: what happened while an endpoint was off is listed, and
// can be sent when it is on again: counted first, then with its progress.
func TestWebhookMissed(t *testing.T) {
	eachHooked(t, 200, func(t *testing.T, s *hooked) {
		toggle := func(on string) { leads(t, s.b.PostFrom(s.at, s.at+"/toggle", url.Values{"active": {on}}), s.at) }
		toggle("false")
		s.Clock.Advance(20 * time.Minute)
		s.pay()
		s.pay()
		expect(t, s.b.Get(s.at), 200, "Off", "2 events since 1 Mar 2026, 13:00 were not delivered. Switch it on", "Skipped: the endpoint was off")
		expect(t, s.b.Get(s.at+"?state=skipped"), 200, "payment.initiated")
		one := s.delivery()
		expect(t, s.b.Get(one), 200, "Skipped", "No request was made", "The endpoint is off")
		expect(t, s.b.PostFrom(one, one+"/resend", nil), 409, "inactive and receives no events")

		s.b.Header["Referer"] = servertest.Base + "/dashboard/webhooks"
		leads(t, s.b.PostFrom(s.at, s.at+"/toggle", url.Values{"active": {"true"}}), "/dashboard/webhooks")
		delete(s.b.Header, "Referer")
		expect(t, s.b.Get("/dashboard/webhooks"), 200, "2 events were not delivered since", "Open “Shop server” to send them")
		page := s.b.Get(s.at)
		expect(t, page, 200, "2 events were not delivered since 1 Mar 2026, 13:00", "Send them now")
		review := regexp.MustCompile(`/dashboard/webhooks/resends/review\?[^"]+`).FindString(page.Body)
		asked := s.b.Get(strings.ReplaceAll(review, "&amp;", "&"))
		expect(t, asked, 200, "Failed events since 1 Mar 2026, 13:00, for “Shop server”", "2 events will be sent.")
		form := url.Values{}
		for _, field := range regexp.MustCompile(`name="(endpoint|failed|created_after|created_before)" value="([^"]*)"`).FindAllStringSubmatch(asked.Body, -1) {
			form.Set(field[1], field[2])
		}
		made := s.b.PostFrom(s.at, "/dashboard/webhooks/resends", form)
		if made.Status != http.StatusSeeOther {
			t.Fatalf("%d: %s", made.Status, made.VisibleText())
		}
		expect(t, s.b.Get(made.Location), 200, "Being queued", "0 of 2 events checked", `http-equiv="refresh" content="5"`, `hx-trigger="every 2s"`)
		s.deliver()
		s.Clock.Advance(time.Minute)
		s.deliver()
		done := s.b.Get(made.Location)
		expect(t, done, 200, "Done", "2 of 2 events checked")
		if strings.Contains(done.Body, "http-equiv") || strings.Contains(done.Body, "hx-trigger") {
			t.Error("it still looks again")
		}
		expect(t, s.b.Get("/dashboard/webhooks/resends"), 200, "2 of 2", "for “Shop server”")
		expect(t, s.b.Get(one), 200, "Delivered (200)")
		if strings.Contains(s.b.Get(s.at).Body, "not delivered") {
			t.Error("it is still missing events")
		}
	})
}

// TestWebhookResendForm: what is wrong with an order is said at its fields; a
// range is in the business's time zone.
func TestWebhookResendForm(t *testing.T) {
	eachHooked(t, 200, func(t *testing.T, s *hooked) {
		const at = "/dashboard/webhooks/resends"
		s.FailOn(s.DB.Exec(t.Context()).Model(&models.Business{}).Where("id = ?", s.sc.BusinessID).Update("time_zone", "Africa/Lagos").Error)
		s.pay() // at 13:00 in Lagos
		s.Clock.Advance(20 * time.Minute)
		expect(t, s.b.Get(at), 200, "Africa/Lagos", "All endpoints that are on", "No events have been resent yet", `value="2026-02-28T13:20"`)
		review := func(query string) servertest.Answer { return s.b.Get(at + "/review?" + query) }
		for query, says := range map[string]string{
			"created_after=yesterday": "Must be a date with a time.",
			"created_after=":          "Must be a date with a time.",
			"created_after=2026-03-01T13:00&created_before=2026-03-01T12:00":        "Must be after the start.",
			"created_after=2025-03-01T13:00":                                        "May be at most 60 days ago",
			"created_after=2027-03-01T13:00":                                        "May not be in the future.",
			"created_after=2026-03-01T13:00&types=odd":                              "is no type of event",
			"created_after=2026-03-01T13:00&types=payment.expired&created_before=x": "Must be a date with a time.",
		} {
			expect(t, review(query), 422, says, "Nothing was sent")
		}
		expect(t, review("created_after=2026-03-01T13:00&endpoint=whk_nobody"), 404)
		for query, says := range map[string]string{
			"created_after=2026-03-01T13:00&created_before=2026-03-01T13:01":               "1 event for 1 endpoint, if the endpoint accepts the type: at most 1 delivery.",
			"created_after=2026-03-01T12:00&created_before=2026-03-01T13:00":               "None: there are no such events in this range.",
			"created_after=2026-03-01T13:00&failed=true&endpoint=" + s.id():                "None: all events in this range were delivered",
			"created_after=2026-03-01T13:00&types=payment.initiated&types=payment.expired": "only payment.initiated, payment.expired",
			"created_after=2026-03-01T13:00&failed=true":                                   "Of 1 event, those that each of 1 endpoint accepts and did not get.",
		} {
			expect(t, review(query), 200, says)
		}
		expect(t, s.b.PostFrom(s.at, at, url.Values{"created_after": {"x"}}), 422, "Must be a date with a time.")
		leads(t, s.b.PostFrom(s.at, s.at+"/toggle", url.Values{"active": {"false"}}), s.at)
		expect(t, review("created_after=2026-03-01T13:00&endpoint="+s.id()), 409, "Switch it on first")
		expect(t, s.b.Get(at), 200, "No endpoint is switched on")
		expect(t, s.b.Get(at+"/rsd_1"), 404)
	})
}

// TestWebhookForm: types and headers are chosen, kept, replaced and removed.
func TestWebhookForm(t *testing.T) {
	eachHooked(t, 200, func(t *testing.T, s *hooked) {
		const form = "/dashboard/webhooks/new"
		for field, c := range map[string][2]string{
			"url":           {"https://u:p@shop.example/", "May not hold a user name or password."},
			"header_name_1": {"Host", "Is set by Cointill or by the connection."},
			"header_name_2": {"Bad Name", "is no name of a header"},
		} {
			sent := url.Values{"type": {"x"}, "url": {"https://shop.example/"}, "header_value_1": {"v"}, "header_value_2": {"v"}, "header_name_1": {"X-A"}, "header_name_2": {"X-B"}}
			sent.Set(field, c[0])
			expect(t, s.b.PostFrom(form, "/dashboard/webhooks", sent), 422, c[1], "Not saved yet")
		}
		edit := s.b.Get(s.at + "/edit")
		expect(t, edit, 200, `value="X-Gateway"`, "It has a value, ••••", "A transfer was detected, without confirmation yet.", "Remove X-Gateway")
		base := url.Values{"type": {"Shop server"}, "url": {s.hook.URL + "/in"}, "header_name_0": {"X-Gateway"}, "header_kept_0": {"X-Gateway"}, "header_value_0": {""}}
		save := func(name string, more url.Values, want ...string) {
			t.Helper()
			sent := url.Values{}
			for _, values := range []url.Values{base, more} {
				for field, value := range values {
					sent[field] = value
				}
			}
			leads(t, s.b.PostFrom(s.at+"/edit", s.at, sent), s.at)
			expect(t, s.b.Get(s.at), 200, want...)
			s.hook.mu.Lock()
			s.hook.header = nil
			s.hook.mu.Unlock()
			leads(t, s.b.PostFrom(s.at, s.at+"/test", nil), s.at)
			s.deliver()
			s.hook.mu.Lock()
			defer s.hook.mu.Unlock()
			if got := fmt.Sprint(s.hook.header["X-Gateway"], s.hook.header["X-More"]); got != more.Get("want") {
				t.Errorf("%s: %s", name, got)
			}
		}
		save("kept", url.Values{"event.payment.declined": {"true"}, "want": {"[top secret] []"}}, "payment.declined", "X-Gateway : ••••")
		save("replaced, another added", url.Values{"header_value_0": {"changed"}, "header_name_1": {"x-more"}, "header_value_1": {"m"}, "want": {"[changed] [m]"}}, "Events All", "X-More : ••••")
		save("removed", url.Values{"header_drop_0": {"true"}, "header_name_1": {"X-More"}, "header_kept_1": {"X-More"}, "want": {"[] [m]"}}, "X-More : ••••")
		expect(t, s.b.PostFrom(s.at+"/edit", s.at, url.Values{"type": {"x"}, "url": {"nowhere"}, "header_name_0": {"X-Secret"}, "header_value_0": {"v"}}), 422, "Must be a full URL", `value="X-Secret"`)
	})
}

// TestSignatureChecker says why a delivery doesn't verify; it stores and logs nothing of it.
func TestSignatureChecker(t *testing.T) {
	eachHooked(t, 200, func(t *testing.T, s *hooked) {
		const at = "/dashboard/webhooks/check"
		s.pay()
		sent := url.Values{"endpoint": {s.id()}, "webhook_id": {s.hook.header.Get("webhook-id")}, "webhook_timestamp": {s.hook.header.Get("webhook-timestamp")},
			"webhook_signature": {s.hook.header.Get("webhook-signature")}, "body": {s.hook.body}}
		check := func(field, value string, status int, says ...string) {
			t.Helper()
			form := url.Values{}
			for name, values := range sent {
				form[name] = values
			}
			form.Set(field, value)
			expect(t, s.b.PostFrom(at, at, form), status, says...)
		}
		expect(t, s.b.Get(at+"?endpoint="+s.id()), 200, "Nothing of it is stored", "Shop server")
		check("", "", 200, "The signature is valid", "secret, timestamp and body fit together")
		check("webhook_signature", "", 200, "The signature is not valid", "webhook-signature is missing")
		check("body", strings.Replace(s.hook.body, ",", ",\r\n", 1), 200, "compact JSON", "The first difference is at byte", `,\n"`)
		check("body", s.hook.body+"<script>marked</script>", 200, "its data differ", "<script>marked")
		check("body", strings.Repeat("a", diagnose.MaxPasted+1), 422, "May have at most 24,576 bytes")
		check("endpoint", "whk_nobody", 404)
		refused := s.b.PostFrom(at, at, url.Values{"endpoint": {s.id()}, "webhook_id": {"evt_1"}, "webhook_timestamp": {"1"}, "webhook_signature": {"whsec_marked"}})
		expect(t, refused, 200, "This is a signing secret")
		if strings.Contains(refused.Body, "whsec_marked") {
			t.Error("a secret comes back")
		}
		for _, field := range []string{"webhook_id", "webhook_timestamp", "body"} {
			form := url.Values{"endpoint": {s.id()}, "webhook_id": {"evt_1"}, "webhook_timestamp": {"1"}, "webhook_signature": {"v1,x"}}
			form.Set(field, "whsec_marked")
			if again := s.b.PostFrom(at, at, form); again.Status != 200 || strings.Contains(again.Body, "whsec_marked") {
				t.Errorf("%s: a secret comes back, or %d", field, again.Status)
			}
		}
		s.Clock.Advance(20 * time.Minute)
		check("", "", 200, "The signature is valid, but for another time", "20 minutes old")
		if strings.Contains(s.ReadLog(), "marked") {
			t.Error("what was pasted is logged")
		}
	})
}

// TestPaymentShowsWhatWasSkipped: the page of a payment says that an endpoint was off, in the words of the endpoint's
// page, and nothing of another merchant's.
func TestPaymentShowsWhatWasSkipped(t *testing.T) {
	eachHooked(t, 200, func(t *testing.T, s *hooked) {
		const skipped = "Skipped: the endpoint was off"
		s.CreateBusiness("Bayo's Shop", bayo)
		theirs := url.Values{"type": {"Bayo's server"}, "url": {s.hook.URL + "/theirs"}}
		expect(t, s.SignIn(bayo).PostFrom("/dashboard/webhooks/new", "/dashboard/webhooks", theirs), 201)
		s.Clock.Advance(time.Minute)
		off := false
		_, err := s.Webhooks.Update(t.Context(), s.sc, s.id(), webhook.Change{Active: &off})
		s.FailOn(err)
		s.Clock.Advance(time.Minute)
		reference := s.pay()
		expect(t, s.b.Get(s.at), 200, skipped)
		page := s.b.Get("/dashboard/payments/" + reference)
		expect(t, page, 200, "Shop server", "payment.initiated", skipped, `href="`+s.delivery()+`"`)
		expect(t, s.b.Get(s.delivery()), 200, skipped)
		if strings.Contains(page.Body, "Bayo") {
			t.Error("the page names another merchant's endpoint")
		}
	})
}
