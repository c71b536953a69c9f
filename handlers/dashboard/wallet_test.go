package dashboard_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"cointill/core/money"
	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// Two accounts of a test wallet, and the first addresses of the first one on regtest.
const (
	tpub      = "tpubDC3DEsuwXbyQxVwGwBuwk4K9rDVrpFo7xnQmaQAaTkuNS6p7hRbExaNL7HmK4Wg4SsQyUCuFATiraAkDt9Zecotc7yZuydheZ9jKpt4fowL"
	otherTpub = "tpubDDrUhjzRWEurqNskqavyPmSy1nejNtp8X1RxrQnrEQiB4SuyrupXK779Kw4eF2XbfzcJMUJuNJYp2nwQDng4iwW81YGELb5EU5JY5MKbnMb"

	walletAt = "/dashboard/methods/crypto_bitcoin/wallet"
	reviewAt = walletAt + "/review"
)

// firsts are the addresses that a key begins with, as the review page lists them.
func firsts(page servertest.Answer) (list []string) {
	for _, found := range regexp.MustCompile(`<bdi>(bcrt1[0-9a-z]+)</bdi>`).FindAllStringSubmatch(page.Body, -1) {
		list = append(list, found[1])
	}
	return list
}

// rows counts a table's rows.
func rows(s *servertest.Server, model any, where string, args ...any) (n int64) {
	s.T.Helper()
	s.FailOn(s.DB.Read(s.T.Context()).Model(model).Where(where, args...).Count(&n).Error)
	return n
}

// use makes a key the wallet, by the forms of the pages.
func use(t *testing.T, b *servertest.Browser, key string) {
	t.Helper()
	leads(t, b.PostFrom(walletAt, walletAt, url.Values{"key": {key}, "password": {servertest.Password}}), walletAt)
}

// TestWalletOfRestored (BTC-17): who enters a key that a restored database doesn't know
// is told that it doesn't begin with the first address, and why.
func TestWalletOfRestored(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectNetwork(scope.Test, money.Bitcoin, "regtest")
		s.CreateBusiness("Ama's Shop", ama)
		s.FailOn(s.DB.Continue(t.Context(), 25))
		b := s.SignIn(ama)
		expect(t, b.PostFrom(walletAt, reviewAt, url.Values{"key": {tpub}}), 200, "It doesn't start with the first address", "the first 25 of each type are only watched", "gap limit to 45")
		use(t, b, tpub)
		expect(t, b.Get(walletAt), 200, "next: 0/25")
	})
}

// TestWalletSetUp walks from a coin without a wallet to one that takes
// payments, as a browser without JavaScript does.
func TestWalletSetUp(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectNetwork(scope.Test, money.Bitcoin, "regtest")
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		expect(t, b.Get("/dashboard/methods"), 200, "Set up wallet", "Set up your own wallet first", "Customers can choose it, on the sandbox")
		toggle := func(on string) servertest.Answer {
			return b.PostFrom("/dashboard/methods", "/dashboard/methods/crypto_bitcoin", url.Values{"enabled": {on}})
		}
		leads(t, toggle("false"), "/dashboard/methods")
		expect(t, toggle("true"), 403, "can't be enabled here", "Set up your own wallet")
		expect(t, b.Get(walletAt), 200, "No wallet is set up yet", "tpub, upub or vpub", "Automatic", "Taproot")

		seen := b.PostFrom(walletAt, reviewAt, url.Values{"key": {"  " + tpub + "\n"}, "script": {""}})
		expect(t, seen, 200, "An extended public key (tpub)", "native SegWit (bcrt1q…)", "Bitcoin regtest", "0/*", tpub, "0/4")
		list := firsts(seen)
		if len(list) != 5 {
			t.Fatalf("addresses: %q", list)
		}
		other := firsts(b.PostFrom(walletAt, reviewAt, url.Values{"key": {tpub}, "script": {"tr"}}))
		if len(other) != 5 || !strings.HasPrefix(other[0], "bcrt1p") {
			t.Errorf("as Taproot: %q", other)
		}
		look := func(address string) servertest.Answer {
			return b.PostFrom(walletAt, reviewAt, url.Values{"key": {tpub}, "script": {"wpkh"}, "address": {address}})
		}
		expect(t, look(list[3]), 200, "index 3, counted from 0", list[3])
		expect(t, look("bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"), 200, "not among the first 1,000")
		expect(t, look(other[0]), 422, other[0], "Taproot")
		expect(t, look("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"), 422, "no address of", list[0])
		if rows(s, &models.Wallet{}, "1 = 1") != 0 {
			t.Error("looking stored something")
		}

		if strings.Contains(seen.VisibleText(), "restored from a backup") {
			t.Errorf("seen.Text() = %v", seen.VisibleText())
		}

		use(t, b, tpub)
		expect(t, b.Get(walletAt), 200, "Bitcoin payments now go to this wallet", "tpubDC3D…t4fowL", "0 addresses", "Unused addresses None", "next: 0/0", "Use another wallet")
		if text := b.Get(walletAt).VisibleText(); strings.Contains(text, "Previous wallets") || strings.Contains(text, tpub) {
			t.Errorf("b.Get(walletAt).Text(): text = %v", text)
		}
		leads(t, toggle("true"), "/dashboard/methods")
		expect(t, b.Get("/dashboard/methods"), 200, "Customers can choose it, and payments go directly to your own wallet", "tpubDC3D…t4fowL", "Change wallet")
		v, err := s.Payments.OpenByReference(t.Context(), sc, s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin)).Reference)
		s.FailOn(err)
		if v.Payment.Address != list[0] {
			t.Errorf("the first payment goes to %s, shown was %s", v.Payment.Address, list[0])
		}
		expect(t, b.Get("/dashboard/payments/"+v.Payment.Reference), 200, list[0], "0/0 of your wallet tpubDC3D…t4fowL")
		again := b.PostFrom(walletAt, reviewAt, url.Values{"key": {"wpkh(" + tpub + "/0/*)"}})
		expect(t, again, 200, "the wallet in use. Its next address is 0/1", "changes nothing")
		if strings.Contains(again.VisibleText(), "instead of") {
			t.Errorf("again.Text() = %v", again.VisibleText())
		}
		expect(t, b.PostFrom(walletAt, reviewAt, url.Values{"key": {otherTpub}}), 200, "instead of tpubDC3D…t4fowL")
		expect(t, b.PostFrom(walletAt, reviewAt, url.Values{"key": {tpub}, "script": {"tr"}}), 200, "instead of tpubDC3D…t4fowL")
	})
}

// TestWalletPassword: without the right password nothing changes, tries are
// slowed down as sign-ins are, and what is refused is in the audit log.
func TestWalletPassword(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectNetwork(scope.Test, money.Bitcoin, "regtest")
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		send := func(password string) servertest.Answer {
			return b.PostFrom(walletAt, walletAt, url.Values{"key": {tpub}, "script": {"wpkh"}, "password": {password}})
		}
		expect(t, send(""), 422, "Is required.", "Is this your Bitcoin wallet?")
		wrong := send("not the passphrase")
		expect(t, wrong, 422, "This isn't your password.", "Compare these addresses", tpub)
		if strings.Contains(wrong.Body, "not the passphrase") {
			t.Error("a password came back")
		}
		limited := send(servertest.Password)
		expect(t, limited, 429, "Too many attempts", "Is this your Bitcoin wallet?")
		if limited.Header.Get("Retry-After") != "1" {
			t.Errorf("Retry-After %q", limited.Header.Get("Retry-After"))
		}
		if rows(s, &models.Wallet{}, "1 = 1") != 0 || rows(s, &models.Mail{}, "business_id > 0") != 0 || rows(s, &models.Audit{}, "action = 'wallet.change_refused'") != 2 {
			t.Error("a refused change left more or less than its audit rows")
		}
		s.Clock.Advance(time.Second)
		leads(t, send(servertest.Password), walletAt)
		leads(t, send("whatever, for nothing changes"), walletAt) // sent twice
		expect(t, b.Get(walletAt), 200, "already go to this wallet")
		if rows(s, &models.Wallet{}, "active") != 1 || rows(s, &models.Mail{}, "business_id > 0") != 1 || rows(s, &models.Audit{}, "action = 'wallet.changed'") != 1 {
			t.Error("the second time did something")
		}
	})
}

// TestWalletChanged: what is replaced is listed, stays watched, and every owner is told.
func TestWalletChanged(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectNetwork(scope.Test, money.Bitcoin, "regtest")
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		use(t, b, tpub)
		started := s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin))
		v, err := s.Payments.OpenByReference(t.Context(), sc, started.Reference)
		s.FailOn(err)
		s.Clock.Advance(25 * time.Hour)
		b = s.SignIn(ama)
		expect(t, b.PostFrom(walletAt, reviewAt, url.Values{"key": {otherTpub}}), 200, "instead of tpubDC3D…t4fowL")
		use(t, b, otherTpub)
		expect(t, b.Get(walletAt), 200, "tpubDDrU…MKbnMb", "Previous wallets", "tpubDC3D…t4fowL", "1 address", "2 Mar 2026, 14:00", "still watched")
		if rows(s, &models.Destination{}, "address = ?", v.Payment.Address) != 1 {
			t.Error("the former wallet's address is not watched any more")
		}
		var audit models.Audit
		s.FailOn(s.DB.Read(t.Context()).Where("action = 'wallet.changed'").Order("id DESC").Take(&audit).Error)
		var detail map[string]string
		if err := json.Unmarshal([]byte(audit.Detail), &detail); err != nil || detail["before"] == "" || detail["after"] == detail["before"] || audit.Subject != "bitcoin-regtest" {
			t.Errorf("%+v %v", audit, err)
		}
		expect(t, b.Get("/dashboard/mailbox"), 200, "[TEST] Ama's Shop: Bitcoin regtest payments go to another wallet", "payments now go to a wallet of your own", ama)
		at := regexp.MustCompile(`/dashboard/mailbox/\d+`).FindString(b.Get("/dashboard/mailbox").Body)
		expect(t, b.Get(at), 200, "Hello Ama Mensah", "tpubDDrU…MKbnMb", "Previous key: tpubDC3D…t4fowL", "First address: bcrt1q", servertest.Base+walletAt, "Not sent")

		use(t, b, tpub) // and back, where it was
		expect(t, b.Get(walletAt), 200, "1 address", "next: 0/1")
		if rows(s, &models.Wallet{}, "1 = 1") != 2 || rows(s, &models.Mail{}, "business_id > 0") != 3 {
			t.Error("coming back made another wallet, or told nobody")
		}
	})
}

// TestWalletGap (BTC-14): the meter counts addresses that nobody has paid to.
func TestWalletGap(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectNetwork(scope.Test, money.Bitcoin, "regtest")
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		use(t, b, tpub)
		for i := 1; i <= 21; i++ {
			_, err := s.Payments.OpenByReference(t.Context(), sc, s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin)).Reference)
			s.FailOn(err)
			shown := map[int]string{3: "3 of 20 in a row", 16: "16 of 20 in a row", 21: "21 in a row, more than the 20"}[i]
			if shown == "" {
				continue
			}
			for _, at := range []string{walletAt, "/dashboard/methods"} {
				page := b.Get(at)
				expect(t, page, 200, shown, fmt.Sprintf("%d addresses", i))
				if strings.Contains(page.VisibleText(), "gap limit") != (i > 10) {
					t.Errorf("advice after %d: %s", i, page.VisibleText())
				}
			}
		}
		b.PostFrom("/dashboard/account", "/dashboard/account/language", url.Values{"language": {"fr"}})
		expect(t, b.Get(walletAt), 200, "21 adresses d&#39;affilée ont été attribuées sans être payées", "à 100 ou plus")
	})
}

// TestWalletRoles: everybody sees what is set, and only an owner has the form, in both domains.
func TestWalletRoles(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectNetwork(scope.Test, money.Bitcoin, "regtest")
		s.ConnectNetwork(scope.Live, money.Bitcoin, "mainnet")
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		use(t, b, tpub)
		for _, role := range []scope.Role{scope.Owner, scope.Admin, scope.Finance, scope.Developer} {
			for domain, shown := range map[string]string{"test": "tpubDC3D…t4fowL", "live": "No wallet is set up yet"} {
				s.SetRole(sc, role)
				b.PostFrom("/dashboard/methods", "/dashboard/domain", url.Values{"domain": {domain}, "next": {walletAt}})
				page := b.Get(walletAt)
				expect(t, page, 200, shown)
				owner := role == scope.Owner
				if strings.Contains(page.Body, reviewAt) != owner || strings.Contains(page.VisibleText(), "Only an owner") == owner {
					t.Errorf("%s in %s: %s", role, domain, page.VisibleText())
				}
				if links := b.Get("/dashboard/methods").VisibleText(); strings.Contains(links, "View wallet") == owner {
					t.Errorf("%s in %s: %s", role, domain, links)
				}
				for _, at := range []string{reviewAt, walletAt} {
					answer := b.PostFrom("/dashboard/methods", at, url.Values{"key": {otherTpub}, "password": {servertest.Password}})
					if (answer.Status == 403) == owner {
						t.Errorf("%s in %s: %d from %s", role, domain, answer.Status, at)
					}
				}
				if domain == "live" && rows(s, &models.Wallet{}, "domain = 'live'") != 0 {
					t.Error("a test key was taken for live")
				}
				s.SetRole(sc, scope.Owner)
				b.PostFrom("/dashboard/methods", "/dashboard/domain", url.Values{"domain": {"test"}})
				use(t, b, tpub)
			}
		}
		expect(t, s.NewBrowser().Get(walletAt), http.StatusSeeOther)
	})
}

// TestWalletPrivateKey (BTC-16): what can spend is refused, and stands in no page, no
// row and no log.
func TestWalletPrivateKey(t *testing.T) {
	secrets := []string{
		"tprv8ZgxMBicQKsPeDgjzdC36fs6bMjGApWDNLR9erAXMs5skhMv36j9MV5ecvfavji5khqjWaWSFhN3YcCUUdiKH6isR4Pwy3U5y5egddBr16m",
		"wpkh(tprv8ZgxMBicQKsPeDgjzdC36fs6bMjGApWDNLR9erAXMs5skhMv36j9MV5ecvfavji5khqjWaWSFhN3YcCUUdiKH6isR4Pwy3U5y5egddBr16m/84h/1h/0h/0/*)",
		"cMzLdeGd5vEqxB8B6VFQoRopQ3sLAAvEzDAoQgvX54xwofSWj1fx",
		"0c28fca386c7a227600b2fe50b7cae11ec86d3bf1fbe471be89827e19d72aa1d",
		"legal winner thank year wave sausage worth useful legal winner thank yellow",
		"legal winner thank year wave", // too few to be known as such, and still not shown
	}
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectNetwork(scope.Test, money.Bitcoin, "regtest")
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		for _, secret := range secrets {
			for _, c := range []struct {
				at   string
				form url.Values
			}{
				{reviewAt, url.Values{"key": {secret}, "script": {"wpkh"}}},
				{walletAt, url.Values{"key": {secret}, "password": {servertest.Password}}},
				{reviewAt, url.Values{"key": {tpub}, "address": {secret}}},
			} {
				refused := b.PostFrom(walletAt, c.at, c.form)
				expect(t, refused, 422, "Not saved yet")
				if strings.Contains(refused.Body, secret) || strings.Contains(refused.VisibleText(), secret) {
					t.Errorf("the page repeats %q", secret)
				}
			}
			for _, table := range []string{"audits", "mails", "sessions", "wallets", "attempts"} {
				var found []map[string]any
				s.FailOn(s.DB.Read(t.Context()).Table(table).Find(&found).Error)
				if strings.Contains(fmt.Sprint(found), secret) {
					t.Errorf("%s holds %q", table, secret)
				}
			}
			if strings.Contains(s.ReadLog(), secret) || !strings.Contains(s.ReadLog(), reviewAt) {
				t.Error("the log repeats it, or there is none")
			}
		}
		for _, text := range []string{tpub[:60], "[d34db33f/84h/1h/0h]" + tpub[:90], "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"} { // mistyped, but public
			expect(t, b.PostFrom(walletAt, reviewAt, url.Values{"key": {text}, "script": {"tr"}}), 422, ">"+text+"</textarea>", `<option value="tr" selected`)
		}
	})
}

// TestWalletOfOthers: an account receives for one business only.
func TestWalletOfOthers(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectNetwork(scope.Test, money.Bitcoin, "regtest")
		s.CreateBusiness("Ama's Shop", ama)
		s.CreateBusiness("Bayo's Shop", bayo)
		use(t, s.SignIn(ama), tpub)
		b := s.SignIn(bayo)
		refused := b.PostFrom(walletAt, walletAt, url.Values{"key": {"wpkh(" + tpub + "/0/*)"}, "password": {servertest.Password}})
		expect(t, refused, 409, "already receives for another business", "Is this your Bitcoin wallet?")
		expect(t, b.Get(walletAt), 200, "No wallet is set up yet")
		if text := b.Get(walletAt).VisibleText(); strings.Contains(text, "tpubDC3D") || strings.Contains(text, "Former") {
			t.Errorf("b.Get(walletAt).Text(): text = %v", text)
		}
		if rows(s, &models.Audit{}, "action = 'wallet.changed'") != 1 || rows(s, &models.Mail{}, "business_id > 0") != 1 {
			t.Error("a refused key was told of")
		}
	})
}

// TestWalletElsewhere: coins that need no wallet, or have no network, say so.
func TestWalletElsewhere(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectNetwork(scope.Live, money.Dogecoin, "mainnet")
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		sandboxed := b.Get(walletAt)
		expect(t, sandboxed, 200, "need no wallet", "This is a rehearsal")
		asking(t, b, scope.Live)
		if unserved := b.Get(walletAt); strings.Contains(unserved.Body, reviewAt) {
			t.Error("a coin without a node asks for a key")
		}
		expect(t, b.PostFrom("/dashboard/methods", reviewAt, url.Values{"key": {tpub}}), 409, "No node is configured")
		expect(t, b.PostFrom("/dashboard/methods", walletAt, url.Values{"key": {tpub}, "password": {servertest.Password}}), 409, "No node is configured")
		asking(t, b, scope.Test)
		leads(t, b.Get(reviewAt), walletAt)
		for _, at := range []string{"/dashboard/methods/crypto_gold/wallet", "/dashboard/methods/%00/wallet", "/dashboard/methods/crypto_gold/wallet/review"} {
			expect(t, b.Get(at), 404)
			expect(t, b.PostFrom("/dashboard/methods", at, nil), 404)
		}
		expect(t, b.Post(reviewAt, url.Values{"key": {tpub}}), 403) // forged
		expect(t, b.Post(walletAt, url.Values{"key": {tpub}}), 403)

		leads(t, b.PostFrom("/dashboard/methods", "/dashboard/domain", url.Values{"domain": {"live"}, "next": {walletAt}}), "/dashboard/methods")
		expect(t, b.Get(walletAt), 200, "No node for bitcoin is configured in live")
		doge := b.Get("/dashboard/methods/crypto_dogecoin/wallet")
		expect(t, doge, 200, "dgub or xpub")
		if strings.Contains(doge.Body, `name="script"`) || strings.Contains(doge.VisibleText(), "Sparrow") {
			t.Error("Dogecoin has a choice of addresses")
		}
		s.FailOn(s.DB.Exec(t.Context()).Create(&models.ChainCursor{Network: "dogecoin-mainnet", Problem: "The node is still syncing.", UpdatedAt: s.Clock.Now()}).Error)
		s.FailOn(s.Networks.Refresh(t.Context()))
		expect(t, b.Get("/dashboard/methods"), 200, "Temporarily unavailable", "The node is still syncing.")
	})
}
