package payment_test

import (
	"path"
	"slices"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/payment/choice"
	"cointill/core/payment/list"
	"cointill/core/scope"
	"cointill/models"
)

const (
	onEthereum = chain.Network("sandbox-ethereum")
	onBSC      = chain.Network("sandbox-bsc")
)

// useBSC has BNB Smart Chain followed beside Ethereum, whose addresses it shares.
func (b *bench) useBSC() {
	registry := b.service.Networks.(*networks.Registry)
	registry.Domains[scope.Test][money.BSC] = onBSC
	registry.Homes = map[chain.Network]chain.Network{onBSC: onEthereum}
}

// goTo has blocks made on a network from now on.
func (b *bench) goTo(to chain.Network) {
	b.t.Helper()
	b.others[b.network] = b.blocks
	if b.network, b.blocks = to, b.others[to]; b.blocks == nil {
		b.mine()
	}
}

// setNetwork switches a network of USDT.
func (b *bench) setNetwork(code money.Chain, on, preselected bool) {
	b.t.Helper()
	must(b.t, b.db.Exec(b.t.Context()).Save(&models.MethodNetwork{BusinessID: b.scope.BusinessID,
		Domain: string(b.scope.Domain), Code: string(money.CryptoTether), Network: string(code), Enabled: on,
		Preselected: preselected, UpdatedAt: b.clock.Now()}).Error)
}

// TestMoneyOnAnotherNetwork: USDT that comes on a network that is on counts, and is final by that network's
// depth; on one that is off it is unmatched, and a person can attach it.
func TestMoneyOnAnotherNetwork(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.useBSC()
		v, off := b.on(money.USDT), b.on(money.USDT)
		for range 50 { // its heights say nothing of the other network's
			b.mine()
		}
		b.goTo(onBSC)
		b.mine(b.pay(off, "off", off.Payment.Due))
		if got := b.view(off.Payment.Reference); got.State() != payment.Initiated || len(got.Transfers) != 0 {
			t.Errorf("on a network that is off the payment is %s with %d transfers, want initiated without any",
				got.State(), len(got.Transfers))
		}
		found, _, err := b.resolver.Unmatched(t.Context(), b.owner(), payment.UnmatchedFilter{})
		must(t, err)
		if len(found) != 1 || found[0].Why != payment.NetworkOff || found[0].Network != string(onBSC) ||
			found[0].Amount.Cmp(off.Payment.Due) != 0 {
			t.Fatalf("unmatched is %+v, want the amount on %s with the reason %s", found, onBSC, payment.NetworkOff)
		}
		b.setNetwork(money.BSC, true, false)
		b.mine(b.pay(v, "on", v.Payment.Due))
		b.expect(v.Payment.Reference, payment.Processing, payment.NoReason)
		plan, err := b.resolver.PlanAttach(t.Context(), b.owner(), found[0].ID, off.Payment.Reference)
		must(t, err)
		if got := plan.After; got.State() != payment.Processing || got.Payment.Network != string(onBSC) {
			t.Errorf("the plan is %s on %s, want processing on %s: that network has one block on top of the transfer",
				got.State(), got.Payment.Network, onBSC)
		}
		if got := b.view(off.Payment.Reference); got.State() != payment.Initiated || got.HasNetwork(string(onBSC)) {
			t.Errorf("after the plan the payment is %s, with %s: %t; want initiated without it", got.State(), onBSC,
				got.HasNetwork(string(onBSC)))
		}
		_, err = b.resolver.Attach(t.Context(), b.owner(), found[0].ID, off.Payment.Reference)
		must(t, err)
		for range 38 {
			b.mine()
		}
		b.expect(off.Payment.Reference, payment.Successful, payment.NoReason) // 40 confirmations
		got := b.expect(v.Payment.Reference, payment.Processing, payment.NoReason)
		if n := got.Confirmations(got.Transfers[0]); n != 39 || got.Needed() != 40 {
			t.Errorf("the transfer has %d of %d confirmations, want 39 of 40", n, got.Needed())
		}
		record := got.Record()
		if move := record.Transfers[0]; move.Network != string(onBSC) || record.Transaction.Network != string(onBSC) {
			t.Errorf("the record names %s, and %s for the transfer, want %s for both", record.Transaction.Network,
				move.Network, onBSC)
		}
		if paid := b.search(list.Filter{Network: string(onBSC)}).Payments; len(paid) != 2 {
			t.Errorf("%d payments are listed by %s, want the attached one and the other", len(paid), onBSC)
		}
		if paid := b.search(list.Filter{Network: string(onEthereum)}).Payments; len(paid) != 0 {
			t.Errorf("%d payments are listed by %s, where none was paid", len(paid), onEthereum)
		}
		b.mine()
		b.expect(v.Payment.Reference, payment.Successful, payment.NoReason)
		b.reorg(41, &chain.Pending{})
		b.expect(v.Payment.Reference, payment.Successful, payment.ReversedReason)
	})
}

// TestShownNetworksAreWaitedFor: a deadline passes when every network that the customer was shown was read up to
// it, and no other one holds it up without a transfer that is known.
func TestShownNetworksAreWaitedFor(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.useBSC()
		b.setNetwork(money.BSC, true, false)
		moved, stays := b.on(money.USDT), b.on(money.USDT)
		chooses := &choice.Service{Payments: b.service}
		b.goTo(onBSC)
		got, err := chooses.Choose(t.Context(), b.tokenOf(moved), "bsc")
		must(t, err)
		if got.Payment.Network != string(onBSC) || got.Payment.FinalDepth != 40 ||
			got.Payment.Address != moved.Payment.Address {
			t.Errorf("chosen is %s, final after %d at %s, want %s, 40 and the same address", got.Payment.Network,
				got.Payment.FinalDepth, got.Payment.Address, onBSC)
		}
		b.clock.Advance(payment.Monitoring + time.Second)
		b.lookAt(onEthereum)
		b.expect(stays.Payment.Reference, payment.Abandoned, payment.NoReason)
		b.expect(moved.Payment.Reference, payment.Initiated, payment.NoReason)
		b.lookAt(onBSC)
		b.expect(moved.Payment.Reference, payment.Abandoned, payment.NoReason)
	})
}

// TestKnownMoneyIsWaitedFor: where a transfer that would make the amount right waits for a block on a network that
// the customer wasn't shown, no deadline passes before that network was read up to it. A block of the window may
// hold the transfer.
func TestKnownMoneyIsWaitedFor(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.useBSC()
		b.setNetwork(money.BSC, true, false)
		mined, dropped, waiting := b.on(money.USDT), b.on(money.USDT), b.on(money.USDT)
		all := []payment.View{mined, dropped, waiting}
		part := mined.Payment.Due.MulDiv(4, 10)
		var rests []chain.Transfer
		for _, v := range all {
			b.mine(b.pay(v, "first-"+v.Payment.Reference, part))
			rests = append(rests, b.pay(v, "rest-"+v.Payment.Reference, v.Payment.Due.Sub(part)))
		}
		b.goTo(onBSC)
		b.pool(nil, rests...)
		b.goTo(onEthereum)
		for range 12 {
			b.mine()
		}
		for _, wait := range []time.Duration{payment.Window, payment.Monitoring} {
			b.clock.Advance(wait + time.Second)
			b.lookAt(onEthereum)
			for _, v := range all {
				held := b.expect(v.Payment.Reference, payment.Processing, payment.NoReason)
				if held.Payment.DueRead != nil && wait == payment.Monitoring {
					t.Error("it is decided again at each look at the network that was read")
				}
			}
		}
		b.goTo(onBSC)
		b.mine(rests[0])
		b.pool(nil, rests[2])
		b.clock.Advance(6*time.Hour + time.Second)
		b.lookAt(onEthereum)
		b.expect(dropped.Payment.Reference, payment.Processing, payment.NoReason)
		b.lookAt(onBSC)
		b.expect(dropped.Payment.Reference, payment.Declined, payment.Underpaid)
		b.expect(waiting.Payment.Reference, payment.Processing, payment.NoReason)
		b.mine(rests[2])
		for range 39 {
			b.mine()
		}
		b.expect(mined.Payment.Reference, payment.Successful, payment.NoReason)
		b.expect(waiting.Payment.Reference, payment.Successful, payment.NoReason)
	})
}

// TestOtherMoneyIsNotWaitedFor: on a network that the customer wasn't shown, a transfer that can't make the amount
// right holds no deadline up.
func TestOtherMoneyIsNotWaitedFor(t *testing.T) {
	for name, send := range map[string]func(b *bench, v payment.View){
		"nothing":           func(*bench, payment.View) {},
		"unconfirmed crumb": func(b *bench, v payment.View) { b.pool(nil, b.pay(v, "crumb", money.Units(1))) },
		"confirmed crumb":   func(b *bench, v payment.View) { b.mine(b.pay(v, "crumb", money.Units(1))) },
		"dropped crumb": func(b *bench, v payment.View) {
			b.pool(nil, b.pay(v, "crumb", money.Units(1)))
			b.pool(nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, b *bench) {
				b.useBSC()
				b.setNetwork(money.BSC, true, false)
				v := b.on(money.USDT)
				b.mine(b.pay(v, "part", v.Payment.Due.MulDiv(6, 10)))
				b.goTo(onBSC)
				send(b, v)
				b.goTo(onEthereum)
				for range 12 {
					b.mine()
				}
				b.clock.Advance(payment.Window + time.Second)
				b.lookAt(onEthereum)
				b.expect(v.Payment.Reference, payment.Declined, payment.Underpaid)
			})
		})
	}
}

// TestReorganisedPartIsWaitedFor: a part whose block left the chain may be in a block again within the 24 hours.
func TestReorganisedPartIsWaitedFor(t *testing.T) {
	for _, at := range []chain.Network{onEthereum, onBSC} {
		t.Run(string(at), func(t *testing.T) {
			each(t, func(t *testing.T, b *bench) {
				b.useBSC()
				b.setNetwork(money.BSC, true, false)
				back, lost := b.on(money.USDT), b.on(money.USDT)
				part := back.Payment.Due.MulDiv(4, 10)
				var rests []chain.Transfer
				for _, v := range []payment.View{back, lost} {
					b.mine(b.pay(v, "first-"+v.Payment.Reference, part))
					rests = append(rests, b.pay(v, "rest-"+v.Payment.Reference, v.Payment.Due.Sub(part)))
				}
				for range 12 {
					b.mine()
				}
				b.goTo(at)
				b.mine(rests...)
				b.clock.Advance(payment.Window + time.Second)
				b.lookAt(onEthereum)
				b.goTo(at)
				b.reorg(1, &chain.Pending{})
				for _, v := range []payment.View{back, lost} {
					b.expect(v.Payment.Reference, payment.Processing, payment.NoReason)
				}
				b.mine(rests[0])
				for range 40 {
					b.mine()
				}
				b.expect(back.Payment.Reference, payment.Successful, payment.NoReason)
				b.clock.Advance(payment.Monitoring)
				b.lookAt(onEthereum)
				b.lookAt(onBSC)
				b.expect(lost.Payment.Reference, payment.Declined, payment.Underpaid)
			})
		})
	}
}

// tokenOf is the access token of a payment's page.
func (b *bench) tokenOf(v payment.View) string { return path.Base(b.service.PageURL(v.Payment)) }

// lookAt has the follower of a network look at its end and find nothing new.
func (b *bench) lookAt(at chain.Network) {
	b.t.Helper()
	b.goTo(at)
	batch := b.looks()
	batch.Network = at
	must(b.t, b.observer.Looked(b.t.Context(), batch))
}

// TestChoosingANetwork: a network that is on can be chosen until a transfer is seen, before and after the page was opened;
// money on the network that was left counts.
func TestChoosingANetwork(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.useBSC()
		chooses := &choice.Service{Payments: b.service}
		choose := func(v payment.View, code string) (payment.View, error) {
			return chooses.Choose(t.Context(), b.tokenOf(v), code)
		}
		v := b.on(money.USDT)
		if _, err := choose(v, "bsc"); fault.KindOf(err) != fault.Invalid {
			t.Errorf("a network that is off is refused with %v, want Invalid", err)
		}
		if offered, err := chooses.Offered(t.Context(), v); err != nil || len(offered) != 0 {
			t.Errorf("with one network on %v is offered (%v), want no choice", offered, err)
		}
		b.setNetwork(money.BSC, true, true)
		r := request()
		r.Method = string(money.CryptoTether)
		started, err := b.service.Initiate(t.Context(), b.scope, r)
		must(t, err)
		fresh := b.view(started.Reference)
		offered, err := chooses.Offered(t.Context(), fresh)
		codes := make([]money.Chain, 0, 2)
		for _, one := range offered {
			codes = append(codes, one.Code)
		}
		if err != nil || fresh.Payment.Network != string(onBSC) ||
			!slices.Equal(codes, []money.Chain{money.BSC, money.Ethereum}) {
			t.Errorf("a new payment is on %s and offers %v (%v), want the preselected bsc first", fresh.Payment.Network,
				codes, err)
		}
		if fresh, err = choose(fresh, "ethereum"); err != nil || fresh.Payment.Network != string(onEthereum) ||
			fresh.Payment.FinalDepth != 12 {
			t.Errorf("before it is opened it moves to %s with depth %d (%v), want %s and 12", fresh.Payment.Network,
				fresh.Payment.FinalDepth, err, onEthereum)
		}
		for _, to := range []string{"bsc", "ethereum", "bsc"} {
			if v, err = choose(v, to); err != nil || v.Payment.Network != "sandbox-"+to {
				t.Fatalf("after it was opened it is on %s (%v), want %s", v.Payment.Network, err, to)
			}
		}
		b.setNetwork(money.Ethereum, false, false)
		b.mine(b.pay(v, "left", v.Payment.Due))
		if got := b.expect(v.Payment.Reference, payment.Processing, payment.NoReason); got.Payment.Network !=
			string(onEthereum) {
			t.Errorf("paid on %s, the payment is on %s", onEthereum, got.Payment.Network)
		}
		if _, err := choose(v, "bsc"); err == nil {
			t.Error("a network is changed after a transfer was seen, want a refusal")
		}
		r.Network = "bsc"
		started, err = b.service.Initiate(t.Context(), b.scope, r)
		must(t, err)
		b.setNetwork(money.Ethereum, true, false)
		named := b.view(started.Reference)
		if offered, err := chooses.Offered(t.Context(), named); err != nil || len(offered) != 0 {
			t.Errorf("where the request named the network %v is offered (%v), want no choice", offered, err)
		}
		if _, err := choose(named, "ethereum"); fault.KindOf(err) != fault.Conflict {
			t.Errorf("changing the network that the request named gives %v, want Conflict", err)
		}
		b.setNetwork(money.Ethereum, false, false)
		r.Network = "ethereum"
		if _, err := b.service.Initiate(t.Context(), b.scope, r); fault.KindOf(err) != fault.Invalid {
			t.Errorf("initiating on a network that is off gives %v, want Invalid", err)
		}
	})
}
