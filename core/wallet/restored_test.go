package wallet_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestKeyOfRestored (BTC-17): a restored database doesn't know which keys were entered
// since the backup was made. Those leave out as many addresses as all others did, for
// whichever business and domain, and watch them; once they are all known again, keys
// begin with their first address as before.
func TestKeyOfRestored(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		known := f.mustUse(1, vpub, "")
		for _, by := range []int64{2, 1} { // restored twice
			_, err := f.AdvanceAll(t.Context(), "operator", by)
			if err = errors.Join(err, db.Continue(t.Context(), by)); err != nil {
				t.Fatal(err)
			}
		}
		begins := func(sc scope.Scope, key string, preview, want int64) {
			t.Helper()
			if p, err := f.Preview(t.Context(), sc, money.Bitcoin, key, ""); err != nil || p.Begins != preview || len(p.Addresses) != 5 {
				t.Errorf("preview: begins at %d, %v, want %d", p.Begins, err, preview)
			}
			if w, err := f.useAs(sc, key, ""); (err == nil) != (preview == 0) {
				t.Errorf("used before it left anything out: at %d, %v", w.NextIndex, err)
			}
			err := f.Prepare(t.Context(), sc, money.Bitcoin, key, "")
			w, failed := f.useAs(sc, key, "")
			if err = errors.Join(err, failed); err != nil || w.NextIndex != want || !w.Active {
				t.Errorf("begins at %d, %v, want %d", w.NextIndex, err, want)
			}
			if watched := f.unpaid(w.ID); watched != want*kinds {
				t.Errorf("%d of %d addresses are watched", watched, want*kinds)
			}
		}
		begins(owner(1), otherVpub, 3, 3)
		if row := f.mustAssign(1, 1)[0]; *row.Index != 3 {
			t.Error("the first payment got index", *row.Index)
		}
		begins(owner(1), known.Key, 0, 3)
		live := owner(2)
		live.Domain = scope.Live
		begins(live, bip84, 3, 3)

		f.Networks = func(_ scope.Domain, c money.Chain) (wallet.Net, bool) { return wallet.Find(sepolia) }
		list := strings.Join(addressList("shop", 9), "\n")
		enter := func() (looked, used error) {
			_, looked = f.Preview(t.Context(), owner(1), money.Ethereum, list, "")
			return looked, db.Write(t.Context(), func(tx *models.Tx) error {
				_, err := f.Use(tx, owner(1), money.Ethereum, list, "", "user:1")
				return err
			})
		}
		looked, used := enter() // nobody knows which of its addresses were given out
		for _, err := range []error{looked, used} {
			var f *fault.Fault
			if !errors.As(err, &f) || !strings.Contains(strings.Join(f.Fields.InEnglish()["key"], ""),
				"--all-entered") {
				t.Error("a list:", err)
			}
		}
		if err := db.Complete(t.Context()); err != nil {
			t.Fatal(err)
		}
		if looked, used = enter(); looked != nil || used != nil {
			t.Errorf("enter(): looked = %v, used = %v", looked, used)
		}
	})
}

// TestKeyOfRestoredForeign (BTC-15, BTC-17): a key that a restored database doesn't know, of
// an account that another business has, is refused before anything is stored of it: or its
// owner would be locked out of it.
func TestKeyOfRestoredForeign(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		f.mustUse(1, branchOf(0), "")
		if err := db.Continue(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
		prepare := func(business int64) error {
			return f.Prepare(t.Context(), owner(business), money.Bitcoin, branchOf(5), "")
		}
		if err := prepare(2); code(err) != "key_in_use" {
			t.Error(err)
		}
		if err := prepare(1); err != nil {
			t.Error(err)
		}
		if w, err := f.use(1, branchOf(5), ""); err != nil || w.BusinessID != 1 || w.NextIndex != 3 {
			t.Errorf("%+v: %v", w, err)
		}
	})
}

// kinds is how many kinds of addresses a key of Bitcoin may make.
const kinds = 4

// TestKindsOfRestored (BTC-17): a restored database doesn't know either whether a wallet's
// kind of address was changed since. So what is left out, of a known key and of another,
// is watched in every kind, and none of it is given to a payment.
func TestKindsOfRestored(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		f.mustUse(1, accountKeys("vpub", 0), "")
		f.mustAssign(1, 5)
		_, err := f.AdvanceAll(t.Context(), "operator", 3)
		if err = errors.Join(err, db.Continue(t.Context(), 3), f.Prepare(t.Context(), owner(2), money.Bitcoin, otherVpub, "")); err != nil {
			t.Fatal(err)
		}
		w := f.mustUse(2, otherVpub, "")
		p, err := f.Preview(t.Context(), owner(1), money.Bitcoin, tpub, "")
		if err != nil || len(p.Scripts) != kinds || p.Begins != 0 {
			t.Fatalf("%+v: %v", p, err)
		}
		for _, script := range p.Scripts {
			key, err := wallet.ParseKey(tpub, network(t, money.Bitcoin, "regtest"), script)
			if err != nil {
				t.Fatal(err)
			}
			for i := range int64(9) {
				address, _ := key.Address(i)
				var rows []models.Destination
				err := db.Read(t.Context()).Where("network = ? AND address = ?", regtest, address).Find(&rows).Error
				left := i >= 5 && i < 8
				issued := i < 5 && script == wallet.ScriptWPKH
				if err != nil || len(rows) == 1 != (left || issued) || left && (rows[0].PaymentID != nil || *rows[0].Index != i) {
					t.Errorf("%s %d: %+v, %v", script, i, rows, err)
				}
			}
		}
		if watched := f.unpaid(w.ID); watched != 3*kinds {
			t.Errorf("%d addresses of the other key are watched", watched)
		}
		f.mustUse(1, tpub, wallet.ScriptPKH)
		if row := f.mustAssign(1, 1)[0]; *row.Index != 8 {
			t.Error("as another kind it goes on at", *row.Index)
		}
	})
}

// unpaid is how many addresses of a wallet are watched for no payment.
func (f *fixture) unpaid(id int64) (count int64) {
	f.t.Helper()
	err := f.db.Read(f.t.Context()).Model(&models.Destination{}).Where("wallet_id = ? AND payment_id IS NULL", id).Count(&count).Error
	if err != nil {
		f.t.Error(err)
	}
	return count
}

// TestKeyOfRestoredBeside (BTC-17): while a key leaves its addresses out, payments get
// theirs: none is made inside a transaction, and few are stored in one. Whoever gives
// up goes on from there.
func TestKeyOfRestoredBeside(t *testing.T) {
	const left, most = 1_200, 500
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		f.mustUse(2, otherVpub, "")
		if err := db.Continue(t.Context(), left); err != nil {
			t.Fatal(err)
		}
		ctx, giveUp := context.WithCancel(t.Context())
		asked, stored, given := 0, int64(0), 0
		f.Clock = func() time.Time { // which each address asks for when it is made
			asked++
			if db.Pools()["write"].Stats().InUse > 0 {
				t.Fatal("an address is made inside a transaction")
			}
			if now := stored; asked%100 == 0 {
				if stored = f.unpaid(2); stored > now+most {
					t.Errorf("%d addresses were stored at once", stored-now)
				}
			}
			if asked%most == 0 {
				f.mustAssign(2, 1)
				given++
			}
			if given == 2 {
				giveUp()
			}
			return f.clock.Now()
		}
		prepare := func(ctx context.Context) error { return f.Prepare(ctx, owner(1), money.Bitcoin, vpub, "") }
		if err := prepare(ctx); !errors.Is(err, context.Canceled) || stored == 0 || stored >= left*kinds {
			t.Fatalf("%d were left out: %v", stored, err)
		}
		if p, err := f.Preview(t.Context(), owner(1), money.Bitcoin, vpub, ""); err != nil || p.Begins != left {
			t.Errorf("what was given up begins at %d: %v", p.Begins, err)
		}
		if err := prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.Clock = f.clock.Now
		if w := f.mustUse(1, vpub, ""); w.NextIndex != left || f.unpaid(w.ID) != left*kinds {
			t.Errorf("begins at %d", w.NextIndex)
		}
		if given < 2 {
			t.Error("no payment got an address meanwhile")
		}
	})
}
