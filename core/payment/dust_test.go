package payment_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/webhook"
	"cointill/models"
)

// TestDustIsBounded (BTC-12): thousands of outputs to one address are counted exactly,
// told in few events of bounded size, and forgotten without harm. Each costs a statement,
// and none a look at the others. Dust alone is too little.
func TestDustIsBounded(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		var keys []string
		for i := range chain.MaxSpends {
			keys = append(keys, fmt.Sprintf("in-%d", i))
		}
		var dust []chain.Transfer
		for i := range 1_500 {
			tx := b.pay(v, "dust", money.Units(1))
			tx.Index, tx.Spends = i, keys
			dust = append(dust, tx)
		}
		for _, step := range []func(){func() { b.pool(nil, dust...) }, func() { b.mine(dust...) }} {
			if n := b.statements(step); n > len(dust)+100 {
				t.Errorf("%d statements for %d outputs", n, len(dust))
			}
		}
		got := b.view(v.Payment.Reference)
		if want := money.Units(1_500); got.Payment.Paid.Cmp(want) != 0 || len(got.Transfers) != 1_500 {
			t.Errorf("%s in %d transfers", got.Payment.Paid, len(got.Transfers))
		}
		var events []models.Event
		if err := b.db.Read(t.Context()).Where("payment_id = ?", v.Payment.ID).Find(&events).Error; err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if len(events) > 3 || len(e.Body) > 40_000 {
				t.Errorf("%d events, %s of %d bytes", len(events), e.Type, len(e.Body))
			}
		}
		batch, at := chain.Batch{Pending: &chain.Pending{}}, b.blocks[len(b.blocks)-1]
		for i := range 2_000 {
			block := chain.Block{Header: chain.Header{BlockID: chain.BlockID{Height: at.Height + 1, Hash: fmt.Sprint("later-", i)}, Parent: at.Hash, Time: b.clock.Now()}}
			batch.Blocks, at = append(batch.Blocks, block), block.BlockID
		}
		b.apply(batch)
		if b.observer.Watching.Spend(keys[0]) {
			t.Error("its spend keys are kept for ever")
		}
		b.clock.Advance(payment.Window + time.Second)
		b.look()
		b.expect(v.Payment.Reference, payment.Declined, payment.Underpaid)
	})
}

// TestReplacedDust (BTC-1, BTC-12): what replaces a transaction of many inputs and outputs
// costs no statement for each of them, and at the next looks, which tell of it again, no
// writing. A block that takes them in the end costs one for each.
func TestReplacedDust(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.part("aa", 10_000)
		var dust []chain.Transfer
		var rival []chain.Spend
		for i := range 500 {
			tx := b.pay(v, "dust", money.Units(1))
			for k := range chain.MaxSpends {
				tx.Spends = append(tx.Spends, fmt.Sprint("in-", k))
			}
			tx.Index = i
			dust = append(dust, tx)
		}
		for _, key := range dust[0].Spends {
			rival = append(rival, chain.Spend{Key: key, TxID: "rival"})
		}
		gone := func(why payment.Reason) {
			t.Helper()
			for _, tx := range b.view(v.Payment.Reference).Transfers {
				if tx.TxID == "dust" && (!tx.Gone || tx.GoneReason != string(why) || !tx.GoneAt.Equal(b.clock.Now())) {
					t.Fatalf("%+v", tx)
				}
			}
		}
		b.pool(nil, dust...)
		b.clock.Advance(time.Minute)
		few := func(what string, most int, step func()) {
			t.Helper()
			if n := b.statements(step); n > most {
				t.Errorf("%s: %d statements", what, n)
			}
		}
		few("replaced", 50, func() { b.pool(rival, b.pay(v, "rival", money.Units(1))) })
		gone(payment.Replaced)
		few("replaced, told again", 15, func() { b.pool(rival, b.pay(v, "rival", money.Units(1))) })
		b.pool(nil, dust...)
		few("left the mempool", 50, func() { b.pool(nil) })
		gone(payment.Dropped)
		few("replaced by a block", 50, func() {
			block := b.block(int64(len(b.blocks)))
			block.Spends = rival
			b.apply(chain.Batch{Blocks: []chain.Block{block}, Pending: &chain.Pending{}})
		})
		gone(payment.Replaced)
		few("the block is undone", 50, func() { b.reorg(1, &chain.Pending{}) })
		few("mined after all", len(dust)+50, func() { b.mine(dust...) })
	})
}

// TestDustAfterTheEnd (BTC-12, T-3): thousands of outputs that only a block takes after the
// payment has ended are listed and reported in one event that doesn't count them: those that
// still wait at the end, and those that had left the mempool.
func TestDustAfterTheEnd(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for _, c := range []struct {
			why   string
			atEnd func(dust []chain.Transfer) []chain.Transfer
		}{
			{payment.Surplus, func(dust []chain.Transfer) []chain.Transfer { return dust }},
			{payment.AfterFinal, func([]chain.Transfer) []chain.Transfer { return nil }},
		} {
			v := b.part("aa "+c.why, 10_000)
			var dust []chain.Transfer
			for i := range 200 {
				tx := b.pay(v, "dust "+c.why, money.Units(1))
				tx.Index = i
				dust = append(dust, tx)
			}
			b.pool(nil, dust...)
			b.clock.Advance(payment.Monitoring + time.Second)
			b.pool(nil, c.atEnd(dust)...)
			b.expect(v.Payment.Reference, payment.Declined, payment.Underpaid)
			b.mine(dust...)
			got := b.expect(v.Payment.Reference, payment.Declined, payment.Underpaid)
			var listed int64
			if err := b.db.Read(t.Context()).Model(&models.Transfer{}).Where("payment_id = ? AND unmatched = ?", v.Payment.ID, c.why).Count(&listed).Error; err != nil {
				t.Fatal(err)
			}
			if listed != 200 || len(got.Transfers) != 1 {
				t.Errorf("%s: %d unmatched, %d counted", c.why, listed, len(got.Transfers))
			}
			var told models.Event
			if err := b.db.Read(t.Context()).Where("payment_id = ?", v.Payment.ID).Order("sequence DESC").Take(&told).Error; err != nil {
				t.Fatal(err)
			}
			var counted []string
			record := b.told(v, webhook.PaymentUnexpectedTransfer)
			if got := record.Transaction.CryptoTransactionHash; got != "aa "+c.why {
				t.Errorf("%s: the last event names the transaction %q, want that of the counted transfer", c.why, got)
			}
			for _, m := range record.Transfers {
				if m.Counts {
					counted = append(counted, m.Hash)
				}
			}
			if told.Type != webhook.PaymentUnexpectedTransfer || len(told.Body) > 60_000 || strings.Join(counted, " ") != "aa "+c.why {
				t.Errorf("%s: the last event is %s with %d bytes, and counts %q; want a bounded %s that counts the first transfer alone", c.why, told.Type, len(told.Body), counted, webhook.PaymentUnexpectedTransfer)
			}
		}
	})
}

// TestManySmallTransactions (BTC-12): each transaction to a payment is told of by itself,
// up to a bound: thousands in one block make few events, which count all.
func TestManySmallTransactions(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for _, c := range []struct{ transactions, events int }{{3, 3}, {10, 10}, {300, 10}} {
			v := b.opened()
			var dust []chain.Transfer
			for i := range c.transactions {
				for out := range 2 {
					tx := b.pay(v, fmt.Sprint("tx-", c.transactions, "-", i), money.Units(1))
					tx.Index = out
					dust = append(dust, tx)
				}
			}
			b.mine(dust...)
			var told []models.Event
			if err := b.db.Read(t.Context()).Where("payment_id = ? AND type = ?", v.Payment.ID, webhook.PaymentDetected).Find(&told).Error; err != nil {
				t.Fatal(err)
			}
			if got := b.view(v.Payment.Reference); len(told) != c.events || len(got.Transfers) != 2*c.transactions {
				t.Errorf("%d transactions: %d events, %d transfers", c.transactions, len(told), len(got.Transfers))
			}
		}
	})
}

// statements is how many of them do asks the database.
func (b *bench) statements(do func()) (n int) {
	b.t.Helper()
	c := b.db.Exec(b.t.Context()).Callback()
	count := func(*gorm.DB) { n++ }
	if err := errors.Join(c.Create().After("*").Register("count", count), c.Update().After("*").Register("count", count),
		c.Query().After("*").Register("count", count), c.Row().After("*").Register("count", count), c.Raw().After("*").Register("count", count)); err != nil {
		b.t.Fatal(err)
	}
	do()
	if err := errors.Join(c.Create().Remove("count"), c.Update().Remove("count"), c.Query().Remove("count"), c.Row().Remove("count"), c.Raw().Remove("count")); err != nil {
		b.t.Fatal(err)
	}
	return n
}
