package payment_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/place"
	"cointill/core/payment/reconcile"
	"cointill/core/payment/refund"
	"cointill/models"
)

// errBusy is of a node that could tell, and has no time.
var errBusy = errors.New("too many requests")

// purse is a network on which contracts send ether on: what addresses hold, block
// by block, and whether the node can tell by which transaction.
type purse struct {
	*bench
	gains   map[string]map[int64]money.Amount // by address and height
	traces  bool
	fails   int           // how often a node that can tell fails to
	busy    map[int64]int // how often it fails to tell balances, by height
	most    int           // addresses that were asked for at once
	asked   []string      // addresses that were asked for, in order
	heights []int64       // at which balances were asked for, in order
	cancel  func()        // called before balances are answered, if it is set
	trace   func()        // called before a block is answered, if it is set
	forget  int64         // what was held before this block isn't kept
}

func (p *purse) Balances(_ context.Context, height int64, addresses []string) ([]money.Amount, error) {
	held := make([]money.Amount, len(addresses))
	p.most, p.asked, p.heights = max(p.most, len(addresses)), append(p.asked, addresses...), append(p.heights, height)
	if len(addresses) == 0 {
		return nil, errors.New("asked for no address")
	}
	if p.cancel != nil {
		p.cancel()
	}
	if p.busy[height] > 0 {
		p.busy[height]--
		return nil, errBusy
	}
	if height < p.forget {
		return nil, fmt.Errorf("missing trie node: %w", chain.ErrForgotten)
	}
	for i, address := range addresses {
		for at, gain := range p.gains[address] {
			if at <= height {
				held[i] = held[i].Add(gain)
			}
		}
	}
	return held, nil
}

func (p *purse) Inner(_ context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	if !p.traces {
		return chain.Block{}, chain.ErrForgotten
	}
	if p.trace != nil {
		p.trace()
	}
	if p.fails > 0 {
		p.fails--
		return chain.Block{}, errBusy
	}
	block := chain.Block{Header: chain.Header{BlockID: p.blocks[height-1], Time: p.clock.Now()}}
	for address, gains := range p.gains {
		if amount, ok := gains[height]; ok && watch.Address(address) && amount.Sign() > 0 {
			block.Transfers = append(block.Transfers, chain.Transfer{TxID: fmt.Sprint("inner ", height), Index: 1<<30 + len(block.Transfers), Asset: "BTC", Destination: chain.Destination{Address: address}, Amount: amount})
		}
	}
	return block, nil
}

// gain lets an address hold more, or less, from the last block on.
func (p *purse) gain(address string, amount money.Amount) {
	if p.gains[address] == nil {
		p.gains[address] = map[int64]money.Amount{}
	}
	at := p.blocks[len(p.blocks)-1].Height
	p.gains[address][at] = p.gains[address][at].Add(amount)
}

// reconciles is a bench on a network where contracts send money on.
func reconciles(b *bench, traces bool) (*purse, func() *reconcile.Reconciler) {
	b.service.Contracts = map[chain.Network]place.Contract{network: {}}
	p := &purse{bench: b, gains: map[string]map[int64]money.Amount{}, traces: traces}
	return p, func() *reconcile.Reconciler {
		return &reconcile.Reconciler{Observer: b.observer, Network: network, Coin: money.BTC, Accounts: p}
	}
}

// finalize has all blocks but the last ones be final.
func (p *purse) finalize(but int) {
	p.t.Helper()
	height := p.blocks[len(p.blocks)-1-but].Height
	must(p.t, p.db.Exec(p.t.Context()).Model(&models.ChainCursor{}).Where("network = ?", string(network)).Update("finalized", height).Error)
}

// look lets the network finalize all but a block, and compares, as a process does
// that has just begun.
func (p *purse) look(fresh func() *reconcile.Reconciler) {
	p.t.Helper()
	for range 3 {
		p.mine()
	}
	p.finalize(1)
	for range 2 {
		if err := fresh().Step(p.t.Context()); err != nil && !errors.Is(err, errBusy) {
			p.t.Fatal(err)
		}
	}
}

// told are the transfers to a payment's address.
func (p *purse) told(v payment.View) (found []models.Transfer) {
	p.t.Helper()
	must(p.t, p.db.Read(p.t.Context()).Where("address = ?", v.Payment.Address).Order("id").Find(&found).Error)
	return found
}

// TestReconcile (ETH-9): what contracts send on is found when its block is final: by
// its transaction it pays, without one it is shown and pays nothing. What was seen,
// and what the merchant takes away, is not found again.
func TestReconcile(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for _, traces := range []bool{true, false} {
			p, fresh := reconciles(b, traces)
			sent, plain := b.opened(), b.opened()
			look := func() { p.look(fresh) }
			look()
			half := money.FromBig(new(big.Int).Quo(sent.Payment.Due.Big(), big.NewInt(2)))
			b.mine()
			p.gain(sent.Payment.Address, half)
			b.mine(b.pay(plain, "plain "+plain.Payment.Reference, plain.Payment.Due))
			p.gain(plain.Payment.Address, plain.Payment.Due)
			b.mine()
			p.gain(sent.Payment.Address, sent.Payment.Due.Sub(half))
			look()
			p.gain(sent.Payment.Address, half.Sub(sent.Payment.Due)) // the merchant takes some away
			look()
			if v := b.expect(plain.Payment.Reference, payment.Successful, ""); len(v.Transfers) != 1 {
				t.Errorf("what was seen was found again: %+v", v.Transfers)
			}
			found := p.told(sent)
			if traces {
				b.expect(sent.Payment.Reference, payment.Successful, "")
			} else {
				b.expect(sent.Payment.Reference, payment.Initiated, "")
			}
			for _, one := range found {
				if traces != (one.Unmatched == "") || !traces && one.Unmatched != payment.NoTransaction {
					t.Errorf("%+v", one)
				}
			}
			if len(found) != 2 {
				t.Errorf("found were %+v", found)
			}
		}
	})
}

// TestReconcileWhen (ETH-9): whatever the payment waits for, and for some time after
// its end, what a contract sends is found; what the address held before its customer
// was shown it isn't, whenever it is looked at for the first time.
func TestReconcileWhen(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.opened() // while nothing is sent on by contracts
		p, fresh := reconciles(b, true)
		var rows int64
		must(t, b.db.Read(t.Context()).Model(&models.Holding{}).Count(&rows).Error)
		if rows != 0 {
			t.Error("balances are looked at where they tell nothing")
		}
		rich, waits, late, old := b.opened(), b.opened(), b.opened(), b.opened()
		p.gain(rich.Payment.Address, rich.Payment.Due) // in the last block before it was shown
		b.mine(b.pay(waits, "first", waits.Payment.Due.Sub(money.Units(1000))))
		p.gain(waits.Payment.Address, waits.Payment.Due.Sub(money.Units(1000)))
		b.expect(waits.Payment.Reference, payment.Processing, "")
		b.mine()
		p.gain(waits.Payment.Address, money.Units(1000))
		b.clock.Advance(payment.Monitoring + time.Second)
		b.tick()
		b.expect(late.Payment.Reference, payment.Abandoned, "")
		b.mine()
		p.gain(late.Payment.Address, late.Payment.Due)
		p.look(fresh)
		for _, v := range []payment.View{rich, waits, late} {
			want := map[string]int{rich.Payment.Reference: 0, waits.Payment.Reference: 2, late.Payment.Reference: 1}[v.Payment.Reference]
			if found := p.told(v); len(found) != want {
				t.Errorf("%d transfers, want %d: %+v", len(found), want, found)
			}
		}
		b.clock.Advance(7 * time.Hour)
		for range 100 {
			b.mine()
		}
		p.look(fresh)
		must(t, b.db.Read(t.Context()).Model(&models.Holding{}).Where("payment_id = ?", old.Payment.ID).Count(&rows).Error)
		if rows != 0 {
			t.Error("the address of a payment that ended long ago is looked at still")
		}
	})
}

// TestReconcileForgotten: where no node has what an address held when it was shown,
// nothing is invented, and what comes from then on is found.
func TestReconcileForgotten(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		p, fresh := reconciles(b, true)
		b.mine()
		v := b.opened()
		p.gain(v.Payment.Address, v.Payment.Due)
		p.forget = b.blocks[len(b.blocks)-1].Height + 2
		p.look(fresh)
		p.look(fresh)
		if found := p.told(v); len(found) != 0 {
			t.Errorf("what was there before was found: %+v", found)
		}
		b.mine()
		p.gain(v.Payment.Address, v.Payment.Due)
		p.forget = b.blocks[len(b.blocks)-1].Height + 2 // and of the block it came in neither
		p.look(fresh)
		if found := p.told(v); len(found) != 1 || found[0].Amount.Cmp(v.Payment.Due) != 0 {
			t.Errorf("what came then: %+v", found)
		}
	})
}

// TestReconcileBusy: a node that fails to tell by which transaction money came is asked
// again for a minute, and no longer: then what is known is shown.
func TestReconcileBusy(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		p, fresh := reconciles(b, true)
		one := fresh()
		for fails, want := range map[int]payment.State{11: payment.Successful, 12: payment.Initiated} {
			v := b.opened()
			b.mine()
			p.gain(v.Payment.Address, v.Payment.Due)
			for range 3 {
				b.mine()
			}
			p.finalize(1)
			p.fails = fails
			for range 12 {
				if found := p.told(v); len(found) > 0 {
					t.Fatalf("shown at once: %+v", found)
				}
				_ = one.Step(t.Context()) // it tells what failed
			}
			b.expect(v.Payment.Reference, want, "")
			if found := p.told(v); len(found) != 1 {
				t.Errorf("after %d failures: %+v", fails, found)
			}
		}
	})
}

// TestReconcileBusyBalances: a node that fails to tell balances for a moment hides no
// money, and has it found in no other block than it came in.
func TestReconcileBusyBalances(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		p, fresh := reconciles(b, true)
		b.mine()
		v := b.opened()
		tip := b.blocks[len(b.blocks)-1].Height
		p.busy = map[int64]int{tip: 3}
		for height := tip + 2; height < tip+9; height++ {
			p.busy[height] = 1
		}
		b.mine()
		p.gain(v.Payment.Address, v.Payment.Due)
		for range 6 {
			b.mine()
		}
		for range 10 {
			p.look(fresh)
		}
		b.expect(v.Payment.Reference, payment.Successful, "")
	})
}

// TestReconcileBeside: what was paid in a later block doesn't hide what a contract sent
// before, nor the other way round; a network that begins anew begins here too.
func TestReconcileBeside(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		p, fresh := reconciles(b, true)
		v := b.opened()
		p.look(fresh)
		b.mine()
		p.gain(v.Payment.Address, money.Units(50))
		came := b.blocks[len(b.blocks)-1].Height
		b.mine()
		b.mine()
		b.mine(b.pay(v, "plain", money.Units(1000)))
		p.gain(v.Payment.Address, money.Units(1000))
		p.look(fresh)
		found := p.told(v)
		if len(found) != 2 || *found[1].Height != came || found[1].Amount.Cmp(money.Units(50)) != 0 {
			t.Errorf("%+v", found)
		}
		_, err := b.observer.ResetNetwork(t.Context(), network)
		must(t, err)
		var rows int64
		must(t, b.db.Read(t.Context()).Model(&models.Holding{}).Count(&rows).Error)
		if rows != 0 {
			t.Error("heights of the network before are compared with the new one's")
		}
	})
}

// TestReconcileBounds: a look concerns a thousand addresses, and finds twenty blocks for
// one; the next goes on. Payments that have ended wait longer for theirs.
func TestReconcileBounds(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		p, fresh := reconciles(b, true)
		v := b.opened()
		p.look(fresh)
		for range 21 {
			b.mine()
			p.gain(v.Payment.Address, money.Units(3))
		}
		failed := b.pay(v, "failed", money.Units(4))
		failed.Reverted = true
		b.mine(failed)
		p.gain(v.Payment.Address, money.Units(4))
		p.finalize(0)
		if err := fresh().Step(t.Context()); err == nil || len(p.told(v)) != 21 {
			t.Errorf("%d transfers with the failed one after the first look, %v", len(p.told(v)), err)
		}
		must(t, fresh().Step(t.Context()))
		if len(p.told(v)) != 23 {
			t.Errorf("%d transfers with the failed one after the second look", len(p.told(v)))
		}
		rows := make([]models.Holding, 1_001)
		for i := range rows {
			rows[i] = models.Holding{PaymentID: int64(10_000 + i), Network: string(network), Address: fmt.Sprint("a", i), Height: 1, Known: i%2 == 0, Next: 2}
		}
		must(t, b.db.Exec(t.Context()).CreateInBatches(rows, 50).Error)
		waits := func() (count int64) {
			must(t, b.db.Read(t.Context()).Model(&models.Holding{}).Where("payment_id >= 10000 AND height = 1").Count(&count).Error)
			return count
		}
		must(t, fresh().Step(t.Context()))
		if p.most > 1_000 || waits() != 1 {
			t.Errorf("%d addresses at once, %d left", p.most, waits())
		}
		must(t, fresh().Step(t.Context()))
		if waits() != 0 {
			t.Errorf("%d addresses were never looked at", waits())
		}
		b.clock.Advance(payment.Monitoring + time.Second)
		b.tick()
		p.look(fresh)
		var held models.Holding
		must(t, b.db.Read(t.Context()).Where("payment_id = ?", v.Payment.ID).Take(&held).Error)
		if held.Next != held.Height+96 {
			t.Errorf("compared again at block %d after %d", held.Next, held.Height)
		}
	})
}

// TestReconcileUntold: money of which only the balance tells can't be attached; when a
// node shows its transaction later, it pays, and is there once.
func TestReconcileUntold(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		p, fresh := reconciles(b, false)
		pays, back, parts, backParts, more := b.opened(), b.opened(), b.opened(), b.opened(), b.opened()
		p.gain(more.Payment.Address, money.Units(7)) // the merchant takes it away when the rest comes
		b.mine()
		height := b.blocks[len(b.blocks)-1].Height
		for _, v := range []payment.View{pays, back, parts, backParts, more} {
			p.gain(v.Payment.Address, v.Payment.Due)
		}
		p.gain(more.Payment.Address, money.Units(-7))
		p.look(fresh)
		_, err := b.resolver.Attach(t.Context(), b.owner(), p.told(pays)[0].ID, pays.Payment.Reference)
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("money without a transaction was attached: %v", err)
		}
		for _, v := range []payment.View{back, backParts} {
			must(t, b.resolver.MarkRefunded(t.Context(), b.owner(), p.told(v)[0].ID, refund.Report{Note: "by hand"}))
		}
		p.traces = true
		watch := new(chain.WatchSet)
		watch.AddAddresses(pays.Payment.Address, back.Payment.Address)
		block, err := p.Inner(t.Context(), height, watch)
		must(t, err)
		for _, v := range []payment.View{parts, backParts} {
			half := money.FromBig(new(big.Int).Quo(v.Payment.Due.Big(), big.NewInt(2)))
			for i, amount := range []money.Amount{half, v.Payment.Due.Sub(half)} {
				block.Transfers = append(block.Transfers, chain.Transfer{TxID: fmt.Sprint(v.Payment.Reference, i), Asset: "BTC", Destination: chain.Destination{Address: v.Payment.Address}, Amount: amount})
			}
		}
		block.Transfers = append(block.Transfers, chain.Transfer{TxID: "more", Asset: "BTC", Destination: chain.Destination{Address: more.Payment.Address}, Amount: more.Payment.Due})
		for range 2 {
			_, err := b.observer.Reread(t.Context(), network, block)
			must(t, err)
		}
		b.expect(pays.Payment.Reference, payment.Successful, "")
		b.expect(parts.Payment.Reference, payment.Successful, "")
		b.expect(more.Payment.Reference, payment.Successful, "")
		b.expect(back.Payment.Reference, payment.Initiated, "")
		b.expect(backParts.Payment.Reference, payment.Initiated, "")
		for _, v := range []payment.View{pays, back, parts, backParts, more} {
			sum := money.Amount{}
			for _, one := range p.told(v) {
				if one.ShownByBalance() {
					t.Errorf("it has a transaction now: %+v", one)
				}
				sum = sum.Add(one.Amount)
			}
			if sum.Cmp(v.Payment.Due) != 0 {
				t.Errorf("%s came in %+v", sum, p.told(v))
			}
		}
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
