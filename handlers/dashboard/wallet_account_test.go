package dashboard_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"cointill/chain"
	xrp "cointill/chain/xrpl/params"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

const (
	rAccount = "rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY"
	rOther   = "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh"
	ledgerAt = "/dashboard/methods/crypto_ripple/wallet"
)

func look(b *servertest.Browser, account string) servertest.Answer {
	return b.PostFrom(ledgerAt, ledgerAt+"/review", url.Values{"key": {account}})
}

func useAccount(b *servertest.Browser, account string) servertest.Answer {
	return b.PostFrom(ledgerAt, ledgerAt, url.Values{"key": {account}, "password": {servertest.Password}})
}

// TestAccountSetUp walks from XRP without an account to payments with tags, as a
// browser without JavaScript does.
func TestAccountSetUp(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectLedger(scope.Test, "testnet")
		s.Ledger = map[string]wallet.LedgerAccount{
			rAccount: {Exists: true, Balance: money.Units(25_500_000)}, rOther: {Exists: true, RequireTag: true, DisallowXRP: true, Balance: money.Units(1)},
		}
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		expect(t, b.Get("/dashboard/methods"), 200, "Set up account", "Add your own account of the XRP Ledger first")
		expect(t, b.Get(ledgerAt), 200, "No account is set up yet", "Address of your account", "Not a deposit address of an exchange", "only you have")

		seen := look(b, "  "+rAccount+"\n")
		expect(t, seen, 200, "Is this your XRP account?", rAccount, "XRP Ledger testnet", "25.500000 XRP", "Payments without a tag are accepted", "listed under Unmatched", "asfRequireDest")
		if strings.Contains(seen.VisibleText(), "asks wallets not to") {
			t.Errorf("seen.Text() = %v", seen.VisibleText())
		}
		seen = look(b, rOther)
		expect(t, seen, 200, "refused by the network, as recommended", "asks wallets not to send it XRP", "asfDisallowXRP")
		if strings.Contains(seen.VisibleText(), "Payments without a tag are accepted") {
			t.Errorf("seen.Text() = %v", seen.VisibleText())
		}
		if rows(s, &models.Wallet{}, "1 = 1") != 0 || rows(s, &models.Destination{}, "1 = 1") != 0 {
			t.Error("looking stored something")
		}

		expect(t, b.PostFrom(ledgerAt, ledgerAt, url.Values{"key": {rAccount}, "password": {"not the passphrase"}}), 422, "This isn't your password.", "Is this your XRP account?", rAccount)
		s.Clock.Advance(1e9)
		leads(t, useAccount(b, rAccount), ledgerAt)
		expect(t, b.Get(ledgerAt), 200, "XRP payments now go to this account", rAccount, "0 destination tags", "View the current setup", "Use another account")
		expect(t, look(b, rAccount), 200, "the account in use", "changes nothing")
		expect(t, look(b, rOther), 200, "instead of "+rAccount)

		v, err := s.Payments.OpenByReference(t.Context(), sc, s.InitiatePayment(sc, servertest.NewRequest(money.CryptoRipple)).Reference)
		s.FailOn(err)
		if v.Payment.Address != rAccount || v.Payment.Tag == nil || *v.Payment.Tag < 1 {
			t.Errorf("%+v", v.Payment)
		}
		expect(t, b.Get("/dashboard/methods"), 200, "Customers can choose it, and payments go directly to your own account", rAccount, "1 destination tag", "Change account")
		expect(t, b.Get("/dashboard/payments/"+v.Payment.Reference), 200, rAccount)

		leads(t, useAccount(b, rOther), ledgerAt)
		expect(t, b.Get(ledgerAt), 200, "Previous accounts", rAccount, rOther, "still watched")
		expect(t, b.Get("/dashboard/mailbox"), 200, "XRP Ledger testnet payments go to another account")
	})
}

// TestAccountRefused: what can't be paid to, or isn't looked at, is not used.
func TestAccountRefused(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectLedger(scope.Test, "testnet")
		s.ConnectLedger(scope.Live, "mainnet")
		s.CreateBusiness("Ama's Shop", ama)
		s.CreateBusiness("Bayo's Shop", bayo)
		b := s.SignIn(ama)
		account, err := xrp.ParseAccount(rAccount)
		s.FailOn(err)
		tag := uint32(7)
		live := xrp.XAddress{Account: account}.String()
		for _, c := range []struct {
			found wallet.LedgerAccount
			text  string
			says  []string
		}{
			{wallet.LedgerAccount{Reserve: money.Units(1_000_000)}, rAccount, []string{"does not exist", "now 1 XRP", `value="` + rAccount + `"`}},
			{wallet.LedgerAccount{Exists: true, DepositAuth: true}, rAccount, []string{"Deposit Authorization", "Switch it off", "ClearFlag 9"}},
			{wallet.LedgerAccount{Exists: true}, live, []string{"begins with X", `value="` + live + `"`}},
			{wallet.LedgerAccount{Exists: true}, xrp.XAddress{Account: account, Tag: &tag, Test: true}.String(), []string{"destination tag 7 in it", "an exchange"}},
		} {
			s.Ledger = map[string]wallet.LedgerAccount{rAccount: c.found}
			expect(t, look(b, c.text), 422, c.says...)
			expect(t, useAccount(b, c.text), 422, c.says...)
		}
		s.Ledger, s.LookFails = map[string]wallet.LedgerAccount{rAccount: {Exists: true}}, chain.Problem("The server can't be reached.")
		expect(t, look(b, rAccount), 503, "can't be looked up", "Try again in a moment. The server can't be reached.")
		expect(t, useAccount(b, rAccount), 503, "can't be looked up")
		s.LookFails = errors.New("dial tcp 10.1.2.3")
		if refused := look(b, rAccount); refused.Status != 503 || strings.Contains(refused.Body, "10.1.2") {
			t.Errorf("look(b, rAccount): refused.Status = %v, refused.Text() = %v", refused.Status, refused.VisibleText())
		}
		if rows(s, &models.Wallet{}, "1 = 1") != 0 {
			t.Error("a refused account was stored")
		}

		s.LookFails = nil
		leads(t, useAccount(b, rAccount), ledgerAt)
		expect(t, useAccount(s.SignIn(bayo), rAccount), 409, "already receives for another business")
		s.Wallets.SharedAccounts = true
		leads(t, useAccount(s.SignIn(bayo), rAccount), ledgerAt)
		leads(t, useAccount(s.SignIn(bayo), rAccount), ledgerAt)
		if rows(s, &models.Wallet{}, "active") != 2 || rows(s, &models.Mail{}, "business_id <> 0") != 2 {
			t.Error("the second of two that share an account made more or less than one wallet and mail")
		}
	})
}

// TestAccountSecrets (AP-26): what can spend stands in no page and no log, also where a
// key of another coin is asked for.
func TestAccountSecrets(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectLedger(scope.Test, "testnet")
		s.ConnectNetwork(scope.Test, money.Bitcoin, "regtest")
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		for _, secret := range []string{"sn3nxiW7v8KXzPzAqzyHXbSSKNuN9", "sEdTM1uX8pu2do5XvTnutH6HsouMaM2", "sEdTM1uX8pu2do5XvTnutH6HsouMaM",
			"1ACAAEDECE405B2A958212629E16F2EB46B153EEE94CDD350FDEFF52795525B7", "554872 394230 209376 323698 140250 387423 652803 258676",
			"legal winner thank year wave sausage worth useful legal winner thank yellow", "legal winner thank year"} {
			for _, at := range []string{ledgerAt, walletAt} {
				for _, path := range []string{at + "/review", at} {
					refused := b.PostFrom(at, path, url.Values{"key": {secret}, "password": {servertest.Password}})
					expect(t, refused, 422)
					if strings.Contains(refused.VisibleText()+refused.Body, secret) {
						t.Errorf("%s repeats %q", path, secret)
					}
				}
			}
			if strings.Contains(s.ReadLog(), secret) {
				t.Errorf("the log holds %q", secret)
			}
		}
		if rows(s, &models.Wallet{}, "1 = 1") != 0 {
			t.Error("a secret was stored")
		}
	})
}
