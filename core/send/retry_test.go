package send_test

import (
	"fmt"
	"testing"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send"
)

// TestRetriedSendKeepsItsAmount checks that an amount in fiat is converted once: the first transaction of
// a dropped send that is tried again at another price may still confirm.
func TestRetriedSendKeepsItsAmount(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	o.sends.Users, o.sends.Quotes = trusting{o.sends.Users}, steady{}
	v := o.ask(send.Request{Kind: send.Payout, Method: string(money.CryptoBitcoin), FiatAmount: "40", Currency: "USD",
		Rate: send.RateToday, Address: recipient})
	first, err := o.approve(o.owner, v)
	o.must(err)
	o.set(v, map[string]any{"status": "failed", "reason": send.Dropped})
	_, err = o.sends.Approvals.Retry(t.Context(), o.owner, v.Send.Reference, send.Proof{})
	o.must(err)
	o.sends.Quotes = dearer{}
	again, err := o.approve(o.owner, v)
	o.must(err)
	want := fmt.Sprint(first.Send.Amount, " ", first.Send.Value)
	if got := fmt.Sprint(again.Send.Amount, " ", again.Send.Value); again.State() != send.Ready || got != want {
		t.Errorf("tried again at another price the send is %s with %s, want ready with %s", again.State(), got, want)
	}
}

// TestRetryNeedsTheMoney checks that a failed refund isn't tried again once a send that had ended took its money.
func TestRetryNeedsTheMoney(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	o.sends.Users = trusting{o.sends.Users}
	p := o.paid(money.CryptoBitcoin)
	all := func() send.View {
		v, err := o.approve(o.owner, o.ask(send.Request{Kind: send.Refund, Payment: p.Reference, Address: recipient}))
		o.must(err)
		return v
	}
	retry := func(v send.View) error {
		_, err := o.sends.Approvals.Retry(t.Context(), o.owner, v.Send.Reference, send.Proof{})
		return err
	}
	withdrawn := all()
	_, err := o.sends.Cancel(t.Context(), o.owner, withdrawn.Send.Reference)
	o.must(err)
	failed := all()
	o.set(failed, map[string]any{"status": "failed", "reason": send.Replaced})
	o.set(withdrawn, map[string]any{"status": "processing"})
	o.expectFault("a failed refund whose money another one sent", retry(failed), "nothing_to_refund")
	o.expectState(failed, send.Failed)
	o.set(withdrawn, map[string]any{"status": "cancelled"})
	o.must(retry(failed))
	o.expectState(failed, send.Ready)
}

// TestRelayedSendIsApprovedAgain (SD-15): where a contract wallet pays, another account has sent the transaction and
// used its number for another one. What the wallet signed can still be sent, so the send is approved again before it is
// ready; one of an account that has used its own number is ready at once.
func TestRelayedSendIsApprovedAgain(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		e.addWallet(e.owner, "0xaa")
		e.signer.Contracts = map[string]bool{}
		for _, contract := range []bool{false, true} {
			e.signer.Contracts["0xAA"] = contract
			v := e.payEther(e.owner, "0.001")
			_, err := e.sends.Signing.Prepare(e.Context(), e.owner, v.Send.Reference, "0xAA", chain.SpeedUsual)
			e.must(err)
			paid := e.pay(v, fmt.Sprint("0x", contract), 6)
			e.reachHeight(8)
			e.useUp(paid, "0xaa:terms 1")
			e.expectState(e.evaluate(v), send.Processing)
			e.change(paid, map[string]any{"gone": true, "gone_reason": send.Replaced, "gone_at": e.clock.Now(),
				"conflict_height": 7})
			e.reachHeight(500)
			want, then := send.Replaced, send.Ready
			if contract {
				want, then = send.Dropped, send.AwaitingApproval
			}
			if now := e.evaluate(v); now.State() != send.Failed || now.Send.Reason != want {
				e.Errorf("a contract: %t, the send is %s (%s), want failed (%s)", contract, now.State(), now.Send.Reason, want)
			}
			again, err := e.sends.Approvals.Retry(e.Context(), e.owner, v.Send.Reference, send.Proof{Password: password})
			if err != nil || again.State() != then {
				e.Errorf("a contract: %t, tried again the send is %s, %v, want %s", contract, again.State(), err, then)
			}
		}
	})
}
