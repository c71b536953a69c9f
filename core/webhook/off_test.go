package webhook_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cointill/core/receipt"
	"cointill/core/webhook"
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
	b.Mails = &receipt.Service{DB: b.DB, Clock: b.clock.Now}
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
			t.Fatal(audit, err)
		}
		if a := audit[0]; a.Actor != "system" || a.Action != "webhook.switched_off" || a.Subject != e.ID || !strings.Contains(a.Detail, "5 days") {
			t.Errorf("%+v", a)
		}
	})
}

// TestSwitchedOffCancels: what waits for its next attempt ends with the switch, and is missed.
func TestSwitchedOffCancels(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newMerchant(t, status(500))
		e, _ := b.create(owner, shop.URL)
		b.emit(1)
		b.step()
		off := false
		if _, err := b.Update(t.Context(), owner, e.ID, webhook.Change{Active: &off}); err != nil {
			t.Fatal(err)
		}
		if d := b.only(e.ID); d.State != webhook.Cancelled || d.Attempt != 1 || d.LastError != "The webhook was inactive." {
			t.Errorf("%+v", d)
		}
		if m, err := b.Missed(t.Context(), owner, e.ID); err != nil || m.Count != 1 {
			t.Errorf("%+v, %v", m, err)
		}
	})
}

// TestAudit: who changed what of a webhook can be read afterwards, without what is secret.
func TestAudit(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		e, _ := b.create(owner, "https://shop.example/hook")
		url, headers := "https://other.example/hook", []webhook.Header{{Name: "X-Key", Value: "hidden"}}
		if _, err := b.Update(t.Context(), owner, e.ID, webhook.Change{URL: &url, Headers: &headers}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.RotateSecret(t.Context(), owner, e.ID); err != nil {
			t.Fatal(err)
		}
		if err := b.Delete(t.Context(), owner, e.ID); err != nil {
			t.Fatal(err)
		}
		var rows []models.Audit
		if err := b.DB.Read(t.Context()).Where("subject = ?", e.ID).Order("id").Find(&rows).Error; err != nil || len(rows) != 4 {
			t.Fatal(rows, err)
		}
		for i, want := range []string{"webhook.created", "webhook.changed", "webhook.secret_rotated", "webhook.deleted"} {
			if rows[i].Action != want || rows[i].Actor != owner.Actor || strings.Contains(rows[i].Detail, "hidden") {
				t.Errorf("%+v", rows[i])
			}
		}
		if !strings.Contains(rows[1].Detail, "other.example") || !strings.Contains(rows[1].Detail, "X-Key") {
			t.Errorf("%+v", rows[1])
		}
	})
}
