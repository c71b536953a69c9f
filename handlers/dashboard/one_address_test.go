package dashboard_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// oneAddress is an address that no contract or payment has.
const oneAddress = "0x8ba1f109551bD432803012645Ac136ddd64DBA72"

// TestOneAddressIsEntered: an owner enters one address with their password. The pages say when to use one and
// which not to enter, and every owner gets a mail.
func TestOneAddressIsEntered(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectNetwork(scope.Test, money.Ethereum, "sepolia")
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		const at = "/dashboard/methods/crypto_tether/wallet"
		expect(t, b.Get(at), 200, "one address, or a list of addresses", "needs no sweeping and no gas",
			"Not a deposit address of an exchange")
		expect(t, b.PostFrom(at, at+"/review", url.Values{"key": {strings.ToLower(oneAddress[:41]) + "z"}}), 422,
			"a character may be missing or mistyped")
		expect(t, b.PostFrom(at, at+"/review", url.Values{"key": {"0x0000000000000000000000000000000000000000"}}), 422,
			"belongs to the network itself")
		expect(t, b.PostFrom(at, at+"/review", url.Values{"key": {strings.ToLower(oneAddress)}}), 200, oneAddress,
			"Ethereum sepolia", "Open at once at 20 USD", "in Tether USD", "at most 0.5 % above its price",
			"Not a deposit address of an exchange", "Use this address: it is mine")
		if n := rows(s, &models.Wallet{}, "1 = 1"); n != 0 {
			t.Errorf("looking stored %d wallets, want none", n)
		}
		expect(t, b.PostFrom(at, at, url.Values{"key": {oneAddress}, "password": {"not it, but long"}}), 422, oneAddress)
		s.Clock.Advance(time.Minute) // wrong passwords have to wait
		leads(t, b.PostFrom(at, at, url.Values{"key": {oneAddress}, "password": {servertest.Password}}), at)
		page := b.Get(at)
		expect(t, page, 200, oneAddress, "0 payments", "Open at once at 20 USD")
		if strings.Contains(page.VisibleText(), "What the addresses hold now") {
			t.Error("the page offers a sheet to collect from, want none: there is one address")
		}
		var mails []models.Mail
		s.FailOn(s.DB.Read(t.Context()).Where("kind = 'receiving_changed'").Find(&mails).Error)
		if len(mails) != 1 || !strings.Contains(mails[0].Text, oneAddress) {
			t.Errorf("%d mails tell owners of the change, want 1 with the whole address: %+v", len(mails), mails)
		}
		expect(t, b.Get("/dashboard/methods"), 200, oneAddress)

		v := openTether(s, sc)
		if v.Payment.Address != oneAddress || !v.Payment.ExactAmount {
			t.Errorf("the payment goes to %s, exact: %v; want the one address", v.Payment.Address, v.Payment.ExactAmount)
		}
	})
}

// TestNearestPaymentsAreOffered: money with another amount is listed with the payments whose amounts are nearest,
// however many newer ones there are.
func TestNearestPaymentsAreOffered(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectNetwork(scope.Test, money.Ethereum, "sepolia")
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		const at = "/dashboard/methods/crypto_tether/wallet"
		leads(t, b.PostFrom(at, at, url.Values{"key": {oneAddress}, "password": {servertest.Password}}), at)
		var first payment.View
		for i := range 60 {
			v := openTether(s, sc)
			if i == 0 {
				first = v
			}
		}
		row := models.Transfer{Network: "ethereum-sepolia", TxID: "0x" + strings.Repeat("ab", 32), Asset: "USDT",
			Address: oneAddress, Amount: first.Payment.Due.Sub(money.Units(1)), FirstSeenAt: s.Clock.Now(),
			BusinessID: sc.BusinessID, Domain: string(sc.Domain), Unmatched: payment.OtherAmount}
		s.FailOn(s.DB.Exec(t.Context()).Create(&row).Error)
		expect(t, b.Get("/dashboard/unmatched"), 200, "No payment has this amount")
		page := fmt.Sprintf("/dashboard/unmatched/%d", row.ID)
		shown := b.Get(page)
		expect(t, shown, 200, first.Payment.Reference)
		if n := strings.Count(shown.Body, `name="reference" value="PAY_`); n != 6 {
			t.Errorf("%d payments are offered, want 6", n)
		}
		leads(t, b.PostFrom(page, page+"/attach", url.Values{"reference": {first.Payment.Reference}}),
			"/dashboard/payments/"+first.Payment.Reference)
	})
}

// openTether opens a payment in USDT.
func openTether(s *servertest.Server, sc scope.Scope) payment.View {
	s.T.Helper()
	started := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoTether))
	v, err := s.Payments.OpenByReference(s.T.Context(), sc, started.Reference)
	s.FailOn(err)
	return v
}
