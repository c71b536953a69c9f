package wallet_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"cointill/chain"
	xrp "cointill/chain/xrpl/params"
	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/models"
	"cointill/models/modelstest"
)

const (
	xrpTest   = "xrp-testnet"
	rAccount  = "rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY"
	rOther    = "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh"
	badSecret = "sn3nxiW7v8KXzPzAqzyHXbSSKNuN9" // of an example in the ledger's documentation
)

// onLedger gives the fixture a ledger in both domains, whose accounts are what
// found says.
func onLedger(f *fixture, found map[string]wallet.LedgerAccount) *fixture {
	f.Ledgers = map[scope.Domain]wallet.Ledger{}
	for domain, name := range map[scope.Domain]string{scope.Test: "testnet", scope.Live: "mainnet"} {
		p, _ := xrp.Lookup(name)
		f.Ledgers[domain] = wallet.Ledger{Params: p, Look: func(_ context.Context, a xrp.Account) (wallet.LedgerAccount, error) { return found[a.String()], nil }}
	}
	return f
}

func sound() map[string]wallet.LedgerAccount {
	fine := wallet.LedgerAccount{Exists: true, RequireTag: true, Balance: money.Units(25_000_000), Reserve: money.Units(1_000_000)}
	return map[string]wallet.LedgerAccount{rAccount: fine, rOther: fine}
}

func (f *fixture) useLedger(business int64, account string) (w models.Wallet, err error) {
	err = f.db.Write(f.t.Context(), func(tx *models.Tx) error {
		w, err = f.Use(tx, owner(business), money.XRPL, account, "", "user:1")
		return err
	})
	return w, err
}

func (f *fixture) mustUseLedger(business int64, account string) models.Wallet {
	f.t.Helper()
	w, err := f.useLedger(business, account)
	if err != nil {
		f.t.Fatal(err)
	}
	return w
}

// tag gives a new payment of the business its account and tag.
func (f *fixture) tag(business int64) (place wallet.Place, err error) {
	id := <-f.payments
	f.payments <- id + 1
	p := &models.Payment{ID: id, BusinessID: business, Domain: string(scope.Test), Network: xrpTest, Reference: ident.New("PAY_")}
	err = f.db.Write(f.t.Context(), func(tx *models.Tx) error {
		place, err = f.Assign(tx, p, "", f.clock.Now())
		return err
	})
	return place, err
}

func (f *fixture) mustTag(business int64) wallet.Place {
	f.t.Helper()
	place, err := f.tag(business)
	if err != nil || place.Tag == nil || *place.Tag == 0 {
		f.t.Fatal(place, err)
	}
	return place
}

// shared is whose the money is that comes to an account with no known tag.
func (f *fixture) shared(account string) (row models.Destination) {
	f.t.Helper()
	if err := f.db.Read(f.t.Context()).Where("network = ? AND address = ? AND tag = -1", xrpTest, account).Take(&row).Error; err != nil {
		f.t.Fatal(err)
	}
	return row
}

// TestAccountTags (XRP-4, XRP-5): every payment gets the business's account and a tag of
// its own, random and never 0.
func TestAccountTags(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := onLedger(newFixture(t, db), sound())
		if _, err := f.tag(1); code(err) != "no_wallet" || fault.KindOf(err) != fault.Unavailable {
			t.Fatal("without an account:", err)
		}
		if _, ready, err := f.Ready(t.Context(), owner(1), xrpTest); err != nil || ready {
			t.Fatal("ready without an account:", err)
		}
		w := f.mustUseLedger(1, "  "+rAccount+" ")
		if w.Key != rAccount || w.Script != wallet.ScriptAccount || w.Network != xrpTest || !w.Active {
			t.Fatalf("%+v", w)
		}
		if row := f.shared(rAccount); row.BusinessID != 1 || row.PaymentID != nil || row.WalletID != nil {
			t.Errorf("the account is not watched before its first payment: %+v", row)
		}
		seen, rising := map[uint32]bool{}, 0
		last := uint32(0)
		for range 60 {
			place := f.mustTag(1)
			if place.Address != rAccount || seen[*place.Tag] {
				t.Fatalf("%+v was given before, or is elsewhere", place)
			}
			if *place.Tag > last {
				rising++
			}
			seen[*place.Tag], last = true, *place.Tag
		}
		if rising > 50 {
			t.Errorf("%d of 60 tags were higher than the one before: they can be guessed", rising)
		}
		state, found, err := f.Active(t.Context(), owner(1), money.XRPL)
		if err != nil || !found || state.Wallet.NextIndex != 60 || !state.Advice.IsZero() || state.Script != wallet.ScriptAccount {
			t.Errorf("%+v %v %v", state, found, err)
		}
		if _, ready, err := f.Ready(t.Context(), owner(1), xrpTest); err != nil || !ready {
			t.Error("not ready:", err)
		}
		if _, ok, err := f.Origin(t.Context(), owner(1), models.Payment{ID: 5}); ok || err != nil {
			t.Error("a tag has a path:", err)
		}
		if err := f.Advance(t.Context(), "operator", w.ID, 100); fault.KindOf(err) != fault.Invalid || !strings.Contains(fmt.Sprint(fields(err)), "Tags are random") {
			t.Error("advance:", err)
		}
	})
}

func fields(err error) map[string][]string {
	var f *fault.Fault
	if errors.As(err, &f) {
		return f.Fields.InEnglish()
	}
	return nil
}

// TestAccountAlone: an account is one business's, unless the operator allows more.
func TestAccountAlone(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := onLedger(newFixture(t, db), sound())
		first := f.mustUseLedger(1, rAccount)
		if _, err := f.useLedger(2, rAccount); code(err) != "key_in_use" || fault.KindOf(err) != fault.Conflict {
			t.Fatal("another business:", err)
		}
		if again := f.mustUseLedger(1, rAccount); again.ID != first.ID {
			t.Error("entered again, it is another wallet")
		}
		f.mustUseLedger(1, rOther)
		if _, err := f.useLedger(2, rAccount); code(err) != "key_in_use" {
			t.Error("a former account was free for another business:", err)
		}

		f.SharedAccounts = true
		second := f.mustUseLedger(2, rAccount)
		back := f.mustUseLedger(1, rAccount)
		if back.ID != first.ID || !back.Active || second.ID == first.ID || second.Account != first.Account {
			t.Errorf("%+v\n%+v", back, second)
		}
		tags := map[uint32]int64{}
		for i := range 40 {
			business := int64(i%2 + 1)
			place := f.mustTag(business)
			if place.Address != rAccount || tags[*place.Tag] != 0 {
				t.Fatalf("%+v was given before", place)
			}
			tags[*place.Tag] = business
		}
		for tag, business := range tags {
			var row models.Destination
			if err := db.Read(t.Context()).Where("network = ? AND address = ? AND tag = ?", xrpTest, rAccount, int64(tag)).Take(&row).Error; err != nil || row.BusinessID != business {
				t.Fatalf("tag %d of business %d: %+v %v", tag, business, row, err)
			}
		}
		if row := f.shared(rAccount); row.BusinessID != 1 {
			t.Errorf("money without a known tag is business %d's, not the first one's", row.BusinessID)
		}
		f.SharedAccounts = false
		f.mustUseLedger(2, rAccount) // it goes on where it was allowed
		f.mustTag(2)
	})
}

// TestAccountTwins: of many businesses that enter an account at once, one gets it.
func TestAccountTwins(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := onLedger(newFixture(t, db), sound())
		for id := int64(3); id <= 8; id++ {
			if err := db.Exec(t.Context()).Create(&models.Business{ID: id, Code: ident.New("BUS_"), Name: "Shop", TimeZone: "UTC"}).Error; err != nil {
				t.Fatal(err)
			}
		}
		var wg sync.WaitGroup
		results := make([]error, 8)
		for i := range results {
			wg.Go(func() { _, results[i] = f.useLedger(int64(i+1), rAccount) })
		}
		wg.Wait()
		won := 0
		for _, err := range results {
			if err == nil {
				won++
			} else if code(err) != "key_in_use" {
				t.Error(err)
			}
		}
		if won != 1 {
			t.Errorf("%d businesses got the account", won)
		}
	})
}

// TestAccountChanged: payments that were opened keep the former account, which
// stays watched, and new ones go to the new account.
func TestAccountChanged(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := onLedger(newFixture(t, db), sound())
		f.mustUseLedger(1, rAccount)
		before := f.mustTag(1)
		f.mustUseLedger(1, rOther)
		if after := f.mustTag(1); after.Address != rOther {
			t.Errorf("after the change: %+v", after)
		}
		var kept int64
		if err := db.Read(t.Context()).Model(&models.Destination{}).Where("address = ? AND tag IN ?", rAccount, []int64{-1, int64(*before.Tag)}).Count(&kept).Error; err != nil || kept != 2 {
			t.Errorf("%d of 2 places are watched: %v", kept, err)
		}
		var active []string
		if err := db.Read(t.Context()).Model(&models.Wallet{}).Where("active").Pluck("key", &active).Error; err != nil || len(active) != 1 || active[0] != rOther {
			t.Errorf("%v %v", active, err)
		}
	})
}

// TestAccountLookedUp (XRP-10): an account is used only as the network shows it now.
func TestAccountLookedUp(t *testing.T) {
	t.Parallel()
	f := &fixture{t: t, Service: &wallet.Service{}}
	for _, c := range []struct {
		name  string
		found wallet.LedgerAccount
		says  string
	}{
		{"missing", wallet.LedgerAccount{Reserve: money.Units(1_200_000)}, "does not exist on the XRP Ledger's test network testnet yet, so small payments to it would fail. " +
			"An account comes into being when it is sent the network's reserve, now 1.2 XRP"},
		{"missing, reserve unknown", wallet.LedgerAccount{}, "is sent the network's reserve at once"},
		{"closed", wallet.LedgerAccount{Exists: true, RequireTag: true, DepositAuth: true}, "Deposit Authorization"},
	} {
		_, err := onLedger(f, map[string]wallet.LedgerAccount{rAccount: c.found}).Preview(t.Context(), owner(1), money.XRPL, rAccount, "")
		if code(err) != "validation_failed" || !strings.Contains(fmt.Sprint(fields(err)), c.says) {
			t.Errorf("%s: %v %v", c.name, err, fields(err))
		}
	}
	for _, found := range []wallet.LedgerAccount{{Exists: true}, {Exists: true, DisallowXRP: true, RequireTag: true}} {
		p, err := onLedger(f, map[string]wallet.LedgerAccount{rAccount: found}).Preview(t.Context(), owner(1), money.XRPL, rAccount, "")
		if err != nil || p.Account.RequireTag != found.RequireTag || p.Account.DisallowXRP != found.DisallowXRP || p.Key != rAccount || p.Fingerprint != rAccount {
			t.Errorf("%+v: %+v %v", found, p, err)
		}
	}
	for said, failed := range map[string]error{"Server 1 of 2 lags.": fmt.Errorf("all: %w", chain.Problem("Server 1 of 2 lags.")), "No server of the network answered.": errors.New("dial 10.0.0.1")} {
		l := f.Ledgers[scope.Test]
		l.Look = func(context.Context, xrp.Account) (wallet.LedgerAccount, error) {
			return wallet.LedgerAccount{}, failed
		}
		f.Ledgers[scope.Test] = l
		_, err := f.Preview(t.Context(), owner(1), money.XRPL, rAccount, "")
		var told *fault.Fault
		if code(err) != "lookup_failed" || fault.KindOf(err) != fault.Unavailable || !errors.As(err, &told) || !strings.Contains(told.Sentence.String(), "Try again in a moment. "+said) || strings.Contains(told.Sentence.String(), "10.0") {
			t.Errorf("%v", err)
		}
	}
	for _, role := range []scope.Role{scope.Admin, scope.Finance, scope.Developer, scope.API} {
		sc := owner(1)
		sc.Role = role
		if _, err := f.Preview(t.Context(), sc, money.XRPL, rAccount, ""); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("%s: %v", role, err)
		}
		if _, err := f.Use(nil, sc, money.XRPL, rAccount, "", "user:1"); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("%s: %v", role, err)
		}
	}
}

// TestAccountEntered (XRP-9): addresses of the right network only, without a tag, and
// nothing that can spend.
func TestAccountEntered(t *testing.T) {
	t.Parallel()
	f := onLedger(&fixture{t: t, Service: &wallet.Service{}}, sound())
	live := owner(1)
	live.Domain = scope.Live
	account, err := xrp.ParseAccount(rAccount)
	if err != nil {
		t.Fatal(err)
	}
	tag, zero := uint32(12345), uint32(0)
	x := func(tag *uint32, test bool) string {
		return xrp.XAddress{Account: account, Tag: tag, Test: test}.String()
	}
	for _, c := range []struct {
		sc         scope.Scope
		text, says string
	}{
		{owner(1), rAccount, ""}, {live, rAccount, ""}, {owner(1), x(nil, true), ""}, {live, x(nil, false), ""},
		{live, x(nil, true), "begins with T, as only addresses on test networks do. Payments here come on the XRP Ledger: enter the address of your account there. It begins with r, or with X."},
		{owner(1), x(nil, false), "begins with X, as only addresses on the main network do. Payments here come on the XRP Ledger's test network testnet: enter"},
		{live, "aBQG8RQAzjs1eTKFEAQXr2gS4utcDiEC9wmi7pfUPTi27VCahwgw", "It is no secret"},
		{live, "0330E7FC9D56BB25D6893BA3F317AE5BCF33B3291BD63DB32654A313222F7FD020", "the account's address, which begins with r"}, {live, x(&tag, true), "begins with T"},
		{live, x(&tag, false), "destination tag 12345 in it"}, {owner(1), x(&zero, true), "destination tag 0 in it"},
		{owner(1), "", "Enter the address"}, {owner(1), rAccount[:30], "mistyped"}, {owner(1), rAccount + "r", "mistyped"},
		{live, "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "or with X when"}, {owner(1), strings.Repeat("r", 600), "longer than any address"},
	} {
		_, err := f.Preview(t.Context(), c.sc, money.XRPL, c.text, "")
		if (err == nil) != (c.says == "") || err != nil && (code(err) != "validation_failed" || !strings.Contains(fmt.Sprint(fields(err)), c.says)) {
			t.Errorf("%q: %v %v", c.text, err, fields(err))
		}
	}
	for name, secret := range map[string]string{
		"a seed": badSecret, "a seed with a character missing": badSecret[:28], "an ed25519 seed": "sEdTM1uX8pu2do5XvTnutH6HsouMaM2",
		"hex": "1ACAAEDECE405B2A958212629E16F2EB46B153EEE94CDD350FDEFF52795525B7", "hex of its kind": "001ACAAEDECE405B2A958212629E16F2EB46B153EEE94CDD350FDEFF52795525B7",
		"a seed in hex": "DEDCE9CE67B451D852FD4E846FCDE31C", "hex, one missing": "1ACAAEDECE405B2A958212629E16F2EB46B153EEE94CDD350FDEFF52795525B",
		"words": "legal winner thank year wave sausage worth useful legal winner thank yellow", "RFC 1751": "I IRE BOND BOW TRIO LAID SEAT GOAL HEN IBIS IBIS DARE",
		"secret numbers": "554872 394230 209376 323698 140250 387423 652803 258676", "two groups missing": "554872 394230 209376 323698 140250 387423",
		"numbers without spaces": "554872394230209376323698140250387423652803258676", "a key in base58": "p9JfM6HHi64m6mvB6v5k7G2b1cXzGmYiCNJf6GHPKvFTWdeRVjh",
		"an ed25519 key": "ED1ACAAEDECE405B2A958212629E16F2EB46B153EEE94CDD350FDEFF52795525B7", "no point of the curve": "02" + strings.Repeat("F", 64),
		"beside a public key": "0330E7FC9D56BB25D6893BA3F317AE5BCF33B3291BD63DB32654A313222F7FD020 " + badSecret,
		"in a sentence":       "my seed is " + badSecret,
	} {
		_, err := f.Preview(t.Context(), owner(1), money.XRPL, secret, "")
		if code(err) != wallet.CodePrivate || strings.Contains(fmt.Sprint(err, fields(err)), secret[:12]) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
