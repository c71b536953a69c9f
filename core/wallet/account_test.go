package wallet_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/addressmark"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/models"
	"cointill/models/modelstest"
)

const regtest = "bitcoin-regtest"

// Three keys of one account, as a test network's wallets write it, and another account.
var (
	tpub, vpub, described = accountKeys("tpub", 0), accountKeys("vpub", 0), accountKeys("descriptor", 0)
	otherVpub             = accountKeys("vpub", 1)
)

// accountKeys takes the keys of m/84'/1'/n' out of the vectors, in a format.
func accountKeys(format string, n int) string {
	if format == "descriptor" {
		return "wpkh(" + accountKeys("tpub", n) + "/<0;1>/*)"
	}
	for _, a := range readVectors("addresses.json").Accounts {
		short := a.Chain == money.Bitcoin && a.Script == wallet.ScriptWPKH && strings.HasPrefix(a.Key, format)
		if !short || format == "tpub" && a.Network != "testnet4" || format == "vpub" && a.Network != "regtest" {
			continue
		}
		if n == 0 {
			return a.Key
		}
		n--
	}
	panic("no such key")
}

// fixture is a wallet service over a database, with businesses 1 and 2.
type fixture struct {
	*wallet.Service
	t        *testing.T
	db       *models.DB
	clock    *clock.Fake
	network  string // of payments
	payments chan int64
}

func newFixture(t *testing.T, db *models.DB) *fixture {
	t.Helper()
	now := clock.NewFake(time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC))
	f := &fixture{t: t, db: db, clock: now, network: regtest, payments: make(chan int64, 1)}
	f.payments <- 1
	f.Service = &wallet.Service{Receivers: wallet.SandboxReceivers(), DB: db, Clock: now.Now, Marks: addressmark.New(t.TempDir()),
		Networks: func(d scope.Domain, c money.Chain) (wallet.Net, bool) {
			return wallet.Find(string(c) + "-" + map[scope.Domain]string{scope.Test: "regtest", scope.Live: "mainnet"}[d])
		}}
	for id := range int64(2) {
		if err := db.Exec(t.Context()).Create(&models.Business{ID: id + 1, Code: ident.New("BUS_"), Name: "Shop", TimeZone: "UTC"}).Error; err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func owner(business int64) scope.Scope {
	return scope.Scope{BusinessID: business, Domain: scope.Test, Actor: "user:1", Role: scope.Owner}
}

func (f *fixture) use(business int64, key, script string) (models.Wallet, error) {
	return f.useAs(owner(business), key, script)
}

func (f *fixture) useAs(sc scope.Scope, key, script string) (w models.Wallet, err error) {
	err = f.db.Write(f.t.Context(), func(tx *models.Tx) error {
		w, err = f.Use(tx, sc, money.Bitcoin, key, script, "user:1")
		return err
	})
	return w, err
}

func (f *fixture) mustUse(business int64, key, script string) models.Wallet {
	f.t.Helper()
	w, err := f.use(business, key, script)
	if err != nil {
		f.t.Fatal(err)
	}
	return w
}

// assign gives a new payment of the business its address.
func (f *fixture) assign(business int64) (row models.Destination, err error) {
	id := <-f.payments
	f.payments <- id + 1
	p := &models.Payment{ID: id, BusinessID: business, Domain: string(scope.Test), Network: f.network, Reference: ident.New("PAY_")}
	err = f.db.Write(f.t.Context(), func(tx *models.Tx) error {
		place, err := f.Assign(tx, p, "", f.clock.Now())
		if err != nil {
			return err
		}
		if place.Tag != nil {
			return errors.New("an address of bitcoin has a tag")
		}
		return tx.Where("network = ? AND address = ? AND payment_id = ?", f.network, place.Address, id).Take(&row).Error
	})
	return row, err
}

func (f *fixture) mustAssign(business int64, times int) (rows []models.Destination) {
	f.t.Helper()
	for range times {
		row, err := f.assign(business)
		if err != nil {
			f.t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// code is the code of a fault, "" for no error.
func code(err error) string {
	var f *fault.Fault
	if err != nil && !errors.As(err, &f) {
		return err.Error()
	}
	if err == nil {
		return ""
	}
	return f.Code
}

func TestAssignFromKey(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		if _, err := f.assign(1); code(err) != "no_wallet" || fault.KindOf(err) != fault.Unavailable {
			t.Fatal("without a wallet:", err)
		}
		for network, want := range map[chain.Network]bool{chain.Sandbox(money.Bitcoin): true, regtest: false} {
			if _, ready, err := f.Ready(t.Context(), owner(1), network); err != nil || ready != want {
				t.Errorf("f.Ready(owner(1), network): network = %v, ready = %v, err = %v", network, ready, err)
			}
		}
		w := f.mustUse(1, vpub, "")
		if _, ready, err := f.Ready(t.Context(), owner(1), regtest); err != nil || !ready {
			t.Errorf("f.Ready(owner(1), regtest): ready = %v, err = %v", ready, err)
		}
		preview, err := f.Preview(t.Context(), owner(1), money.Bitcoin, vpub, "")
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range f.mustAssign(1, 5) {
			if row.Address != preview.Addresses[i] || *row.WalletID != w.ID || *row.Index != int64(i) || row.Tag != wallet.NoTag {
				t.Errorf("%d: %+v, want %s", i, row, preview.Addresses[i])
			}
		}
		if _, err := f.assign(2); code(err) != "no_wallet" {
			t.Error("another business:", err)
		}
	})
}

// TestTakenIsSkipped: an address that anybody was given before is never given again.
func TestTakenIsSkipped(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		f.mustUse(1, vpub, "")
		preview, err := f.Preview(t.Context(), owner(1), money.Bitcoin, vpub, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{0, 2, 3} {
			row := models.Destination{Network: regtest, Address: preview.Addresses[i], Tag: wallet.NoTag, BusinessID: 1, Domain: "test", CreatedAt: f.clock.Now()}
			if err := db.Exec(t.Context()).Create(&row).Error; err != nil {
				t.Fatal(err)
			}
		}
		rows := f.mustAssign(1, 2)
		if *rows[0].Index != 1 || *rows[1].Index != 4 {
			t.Errorf("indexes %d and %d", *rows[0].Index, *rows[1].Index)
		}
	})
}

// TestConcurrentAssign: fifty payments at once get the addresses 0 to 49.
func TestConcurrentAssign(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		f.mustUse(1, vpub, "")
		var group sync.WaitGroup
		rows, errs := make([]models.Destination, 50), make([]error, 50)
		for i := range rows {
			group.Go(func() { rows[i], errs[i] = f.assign(1) })
		}
		group.Wait()
		addresses, indexes := map[string]bool{}, map[int64]bool{}
		for i, row := range rows {
			if errs[i] != nil {
				t.Fatalf("errs[i] = %v", errs[i])
			}
			addresses[row.Address], indexes[*row.Index] = true, true
		}
		for i := range int64(50) {
			if !indexes[i] {
				t.Errorf("index %d was left out", i)
			}
		}
		if len(addresses) != 50 || len(indexes) != 50 {
			t.Errorf("%d addresses, %d indexes", len(addresses), len(indexes))
		}
	})
}

// TestFailedAssign: what is rolled back leaves no gap.
func TestFailedAssign(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		f.mustUse(1, vpub, "")
		stop := errors.New("stop")
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			p := &models.Payment{ID: 900, BusinessID: 1, Domain: "test", Network: regtest}
			if _, err := f.Assign(tx, p, "", f.clock.Now()); err != nil {
				return err
			}
			return stop
		})
		if !errors.Is(err, stop) {
			t.Fatal(err)
		}
		if row := f.mustAssign(1, 1)[0]; *row.Index != 0 {
			t.Errorf("index %d", *row.Index)
		}
		err = db.Write(t.Context(), func(tx *models.Tx) error {
			_, err := f.Assign(tx, &models.Payment{ID: 901, BusinessID: 1, Domain: "test", Network: "bitcoin-nowhere"},
				"", f.clock.Now())
			return err
		})
		if err == nil {
			t.Error("an unknown network has an address")
		}
	})
}

func TestUse(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		first := f.mustUse(1, vpub, "")
		if !first.Active || first.NextIndex != 0 || first.Key != vpub || first.Script != wallet.ScriptWPKH || first.CreatedBy != "user:1" {
			t.Errorf("%+v", first)
		}
		f.mustAssign(1, 3)
		for _, key := range []string{vpub, tpub, described} { // by no format can another business have it
			if _, err := f.use(2, key, ""); code(err) != "key_in_use" || fault.KindOf(err) != fault.Conflict {
				t.Errorf("%s: %v", key, err)
			}
		}
		second := f.mustUse(1, otherVpub, "")
		if row := f.mustAssign(1, 1)[0]; *row.WalletID != second.ID || *row.Index != 0 {
			t.Errorf("%+v", row)
		}
		if _, err := f.use(2, vpub, ""); code(err) != "key_in_use" {
			t.Error("a key that is not active any more:", err)
		}
		back := f.mustUse(1, described, "")
		if back.ID != first.ID || back.NextIndex != 3 || !strings.HasPrefix(back.Key, described+"#") {
			t.Errorf("%+v", back)
		}
		if row := f.mustAssign(1, 1)[0]; *row.WalletID != first.ID || *row.Index != 3 {
			t.Errorf("%+v", row)
		}
		if same := f.mustUse(1, described, ""); same.ID != first.ID || same.NextIndex != 4 {
			t.Errorf("%+v", same)
		}
		var active int64
		if err := db.Read(t.Context()).Model(&models.Wallet{}).Where("active AND business_id = 1").Count(&active).Error; err != nil || active != 1 {
			t.Errorf("%d active wallets: %v", active, err)
		}
		live := owner(1)
		live.Domain = scope.Live
		if _, err := f.Preview(t.Context(), live, money.Bitcoin, vpub, ""); code(err) != "validation_failed" {
			t.Error("a test network's key in live:", err)
		}
		for _, role := range []scope.Role{scope.Admin, scope.Finance, scope.Developer, scope.API} {
			sc := owner(1)
			sc.Role = role
			if _, err := f.Preview(t.Context(), sc, money.Bitcoin, vpub, ""); fault.KindOf(err) != fault.Forbidden {
				t.Errorf("%s: %v", role, err)
			}
		}
		if _, err := f.Preview(t.Context(), owner(1), money.XRPL, vpub, ""); code(err) != "no_network" {
			t.Error(err)
		}
	})
}

func TestPreview(t *testing.T) {
	t.Parallel()
	f := newFixture(t, modelstest.Open(t, false, time.Now))
	scripts := strings.Join(network(t, money.Bitcoin, "regtest").Scripts, " ")
	for key, want := range map[string]string{
		tpub:      "tpub wpkh 0/* 0/4 of " + scripts,
		vpub:      "vpub wpkh 0/* 0/4 of wpkh",
		described: "descriptor wpkh 0/* 0/4 of wpkh",
		"tr([00000000/86h]" + tpub + "/7/<3;4>/*)": "descriptor tr 7/3/* 7/3/4 of tr",
		"pkh(" + receiveBranch(t, tpub) + "/*)":    "descriptor pkh * 4 of pkh",
	} {
		p, err := f.Preview(t.Context(), owner(1), money.Bitcoin, key, "")
		if err != nil || len(p.Addresses) != 5 || len(p.Paths) != 5 {
			t.Fatalf("%s: %+v %v", key, p, err)
		}
		if got := strings.Join([]string{p.Format, p.Script, p.Path, p.Paths[4], "of", strings.Join(p.Scripts, " ")}, " "); got != want {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
	}
	p, err := f.Preview(t.Context(), owner(1), money.Dogecoin, tpub, "")
	if err != nil || strings.Join(p.Scripts, " ") != "pkh" || p.Addresses[0][0] != 'm' && p.Addresses[0][0] != 'n' {
		t.Errorf("%+v %v", p, err)
	}
}

// TestConcurrentUse (BTC-15): of two businesses that enter one account at once, in two
// formats, one gets it.
func TestConcurrentUse(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		for range 10 {
			if err := db.Exec(t.Context()).Where("1 = 1").Delete(&models.Wallet{}).Error; err != nil {
				t.Fatal(err)
			}
			var group sync.WaitGroup
			errs := make([]error, 2)
			for i, key := range []string{vpub, described} {
				group.Go(func() { _, errs[i] = f.use(int64(i+1), key, "") })
			}
			group.Wait()
			if got := []string{code(errs[0]), code(errs[1])}; fmt.Sprint(got) != "[ key_in_use]" && fmt.Sprint(got) != "[key_in_use ]" {
				t.Fatalf("%q", got)
			}
		}
		// And of two keys that one business enters at once, one is active.
		var group sync.WaitGroup
		for _, key := range []string{otherVpub, accountKeys("vpub", 2)} {
			group.Go(func() {
				if _, err := f.use(1, key, ""); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		var active int64
		if err := db.Read(t.Context()).Model(&models.Wallet{}).Where("active AND business_id = 1").Count(&active).Error; err != nil || active != 1 {
			t.Errorf("%d active wallets: %v", active, err)
		}
	})
}

func TestFind(t *testing.T) {
	t.Parallel()
	f := newFixture(t, modelstest.Open(t, false, time.Now))
	v := readVectors("addresses.json")
	for _, a := range v.Accounts {
		if a.Network != "regtest" || a.Key != vpub {
			continue
		}
		for i, index := range v.Indexes {
			if index != 0 && index != 74 && index != wallet.Looked {
				continue
			}
			found, ok, err := f.Find(t.Context(), owner(1), money.Bitcoin, vpub, "", strings.ToUpper(a.Addresses[i])+" ")
			if err != nil || ok != (index < wallet.Looked) || ok && found != index {
				t.Errorf("%d: %d %v %v", index, found, ok, err)
			}
		}
	}
	change, err := wallet.ParseKey("wpkh("+tpub+"/1/*)", network(t, money.Bitcoin, "regtest"), "")
	if err != nil {
		t.Fatal(err)
	}
	address, _ := change.Address(7)
	if index, ok, err := f.Find(t.Context(), owner(1), money.Bitcoin, described, "", address); err != nil || !ok || index != 7 {
		t.Error("change:", index, ok, err)
	}
	for address, why := range map[string]string{
		"": "no address", "nonsense": "no address", "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu": "no address", strings.Repeat("m", 500): "no address",
		"2Mww8dCYPUpKHofjgcXcBCEGmniw9CoaiD2":   "nested SegWit",
		"n4SuGDDXPYWchancLjHE4kQzbkF9GWsxEj":    "legacy",
		wallet.Bech32("bcrt", make([]byte, 32)): "several signers",
	} {
		_, _, err := f.Find(t.Context(), owner(1), money.Bitcoin, vpub, "", address)
		var refusal *fault.Fault
		if !errors.As(err, &refusal) || !strings.Contains(strings.Join(refusal.Fields.InEnglish()["address"], ""),
			why) {
			t.Errorf("%s: %v", address, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := f.Find(ended, owner(1), money.Bitcoin, vpub, "", address); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestPrivateNowhere (BTC-16): what is private stands in no row, no log line and no
// error, whatever it is handed to.
func TestPrivateNowhere(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	t.Cleanup(func() { slog.SetDefault(before) })
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		f.mustUse(1, otherVpub, "")
		for _, secret := range private {
			_, previewed := f.Preview(t.Context(), owner(1), money.Bitcoin, secret, "")
			_, _, found := f.Find(t.Context(), owner(1), money.Bitcoin, secret, "", secret)
			_, _, compared := f.Find(t.Context(), owner(1), money.Bitcoin, vpub, "", secret)
			_, used := f.use(1, secret, "")
			for _, err := range []error{previewed, found, compared, used} {
				var refusal *fault.Fault
				if !errors.As(err, &refusal) || refusal.Kind != fault.Invalid {
					t.Fatalf("%q: %v", secret, err)
				}
				echoes(t, secret, fmt.Sprintf("%+v %#v %v", err, refusal, refusal.Fields))
			}
			var rows []models.Wallet
			if err := db.Read(t.Context()).Find(&rows).Error; err != nil || len(rows) != 1 {
				t.Fatalf("%d wallets: %v", len(rows), err)
			}
			echoes(t, secret, fmt.Sprint(rows)+log.String())
		}
	})
}
