package dashboard_test

import (
	"context"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/system"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

const goingLiveAt = "/dashboard/going-live"

// sampleField is what the field for a key or an account holds.
var sampleField = regexp.MustCompile(`(?s)name="key"[^>]*(?:value="([^"]+)"|>([^<]+)</textarea>)`)

// TestWalletsAreRehearsedInTheSandbox: every coin's wizard takes the sample key that it shows, asks for the
// password, and stores nothing but that it was rehearsed.
func TestWalletsAreRehearsedInTheSandbox(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		expect(t, b.Get(goingLiveAt), 200, "Not rehearsed yet", "1 of 5 steps", "By the operator of this server")
		for _, coin := range money.Coins() {
			at := "/dashboard/methods/" + string(coin.Method) + "/wallet"
			first := b.Get(at)
			expect(t, first, 200, "This is a rehearsal")
			found := sampleField.FindStringSubmatch(first.Body)
			if found == nil {
				t.Fatalf("%s: the form holds no sample key:\n%s", coin.Coin, first.VisibleText())
			}
			key := url.Values{"key": {strings.TrimSpace(found[1] + found[2])}}
			expect(t, b.PostFrom(at, at+"/review", key), 200, "This is a rehearsal", "Here nothing changes")
			key.Set("password", "not the passphrase")
			expect(t, b.PostFrom(at, at, key), 422, "This isn't your password.")
			s.Clock.Advance(time.Minute)
			key.Set("password", servertest.Password)
			leads(t, b.PostFrom(at, at, key), goingLiveAt)
		}
		page := b.Get(goingLiveAt)
		expect(t, page, 200, "wallet is rehearsed", "Rehearse again", "2 of 5 steps done")
		if strings.Contains(page.VisibleText(), "Not rehearsed yet") {
			t.Errorf("after all coins, the page says %q", page.VisibleText())
		}
		if n := rows(s, &models.Wallet{}, "1 = 1"); n != 0 {
			t.Errorf("rehearsals stored %d wallets, want 0", n)
		}
		if n := rows(s, &models.Audit{}, "action = 'wallet.rehearsed'"); n != int64(len(money.Coins())) {
			t.Errorf("%d rehearsals are in the audit log, want %d", n, len(money.Coins()))
		}
		expect(t, b.PostFrom(walletAt, reviewAt,
			url.Values{"key": {"xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi"}}), 422, "looks like a private key")
	})
}

// TestRealWalletIsNotRehearsed: where a real network serves a coin, the wizard sets the wallet up.
func TestRealWalletIsNotRehearsed(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectNetwork(scope.Test, money.Bitcoin, "regtest")
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		use(t, b, tpub)
		if n, steps := rows(s, &models.Wallet{}, "active"), rows(s, &models.GoingLiveStep{}, "1 = 1"); n != 1 || steps != 0 {
			t.Errorf("%d wallets and %d rehearsals are stored, want 1 and 0", n, steps)
		}
		expect(t, b.Get(goingLiveAt), 200, "bitcoin-regtest", "Set up", "2 of 5 steps done")
	})
}

// TestTestPaymentIsFollowed: the checklist starts the smallest payment that the coin's network carries, once for a
// form, and shows its progress.
func TestTestPaymentIsFollowed(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		form := url.Values{"method": {"crypto_ripple"}, "currency": {"KES"}, "once": {"once_1"}}
		for range 2 {
			leads(t, b.PostFrom(goingLiveAt, goingLiveAt+"/payment", form), goingLiveAt+"#step-payment")
		}
		var made []models.Payment
		s.FailOn(s.DB.Read(t.Context()).Where("business_reference LIKE 'TRIAL_%'").Find(&made).Error)
		if len(made) != 1 || made[0].Amount != 1 || made[0].CustomerEmail != ama {
			t.Fatalf("test payments are %+v, want one of 1 KES by %s", made, ama)
		}
		expect(t, b.Get(goingLiveAt), 200, "Waiting for the payment", "KSh 1.00", "Open the payment page")
		_, err := s.Payments.OpenByReference(t.Context(), sc, made[0].Reference)
		s.FailOn(err)
		s.FailOn(s.DB.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", made[0].ID).Update("status",
			"successful").Error)
		expect(t, b.Get(goingLiveAt), 200, "The payment is confirmed", "2 of 5 steps done")

		leads(t, b.PostFrom(goingLiveAt, goingLiveAt+"/payment", url.Values{"method": {"crypto_bitcoin"},
			"currency": {"KES"}}), goingLiveAt+"#step-payment")
		var last models.Payment
		s.FailOn(s.DB.Read(t.Context()).Order("id DESC").Take(&last).Error)
		if coin := money.BTC.Info(); last.Due.Cmp(money.Units(coin.DustLimit)) < 0 {
			t.Errorf("the test payment of bitcoin is %s, below %d", last.Due, coin.DustLimit)
		}
		expect(t, b.PostFrom(goingLiveAt, goingLiveAt+"/payment", url.Values{"method": {"crypto_gold"},
			"currency": {"KES"}}), 422, "Must be one of")
	})
}

// TestNodesAreTestedByAButton: the button says how many nodes of the domain answer and at which block, without their
// names, and asks them once in five seconds.
func TestNodesAreTestedByAButton(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectNetwork(scope.Live, money.Bitcoin, "mainnet")
		s.CreateBusiness("Ama's Shop", ama)
		asked, second := 0, ""
		s.System.Networks = append(s.System.Networks, system.Network{Name: "bitcoin-mainnet", Domain: scope.Live,
			Nodes: func(context.Context) []chain.NodeStatus {
				asked++
				return []chain.NodeStatus{{Host: "secret.example:8332", Height: 870112},
					{Host: "other.example:8332", Problem: second}}
			}})
		b := s.SignIn(ama)
		test := func() servertest.Answer { return b.PostFrom(goingLiveAt, goingLiveAt+"/nodes", nil) }
		expect(t, test(), 200, "the simulated network answers")
		asking(t, b, scope.Live)
		second = "it is still syncing"
		page := test()
		expect(t, page, 200, "1 of 2 nodes answered, at block 870,112", "there is no node to ask")
		if strings.Contains(page.Body, "secret.example") || asked != 1 {
			t.Errorf("the nodes were asked %d times, want once; the page names a node: %v", asked,
				strings.Contains(page.Body, "secret.example"))
		}
		s.Clock.Advance(time.Minute)
		test()
		if asked != 2 {
			t.Errorf("after a minute, the nodes were asked %d times, want 2", asked)
		}
	})
}

// TestSwitchNeverSaysOnForWhatCannotBePaid: a method that is on without a wallet says that it is unavailable, and
// pressing its switch takes the choice back.
func TestSwitchNeverSaysOnForWhatCannotBePaid(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectNetwork(scope.Test, money.Bitcoin, "regtest")
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		state := regexp.MustCompile(`(?s)id="switch-crypto_bitcoin"[^>]*value="(\w+)" aria-checked="(\w+)"`)
		page := b.Get("/dashboard/methods")
		expect(t, page, 200, "Bitcoin: Unavailable", "Ether: On")
		if found := state.FindStringSubmatch(page.Body); found == nil || found[1] != "false" || found[2] != "false" {
			t.Errorf("the switch is %q, want one that is off and asks to be off", found)
		}
		leads(t, b.PostFrom("/dashboard/methods", "/dashboard/methods/crypto_bitcoin",
			url.Values{"enabled": {"false"}}), "/dashboard/methods")
		expect(t, b.Get("/dashboard/methods"), 200, "Bitcoin: Off")
	})
}

// hidden fails if a page says any of the texts.
func hidden(t *testing.T, a servertest.Answer, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(a.VisibleText(), text) {
			t.Errorf("the page says %q, want it left out: %.1500s", text, a.VisibleText())
		}
	}
}

// TestFurtherNetworksAreListedWhileOn: a network beside a coin's first one is in the checklist once it is switched on,
// with how its node does, what the operator sets, and whether a wallet receives there.
func TestFurtherNetworksAreListedWhileOn(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		const tether, tron, address = "/dashboard/methods/crypto_tether/wallet", "/dashboard/methods/tron/wallet",
			"TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"
		for _, code := range []money.Chain{money.Ethereum, money.Polygon, money.Arbitrum, money.Tron} {
			s.ConnectNetwork(scope.Live, code, money.MainNetwork)
		}
		s.Networks.Homes = map[chain.Network]chain.Network{"polygon-mainnet": "ethereum-mainnet",
			"arbitrum-mainnet": "ethereum-mainnet"}
		sc := s.CreateBusiness("Ama's Shop", ama)
		sc.Domain = scope.Live
		b := s.SignIn(ama)
		asking(t, b, scope.Live)
		further := []string{"Polygon", "Arbitrum", "Tron", "The same wallet", "was not entered"}
		hidden(t, b.Get(goingLiveAt), further...)

		leads(t, b.PostFrom(tether, tether, url.Values{"key": {oneAddress}, "password": {servertest.Password}}), tether)
		on := func(method money.Method, code money.Chain, enabled bool) {
			s.FailOn(s.Accounts.SetNetwork(t.Context(), sc, method, code, enabled))
		}
		on(money.CryptoTether, money.Polygon, true)
		on(money.CryptoTether, money.Arbitrum, true)
		on(money.CryptoEthereum, money.Arbitrum, true)
		page := b.Get(goingLiveAt)
		expect(t, page, 200, "Tether USD on Polygon PoS", "polygon-mainnet", "A node of Polygon PoS that serves JSON-RPC",
			"COINTILL_LIVE_POLYGON_URL", "Ether, Tether USD on Arbitrum One", "COINTILL_LIVE_ARBITRUM_URL",
			"Your address was not entered for: Arbitrum One, Polygon PoS.")
		hidden(t, page, "The same wallet", "on Tron")
		on(money.CryptoTether, money.Ethereum, false)
		on(money.CryptoEthereum, money.Ethereum, false)
		leads(t, b.PostFrom(tether, tether, url.Values{"key": {oneAddress}, "password": {servertest.Password}}), tether)
		page = b.Get(goingLiveAt)
		expect(t, page, 200, "The same wallet receives on: Arbitrum One, Polygon PoS.")
		hidden(t, page, "was not entered")
		on(money.CryptoEthereum, money.Ethereum, true)
		expect(t, b.Get(goingLiveAt), 200, "Your address was not entered for: Ethereum.")

		on(money.CryptoTether, money.Tron, true)
		expect(t, b.Get(goingLiveAt), 200, "Tether USD on Tron", "TronGrid", "COINTILL_LIVE_TRON_URL",
			"Tether USD on Tron Not set up yet", `href="`+tron+`"`)
		leads(t, b.PostFrom(tron, tron, url.Values{"key": {address}, "password": {servertest.Password}}), tron)
		on(money.CryptoTether, money.Tron, false) // it has a wallet, so it stays listed
		on(money.CryptoTether, money.Arbitrum, false)
		page = b.Get(goingLiveAt)
		expect(t, page, 200, "Tether USD on Tron Set up", "Ether on Arbitrum One")
		hidden(t, page, "Ether, Tether USD on Arbitrum One")

		s.FailOn(s.DB.Exec(t.Context()).Create(&models.ChainCursor{Network: "polygon-mainnet",
			Problem: "No node answers.", UpdatedAt: s.Clock.Now()}).Error)
		s.FailOn(s.Networks.Refresh(t.Context()))
		s.System.Networks = append(s.System.Networks, system.Network{Name: "tron-mainnet", Domain: scope.Live,
			Nodes: func(context.Context) []chain.NodeStatus { return []chain.NodeStatus{{Host: "a.example", Height: 71}} }})
		expect(t, b.PostFrom(goingLiveAt, goingLiveAt+"/nodes", nil), 200, "No node answers.",
			"the node answered, at block 71")
		delete(s.Networks.Domains[scope.Live], money.Polygon)
		expect(t, b.Get(goingLiveAt), 200, "Tether USD on Polygon PoS No node is configured")

		// Ethereum's wallet receives on other networks also where Ethereum itself has no node.
		delete(s.Networks.Domains[scope.Live], money.Ethereum)
		expect(t, b.Get(goingLiveAt), 200, "Ether, Tether USD Set up", `href="/dashboard/methods/crypto_ethereum/wallet"`)
		delete(s.Networks.Domains[scope.Live], money.Arbitrum)
		hidden(t, b.Get(goingLiveAt), "Ether, Tether USD Set up")
		s.Networks.Domains[scope.Live][money.Polygon] = "polygon-mainnet"
		expect(t, b.Get(goingLiveAt), 200, "Ether, Tether USD Set up", `href="`+tether+`"`)
	})
}

// TestWalletOfTronIsListedAfterItsRehearsal: the checklist of the sandbox lists Tron once it is on, or its wallet was
// rehearsed.
func TestWalletOfTronIsListedAfterItsRehearsal(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		const at = "/dashboard/methods/tron/wallet"
		s.Networks.Domains[scope.Test][money.Tron] = chain.Sandbox(money.Tron)
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		hidden(t, b.Get(goingLiveAt), "Tron")
		leads(t, b.PostFrom(at, at, url.Values{"key": {"TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"},
			"password": {servertest.Password}}), goingLiveAt)
		expect(t, b.Get(goingLiveAt), 200, "Tether USD on Tron Rehearsed", "Tether USD on Tron sandbox-tron", at)
	})
}

// TestLiveOverviewLeadsToGoingLive: where no coin can be paid, the overview of live leads to what is left, instead of
// to a payment link that no customer can pay.
func TestLiveOverviewLeadsToGoingLive(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := inLive(t, s.SignIn(ama))
		answer := b.Get("/dashboard")
		expect(t, answer, 200, "No coin can be paid yet.", `class="btn btn-line" href="/dashboard/going-live"`)
		if strings.Contains(answer.Body, "call the API with a live key") {
			t.Error("the overview of live asks for a payment link, which no coin can pay")
		}
	})
}
