package dashboard_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/claim"
	"cointill/core/payment/list"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// untagged is money that came without a tag, the same as a payment asks for.
func untagged(s *servertest.Server, sc scope.Scope, txid string, asked models.Payment) models.Transfer {
	s.T.Helper()
	height := int64(1)
	t := models.Transfer{Network: asked.Network, TxID: txid, Asset: asked.Coin, Address: asked.Address, Amount: asked.Due, Height: &height, BusinessID: sc.BusinessID, Domain: "test",
		Unmatched: payment.MissingTag, FirstSeenAt: s.Clock.Now(), CreatedAt: s.Clock.Now(), UpdatedAt: s.Clock.Now()}
	s.FailOn(s.DB.Exec(s.T.Context()).Create(&t).Error)
	return t
}

// TestOwnerOfTheAddressIsOfferedFirst: of two payments that want the same amount the one whose address received the money
// is offered first and marked, and attaching it to the other one warns. The one whose customer named the transaction
// comes before newer ones.
func TestOwnerOfTheAddressIsOfferedFirst(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		var opened [3]payment.View
		var tokens [3]string
		for i := range opened {
			started := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoRipple))
			v, err := s.Payments.Open(t.Context(), started.AccessToken, "", "")
			s.FailOn(err)
			opened[i], tokens[i] = v, started.AccessToken
			s.Clock.Advance(time.Second)
		}
		owner, named, newest := opened[0].Payment, opened[1].Payment, opened[2].Payment
		hash := strings.Repeat("ab", 32)
		s.FailOn((&claim.Service{Payments: s.Payments}).Note(t.Context(), tokens[1], "0x"+hash))
		one := untagged(s, sc, hash, newest)
		s.FailOn(s.DB.Exec(t.Context()).Model(&one).Update("payment_id", owner.ID).Error)

		at := "/dashboard/unmatched/" + fmt.Sprint(one.ID)
		seen := b.Get(at)
		expect(t, seen, 200, "The money came to this payment’s address.", "Its customer says to have paid with this transaction.")
		_, offered, _ := strings.Cut(seen.Body, "Possible payments")
		first, second, third := strings.Index(offered, owner.Reference), strings.Index(offered, named.Reference),
			strings.Index(offered, newest.Reference)
		if first < 0 || second < first || third < second {
			t.Errorf("the owner, the named one and the newest are offered at %d, %d and %d, want that order", first, second, third)
		}
		warning := "The money came to the address of another payment, " + owner.Reference
		expect(t, b.PostFrom(at, at+"/attach/review", url.Values{"reference": {newest.Reference}}), 200, warning)
		lacks(t, b.PostFrom(at, at+"/attach/review", url.Values{"reference": {owner.Reference}}), "came to the address of another payment")
	})
}

// TestUnmatchedIsDealtWith: what came without a tag is attached to the payment
// that it is for, or marked as refunded; each once, and seen afterwards.
func TestUnmatchedIsDealtWith(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		started := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoRipple))
		opened, err := s.Payments.Open(t.Context(), started.AccessToken, "", "")
		s.FailOn(err)
		hash := strings.Repeat("ab", 32)
		one, two := untagged(s, sc, hash, opened.Payment), untagged(s, sc, strings.Repeat("ef", 32), opened.Payment)
		expect(t, b.Get("/dashboard/unmatched"), 200, "No destination tag", "2 transfers", hash)
		expect(t, b.Get("/dashboard/unmatched"), 200, fmt.Sprintf(`<a class="a num font-semibold" href="/dashboard/unmatched/%d">`, one.ID))
		expect(t, b.Get("/dashboard/unmatched?show=attached"), 200, "No attached transfers yet")

		at := "/dashboard/unmatched/" + fmt.Sprint(one.ID)
		expect(t, b.Get(at), 200, one.UnmatchedID(), "Possible payments", started.Reference, "exactly that amount", "Or mark it as refunded")
		expect(t, b.PostFrom(at, at+"/attach/review", url.Values{"reference": {"<b>PAY_NOBODYS"}}), 422, "No payment here has this reference", "&lt;b&gt;PAY_NOBODYS")
		expect(t, b.PostFrom(at, at+"/attach/review", nil), 422, "Is required")
		named := url.Values{"reference": {started.Reference}}
		review := b.PostFrom(at, at+"/attach/review", named)
		expect(t, review, 200, "Attach this transfer?", "The payment becomes processing", "Your webhooks are notified.")
		expect(t, b.Get(at), 200, "No destination tag") // nothing has happened yet
		sent, page := shownForm(review, named), "/dashboard/payments/"+started.Reference
		leads(t, b.Post(at+"/attach", sent), page)
		leads(t, b.Post(at+"/attach", sent), page)
		expect(t, b.Get(page), 200, "Processing", "Transfer attached", "Attached manually", hash)
		expect(t, b.PostFrom(at, at+"/attach", named), 409, "was already attached to a payment")
		expect(t, b.Get("/dashboard/unmatched?show=attached"), 200, "Attached", "No destination tag", started.Reference)
		expect(t, b.Get(at), 200, "A team member attached it to a payment.")

		other := "/dashboard/unmatched/" + fmt.Sprint(two.ID)
		expect(t, b.PostFrom(other, other+"/refund/review", nil), 422, "say here how the money was sent back")
		expect(t, b.PostFrom(other, other+"/refund/review", url.Values{"hash": {two.TxID}}), 422, "This is the transaction that brought the money", two.TxID)
		note := url.Values{"note": {"Sent to the exchange"}}
		sure := b.PostFrom(other, other+"/refund/review", note)
		expect(t, sure, 200, "Mark this transfer as refunded?", two.TxID, "Sent to the exchange", "can no longer be attached")
		expect(t, b.Get(other), 200, "No destination tag") // nothing has happened yet
		back := shownForm(sure, note)
		leads(t, b.Post(other+"/refund", back), other)
		leads(t, b.Post(other+"/refund", back), other)
		expect(t, b.Get(other), 200, "Refunded", "Sent to the exchange")
		expect(t, b.PostFrom(other, other+"/refund/review", note), 409, "sent back")
		expect(t, b.Get("/dashboard/unmatched"), 200, "No unmatched transfers")
		expect(t, b.Get("/dashboard/unmatched?show=refunded"), 200, "Refunded")
		if n := rows(s, &models.Audit{}, "action IN ('transfer.attached', 'transfer.refund_recorded')"); n != 2 {
			t.Errorf("%d audits", n)
		}
		expect(t, b.Get("/dashboard/unmatched/x"), 404)
		s.SetRole(sc, scope.Finance)
		foreign := opened.Payment
		foreign.Coin = "OTHER"
		unlisted := untagged(s, sc, strings.Repeat("bb", 32), foreign)
		s.SetRole(sc, scope.Owner)
		alone := b.Get("/dashboard/unmatched/" + fmt.Sprint(unlisted.ID))
		expect(t, alone, 200, "Mark as refunded")
		lacks(t, alone, "Or mark")
		s.SetRole(sc, scope.Finance)
		third := untagged(s, sc, strings.Repeat("aa", 32), opened.Payment)
		seen := b.Get("/dashboard/unmatched/" + fmt.Sprint(third.ID))
		expect(t, seen, 200, "An owner or an admin resolves it")
		lacks(t, seen, "/attach", "Mark as refunded")
	})
}

// TestUnmatchedShowsOpenRefund checks that a transfer with an open or a complete refund leads to its send, and can be
// neither marked as refunded nor attached.
func TestUnmatchedShowsOpenRefund(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b, n := s.SignIn(ama), followBitcoin(s)
		reference := strings.TrimPrefix(n.payPayment(b, sc), "/dashboard/payments/")
		paid, err := s.Payments.Verify(t.Context(), sc, reference)
		s.FailOn(err)
		transfer := untagged(s, sc, strings.Repeat("ab", 32), paid.Payment)
		page := "/dashboard/unmatched/" + fmt.Sprint(transfer.ID)
		note := url.Values{"note": {"Sent to the exchange"}}
		sure := shownForm(b.PostFrom(page, page+"/refund/review", note), note)
		form := "/dashboard/sends/new?transfer=" + fmt.Sprint(transfer.ID)
		ask := func() string {
			return b.PostFrom(form, "/dashboard/sends", url.Values{"transfer": {fmt.Sprint(transfer.ID)},
				"amount": {"0.00000600"}, "address": {anAddress}}).Location
		}
		refused := func(send string) {
			t.Helper()
			shown := b.Get(page)
			expect(t, shown, 200, send, "Ask for a refund")
			lacks(t, shown, "Mark as refunded", "mark it as refunded", "Attach to a payment", "An owner or an admin resolves it")
			expect(t, b.PostFrom(page, page+"/refund/review", note), 409, "A refund of this transfer is open or complete")
			expect(t, b.Post(page+"/refund", sure), 409, "A refund of this transfer is open or complete")
			expect(t, b.PostFrom(page, page+"/attach/review", url.Values{"reference": {reference}}), 409,
				"A refund of this transfer is open or complete")
		}
		withdrawn := ask()
		expect(t, b.Get("/dashboard/unmatched"), 200, "Refund open", `href="`+withdrawn+`"`)
		refused(withdrawn)
		leads(t, b.PostFrom(withdrawn, withdrawn+"/cancel", nil), withdrawn)
		shown := b.Get(page)
		expect(t, shown, 200, "Or mark it as refunded")
		lacks(t, shown, withdrawn)

		done := ask()
		s.Clock.Advance(time.Minute)
		leads(t, b.PostFrom(done, done+"/approve", url.Values{"version": {hiddenValue(b.Get(done), "version")},
			"password": {servertest.Password}}), done)
		leads(t, b.PostFrom(done, done+"/simulate", url.Values{"scenario": {"exact"}}), done)
		n.pass(90 * time.Second)
		expect(t, b.Get("/dashboard/unmatched"), 200, "Partly refunded", `href="`+done+`"`)
		refused(done)
		again := ask()
		expect(t, b.Get("/dashboard/unmatched"), 200, "Refund open", `href="`+again+`"`)
		s.SetRole(sc, scope.Finance)
		expect(t, b.Get(page), 200, again)
	})
}

// TestCustomerPages finds customers, and shows what one of them has paid.
func TestCustomerPages(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		expect(t, b.Get("/dashboard/customers"), 200, "No customers yet")
		r := servertest.NewRequest(money.CryptoBitcoin)
		paid := s.InitiatePayment(sc, r).Reference
		s.UpdatePayment(paid, map[string]any{"status": "successful"})
		r.Email, r.FirstName, r.LastName = "ola@example.com", "Ọlá", "Adéyemí"
		s.InitiatePayment(sc, r)
		expect(t, b.Get("/dashboard/customers"), 200, "Ngozi Okafor", "Ọlá Adéyemí", "2 customers")
		found := b.Get("/dashboard/customers?q=adeyemi")
		expect(t, found, 200, "ola@example.com", "1 customer")
		lacks(t, found, "ngozi@example.com")
		expect(t, b.Get("/dashboard/customers?q=%3Cb%3E%00"), 200, "No customers found for “<b>”")
		leads(t, b.Get("/dashboard/customers?q=a&after=CUS_NOBODY"), "/dashboard/customers?q=a")
		list, _, err := s.Lists.Customers(t.Context(), sc, list.CustomerFilter{Query: "ngozi", Limit: 1})
		s.FailOn(err)
		expect(t, b.Get("/dashboard/customers/"+list[0].Code), 200, "Ngozi Okafor", "₦5,000.00", "100 %", "1 of 1 completed", paid, "/dashboard/payments?q=ngozi%40example.com")
		expect(t, b.Get("/dashboard/customers/CUS_NOBODY"), 404)
		expect(t, b.Get("/dashboard/payments/"+paid), 200, "/dashboard/customers/"+list[0].Code)
	})
}
