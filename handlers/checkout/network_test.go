package checkout_test

import (
	"net/url"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/handlers/checkout/checkouttest"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// TestNetworkIsChosenOnThePage: a customer chooses among the networks that are on, without a script, and the
// address stays.
func TestNetworkIsChosenOnThePage(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		s.Networks.Domains[scope.Test][money.BSC] = "sandbox-bsc"
		s.Networks.Homes = map[chain.Network]chain.Network{"sandbox-bsc": "sandbox-ethereum"}
		started := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoTether))
		at, b := "/pay/"+started.AccessToken, s.NewBrowser()
		b.Post(at+"/open", nil)
		if a := b.Get(at); strings.Contains(a.Body, `name="network"`) {
			t.Error("the page of a coin with one network offers a choice, want none")
		}
		expect(t, b.Post(at+"/network", url.Values{"network": {"bsc"}}), 422)
		s.FailOn(s.DB.Exec(t.Context()).Create(&models.MethodNetwork{BusinessID: sc.BusinessID, Domain: string(sc.Domain),
			Code: string(money.CryptoTether), Network: "bsc", Enabled: true, UpdatedAt: s.Clock.Now()}).Error)
		expect(t, b.Get(at), 200, "Other networks (1)", "Fee in BNB, usually under 0.10\u00a0USD, final in about 18\u00a0s",
			"Fee in ETH, usually under 2\u00a0USD, final in about 2\u00a0min",
			"In your wallet or exchange choose Ethereum (ERC-20)")
		if a := b.Post(at+"/network", url.Values{"network": {"bsc"}}); a.Status != 303 || a.Location != at {
			t.Fatalf("choosing a network gives %d to %q, want 303 to %s", a.Status, a.Location, at)
		}
		expect(t, b.Get(at), 200, "Network: BNB Smart Chain (BEP-20)", `name="network" value="ethereum"`)
		b.Header["HX-Request"] = "true"
		expect(t, b.Post(at+"/network", url.Values{"network": {"ethereum"}}), 200, "Network: Ethereum (ERC-20)")
		expect(t, b.Post(at+"/network", url.Values{"network": {"moon"}}), 422)
	})
}

// TestMoneyOnANetworkThatIsOff: the page says in every language that the money isn't lost, until a person has dealt
// with it.
func TestMoneyOnANetworkThatIsOff(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		started := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoTether))
		at, b := "/pay/"+started.AccessToken, s.NewBrowser()
		b.Post(at+"/open", nil)
		var p models.Payment
		s.FailOn(s.DB.Read(t.Context()).Where("reference = ?", started.Reference).Take(&p).Error)
		came := models.Transfer{Network: "sandbox-polygon", TxID: "off", Asset: "USDT", Address: p.Address,
			Amount: money.Units(16_641_696), BusinessID: sc.BusinessID, Domain: string(sc.Domain), PaymentID: &p.ID,
			Unmatched: payment.NetworkOff, FirstSeenAt: s.Clock.Now(), CreatedAt: s.Clock.Now(), UpdatedAt: s.Clock.Now()}
		s.FailOn(s.DB.Exec(t.Context()).Create(&came).Error)
		for language, sentence := range map[string]string{"en": "It is not lost", "fr": "ne sont pas perdus",
			"pt": "Não se perderam", "sw": "Hazijapotea", "ha": "Ba su ɓace ba", "ig": "furughị efu", "yo": "Kò sọnù",
			"ar": "لم يضِع المبلغ"} {
			expect(t, b.Get(at+"?lang="+language), 200, "16.641696", "Polygon PoS", sentence)
		}
		s.FailOn(s.DB.Exec(t.Context()).Model(&came).Update("unmatched", payment.AddressNotEntered).Error)
		expect(t, b.Get(at), 200, "16.641696", "where Ama's Shop doesn’t take this payment. Contact Ama's Shop")
		if a := b.Get(at); strings.Contains(a.Body, "not lost") {
			t.Error("the page says that money is not lost at an address that may be somebody else's there")
		}
		s.FailOn(s.DB.Exec(t.Context()).Model(&came).Update("resolution", payment.Refunded).Error)
		if a := b.Get(at); strings.Contains(a.Body, "data-uncredited") {
			t.Error("the page still speaks of money that was sent back")
		}
	})
}

// TestMoneyWhoseTransactionIsHidden: the page says in every language that money arrived whose transaction no node shows,
// and that it is not to be paid again.
func TestMoneyWhoseTransactionIsHidden(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		started := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoEthereum))
		at, b := "/pay/"+started.AccessToken, s.NewBrowser()
		b.Post(at+"/open", nil)
		var p models.Payment
		s.FailOn(s.DB.Read(t.Context()).Where("reference = ?", started.Reference).Take(&p).Error)
		hidden := models.Transfer{Network: p.Network, TxID: "block 7", Asset: "ETH", Address: p.Address,
			Amount: p.Due, BusinessID: sc.BusinessID, Domain: string(sc.Domain), PaymentID: &p.ID,
			Unmatched: payment.NoTransaction, FirstSeenAt: s.Clock.Now(), CreatedAt: s.Clock.Now(), UpdatedAt: s.Clock.Now()}
		s.FailOn(s.DB.Exec(t.Context()).Create(&hidden).Error)
		for language, sentence := range map[string]string{"en": "Don’t pay again", "fr": "Ne payez pas une seconde fois",
			"pt": "Não pague outra vez", "sw": "Usilipe tena", "ha": "Kada ka sake biya", "ig": "Akwụla ụgwọ ọzọ",
			"yo": "Má ṣe sanwó lẹ́ẹ̀kan sí i", "ar": "لا تدفع مرة أخرى"} {
			expect(t, b.Get(at+"?lang="+language), 200, money.ETH.Format(p.Due), "Ethereum", sentence)
		}
		s.FailOn(s.DB.Exec(t.Context()).Model(&hidden).Update("resolution", payment.Refunded).Error)
		if a := b.Get(at); strings.Contains(a.Body, "data-uncredited") {
			t.Error("the page still speaks of money that was sent back")
		}
	})
}
