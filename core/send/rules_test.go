package send_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/rules"
	"cointill/core/send/seal"
	"cointill/models"
)

// TestRulesSayHowManyApprove checks the bounds of the rules with a payout of 80 USD.
func TestRulesSayHowManyApprove(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	o.sends.Quotes = steady{}
	for _, c := range []struct {
		rules rules.Rules
		key   bool
		want  int
	}{
		{rules.Rules{}, false, 1},
		{rules.Rules{OneFrom: 80_00}, false, 1},
		{rules.Rules{OneFrom: 80_01}, false, 0},
		{rules.Rules{OneFrom: 80_01}, true, 1},
		{rules.Rules{TwoFrom: 80_00}, false, 2},
		{rules.Rules{TwoFrom: 80_01}, false, 1},
		{rules.Rules{OneFrom: 80_01, TwoFrom: 80_01}, false, 0},
	} {
		o.setRules(c.rules)
		sc := o.owner
		if c.key {
			sc = o.key()
		}
		v := o.payout(sc, "0.001")
		if v.Send.Approvals != c.want || (v.State() == send.Ready) != (c.want == 0) {
			t.Errorf("with %+v, asked for by a key: %t, a payout is %s and needs %d approvals, want %d", c.rules, c.key,
				v.State(), v.Send.Approvals, c.want)
		}
	}
}

// TestLooserRulesWait checks which changes of rules wait for a day in the live domain.
func TestLooserRulesWait(t *testing.T) {
	t.Parallel()
	const most = 100_000_000_000
	before := rules.Rules{OneFrom: 100, TwoFrom: 200, DayLimit: 300}
	o := newQuickOffice(t, scope.Live)
	set := func(r rules.Rules) error {
		o.clock.Advance(2 * time.Minute) // until another proof is allowed
		return o.sends.Rules.SetRules(t.Context(), o.owner, r, send.Proof{Password: password})
	}
	for _, c := range []struct {
		before, after rules.Rules
		waits         bool
	}{
		{before, before, false},
		{before, rules.Rules{OneFrom: 99, TwoFrom: 200, DayLimit: 300}, false},
		{before, rules.Rules{OneFrom: 101, TwoFrom: 200, DayLimit: 300}, true},
		{before, rules.Rules{OneFrom: 100, TwoFrom: 201, DayLimit: 300}, true},
		{before, rules.Rules{OneFrom: 100, TwoFrom: 0, DayLimit: 300}, true},
		{before, rules.Rules{OneFrom: 100, TwoFrom: 200, DayLimit: 301}, true},
		{before, rules.Rules{OneFrom: 100, TwoFrom: 200, DayLimit: 0}, true},
		{rules.Rules{TwoFrom: most}, rules.Rules{}, true},
		{rules.Rules{}, rules.Rules{TwoFrom: most, DayLimit: most}, false},
		{rules.Rules{OneFrom: 100}, rules.Rules{OneFrom: 100, TwoFrom: 100}, false},
	} {
		o.must(o.db.Exec(t.Context()).Where("1 = 1").Delete(&models.SendRules{}).Error)
		o.setRules(c.before)
		o.must(set(c.after))
		now, planned, err := o.sends.Rules.ReadRules(t.Context(), o.owner)
		o.must(err)
		if (planned != nil) != c.waits || !c.waits && now != c.after || c.waits && (now != c.before ||
			planned.Rules != c.after || !planned.From.Equal(o.clock.Now().Add(24*time.Hour))) {
			t.Errorf("%+v after %+v: %+v hold, %+v are planned; want that they wait a day: %t", c.after, c.before, now,
				planned,
				c.waits)
		}
	}
	o.must(set(rules.Rules{OneFrom: 5, TwoFrom: 6})) // replaces those that wait
	if _, planned, err := o.sends.Rules.ReadRules(t.Context(), o.owner); err != nil || planned != nil {
		t.Errorf("rules that wait were replaced by stricter ones, and %+v are planned (%v)", planned, err)
	}
	for _, c := range []struct {
		rules rules.Rules
		want  string
	}{
		{rules.Rules{OneFrom: -1}, "one_from: Must be from 0 to 1,000,000,000 USD."},
		{rules.Rules{DayLimit: most + 1}, "day_limit: Must be from 0 to 1,000,000,000 USD."},
		{rules.Rules{OneFrom: 2, TwoFrom: 1},
			"two_from: Must not be less than the value from which one approver is needed."},
	} {
		if got := describeFields(set(c.rules)); got != c.want {
			t.Errorf("%+v are refused with %q, want %q", c.rules, got, c.want)
		}
	}
	other := o.owner
	other.Domain = scope.Test
	o.owner = other
	o.setRules(before)
	o.clock.Advance(2 * time.Minute)
	o.must(o.sends.Rules.SetRules(t.Context(), other, rules.Rules{}, send.Proof{Password: password}))
	if now, planned, err := o.sends.Rules.ReadRules(t.Context(), other); err != nil || planned != nil ||
		now != (rules.Rules{}) {
		t.Errorf("looser rules of the test domain: %+v hold, %+v are planned (%v); want that they hold", now, planned,
			err)
	}
	var row models.Audit
	o.must(o.db.Read(t.Context()).Where("action = 'send.rules_changed' AND domain = 'test'").Take(&row).Error)
}

// TestWhoMayApprove checks the people who may approve a send: in the live domain the one who made the business, and
// others after a day.
func TestWhoMayApprove(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Live)
	o.sends.Quotes = steady{}
	admin, second := o.hire("ada@books.example", scope.Admin), o.hire("yaw@books.example", scope.Admin)
	clerk := o.hire("esi@books.example", scope.Finance)
	v := o.payout(clerk, "0.001")
	expect := func(when string, v send.View, want ...scope.Scope) {
		t.Helper()
		var got, names []string
		for _, sc := range []scope.Scope{o.owner, admin, second, clerk} {
			may, err := o.sends.Approvals.MayApprove(t.Context(), sc, v)
			o.must(err)
			if may {
				got = append(got, sc.Actor)
			}
		}
		for _, sc := range want {
			names = append(names, sc.Actor)
		}
		if !slices.Equal(got, names) {
			t.Errorf("%s %v may approve, want %v", when, got, names)
		}
	}
	expect("on the first day", v, o.owner)
	o.clock.Advance(24*time.Hour - time.Microsecond)
	expect("at the end of it", v, o.owner)
	o.clock.Advance(time.Microsecond)
	expect("after a day", v, o.owner, admin, second)
	expect("of the owner's send", o.payout(o.owner, "0.001"), admin, second)
	expect("of an admin's send", o.payout(admin, "0.001"), o.owner, second)
	since := func(sc scope.Scope, at time.Time) {
		t.Helper()
		o.must(o.db.Exec(t.Context()).Model(&models.Member{}).Where("'user:' || user_id = ?", sc.Actor).
			Update("role_since", at).Error)
	}
	since(second, o.clock.Now())
	expect("after a new role", v, o.owner, admin)
	since(o.owner, o.clock.Now())
	expect("after the owner's new role", v, admin)
	since(admin, o.clock.Now().Add(-24*time.Hour))
	expect("a day after an admin's new role", v, admin)
	expect("of the only approver's send", o.payout(admin, "0.001"), admin)
	v.Send.Domain = string(scope.Test)
	expect("in the test domain", v, o.owner, admin, second)
	v.Send.Actor, v.Send.Approvals = admin.Actor, 2
	expect("of an admin's send that two must approve", v, o.owner, second)
	since(clerk, o.clock.Now())
	v.Send.Approvals = 3
	expect("of an admin's send that three must approve", v, o.owner, admin, second)
}

// TestApprovalsAreOfTheSendAsItIs checks that a person approves again what changed, once.
func TestApprovalsAreOfTheSendAsItIs(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	o.sends.Users = trusting{o.sends.Users}
	admin, second := o.hire("ada@books.example", scope.Admin), o.hire("yaw@books.example", scope.Admin)
	o.setRules(rules.Rules{TwoFrom: 1})
	v := o.payout(o.owner, "0.001")
	_, err := o.approve(admin, v)
	o.must(err)
	o.set(v, map[string]any{"address": "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"})
	again, err := o.approve(admin, v)
	o.must(err)
	if len(again.Approvals) != 1 || again.State() != send.AwaitingApproval {
		t.Errorf("a changed send has %d approvals and is %s, want the new one and that it waits", len(again.Approvals),
			again.State())
	}
	_, err = o.approve(admin, v)
	o.expectFault("the same person again", err, "already_approved")
	_, err = o.approve(second, v)
	o.must(err)
	o.expectState(v, send.Ready)
	_, err = o.approve(second, v)
	o.expectFault("a ready send", err, "not_awaiting_approval")
	audited := int64(0)
	o.must(o.db.Read(t.Context()).Model(&models.Audit{}).Where("action = 'send.approved'").Count(&audited).Error)
	if audited != 3 {
		t.Errorf("%d approvals are in the audit log, want 3", audited)
	}
}

// TestLimitOfADay checks which sends count for the limit of what is approved in 24 hours.
func TestLimitOfADay(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	o.sends.Quotes, o.sends.Users = steady{}, trusting{o.sends.Users}
	o.setRules(rules.Rules{DayLimit: 160_00})
	first := o.ready("0.001") // 80 USD
	second := o.payout(o.owner, "0.001")
	for name, columns := range map[string]map[string]any{"another business's": {"business_id": o.owner.BusinessID + 1},
		"another domain's": {"domain": "live"}} {
		third := o.payout(o.owner, "0.002")
		o.set(first, columns)
		if _, err := o.approve(o.owner, third); err != nil {
			t.Errorf("with %s send the limit doesn't allow 160 USD of 160: %v", name, err)
		}
		o.must(o.db.Exec(t.Context()).Save(&first.Send).Error)
		o.set(third, map[string]any{"ready_at": nil})
	}
	_, err := o.approve(o.owner, second)
	o.must(err)
	third := o.payout(o.owner, "0.0001")
	_, err = o.approve(o.owner, third)
	o.expectFault("more than the limit", err, "day_limit")
	o.set(second, map[string]any{"status": "failed", "reason": send.Dropped}) // counts once when it is tried again
	_, err = o.sends.Approvals.Retry(t.Context(), o.owner, second.Send.Reference, send.Proof{})
	o.must(err)
	_, err = o.approve(o.owner, second)
	o.must(err)
	o.clock.Advance(24 * time.Hour)
	_, err = o.approve(o.owner, third)
	o.must(err)
	o.setRules(rules.Rules{OneFrom: 1_000_00, DayLimit: 1})
	_, err = o.sends.Ask(t.Context(), o.owner, send.Request{Kind: send.Payout, Method: string(money.CryptoBitcoin),
		Amount: "0.001", Address: recipient})
	o.expectFault("a payout without approvals above the limit", err, "day_limit")
}

// TestNewAddressesWait checks which addresses wait for a day before a send to them is ready.
func TestNewAddressesWait(t *testing.T) {
	t.Parallel()
	const elsewhere = "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"
	o := newQuickOffice(t, scope.Live)
	o.sends.Quotes = steady{}
	o.setRules(rules.Rules{OneFrom: 1_000_00}) // no approvals
	ask := func(address string) send.View {
		t.Helper()
		return o.ask(send.Request{Kind: send.Payout, Method: string(money.CryptoBitcoin), Amount: "0.001",
			Address: address})
	}
	expect := func(what string, v send.View, want send.State, reason string) {
		t.Helper()
		if v = o.find(v); v.State() != want || v.Send.Reason != reason {
			t.Errorf("%s: it is %s (%s), want %s (%s)", what, v.State(), v.Send.Reason, want, reason)
		}
	}
	first := ask(recipient)
	expect("a new address", first, send.AwaitingApproval, send.NewAddress)
	if due := first.Send.DueAt; due == nil || !due.Equal(o.clock.Now().Add(24*time.Hour)) {
		t.Errorf("it is looked at again at %v, want in a day", due)
	}
	o.clock.Advance(23 * time.Hour)
	second := ask(recipient)
	expect("an address that was named before", second, send.AwaitingApproval, send.NewAddress)
	o.clock.Advance(time.Hour)
	for _, v := range []send.View{first, second} {
		o.evaluate(v)
		expect("after a day", v, send.Ready, "")
	}
	expect("a known address", ask(recipient), send.Ready, "")
	for column, value := range map[string]any{"business_id": o.owner.BusinessID + 1, "domain": "test",
		"network": "other",
		"address": elsewhere, "tag": 7} {
		o.must(o.db.Exec(t.Context()).Model(&models.PayoutAddress{}).Where("address = ?", recipient).
			UpdateColumn(column, value).Error)
		expect(fmt.Sprint("an address that is known with another ", column), ask(recipient), send.AwaitingApproval,
			send.NewAddress)
		o.must(o.db.Exec(t.Context()).Where("released_at > ?", o.clock.Now()).Delete(&models.PayoutAddress{}).Error)
		o.must(o.db.Exec(t.Context()).Model(&models.PayoutAddress{}).Where("1 = 1").UpdateColumns(map[string]any{
			"business_id": o.owner.BusinessID, "domain": "live", "network": first.Send.Network, "address": recipient,
			"tag": -1,
		}).Error)
	}
	named := ask(elsewhere)
	named.Send.AddressBy, named.Send.Address = send.ByCustomer, "mv4rnyY3Su5gjcDNzbMLKBQkBicCtHUtFB"
	o.set(named, map[string]any{"address_by": send.ByCustomer, "address": named.Send.Address,
		"request_seal": seal.SealRequest(o.sends.Secrets, named.Send)})
	o.evaluate(named)
	expect("an address that the customer confirmed", named, send.Ready, "")
	forgotten := ask(elsewhere)
	o.must(o.db.Exec(t.Context()).Where("address = ?", elsewhere).Delete(&models.PayoutAddress{}).Error)
	o.evaluate(forgotten)
	expect("an address that isn't stored", forgotten, send.AwaitingApproval, send.NewAddress)
	o.setRules(rules.Rules{})
	o.sends.Users = trusting{o.sends.Users}
	waits := ask(elsewhere)
	o.clock.Advance(24 * time.Hour)
	_, err := o.approve(o.owner, waits)
	o.must(err)
	expect("a send whose address waited before it was approved", waits, send.Ready, "")
	stricter := ask("mv4rnyY3Su5gjcDNzbMLKBQkBicCtHUtFB")
	_, err = o.approve(o.owner, stricter)
	o.must(err)
	expect("a send to a new address after one approval", stricter, send.AwaitingApproval, send.NewAddress)
	o.setRules(rules.Rules{TwoFrom: 1})
	o.evaluate(stricter)
	expect("the same under stricter rules", stricter, send.AwaitingApproval, "")
}
