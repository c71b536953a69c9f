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
		if err := b.DB.Read(t.Context()).Find(&audit).Error; err != nil || len(audit) != 1 {
			t.Fatal(audit, err)
		}
		if a := audit[0]; a.Actor != "system" || a.Action != "webhook.switched_off" || a.Subject != e.ID || !strings.Contains(a.Detail, "5 days") {
			t.Errorf("%+v", a)
		}
	})
}
