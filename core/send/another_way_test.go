package send_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/letter"
	"cointill/core/send/rules"
	"cointill/models"
	"cointill/models/modelstest"
)

// mark says as a person that a send was sent in another way, as that person sees it now.
func (o *office) mark(sc scope.Scope, v send.View, note string) (send.View, error) {
	o.Helper()
	o.clock.Advance(time.Minute) // until another proof is allowed
	return o.sends.Approvals.MarkSent(o.Context(), sc, send.Seen{Reference: v.Send.Reference,
		Version: o.find(v).Version()}, note, send.Proof{Password: password})
}

// listEvents lists the events of a send.
func (o *office) listEvents(v send.View) (kinds []string) {
	o.Helper()
	o.must(o.db.Read(o.Context()).Model(&models.Event{}).Where("send_id = ?", v.Send.ID).Order("id").
		Pluck("type", &kinds).Error)
	return kinds
}

// countEntries counts the entries of the journal.
func (o *office) countEntries() (count int64) {
	o.Helper()
	o.must(o.db.Read(o.Context()).Model(&models.JournalEntry{}).Count(&count).Error)
	return count
}

// TestSentInAnotherWay (SD-17) checks what a refund is that a person says was sent in another way: done, and shown as
// such, without a transaction and without an entry of the journal. Its money stays reserved.
func TestSentInAnotherWay(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, scope.Test)
		p := o.paid(money.CryptoBitcoin)
		v, err := o.approve(o.owner, o.ask(send.Request{Kind: send.Refund, Payment: p.Reference, Address: recipient}))
		o.must(err)
		letters := o.listen()
		done, err := o.mark(o.owner, v, "Paid in cash at the till")
		o.must(err)
		got := fmt.Sprintf("%s %s %t %q %v %d", done.State(), done.Send.Reason, done.Summary().SentInAnotherWay,
			done.Send.Hash,
			o.listEvents(v), o.countEntries())
		if want := `successful sent_in_another_way true "" [send.successful] 0`; got != want {
			t.Errorf("a refund that was sent in another way is %s, want %s", got, want)
		}
		if len(*letters) != 1 || (*letters)[0].Kind != letter.AnotherWay || (*letters)[0].Hash != "" {
			t.Errorf("the mails about it are %+v, want one to the customer without a transaction", *letters)
		}
		_, err = o.sends.Ask(t.Context(), o.owner, send.Request{Kind: send.Refund, Payment: p.Reference, Address: recipient})
		o.expectFault("another refund of the same money", err, "nothing_to_refund")
		paid, err := o.payments.Verify(t.Context(), o.owner, p.Reference)
		o.must(err)
		if r := paid.Record(); len(r.Sends) != 1 || !r.Sends[0].SentInAnotherWay || r.Sends[0].Hash != "" ||
			r.Transaction.RefundedInCrypto != "0.00000000" {
			t.Errorf("the record of the payment has %+v and %s refunded; want a send that was sent in another way, and "+
				"nothing that a chain has shown", r.Sends, r.Transaction.RefundedInCrypto)
		}
		var noted models.Audit
		o.must(db.Read(t.Context()).Where("action = 'send.sent_in_another_way' AND actor = ?", o.owner.Actor).
			Take(&noted).Error)
	})
}

// TestPaidAfterAnotherWay (SD-17) has a transaction pay a send that was sent in another way: it is paid twice, which
// people are mailed about and the books show, and the send says still that it was sent in another way.
func TestPaidAfterAnotherWay(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, scope.Test)
		v := o.ready("0.001")
		_, err := o.mark(o.owner, v, "From the exchange")
		o.must(err)
		letters := o.listen()
		o.reach(v.Send.Network, 10)
		paid := o.pay(v, "anyway", 10)
		expect := func(when, want string) {
			t.Helper()
			now := o.evaluate(v)
			if got := fmt.Sprintf("%s %s %t %s %q", now.State(), now.Send.Reason, now.Send.PaidTwice, now.Send.BookedTwice,
				now.Send.Hash); got != want {
				t.Errorf("%s the send is %s, want %s", when, got, want)
			}
		}
		expect("with a confirmation", `successful sent_in_another_way false 0 ""`)
		if now := o.find(v); now.Send.DueHeight == nil {
			t.Error("no height is awaited at which the transaction is final")
		}
		o.reach(v.Send.Network, 500)
		expect("with a final transaction", `successful paid_twice true 100000 ""`)
		if len(*letters) != 1 || (*letters)[0].Kind != letter.PaidTwice {
			t.Errorf("the mails about it are %+v, want one that it was paid twice", *letters)
		}
		books := &journal.Service{DB: o.db, Clock: o.clock.Now}
		statement, err := books.ReadStatement(t.Context(), o.owner, journal.AllDays())
		o.must(err)
		if l := statement.Coins[0]; l.PaidOut.Sign() != 0 || l.PaidTwice.String() != "100000" || l.Opening.Sign() != 0 {
			t.Errorf("the statement's line is %+v, want one that opens with nothing, with 100000 paid twice", l)
		}
		o.change(paid, map[string]any{"gone": true, "gone_reason": "reorg", "gone_at": o.clock.Now(), "height": nil})
		expect("after a reorganisation", `successful sent_in_another_way false 0 ""`)
		if events := o.listEvents(v); !slices.Equal(events, []string{"send.successful"}) {
			t.Errorf("its events are %v, want only that it was successful", events)
		}
	})
}

// TestFailedSendIsSentInAnotherWay checks that a transaction that failed is no evidence of a send that was sent in
// another way.
func TestFailedSendIsSentInAnotherWay(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	v := o.ready("0.001")
	o.reach(v.Send.Network, 500)
	o.pay(v, "failed", 9)
	o.set(v, map[string]any{"status": "failed", "reason": send.Reverted, "hash": "failed"})
	o.must(o.db.Exec(t.Context()).Model(&models.Transfer{}).Where("tx_id = 'failed'").Update("reverted", true).Error)
	done, err := o.mark(o.owner, v, "By bank")
	o.must(err)
	if now := o.evaluate(v); done.Send.Hash != "" || now.Send.Hash != "" || now.State() != send.Successful || now.Send.Reversed {
		t.Errorf("a failed send that was sent in another way is %s with the transaction %q, reversed: %t; want successful "+
			"without one", now.State(), now.Send.Hash, now.Send.Reversed)
	}
}

// TestTwoPeopleMark (SD-18) checks that two different people must say that a send was sent in another way where the
// rules ask for two, and that meanwhile it is neither signed, ended nor expired.
func TestTwoPeopleMark(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, scope.Test)
		admin, second := o.hire("ada@books.example", scope.Admin), o.hire("yaw@books.example", scope.Admin)
		o.setRules(rules.Rules{TwoFrom: 1})
		v := o.payout(o.owner, "0.001")
		for _, person := range []scope.Scope{admin, second} {
			_, err := o.approve(person, v)
			o.must(err)
		}
		letters := o.listen()
		first, err := o.mark(admin, v, "In cash")
		o.must(err)
		if first.State() != send.Ready || first.Send.AnotherWayAt != nil || len(*letters) != 1 ||
			(*letters)[0].Kind != letter.Marked {
			t.Errorf("after one of two it is %s, and the mails are %+v; want ready, and a mail to the other one", first.State(),
				*letters)
		}
		_, err = o.mark(admin, v, "In cash")
		o.expectFault("the same person again", err, "already_approved")
		_, err = o.sends.Cancel(t.Context(), o.owner, v.Send.Reference)
		o.expectFault("a withdrawal meanwhile", err, "send_not_ready")
		_, err = o.sends.Approvals.StartSigning(t.Context(), o.owner, v.Send.Reference)
		o.expectFault("a signature meanwhile", err, "send_not_ready")
		o.clock.Advance(31 * 24 * time.Hour)
		o.evaluate(v)
		o.expectState(v, send.Ready)
		_, err = o.sends.Approvals.UnmarkSent(t.Context(), second, v.Send.Reference)
		o.must(err)
		o.evaluate(v)
		o.expectState(v, send.Expired)
	})
}

// TestForgedMarkCountsNot (SD-18) writes into the database that a person has said that a send was sent in another way.
func TestForgedMarkCountsNot(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	v := o.ready("0.001")
	admin, second := o.hire("ada@books.example", scope.Admin), o.hire("yaw@books.example", scope.Admin)
	o.setRules(rules.Rules{TwoFrom: 1})
	o.set(v, map[string]any{"another_way_by": admin.Actor, "another_way_seal": "forged"})
	now, err := o.mark(second, v, "In cash")
	o.must(err)
	if now.State() != send.Ready {
		t.Errorf("with a forged mark and one more the send is %s, want ready", now.State())
	}
	now, err = o.mark(admin, v, "In cash")
	o.must(err)
	if now.State() != send.Successful {
		t.Errorf("with two marks the send is %s, want successful", now.State())
	}
	_, err = o.sends.Approvals.UnmarkSent(t.Context(), o.owner, v.Send.Reference)
	o.expectFault("taking it back when two have agreed", err, "send_not_open")
}

// TestFailedMarkedSendIsNotTriedAgain checks that a failed send isn't tried again while a person says that it was sent
// in another way.
func TestFailedMarkedSendIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	admin := o.hire("ada@books.example", scope.Admin)
	v := o.payout(o.owner, "0.001")
	_, err := o.approve(admin, v)
	o.must(err)
	o.set(v, map[string]any{"status": "failed", "reason": send.Replaced, "approvals": 2})
	_, err = o.mark(admin, v, "In cash")
	o.must(err)
	_, err = o.sends.Approvals.Retry(t.Context(), admin, v.Send.Reference, send.Proof{Password: password})
	o.expectFault("another try", err, "send_not_ready")
	o.pay(v, "seen", 0)
	o.set(v, map[string]any{"status": "ready", "ready_at": o.clock.Now().Add(-time.Hour)})
	if now := o.evaluate(v); now.State() != send.Processing || now.Send.AnotherWayBy != "" {
		t.Errorf("a marked send of which a transaction is seen is %s, marked by %q; want processing, and no mark", now.State(),
			now.Send.AnotherWayBy)
	}
}

// TestWhoMarksSends (SD-18) checks which members may say that a send was sent in another way, and of which sends.
func TestWhoMarksSends(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	admin, clerk := o.hire("ada@books.example", scope.Admin), o.hire("esi@books.example", scope.Finance)
	v := o.payout(o.owner, "0.001")
	_, err := o.mark(admin, v, "In cash")
	o.expectFault("a send that waits for approval", err, "send_not_open")
	_, err = o.approve(admin, v)
	o.must(err)
	_, err = o.mark(clerk, v, "In cash")
	o.expectFault("a clerk", err, "role_not_allowed")
	_, err = o.mark(o.owner, v, "In cash")
	o.expectFault("the person who asked", err, "not_an_approver")
	_, err = o.mark(admin, v, " ")
	o.expectField("no note", err, "note", "Must say how it was sent.")
	seen := send.Seen{Reference: v.Send.Reference, Version: o.find(v).Version()}
	o.clock.Advance(time.Minute)
	_, err = o.sends.Approvals.MarkSent(t.Context(), admin, seen, "In cash", send.Proof{Password: "wrong password"})
	o.expectFault("a wrong password", err, "validation_failed")
	o.set(v, map[string]any{"amount": money.Units(7)})
	o.clock.Advance(time.Minute)
	_, err = o.sends.Approvals.MarkSent(t.Context(), admin, seen, "In cash", send.Proof{Password: password})
	o.expectFault("a send that changed since it was seen", err, "send_changed")
	_, err = o.sends.Approvals.UnmarkSent(t.Context(), clerk, v.Send.Reference)
	o.expectFault("a clerk who takes it back", err, "role_not_allowed")
	_, err = o.sends.Approvals.UnmarkSent(t.Context(), admin, v.Send.Reference)
	o.expectFault("what was not said is taken back", err, "send_not_open")
}

// TestTransferRefundedInAnotherWay takes a transfer from Unmatched once all of it was sent back in another way; it
// stays in the account of unmatched money, as it is still in the wallet.
func TestTransferRefundedInAnotherWay(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	stray := o.stray("surplus", nil, money.Units(70_000))
	v, err := o.approve(o.owner, o.ask(send.Request{Kind: send.Refund, TransferID: stray.ID, Address: recipient}))
	o.must(err)
	_, err = o.mark(o.owner, v, "In cash")
	o.must(err)
	var now models.Transfer
	o.must(o.db.Read(t.Context()).Where("id = ?", stray.ID).Take(&now).Error)
	if now.Resolution != "refunded" || o.countEntries() != 0 {
		t.Errorf("the transfer is resolved as %q with %d entries of the journal, want refunded without any", now.Resolution,
			o.countEntries())
	}
}
