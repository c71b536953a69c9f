package send_test

import (
	"testing"

	"cointill/chain"
	"cointill/core/payment/observe"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestSendIsAwaited: a network is awaited on from when a send there is ready for a wallet until it ended.
func TestSendIsAwaited(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, scope.Test)
		admin := o.hire("ada@books.example", scope.Admin)
		observer := observe.New(o.payments, o.sends, new(chain.WatchSet))
		v := o.payout(o.owner, "0.001")
		expect := func(what string, want bool) {
			t.Helper()
			got, err := observer.IsAwaited(t.Context(), chain.Network(v.Send.Network))
			if err != nil || got != want {
				t.Errorf("%s: %t is awaited, error %v, want %t", what, got, err, want)
			}
		}
		expect("before it is approved", false)
		v, err := o.approve(admin, v)
		o.must(err)
		o.expectState(v, send.Ready)
		expect("when it is ready", true)
		other, err := o.approve(admin, o.payout(o.owner, "0.002"))
		o.must(err)
		_, err = o.sends.Cancel(t.Context(), o.owner, other.Send.Reference)
		o.must(err)
		o.pay(v, "first", 1)
		v = o.evaluate(v)
		o.expectState(v, send.Processing)
		expect("when a block holds it", true)
		o.reach(v.Send.Network, 1_000)
		v = o.evaluate(v)
		o.expectState(v, send.Successful)
		expect("when it is final", false)
	})
}
