package payment_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/issuer"
	"cointill/core/payment/reconcile"
	"cointill/models"
)

// later is the fence of who took a lease over.
const later = 99

// frozen is a node whose answer a process gets, and is frozen before it uses it: what
// happens meanwhile happens once.
type frozen struct {
	reconcile.Accounts
	issuer.Issuer
	balances, inner, barred func()
}

func meanwhile(happens *func()) {
	if now := *happens; now != nil {
		*happens = nil
		now()
	}
}

func (f *frozen) Balances(ctx context.Context, height int64, addresses []string) ([]money.Amount, error) {
	defer meanwhile(&f.balances)
	return f.Accounts.Balances(ctx, height, addresses)
}

func (f *frozen) Inner(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	defer meanwhile(&f.inner)
	return f.Accounts.Inner(ctx, height, watch)
}

func (f *frozen) Barred(ctx context.Context, addresses []string) ([]bool, error) {
	defer meanwhile(&f.barred)
	return f.Issuer.Barred(ctx, addresses)
}

// refused has a holder that was frozen go on after another took over.
func (b *bench) refused(what string, step func(context.Context) error) {
	b.t.Helper()
	if err := step(b.t.Context()); !errors.Is(err, chain.ErrStale) {
		b.t.Errorf("%s: who lost the lease was told %v", what, err)
	}
	must(b.t, b.db.Exec(b.t.Context()).Model(&models.ChainCursor{}).Where("network = ?", string(network)).Update("fence", 0).Error) // of the blocks that follow
}

// TestReconcilerTakenOver: a holder of the lease that was frozen in the middle of a
// look, and goes on after another took over, changes nothing: not where a comparison
// begins, or ended, nor what was found, nor what is looked at.
func TestReconcilerTakenOver(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		p, fresh := reconciles(b, true)
		v := b.opened()
		old, node := fresh(), &frozen{Accounts: p}
		old.Accounts = node
		holdings := func() (rows []models.Holding) {
			t.Helper()
			must(t, b.db.Read(t.Context()).Find(&rows).Error)
			return rows
		}
		var after []models.Holding
		next := func() { // another looks at what was finalized since
			b.mine()
			p.finalize(0)
			r := fresh()
			r.Fence = later
			must(t, r.Step(t.Context()))
			after = holdings()
		}
		unchanged := func(what string) {
			t.Helper()
			b.refused(what, old.Step)
			if is := holdings(); len(is) != 1 || !reflect.DeepEqual(is, after) {
				t.Errorf("%s: %+v has become %+v", what, after, is)
			}
		}
		p.finalize(0)
		node.balances = next
		unchanged("where it begins")
		b.mine()
		p.finalize(0)
		node.balances = next
		unchanged("where it ended")

		b.mine()
		p.gain(v.Payment.Address, v.Payment.Due)
		p.finalize(0)
		blind := *p
		blind.traces = false
		node.Accounts, node.inner = &blind, next
		unchanged("what was found")
		if found := p.told(v); len(found) != 1 || found[0].Unmatched != "" {
			t.Errorf("found are %+v", found)
		}

		for range 3 {
			b.mine()
		}
		b.expect(v.Payment.Reference, payment.Successful, "")
		b.clock.Advance(7 * time.Hour)
		p.finalize(0)
		must(t, b.db.Exec(t.Context()).Model(&models.Holding{}).Where("network = ?", string(network)).Update("next", 1).Error) // rather than to mine so many blocks
		after = holdings()
		node.balances = func() {
			b.apply(chain.Batch{Fence: later, Blocks: []chain.Block{b.block(int64(len(b.blocks)))}, Pending: &chain.Pending{}})
		}
		unchanged("what is looked at no more")
	})
}

// TestWardenTakenOver: so does one that was asking which addresses are barred.
func TestWardenTakenOver(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		address := b.opened().Payment.Address
		b.mine()
		must(t, b.db.Exec(t.Context()).Model(&models.Destination{}).Where("network = ?", string(network)).Update("wallet_id", 1).Error)
		i := &fakeIssuer{barred: map[string]bool{address: true}}
		next := func() { // another sees it barred, and then no more
			for _, barred := range []bool{true, false} {
				i.barred[address] = barred
				must(t, (&issuer.Monitor{Service: b.service, Network: network, Token: money.BTC, Issuer: i, Fence: later}).Step(t.Context()))
			}
		}
		old := &issuer.Monitor{Service: b.service, Network: network, Token: money.BTC, Issuer: &frozen{Issuer: i, barred: next}}
		b.refused("what is barred", old.Step)
		var barred int64
		must(t, b.db.Read(t.Context()).Model(&models.Destination{}).Where("barred_at IS NOT NULL").Count(&barred).Error)
		if barred != 0 {
			t.Error("who lost the lease has written that an address is barred")
		}
	})
}
