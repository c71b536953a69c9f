package delivery_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"cointill/core/mail"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/models"
)

// owners gives business 1 two owners and an admin, and the service mails; the
// result lists what was queued: whom, and why.
func (b *bundle) owners() (told func() []string) {
	b.t.Helper()
	db := b.DB.Exec(b.t.Context())
	rows := []any{&models.Business{ID: 1, Code: "BUS_1", Name: "Kofi Books", TimeZone: "Africa/Lagos"}}
	for i, role := range []string{"owner", "admin", "owner"} {
		id := int64(i + 1)
		rows = append(rows, &models.User{ID: id, Name: fmt.Sprint("Person ", id), Email: fmt.Sprintf("p%d@books.example", id)},
			&models.Member{UserID: id, BusinessID: 1, Role: role})
	}
	for _, row := range rows {
		if err := db.Create(row).Error; err != nil {
			b.t.Fatal(err)
		}
	}
	b.Mails = &mail.Service{DB: b.DB, Clock: b.clock.Now}
	b.Pages = "https://till.example/dashboard/webhooks"
	b.Render = func(n webhook.Notice) (subject, text, html string) {
		return n.Business + ": " + n.Endpoint.Name, n.Endpoint.OffReason + " " + n.URL + " " + n.Since.Format(time.RFC3339), "<p>"
	}
	return func() (list []string) {
		var mails []models.Mail
		if err := b.DB.Read(b.t.Context()).Order("id").Find(&mails).Error; err != nil {
			b.t.Fatal(err)
		}
		for _, m := range mails {
			list = append(list, m.To+" "+m.Subject+" "+m.Text)
		}
		return list
	}
}

func TestOwnersAreTold(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		told := b.owners()
		woken := 0
		b.WakeMails = func() { woken++ }
		shop := newMerchant(t, status(500))
		e, _ := b.create(owner, shop.URL)
		b.emit(1)
		for day := range 6 { // several at the end fail together
			b.clock.Advance(24 * time.Hour)
			b.emit(day + 2)
			b.step()
		}
		mails := told()
		if len(mails) != 2 || !strings.HasPrefix(mails[0], "p1@books.example Kofi Books: orders Every delivery failed for 5 days.") ||
			!strings.HasPrefix(mails[1], "p3@books.example") || woken != 1 {
			t.Errorf("%q, woken %d times", mails, woken)
		}
		mustContain(t, mails[0], b.Pages+"/"+e.ID+" 2026-03-02T13:00:00+01:00")
		var audit []models.Audit
		if err := b.DB.Read(t.Context()).Where("action = 'webhook.switched_off'").Find(&audit).Error; err != nil || len(audit) != 1 {
			t.Fatalf("audit = %v, err = %v", audit, err)
		}
		if a := audit[0]; a.Actor != "system" || a.Action != "webhook.switched_off" || a.Subject != e.ID || !strings.Contains(a.Detail, "5 days") {
			t.Errorf("%+v", a)
		}
	})
}

// TestSwitchedOffCancels (WH-12): what waits for its next attempt ends with the switch,
// and is missed.
func TestSwitchedOffCancels(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newMerchant(t, status(500))
		e, _ := b.create(owner, shop.URL)
		b.emit(1)
		b.step()
		b.clock.Advance(time.Minute) // before it is due again
		off := false
		if _, err := b.Update(t.Context(), owner, e.ID, webhook.Change{Active: &off}); err != nil {
			t.Fatal(err)
		}
		if d := b.only(e.ID); d.State != webhook.Cancelled || d.Attempt != 1 || d.LastError != "The webhook was inactive." {
			t.Errorf("%+v", d)
		}
		if m, err := b.deliveries.Missed(t.Context(), owner, e.ID); err != nil || m.Count != 1 || m.Since.After(start) {
			t.Errorf("%+v, %v", m, err)
		}
	})
}

// TestMissedOfOld: what was sent again from before a pause doesn't hide the pause that came after.
func TestMissedOfOld(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newMerchant(t, nil)
		e, _ := b.create(owner, shop.URL)
		old := b.emit(1)
		b.step()
		for range 2 {
			b.clock.Advance(time.Hour)
			shop.answer(status(500))
			if _, err := b.deliveries.Redeliver(t.Context(), owner, old, e.ID); err != nil {
				t.Fatal(err)
			}
			b.step()
			b.toggle(e.ID, false)
			if m, err := b.deliveries.Missed(t.Context(), owner, e.ID); err != nil || m.Count != 1 || m.Until != nil {
				t.Errorf("%+v, %v", m, err)
			}
			b.clock.Advance(time.Hour)
			b.toggle(e.ID, true)
		}
		b.toggle(e.ID, false)
		b.clock.Advance(time.Hour)
		b.toggle(e.ID, true)
		if _, err := b.deliveries.Redeliver(t.Context(), owner, old, e.ID); err != nil {
			t.Fatal(err)
		}
		b.step()
		b.toggle(e.ID, false)
		if m, err := b.deliveries.Missed(t.Context(), owner, e.ID); err != nil || m.Until != nil {
			t.Errorf("the pause that lasts isn't the first that is looked at: %+v, %v", m, err)
		}
	})
}

// TestMissedTwice: an outage doesn't hide the one before it, nor what was missed in it.
func TestMissedTwice(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newMerchant(t, nil)
		e, _ := b.create(owner, shop.URL)
		first := b.clock.Now().Add(time.Hour)
		for n := range 3 {
			b.clock.Advance(time.Hour)
			b.toggle(e.ID, false)
			b.clock.Advance(time.Hour)
			if n < 2 {
				b.typed(webhook.PaymentSuccessful, 4)
			}
			b.clock.Advance(time.Hour)
			b.toggle(e.ID, true)
		}
		if m, err := b.deliveries.Missed(t.Context(), owner, e.ID); err != nil || m.Count != 8 || !m.Since.Equal(first) {
			t.Errorf("%+v, %v", m, err)
		}
		b.clock.Advance(8 * 24 * time.Hour)
		b.toggle(e.ID, false)
		if m, err := b.deliveries.Missed(t.Context(), owner, e.ID); err != nil || m.Count != 0 {
			t.Errorf("of more than a week ago: %+v, %v", m, err)
		}
	})
}

// TestMissedInMonths: of a long outage what can still be sent is told, by what a
// resend takes, and for a week after it.
func TestMissedInMonths(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newMerchant(t, nil)
		e, _ := b.create(owner, shop.URL)
		b.toggle(e.ID, false)
		b.clock.Advance(time.Hour)
		b.typed(webhook.PaymentSuccessful, 5)
		b.clock.Advance(delivery.KeepBodies + 24*time.Hour)
		b.typed(webhook.PaymentSuccessful, 2)
		b.clock.Advance(time.Hour)
		b.toggle(e.ID, true)
		m, err := b.deliveries.Missed(t.Context(), owner, e.ID)
		if err != nil || m.Count != 2 {
			t.Errorf("%+v, %v", m, err)
		}
		if order, err := b.resends.Create(t.Context(), owner, delivery.Order{EndpointID: e.ID, From: m.Since, Failed: true}); err != nil || order.Total != 2 {
			t.Errorf("%+v, %v", order, err)
		}
		b.clock.Advance(7*24*time.Hour + time.Second)
		if m, err := b.deliveries.Missed(t.Context(), owner, e.ID); err != nil || m.Count != 0 || !m.Since.IsZero() {
			t.Errorf("a week later: %+v, %v", m, err)
		}
	})
}

// TestManyPauses: what was skipped before very many switches is listed all the same.
func TestManyPauses(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newMerchant(t, nil)
		e, _ := b.create(owner, shop.URL)
		for n := range 205 {
			b.toggle(e.ID, false)
			if n == 0 || n == 103 {
				b.clock.Advance(time.Minute)
				b.typed(webhook.PaymentSuccessful, 1)
			}
			b.clock.Advance(time.Minute)
			b.toggle(e.ID, true)
		}
		if got := b.history(e.ID, webhook.Skipped, 10); len(got) != 2 {
			t.Errorf("skipped: %v", got)
		}
	})
}

// TestRotatedTwice (WH-2): every secret that a server may still have signs for a day.
func TestRotatedTwice(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newMerchant(t, nil)
		e, first := b.create(owner, shop.URL)
		secrets := []string{first}
		for range 2 {
			_, secret, err := b.RotateSecret(t.Context(), owner, e.ID)
			if err != nil {
				t.Fatal(err)
			}
			secrets = append(secrets, secret)
		}
		b.emit(1)
		b.step()
		got := shop.requests()[0]
		for i, secret := range secrets {
			by, err := standardwebhooks.NewWebhook(secret)
			if err != nil {
				t.Fatal(err)
			}
			if err := by.VerifyIgnoringTimestamp([]byte(got.body), got.header); err != nil {
				t.Errorf("secret %d: %v", i, err)
			}
		}
		b.clock.Advance(webhook.Overlap + time.Second)
		b.emit(2)
		b.step()
		if n := len(strings.Fields(shop.requests()[1].header.Get("webhook-signature"))); n != 1 {
			t.Errorf("%d signatures a day later", n)
		}
	})
}
