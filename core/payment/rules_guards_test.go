package payment_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/claim"
	"cointill/core/payment/refund"
	"cointill/core/payment/timeline"
	"cointill/models"
)

// set changes columns of rows as the chain, an operator or an earlier release would have left them.
func (b *bench) set(row any, id int64, values map[string]any) {
	b.t.Helper()
	b.unbooked = true
	must(b.t, b.db.Exec(b.t.Context()).Model(row).Where("id = ?", id).Updates(values).Error)
}

// TestWhatCannotBeAttached checks each reason why a transfer can't be for a payment, with its
// sentence, and that a refusal signals no change.
func TestWhatCannotBeAttached(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		stray, open := b.stray("s1", money.Units(700)), b.opened()
		done, never, declined, failed := b.opened(), b.initiate(), b.underpaid("short", 100), b.opened()
		reverted := b.pay(failed, "reverted", failed.Payment.Due)
		reverted.Reverted = true
		b.mine(b.pay(done, "done", done.Payment.Due), reverted)
		b.mine()
		b.expect(failed.Payment.Reference, payment.Failed, payment.Reverted)
		signals := 0
		b.service.Changed = func() { signals++ }
		plain := map[string]any{"unmatched": payment.AfterFinal, "asset": "BTC", "network": string(network), "gone": false, "reverted": false, "height": 5}
		for name, c := range map[string]struct {
			change    map[string]any
			reference string
			words     string
		}{
			"unproved":                           {map[string]any{"unmatched": payment.Unproved}, open.Payment.Reference, "is not proved, so it can credit nothing"},
			"a balance":                          {map[string]any{"unmatched": payment.NoTransaction}, open.Payment.Reference, "Only the balance of the address"},
			"another asset":                      {map[string]any{"asset": "another"}, open.Payment.Reference, "this is another asset"},
			"another network":                    {map[string]any{"network": "another"}, open.Payment.Reference, "received on another network"},
			"gone":                               {map[string]any{"gone": true}, open.Payment.Reference, "not on the chain now"},
			"failed":                             {map[string]any{"reverted": true}, open.Payment.Reference, "not on the chain now"},
			"a failed one":                       {nil, failed.Payment.Reference, "takes no more money"},
			"a successful one":                   {nil, done.Payment.Reference, "needs no more money"},
			"an unopened one":                    {nil, never.Reference, "never opened by its customer"},
			"an ended one, without confirmation": {map[string]any{"height": nil}, declined.Payment.Reference, "has no confirmation yet"},
		} {
			b.set(&models.Transfer{}, stray.ID, plain)
			if c.change != nil {
				b.set(&models.Transfer{}, stray.ID, c.change)
			}
			_, planned := b.resolver.PlanAttach(t.Context(), b.owner(), stray.ID, c.reference)
			_, err := b.resolver.Attach(t.Context(), b.owner(), stray.ID, c.reference)
			for _, err := range []error{planned, err} {
				if got := strings.Join(fieldsOf(err)["reference"], " "); !strings.Contains(got, c.words) {
					t.Errorf("%s: %v (%q), want %q", name, err, got, c.words)
				}
			}
		}
		if signals != 0 {
			t.Errorf("%d changes are signaled by refusals, want none", signals)
		}
		b.set(&models.Transfer{}, stray.ID, plain)
		b.set(&models.Transfer{}, stray.ID, map[string]any{"height": nil}) // an open payment waits for it
		if _, err := b.resolver.PlanAttach(t.Context(), b.owner(), stray.ID, open.Payment.Reference); err != nil {
			t.Errorf("an unconfirmed transfer for an open payment: %v, want a plan", err)
		}
		b.set(&models.Transfer{}, stray.ID, plain)
		b.set(&models.Transfer{}, stray.ID, map[string]any{"resolution": payment.Refunded})
		if _, err := b.resolver.PlanAttach(t.Context(), b.owner(), stray.ID, open.Payment.Reference); fault.KindOf(err) != fault.Conflict {
			t.Errorf("a refunded transfer: %v, want a conflict", err)
		}
	})
}

// TestDecisionsAreSignaled checks that open pages learn of each act of a person.
func TestDecisionsAreSignaled(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		ctx, owner := t.Context(), b.owner()
		stray, more, open := b.stray("s1", money.Units(700)), b.stray("s2", money.Units(800)), b.opened()
		accept, owed := b.underpaid("accept", 100), b.underpaid("refund", 100)
		reversed, claimed, hash := b.paid("reversed"), b.initiate(), strings.Repeat("ab", 32)
		_, err := b.service.Open(ctx, claimed.AccessToken, "en", "")
		must(t, err)
		ref := claimed.Reference
		b.reorgTo(2)
		repeats := []string{"RecordRefund", "Claim", "AdvanceClock"}
		signals := 0
		b.service.Changed = func() { signals++ }
		for _, c := range []struct {
			name string
			call func() error
		}{
			{"Attach", func() error { _, err := b.resolver.Attach(ctx, owner, stray.ID, open.Payment.Reference); return err }},
			{"MarkRefunded", func() error { return b.resolver.MarkRefunded(ctx, owner, more.ID, refund.Report{Note: "by hand"}) }},
			{"Resolve", func() error { return b.resolver.Resolve(ctx, owner, accept.Payment.Reference) }},
			{"Close", func() error { return b.resolver.Close(ctx, owner, reversed.Payment.Reference, "Paid by bank") }},
			{"Claim", func() error { return (&claim.Service{Payments: b.service}).Note(ctx, claimed.AccessToken, hash) }},
			{"AdvanceClock", func() error { return b.service.AdvanceClock(ctx, b.scope, ref, time.Second, false) }},
			{"RecordRefund", func() error {
				_, err := b.resolver.RecordRefund(ctx, owner, owed.Payment.Reference, refund.Report{Amount: "0.00000040", Note: "by bank"})
				return err
			}},
		} {
			signals = 0
			if err := c.call(); err != nil || signals != 1 {
				t.Errorf("%s signals %d changes, error %v; want one", c.name, signals, err)
			}
			signals = 0
			if err := c.call(); err == nil && !slices.Contains(repeats, c.name) || err != nil && signals != 0 {
				t.Errorf("%s, once more, signals %d changes, error %v; want an error and none", c.name, signals, err)
			}
		}
		if got := b.view(open.Payment.Reference).Payment.FirstSeenAt; got == nil {
			t.Error("a payment that got an attached transfer was never seen, want its time")
		}
	})
}

// TestOtherAssetsAreNamed checks how an amount of an unknown asset is written into the audit log.
func TestOtherAssetsAreNamed(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		token := b.pay(v, "token", money.Units(7))
		token.Asset = "another"
		b.mine(token)
		must(t, b.resolver.MarkRefunded(t.Context(), b.owner(), b.open()[0].ID, refund.Report{Note: "by hand"}))
		var row models.Audit
		must(t, b.db.Read(t.Context()).Where("action = ?", "transfer.refund_recorded").Take(&row).Error)
		if !strings.Contains(row.Detail, "7 of the smallest units of another") {
			t.Errorf("the audit log says %s, want the amount and the asset", row.Detail)
		}
	})
}

// TestDecidingAgainChangesNothing checks that a payment that has ended keeps its times, and a
// person's decision, when it is decided again.
func TestDecidingAgainChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		done, short, waits := b.opened(), b.underpaid("short", 100), b.initiate()
		b.mine(b.pay(done, "done", done.Payment.Due))
		b.mine()
		if _, err := b.resolver.RecordRefund(t.Context(), b.owner(), short.Payment.Reference, refund.Report{Amount: "0.00000040", Note: "by bank"}); err != nil {
			t.Fatal(err)
		}
		changes := 0
		b.service.Reached = func(payment.Change) { changes++ }
		for _, reference := range []string{done.Payment.Reference, short.Payment.Reference, waits.Reference} {
			before := b.view(reference).Payment
			b.clock.Advance(time.Second)
			must(t, b.service.Evaluate(t.Context(), before.ID))
			after := b.view(reference).Payment
			before.UpdatedAt = after.UpdatedAt
			for name, same := range map[string]bool{
				"SettledAt": equalTimes(before.SettledAt, after.SettledAt), "ResolvedAt": equalTimes(before.ResolvedAt, after.ResolvedAt),
				"DueAt": equalTimes(before.DueAt, after.DueAt), "DueRead": equalTimes(before.DueRead, after.DueRead),
				"Remark": before.Remark == after.Remark, "Sequence": before.Sequence == after.Sequence, "Steps": before.Steps == after.Steps,
			} {
				if !same {
					t.Errorf("%s: deciding it again changes %s: %+v, want %+v", before.Status, name, after, before)
				}
			}
		}
		if changes != 0 {
			t.Errorf("%d changes of state are reported, want none", changes)
		}
		b.reorgTo(2)
		b.expect(done.Payment.Reference, payment.Successful, payment.ReversedReason)
		if changes != 0 {
			t.Errorf("a reversal is reported as %d changes of state, want none", changes)
		}
		must(t, b.resolver.Close(t.Context(), b.owner(), done.Payment.Reference, "Paid by bank"))
		b.mine(b.pay(done, "done", done.Payment.Due))
		b.mine()
		b.expect(done.Payment.Reference, payment.Successful, payment.Late)
		b.reorgTo(2)
		if got := b.expect(done.Payment.Reference, payment.Successful, payment.ReversedReason); got.Payment.ResolvedAt != nil {
			t.Error("the decision about the first reversal counts for the second, want that a person decides again")
		}
	})
}

func equalTimes(a, b *time.Time) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Equal(*b)
}

// TestFinalityOfItsNetwork checks that a payment waits for its network's own finality where the
// network has one.
func TestFinalityOfItsNetwork(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for finalized, want := range map[int64]payment.State{-1: payment.Successful, 0: payment.Processing} {
			v := b.opened()
			b.set(&models.Payment{}, v.Payment.ID, map[string]any{"final_by_network": true})
			b.final = finalized
			must(t, b.db.Exec(t.Context()).Model(&models.ChainCursor{}).Where("network = ?", string(network)).Update("finalized", finalized).Error)
			b.mine(b.pay(v, v.Payment.Reference, v.Payment.Due))
			b.mine()
			b.mine()
			if got := b.view(v.Payment.Reference); got.State() != want {
				t.Errorf("on a network that is final up to %d the payment is %s, want %s", finalized, got.State(), want)
			}
			b.set(&models.Payment{}, v.Payment.ID, map[string]any{"final_by_network": false})
			must(t, b.service.Evaluate(t.Context(), v.Payment.ID))
		}
		b.unbooked = false
	})
}

// TestEventsAfterARestore checks that events of a payment that a backup holds continue at the
// restore's number, and those of a new payment at one.
func TestEventsAfterARestore(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		old, last := b.initiate(), b.initiate()
		b.service.Restored = models.Restored{Sequence: 1_000, Last: b.view(last.Reference).Payment.ID}
		fresh := b.initiate()
		for _, started := range []payment.Started{old, last, fresh} {
			if _, err := b.service.Open(t.Context(), started.AccessToken, "en", ""); err != nil {
				t.Fatal(err)
			}
		}
		for reference, want := range map[string]int{old.Reference: 1_001, last.Reference: 1_001, fresh.Reference: 1} {
			if got := b.view(reference).Payment.Sequence; got != want {
				t.Errorf("the first event of %s has number %d, want %d", reference, got, want)
			}
		}
	})
}

// TestTimelinesNameTheirActor checks the actor and remark of each row that the rules write.
func TestTimelinesNameTheirActor(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.underpaid("short", 100)
		steps, err := b.service.Timeline(t.Context(), b.scope, v.Payment.Reference)
		must(t, err)
		for _, s := range steps {
			if s.Actor == "" || s.Remark == "" || s.Detail == "" {
				t.Errorf("the timeline holds %+v, want an actor, a remark and a detail", s)
			}
		}
		if last := steps[len(steps)-1]; last.Remark != v.Payment.Remark || last.Actor != "system" {
			t.Errorf("the last row says %q by %s, want %q by system", last.Remark, last.Actor, v.Payment.Remark)
		}
		if got := timeline.WriteDetail("", map[string]any{"wrong": func() {}}); got != "{}" {
			t.Errorf("a detail that is no JSON is %s, want {}", got)
		}
	})
}

// TestNoReceiptWithoutTheSetting checks that a business that wants no receipts sends none.
func TestNoReceiptWithoutTheSetting(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.set(&models.Business{}, b.scope.BusinessID, map[string]any{"receipts_enabled": false})
		v := b.opened()
		b.mine(b.pay(v, "aa", v.Payment.Due))
		b.mine()
		b.expect(v.Payment.Reference, payment.Successful, "")
		if n := b.receipts(v.Payment.Reference); n != 0 {
			t.Errorf("%d receipts, want none", n)
		}
		b.unbooked = false
	})
}

// TestLateMoneyByPolicy checks that a payment keeps what its business does with late money.
func TestLateMoneyByPolicy(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for policy, want := range map[string]payment.State{"decline": payment.Declined, "accept": payment.Successful} {
			v := b.opened()
			b.set(&models.Payment{}, v.Payment.ID, map[string]any{"late_payments": policy})
			b.clock.Advance(payment.Window + time.Second)
			b.mine(b.pay(v, policy, v.Payment.Due))
			b.mine()
			b.expect(v.Payment.Reference, want, payment.Late)
		}
	})
}

// TestGoneWithoutATime checks that a transfer of an earlier release that is gone without a time is
// decided as one that is gone for long.
func TestGoneWithoutATime(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		b.pool(nil, b.pay(v, "gone", v.Payment.Due))
		b.pool(nil)
		b.set(&models.Transfer{}, b.transfer("gone").ID, map[string]any{"gone_at": nil})
		b.clock.Advance(payment.Monitoring + time.Second)
		b.pool(nil)
		b.look()
		b.expect(v.Payment.Reference, payment.Failed, payment.Dropped)
	})
}
