package send_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/rules"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestSendsAreListed checks what each filter lists, page by page, and that no other business or domain is among it.
func TestSendsAreListed(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	rival := o.rival()
	if v := o.payout(rival, "0.001"); v.Business.ID != rival.BusinessID {
		t.Errorf("a payout of business %d is of %d", rival.BusinessID, v.Business.ID)
	}
	live := o.payout(o.owner, "0.002")
	o.set(live, map[string]any{"domain": "live"})
	p := o.paid(money.CryptoBitcoin)
	payout := o.payout(o.owner, "0.003")
	refund := o.ask(send.Request{Kind: send.Refund, Payment: p.Reference, Amount: "0.0001", Address: recipient})
	ready := o.ready("0.004")
	for _, c := range []struct {
		filter send.Filter
		want   []send.View
		next   int64
	}{
		{send.Filter{Limit: 9}, []send.View{ready, refund, payout}, 0},
		{send.Filter{Limit: 3}, []send.View{ready, refund, payout}, 0},
		{send.Filter{Limit: 2}, []send.View{ready, refund}, refund.Send.ID},
		{send.Filter{}, []send.View{ready}, ready.Send.ID},
		{send.Filter{Limit: 2, Before: refund.Send.ID}, []send.View{payout}, 0},
		{send.Filter{Limit: 9, Before: 1}, nil, 0},
		{send.Filter{Limit: 9, Kind: send.Refund}, []send.View{refund}, 0},
		{send.Filter{Limit: 9, States: []send.State{send.Ready, send.Failed}}, []send.View{ready}, 0},
		{send.Filter{Limit: 9, Payment: p.Reference}, []send.View{refund}, 0},
		{send.Filter{Limit: 9, Payment: p.BusinessReference}, []send.View{refund}, 0},
		{send.Filter{Limit: 9, Payment: "other"}, nil, 0},
	} {
		list, next, err := o.sends.List(t.Context(), o.owner, c.filter)
		o.must(err)
		var got, want []string
		for _, v := range list {
			got = append(got, v.Send.Reference)
		}
		for _, v := range c.want {
			want = append(want, v.Send.Reference)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || next != c.next {
			t.Errorf("%+v lists %v and then %d, want %v and %d", c.filter, got, next, want, c.next)
		}
	}
	for _, v := range []send.View{refund, payout} {
		for _, reference := range []string{v.Send.Reference, v.Send.BusinessReference} {
			if found, err := o.sends.Find(t.Context(), o.owner, reference); err != nil || found.Send.ID != v.Send.ID ||
				found.Payment != v.Payment || found.Business.ID != o.owner.BusinessID {
				t.Errorf("%s finds %s of business %d and %q (%v), want %s of %d and %q", reference,
					found.Send.Reference,
					found.Business.ID, found.Payment, err, v.Send.Reference, o.owner.BusinessID, v.Payment)
			}
			_, err := o.sends.Find(t.Context(), rival, reference)
			o.expectFault("another business's send", err, "not_found")
		}
	}
	if found, err := o.approve(rival, o.payout(rival, "0.001")); err != nil || found.Business.ID != rival.BusinessID {
		t.Errorf("another business's send is of business %d (%v), want %d", found.Business.ID, err, rival.BusinessID)
	}
	totals, err := o.sends.Totals(t.Context(), o.owner, o.clock.Now())
	o.must(err)
	got := map[send.State]string{}
	for _, total := range totals {
		got[total.State] = fmt.Sprint(total.Sends, " ", total.ValueUSD)
	}
	want := map[send.State]string{send.AwaitingApproval: fmt.Sprint(2, " ", payout.Send.ValueUSD+refund.Send.ValueUSD),
		send.Ready: fmt.Sprint(1, " ", ready.Send.ValueUSD)}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the open sends are %v, want %v", got, want)
	}
	_, err = o.sends.Cancel(t.Context(), o.owner, ready.Send.Reference)
	o.must(err)
	if totals, err := o.sends.Totals(t.Context(), o.owner, o.clock.Now()); err != nil || len(totals) != 1 {
		t.Errorf("with the ready one withdrawn the open sends are %v (%v), want those that wait for approval", totals,
			err)
	}
	for status, want := range map[send.State]map[time.Duration]string{
		send.Successful: {time.Hour: fmt.Sprint(2, " ", ready.Send.ValueUSD+payout.Send.ValueUSD),
			time.Minute: fmt.Sprint(1, " ", payout.Send.ValueUSD), 0: ""},
		send.Rejected: {time.Hour: ""},
	} {
		o.set(ready, map[string]any{"status": status, "ended_at": o.clock.Now().Add(-30 * time.Minute)})
		o.set(payout, map[string]any{"status": status, "ended_at": o.clock.Now()})
		for before, said := range want {
			totals, err := o.sends.Totals(t.Context(), o.owner, o.clock.Now().Add(-before))
			o.must(err)
			got := ""
			for _, total := range totals {
				if total.State == status {
					got = fmt.Sprint(total.Sends, " ", total.ValueUSD)
				}
			}
			if got != said {
				t.Errorf("%s in the last %s are %q, want %q", status, before, got, said)
			}
		}
	}
	plans := modelstest.ReadPlans(t, o.db, o.db.List(t.Context()), func() {
		_, err = o.sends.Totals(t.Context(), o.owner, o.clock.Now())
	})
	o.must(err)
	if plan := strings.Join(plans[1].Lines, "\n"); !strings.Contains(plan, "sends_completed") {
		t.Errorf("completed sends are summed by another index than sends_completed:\n%s", plan)
	}
}

// TestListedSendsHaveTheirOwnFacts checks the transfers, confirmations and values of several sends that are read at
// once.
func TestListedSendsHaveTheirOwnFacts(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	o.sends.Quotes = steady{}
	network := string(chain.Sandbox(money.Bitcoin))
	o.reach("another", 70)
	o.reach(network, 10)
	o.reach("further", 90)
	paid, pending, unseen := o.ready("0.001"), o.ready("0.001"), o.ready("0.001")
	first := o.pay(paid, "aa", 9)
	o.pay(pending, "bb", 0)
	o.evaluate(paid)
	o.evaluate(pending)
	o.pay(paid, "cc", 3)
	stray := o.stray("stray", nil, money.Units(9_000))
	refund := o.ask(send.Request{Kind: send.Refund, TransferID: stray.ID, Address: recipient})
	expect := func(when string, confirmations ...int64) {
		t.Helper()
		list, _, err := o.sends.List(t.Context(), o.owner, send.Filter{Limit: 9})
		o.must(err)
		for i, v := range []send.View{paid, pending, unseen, refund} {
			got := list[len(list)-1-i]
			if got.Send.ID != v.Send.ID || got.Confirmations() != confirmations[i] {
				t.Errorf("%s send %d has %d confirmations, want %d", when, got.Send.ID, got.Confirmations(),
					confirmations[i])
			}
			for _, transfer := range got.Transfers {
				if *transfer.SendID != v.Send.ID {
					t.Errorf("%s send %d has the transfer %s of another", when, v.Send.ID, transfer.TxID)
				}
			}
		}
	}
	expect("in a block", 2, 0, 0, 0)
	o.reach(network, 8)
	expect("in a block that isn't read", 1, 0, 0, 0)
	for _, columns := range []map[string]any{{"gone": true}, {"reverted": true}, {"height": nil}} {
		o.change(first, columns)
		expect(fmt.Sprint("with ", columns), 0, 0, 0, 0)
		o.must(o.db.Exec(t.Context()).Save(&first).Error)
	}
	for _, c := range []struct {
		v                        send.View
		payment, value, currency string
	}{{paid, "null", `"80.00"`, `"USD"`}, {refund, "null", "null", "null"},
		{o.ask(send.Request{Kind: send.Refund, Payment: o.paid(money.CryptoBitcoin).Reference, Amount: "0.0001",
			Address: recipient}), "PAY", "", `"USD"`}} {
		summary := o.find(c.v).Summary()
		text, err := json.Marshal(summary)
		o.must(err)
		var fields map[string]json.RawMessage
		o.must(json.Unmarshal(text, &fields))
		got := string(fields["payment_reference"])
		if c.payment == "PAY" && got != fmt.Sprintf("%q", c.v.Payment) || c.payment != "PAY" && got != c.payment ||
			c.value != "" && string(fields["value"]) != c.value || string(fields["currency"]) != c.currency {
			t.Errorf("%s: its summary is %s, want payment %s, value %s and currency %s", c.v.Send.Reference, text,
				c.payment, c.value,
				c.currency)
		}
	}
}

// TestClaimsShowTheirCustomer checks that the page of a refund is its payment's customer's.
func TestClaimsShowTheirCustomer(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	for range 2 {
		p := o.paid(money.CryptoBitcoin)
		v := o.ask(send.Request{Kind: send.Refund, Payment: p.Reference})
		claim, err := o.sends.Claims.FindClaim(t.Context(), strings.TrimPrefix(o.sends.ClaimURL(v.Send),
			"http://localhost/refund/"))
		o.must(err)
		if claim.Customer.ID != p.ID || claim.Send.ID != v.Send.ID {
			t.Errorf("the page of send %d shows %d and the customer of payment %d, want payment %d", v.Send.ID,
				claim.Send.ID,
				claim.Customer.ID, p.ID)
		}
		o.clock.Advance(time.Minute)
		letters := o.listen()
		_, err = o.sends.Claims.NameAddress(t.Context(), strings.TrimPrefix(o.sends.ClaimURL(v.Send),
			"http://localhost/refund/"),
			recipient, nil)
		o.must(err)
		if l := (*letters)[0]; l.Address != recipient || l.Name != "Esi Owusu" {
			t.Errorf("the mail to %s asks to confirm %q, want %q", l.Name, l.Address, recipient)
		}
	}
}

// TestActorsAreNamed checks the names of people and of the business's own keys.
func TestActorsAreNamed(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	rival := o.rival()
	for i, sc := range []scope.Scope{o.owner, rival, o.owner} {
		o.must(o.db.Exec(t.Context()).Create(&models.APIKey{BusinessID: sc.BusinessID, Domain: "test",
			Name: fmt.Sprint("Key ", i), Hash: fmt.Sprint(i), CreatedAt: o.clock.Now()}).Error)
	}
	names, err := o.sends.NameActors(t.Context(), o.owner, []string{o.owner.Actor, "key:1", "key:2", "key:x", "system",
		"3"})
	o.must(err)
	if want := map[string]string{o.owner.Actor: "Kofi Boateng",
		"key:1": "Key 0"}; fmt.Sprint(names) != fmt.Sprint(want) {
		t.Errorf("the names are %v, want %v", names, want)
	}
}

// TestApproversAreOfTheBusiness checks that members of another business neither approve nor get mails, and that an
// approval of one send leaves another's.
func TestApproversAreOfTheBusiness(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	rival := o.rival()
	o.sends.Users = trusting{o.sends.Users}
	o.hire("ada@books.example", scope.Admin)
	o.setRules(rules.Rules{TwoFrom: 1})
	letters := o.listen()
	first, second := o.payout(o.owner, "0.001"), o.payout(o.owner, "0.001")
	if len(*letters) != 4 {
		t.Errorf("%d mails ask for approvals of two sends, want one for each person and send", len(*letters))
	}
	if may, err := o.sends.Approvals.MayApprove(t.Context(), rival, first); err != nil || may {
		t.Errorf("another business's owner may approve: %t (%v), want not", may, err)
	}
	for _, v := range []send.View{first, second} {
		_, err := o.approve(o.owner, v)
		o.must(err)
	}
	for _, v := range []send.View{first, second} {
		if n := len(o.find(v).Approvals); n != 1 {
			t.Errorf("%s has %d approvals, want 1", v.Send.Reference, n)
		}
	}
	if now, planned, err := o.sends.Rules.ReadRules(t.Context(), rival); err != nil || planned != nil ||
		now != (rules.Rules{}) {
		t.Errorf("another business has the rules %+v and %+v (%v), want the usual ones", now, planned, err)
	}
}

// TestNamedSendsAreFoundByTheirNames reads the plans by which sends of a batch, and sends that a page names, are
// found: not among all of the business's.
func TestNamedSendsAreFoundByTheirNames(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	batch := o.ready("0.002")
	o.set(batch, map[string]any{"batch_id": 7})
	other := o.ready("0.001")
	for index, c := range map[string]struct {
		filter send.Filter
		want   send.View
	}{"sends_reference": {send.Filter{References: []string{other.Send.Reference, "SND_0"}}, other},
		"sends_batch": {send.Filter{Batch: 7}, batch}} {
		var list []send.View
		var err error
		plans := modelstest.ReadPlans(t, o.db, o.db.List(t.Context()), func() {
			list, _, err = o.sends.List(t.Context(), o.owner, c.filter)
		})
		o.must(err)
		if len(list) != 1 || list[0].Send.ID != c.want.Send.ID {
			t.Errorf("%+v lists %+v, want %s", c.filter, list, c.want.Send.Reference)
		}
		if plan := strings.Join(plans[0].Lines, "\n"); !strings.Contains(plan, index) {
			t.Errorf("%+v is listed by another index than %s:\n%s", c.filter, index, plan)
		}
	}
}
