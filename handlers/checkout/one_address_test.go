package checkout_test

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"cointill/core/link"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet/oneaddress"
	"cointill/handlers/checkout/checkouttest"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

const oneAddress = "0x8ba1f109551bD432803012645Ac136ddd64DBA72"

// receiveWithOneAddress has a business receive ether and USDT with one address on a test network.
func receiveWithOneAddress(t *testing.T, s *servertest.Server, sc scope.Scope) {
	t.Helper()
	receiveWith(t, s, sc, oneAddress)
}

// receiveWith has a business receive ether and USDT with a key, a list or one address on a test network.
func receiveWith(t *testing.T, s *servertest.Server, sc scope.Scope, key string) {
	t.Helper()
	s.ConnectNetwork(scope.Test, money.Ethereum, "sepolia")
	owner := sc
	owner.Role = scope.Owner
	s.FailOn(s.DB.Write(t.Context(), func(tx *models.Tx) error {
		_, err := s.Wallets.Use(tx, owner, money.Ethereum, key, "", "user:1")
		return err
	}))
}

// TestExactAmountIsShown: the page of a payment to one address says why the last digits matter, and the button, the
// link and the code have the exact amount.
func TestExactAmountIsShown(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		receiveWithOneAddress(t, s, sc)
		for _, coin := range []money.Coin{money.USDT, money.ETH} {
			started := s.InitiatePayment(sc, servertest.NewRequest(coin.Info().Method))
			at, b := "/pay/"+started.AccessToken, s.NewBrowser()
			expect(t, b.Post(at+"/open", nil), 303)
			v, err := s.Payments.Verify(t.Context(), sc, started.Reference)
			s.FailOn(err)
			exact := coin.Format(v.Payment.Due)
			page := b.Get(at)
			expect(t, page, 200, "Send exactly this amount with all its digits", exact+" "+string(coin),
				`data-copy="`+exact+`"`)
			units := map[money.Coin]string{money.USDT: "uint256=", money.ETH: "value="}[coin] + v.Payment.Due.String()
			opens := regexp.MustCompile(`id="open-wallet"[^>]*href="([^"]+)"`).FindStringSubmatch(page.Body)
			if len(opens) != 2 || !strings.HasSuffix(html.UnescapeString(opens[1]), units) {
				t.Errorf("the wallet is opened by %q, want %s at its end", opens, units)
			}
			if got := v.Record().Transaction.ChargedAmountInCrypto; got != exact {
				t.Errorf("verify says that %s is charged, the page %s", got, exact)
			}
			expect(t, b.Get(at+"?lang=fr"), 200, "avec tous ses chiffres")
		}
	})
}

// TestStrangersTakeFewAmounts (ETH-17): a stranger who opens payments takes no more amounts than a link may be used,
// and a quarter of those near the price. Then the page says so, and payments that were opened can still be paid.
func TestStrangersTakeFewAmounts(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		receiveWithOneAddress(t, s, sc)
		limit := int64(5)
		free, bounded := aLink(t, s, sc, link.Draft{}), aLink(t, s, sc, link.Draft{UsageLimit: &limit})
		form := customerScope()
		form.Set("payment_method", string(money.CryptoTether))
		held := func() (n int64) {
			t.Helper()
			s.FailOn(s.DB.Read(t.Context()).Model(&models.HeldAmount{}).Count(&n).Error)
			return n
		}
		b := s.NewBrowser()
		open := func(code string) (at string, status int) {
			t.Helper()
			started := b.Post("/l/"+code, form)
			if started.Status != 303 {
				return "", started.Status
			}
			at = strings.TrimPrefix(started.Location, servertest.Base)
			return at, b.Post(at+"/open", nil).Status
		}
		first := ""
		for i := range 8 {
			at, status := open(bounded.Code)
			if want := map[bool]int{true: 303, false: 410}[i < 5]; status != want {
				t.Errorf("use %d of a link for 5 is answered with %d, want %d", i+1, status, want)
			}
			if i == 0 {
				first = at
			}
		}
		if n := held(); n != 5 {
			t.Errorf("a link that can be used 5 times took %d amounts", n)
		}
		s.Clock.Advance(time.Minute)
		last, status := "", 0
		for i := 0; i < 150 && status != 503; i++ {
			if i%25 == 24 {
				s.Clock.Advance(time.Minute)
			}
			last, status = open(free.Code)
		}
		var waiting models.Payment
		s.FailOn(s.DB.Read(t.Context()).Order("id DESC").Limit(1).Take(&waiting).Error)
		share := int64(len(oneaddress.ListAmounts(money.USDT, waiting.Due)) / 4)
		if n := held(); n != share || share <= 5 || share >= 150 || status != 503 {
			t.Errorf("one client holds %d amounts and is answered with %d, want %d, a quarter, and 503", n, status, share)
		}
		s.Clock.Advance(time.Minute)
		expect(t, b.Post(last+"/open", nil), 503, "Too many payments of about this amount are open")
		expect(t, b.Get(first), 200, "Send exactly this amount")
	})
}

// TestUsedUpListIsNoOutage: a customer for whom the merchant's list has no address left is told so, in every language,
// and not that the network can't be reached.
func TestUsedUpListIsNoOutage(t *testing.T) {
	checkouttest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", "ama@shop.example")
		receiveWith(t, s, sc, oneAddress+"\n0x52908400098527886E0F7030069857D2E4169EE7")
		open := func(language string) servertest.Answer {
			at := "/pay/" + s.InitiatePayment(sc, servertest.NewRequest(money.CryptoEthereum)).AccessToken
			return s.NewBrowser().Post(at+"/open?lang="+language, nil)
		}
		for range 2 {
			expect(t, open("en"), 303)
		}
		for language, sentence := range map[string]string{"en": "has no address left", "fr": "n'a plus d'adresse",
			"pt": "já não tem um endereço", "sw": "hana anwani iliyobaki", "ha": "sauran adireshin", "ig": "enweghịzi adreesị",
			"yo": "kò ní àdírẹ́sì", "ar": "لم يبقَ"} {
			expect(t, open(language), 503, sentence)
		}
	})
}
