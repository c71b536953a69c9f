package payment_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/reconcile"
	"cointill/models"
)

// warnings counts what is logged.
type warnings struct {
	slog.Handler
	count atomic.Int64
}

func (w *warnings) Enabled(context.Context, slog.Level) bool { return true }

func (w *warnings) Handle(context.Context, slog.Record) error {
	w.count.Add(1)
	return nil
}

// TestReconcilerRuns checks that a comparison that fails is logged and repeated, and that the end
// of the context is no failure.
func TestReconcilerRuns(t *testing.T) {
	eachAlone(t, func(t *testing.T, b *bench) {
		p, fresh := reconciles(b, true)
		b.opened()
		logged := &warnings{}
		before := slog.Default()
		slog.SetDefault(slog.New(logged))
		defer slog.SetDefault(before)
		run := func(fails, want int64) {
			t.Helper()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			logged.count.Store(0)
			p.busy = map[int64]int{1: 1_000}
			var calls int64
			p.cancel = func() {
				if calls++; calls == fails {
					cancel()
				}
			}
			if err := fresh().Run(ctx, time.Millisecond); err != nil {
				t.Errorf("the end of the context returns %v, want no error", err)
			}
			if got := logged.count.Load(); got != want {
				t.Errorf("%d comparisons that failed, the last by the end, are logged %d times, want %d", fails, got, want)
			}
		}
		run(1, 0)
		run(3, 2)
		p.busy = nil
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p.cancel = func() { // the first answer is one of a step that works
			p.cancel = cancel
			b.opened()
		}
		logged.count.Store(0)
		must(t, fresh().Run(ctx, time.Millisecond))
		if got := logged.count.Load(); got != 0 {
			t.Errorf("a comparison that works is logged %d times, want none", got)
		}
	})
}

// TestReconcileGuards checks what a step asks for, and what it does with failures.
func TestReconcileGuards(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		p, fresh := reconciles(b, true)
		v := b.opened()
		must(t, (&reconcile.Reconciler{Observer: b.observer, Network: "unread", Coin: money.BTC, Accounts: p}).Step(ctx))

		p.look(fresh)
		var cursor models.ChainCursor
		must(t, b.db.Read(ctx).Where("network = ?", string(network)).Take(&cursor).Error)
		must(t, b.db.Exec(ctx).Where("network = ?", string(network)).Delete(&models.ChainCursor{}).Error)
		must(t, b.db.Exec(ctx).Create(&models.ChainCursor{Network: "another", Finalized: 1_000, UpdatedAt: b.clock.Now()}).Error)
		must(t, b.db.Exec(ctx).Create(&cursor).Error)
		must(t, b.db.Exec(ctx).Create(&models.Holding{PaymentID: 1_000, Network: "another", Address: "elsewhere", Known: true, Height: 1, Next: 1}).Error)
		step := func(r *reconcile.Reconciler) []string {
			t.Helper()
			p.asked = nil
			must(t, r.Step(ctx))
			return p.asked
		}
		if got := step(fresh()); len(got) != 0 {
			t.Errorf("asked for %q before another block is final, want nothing", got)
		}
		b.mine()
		p.finalize(0)
		p.busy = map[int64]int{b.blocks[len(b.blocks)-1].Height: 1}
		if err := fresh().Step(ctx); !errors.Is(err, errBusy) {
			t.Errorf("balances that can't be read return %v, want %v", err, errBusy)
		}
		if got := step(fresh()); !slices.Equal(got, []string{v.Payment.Address}) {
			t.Errorf("asked for %q, want the payment's address", got)
		}

		// An address whose first balance is not known yet is not compared.
		fails := b.opened()
		b.mine()
		b.mine()
		p.finalize(0)
		p.busy = map[int64]int{b.blocks[len(b.blocks)-3].Height: 1}
		p.asked = nil
		if err := fresh().Step(ctx); !errors.Is(err, errBusy) {
			t.Errorf("balances that can't be read return %v, want %v", err, errBusy)
		}
		if want := []string{fails.Payment.Address, v.Payment.Address}; !slices.Equal(p.asked, want) {
			t.Errorf("asked for %q, want %q", p.asked, want)
		}
	})
}

// TestReconcileCountsFailuresInARow checks that only failures in a row make a balance unknowable.
func TestReconcileCountsFailuresInARow(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		p, fresh := reconciles(b, true)
		r := fresh()
		shown := b.blocks[len(b.blocks)-1].Height
		b.mine()
		b.mine()
		p.finalize(0)
		for range 2 {
			v := b.opened()
			must(t, b.db.Exec(t.Context()).Model(&models.Holding{}).Where("payment_id = ?", v.Payment.ID).Update("height", shown).Error)
			p.busy = map[int64]int{shown: 8}
			for range 8 {
				if err := r.Step(t.Context()); !errors.Is(err, errBusy) {
					t.Fatalf("a busy node returns %v, want %v", err, errBusy)
				}
			}
			p.busy = nil
			must(t, r.Step(t.Context()))
			if len(p.asked) == 0 || p.heights[len(p.heights)-2] != shown {
				t.Errorf("balances were read at %d, want the last but one at %d: before the payment was shown", p.heights, shown)
			}
		}
		b.mine()
		p.finalize(0)
		v := b.opened()
		p.busy = map[int64]int{b.blocks[len(b.blocks)-1].Height: 11}
		for range 11 {
			_ = r.Step(t.Context())
		}
		must(t, r.Step(t.Context()))
		p.mustHold(t, v, b.blocks[len(b.blocks)-1].Height)
	})
}

// TestReconcileCountsNoSuccess checks that balances that were read don't count as failures of their height,
// while other heights fail so that the count goes on: money that comes after a customer saw the address is found.
func TestReconcileCountsNoSuccess(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		p, fresh := reconciles(b, false)
		r := fresh()
		shown := b.blocks[len(b.blocks)-1].Height
		failing := b.opened()
		for range 4 {
			b.mine()
		}
		p.finalize(0)
		final := b.blocks[len(b.blocks)-1].Height
		for look := range 14 { // more than failures in a row make a balance unknowable
			busy := shown + 1 + int64(look%2)
			must(t, b.db.Exec(t.Context()).Model(&models.Holding{}).Where("payment_id = ?", failing.Payment.ID).
				Updates(map[string]any{"height": busy, "known": false}).Error)
			p.busy = map[int64]int{busy: 1}
			v := b.opened()
			must(t, b.db.Exec(t.Context()).Model(&models.Holding{}).Where("payment_id = ?", v.Payment.ID).Update("height", shown).Error)
			p.gains[v.Payment.Address] = map[int64]money.Amount{final: money.Units(1_000)} // after the customer saw it
			if err := r.Step(t.Context()); !errors.Is(err, errBusy) {
				t.Fatalf("look %d: %v, want %v of another height", look, err, errBusy)
			}
			var found int64
			must(t, b.db.Read(t.Context()).Model(&models.Transfer{}).Where("payment_id = ?", v.Payment.ID).Count(&found).Error)
			if found != 1 {
				t.Fatalf("look %d found %d transfers of the money that came after the payment was shown, want one", look, found)
			}
		}
	})
}

// mustHold fails unless a payment's comparison begins at a height.
func (p *purse) mustHold(t *testing.T, v payment.View, height int64) {
	t.Helper()
	var held models.Holding
	must(t, p.db.Read(t.Context()).Where("payment_id = ?", v.Payment.ID).Take(&held).Error)
	if !held.Known || held.Height != height {
		t.Errorf("a comparison begins at %d (known: %v), want %d", held.Height, held.Known, height)
	}
}

// TestReconcileForgottenTip checks that nothing is compared when the finalized block is the one
// whose balances are gone.
func TestReconcileForgottenTip(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		p, fresh := reconciles(b, true)
		b.mine()
		b.opened()
		p.finalize(0)
		p.forget = b.blocks[len(b.blocks)-1].Height + 1
		if err := fresh().Step(t.Context()); !errors.Is(err, chain.ErrForgotten) || len(p.asked) != 1 {
			t.Errorf("error %v after %d questions, want %v after one", err, len(p.asked), chain.ErrForgotten)
		}
	})
}

// TestReconcileEnds checks that an ended payment's address is compared for six hours, and that
// the end of one comparison ends no other.
func TestReconcileEnds(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		p, fresh := reconciles(b, true)
		first, other, later := b.opened(), b.opened(), b.opened()
		p.look(fresh)
		b.mine(b.pay(first, "aa", first.Payment.Due))
		p.gain(first.Payment.Address, first.Payment.Due)
		b.mine()
		ended := b.expect(first.Payment.Reference, payment.Successful, "").Payment.SettledAt
		holds := func() (ids []int64) {
			t.Helper()
			must(t, b.db.Exec(t.Context()).Model(&models.Holding{}).Where("payment_id <> ?", later.Payment.ID).Update("next", 1).Error)
			must(t, b.db.Exec(t.Context()).Model(&models.Holding{}).Where("payment_id = ?", later.Payment.ID).Update("next", 1_000).Error)
			b.mine()
			p.finalize(0)
			must(t, fresh().Step(t.Context()))
			must(t, b.db.Read(t.Context()).Model(&models.Holding{}).Order("payment_id").Pluck("payment_id", &ids).Error)
			return ids
		}
		b.clock.Advance(ended.Add(6*time.Hour - time.Microsecond).Sub(b.clock.Now()))
		if got := holds(); len(got) != 3 {
			t.Errorf("a microsecond before the end payments %v are compared, want all three", got)
		}
		b.clock.Advance(time.Microsecond)
		if got := holds(); !slices.Equal(got, []int64{other.Payment.ID, later.Payment.ID}) {
			t.Errorf("at the end payments %v are compared, want %d and %d", got, other.Payment.ID, later.Payment.ID)
		}
	})
}

// TestReconcileSubtractsWhatIsSeen checks which transfers explain a gain: those of the coin after
// the last comparison.
func TestReconcileSubtractsWhatIsSeen(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		p, fresh := reconciles(b, true)
		v := b.opened()
		b.mine(b.pay(v, "before", money.Units(50)))
		p.gain(v.Payment.Address, money.Units(50))
		p.finalize(0)
		must(t, fresh().Step(t.Context())) // the balance before it was shown
		must(t, fresh().Step(t.Context())) // and that of the last block
		token := b.pay(v, "token", money.Units(50))
		token.Asset = "another"
		b.mine(token)
		must(t, b.db.Exec(t.Context()).Create(&models.Transfer{Network: "another", TxID: "there", Address: v.Payment.Address, Asset: "BTC",
			Amount: money.Units(50), Height: new(b.blocks[len(b.blocks)-1].Height)}).Error)
		b.mine()
		p.gain(v.Payment.Address, money.Units(50))
		p.finalize(0)
		must(t, fresh().Step(t.Context()))
		var found []models.Transfer
		must(t, b.db.Read(t.Context()).Where("tx_id LIKE 'inner %'").Find(&found).Error)
		if len(found) != 1 || found[0].Amount.Cmp(money.Units(50)) != 0 {
			t.Errorf("found %+v, want one transfer of 50", found)
		}
	})
}

// TestReconcileEndsWithItsContext checks that the end of the context is its error, and hides no money.
func TestReconcileEndsWithItsContext(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		p, fresh := reconciles(b, true)
		v := b.opened()
		p.look(fresh)
		b.mine()
		p.gain(v.Payment.Address, v.Payment.Due)
		b.mine()
		p.finalize(0)
		r := fresh()
		for range 13 {
			ctx, cancel := context.WithCancel(t.Context())
			p.fails, p.trace = 1, cancel
			if err := r.Step(ctx); !errors.Is(err, context.Canceled) {
				t.Fatalf("a step whose context ends returns %v, want %v", err, context.Canceled)
			}
			cancel()
		}
		p.fails, p.trace = 1, nil
		if err := r.Step(t.Context()); !errors.Is(err, errBusy) {
			t.Errorf("the first failure of a node returns %v, want %v", err, errBusy)
		}
		if found := p.told(v); len(found) != 0 {
			t.Errorf("found %+v, want nothing: one failure of a node hides nothing", found)
		}
	})
}

// TestBalancesStandInTheirBlock checks that money that only a balance shows gets the hash of its
// network's block, not of another network's, and is shown also when its block is not kept.
func TestBalancesStandInTheirBlock(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		p, fresh := reconciles(b, false)
		for _, kept := range []bool{true, false} {
			v := b.opened()
			p.look(fresh)
			another := models.ChainBlock{Network: "another", Height: b.blocks[len(b.blocks)-1].Height + 1, Hash: "another", Time: b.clock.Now()}
			must(t, b.db.Exec(t.Context()).Create(&another).Error)
			b.mine()
			p.gain(v.Payment.Address, v.Payment.Due)
			last := b.blocks[len(b.blocks)-1]
			want := last.Hash
			if !kept {
				must(t, b.db.Exec(t.Context()).Where("network = ? AND height <= ?", string(network), last.Height).Delete(&models.ChainBlock{}).Error)
				want = ""
			}
			p.look(fresh)
			if found := p.told(v); len(found) != 1 || found[0].BlockHash != want || found[0].Unmatched != payment.NoTransaction || found[0].FirstSeenAt.IsZero() {
				t.Errorf("with its block kept: %v, the money is %+v, want one transfer in block %q without a transaction", kept, found, want)
			}
		}
	})
}

// TestReconcileKeepsTheOthers checks that the end of one payment's comparisons leaves the next
// comparison of another in place.
func TestReconcileKeepsTheOthers(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		p, fresh := reconciles(b, true)
		ended, open := b.opened(), b.opened()
		p.look(fresh)
		must(t, b.db.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", ended.Payment.ID).Update("settled_at", b.clock.Now().Add(-24*time.Hour)).Error)
		b.mine()
		p.finalize(0)
		must(t, fresh().Step(t.Context()))
		var rows []models.Holding
		must(t, b.db.Read(t.Context()).Find(&rows).Error)
		last := b.blocks[len(b.blocks)-1].Height
		if len(rows) != 1 || rows[0].PaymentID != open.Payment.ID || rows[0].Height != last || rows[0].Next != last+1 {
			t.Errorf("the balances that are compared again are %+v, want that of payment %d after block %d", rows, open.Payment.ID, last)
		}
	})
}
