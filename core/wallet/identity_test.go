package wallet_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/internal/testing/speed"
	"cointill/models"
	"cointill/models/modelstest"
)

// branchOf is the descriptor of a branch of the first account, as its own key would write it.
func branchOf(n int) string { return fmt.Sprintf("wpkh(%s/%d/*)", tpub, n) }

// TestSameBranch: a branch goes on where it had stopped in whatever way it is entered.
func TestSameBranch(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		first := f.mustUse(1, vpub, "")
		f.mustAssign(1, 120)
		child := receiveBranch(t, tpub)
		for i, key := range []string{"wpkh(" + child + "/*)", branchOf(0), described, "tr(" + child + "/*)", vpub} {
			w := f.mustUse(1, key, "")
			row := f.mustAssign(1, 1)[0]
			if w.ID != first.ID || *row.WalletID != first.ID || *row.Index != int64(120+i) {
				t.Errorf("%s: wallet %d, index %d of %d", key, w.ID, *row.Index, *row.WalletID)
			}
		}
	})
}

// TestAccountIsKept: a branch that was once known to belong to an account keeps
// the whole account from others, however it is entered later.
func TestAccountIsKept(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		child := "wpkh(" + receiveBranch(t, tpub) + "/*)"
		for _, keys := range [][]string{{vpub, child}, {child, vpub}, {child, vpub, child}} {
			f := newFixture(t, modelstest.Open(t, db.Postgres(), time.Now))
			for _, key := range keys {
				f.mustUse(1, key, "")
			}
			if _, err := f.use(2, branchOf(5), ""); code(err) != "key_in_use" {
				t.Errorf("%d keys: %v", len(keys), err)
			}
		}
	})
}

// TestAnothersChange: what a merchant's own wallet keeps its change on is no
// branch for anybody else's payments, whichever of the two was there first.
func TestAnothersChange(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		change := "pkh(" + branchKey(t, tpub, 1) + "/*)"
		for _, keys := range [][2]string{{vpub, change}, {tpub, change}, {"wpkh(" + tpub + "/<0;1>/*)", change}, {change, vpub}} {
			f := newFixture(t, modelstest.Open(t, db.Postgres(), time.Now))
			f.mustUse(1, keys[0], "")
			if _, err := f.use(2, keys[1], ""); code(err) != "key_in_use" {
				t.Errorf("%v: %v", keys, err)
			}
			f.mustUse(1, keys[1], "") // one's own is one's own affair
		}
	})
}

// TestAnothersBranch: nothing needs to have been given out for another's account to be refused.
func TestAnothersBranch(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		f.mustUse(1, vpub, "")
		child := receiveBranch(t, tpub)
		live := owner(1)
		live.Domain = scope.Live
		f.Networks = func(_ scope.Domain, c money.Chain) (wallet.Net, bool) { return wallet.Find(string(c) + "-regtest") }
		for _, key := range []string{"wpkh(" + child + "/*)", "pkh(" + child + "/7/*)", branchOf(0), branchOf(5), "tr(" + tpub + "/<3;4>/*)", tpub} {
			if _, err := f.use(2, key, ""); code(err) != "key_in_use" || fault.KindOf(err) != fault.Conflict {
				t.Errorf("another business with %s: %v", key, err)
			}
			if _, err := f.useAs(live, key, ""); code(err) != "key_in_use" {
				t.Errorf("another domain with %s: %v", key, err)
			}
		}
		f.mustUse(2, otherVpub, "")
		f.mustUse(1, branchOf(5), "") // who has the account may use all of it
		// Refusals leave what the other had in use.
		if row := f.mustAssign(2, 1)[0]; *row.Index != 0 {
			t.Errorf("f.mustAssign(2, 1)[0]: *row.Index = %v", *row.Index)
		}
	})
}

// TestOtherBranch: another branch of one's own account is a wallet of its own.
func TestOtherBranch(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		first := f.mustUse(1, branchOf(0), "")
		for _, row := range f.mustAssign(1, 30) {
			f.pay(row, false)
		}
		f.expect(29, 29, 0, 0, "")
		second := f.mustUse(1, branchOf(5), "")
		if second.ID == first.ID || second.NextIndex != 0 || second.Account != first.Account || second.Fingerprint == first.Fingerprint {
			t.Errorf("%+v", second)
		}
		if s := f.meter(); s.Path != "5/0" {
			t.Errorf("f.meter(): s.Path = %v", s.Path)
		}
		if row := f.mustAssign(1, 1)[0]; *row.WalletID != second.ID || *row.Index != 0 {
			t.Errorf("%+v", row)
		}
		f.expect(0, -1, 1, 1, "")
		f.mustUse(1, tpub, "")
		f.expect(29, 29, 0, 0, "")
	})
}

// TestConcurrentBranches (BTC-15): of two businesses that enter two branches of one
// account at once, one gets it.
func TestConcurrentBranches(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		for range 10 {
			if err := db.Exec(t.Context()).Where("1 = 1").Delete(&models.Wallet{}).Error; err != nil {
				t.Fatal(err)
			}
			var group sync.WaitGroup
			errs := make([]error, 2)
			for i := range errs {
				group.Go(func() { _, errs[i] = f.use(int64(i+1), branchOf(i*5), "") })
			}
			group.Wait()
			if got := []string{code(errs[0]), code(errs[1])}; fmt.Sprint(got) != "[ key_in_use]" && fmt.Sprint(got) != "[key_in_use ]" {
				t.Fatalf("%q", got)
			}
		}
	})
}

// TestManyTaken: however many addresses were given out before, a payment finds a fresh one.
func TestManyTaken(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		w := f.mustUse(1, vpub, "")
		seen := map[string]bool{}
		for _, row := range f.mustAssign(1, 350) {
			seen[row.Address] = true
		}
		f.setIndex(w.ID, 0)
		last := int64(349)
		for _, row := range f.mustAssign(1, 3) {
			if seen[row.Address] || *row.Index <= last || *row.Index > 1_000 {
				t.Errorf("index %d after %d, given out before: %v", *row.Index, last, seen[row.Address])
			}
			seen[row.Address], last = true, *row.Index
		}
	})
}

// TestIndexesRunOut: a key with no address left says so, and again.
func TestIndexesRunOut(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		w := f.mustUse(1, vpub, "")
		f.setIndex(w.ID, 1<<31-1)
		if row := f.mustAssign(1, 1)[0]; *row.Index != 1<<31-1 {
			t.Errorf("f.mustAssign(1, 1)[0]: *row.Index = %v", *row.Index)
		}
		for range 2 {
			if _, err := f.assign(1); code(err) != "no_wallet" || fault.KindOf(err) != fault.Unavailable {
				t.Error(err)
			}
		}
	})
}

// TestLeftOutIsWatched (BTC-17): addresses that an advance leaves out may have been
// shown, so money on them must be found; no payment gets one.
func TestLeftOutIsWatched(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		w := f.mustUse(1, vpub, "")
		f.mustAssign(1, 20)
		if err := f.Advance(t.Context(), "operator", w.ID, 40); err != nil {
			t.Fatal(err)
		}
		rows := f.leftOut(w.ID)
		key, err := wallet.ParseKey(vpub, network(t, money.Bitcoin, "regtest"), "")
		if err != nil || len(rows) != 20 {
			t.Fatalf("%d rows: %v", len(rows), err)
		}
		for i, row := range rows {
			address, _ := key.Address(int64(20 + i))
			if row.Address != address || *row.Index != int64(20+i) || row.Tag != wallet.NoTag || row.BusinessID != 1 || row.Domain != "test" || row.Network != regtest {
				t.Errorf("%d: %+v", i, row)
			}
		}
		f.expect(39, -1, 40, 40, "40 addresses")
		f.pay(rows[12], false) // money on one of them is money that the wallet shows
		f.expect(39, 32, 7, 32, "32 addresses")
		f.setIndex(w.ID, 20) // even then
		if row := f.mustAssign(1, 1)[0]; *row.Index < 40 {
			t.Errorf("index %d", *row.Index)
		}
	})
}

// TestAdvanceFar: one command leaves out ten thousand at most.
func TestAdvanceFar(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		w := f.mustUse(1, vpub, "")
		if err := f.Advance(t.Context(), "operator", w.ID, 10_001); code(err) != "validation_failed" {
			t.Error(err)
		}
		if rows := f.leftOut(w.ID); len(rows) != 0 {
			t.Errorf("%d addresses of a refused advance", len(rows))
		}
		far := speed.Pick(int64(1_000), 10_000)
		if err := f.Advance(t.Context(), "operator", w.ID, far); err != nil {
			t.Fatal(err)
		}
		if rows := f.leftOut(w.ID); int64(len(rows)) != far {
			t.Errorf("%d addresses", len(rows))
		}
		f.setIndex(w.ID, 1<<31-5)
		if err := f.Advance(t.Context(), "operator", w.ID, 1<<31+5); code(err) != "validation_failed" {
			t.Error(err)
		}
	})
}

// TestAdvanceWhileServing: payments and advances at once share no address.
func TestAdvanceWhileServing(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		w := f.mustUse(1, vpub, "")
		var group sync.WaitGroup
		rows := make([]models.Destination, 20)
		for i := range rows {
			group.Go(func() {
				var err error
				if rows[i], err = f.assign(1); err != nil {
					t.Error(err)
				}
			})
		}
		group.Go(func() {
			if err := f.Advance(t.Context(), "operator", w.ID, 200); err != nil {
				t.Error(err)
			}
		})
		group.Wait()
		taken := map[int64]bool{}
		for _, row := range append(rows, f.leftOut(w.ID)...) {
			if taken[*row.Index] {
				t.Errorf("index %d twice", *row.Index)
			}
			taken[*row.Index] = true
		}
		for i := range int64(200) {
			if !taken[i] {
				t.Errorf("index %d is not watched", i)
			}
		}
	})
}

// leftOut are the wallet's native SegWit destinations that no payment has, by index.
func (f *fixture) leftOut(id int64) (rows []models.Destination) {
	f.t.Helper()
	if err := f.db.Read(f.t.Context()).Where("wallet_id = ? AND payment_id IS NULL AND address LIKE 'bcrt1q%'", id).Order("idx").Find(&rows).Error; err != nil {
		f.t.Fatal(err)
	}
	return rows
}

// setIndex sets a wallet's next index as a restored backup would.
func (f *fixture) setIndex(id, to int64) {
	f.t.Helper()
	if err := f.db.Exec(f.t.Context()).Model(&models.Wallet{}).Where("id = ?", id).Update("next_index", to).Error; err != nil {
		f.t.Fatal(err)
	}
}
