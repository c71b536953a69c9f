package payment_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/models"
)

// part is a payment of which all but the rest is final.
func (b *bench) part(txid string, rest int64) payment.View {
	b.t.Helper()
	v := b.opened()
	b.mine(b.pay(v, txid, v.Payment.Due.Sub(money.Units(rest))))
	b.mine()
	return b.expect(v.Payment.Reference, payment.Processing, "")
}

// TestPartDuringOutage (T-1, T-2): the rest of a payment is mined in time while no node
// answers. The end of the window decides nothing before the network was read up to it.
func TestPartDuringOutage(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.part("aa", 1000)
		b.clock.Advance(5 * time.Minute)
		missed := b.block(int64(len(b.blocks)), b.pay(v, "bb", money.Units(1000)))
		for range 3 {
			b.clock.Advance(payment.Monitoring)
			b.sweep()
			b.expect(v.Payment.Reference, payment.Processing, "")
		}
		b.apply(chain.Batch{Blocks: []chain.Block{missed}, Pending: &chain.Pending{}})
		b.mine()
		got := b.expect(v.Payment.Reference, payment.Successful, "")
		if got.Payment.Paid.Cmp(v.Payment.Due) != 0 || b.events(v.Payment.ID) != "initiated detected processing detected successful" {
			t.Errorf("paid %s of %s: %s", got.Payment.Paid, v.Payment.Due, b.events(v.Payment.ID))
		}
	})
}

// TestPaidDuringOutage (T-2): a payment is not taken for abandoned while no node answers.
func TestPaidDuringOutage(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		paid, unpaid := b.opened(), b.opened()
		b.clock.Advance(payment.Monitoring - time.Minute)
		missed := b.block(int64(len(b.blocks)), b.pay(paid, "aa", paid.Payment.Due))
		b.clock.Advance(payment.Monitoring)
		b.sweep()
		b.expect(unpaid.Payment.Reference, payment.Initiated, "")
		b.apply(chain.Batch{Blocks: []chain.Block{missed}, Pending: &chain.Pending{}})
		b.expect(unpaid.Payment.Reference, payment.Abandoned, "")
		b.mine()
		b.expect(paid.Payment.Reference, payment.Successful, payment.Late)
		if got := b.events(paid.Payment.ID); got != "initiated detected processing successful" {
			t.Errorf("events: %s", got)
		}
	})
}

// TestLooks (T-2): what a look must have seen so that a deadline has passed.
func TestLooks(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		ends := func(name string, look func(batch chain.Batch) error, want payment.State) {
			t.Helper()
			v := b.part(name, 1)
			b.clock.Advance(payment.Window)
			b.look() // at the very end: the next microsecond is too late
			b.expect(v.Payment.Reference, payment.Processing, "")
			b.clock.Advance(time.Microsecond)
			b.sweep()
			b.expect(v.Payment.Reference, payment.Processing, "")
			at := b.blocks[len(b.blocks)-1]
			if err := look(chain.Batch{Network: network, From: at, Tip: chain.Tip{Header: chain.Header{BlockID: at}}, Pending: &chain.Pending{}, Read: b.clock.Now()}); err != nil {
				t.Fatal(err)
			}
			if got := b.view(v.Payment.Reference); got.State() != want {
				t.Errorf("%s: %s", name, got.State())
			}
		}
		looked := func(change func(*chain.Batch)) func(chain.Batch) error {
			return func(batch chain.Batch) error { change(&batch); return b.observer.Looked(t.Context(), batch) }
		}
		applied := func(change func(*chain.Batch)) func(chain.Batch) error {
			return func(batch chain.Batch) error { change(&batch); return b.observer.Apply(t.Context(), batch) }
		}
		as := func(*chain.Batch) {}
		ends("beyond it", looked(as), payment.Declined)
		ends("applied beyond it", applied(as), payment.Declined)
		ends("before it", looked(func(batch *chain.Batch) { batch.Read = batch.Read.Add(-time.Microsecond) }), payment.Processing)
		ends("not to the tip", applied(func(batch *chain.Batch) { batch.Pending, batch.Read = nil, time.Time{} }), payment.Processing)
		ends("from another block", looked(func(batch *chain.Batch) { batch.From.Hash = "other" }), payment.Processing)
		ends("under a lease that is lost", looked(func(batch *chain.Batch) { batch.Fence = -1 }), payment.Processing)
		ends("of another network", looked(func(batch *chain.Batch) { batch.Network = "sandbox-xrp" }), payment.Processing)
		ends("later", func(batch chain.Batch) error {
			at := batch.Read
			b.clock.Advance(time.Hour)
			batch.Read = b.clock.Now()
			if err := b.observer.Looked(t.Context(), batch); err != nil {
				return err
			}
			batch.Read = at // a clock that is behind takes nothing back
			return b.observer.Apply(t.Context(), batch)
		}, payment.Declined)
		var cursor models.ChainCursor
		must(t, b.db.Read(t.Context()).Where("network = ?", string(network)).Take(&cursor).Error)
		if cursor.ReadUntil == nil || !cursor.ReadUntil.Equal(b.clock.Now()) {
			t.Errorf("read until %v at %v", cursor.ReadUntil, b.clock.Now())
		}
		b.clock.Advance(time.Hour)
		b.look()
		must(t, b.db.Read(t.Context()).Where("network = ?", string(network)).Take(&cursor).Error)
		if cursor.ReadUntil.Equal(b.clock.Now()) {
			t.Error("a look that no payment waits for is written")
		}
	})
}

// TestForsakenNetwork: what waits for a network that was taken out of the configuration
// is decided a week after its deadline; what waits for one that is only out, never.
func TestForsakenNetwork(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		short, unpaid := b.part("aa", 1), b.opened()
		b.clock.Advance(60 * 24 * time.Hour)
		b.sweep()
		b.expect(short.Payment.Reference, payment.Processing, "")
		b.expect(unpaid.Payment.Reference, payment.Initiated, "")

		b.look()
		short, unpaid = b.part("bb", 1), b.opened()
		served := b.service.Networks.(*networks.Registry).Domains[scope.Test]
		delete(served, money.Bitcoin)
		b.clock.Advance(payment.Window + 7*24*time.Hour)
		b.sweep()
		b.expect(short.Payment.Reference, payment.Processing, "")
		b.clock.Advance(time.Microsecond)
		b.sweep()
		b.expect(short.Payment.Reference, payment.Declined, payment.Underpaid)
		b.expect(unpaid.Payment.Reference, payment.Initiated, "")
		b.clock.Advance(payment.Monitoring)
		b.sweep()
		b.expect(unpaid.Payment.Reference, payment.Abandoned, "")
	})
}

// TestUndecidableWaits: a payment that can't be decided is tried again later, and not
// at every look.
func TestUndecidableWaits(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.part("aa", 1)
		become := func(status string) {
			must(t, b.db.Exec(t.Context()).Exec("UPDATE payments SET status = ? WHERE id = ?", status, v.Payment.ID).Error)
		}
		b.clock.Advance(payment.Window + time.Second)
		become("odd")
		b.look()
		become("processing")
		b.clock.Advance(time.Second)
		b.look()
		b.expect(v.Payment.Reference, payment.Processing, "")
		b.clock.Advance(time.Minute)
		b.tick()
		b.expect(v.Payment.Reference, payment.Declined, payment.Underpaid)
	})
}

// TestLookPlan: what a look costs follows what waits for it, not how many payments there are.
func TestLookPlan(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		if b.db.Postgres() { // which has too few rows here to plan by
			return
		}
		fill(t, b, 60, 2, 60)
		v := b.opened()
		b.clock.Advance(payment.Monitoring + time.Second)
		text := strings.Join(b.plans(func() { b.look() }), "\n")
		b.expect(v.Payment.Reference, payment.Abandoned, "")
		due := regexp.MustCompile("payments_due_read")
		if n := len(due.FindAllString(text, -1)); n < 3 || walk.MatchString(text) {
			t.Errorf("%d of the look's plans use the index:\n%s", n, text)
		}
	})
}
