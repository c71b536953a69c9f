package payment_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/record"
	"cointill/models"
)

// TestRaisedFeeOfTwo (BTC-1, BTC-13): of a transaction that pays two payments and replaces
// one that paid only the first of them, only that one is of the former's time, whichever of
// the two is met first.
func TestRaisedFeeOfTwo(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for _, name := range []string{"before", "after"} {
			one, other := b.opened(), b.opened()
			former := b.pay(one, name+"-1", one.Payment.Due)
			both := []chain.Transfer{b.pay(one, name+"-2", one.Payment.Due), b.pay(other, name+"-2", other.Payment.Due)}
			if name == "after" {
				both[0], both[1] = both[1], both[0]
			}
			both[1].Index = 1
			both[0].Spends, both[1].Spends = former.Spends, former.Spends
			b.pool(nil, former)
			b.clock.Advance(10 * time.Minute)
			b.pool([]chain.Spend{{Key: former.Spends[0], TxID: both[0].TxID}}, both...)
			b.mine(both...)
			b.mine()
			b.expect(one.Payment.Reference, payment.Successful, "")
			b.expect(other.Payment.Reference, payment.Successful, payment.Late)
		}
	})
}

// TestAnotherBranchOfMany: of a payment in many parts, one of which moves something else on
// the branch that wins, or pays somebody else, what is told at once counts and lists each as
// it is there.
func TestAnotherBranchOfMany(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v, other := b.opened(), b.opened()
		check := func(paid int64, want string) {
			t.Helper()
			told, list := b.told(v, "payment.detected"), ""
			for _, m := range told.Transfers {
				list += fmt.Sprintf("%s=%s %s ", m.Hash, strings.TrimLeft(m.Amount, "0."), m.Status)
			}
			if got := told.Transaction.AmountPaidInCrypto; got != v.Coin().Format(money.Units(paid)) || list != want {
				t.Errorf("told of %s, by %s, want %d by %s", got, list, paid, want)
			}
		}
		part := func(name string, units int64) chain.Transfer { return b.pay(v, name, money.Units(units)) }
		first, second, third, fourth, fifth := part("aa", 1), part("bb", 2), part("cc", 4), part("dd", 8), part("ee", 16)
		b.mine(first, second, third)
		first.Amount = money.Units(32)
		b.reorgTo(1, fourth, second, first, third)
		check(2+4+8+32, "bb=2 confirmed cc=4 confirmed dd=8 confirmed aa=32 confirmed ")
		b.reorgTo(2, fifth, second, b.pay(other, "aa", money.Units(64)), third, fourth)
		check(2+4+8+16, "bb=2 confirmed cc=4 confirmed dd=8 confirmed ee=16 confirmed ")
	})
}

// told is what the last event of a type said of a payment.
func (b *bench) told(v payment.View, kind string) (data record.Record) {
	b.t.Helper()
	var row models.Event
	err := b.db.Read(b.t.Context()).Where("payment_id = ? AND type = ?", v.Payment.ID, kind).Order("sequence DESC").Take(&row).Error
	body := struct{ Data *record.Record }{&data}
	if err == nil {
		err = json.Unmarshal([]byte(row.Body), &body)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return data
}

// TestReturnedTogether (BTC-5, BTC-7, BTC-11): of transfers that a later block or a deep
// reorganisation brings in one block, those that an ended payment was paid with count on,
// and each that it was not is unmatched, whatever comes before it.
func TestReturnedTogether(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		due := v.Payment.Due
		waiting := []chain.Transfer{b.pay(v, "more", due.Add(money.Units(1))), b.pay(v, "less", money.Units(1))}
		parts := []chain.Transfer{b.pay(v, "aa", due.Sub(money.Units(5))), b.pay(v, "bb", money.Units(5))}
		b.pool(nil, waiting...)
		b.apply(chain.Batch{Blocks: []chain.Block{b.block(int64(len(b.blocks)), parts...)}, Pending: &chain.Pending{}})
		b.apply(chain.Batch{Blocks: []chain.Block{b.block(int64(len(b.blocks)))}, Pending: &chain.Pending{}})
		b.expect(v.Payment.Reference, payment.Successful, "")
		before := b.events(v.Payment.ID)
		b.apply(chain.Batch{Blocks: []chain.Block{b.block(int64(len(b.blocks)), parts...)}, Pending: &chain.Pending{}})
		if got := b.events(v.Payment.ID); got != before {
			t.Errorf("of a later block: %s", got)
		}
		b.reorgTo(4, waiting[0], parts[0], parts[1], waiting[1])
		if got := b.events(v.Payment.ID); got != before+" unexpected_transfer unexpected_transfer" {
			t.Errorf("events: %s", got)
		}
		var unmatched []string
		err := b.db.Read(t.Context()).Model(&models.Transfer{}).Where("payment_id = ? AND unmatched = ?", v.Payment.ID, payment.AfterFinal).Order("id").Pluck("tx_id", &unmatched).Error
		if got := strings.Join(unmatched, " "); err != nil || got != "more less" {
			t.Errorf("unmatched: %s, %v", got, err)
		}
	})
}

// TestListedTwice (BTC-11): what a node lists twice in one block or picture is one
// transfer, and is counted, told and put on the timeline once. A later word of the same
// block is taken for the truth, and what failed counts for nothing.
func TestListedTwice(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		due := v.Payment.Due
		early, late, void := b.pay(v, "early", money.Units(1)), b.pay(v, "late", due), b.pay(v, "void", money.Units(7))
		tx, rest := b.pay(v, "aa", due.Sub(money.Units(2))), b.pay(v, "bb", money.Units(1))
		b.pool(nil, early, late, late)
		bad := tx
		bad.Reverted, void.Reverted = true, true
		b.apply(chain.Batch{Blocks: []chain.Block{b.block(int64(len(b.blocks)), early, bad, tx, void, rest)}, Pending: &chain.Pending{Transfers: []chain.Transfer{late, late}}})
		if got := b.told(v, "payment.detected").Transaction.AmountPaidInCrypto; got != v.Coin().Format(due.Add(due)) {
			t.Errorf("told of %s, want %s", got, v.Coin().Format(due.Add(due)))
		}
		b.apply(chain.Batch{Blocks: []chain.Block{b.block(int64(len(b.blocks)))}, Pending: &chain.Pending{}})
		b.expect(v.Payment.Reference, payment.Successful, "")
		before := b.events(v.Payment.ID)
		b.mine(late, late)
		var steps int64
		b.count(&steps, &models.Step{}, "payment_id = ? AND reason = ?", v.Payment.ID, payment.AfterFinal)
		if got := b.events(v.Payment.ID); steps != 1 || got != before+" unexpected_transfer" || strings.Count(before, "detected") != 5 {
			t.Errorf("%d steps, events: %s", steps, got)
		}
	})
}
