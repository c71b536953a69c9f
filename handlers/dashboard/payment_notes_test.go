package dashboard_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"cointill/core/fault"
	"cointill/core/money"
	notes "cointill/core/payment/note"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// TestNotesOfPayment: members write notes about a payment, which its page lists as plain text, the newest last, with
// who wrote them and when, in the business's time zone. Each is in the audit log, which doesn't repeat its text.
func TestNotesOfPayment(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		s.FailOn(s.DB.Exec(t.Context()).Model(&models.Business{}).Where("id = ?", sc.BusinessID).
			Update("time_zone", "Asia/Tokyo").Error)
		reference := declined(s, sc)
		at, b := "/dashboard/payments/"+reference, s.SignIn(ama)
		s.SetRole(sc, scope.Finance)
		page := b.Get(at)
		expect(t, page, 200, "Add a note…", at+"/notes", "changed or deleted")
		form := shownForm(page, url.Values{"text": {" Called <b>Kofi</b>:\r\n\"pays\ttomorrow\" 👩‍💻 "}})
		leads(t, b.Post(at+"/notes", form), at)
		leads(t, b.Post(at+"/notes", form), at) // the same form again
		expect(t, b.Get(at), 200, "The note was added.")
		leads(t, b.PostFrom(at, at+"/notes", url.Values{"text": {"Second"}}), at)
		page = b.Get(at)
		expect(t, page, 200, "Called &lt;b&gt;Kofi&lt;/b&gt;:\n&#34;pays tomorrow&#34; 👩‍💻<", "whitespace-pre-line",
			s.Clock.Now().In(time.FixedZone("Tokyo", 9*3600)).Format("2 Jan 2006, 15:04"))
		lacksMarkup(t, page, "<b>Kofi</b>")
		text := page.VisibleText()
		if first, second := strings.Index(text, "Called"), strings.Index(text, "Second"); first < 0 || second < first {
			t.Errorf("the notes stand at %d and %d, want the newest last", first, second)
		}
		var written []models.PaymentNote
		s.FailOn(s.DB.Exec(t.Context()).Order("id").Find(&written).Error)
		if len(written) != 2 || !strings.HasPrefix(written[0].Actor, "user:") || written[0].Domain != "test" {
			t.Errorf("the notes are %+v, want two by a member in test", written)
		}
		var acts []models.Audit
		s.FailOn(s.DB.Exec(t.Context()).Where("action = 'payment.note_added'").Order("id").Find(&acts).Error)
		if len(acts) != 2 || acts[0].Subject != reference || acts[0].Actor != written[0].Actor ||
			acts[1].Detail != `{"note":"2"}` {
			t.Errorf("the audit log has %+v, want a row for each note with its number", acts)
		}
		s.SetRole(sc, scope.Owner)
		expect(t, b.Get("/dashboard/audit"), 200, "Note about a payment added")
		lacks(t, b.Get("/dashboard/audit"), "tomorrow")
		expect(t, b.Get(at+"?lang=fr"), 200, "Called")
	})
}

// TestNotesAreBounded: a note has 1 to 2,000 characters, none of them hidden, and a payment has at most 100 notes. The
// page of a refused note names the field and keeps what was typed.
func TestNotesAreBounded(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		reference := declined(s, sc)
		at, b := "/dashboard/payments/"+reference, s.SignIn(ama)
		add := func(text string) servertest.Answer { return b.PostFrom(at, at+"/notes", url.Values{"text": {text}}) }
		expect(t, add(" \r\n\t "), 422, "Is required.", `id="f-text-error"`, `aria-invalid="true"`, "<details id=\"add-note\" class=\"more\" open>")
		expect(t, add("ab\u202ec"), 422, "May not hold invisible or control characters.")
		expect(t, add(strings.Repeat("é", 2001)), 422, "Must not be longer than 2,000 characters.", strings.Repeat("é", 2001))
		expect(t, add(strings.Repeat("é", 1999)+"\r\n"+"é"), 422, "Must not be longer than") // a break is one character
		if n := rows(s, &models.PaymentNote{}, "1 = 1"); n != 0 {
			t.Errorf("%d notes were written, want none", n)
		}
		leads(t, add(strings.Repeat("é", 1998)+"\r\n"+"é"), at)
		var first models.PaymentNote
		s.FailOn(s.DB.Exec(t.Context()).Take(&first).Error)
		more := make([]models.PaymentNote, 98)
		for i := range more {
			more[i] = first
			more[i].ID, more[i].Note = 0, "More"
		}
		s.FailOn(s.DB.Exec(t.Context()).Create(&more).Error)
		leads(t, add("The hundredth"), at)
		lacks(t, b.Get(at), "Add a note…")
		expect(t, b.Get(at), 200, "The hundredth")
		expect(t, add("One more"), 409, "This payment has 100 notes already")
		if n := rows(s, &models.PaymentNote{}, "payment_id = ?", first.PaymentID); n != 100 {
			t.Errorf("the payment has %d notes, want 100", n)
		}
	})
}

// TestNotesOfOthers: nobody writes a note about another business's payment, or about one of the other domain, and
// roles that may not act on payments are refused.
func TestNotesOfOthers(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc, other := s.CreateBusiness("Ama's Shop", ama), s.CreateBusiness("Bayo's Shop", bayo)
		theirs := s.InitiatePayment(other, servertest.NewRequest(money.CryptoBitcoin)).Reference
		elsewhere := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin)).Reference
		s.UpdatePayment(elsewhere, map[string]any{"domain": "live"})
		mine, writer := declined(s, sc), notes.Service{DB: s.DB, Clock: s.Clock.Now}
		b := s.SignIn(ama)
		for _, reference := range []string{theirs, elsewhere, "PAY_NOBODYS"} {
			posted := b.PostFrom("/dashboard/payments/"+mine, "/dashboard/payments/"+reference+"/notes", url.Values{"text": {"Not mine"}})
			expect(t, posted, 404)
			if _, err := writer.Add(t.Context(), sc, reference, "Not mine"); fault.KindOf(err) != fault.NotFound {
				t.Errorf("a note about %s is answered with %v, want that there is no such payment", reference, err)
			}
		}
		form := asking(t, b, scope.Live)
		form.Set("text", "As a developer")
		s.SetRole(sc, scope.Developer)
		expect(t, b.Post("/dashboard/payments/"+elsewhere+"/notes", form), 403)
		form = askingAs(t, s, sc, b, scope.Till, scope.Test)
		form.Set("text", "At the till")
		expect(t, b.Post("/dashboard/payments/"+mine+"/notes", form), 403)
		if n := rows(s, &models.PaymentNote{}, "1 = 1"); n != 0 {
			t.Errorf("%d notes were written, want none", n)
		}
	})
}

// TestNotesStayInside: the receipt and the export of a payment have none of its notes.
func TestNotesStayInside(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		started := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
		at, b := "/dashboard/payments/"+started.Reference, s.SignIn(ama)
		leads(t, b.PostFrom(at, at+"/notes", url.Values{"text": {"Inside only"}}), at)
		expect(t, b.Get(at), 200, "Inside only")
		lacks(t, b.Get(at+"/receipt"), "Inside only")
		lacks(t, b.Get("/dashboard/payments/export.csv"), "Inside only")
	})
}

// TestNotesOfErasedCustomer: the erasure of a customer replaces their names and address in notes, and keeps the rest.
func TestNotesOfErasedCustomer(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		customer, reference := zainabPays(t, s, sc)
		endPayments(s)
		at, b := "/dashboard/payments/"+reference, s.SignIn(ama)
		leads(t, b.PostFrom(at, at+"/notes", url.Values{"text": {"Zqzainab wrote from " + zainabEmail + ":\nrefund 7 USD"}}), at)
		erase := "/dashboard/customers/" + customer.Code + "/erase"
		leads(t, b.PostFrom(erase, erase, url.Values{"password": {servertest.Password}}), strings.TrimSuffix(erase, "/erase"))
		for _, where := range findName(t, s) {
			t.Errorf("the erased customer stands in %s", where)
		}
		expect(t, b.Get(at), 200, "Erased wrote from "+strings.ToLower(customer.Code)+"@erased.invalid:\nrefund 7 USD")
	})
}
