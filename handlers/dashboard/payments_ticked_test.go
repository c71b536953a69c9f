package dashboard_test

import (
	"net/url"
	"strings"
	"testing"

	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// TestTickedPayments exports ticked rows and sends their events again; without a tick nothing happens.
func TestTickedPayments(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		references := ordersOf(s, sc)
		b := s.SignIn(ama)
		expect(t, b.Get("/dashboard/payments?currency=NGN"), 200, `name="ref" value="`+references[0]+`"`,
			`<input type="hidden" name="currency" value="NGN"`, "/dashboard/payments/resend?currency=NGN")
		ticked := "?ticked=true&ref=" + references[0] + "&ref=" + references[2]
		expect(t, b.Get("/dashboard/payments/export"+ticked), 200, "2 payments", "2 ticked payments",
			"export.csv?ref="+references[0]+"&amp;ref="+references[2])
		file := b.Get("/dashboard/payments/export.csv" + ticked).Body
		if strings.Contains(file, references[1]) || !strings.Contains(file,
			references[0]) || !strings.Contains(file, references[2]) {
			t.Errorf("the file of two ticked rows is %s", file)
		}
		if n := rows(s, &models.Audit{}, "action = 'payments.exported'"); n != 1 {
			t.Errorf("the audit log has %d exports, want 1", n)
		}
		expect(t, b.Get("/dashboard/audit"), 200, "Transactions exported")
		for _, button := range []string{"", "&do=resend"} {
			leads(t, b.Get("/dashboard/payments/export?ticked=true&currency=NGN"+button), "/dashboard/payments?currency=NGN")
			expect(t, b.Get("/dashboard/payments"), 200, "No row is ticked.")
		}
		expect(t, b.Get("/dashboard/payments/resend?ticked=true"), 200, "No row is ticked.")
		leads(t, b.Get("/dashboard/payments/export"+ticked+"&do=resend"),
			"/dashboard/payments/resend?ref="+references[0]+"&ref="+references[2])
		at := "/dashboard/payments/resend" + ticked
		expect(t, b.Get(at), 409, "No active webhook would receive this.")
		expect(t, b.PostFrom("/dashboard/payments", "/dashboard/payments/resend?ticked=true", nil), 422, "No row is ticked.")

		_, _, err := s.Webhooks.Create(t.Context(), sc, webhook.Create{Name: "Ledger",
			URL: "https://shop.example/hook", Active: true})
		s.FailOn(err)
		var payment models.Payment
		s.FailOn(s.DB.Exec(t.Context()).Where("reference = ?", references[1]).Take(&payment).Error)
		add(s, &models.Event{ID: "evt_ticked", BusinessID: sc.BusinessID, Domain: string(sc.Domain), PaymentID: &payment.ID,
			Number: s.Clock.Now().UnixMicro(), Sequence: 9, Type: webhook.PaymentDeclined, Body: "{}", CreatedAt: s.Clock.Now()})
		at = "/dashboard/payments/resend?ref=" + payment.Reference
		expect(t, b.Get(at), 200, "1 payment", "At most", "Only events that an endpoint did not get")
		answer := b.PostFrom(at, at, url.Values{})
		if answer.Status != 303 || !strings.HasPrefix(answer.Location, "/dashboard/webhooks/resends/rsd_") {
			t.Fatalf("the order is answered %d %s %s, want its page", answer.Status, answer.Location, answer.VisibleText())
		}
		expect(t, b.Get(answer.Location), 200, "Events of 1 chosen payment")
		if n := rows(s, &models.Resend{}, "payments = 1"); n != 1 {
			t.Errorf("%d orders are stored, want 1", n)
		}
		other := s.CreateBusiness("Bayo's Shop", bayo)
		if other.Domain != scope.Test {
			t.Fatal("the other business isn't in the test domain")
		}
		expect(t, s.SignIn(bayo).Get(at), 200, "0 payments")
	})
}
