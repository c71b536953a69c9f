package send_test

import (
	"fmt"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/rules"
	"cointill/models"
)

// otherPayee is an address that was not approved.
const otherPayee = "0x52908400098527886E0F7030069857D2E4169EE7"

// TestDatabaseMakesNoSendReady (SD-4) changes sends by single statements, in ways that ask for no approval, and checks
// that none is handed to a wallet.
func TestDatabaseMakesNoSendReady(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		e.addWallet(e.owner, "0xaa")
		admin := e.hire("ada@books.example", scope.Admin)
		for name, end := range map[string]func(v send.View) (send.View, error){
			"waiting":  func(v send.View) (send.View, error) { return v, nil },
			"approved": func(v send.View) (send.View, error) { return e.approve(admin, v) },
			"rejected": func(v send.View) (send.View, error) {
				return e.sends.Approvals.Reject(e.Context(), admin, v.Send.Reference, "no")
			},
		} {
			v, err := end(e.askEther("0.1"))
			e.must(err)
			e.set(v, map[string]any{"status": string(send.AwaitingApproval), "approvals": 0, "value_usd": -1,
				"address": otherPayee, "amount": money.Units(1_000_000_000_000_000_000), "address_by": send.ByCustomer,
				"ready_at": nil, "ended_at": nil, "due_at": e.clock.Now()})
			_, err = e.sends.Evaluator.Sweep(e.Context())
			e.must(err)
			v = e.find(v)
			_, err = e.prepare(e.owner, v, "0xAA")
			if v.State() != send.AwaitingApproval || v.Send.Approvals != 1 || fault.KindOf(err) != fault.Conflict {
				e.Errorf("%s: changed by a statement it is %s, needs %d approvals, and preparing it returns %v; want that it "+
					"waits for one", name, v.State(), v.Send.Approvals, err)
			}
		}
		v := e.payEther(admin, "0.1")
		_, err := e.sends.Cancel(e.Context(), e.owner, v.Send.Reference)
		e.must(err)
		e.set(v, map[string]any{"status": string(send.Ready), "reason": "", "ended_at": nil, "due_at": nil})
		_, err = e.prepare(e.owner, v, "0xAA")
		e.expectFault("a withdrawn send that a statement made ready", err, "send_changed")
	})
}

// TestChangedAddressWaitsInLive (SD-4): a statement that says that the customer named the address releases it from no
// wait.
func TestChangedAddressWaitsInLive(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Live)
	o.sends.Quotes = steady{}
	v := o.ask(send.Request{Kind: send.Payout, Method: string(money.CryptoBitcoin), Amount: "0.001", Address: recipient})
	o.set(v, map[string]any{"address_by": send.ByCustomer})
	v, err := o.approve(o.owner, v)
	o.must(err)
	if v.State() != send.AwaitingApproval || v.Send.Reason != send.NewAddress {
		t.Errorf("approved it is %s (%s), want that its new address waits", v.State(), v.Send.Reason)
	}
}

// TestRulesOfAStatementAskForApproval (SD-4): rules that this server didn't write let no send through.
func TestRulesOfAStatementAskForApproval(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	o.setRules(rules.Rules{OneFrom: 1_000_000_00, TwoFrom: 2_000_000_00, DayLimit: 3_000_000_00})
	change := func(columns map[string]any) {
		o.must(o.db.Exec(o.Context()).Model(&models.SendRules{}).Where("1 = 1").Updates(columns).Error)
	}
	if v := o.payout(o.owner, "0.001"); v.State() != send.Ready {
		t.Fatalf("by the rules as they were set a payout is %s, want ready", v.State())
	}
	for column, value := range map[string]any{"business_id": 0, "domain": "live", "one_from": rules.MaxAmount,
		"two_from": 0, "day_limit": 0, "valid_from": o.clock.Now().Add(-time.Hour), "seal": ""} {
		o.must(o.db.Exec(o.Context()).Where("1 = 1").Delete(&models.SendRules{}).Error)
		sc := o.owner
		switch column { // rules of others are copied
		case "business_id":
			sc.BusinessID, value = 99, o.owner.BusinessID
		case "domain":
			sc.Domain, value = scope.Live, string(o.owner.Domain)
		}
		o.must(o.sends.Rules.StoreRules(o.db.Exec(o.Context()), sc, rules.Rules{OneFrom: 1_000_000_00,
			TwoFrom: 2_000_000_00, DayLimit: 3_000_000_00}, o.clock.Now()))
		change(map[string]any{column: value})
		if v := o.payout(o.owner, "0.001"); v.State() != send.AwaitingApproval || v.Send.Approvals != 1 {
			t.Errorf("with another %s a payout is %s and needs %d approvals, want that it waits for one", column, v.State(),
				v.Send.Approvals)
		}
	}
}

// TestRefundsAreSignedOnce (SD-9): the money of a refund that was withdrawn and sent all the same, and money that is
// gone, is handed to no wallet again.
func TestRefundsAreSignedOnce(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(o *office, p models.Payment, first send.View){
		"the withdrawn one was sent": func(o *office, _ models.Payment, first send.View) {
			o.pay(first, "aa", 11)
			if first = o.evaluate(first); first.State() != send.Processing || first.Send.Reason != send.SentAnyway {
				o.Fatalf("the first is %s (%s), want processing (sent_anyway)", first.State(), first.Send.Reason)
			}
		},
		"the payment was reversed": func(o *office, p models.Payment, _ send.View) {
			o.must(o.db.Exec(o.Context()).Model(&models.Payment{}).Where("id = ?", p.ID).Update("reversed", true).Error)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newQuickOffice(t, scope.Test)
			p := o.paid(money.CryptoBitcoin)
			r := send.Request{Kind: send.Refund, Payment: p.Reference, Address: recipient}
			first, err := o.approve(o.owner, o.ask(r))
			o.must(err)
			o.reach(first.Send.Network, 10)
			_, err = o.sends.Approvals.StartSigning(t.Context(), o.owner, first.Send.Reference)
			o.must(err)
			_, err = o.sends.Cancel(t.Context(), o.owner, first.Send.Reference)
			o.must(err)
			again, err := o.approve(o.owner, o.ask(r))
			o.must(err)
			_, err = o.sends.Approvals.StartSigning(t.Context(), o.owner, again.Send.Reference)
			o.must(err)
			spoil(o, p, first)
			_, err = o.sends.Approvals.StartSigning(t.Context(), o.owner, again.Send.Reference)
			o.expectFault("the second refund of the same money", err, "nothing_to_refund")
			o.expectFault("handing it out again", o.sends.Signing.CheckMoney(t.Context(), again), "nothing_to_refund")
		})
	}
}

// TestBroadcastSendsStayReserved (SD-9): a send whose transaction the network was given can't be withdrawn until it
// counts as dropped. One that the network refused can.
func TestBroadcastSendsStayReserved(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		e.addWallet(e.owner, "0xaa")
		for _, refused := range []bool{true, false} {
			v, err := e.prepare(e.owner, e.payEther(e.owner, "0.1"), "0xAA")
			e.must(err)
			if e.signer.Refuses = nil; refused {
				e.signer.Refuses = chain.Refusal("too low a fee")
			}
			done, err := e.submit(e.owner, v, e.sign(v, fmt.Sprint("0xhash", refused), v.Send.Terms))
			if err != nil || (done.Refused != "") != refused {
				e.Fatalf("the network refuses it: %q, %v; want that it does: %t", done.Refused, err, refused)
			}
			if !refused {
				for _, sc := range []scope.Scope{e.key(), e.owner} {
					_, err = e.sends.Cancel(e.Context(), sc, v.Send.Reference)
					e.expectFault("withdrawing a send that was broadcast", err, "may_confirm")
				}
				e.clock.Advance(6 * time.Hour)
			}
			_, err = e.sends.Cancel(e.Context(), e.owner, v.Send.Reference)
			e.must(err)
		}
	})
}

// TestValueOfTheApprovalDecides (SD-6): how many people approve a send, and what it takes of the limit of a day,
// follows its value at the approval.
func TestValueOfTheApprovalDecides(t *testing.T) {
	for name, r := range map[string]send.Request{
		"in coin": {Kind: send.Payout, Method: string(money.CryptoBitcoin), Amount: "0.01", Address: recipient},
		"at today's price": {Kind: send.Payout, Method: string(money.CryptoBitcoin), FiatAmount: "800", Currency: "USD",
			Rate: send.RateToday, Address: recipient},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newQuickOffice(t, scope.Test)
			admin := o.hire("ada@books.example", scope.Admin)
			other := o.hire("yaw@books.example", scope.Admin)
			o.sends.Quotes = steady{}
			o.setRules(rules.Rules{OneFrom: 1, TwoFrom: 1_000_00})
			v := o.ask(r)
			if v.Send.Approvals != 1 || v.Send.ValueUSD != 800_00 {
				t.Fatalf("asked for, it needs %d approvals and is worth %d cents, want 1 and 80000", v.Send.Approvals,
					v.Send.ValueUSD)
			}
			o.sends.Quotes = risen{}
			v, err := o.approve(admin, v)
			o.must(err)
			if r.Rate == "" && (v.State() != send.AwaitingApproval || v.Send.Approvals != 2) {
				t.Errorf("at twice the price it is %s and needs %d approvals after one, want that it waits for a second",
					v.State(), v.Send.Approvals)
			}
			if r.Rate == "" {
				v, err = o.approve(other, v)
				o.must(err)
			}
			want := int64(1_600_00)
			if r.Rate != "" {
				want = 800_00
			}
			if v.State() != send.Ready || v.Send.ValueUSD != want {
				t.Errorf("approved it is %s and worth %d cents, want ready and %d", v.State(), v.Send.ValueUSD, want)
			}
		})
	}
}

// TestOwnWalletIsNoDestination (SD-1): a send goes to no wallet that pays the business's sends, and none is paid by the
// wallet that it goes to.
func TestOwnWalletIsNoDestination(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		v := e.payEther(e.owner, "0.1")
		e.addWallet(e.owner, ethPayee)
		_, err := e.sends.Ask(e.Context(), e.owner, send.Request{Kind: send.Payout, Method: string(money.CryptoEthereum),
			Amount: "0.1", Address: ethPayee})
		e.expectField("a payout to a payout wallet", err, "address", "you send from it")
		var own models.PayoutWallet
		e.must(e.db.Read(e.Context()).Take(&own).Error)
		_, err = e.prepare(e.owner, v, own.Address)
		e.expectField("a payout from the wallet that it goes to", err, "account", "that this send goes to")
	})
}

// TestMoneyStaysReservedAfterARetry (SD-9): a dropped send that is approved again is neither withdrawn nor expired while
// its first transaction may still confirm. Once another one has spent the same for good, it can be withdrawn.
func TestMoneyStaysReservedAfterARetry(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	o.sends.Users = trusting{o.sends.Users}
	v := o.ready("0.001")
	o.reach(v.Send.Network, 10)
	first := o.pay(v, "aa", 0)
	o.change(first, map[string]any{"gone": true, "gone_reason": send.Dropped, "gone_at": o.clock.Now()})
	o.evaluate(v)
	o.set(v, map[string]any{"status": string(send.Processing)})
	o.clock.Advance(6 * time.Hour)
	if v = o.evaluate(v); v.State() != send.Failed || v.Send.Reason != send.Dropped {
		t.Fatalf("unseen for six hours it is %s (%s), want failed (dropped)", v.State(), v.Send.Reason)
	}
	_, err := o.sends.Approvals.Retry(t.Context(), o.owner, v.Send.Reference, send.Proof{})
	o.must(err)
	v, err = o.approve(o.owner, v)
	o.must(err)
	cancel := func() error {
		_, err := o.sends.Cancel(t.Context(), o.owner, v.Send.Reference)
		return err
	}
	o.expectFault("withdrawing it", cancel(), "may_confirm")
	o.clock.Advance(send.WaitForWallet + time.Hour)
	if v = o.evaluate(v); v.State() != send.Ready || v.Send.DueAt == nil || !v.MayConfirm() {
		t.Errorf("after the wait for the wallet it is %s, due at %v; want ready, and looked at again", v.State(), v.Send.DueAt)
	}
	o.change(first, map[string]any{"conflict_height": 11})
	o.reach(v.Send.Network, 100)
	if v = o.evaluate(v); v.MayConfirm() {
		t.Errorf("its first transaction was replaced for good, and may still confirm")
	}
	if v.State() == send.Ready {
		o.must(cancel())
	}
	if v = o.find(v); !v.State().Released() {
		t.Errorf("at the end it is %s, want that its money is free", v.State())
	}
}

// TestSecondTryKeepsItsAmount: the coin amount of a payout in fiat is fixed at its first approval. A statement that changes
// it before a second try is approved makes nothing ready.
func TestSecondTryKeepsItsAmount(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	o.sends.Users, o.sends.Quotes = trusting{o.sends.Users}, steady{}
	v := o.ask(send.Request{Kind: send.Payout, Method: string(money.CryptoBitcoin), FiatAmount: "100", Currency: "USD",
		Rate: send.RateToday, Address: recipient})
	_, err := o.approve(o.owner, v)
	o.must(err)
	amount := o.find(v).Send.Amount
	o.set(v, map[string]any{"status": "failed", "reason": send.Dropped, "ended_at": o.clock.Now()})
	_, err = o.sends.Approvals.Retry(t.Context(), o.owner, v.Send.Reference, send.Proof{})
	o.must(err)
	o.set(v, map[string]any{"amount": money.Units(1_000_000_000)})
	_, err = o.approve(o.owner, v)
	o.expectFault("approve a second try of another amount", err, "send_changed")
	o.set(v, map[string]any{"amount": amount})
	_, err = o.approve(o.owner, v)
	o.must(err)
	o.expectState(v, send.Ready)
}

// TestBroadcastSendsDoNotExpire: a send doesn't expire in the six hours after the network was given its transaction.
func TestBroadcastSendsDoNotExpire(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	v := o.ready("0.001")
	o.set(v, map[string]any{"broadcast_at": o.clock.Now(), "expires_at": o.clock.Now().Add(time.Minute)})
	for after, want := range []send.State{send.Ready, send.Ready, send.Ready, send.Ready, send.Ready, send.Ready, send.Expired} {
		if after > 0 {
			o.clock.Advance(time.Hour)
		}
		o.must(o.sends.Evaluator.Evaluate(t.Context(), v.Send.ID))
		now := o.find(v)
		if now.State() != want {
			t.Errorf("%d hours after its transaction was given to the network it is %s, want %s", after, now.State(), want)
		}
		if due := now.Send.DueAt; want == send.Ready && (due == nil || !due.Equal(now.Send.BroadcastAt.Add(6*time.Hour))) {
			t.Errorf("%d hours after it is looked at again at %v, want six hours after it was given", after, due)
		}
	}
}
