package dashboard_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"cointill/core/money"
	"cointill/core/send"
	"cointill/internal/testing/servertest"
	"cointill/models"
	"cointill/models/modelstest"
)

// readVersion reads the version of a send that a form has.
func readVersion(a servertest.Answer) string {
	_, after, _ := strings.Cut(a.Body, `name="version" value="`)
	version, _, _ := strings.Cut(after, `"`)
	return version
}

// TestSentInAnotherWayPages (SD-18) says of a ready send that it was sent in another way: the form says what follows,
// takes the reason and a proof, and the send, the list and the audit log say it from then on.
func TestSentInAnotherWayPages(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		v, err := s.Sends.Ask(t.Context(), sc, send.Request{Kind: send.Payout, Method: string(money.CryptoBitcoin),
			Amount: "0.001", Address: anAddress})
		s.FailOn(err)
		at := "/dashboard/sends/" + v.Send.Reference
		lacks(t, b.Get(at), "Sent in another way")
		_, err = s.Sends.Approvals.ApproveInSandbox(t.Context(), sc, v.Send.Reference)
		s.FailOn(err)
		expect(t, b.Get(at), 200, "Sent in another way…")
		form := b.Get(at + "/another-way")
		expect(t, form, 200, "No transaction proves it", anAddress, "0.00100000 BTC")
		lacks(t, form, "was handed to a wallet")
		version := func() string { return readVersion(b.Get(at + "/another-way")) }
		post := func(note, version, password string) servertest.Answer {
			s.Clock.Advance(time.Minute)
			return b.PostFrom(at+"/another-way", at+"/another-way", url.Values{"note": {note}, "version": {version},
				"password": {password}})
		}
		expect(t, post("", version(), servertest.Password), 422, "Must say how it was sent.")
		expect(t, post("In cash", version(), "wrong"), 422, `value="In cash"`)
		expect(t, post("In cash", "1-old", servertest.Password), 409, "Look at it again")
		leads(t, post("In cash", version(), servertest.Password), at)
		expect(t, b.Get(at), 200, "says that it was sent in another way. No transaction of it is known", ": In cash")
		expect(t, b.Get("/dashboard/sends?show=done"), 200, "Sent in another way")
		expect(t, b.Get("/dashboard/audit"), 200, "Send said to be sent in another way")
		lacks(t, b.Get("/dashboard/audit"), "In cash")
		expect(t, b.PostFrom(at, at+"/another-way/back", nil), 409, "enough people have agreed")
		lacks(t, b.Get(at), "Sent in another way…")
	})
}

// TestMarkedSendPage shows a send of which one person says that it was sent in another way, where another must agree.
func TestMarkedSendPage(t *testing.T) {
	s := servertest.New(t, modelstest.Open(t, false, time.Now))
	sc := s.CreateBusiness("Ama's Shop", ama)
	b := s.SignIn(ama)
	v, err := s.Sends.Ask(t.Context(), sc, send.Request{Kind: send.Payout, Method: string(money.CryptoBitcoin),
		Amount: "0.001", Address: anAddress})
	s.FailOn(err)
	_, err = s.Sends.Approvals.ApproveInSandbox(t.Context(), sc, v.Send.Reference)
	s.FailOn(err)
	s.FailOn(s.DB.Exec(t.Context()).Model(&models.Send{}).Where("id = ?", v.Send.ID).Update("approvals", 2).Error)
	at := "/dashboard/sends/" + v.Send.Reference
	version := readVersion(b.Get(at + "/another-way"))
	s.Clock.Advance(time.Minute)
	leads(t, b.PostFrom(at+"/another-way", at+"/another-way", url.Values{"note": {"By bank"}, "version": {version},
		"password": {servertest.Password}}), at)
	page := b.Get(at)
	expect(t, page, 200, "To confirm: sent in another way", "Another owner or admin must agree")
	lacks(t, page, "Withdraw the send", "Sandbox wallet")
	expect(t, b.Get(at+"/another-way"), 200, "said so: “By bank”")
	leads(t, b.PostFrom(at, at+"/another-way/back", nil), at)
	expect(t, b.Get(at), 200, "The send is as it was before", "Withdraw the send", "Sandbox wallet")
}

// TestDroppedSendOffersNoWithdrawal: while a transaction of a failed send may still confirm its page offers to try again
// and not to withdraw or reject it, and it is approved again by itself.
func TestDroppedSendOffersNoWithdrawal(t *testing.T) {
	s := servertest.New(t, modelstest.Open(t, false, time.Now))
	sc := s.CreateBusiness("Ama's Shop", ama)
	b := s.SignIn(ama)
	v, err := s.Sends.Ask(t.Context(), sc, send.Request{Kind: send.Payout, Method: string(money.CryptoBitcoin),
		Amount: "0.001", Address: anAddress})
	s.FailOn(err)
	at := "/dashboard/sends/" + v.Send.Reference
	set := func(status, reason string) {
		s.FailOn(s.DB.Exec(t.Context()).Model(&models.Send{}).Where("id = ?", v.Send.ID).
			Updates(map[string]any{"status": status, "reason": reason}).Error)
	}
	expect(t, b.Get(at), 200, at+"/cancel", at+"/reject")
	expect(t, b.Get("/dashboard/sends/approve?send="+v.Send.Reference), 200, "0.00100000 BTC")
	set("failed", send.Replaced)
	expect(t, b.Get(at), 200, at+"/cancel", at+"/retry", "Try again, or withdraw it.")
	set("failed", send.Dropped)
	expect(t, b.Get(at), 200, at+"/retry", "Wait, or try again.")
	lacks(t, b.Get(at), at+"/cancel")
	set("awaiting_approval", send.SentAgain)
	expect(t, b.Get(at), 200, "by two people where two may approve")
	expect(t, b.Get(at), 200, at+"/reject")
	lacks(t, b.Get(at), at+"/cancel")
	leads(t, b.Get("/dashboard/sends/approve?send="+v.Send.Reference), "/dashboard/sends?show=approve")
}
