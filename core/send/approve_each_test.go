package send_test

import (
	"fmt"
	"testing"
	"time"

	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/rules"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestSeveralSendsAreApprovedWithOneProof (SD-4, SD-5, SD-6) approves several sends at once: each is decided by the
// rules of one, as it was seen, and those that are refused hold up no other.
func TestSeveralSendsAreApprovedWithOneProof(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, scope.Test)
		admin, second := o.hire("ada@books.example", scope.Admin), o.hire("yaw@books.example", scope.Admin)
		clerk := o.hire("esi@books.example", scope.Finance)
		proof := send.Proof{Password: password}
		o.sends.Quotes = steady{}
		first := o.payout(o.owner, "0.0001")
		// Three such sends fit into a day, and one of ten times the amount needs two people.
		o.must(o.sends.Rules.SetRules(t.Context(), o.owner, rules.Rules{OneFrom: 1, TwoFrom: first.Send.ValueUSD * 5,
			DayLimit: first.Send.ValueUSD * 3}, proof))
		plain, changed, mine := o.payout(o.owner, "0.0001"), o.payout(o.owner, "0.0001"), o.payout(admin, "0.0001")
		gone, large := o.payout(o.owner, "0.0001"), o.payout(o.owner, "0.001")
		third, fourth := o.payout(o.owner, "0.0001"), o.payout(o.owner, "0.0001")
		_, err := o.sends.Cancel(t.Context(), o.owner, gone.Send.Reference)
		o.must(err)
		list := []send.View{first, changed, mine, gone, large, plain, third, fourth}
		seen := []send.Seen{{Reference: "SND_none", Version: "1"}}
		for _, v := range list {
			seen = append(seen, send.Seen{Reference: v.Send.Reference, Version: v.Version()})
		}
		o.must(o.db.Exec(t.Context()).Model(&models.Send{}).Where("id = ?", changed.Send.ID).
			UpdateColumn("amount", money.Units(99_000_000)).Error)

		_, err = o.sends.Approvals.ApproveEach(t.Context(), clerk, seen, proof)
		o.expectFault("a clerk", err, "role_not_allowed")
		_, err = o.sends.Approvals.ApproveEach(t.Context(), admin, seen, send.Proof{Password: "wrong password"})
		o.expectFault("a wrong password", err, "validation_failed")
		o.clock.Advance(time.Minute)
		for _, v := range list {
			if now := o.find(v); now.State() == send.Ready || len(now.Approvals) > 0 {
				t.Errorf("%s is %s with %d approvals before any counts", v.Send.Reference, now.State(), len(now.Approvals))
			}
		}

		refused, err := o.sends.Approvals.ApproveEach(t.Context(), admin, seen, proof)
		o.must(err)
		want := []string{"not_found", "", "send_changed", "not_an_approver", "not_awaiting_approval", "", "", "", "day_limit"}
		for i, code := range want {
			switch {
			case code != "":
				o.expectFault(fmt.Sprint("send ", i, " of the list"), refused[i], code)
			case refused[i] != nil:
				t.Errorf("send %d of the list is refused by %v, want it approved", i, refused[i])
			}
		}
		for v, state := range map[*send.View]send.State{&first: send.Ready, &plain: send.Ready, &third: send.Ready,
			&changed: send.AwaitingApproval, &mine: send.AwaitingApproval, &gone: send.Cancelled,
			&large: send.AwaitingApproval, &fourth: send.AwaitingApproval} {
			o.expectState(*v, state)
		}
		if now := o.find(large); len(now.Approvals) != 1 || now.Send.Approvals != 2 {
			t.Errorf("the large send has %d of %d approvals, want one of two", len(now.Approvals), now.Send.Approvals)
		}
		again := []send.Seen{{Reference: large.Send.Reference, Version: o.find(large).Version()}}
		refused, err = o.sends.Approvals.ApproveEach(t.Context(), admin, again, proof)
		o.must(err)
		o.expectFault("the same person again", refused[0], "already_approved")
		o.clock.Advance(24 * time.Hour)
		refused, err = o.sends.Approvals.ApproveEach(t.Context(), second, again, proof)
		o.must(err)
		o.expectFault("a value above the limit of a day", refused[0], "day_limit")
	})
}
