package payment_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"gorm.io/gorm"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
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
