package payment_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/choice"
	"cointill/models/modelstest"
)

// expectAwaited checks whether something is awaited on a network.
func (b *bench) expectAwaited(what string, network chain.Network, want bool) {
	b.t.Helper()
	got, err := b.observer.IsAwaited(b.t.Context(), network)
	if err != nil || got != want {
		b.t.Errorf("%s: %t is awaited on %s, error %v, want %t", what, got, network, err, want)
	}
}

// TestAwaited: a network is awaited on for an hour after a customer opened a payment, while money there isn't final, and
// in the last hour before a payment without money is abandoned. A payment that nobody has opened, or that ended, awaits
// nothing.
func TestAwaited(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.expectAwaited("before any payment", network, false)
		b.initiate()
		b.expectAwaited("with a payment that nobody opened", network, false)
		v := b.opened()
		b.expectAwaited("with an open payment", network, true)
		b.expectAwaited("with an open payment on another one", onEthereum, false)
		b.clock.Advance(59 * time.Minute)
		b.expectAwaited("within the hour", network, true)
		b.clock.Advance(2 * time.Minute)
		b.expectAwaited("after an hour", network, false)
		b.clock.Advance(22 * time.Hour)
		b.expectAwaited("in the last hour of the day", network, true)
		b.clock.Advance(-2 * time.Hour)
		b.expectAwaited("before the last hour", network, false)
		late := b.pay(v, "aa", v.Payment.Due)
		b.pool(nil, late)
		b.expectAwaited("with money in the mempool", network, true)
		b.mine(late)
		b.expect(v.Payment.Reference, payment.Processing, "")
		b.expectAwaited("with money that isn't final", network, true)
		b.mine()
		b.expect(v.Payment.Reference, payment.Successful, payment.Late)
		b.expectAwaited("after the payment", network, false)
	})
}

// TestAwaitedOnFurtherNetworks: a payment awaits each network that its customer was shown.
func TestAwaitedOnFurtherNetworks(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.useBSC()
		b.setNetwork(money.BSC, true, false)
		v := b.on(money.USDT)
		b.expectAwaited("before the customer chose another network", onBSC, false)
		_, err := (&choice.Service{Payments: b.service}).Choose(t.Context(), b.tokenOf(v), string(money.BSC))
		must(t, err)
		b.expectAwaited("on the chosen network", onBSC, true)
		b.expectAwaited("on the network that was shown before", onEthereum, true)
	})
}

// TestPlanOfAwaited: whether something is awaited is found by indexes of what is due, and not among all payments.
func TestPlanOfAwaited(t *testing.T) {
	due := regexp.MustCompile(`_(due_\w+|waiting)\b`)
	empty := regexp.MustCompile(`Seq Scan on (payment_networks|sends) `) // these tables are empty
	each(t, func(t *testing.T, b *bench) {
		planned(t, b, size{1000, 10, 3000}, size{200, 5, 400})
		found := 0
		for _, p := range modelstest.ReadPlans(t, b.db, b.db.Read(t.Context()), func() {
			b.expectAwaited("with many payments", "sandbox-litecoin", false)
		}) {
			found++
			plan := strings.Join(p.Lines, "\n")
			if scan := strings.Contains(plan, "Seq Scan"); scan && !empty.MatchString(plan) || !scan && !due.MatchString(plan) {
				t.Errorf("%s:\n%s", p.Query, plan)
			}
		}
		if found != 9 {
			t.Errorf("%d queries, want 9", found)
		}
	})
}
