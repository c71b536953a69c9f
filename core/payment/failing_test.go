package payment_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/payment/books"
	"cointill/core/payment/claim"
	"cointill/core/payment/fence"
	"cointill/core/payment/issuer"
	"cointill/core/payment/list"
	"cointill/core/payment/observe"
	"cointill/core/payment/place"
	"cointill/core/payment/refund"
	"cointill/core/scope"
	"cointill/core/spreadsheet"
	"cointill/models"
	"cointill/models/modelstest"
)

// failingCall is an operation that is run with each of its statements failing in turn.
type failingCall struct {
	name string
	call func() error
}

// failEach checks of each operation that a failed statement is the operation's error.
func (b *bench) failEach(t *testing.T, calls []failingCall, tolerated ...string) {
	t.Helper()
	for _, c := range calls {
		t.Run(c.name, func(t *testing.T) { modelstest.FailStatements(t, b.db, c.call, tolerated...) })
	}
}

// TestPaymentsOfAFailingDatabase checks that what a merchant or customer asks for returns
// the error of each statement that fails, and works when none does.
func TestPaymentsOfAFailingDatabase(t *testing.T) {
	eachAlone(t, func(t *testing.T, b *bench) {
		ctx, owner := t.Context(), b.owner()
		reversed, unopened, canceled := b.opened(), b.initiate(), b.initiate()
		b.mine(b.pay(reversed, "reversed", reversed.Payment.Due))
		b.mine()
		b.reorgTo(2)
		short, paid, refunded := b.opened(), b.opened(), b.opened()
		b.mine(b.pay(short, "short", short.Payment.Due.Sub(money.Units(10))), b.pay(paid, "paid", paid.Payment.Due),
			b.pay(refunded, "refunded", refunded.Payment.Due.Add(money.Units(10))))
		b.mine()
		b.clock.Advance(payment.Window + time.Second)
		b.tick()
		b.expect(short.Payment.Reference, payment.Declined, payment.Underpaid)
		b.mine(b.pay(refunded, "extra", money.Units(500)))
		b.mine(b.pay(paid, "more", money.Units(1_000)), b.pay(paid, "most", money.Units(2_000)), b.pay(paid, "rest", money.Units(3_000)))
		b.mine()
		b.mine()
		strays, _, err := b.resolver.Unmatched(ctx, owner, payment.UnmatchedFilter{Limit: 10})
		if err != nil || len(strays) != 4 {
			t.Fatalf("%d unmatched transfers, error %v; want 4", len(strays), err)
		}
		fresh, late := b.opened(), b.initiate()
		link, _ := b.linkUses(1)
		b.byLink(link) // it expires when deadlines are swept
		canceledRef := b.reference(canceled.AccessToken)
		ref := func(v payment.View) string { return v.Payment.Reference }
		note := refund.Report{Note: "by hand"}
		part := refund.Report{Amount: "0.00000040", TxID: strings.Repeat("cd", 32)}
		b.service.Contracts = map[chain.Network]place.Contract{network: {}} // whose addresses are looked at
		calls := []failingCall{
			{"Initiate", func() error {
				r := request()
				r.BusinessReference = "shop-1"
				_, err := b.service.Initiate(ctx, b.scope, r)
				return err
			}},
			{"ByToken", func() error { _, err := b.service.ByToken(ctx, unopened.AccessToken); return err }},
			{"Verify", func() error { _, err := b.service.Verify(ctx, b.scope, ref(paid)); return err }},
			{"Timeline", func() error { _, err := b.service.Timeline(ctx, b.scope, ref(paid)); return err }},
			{"Open", func() error { _, err := b.service.Open(ctx, late.AccessToken, "en", ""); return err }},
			{"Open again", func() error { _, err := b.service.Open(ctx, late.AccessToken, "en", ""); return err }},
			{"OpenByReference", func() error {
				_, err := b.service.OpenByReference(ctx, b.scope, canceledRef)
				return err
			}},
			{"Claim", func() error {
				return (&claim.Service{Payments: b.service}).Note(ctx, late.AccessToken, strings.Repeat("ab", 32))
			}},
			{"AdvanceClock", func() error {
				return b.service.AdvanceClock(ctx, b.scope, ref(fresh), time.Second, false)
			}},
			{"Evaluate", func() error { return b.service.Evaluate(ctx, fresh.Payment.ID) }},
			{"Evaluate a reversed one", func() error { return b.service.Evaluate(ctx, reversed.Payment.ID) }},
			{"EvaluateEach", func() error { return b.service.EvaluateEach(ctx, "id = ?", fresh.Payment.ID) }},
			{"EvaluateDue", func() error {
				return b.service.EvaluateDue(ctx, string(network), 5, b.clock.Now(), []int64{fresh.Payment.ID})
			}},
			{"Resolve", func() error { return b.resolver.Resolve(ctx, owner, ref(short)) }},
			{"PlanAttach", func() error { _, err := b.resolver.PlanAttach(ctx, owner, strays[0].ID, ref(fresh)); return err }},
			{"Attach", func() error { _, err := b.resolver.Attach(ctx, owner, strays[0].ID, ref(fresh)); return err }},
			{"PlanRefund", func() error { _, err := b.resolver.PlanRefund(ctx, owner, ref(refunded), part); return err }},
			{"RecordRefund", func() error { _, err := b.resolver.RecordRefund(ctx, owner, ref(refunded), part); return err }},
			{"Refunds", func() error { _, err := b.resolver.Refunds(ctx, owner, refunded.Payment.ID); return err }},
			{"ListUnmatchedOf", func() error { _, err := b.resolver.ListUnmatchedOf(ctx, owner, paid.Payment.ID); return err }},
			{"Unmatched", func() error {
				_, _, err := b.resolver.Unmatched(ctx, owner, payment.UnmatchedFilter{Limit: 10})
				return err
			}},
			{"FindUnmatched", func() error { _, err := b.resolver.FindUnmatched(ctx, owner, strays[1].ID); return err }},
			{"CheckRefunded", func() error { _, err := b.resolver.CheckRefunded(ctx, owner, strays[1].ID, note); return err }},
			{"MarkRefunded", func() error { return b.resolver.MarkRefunded(ctx, owner, strays[1].ID, note) }},
			{"Unmatched that was refunded", func() error {
				_, _, err := b.resolver.Unmatched(ctx, owner, payment.UnmatchedFilter{Resolution: payment.Refunded, Limit: 10})
				return err
			}},
			{"Verify with surplus and refunds", func() error { _, err := b.service.Verify(ctx, b.scope, ref(refunded)); return err }},
			{"Close", func() error { return b.resolver.Close(ctx, owner, ref(reversed), "Paid by bank") }},
			{"WriteUnderFence", func() error {
				return fence.Write(ctx, b.service.DB, network, later, func(*models.Tx) error { return nil })
			}},
		}
		signals := 0
		b.service.Changed = func() { signals++ }
		for i, c := range calls {
			calls[i].call = func() error {
				signals = 0
				err := c.call()
				if err != nil && signals > 0 {
					t.Errorf("%s signals %d changes and returns %v, want no signal with an error", c.name, signals, err)
				}
				return err
			}
		}
		b.failEach(t, calls)
		b.failEach(t, []failingCall{{"Sweep", func() error {
			b.clock.Advance(payment.Monitoring)
			_, err := b.service.Sweep(ctx)
			return err
		}}}, decidedLater...)
	})
}

// reference returns the reference of the payment with an access token.
func (b *bench) reference(token string) string {
	b.t.Helper()
	v, err := b.service.ByToken(b.t.Context(), token)
	if err != nil {
		b.t.Fatal(err)
	}
	return v.Payment.Reference
}

// TestListsOfAFailingDatabase checks that lists, searches and exports return the error of each
// statement that fails.
func TestListsOfAFailingDatabase(t *testing.T) {
	eachAlone(t, func(t *testing.T, b *bench) {
		ctx, sc := t.Context(), b.owner()
		v := b.opened()
		b.mine(b.pay(v, "aa", v.Payment.Due))
		b.mine()
		lists := b.lists()
		customers, _, err := lists.Customers(ctx, sc, list.CustomerFilter{Limit: 10})
		if err != nil || len(customers) != 1 {
			t.Fatalf("%d customers, error %v; want 1", len(customers), err)
		}
		filters := map[string]list.Filter{"all": {Limit: 10}, "page before": {After: list.Place{ID: v.Payment.ID}, Limit: 10}, "reference": {Reference: v.Payment.Reference[:8], Limit: 10},
			"hash": {Hash: "aa", Limit: 10}, "address": {Address: v.Payment.Address, Limit: 10},
			"mail": {Email: "ngozi@example.com", Limit: 10}, "hash or address": {Query: v.Payment.Address, Limit: 10}, "name": {Query: "Okafor", Limit: 10}}
		for name, f := range filters {
			b.failEach(t, []failingCall{
				{"Search by " + name, func() error { _, err := lists.Search(ctx, sc, f); return err }},
				{"Count by " + name, func() error { _, err := lists.Count(ctx, sc, f); return err }},
				{"CountNewer by " + name, func() error { _, err := lists.CountNewer(ctx, sc, f, list.Place{}); return err }},
				{"Export by " + name, func() error {
					return lists.Export(ctx, sc, f, func([]models.Payment) error { return nil })
				}},
			})
		}
		b.failEach(t, []failingCall{
			{"ExportTable", func() error {
				return lists.ExportTable(ctx, sc, list.Filter{}, list.Table{Zone: time.UTC, Begin: spreadsheet.NewCSV}, io.Discard)
			}},
			{"Newest", func() error { _, err := lists.Newest(ctx, sc); return err }},
			{"Waiting", func() error { _, err := lists.Waiting(ctx, sc); return err }},
			{"Customer", func() error { _, _, err := lists.Customer(ctx, sc, customers[0].Code); return err }},
			{"Customers", func() error { _, _, err := lists.Customers(ctx, sc, list.CustomerFilter{Limit: 10}); return err }},
			{"Customers by a text", func() error {
				_, _, err := lists.Customers(ctx, sc, list.CustomerFilter{Query: "ngozi", Limit: 10})
				return err
			}},
		})
	})
}

// decidedLater are the statements whose failure leaves a payment due: it is decided at the next look, or
// by itself where several were decided together.
var decidedLater = []string{"row payments", "raw SELECT id FROM"}

// TestObserverOfAFailingDatabase checks that a batch is applied as a whole or not at all,
// and that the follower gets the error of each statement that fails.
func TestObserverOfAFailingDatabase(t *testing.T) {
	eachAlone(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		paid, replaced, dropped, late := b.opened(), b.opened(), b.opened(), b.opened()
		pays := b.pay(paid, "pays", paid.Payment.Due)
		old := b.pay(replaced, "old", replaced.Payment.Due)
		gone := b.pay(dropped, "gone", dropped.Payment.Due)
		lates := b.pay(late, "late", late.Payment.Due)
		b.pool(nil, old, gone)
		b.mine(lates)
		height := int64(len(b.blocks))
		other := b.pay(late, "other", money.Units(9))
		other.Asset = "another"
		double := b.pay(replaced, "double", replaced.Payment.Due)
		double.Spends = old.Spends
		spends := []chain.Spend{{TxID: "double", Key: old.Spends[0]}}
		applied := false
		batch := func(make func() chain.Batch) func() error {
			applied = false
			return func() error {
				next := chain.Batch{Network: network, From: b.blocks[len(b.blocks)-1], Pending: &chain.Pending{}, Read: b.clock.Now()}
				if !applied {
					next = make()
				}
				next.Network, next.From, next.Read = network, b.blocks[len(b.blocks)-1], b.clock.Now()
				next.Tip = chain.Tip{Header: chain.Header{BlockID: next.From}, Finalized: -1}
				err := b.observer.Apply(ctx, next)
				if err == nil && !applied {
					applied = true
					if next.Ancestor != nil {
						b.blocks = b.blocks[:next.Ancestor.Height]
					}
					for _, block := range next.Blocks {
						b.blocks = append(b.blocks, block.BlockID)
					}
				}
				return err
			}
		}
		for _, c := range []struct {
			name string
			make func() chain.Batch
		}{
			{"block", func() chain.Batch {
				block := b.block(height, pays, double, other)
				block.Spends = spends
				return chain.Batch{Blocks: []chain.Block{block}, Pending: &chain.Pending{}}
			}},
			{"reorganisation", func() chain.Batch {
				b.branch = 1
				ancestor := b.blocks[height-2]
				moved := lates
				moved.Amount = lates.Amount.Add(money.Units(1))
				block := b.block(ancestor.Height, moved)
				return chain.Batch{Ancestor: &ancestor, Blocks: []chain.Block{block}, Pending: &chain.Pending{Transfers: []chain.Transfer{pays}}}
			}},
			{"earlier block", func() chain.Batch {
				block := b.block(int64(len(b.blocks)), pays)
				block.Time = b.clock.Now().Add(-time.Minute)
				return chain.Batch{Blocks: []chain.Block{block}, Pending: &chain.Pending{}}
			}},
			{"mempool", func() chain.Batch {
				return chain.Batch{Pending: &chain.Pending{Transfers: []chain.Transfer{gone, b.pay(dropped, "further", money.Units(3))},
					Spends: []chain.Spend{{TxID: "rival", Key: "of no transfer"}}}}
			}},
		} {
			call := batch(c.make)
			t.Run(c.name, func(t *testing.T) { modelstest.FailStatements(t, b.db, call, decidedLater...) })
		}
		missed := chain.Block{Header: chain.Header{BlockID: b.blocks[len(b.blocks)-1]}, Transfers: []chain.Transfer{b.pay(paid, "missed", money.Units(5))}}
		balance := b.pay(paid, models.BalanceTxID(missed.Height, paid.Payment.Address), money.Units(9))
		balance.Via = observe.UnknownVia
		explained, shown := missed, missed
		explained.Transfers, shown.Transfers = []chain.Transfer{b.pay(paid, "explains", money.Units(4))}, []chain.Transfer{balance}
		_, err := b.observer.Reread(ctx, network, shown)
		must(t, err)
		b.failEach(t, []failingCall{
			{"Reread that explains a balance", func() error { _, err := b.observer.Reread(ctx, network, explained); return err }},
			{"Reread", func() error { _, err := b.observer.Reread(ctx, network, missed); return err }},
			{"Looked", func() error { b.clock.Advance(time.Minute); return b.observer.Looked(ctx, b.looks()) }},
			{"Cursor", func() error { _, err := b.observer.Cursor(ctx, network); return err }},
			{"Hash", func() error { _, err := b.observer.Hash(ctx, network, 1); return err }},
			{"Health", func() error { return b.observer.Health(ctx, network, 0, "No node answers.") }},
			{"Health of a new network", func() error { return b.observer.Health(ctx, "new", 0, "No node answers.") }},
			{"Load", func() error { return b.observer.Load(ctx, network) }},
			{"Refresh", func() error { return b.observer.Refresh(ctx, network) }},
			{"ResetNetwork", func() error { _, err := b.observer.ResetNetwork(ctx, "new"); return err }},
		})
	})
}

// TestCleanupOfAFailingDatabase checks that a block is not applied when what it puts out of reach can't
// be deleted.
func TestCleanupOfAFailingDatabase(t *testing.T) {
	eachAlone(t, func(t *testing.T, b *bench) {
		v := b.opened()
		b.mine(b.pay(v, "old", v.Payment.Due))
		b.ahead(int(network.KeptBlocks()) - 1)
		from := b.blocks[len(b.blocks)-1]
		last := chain.Batch{Network: network, From: from, Blocks: []chain.Block{b.block(from.Height)}, Tip: chain.Tip{Finalized: -1}}
		applied := false
		modelstest.FailStatements(t, b.db, func() (err error) {
			if !applied {
				err = b.observer.Apply(t.Context(), last)
				applied = err == nil
			}
			return err
		}, "query payments")
		if b.observer.Watching.Spend("coin-of-old") {
			t.Error("the spend key is watched after the last block, want it forgotten")
		}
	})
}

// TestSettlementOfAFailingDatabase checks that a payment ends with its surplus and its books, or not at
// all.
func TestSettlementOfAFailingDatabase(t *testing.T) {
	eachAlone(t, func(t *testing.T, b *bench) {
		v := b.opened()
		dropped := b.pay(v, "dropped", money.Units(8))
		b.pool(nil, dropped)
		b.pool(nil)
		b.mine(b.pay(v, "pays", v.Payment.Due), b.pay(v, "crumb", money.Units(7)))
		last := chain.Batch{Network: network, From: b.blocks[len(b.blocks)-1], Blocks: []chain.Block{b.block(int64(len(b.blocks)))}, Tip: chain.Tip{Finalized: -1}}
		b.deafTo(func() error { return b.observer.Apply(t.Context(), last) }) // so that it isn't decided
		b.expect(v.Payment.Reference, payment.Processing, "")
		modelstest.FailStatements(t, b.db, func() error { return b.service.Evaluate(t.Context(), v.Payment.ID) })
		b.expect(v.Payment.Reference, payment.Successful, "")
		if row := b.transfer("crumb"); row.Unmatched != payment.Surplus || row.Booked != "unmatched" {
			t.Errorf("the surplus is %q and booked as %q, want surplus in unmatched", row.Unmatched, row.Booked)
		}
		from, applied := last.Blocks[0].BlockID, false
		next := b.block(from.Height, dropped)
		next.Parent = from.Hash
		late := chain.Batch{Network: network, From: from, Blocks: []chain.Block{next}, Tip: chain.Tip{Finalized: -1}}
		modelstest.FailStatements(t, b.db, func() (err error) {
			if !applied {
				err = b.observer.Apply(t.Context(), late)
				applied = err == nil
			}
			return err
		}, decidedLater...)
		if row := b.transfer("dropped"); row.Unmatched != payment.AfterFinal || row.Booked != "unmatched" {
			t.Errorf("what was dropped is %q and booked as %q, want after_final in unmatched", row.Unmatched, row.Booked)
		}
	})
}

// TestSideTasksOfAFailingDatabase checks that reconciling, asking the issuer, and booking earlier
// transfers return the error of each statement that fails.
func TestSideTasksOfAFailingDatabase(t *testing.T) {
	eachAlone(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		p, fresh := reconciles(b, true)
		v, open := b.opened(), b.opened()
		b.mine(b.pay(v, "aa", v.Payment.Due))
		p.gain(open.Payment.Address, open.Payment.Due)
		for range 4 {
			b.mine()
		}
		p.finalize(1)
		must(t, b.db.Exec(ctx).Model(&models.Destination{}).Where("network = ?", string(network)).Update("wallet_id", 1).Error)
		i := &fakeIssuer{token: "Paused.", barred: map[string]bool{v.Payment.Address: true}}
		registry := &networks.Registry{DB: b.db, Domains: map[scope.Domain]map[money.Chain]chain.Network{scope.Test: {money.Bitcoin: network}}}
		// As another process would, so that its statements don't fail.
		compareAgain := func() {
			_, err := b.db.Pools()["write"].ExecContext(ctx, "UPDATE network_holdings SET height = 1, next = 1")
			must(t, err)
		}
		b.failEach(t, []failingCall{
			{"Reconciler.Step", func() error { return fresh().Step(ctx) }},
			{"Reconciler.Step with comparisons", func() error {
				compareAgain()
				return fresh().Step(ctx)
			}},
			{"Reconciler.Step that finds money without a transaction", func() error {
				compareAgain()
				_, err := b.db.Pools()["write"].ExecContext(ctx, "DELETE FROM transfers WHERE tx_id <> 'aa'")
				must(t, err)
				p.traces, b.unbooked = false, true
				return fresh().Step(ctx)
			}},
			{"Reconciler.Step of ended payments", func() error {
				compareAgain()
				b.clock.Advance(time.Hour)
				return fresh().Step(ctx)
			}},
			{"Monitor.Step", func() error {
				return (&issuer.Monitor{Service: b.service, Network: network, Token: money.BTC, Issuer: i}).Step(ctx)
			}},
			{"Registry.Refresh", func() error { return registry.Refresh(ctx) }},
			{"PrepareBooks", func() error { return books.PrepareBooks(ctx, b.db, b.clock.Now, func(int) {}) }},
		})
	})
}
