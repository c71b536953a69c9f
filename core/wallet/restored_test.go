package wallet_test

import (
	"errors"
	"strings"
	"testing"

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
			if err := db.Continue(t.Context(), by); err != nil {
				t.Fatal(err)
			}
		}
		begins := func(sc scope.Scope, key string, want int64) {
			t.Helper()
			if p, err := f.Preview(t.Context(), sc, money.Bitcoin, key, ""); err != nil || p.Begins != want || len(p.Addresses) != 5 {
				t.Errorf("preview: begins at %d, %v, want %d", p.Begins, err, want)
			}
			w, err := f.useAs(sc, key, "")
			if err != nil || w.NextIndex != want {
				t.Errorf("begins at %d, %v, want %d", w.NextIndex, err, want)
			}
			var watched int64
			if err := db.Read(t.Context()).Model(&models.Destination{}).Where("wallet_id = ? AND payment_id IS NULL AND idx < ?", w.ID, want).Count(&watched).Error; err != nil || watched != want {
				t.Errorf("%d of %d addresses are watched, %v", watched, want, err)
			}
		}
		begins(owner(1), otherVpub, 3)
		if row := f.mustAssign(1, 1)[0]; *row.Index != 3 {
			t.Error("the first payment got index", *row.Index)
		}
		begins(owner(1), known.Key, 0)
		live := owner(2)
		live.Domain = scope.Live
		begins(live, bip84, 3)

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
			if !errors.As(err, &f) || !strings.Contains(strings.Join(f.Fields["key"], ""), "--all-entered") {
				t.Error("a list:", err)
			}
		}
		if err := db.Complete(t.Context()); err != nil {
			t.Fatal(err)
		}
		if looked, used = enter(); looked != nil || used != nil {
			t.Error(looked, used)
		}
	})
}
