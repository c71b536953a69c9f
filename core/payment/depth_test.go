package payment_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/observe"
	"cointill/core/send/sendtest"
	"cointill/core/settings"
	"cointill/models"
)

var (
	again = flag.Int("again", 10, "TestMinedAgain: how often the transaction is mined again; 1000 takes a minute")
	every = flag.Bool("every", false, "TestEveryDepth: a payment of each depth from 1 to 150, and a reorganisation of a day of Dogecoin, which takes half a minute")
)

// grow applies this many blocks at once, with transfers in some: numbered from 1.
func (b *bench) grow(n int, transfers map[int][]chain.Transfer) {
	b.t.Helper()
	b.branch++
	batch := chain.Batch{Pending: &chain.Pending{}}
	parent := b.blocks[len(b.blocks)-1]
	for i := 1; i <= n; i++ {
		block := b.block(parent.Height, transfers[i]...)
		block.Parent = parent.Hash
		batch.Blocks, parent = append(batch.Blocks, block), block.BlockID
	}
	b.apply(batch)
}

// TestEveryDepth (BTC-4, DOGE-1): a reorganisation of 150 blocks of Bitcoin takes back
// payments that had up to 150 confirmations (with -every, each number of them), and one
// of Dogecoin such that had up to 200, the most that a business may wait for (with
// -every 1,440, a day's). What was not final waits again and is paid by the same
// transaction; what was final stays, is flagged, and waits for a person, until it is final again
// and taken back once more.
func TestEveryDepth(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		depths := map[money.Coin][]int{money.BTC: {1, 2, 3, 18, 123, 150}, money.DOGE: {1, 5, 6, 40, settings.MaxDepth}}
		if *every {
			depths = map[money.Coin][]int{money.BTC: upTo(150), money.DOGE: {1, 5, 6, 40, settings.MaxDepth, 1_440}}
		}
		for coin, had := range depths {
			deepest := slices.Max(had)
			views, blocks, all := map[int]payment.View{}, map[int][]chain.Transfer{}, []chain.Transfer{}
			for _, confirmations := range had {
				v := b.on(coin)
				tx := b.pay(v, fmt.Sprintf("%s-%d", coin, confirmations), v.Payment.Due)
				views[confirmations], all = v, append(all, tx)
				blocks[deepest-confirmations+1] = append(blocks[deepest-confirmations+1], tx)
			}
			b.grow(deepest, blocks)
			b.reorg(deepest, &chain.Pending{Transfers: all})
			reversed := 0
			for confirmations, v := range views {
				if confirmations < v.Payment.FinalDepth {
					b.expect(v.Payment.Reference, payment.Initiated, payment.Reorged)
				} else if got := b.expect(v.Payment.Reference, payment.Successful, payment.ReversedReason); !got.Payment.Reversed {
					t.Errorf("%s: %d confirmations were taken back, and it is not flagged", coin, confirmations)
				} else {
					reversed++
				}
			}
			b.mine(all...)
			b.grow(views[1].Payment.FinalDepth, nil)
			b.reorg(views[1].Payment.FinalDepth+1, &chain.Pending{}) // and gone for good
			for confirmations, v := range views {
				want := "initiated detected processing successful reversed restored reversed"
				if confirmations < v.Payment.FinalDepth {
					want, reversed = "initiated detected processing initiated processing successful reversed", reversed+1
				}
				if got := b.events(v.Payment.ID); got != want {
					t.Errorf("%s with %d confirmations has events %s, want %s", coin, confirmations, got, want)
				}
			}
			if reversed != len(had) {
				t.Errorf("%s: %d of %d are reversed", coin, reversed, len(had))
			}
		}
		if w, err := b.lists().Waiting(t.Context(), b.scope); err != nil || int(w.Reversed) != len(depths[money.BTC])+len(depths[money.DOGE]) {
			t.Errorf("%d payments wait for somebody to look, %v", w.Reversed, err)
		}
	})
}

func upTo(n int) (list []int) {
	for i := 1; i <= n; i++ {
		list = append(list, i)
	}
	return list
}

// TestMinedAgain (BTC-5): a transaction that is mined again and again, each time in
// another branch, stays one row, of the block that holds it now, and tells nothing new.
func TestMinedAgain(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		tx := b.pay(v, "aa", v.Payment.Due)
		b.mine(tx)
		b.mine()
		for i := range *again {
			b.reorgTo(2+i%3, tx)
			var rows []models.Transfer
			if err := b.db.Read(t.Context()).Where("tx_id = ?", tx.TxID).Find(&rows).Error; err != nil || len(rows) != 1 {
				t.Fatalf(`b.db.Read(t.Context()).Where("tx_id = ?", tx.TxID).Find(&rows).Error: len(rows) = %v, err = %v`, len(rows), err)
			}
			if at := b.blocks[len(b.blocks)-3-i%3]; rows[0].BlockHash != at.Hash || *rows[0].Height != at.Height {
				t.Fatalf("time %d: it is said to be in %s, and is in %s", i, rows[0].BlockHash, at.Hash)
			}
		}
		if got := b.events(v.Payment.ID); got != "initiated detected processing successful" {
			t.Errorf("events: %s", got)
		}
		if got := b.expect(v.Payment.Reference, payment.Successful, ""); got.Payment.Paid.Cmp(got.Payment.Due) != 0 {
			t.Errorf("%s paid of %s", got.Payment.Paid, got.Payment.Due)
		}
	})
}

// TestTwoCoinbases (BTC-11): a miner's reward whose id comes a second time, in a later
// block, is the same money: it counts once, and as mature from the later block on, as
// the first of the two can't be spent any more.
func TestTwoCoinbases(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		reward := b.pay(v, "coinbase", v.Payment.Due)
		reward.Spends, reward.Maturity = nil, 100
		b.mine(reward)
		b.grow(50, nil)
		b.mine(reward)
		b.grow(98, nil) // 150 confirmations of the first, 99 of the second
		if got := b.expect(v.Payment.Reference, payment.Processing, ""); got.Payment.Paid.Cmp(got.Payment.Due) != 0 || len(got.Transfers) != 1 {
			t.Errorf("%s paid of %s, by %d transfers", got.Payment.Paid, got.Payment.Due, len(got.Transfers))
		}
		b.mine()
		b.expect(v.Payment.Reference, payment.Successful, "")
		b.mine(reward)
		if got := b.expect(v.Payment.Reference, payment.Successful, ""); got.Payment.Paid.Cmp(got.Payment.Due) != 0 || len(got.Transfers) != 1 {
			t.Errorf("%s paid of %s, by %d transfers", got.Payment.Paid, got.Payment.Due, len(got.Transfers))
		}
		if got := b.events(v.Payment.ID); got != "initiated detected processing successful" {
			t.Errorf("events: %s", got)
		}
	})
}

// TestWatchedForMonths (BTC-7, BTC-14): a year after the end, in a process that has just
// started, each address is still watched, whatever became of its payment and however
// many addresses of the wallet were given out in between: ten thousand. What comes is
// put on the timeline, listed and told.
func TestWatchedForMonths(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		ended := map[payment.State]payment.View{}
		for state, units := range map[payment.State]int64{payment.Successful: 0, payment.Declined: 1} {
			v := b.opened()
			b.mine(b.pay(v, string(state), v.Payment.Due.Add(money.Units(units))))
			ended[state] = v
		}
		ended[payment.Failed] = b.opened()
		bad := b.pay(ended[payment.Failed], "failed", ended[payment.Failed].Payment.Due)
		bad.Reverted = true
		b.mine(bad)
		b.grow(3, nil)
		between := make([]models.Destination, 10_000)
		for i := range between {
			between[i] = models.Destination{Network: string(network), Address: fmt.Sprintf("given-%d", i), Tag: -1, BusinessID: b.scope.BusinessID, Domain: "test", CreatedAt: b.clock.Now()}
		}
		if err := b.db.Write(t.Context(), func(tx *models.Tx) error { return tx.CreateInBatches(between, 50).Error }); err != nil {
			t.Fatal(err)
		}
		last := b.opened()
		b.clock.Advance(365 * 24 * time.Hour)
		b.observer = observe.New(b.service, sendtest.New(b.service), &chain.WatchSet{})
		if err := b.observer.Load(t.Context(), network); err != nil {
			t.Fatal(err)
		}
		for _, address := range []string{last.Payment.Address, "given-0", "given-9999"} {
			if !b.observer.Watching.Address(address) {
				t.Errorf("%s is not watched", address)
			}
		}
		for state, v := range ended {
			if !b.observer.Watching.Address(v.Payment.Address) {
				t.Fatalf("the address of a payment that is %s is not watched", state)
			}
			before := b.expect(v.Payment.Reference, state, payment.Reason(b.view(v.Payment.Reference).Payment.Reason))
			b.mine(b.pay(v, "again-"+string(state), v.Payment.Due))
			after := b.expect(v.Payment.Reference, state, payment.Reason(before.Payment.Reason))
			if !strings.HasSuffix(b.events(v.Payment.ID), " unexpected_transfer") || after.Payment.Steps != before.Payment.Steps+1 {
				t.Errorf("%s: events %s, %d steps after %d", state, b.events(v.Payment.ID), after.Payment.Steps, before.Payment.Steps)
			}
		}
		if list, _, err := b.resolver.Unmatched(t.Context(), b.scope, payment.UnmatchedFilter{Limit: 10}); err != nil || len(list) != len(ended) {
			t.Errorf("%d are listed, %v", len(list), err)
		}
	})
}

// TestTheLastMicrosecond (T-1): in each coin, a payment that was there a microsecond
// before its time ends, or in that moment, is in time; a microsecond later it is late.
func TestTheLastMicrosecond(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for _, info := range money.Coins() {
			for at, reason := range map[time.Duration]payment.Reason{-time.Microsecond: "", 0: "", time.Microsecond: payment.Late} {
				v := b.on(info.Coin)
				b.clock.Advance(payment.Window + at)
				b.mine(b.pay(v, fmt.Sprintf("%s%s", info.Coin, at), v.Payment.Due))
				b.grow(v.Payment.FinalDepth, nil)
				b.expect(v.Payment.Reference, payment.Successful, reason)
			}
		}
	})
}

// TestFinalityStalls (ETH-12): a payment that needs the network's own finality has all
// the blocks it needs and more, but nothing is finalized for days: it neither becomes
// final nor ends, and says how many confirmations it has, until finality goes on.
func TestFinalityStalls(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.on(money.ETH)
		b.final = int64(len(b.blocks))
		b.put(v.Payment.Reference, map[string]any{"final_by_network": true, "final_depth": 2})
		b.mine(b.pay(v, "waits", v.Payment.Due))
		for range 4 { // days
			b.clock.Advance(payment.Monitoring)
			b.grow(20, nil)
			b.sweep()
			if got := b.expect(v.Payment.Reference, payment.Processing, payment.NoReason).Record(); got.Transaction.CryptoConfirmations < 20 {
				t.Errorf("got.Transaction.CryptoConfirmations = %v", got.Transaction.CryptoConfirmations)
			}
		}
		b.final++
		b.mine()
		b.expect(v.Payment.Reference, payment.Successful, payment.NoReason)
	})
}
