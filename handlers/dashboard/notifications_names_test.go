package dashboard_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"cointill/core/notification"
	"cointill/core/notification/email"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
	mailview "cointill/views/mail"
)

// TestNotificationsNameTheCustomer: the list and the mails say who paid for what, also of a refund that a customer
// named an address for. The name is stored with the payment alone, so an erasure takes it out of all of them at once.
// Another merchant's notification about the same reference has no name.
func TestNotificationsNameTheCustomer(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc, theirs := s.CreateBusiness("Ama's Shop", ama), s.CreateBusiness("Bayo's Shop", bayo)
		customer, reference := zainabPays(t, s, sc)
		s.UpdatePayment(reference, map[string]any{"business_reference": "order-77"})
		v, err := s.Payments.Verify(t.Context(), sc, reference)
		s.FailOn(err)
		add(s, &models.Send{BusinessID: sc.BusinessID, Domain: "test", Reference: "SND_1", BusinessReference: "back-1",
			PaymentID: &v.Payment.ID, Kind: "refund", Status: "cancelled", CreatedAt: s.Clock.Now()})
		endPayments(s)
		s.Clock.Advance(time.Minute)
		b := s.SignIn(ama)
		form := url.Values{"paid": {"instant"}, "declined": {"daily"}, "refund_claimed": {"daily"},
			"unmatched": {"off"}, "endpoint_failing": {"off"}, "coin_unavailable": {"off"}}
		leads(t, b.PostFrom("/dashboard/notifications/settings", "/dashboard/notifications/settings", form),
			"/dashboard/notifications/settings")
		note(s, sc, notification.Paid, reference)
		note(s, sc, notification.Declined, reference)
		note(s, sc, notification.RefundClaimed, "SND_1")
		note(s, theirs, notification.Declined, reference)
		sender := &email.Sender{DB: s.DB, Clock: s.Clock.Now, Mails: s.Mails, Render: mailview.RenderNotification}
		s.FailOn(sender.SendDue(t.Context()))
		s.Clock.Advance(24 * time.Hour)
		s.FailOn(sender.SendDue(t.Context()))
		var mails []models.Mail
		s.FailOn(s.DB.Read(t.Context()).Where("business_id = ? AND kind LIKE 'notification%'", sc.BusinessID).
			Order("id").Find(&mails).Error)
		if len(mails) != 2 {
			t.Fatalf("%d mails are written, want one at once and one of the day", len(mails))
		}
		for _, row := range mails {
			m, err := s.Mails.FindMail(t.Context(), sc, row.ID)
			if err != nil || !strings.Contains(m.Text, zainab) ||
				!strings.Contains(m.Text, "order-77") || strings.Contains(row.Text+row.HTML, zainab) {
				t.Errorf("the mail %s shows %q (error %v), want the customer and the order; stored is %q", row.Kind, m.Text,
					err, row.Text)
			}
		}
		b, other := s.SignIn(ama), s.SignIn(bayo) // the session before has ended
		if n := strings.Count(b.Get("/dashboard/notifications").Body, zainab); n != 3 {
			t.Errorf("the list names the customer %d times, want 3", n)
		}
		expect(t, b.Get("/dashboard/notifications"), 200, "order-77")
		for _, word := range []string{zainab, "order-77"} {
			if strings.Contains(other.Get("/dashboard/notifications").Body, word) {
				t.Errorf("another merchant's list says %q", word)
			}
		}
		at := "/dashboard/customers/" + customer.Code
		leads(t, b.PostFrom(at+"/erase", at+"/erase", url.Values{"password": {servertest.Password}}), at)
		if body := b.Get("/dashboard/notifications").Body; strings.Contains(body, "Zqzainab") || strings.Contains(body, "Zqbello") || !strings.Contains(body, "order-77") {
			t.Error("after the erasure the list still names the customer, or no order")
		}
		for _, row := range mails {
			m, err := s.Mails.FindMail(t.Context(), scope.Scope{BusinessID: sc.BusinessID, Domain: scope.Test,
				Role: scope.Owner}, row.ID)
			if err != nil || strings.Contains(m.Text, "Zq") || strings.Contains(m.Text, "{customer") {
				t.Errorf("after the erasure the mail shows %q (error %v), want no customer", m.Text, err)
			}
		}
	})
}
