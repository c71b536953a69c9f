package wallet_test

import (
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"

	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/models"
	"cointill/models/modelstest"
)

// receiveBranch is the extended key of an account's branch 0.
func receiveBranch(t *testing.T, account string) string {
	t.Helper()
	return branchKey(t, account, 0)
}

func branchKey(t *testing.T, account string, index uint32) string {
	t.Helper()
	key, err := hdkeychain.NewKeyFromString(account)
	if err != nil {
		t.Fatal(err)
	}
	branch, err := key.Derive(index)
	if err != nil {
		t.Fatal(err)
	}
	return branch.String()
}

// pay lets money be seen on a destination.
func (f *fixture) pay(row models.Destination, gone bool) {
	f.t.Helper()
	seen := models.Transfer{Network: row.Network, TxID: ident.New(""), Asset: "BTC", Address: row.Address, Amount: money.Units(1), Gone: gone,
		BusinessID: row.BusinessID, Domain: row.Domain, PaymentID: row.PaymentID, FirstSeenAt: f.clock.Now(), CreatedAt: f.clock.Now(), UpdatedAt: f.clock.Now()}
	if err := f.db.Exec(f.t.Context()).Create(&seen).Error; err != nil {
		f.t.Fatal(err)
	}
}

// meter reads the gap meter of business 1.
func (f *fixture) meter() wallet.State {
	f.t.Helper()
	state, ok, err := f.Active(f.t.Context(), owner(1), money.Bitcoin)
	if err != nil || !ok {
		f.t.Fatal(ok, err)
	}
	return state
}

func (f *fixture) expect(issued, used, gap, widest int64, advice string) {
	f.t.Helper()
	s := f.meter()
	if s.HighestIssued != issued || s.HighestUsed != used || s.Gap != gap || s.Widest != widest || s.Limit != 20 {
		f.t.Errorf("issued %d, used %d, gap %d, widest %d; want %d, %d, %d, %d", s.HighestIssued, s.HighestUsed, s.Gap, s.Widest, issued, used, gap, widest)
	}
	if advice == "" && !s.Advice.IsZero() || !strings.Contains(s.Advice.String(), advice) {
		f.t.Errorf("advice %q, want %q", s.Advice, advice)
	}
}

// TestGapMeter (BTC-14): unpaid addresses in a row are counted, and warned of from the
// fifteenth on.
func TestGapMeter(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		if _, ok, err := f.Active(t.Context(), owner(1), money.Bitcoin); ok || err != nil {
			t.Fatalf("f.Active(owner(1), money.Bitcoin): ok = %v, err = %v", ok, err)
		}
		f.mustUse(1, tpub, "")
		f.expect(-1, -1, 0, 0, "")
		rows := f.mustAssign(1, 14)
		f.expect(13, -1, 14, 14, "")
		rows = append(rows, f.mustAssign(1, 1)...)
		f.expect(14, -1, 15, 15, "The last 15 addresses")
		f.pay(rows[9], true) // seen, and gone again: no wallet shows it
		f.expect(14, -1, 15, 15, "The last 15 addresses")
		f.pay(rows[9], false)
		f.expect(14, 9, 5, 9, "")
		rows = append(rows, f.mustAssign(1, 21)...)
		f.expect(35, 9, 26, 26, "26 addresses in a row")
		f.pay(rows[35], false) // paid, and beyond what a wallet looks at
		f.expect(35, 35, 0, 25, "gap limit in your wallet to 100")
		f.pay(rows[20], false)
		f.expect(35, 35, 0, 14, "")
		if s := f.meter(); s.Path != "0/36" || s.Script != wallet.ScriptWPKH || s.Wallet.NextIndex != 36 {
			t.Errorf("%+v", s)
		}
		// The same account as another script: a wallet that makes those has seen nothing yet.
		f.mustUse(1, tpub, wallet.ScriptTaproot)
		f.expect(35, -1, 36, 36, "36 addresses in a row")
		live := owner(1)
		live.Domain = scope.Live
		if _, ok, err := f.Active(t.Context(), live, money.Bitcoin); ok || err != nil {
			t.Error("live has the test domain's wallet:", ok, err)
		}
		if _, ok, err := f.Active(t.Context(), owner(2), money.Bitcoin); ok || err != nil {
			t.Error("another business's wallet:", ok, err)
		}
	})
}

// TestOrigin: a payment's address is found in the wallet that it came from, by its own business only.
func TestOrigin(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		f.mustUse(1, tpub, "")
		row := f.mustAssign(1, 3)[2]
		f.mustUse(1, otherVpub, "") // new payments go elsewhere: this one doesn't
		p := models.Payment{ID: *row.PaymentID, Address: row.Address}
		got, ok, err := f.Origin(t.Context(), owner(1), p)
		if err != nil || !ok || got != (wallet.Origin{Path: "0/2", Key: tpub}) {
			t.Errorf("got = %v, ok = %v, err = %v", got, ok, err)
		}
		live := owner(1)
		live.Domain = scope.Live
		for _, sc := range []scope.Scope{live, owner(2)} {
			if got, ok, err := f.Origin(t.Context(), sc, p); ok || err != nil {
				t.Errorf("f.Origin(sc, p): sc = %v, got = %v, err = %v", sc, got, err)
			}
		}
		for _, other := range []models.Payment{{ID: p.ID + 100, Address: p.Address}, {ID: p.ID, Address: "elsewhere"}} {
			if _, ok, err := f.Origin(t.Context(), owner(1), other); ok || err != nil {
				t.Errorf("payment %d has the address %s of the wallet: %v, %v; want none", other.ID, other.Address, ok, err)
			}
		}
	})
}

// TestRestoredBackup (BTC-17): what was given out after the backup is not given out
// again once the index is advanced.
func TestRestoredBackup(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		w := f.mustUse(1, vpub, "")
		issued := map[string]bool{}
		for _, row := range f.mustAssign(1, 30) {
			issued[row.Address] = true
		}
		// The backup knows twenty of them.
		if err := db.Exec(t.Context()).Where("idx >= 20").Delete(&models.Destination{}).Error; err != nil {
			t.Fatal(err)
		}
		if err := db.Exec(t.Context()).Model(&models.Wallet{}).Where("id = ?", w.ID).Update("next_index", 20).Error; err != nil {
			t.Fatal(err)
		}
		for _, to := range []int64{19, 0, -1, 10_021, 2_000_000} {
			if err := f.Advance(t.Context(), "operator", w.ID, to); fault.KindOf(err) != fault.Invalid {
				t.Errorf("to %d: %v", to, err)
			}
		}
		if err := f.Advance(t.Context(), "operator", w.ID+1, 40); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
		for range 2 { // again is no harm
			if err := f.Advance(t.Context(), "operator", w.ID, 40); err != nil {
				t.Fatal(err)
			}
		}
		for i, row := range f.mustAssign(1, 20) {
			if issued[row.Address] || *row.Index != int64(40+i) {
				t.Errorf("%d: index %d, issued before: %v", i, *row.Index, issued[row.Address])
			}
		}
	})
}
