package sandbox_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/models"
	"cointill/models/modelstest"
)

// reasons are those that a payment's timeline gives for its changes of state, in order.
func (b *bench) reasons(reference string) (reasons []payment.Reason) {
	b.Helper()
	steps, err := b.payments.Timeline(b.Context(), b.scope, reference)
	b.must(err)
	for _, step := range steps {
		if step.Kind == payment.StepState && step.Reason != "" {
			reasons = append(reasons, payment.Reason(step.Reason))
		}
	}
	return reasons
}

// events are the types of a payment's events, in order.
func (b *bench) events(id int64) string {
	b.Helper()
	var types []string
	b.must(b.db.Read(b.Context()).Model(&models.Event{}).Where("payment_id = ?", id).Order("sequence").Pluck("type", &types).Error)
	return strings.Join(types, " ")
}

func fitting(v payment.View) string {
	var list []string
	for _, s := range sandbox.Fitting(v) {
		list = append(list, s.Code)
	}
	return strings.Join(list, " ")
}

// TestEveryReason: whatever code a merchant's server must be ready for can be
// had from the sandbox.
func TestEveryReason(t *testing.T) {
	t.Parallel()
	b := newBench(t, modelstest.Open(t, false, time.Now))
	references := map[payment.Reason]string{}
	for reason, scenario := range map[payment.Reason]string{
		payment.Underpaid: sandbox.Underpay, payment.Overpaid: sandbox.Overpay, payment.Late: sandbox.Late,
		payment.AfterAbandoned: sandbox.AfterAbandoned, payment.Replaced: sandbox.DoubleSpend, payment.Reverted: sandbox.Revert,
		payment.Dropped: sandbox.NeverConfirms, payment.Reorged: sandbox.Reorg, payment.ReversedReason: sandbox.Exact, payment.AcceptedByUser: sandbox.Underpay,
	} {
		references[reason] = b.initiate(money.ETH)
		if reason == payment.Replaced || reason == payment.Reorged {
			references[reason] = b.initiate(money.DOGE)
		}
		b.simulate(references[reason], scenario)
	}
	b.pass(45 * time.Second)
	_, err := b.sandbox.Advance(t.Context(), b.scope, references[payment.Dropped], 86_400)
	b.must(err)
	b.simulate(references[payment.ReversedReason], sandbox.Reorg)
	owner := b.scope
	owner.Role = scope.Owner
	b.must(payment.NewResolver(b.payments).Resolve(t.Context(), owner, references[payment.AcceptedByUser]))
	b.pass(2 * time.Second)
	for _, reason := range payment.Reasons() {
		if got := b.reasons(references[reason]); !slices.Contains(got, reason) {
			t.Errorf("%s: the timeline gives %v", reason, got)
		}
	}
}

// TestDropped: at 24 hours a payment whose money is still in the mempool stays
// as it is; it fails when that has been forgotten for six hours, whichever comes last.
func TestDropped(t *testing.T) {
	t.Parallel()
	b := newBench(t, modelstest.Open(t, false, time.Now))
	const day = 86_400
	var early, later []string
	for _, coin := range []money.Coin{money.BTC, money.ETH, money.USDT, money.DOGE} {
		early, later = append(early, b.initiate(coin)), append(later, b.initiate(coin))
	}
	for i := range early {
		b.simulate(early[i], sandbox.NeverConfirms)
		if next := b.simulate(later[i], sandbox.NeverConfirms).Next.Text; !strings.Contains(next, "failed (dropped)") {
			t.Errorf("it doesn't say what comes: %s", next)
		}
	}
	b.pass(time.Second)
	for _, reference := range early {
		v, err := b.sandbox.Advance(t.Context(), b.scope, reference, day)
		b.must(err)
		if v.State() != payment.Initiated {
			t.Errorf("%s: %s while its money is in the mempool", v.Payment.Coin, v.State())
		}
	}
	b.pass(130 * time.Second)
	for _, reference := range later {
		if v := b.view(reference); v.State() != payment.Initiated || v.Payment.Paid.Sign() != 0 {
			t.Errorf("%s: %s before its 24 hours are over", v.Payment.Coin, v.State())
		}
		_, err := b.sandbox.Advance(t.Context(), b.scope, reference, day)
		b.must(err)
	}
	for _, reference := range early {
		if v := b.view(reference); v.State() != payment.Initiated {
			t.Errorf("%s: %s as soon as its money is forgotten", v.Payment.Coin, v.State())
		}
		_, err := b.sandbox.Advance(t.Context(), b.scope, reference, 6*3600+1)
		b.must(err)
	}
	for _, reference := range append(early, later...) {
		v := b.view(reference)
		if v.State() != payment.Failed || v.Payment.Reason != string(payment.Dropped) {
			t.Errorf("%s: %s (%s)", v.Payment.Coin, v.State(), v.Payment.Reason)
		}
	}
}

// TestNeverConfirmsBesideMoney: what would complete a payment is waited for.
func TestNeverConfirmsBesideMoney(t *testing.T) {
	t.Parallel()
	b := newBench(t, modelstest.Open(t, false, time.Now))
	reference := b.initiate(money.DOGE)
	b.simulate(reference, sandbox.Underpay)
	b.pass(500 * time.Millisecond)
	b.simulate(reference, sandbox.NeverConfirms)
	b.pass(60 * time.Second)
	if v := b.view(reference); v.State() != payment.Processing {
		t.Errorf("it is %s", v.State())
	}
}

// TestReversed (BTC-4) takes final money back, leaves what others paid in the same blocks
// where it is, and puts the money back on the chain.
func TestReversed(t *testing.T) {
	t.Parallel()
	modelstest.EachFull(t, func(t *testing.T, db *models.DB) {
		b := newBench(t, db)
		coins := []money.Coin{money.BTC, money.ETH, money.USDT, money.DOGE}
		parts, others := map[money.Coin]string{}, map[money.Coin][]string{}
		for _, coin := range coins {
			parts[coin], others[coin] = b.initiate(coin), []string{b.initiate(coin), b.initiate(coin)}
			b.simulate(parts[coin], sandbox.TwoParts)
			b.simulate(others[coin][0], sandbox.Exact)
		}
		b.pass(40 * time.Second)
		for _, coin := range coins {
			b.simulate(others[coin][1], sandbox.Exact) // not final yet when the others' blocks are undone
		}
		b.pass(5 * time.Second)
		for _, coin := range coins {
			before := map[string]int64{}
			for _, reference := range others[coin] {
				before[reference] = *b.view(reference).Transfers[0].Height
			}
			done := b.simulate(parts[coin], sandbox.Reorg)
			b.pass(500 * time.Millisecond)
			v := b.view(parts[coin])
			if v.State() != payment.Successful || !v.Payment.Reversed || v.Payment.Reason != string(payment.ReversedReason) {
				t.Errorf("%s: %s (%s), reversed %t", coin, v.State(), v.Payment.Reason, v.Payment.Reversed)
			}
			if events := b.events(v.Payment.ID); !strings.HasSuffix(events, "payment.successful payment.reversed") || len(done.Transactions) != 2 {
				t.Errorf("%s: %s; %+v", coin, events, done.Transactions)
			}
			for reference, height := range before {
				now := b.view(reference)
				if now.Payment.Reversed || *now.Transfers[0].Height != height || slices.Contains(b.reasons(reference), payment.Reorged) {
					t.Errorf("%s: another payment's money moved from %d to %d", coin, height, *now.Transfers[0].Height)
				}
			}
		}
		b.pass(30 * time.Second)
		for _, coin := range coins {
			if v := b.view(parts[coin]); !v.Payment.Reversed {
				t.Errorf("%s: half a minute later the payment is not reversed, want it reversed until the scenario is played again", coin)
			}
			if done := b.simulate(parts[coin], sandbox.Reorg); len(done.Transactions) != 2 {
				t.Errorf("%s: %+v are put back, want both transactions", coin, done.Transactions)
			}
		}
		b.pass(40 * time.Second)
		for _, coin := range coins {
			v := b.view(parts[coin])
			if v.State() != payment.Successful || v.Payment.Reversed || v.Payment.Reason != "" {
				t.Errorf("%s: %s (%s), reversed %t, want successful and restored", coin, v.State(), v.Payment.Reason, v.Payment.Reversed)
			}
			if events := b.events(v.Payment.ID); !strings.HasSuffix(events, "payment.reversed payment.restored") {
				t.Errorf("%s: events %s, want payment.restored last", coin, events)
			}
			if now := b.view(others[coin][1]); now.State() != payment.Successful {
				t.Errorf("%s: the other one ended %s", coin, now.State())
			}
		}
	})
}

// TestFitting: what a page offers is what Simulate takes, in every phase.
func TestFitting(t *testing.T) {
	t.Parallel()
	b := newBench(t, modelstest.Open(t, false, time.Now), money.Arbitrum)
	advance := func(reference string, seconds int64) {
		_, err := b.sandbox.Advance(t.Context(), b.scope, reference, seconds)
		b.must(err)
	}
	open := func(reference string) {
		_, err := b.payments.OpenByReference(t.Context(), b.scope, reference)
		b.must(err)
	}
	phases := map[string]struct {
		prepare, afterwards func(reference string)
	}{
		"pending":   {},
		"expired":   {prepare: func(r string) { advance(r, 600) }},
		"abandoned": {prepare: func(r string) { open(r); advance(r, 86_400) }},
		"a day old": {prepare: func(r string) { b.simulate(r, sandbox.NeverConfirms) }, afterwards: func(r string) { advance(r, 86_400) }},
		"declined":  {prepare: func(r string) { b.simulate(r, sandbox.Overpay) }},
		"settled":   {prepare: func(r string) { b.simulate(r, sandbox.Exact) }},
	}
	type try struct{ phase, reference, scenario string }
	var tries []try
	for name, phase := range phases {
		for _, coin := range []money.Coin{money.ETH, money.XRP} {
			for _, s := range sandbox.For(coin) {
				tries = append(tries, try{name, b.initiate(coin), s.Code})
				if phase.prepare != nil {
					phase.prepare(tries[len(tries)-1].reference)
				}
			}
		}
	}
	b.pass(20 * time.Second)
	for _, one := range tries {
		if after := phases[one.phase].afterwards; after != nil {
			after(one.reference)
		}
		v := b.view(one.reference)
		offered := fitting(v)
		_, err := b.sandbox.Simulate(t.Context(), b.scope, one.reference, one.scenario, "")
		fits := slices.Contains(strings.Fields(offered), one.scenario)
		if fits != (err == nil) || err != nil && fault.KindOf(err) != fault.Conflict && fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s, %s %s: offered %t, answered %v", one.phase, v.Payment.Coin, one.scenario, fits, err)
		}
		if (offered == "") != (one.phase == "expired") {
			t.Errorf("%s %s is offered %q", one.phase, v.Payment.Coin, offered)
		}
	}
	live := b.view(b.initiate(money.BTC))
	live.Payment.Domain = string(scope.Live)
	if fitting(live) != "" {
		t.Error("the live domain is offered scenarios")
	}
}

// TestUnmatched lists money that credits no payment, with the payment it came to.
func TestUnmatched(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := newBench(t, db)
		xrp, eth := b.initiate(money.XRP), b.initiate(money.ETH)
		b.simulate(xrp, sandbox.MissingTag)
		b.pass(5 * time.Second)
		b.simulate(eth, sandbox.WrongAsset)
		b.pass(5 * time.Second)
		first, next, err := payment.NewResolver(b.payments).Unmatched(t.Context(), b.scope, payment.UnmatchedFilter{Limit: 1})
		b.must(err)
		if len(first) != 1 || next == 0 || first[0].Transfer.Unmatched != payment.WrongAsset || first[0].Reference != eth {
			t.Fatalf("%+v, next %d", first, next)
		}
		second, next, err := payment.NewResolver(b.payments).Unmatched(t.Context(), b.scope, payment.UnmatchedFilter{Before: next, Limit: 1})
		b.must(err)
		if len(second) != 1 || next != 0 || second[0].Transfer.Unmatched != payment.MissingTag || second[0].Reference != "" {
			t.Errorf("%+v, next %d", second, next)
		}
		other := b.scope
		other.BusinessID++
		if rows, _, err := payment.NewResolver(b.payments).Unmatched(t.Context(), other, payment.UnmatchedFilter{Limit: 10}); err != nil || len(rows) != 0 {
			t.Errorf("another business sees %d: %v", len(rows), err)
		}
	})
}
