package delivery_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"cointill/core/clock"
	"cointill/core/outbox"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/models"
)

// TestDeliverySigned sends one event and has the public library verify it.
func TestDeliverySigned(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		b.clock.Advance(time.Since(b.clock.Now())) // the library compares with the machine's clock
		shop := newMerchant(t, nil)
		e, plain := b.create(owner, shop.URL)
		id := b.emit(1)
		if n := b.step(); n != 1 {
			t.Fatalf("%d attempts, want 1", n)
		}
		got := shop.requests()[0]
		verifier, err := standardwebhooks.NewWebhook(plain)
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.Verify([]byte(got.body), got.header); err != nil {
			t.Error(err)
		}
		if err := verifier.Verify([]byte(strings.Replace(got.body, "PAY_1", "PAY_2", 1)), got.header); err == nil {
			t.Error("a changed body verifies")
		}
		if got.header.Get("webhook-id") != id || got.header.Get("User-Agent") != "Cointill/1.2.3" ||
			got.header.Get("Content-Type") != "application/json" || got.header.Get("Accept-Encoding") != "" {
			t.Errorf("headers: %v", got.header)
		}
		want := fmt.Sprintf(`{"id":%q,"type":"payment.successful","timestamp":%q,"domain":"test","sequence":1,"data":{"reference":"PAY_1"}}`,
			id, clock.Format(b.clock.Now()))
		if got.body != want {
			t.Errorf("body %s\nwant %s", got.body, want)
		}
		if d := b.only(e.ID); d.State != webhook.Delivered || d.LastStatus != 204 || d.Attempt != 1 || d.NextAt != nil {
			t.Errorf("delivery %+v", d)
		}
		if n := b.step(); n != 0 {
			t.Errorf("delivered %d times more", n)
		}
	})
}

// TestOfficialVector (WH-1) signs what the specification's libraries sign in their
// tests.
func TestOfficialVector(t *testing.T) {
	t.Parallel()
	signer, err := standardwebhooks.NewWebhook("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	got, err := signer.Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if err != nil || got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("got = %v, err = %v", got, err)
	}
}

// TestSchedule goes through all ten attempts: the body and id never change,
// the waits are the contract's, each at most a tenth off.
func TestSchedule(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newMerchant(t, status(http.StatusInternalServerError))
		e, _ := b.create(owner, shop.URL)
		id := b.emit(1)
		waits := []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
			10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}
		for i, wait := range waits {
			if n := b.step(); n != 1 {
				t.Fatalf("attempt %d: %d made", i+1, n)
			}
			d := b.only(e.ID)
			if d.State != "pending" || d.NextAt == nil || d.Attempt != i+1 || d.LastStatus != 500 {
				t.Fatalf("after attempt %d: %+v", i+1, d)
			}
			got := d.NextAt.Sub(b.clock.Now())
			if got < wait-wait/10 || got > wait+wait/10 {
				t.Errorf("wait %d is %s, want %s ± 10 %%", i+1, got, wait)
			}
			b.clock.Advance(got - time.Microsecond)
			if n := b.step(); n != 0 {
				t.Fatalf("attempt %d came early", i+2)
			}
			b.clock.Advance(time.Microsecond)
		}
		b.step()
		if d := b.only(e.ID); d.State != webhook.Exhausted || d.Attempt != 10 || d.NextAt != nil {
			t.Errorf("at the end: %+v", d)
		}
		b.clock.Advance(48 * time.Hour)
		b.step()
		requests := shop.requests()
		if len(requests) != 10 {
			t.Fatalf("%d requests, want 10", len(requests))
		}
		for _, r := range requests {
			if r.header.Get("webhook-id") != id || r.body != requests[0].body {
				t.Error("an attempt had another id or body")
			}
		}
		attempts := b.attempts(e.ID)
		if len(attempts) != 10 || attempts[9].Number != 10 || attempts[9].Status != 500 {
			t.Errorf("attempts %+v", attempts)
		}
		if found, _ := b.Find(t.Context(), owner, e.ID); found.FailingSince == nil || !found.Active {
			t.Errorf("endpoint %+v", found) // 75 hours of failure are not yet five days
		}
		on := true // forgives the failures so far
		_, err := b.Update(t.Context(), owner, e.ID, webhook.Change{Active: &on})
		if _, again := b.deliveries.Redeliver(t.Context(), owner, id, ""); again != nil || err != nil {
			t.Fatalf(`b.deliveries.Redeliver(owner, id, ""): again = %v, err = %v`, again, err)
		}
		b.step() // the schedule begins anew
		if wait := b.only(e.ID).NextAt.Sub(b.clock.Now()); wait > 6*time.Second {
			t.Errorf("the first wait after a redelivery is %s", wait)
		}
	})
}

// TestRetryAfter (WH-9): an endpoint that asks for time gets it, up to a day.
func TestRetryAfter(t *testing.T) {
	cases := map[string]struct {
		header     string
		from, upTo time.Duration
	}{
		"seconds":  {"600", 10 * time.Minute, 11 * time.Minute},
		"date":     {start.Add(time.Hour).Format(http.TimeFormat), time.Hour, 66 * time.Minute},
		"too long": {"99999999999", 24 * time.Hour, 24*time.Hour + 144*time.Minute},
		"beyond":   {"99999999999999999999", 24 * time.Hour, 24*time.Hour + 144*time.Minute},
		"shorter":  {"1", 4500 * time.Millisecond, 5500 * time.Millisecond},
		"past":     {start.Add(-time.Hour).Format(http.TimeFormat), 4500 * time.Millisecond, 5500 * time.Millisecond},
		"nonsense": {"soon", 4500 * time.Millisecond, 5500 * time.Millisecond},
	}
	each(t, func(t *testing.T, b *bundle) {
		sequence := 0
		for name, c := range cases {
			shop := newMerchant(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", c.header)
				w.WriteHeader(http.StatusTooManyRequests)
			})
			e, _ := b.create(owner, shop.URL)
			sequence++
			b.emit(sequence)
			b.step()
			if got := b.only(e.ID).NextAt.Sub(b.clock.Now()); got < c.from || got > c.upTo {
				t.Errorf("%s: next attempt in %s, want %s to %s", name, got, c.from, c.upTo)
			}
			if err := b.Delete(t.Context(), owner, e.ID); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestAnswers (WH-5, WH-7) sends to servers that answer in every way they can.
func TestAnswers(t *testing.T) {
	elsewhere := newMerchant(t, nil)
	cases := map[string]struct {
		answer  http.HandlerFunc
		status  int
		problem string
	}{
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		}, 302, "Redirects are not followed"},
		"kept method redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusPermanentRedirect)
		}, 308, "Redirects are not followed"},
		"not found": {status(404), 404, "404 Not Found"},
		"closed": {func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, 0, "closed without an answer"},
		"endless header": {func(w http.ResponseWriter, _ *http.Request) {
			for i := range 1000 {
				w.Header().Set(fmt.Sprintf("X-Header-%d", i), strings.Repeat("x", 100))
			}
		}, 0, "no valid HTTP answer"},
	}
	each(t, func(t *testing.T, b *bundle) {
		sequence := 0
		for name, c := range cases {
			shop := newMerchant(t, c.answer)
			e, _ := b.create(owner, shop.URL)
			sequence++
			b.emit(sequence)
			b.step()
			d := b.only(e.ID)
			if d.LastStatus != c.status || d.State != "pending" {
				t.Errorf("%s: %+v", name, d)
			}
			mustContain(t, d.LastError, c.problem)
			if err := b.Delete(t.Context(), owner, e.ID); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(elsewhere.requests()); n != 0 {
			t.Errorf("%d redirects were followed", n)
		}
	})
}

// TestAnswerKept (WH-7) keeps 4 KiB of an endless answer, packed as it came, fit for a
// text column.
func TestAnswerKept(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newMerchant(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write([]byte("a\x00\xff\x1b\u202eb\n"))
			for r.Context().Err() == nil {
				if _, err := w.Write([]byte(strings.Repeat("x", 64<<10))); err != nil {
					return
				}
			}
		})
		e, _ := b.create(owner, shop.URL)
		b.emit(1)
		b.step()
		if d := b.only(e.ID); d.State != webhook.Delivered {
			t.Fatalf("b.only(e.ID): d = %v", d)
		}
		if a := b.attempts(e.ID)[0].Answer; !strings.HasPrefix(a, "a\uFFFD\uFFFD\uFFFD\uFFFDb\nx") || len(a) < 4<<10 || len(a) > 4<<10+16 {
			t.Errorf("%d bytes kept: %.20q", len(a), a)
		}
	})
}

// TestSlowAnswer (WH-7) ends an attempt when the client's time is over, also while the
// header drips.
func TestSlowAnswer(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		b.sender.Clients[scope.Test].Timeout = 200 * time.Millisecond
		shop := newMerchant(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		e, _ := b.create(owner, shop.URL)
		b.emit(1)
		b.step()
		d := b.only(e.ID)
		if d.State != "pending" || d.LastStatus != 0 {
			t.Errorf("%+v", d)
		}
		mustContain(t, d.LastError, "No answer came within 15 seconds")
	})
}

// TestGone (WH-9) switches the endpoint off at a 410, tells, and sends no more.
func TestGone(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		told := b.owners()
		shop := newMerchant(t, status(http.StatusGone))
		e, _ := b.create(owner, shop.URL)
		b.emit(1)
		b.step()
		found, err := b.Find(t.Context(), owner, e.ID)
		if err != nil || found.Active || found.Status() != "inactive" {
			t.Errorf("%+v %v", found, err)
		}
		mustContain(t, found.OffReason, "410")
		if d := b.only(e.ID); d.State != webhook.Cancelled || d.LastStatus != 410 {
			t.Errorf("%+v", d)
		}
		b.emit(2)
		b.step()
		if n := len(shop.requests()); n != 1 || len(told()) != 2 {
			t.Errorf("%d requests, told %v", n, told())
		}
	})
}

// TestSwitchedOffAfterFiveDays counts only failures that no success interrupts.
func TestSwitchedOffAfterFiveDays(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newMerchant(t, status(500))
		e, _ := b.create(owner, shop.URL)
		active := func() bool {
			found, err := b.Find(t.Context(), owner, e.ID)
			if err != nil {
				t.Fatal(err)
			}
			return found.Active
		}
		at := func(sequence int, day time.Duration, code int) {
			b.clock.Advance(start.Add(day * 24 * time.Hour).Sub(b.clock.Now()))
			shop.answer(status(code))
			b.emit(sequence)
			b.step()
		}
		at(1, 0, 500)
		at(2, 4, 200) // everything due is delivered: the count begins anew
		for day := range 5 {
			at(3+day, time.Duration(5+day), 500)
		}
		if !active() {
			t.Fatal("switched off after 4 days of failure")
		}
		name, url := "renamed", e.URL // the address is given as it is: nothing is forgiven
		if found, err := b.Update(t.Context(), owner, e.ID, webhook.Change{Name: &name, URL: &url}); err != nil || found.FailingSince == nil {
			t.Errorf("a change of the name forgives: %+v %v", found, err)
		}
		at(8, 10, 500)
		if active() {
			t.Fatal("still on after 5 days of failure")
		}
		on := true
		if found, err := b.Update(t.Context(), owner, e.ID, webhook.Change{Active: &on}); err != nil || !found.Active || found.OffReason != "" || found.FailingSince != nil {
			t.Errorf("switched on again: %+v %v", found, err)
		}
		at(9, 11, 500)
		if !active() {
			t.Error("switching on did not forgive")
		}
		at(10, 30, 500)
		at(11, 34, 500)
		if !active() {
			t.Error("failures count across days on which there was nothing to fail")
		}
	})
}

// TestOurFailuresDontCount: what the receiver has no part in doesn't switch it off.
func TestOurFailuresDontCount(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		b.sender.Clients = nil // the operator has switched deliveries off
		e, _ := b.create(owner, "https://example.com/")
		for day := range 7 {
			b.emit(day + 1)
			b.step()
			b.clock.Advance(24 * time.Hour)
		}
		found, err := b.Find(t.Context(), owner, e.ID)
		list, _, _ := b.deliveries.History(t.Context(), owner, e.ID, "", "", 1)
		if err != nil || !found.Active || found.FailingSince != nil || len(list) != 1 || list[0].LastError != "Deliveries are switched off in this domain." {
			t.Errorf("%+v %v %+v", found, err, list)
		}
	})
}

// TestInactiveGetsNothing (WH-12) covers an endpoint switched off before an event,
// between event and attempt, between attempts, and deleted.
func TestInactiveGetsNothing(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx, on, off := t.Context(), true, false
		shop := newMerchant(t, status(500))
		e, _ := b.create(owner, shop.URL)
		toggle := func(to *bool) {
			if _, err := b.Update(ctx, owner, e.ID, webhook.Change{Active: to}); err != nil {
				t.Fatal(err)
			}
		}
		toggle(&off)
		b.emit(1)
		toggle(&on)
		if n := b.step(); n != 0 {
			t.Fatalf("an event from when it was inactive is delivered")
		}
		b.emit(2)
		toggle(&off)
		b.step()
		if n := len(shop.requests()); n != 0 {
			t.Fatalf("%d requests although inactive", n)
		}
		if d := b.only(e.ID); d.State != webhook.Cancelled {
			t.Errorf("%+v", d)
		}
		toggle(&on)
		b.emit(3)
		b.step()
		toggle(&off)
		b.clock.Advance(time.Hour)
		b.step()
		if n := len(shop.requests()); n != 1 {
			t.Fatalf("%d requests, want the one from before", n)
		}
		toggle(&on)
		b.emit(4)
		if err := b.Delete(ctx, owner, e.ID); err != nil {
			t.Fatal(err)
		}
		b.clock.Advance(time.Hour)
		if n := b.step(); n != 0 || len(shop.requests()) != 1 {
			t.Error("delivered to a deleted endpoint")
		}
		list, err := b.deliveries.DeliveriesOfPayment(ctx, owner, 9)
		if err != nil || len(list) != 3 {
			t.Fatalf("list = %v, err = %v", list, err)
		}
		for _, d := range list {
			if d.State != webhook.Cancelled || d.EndpointName != "" {
				t.Errorf("%+v", d)
			}
		}
	})
}

// TestRotation (WH-2) signs with both secrets for 24 hours, then with the new one only.
func TestRotation(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newMerchant(t, nil)
		e, before := b.create(owner, shop.URL)
		rotated, after, err := b.RotateSecret(t.Context(), owner, e.ID)
		if err != nil || after == before || !rotated.OverlapUntil.Equal(start.Add(24*time.Hour)) {
			t.Fatalf("rotated = %v, err = %v", rotated, err)
		}
		verifies := func(secret string) bool {
			requests := shop.requests()
			last := requests[len(requests)-1]
			verifier, err := standardwebhooks.NewWebhook(secret)
			if err != nil {
				t.Fatal(err)
			}
			return verifier.VerifyIgnoringTimestamp([]byte(last.body), last.header) == nil
		}
		b.clock.Advance(24*time.Hour - time.Microsecond)
		b.emit(1)
		b.step()
		if !verifies(before) || !verifies(after) {
			t.Error("during the overlap both secrets must verify")
		}
		b.clock.Advance(time.Microsecond)
		b.emit(2)
		b.step()
		if verifies(before) || !verifies(after) {
			t.Error("after the overlap only the new secret must verify")
		}
	})
}

// TestRedeliver makes the same bytes again, also for one that has failed for good or still waits.
func TestRedeliver(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		shop := newMerchant(t, nil)
		e, _ := b.create(owner, shop.URL)
		id := b.emit(1)
		b.step()
		late := newMerchant(t, status(500))
		lateEndpoint, _ := b.create(owner, late.URL)
		if n, err := b.deliveries.Redeliver(ctx, owner, id, ""); err != nil || n != 2 {
			t.Fatalf(`b.deliveries.Redeliver(ctx, owner, id, ""): n = %v, err = %v`, n, err)
		}
		b.step()
		if n, err := b.deliveries.Redeliver(ctx, owner, id, ""); err != nil || n != 2 { // late waits for its retry now
			t.Fatalf(`b.deliveries.Redeliver(ctx, owner, id, ""): n = %v, err = %v`, n, err)
		}
		late.answer(nil)
		b.step()
		got := shop.requests()
		if len(got) != 3 || got[2].body != got[0].body || got[2].header.Get("webhook-id") != id {
			t.Errorf("%d requests", len(got))
		}
		if d := b.only(e.ID); d.State != webhook.Delivered || d.Attempt != 3 {
			t.Errorf("%+v", d)
		}
		if d := b.only(lateEndpoint.ID); d.State != webhook.Delivered || d.Attempt != 2 || len(late.requests()) != 2 {
			t.Errorf("%+v", d)
		}
		// A test event is for its endpoint alone.
		testID, err := b.deliveries.SendTest(ctx, owner, e.ID)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := b.deliveries.Redeliver(ctx, owner, testID, ""); err != nil || n != 1 {
			t.Errorf("a test event goes to %d endpoints, %v", n, err)
		}
		b.step()
		if n := len(late.requests()); n != 2 {
			t.Error("the test event went elsewhere too")
		}
		var body struct{ Type, Domain string }
		got = shop.requests()
		if err := json.Unmarshal([]byte(got[len(got)-1].body), &body); err != nil || body.Type != webhook.WebhookTest || body.Domain != "test" {
			t.Errorf("json.Unmarshal([]byte(got[len(got)-1].body), &body): body = %v, err = %v", body, err)
		}
	})
}

// TestStop gives a delivery back that is under way when the program stops: it
// is due at once and has not used up a try.
func TestStop(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		arrived, leave := make(chan struct{}), make(chan struct{})
		shop := newMerchant(t, func(_ http.ResponseWriter, r *http.Request) {
			close(arrived)
			select {
			case <-r.Context().Done():
			case <-leave:
			}
		})
		defer close(leave)
		e, _ := b.create(owner, shop.URL)
		b.emit(1)
		worker := b.sender.Worker(outbox.Options{Grace: 50 * time.Millisecond, Log: slog.New(slog.DiscardHandler)})
		ctx, stop := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- worker.Run(ctx) }()
		<-arrived
		if d := b.only(e.ID); d.State != "sending" || d.NextAt != nil {
			t.Errorf("under way: %+v", d)
		}
		if _, err := b.deliveries.Redeliver(t.Context(), owner, b.only(e.ID).EventID, ""); err == nil || !strings.HasPrefix(err.Error(), "delivery_under_way") || b.only(e.ID).State != "sending" {
			t.Errorf("a redelivery of what is under way: %v", err)
		}
		stop()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		if d := b.only(e.ID); d.State != "pending" || !d.NextAt.Equal(b.clock.Now()) {
			t.Errorf("given back: %+v", d)
		}
		shop.answer(nil)
		b.step()
		if d := b.only(e.ID); d.State != webhook.Delivered || d.Attempt != 2 {
			t.Errorf("after the restart: %+v", d)
		}
	})
}

// TestRollback (WH-10) leaves nothing of an event whose transaction rolled back.
func TestRollback(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newMerchant(t, nil)
		b.create(owner, shop.URL)
		undo := fmt.Errorf("undo")
		err := b.DB.Write(t.Context(), func(tx *models.Tx) error {
			if err := b.Emit(tx, webhook.Event{BusinessID: 1, Domain: scope.Test, Type: webhook.PaymentExpired}); err != nil {
				return err
			}
			return undo
		})
		if err != undo || b.step() != 0 || len(shop.requests()) != 0 {
			t.Error("something of the event was left", err)
		}
	})
}
