package receiving_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	xrp "cointill/chain/xrpl/params"
	"cointill/core/account"
	"cointill/core/account/accounttest"
	"cointill/core/account/auth"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/mail"
	"cointill/core/money"
	"cointill/core/receiving"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/wallet"
	"cointill/models"
	"cointill/models/modelstest"
)

const (
	tpub      = "tpubDC3DEsuwXbyQxVwGwBuwk4K9rDVrpFo7xnQmaQAaTkuNS6p7hRbExaNL7HmK4Wg4SsQyUCuFATiraAkDt9Zecotc7yZuydheZ9jKpt4fowL"
	otherTpub = "tpubDDrUhjzRWEurqNskqavyPmSy1nejNtp8X1RxrQnrEQiB4SuyrupXK779Kw4eF2XbfzcJMUJuNJYp2nwQDng4iwW81YGELb5EU5JY5MKbnMb"
	password  = "a long enough passphrase"
)

// fixture is the service with a business of two owners and an admin.
type fixture struct {
	*receiving.Service
	t     *testing.T
	sc    scope.Scope
	woken int
	told  []receiving.Notice
}

func each(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)).Now
		box, err := secret.NewBox(make([]byte, 32))
		must(t, err)
		accounts := accounttest.New(db, now, box)
		_, owner, err := accounts.CreateBusiness(t.Context(), account.NewBusiness{BusinessName: "Shop", Name: "Ada", Email: "ada@example.com", Password: password})
		must(t, err)
		m, err := accounts.Membership(t.Context(), owner.ID, 0)
		must(t, err)
		for email, role := range map[string]scope.Role{"bea@example.com": scope.Owner, "cyd@example.com": scope.Admin} {
			user := models.User{Email: email, Name: "N", CreatedAt: now(), UpdatedAt: now()}
			must(t, db.Exec(t.Context()).Create(&user).Error)
			must(t, db.Exec(t.Context()).Create(&models.Member{BusinessID: m.Business.ID, UserID: user.ID, Role: string(role), CreatedAt: now()}).Error)
		}
		f := &fixture{t: t, sc: m.Scope(scope.Test)}
		var mu sync.Mutex
		f.Service = &receiving.Service{DB: db, Clock: now, Users: accounts.Auth, Mails: &mail.Service{DB: db, Clock: now}, Pages: "http://x/methods",
			Wallets: &wallet.Service{DB: db, Clock: now, Networks: func(_ scope.Domain, c money.Chain) (wallet.Net, bool) { return wallet.Find(string(c) + "-regtest") }},
			Wake:    func() { mu.Lock(); defer mu.Unlock(); f.woken++ },
			Render: func(n receiving.Notice) (string, string, string) {
				mu.Lock()
				defer mu.Unlock()
				f.told = append(f.told, n)
				return "Changed", "It changed.", "<p>It changed.</p>"
			}}
		test(t, f)
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) change(key, password string) (models.Wallet, bool, error) {
	return f.ChangeWallet(f.t.Context(), f.sc, receiving.Change{Chain: money.Bitcoin, Key: key, Proof: auth.Proof{Password: password, IP: "192.0.2.1"}})
}

// count tells wallets, mails and audit rows of changes.
func (f *fixture) count() string {
	f.t.Helper()
	var wallets, mails, audits int64
	db := f.DB.Read(f.t.Context())
	must(f.t, errors.Join(db.Model(&models.Wallet{}).Count(&wallets).Error, db.Model(&models.Mail{}).Count(&mails).Error,
		db.Model(&models.Audit{}).Where("action = 'wallet.changed'").Count(&audits).Error))
	return fmt.Sprintf("%d wallets, %d mails, %d audit rows", wallets, mails, audits)
}

func TestChangeTellsEveryOwner(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for i, key := range []string{tpub, tpub, otherTpub} {
			used, changed, err := f.change(key, password)
			if err != nil || used.Key != key || changed != (i != 1) {
				t.Fatalf("used = %v, changed = %v, err = %v", used, changed, err)
			}
		}
		if got := f.count(); got != "2 wallets, 4 mails, 2 audit rows" || f.woken != 2 {
			t.Errorf("f.count(): got = %v, f.woken = %v", got, f.woken)
		}
		var to []string
		must(t, f.DB.Read(t.Context()).Model(&models.Mail{}).Order("id").Pluck("to_address", &to).Error)
		if !slices.Equal(to, []string{"ada@example.com", "bea@example.com", "ada@example.com", "bea@example.com"}) {
			t.Errorf("to = %v", to)
		}
		first, last := f.told[0], f.told[3]
		if first.Former != "" || last.Former != "tpubDC3D…t4fowL" || last.Key != "tpubDDrU…MKbnMb" || last.By.Email != "ada@example.com" || len(last.First) != 5 ||
			last.URL != "http://x/methods/crypto_bitcoin/wallet" || last.At.Format("15:04 MST") != "13:00 WAT" || last.Network != "bitcoin-regtest" {
			t.Errorf("%+v\n%+v", first, last)
		}
		history, err := f.ListHistory(t.Context(), f.sc, money.Bitcoin)
		if err != nil || len(history) != 2 || history[0].Key != otherTpub || history[1].Active {
			t.Errorf("history = %v, err = %v", history, err)
		}
		if doge, err := f.ListHistory(t.Context(), f.sc, money.Dogecoin); err != nil || len(doge) != 0 {
			t.Errorf("f.History(f.sc, money.Dogecoin): doge = %v, err = %v", doge, err)
		}
	})
}

// TestAllOrNothing: a mail that can't be queued takes the change back.
func TestAllOrNothing(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		working := f.Mails
		f.Mails = broken{}
		if _, _, err := f.change(tpub, password); !errors.Is(err, errBroken) {
			t.Fatal(err)
		}
		if got := f.count(); got != "0 wallets, 0 mails, 0 audit rows" || f.woken != 0 {
			t.Errorf("f.count(): got = %v", got)
		}
		f.Mails = working
		if _, changed, err := f.change(tpub, password); err != nil || !changed {
			t.Error(err)
		}
	})
}

// TestPreparedIsNoHistory: a key that a restored database doesn't know is stored before it
// is used. Where it can't be used, it is no wallet that ever received, until it is.
func TestPreparedIsNoHistory(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		must(t, f.DB.Continue(t.Context(), 2))
		working := f.Mails
		f.Mails = broken{}
		for range 2 {
			if _, _, err := f.change(tpub, password); !errors.Is(err, errBroken) {
				t.Fatal(err)
			}
			if list, err := f.ListHistory(t.Context(), f.sc, money.Bitcoin); err != nil || len(list) != 0 || f.count() != "1 wallets, 0 mails, 0 audit rows" {
				t.Errorf("f.History(f.sc, money.Bitcoin): f.count() = %v, list = %v, err = %v", f.count(), list, err)
			}
		}
		f.Mails = working
		_, changed, err := f.change(tpub, password)
		must(t, err)
		_, _, err = f.change(otherTpub, password)
		must(t, err)
		list, err := f.ListHistory(t.Context(), f.sc, money.Bitcoin)
		if err != nil || !changed || len(list) != 2 || f.count() != "2 wallets, 4 mails, 2 audit rows" {
			t.Errorf("changed = %v, f.count() = %v, list = %v, err = %v", changed, f.count(), list, err)
		}
		for _, w := range list {
			if w.CreatedBy != f.sc.Actor || w.NextIndex != 2 {
				t.Errorf("%+v", w)
			}
		}
	})
}

var errBroken = errors.New("broken")

// broken is a mail queue on a full disk.
type broken struct{}

func (broken) Notify(*models.Tx, mail.Notice) error { return errBroken }

// trusting lets everybody in, so that many changes run at the same moment.
type trusting struct{ auth.User }

func (a trusting) Reauthenticate(context.Context, scope.Scope, auth.Proof) (auth.User, error) {
	return a.User, nil
}

// TestTwinsTellOnce: the same change sent many times at once is one change.
func TestTwinsTellOnce(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.Users = trusting{auth.User{ID: 1, Email: "ada@example.com"}}
		if _, _, err := f.change(otherTpub, password); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		results := make([]error, 8)
		for i := range results {
			wg.Go(func() { _, _, results[i] = f.change(tpub, password) })
		}
		wg.Wait()
		if err := errors.Join(results...); err != nil {
			t.Fatal(err)
		}
		if got := f.count(); got != "2 wallets, 4 mails, 2 audit rows" || f.woken != 2 {
			t.Errorf("f.count(): got = %v, f.woken = %v", got, f.woken)
		}
	})
}

func TestRefused(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		if _, _, err := f.change(tpub, "not the passphrase"); fault.KindOf(err) != fault.Invalid {
			t.Error(err)
		}
		if _, _, err := f.change(tpub, password); fault.KindOf(err) != fault.Limited {
			t.Error(err)
		}
		if _, _, err := f.change(tpub[:50], password); fault.KindOf(err) != fault.Invalid {
			t.Error(err)
		}
		for _, role := range []scope.Role{scope.Admin, scope.Finance, scope.Developer, scope.API} {
			f.sc.Role = role
			if _, _, err := f.change(tpub, password); fault.KindOf(err) != fault.Forbidden {
				t.Errorf("%s: %v", role, err)
			}
		}
		if _, err := f.ListHistory(t.Context(), scope.Scope{Role: scope.Owner}, money.Bitcoin); err == nil {
			t.Error("a zero scope was let in")
		}
		var audits int64
		must(t, f.DB.Read(t.Context()).Model(&models.Audit{}).Where("action = 'wallet.change_refused'").Count(&audits).Error)
		if got := f.count(); got != "0 wallets, 0 mails, 0 audit rows" || audits != 1 {
			t.Errorf("f.count(): got = %v, audits = %v", got, audits)
		}
	})
}

// TestChangeAccount: an account of the XRP Ledger is told of whole; entered again
// it changes nothing, also where it is shared.
func TestChangeAccount(t *testing.T) {
	const entered, other = "rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY", "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh"
	each(t, func(t *testing.T, f *fixture) {
		p, _ := xrp.Lookup("testnet")
		wallets := f.Wallets
		wallets.SharedAccounts = true
		wallets.Ledgers = map[scope.Domain]wallet.Ledger{scope.Test: {Params: p, Look: func(_ context.Context, a xrp.Account) (wallet.LedgerAccount, error) {
			return wallet.LedgerAccount{Exists: true}, nil
		}}}
		another := scope.Scope{BusinessID: f.sc.BusinessID + 1, Domain: scope.Test, Actor: "user:9", Role: scope.Owner}
		must(t, f.DB.Write(t.Context(), func(tx *models.Tx) error {
			_, err := wallets.Use(tx, another, money.XRPL, entered, "", "user:9")
			return err
		}))
		for i, c := range []struct {
			account, password string
			changed           bool
		}{{entered, password, true}, {entered, "nobody is asked", false}, {other, password, true}} {
			used, changed, err := f.ChangeWallet(t.Context(), f.sc, receiving.Change{Chain: money.XRPL, Key: c.account, Proof: auth.Proof{Password: c.password, IP: "192.0.2.1"}})
			if err != nil || changed != c.changed || used.Key != c.account {
				t.Fatalf("i = %v, used = %v, changed = %v, err = %v", i, used, changed, err)
			}
		}
		if got := f.count(); got != "3 wallets, 4 mails, 2 audit rows" {
			t.Errorf("f.count(): got = %v", got)
		}
		if n := f.told[2]; n.Key != other || n.Former != entered || n.Script != wallet.ScriptAccount || n.Network != "xrp-testnet" || n.URL != "http://x/methods/crypto_ripple/wallet" {
			t.Errorf("%+v", n)
		}
	})
}

func TestWords(t *testing.T) {
	for _, c := range [][3]string{
		{"wpkh", "bitcoin-mainnet", "native SegWit (bc1q…)"}, {"tr", "bitcoin-mainnet", "Taproot (bc1p…)"}, {"sh(wpkh)", "bitcoin-mainnet", "nested SegWit (3…)"},
		{"pkh", "bitcoin-mainnet", "legacy (1…)"}, {"wpkh", "bitcoin-testnet4", "native SegWit (tb1q…)"}, {"wpkh", "bitcoin-regtest", "native SegWit (bcrt1q…)"},
		{"sh(wpkh)", "bitcoin-signet", "nested SegWit (2…)"}, {"pkh", "dogecoin-mainnet", "legacy (D…)"}, {"wpkh", "moon-1", "native SegWit"}, {"pkh", "moon", "legacy"}, {"wpkh", "dogecoin-mainnet", "native SegWit"},
	} {
		if got := receiving.DescribeKind(c[0], c[1]).String(); got != c[2] {
			t.Errorf("%s on %s: %q, want %q", c[0], c[1], got, c[2])
		}
	}
	for key, want := range map[string]string{tpub: "tpubDC3D…t4fowL", "wpkh([d34db33f/84h/1h/0h]" + tpub + "/0/*)#aaaaaaaa": "wpkh([d34db33f/84h/1h/0h]tpubDC3D…t4fowL/0/*)#aaaaaaaa", "": ""} {
		if got := receiving.ShortKey(key); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for network, want := range map[string]string{"bitcoin-mainnet": "Bitcoin", "bitcoin-testnet4": "Bitcoin testnet4", "dogecoin-mainnet": "Dogecoin", "moon-1": "moon-1"} {
		if got := receiving.NetworkName(network); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if strings.Contains(receiving.ShortKey(tpub), tpub[10:40]) {
		t.Error("not short")
	}
}

// TestOperate: the operator needs no password, and owners are told all the same.
func TestOperate(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		operator := f.sc
		operator.Actor, operator.Role = "operator", scope.System
		used, preview, err := f.ChangeByOperator(t.Context(), operator, receiving.Change{Chain: money.Bitcoin, Key: tpub})
		must(t, err)
		if !used.Active || used.CreatedBy != "operator" || len(preview.Addresses) != 5 || len(f.told) != 2 || f.told[0].By.Email != "" {
			t.Errorf("%+v, %d told", used, len(f.told))
		}
		if _, _, err := f.ChangeByOperator(t.Context(), operator, receiving.Change{Chain: money.Bitcoin, Key: "xprv"}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("no key: %v", err)
		}
	})
}
