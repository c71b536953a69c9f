package dashboard_test

import (
	"net/url"
	"strings"
	"testing"

	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// TestCloseReversed: what was reversed is marked as dealt with, once, by who may.
func TestCloseReversed(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b, reference := s.SignIn(ama), declined(s, sc)
		at := "/dashboard/payments/" + reference
		expect(t, b.PostFrom(at, at+"/close", nil), 409, "Only a reversed payment can be marked")
		s.UpdatePayment(reference, map[string]any{"status": "successful", "reason": string(payment.ReversedReason), "reversed": true})
		s.SetRole(sc, scope.Finance)
		lacks(t, b.Get(at), "Mark as resolved")
		s.SetRole(sc, scope.Owner)
		page := b.Get(at)
		expect(t, page, 200, "Mark as resolved", "Ask the customer to pay again")
		form := shownForm(page, url.Values{"note": {"=paid <b>anew</b>"}})
		leads(t, b.Post(at+"/close", form), at)
		leads(t, b.Post(at+"/close", form), at) // the same form again
		page = b.Get(at)
		expect(t, page, 200, "=paid &lt;b&gt;anew&lt;/b&gt;", "The timeline shows who resolved it")
		lacks(t, page, "Mark as resolved", "Ask the customer")
		lacks(t, b.Get("/dashboard"), "1 reversed payment")
		if n := rows(s, &models.Audit{}, "action = 'payment.reversal_closed'"); n != 1 {
			t.Errorf("%d rows of the audit log", n)
		}
	})
}

// TestTimelineNamesReversals checks that the timeline calls a reversal and its end by their names,
// not by the state, which stays Successful.
func TestTimelineNamesReversals(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		reference := declined(s, sc)
		s.UpdatePayment(reference, map[string]any{"status": "successful"})
		var p models.Payment
		if err := s.DB.Read(t.Context()).Where("reference = ?", reference).Take(&p).Error; err != nil {
			t.Fatal(err)
		}
		for i, reason := range []payment.Reason{payment.ReversedReason, payment.NoReason} {
			step := models.Step{PaymentID: p.ID, Number: 50 + i, Kind: payment.StepState, From: "successful", To: "successful",
				Reason: string(reason), Remark: "-", Detail: "{}", Actor: "system", At: s.Clock.Now(), CreatedAt: s.Clock.Now()}
			if err := s.DB.Exec(t.Context()).Create(&step).Error; err != nil {
				t.Fatal(err)
			}
		}
		text := s.SignIn(ama).Get("/dashboard/payments/" + reference).VisibleText()
		_, timeline, _ := strings.Cut(text, "Timeline")
		if reversed, restored := strings.Index(timeline, "Reversed"), strings.Index(timeline, "Restored"); reversed < 0 || restored < reversed {
			t.Errorf("the timeline reads %q, want Reversed, then Restored", timeline)
		}
	})
}
