package send_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/rules"
	"cointill/core/send/seal"
	"cointill/models"
)

// act is something that a person or a program does with a send.
type act struct {
	name string
	do   func(sc scope.Scope, v send.View) error
}

// listActs returns what is done with a send by its reference.
func (o *office) listActs() []act {
	ctx, a := o.Context(), o.sends.Approvals
	return []act{
		{"Approve", func(sc scope.Scope, v send.View) error {
			_, err := a.Approve(ctx, sc, v.Send.Reference, v.Version(), send.Proof{Password: password})
			return err
		}},
		{"ApproveInSandbox", func(sc scope.Scope, v send.View) error {
			_, err := a.ApproveInSandbox(ctx, sc, v.Send.Reference)
			return err
		}},
		{"Reject", func(sc scope.Scope, v send.View) error {
			_, err := a.Reject(ctx, sc, v.Send.Reference, "")
			return err
		}},
		{"Cancel", func(sc scope.Scope, v send.View) error {
			_, err := o.sends.Cancel(ctx, sc, v.Send.Reference)
			return err
		}},
		{"Retry", func(sc scope.Scope, v send.View) error {
			_, err := a.Retry(ctx, sc, v.Send.Reference, send.Proof{Password: password})
			return err
		}},
		{"StartSigning", func(sc scope.Scope, v send.View) error {
			_, err := a.StartSigning(ctx, sc, v.Send.Reference)
			return err
		}},
		{"AdvanceClock", func(sc scope.Scope, v send.View) error {
			return o.sends.AdvanceClock(ctx, sc, v.Send.Reference, time.Hour)
		}},
		{"Find", func(sc scope.Scope, v send.View) error {
			_, err := o.sends.Find(ctx, sc,
				v.Send.Reference)
			return err
		}},
		{"Timeline", func(sc scope.Scope, v send.View) error {
			_, err := o.sends.Timeline(ctx, sc, v.Send.Reference)
			return err
		}},
		{"List", func(sc scope.Scope, _ send.View) error {
			_, _, err := o.sends.List(ctx, sc,
				send.Filter{})
			return err
		}},
		{"Totals", func(sc scope.Scope, _ send.View) error { _, err := o.sends.Totals(ctx, sc, o.clock.Now()); return err }},
		{"NameActors", func(sc scope.Scope, _ send.View) error {
			_, err := o.sends.NameActors(ctx, sc,
				nil)
			return err
		}},
		{"ReadRules", func(sc scope.Scope, _ send.View) error { _, _, err := o.sends.Rules.ReadRules(ctx, sc); return err }},
		{"SetRules", func(sc scope.Scope, _ send.View) error {
			return o.sends.Rules.SetRules(ctx, sc, rules.Rules{}, send.Proof{Password: password})
		}},
		{"Ask", func(sc scope.Scope, _ send.View) error { _, err := o.sends.Ask(ctx, sc, send.Request{}); return err }},
		{"FindRefundable", func(sc scope.Scope, _ send.View) error {
			_, err := o.sends.FindRefundable(ctx, sc, "PAY_1", 0)
			return err
		}},
	}
}

// TestRolesBarActs checks what each role may not do, and that nothing is done for a wrong password.
func TestRolesBarActs(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	v := o.ready("0.001")
	o.set(v, map[string]any{"domain": "live"})
	live, developer := o.owner, o.hire("ada@books.example", scope.Developer)
	live.Domain = scope.Live
	liveDeveloper, liveKey := live, live
	liveDeveloper.Role, liveKey.Role = scope.Developer, scope.API
	for _, c := range []struct {
		who     string
		sc      scope.Scope
		refused string // the acts that the role may not do
	}{
		{"a developer in the test domain", developer, "Approve Reject Retry SetRules"},
		{"a developer in the live domain", liveDeveloper, "Approve ApproveInSandbox Reject Cancel Retry StartSigning " +
			"AdvanceClock Find Timeline List Totals NameActors ReadRules SetRules Ask FindRefundable"},
		{"a key in the live domain", liveKey,
			"Approve ApproveInSandbox Reject Retry StartSigning AdvanceClock SetRules"},
		{"the owner in the live domain", live, "ApproveInSandbox AdvanceClock"},
	} {
		var refused []string
		for _, a := range o.listActs() {
			var f *fault.Fault
			if errors.As(a.do(c.sc, v), &f) && (f.Code == "role_not_allowed" || f.Code == "test_domain_only") {
				refused = append(refused, a.name)
			}
		}
		if got := strings.Join(refused, " "); got != c.refused {
			t.Errorf("%s is refused %q, want %q", c.who, got, c.refused)
		}
	}
	for _, proof := range []struct {
		name string
		do   func(p send.Proof) error
	}{
		{"Retry", func(p send.Proof) error {
			_, err := o.sends.Approvals.Retry(t.Context(), o.owner, v.Send.Reference, p)
			return err
		}},
		{"SetRules", func(p send.Proof) error {
			return o.sends.Rules.SetRules(t.Context(), o.owner, rules.Rules{},
				p)
		}},
	} {
		o.clock.Advance(time.Hour)
		o.expectFault(proof.name+" with a wrong password", proof.do(send.Proof{Password: "wrong"}), "validation_failed")
	}
}

// TestStatesBarActs checks what can't be done with a send in each state.
func TestStatesBarActs(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	o.sends.Users = trusting{o.sends.Users}
	v := o.ready("0.001")
	approved := o.find(v).Send
	for _, c := range []struct {
		state   send.State
		refused string
	}{
		{send.AwaitingDestination, "Approve ApproveInSandbox Retry StartSigning"},
		{send.AwaitingApproval, "Retry StartSigning"},
		{send.Ready, "Approve ApproveInSandbox Reject Retry"},
		{send.Processing, "Approve ApproveInSandbox Reject Cancel Retry StartSigning"},
		{send.Successful, "Approve ApproveInSandbox Reject Cancel Retry StartSigning"},
		{send.Failed, "Approve ApproveInSandbox Reject StartSigning"},
		{send.Cancelled, "Approve ApproveInSandbox Reject Cancel Retry StartSigning"},
	} {
		var refused []string
		for _, a := range o.listActs()[:6] {
			row := approved
			row.Status = string(c.state)
			o.must(o.db.Exec(t.Context()).Save(&row).Error)
			for _, table := range []any{&models.SendApproval{}, &models.SendStep{}} {
				o.must(o.db.Exec(t.Context()).Where("1 = 1").Delete(table).Error)
			}
			if err := a.do(o.owner, v); fault.KindOf(err) == fault.Conflict {
				refused = append(refused, a.name)
			} else if err != nil {
				t.Errorf("%s of a send that is %s: %v, want no error or a conflict", a.name, c.state, err)
			}
		}
		if got := strings.Join(refused, " "); got != c.refused {
			t.Errorf("a send that is %s is refused %q, want %q", c.state, got, c.refused)
		}
	}
	for _, missing := range o.listActs()[:9] {
		v.Send.Reference = "SND_MISSING"
		o.expectFault(missing.name+" of a send that isn't there", missing.do(o.owner, v), "not_found")
	}
}

// TestSignedOnce checks that a send is handed out as it was approved, and that only the first time is written down.
func TestSignedOnce(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	v := o.ready("0.001")
	sign := func(sc scope.Scope) error {
		_, err := o.sends.Approvals.StartSigning(t.Context(), sc, v.Send.Reference)
		return err
	}
	signed, err := o.sends.Approvals.StartSigning(t.Context(), o.key(), v.Send.Reference)
	o.must(err)
	first := o.find(v)
	if signed.Send.ID != v.Send.ID || signed.Send.SigningAt == nil {
		t.Errorf("send %d is handed out, begun at %v; want %d and a time", signed.Send.ID, signed.Send.SigningAt,
			v.Send.ID)
	}
	o.clock.Advance(time.Minute)
	o.must(sign(o.owner))
	if now := o.find(v); now.Send.Steps != first.Send.Steps || !now.Send.SigningAt.Equal(*first.Send.SigningAt) {
		t.Errorf("handed out again it has %d steps and began at %s, want %d and %s", now.Send.Steps, now.Send.SigningAt,
			first.Send.Steps, first.Send.SigningAt)
	}
	o.set(v, map[string]any{"amount": money.Units(100_001)})
	o.expectFault("a changed send", sign(o.owner), "send_changed")
	o.set(v, map[string]any{"status": "failed"})
	_, err = o.sends.Approvals.Retry(t.Context(), o.owner, v.Send.Reference, send.Proof{Password: password})
	o.expectFault("a changed send that failed", err, "send_changed")
}

// TestRetries checks what becomes of failed sends that are tried again, and who may do it.
func TestRetries(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	o.sends.Users = trusting{o.sends.Users}
	retry := func(sc scope.Scope, v send.View, reason string) (send.View, error) {
		o.set(v, map[string]any{"status": "failed", "reason": reason, "ended_at": o.clock.Now()})
		return o.sends.Approvals.Retry(t.Context(), sc, v.Send.Reference, send.Proof{})
	}
	v := o.ready("0.001")
	again, err := retry(o.owner, v, send.Replaced)
	o.must(err)
	if again.State() != send.Ready || again.Send.EndedAt != nil {
		t.Errorf("a replaced send is %s and ended at %v, want ready and not ended", again.State(), again.Send.EndedAt)
	}
	other := models.SendApproval{SendID: v.Send.ID + 1, Actor: o.owner.Actor, CreatedAt: o.clock.Now()}
	o.must(o.db.Exec(t.Context()).Create(&other).Error)
	again, err = retry(o.owner, v, send.Dropped)
	o.must(err)
	o.must(o.db.Exec(t.Context()).Take(&other).Error) // another send's approval
	if again.State() != send.AwaitingApproval || again.Send.Approvals != 1 || len(o.find(v).Approvals) != 0 ||
		again.Send.EndedAt != nil {
		t.Errorf("a dropped send of one approver is %s, needs %d approvals, has %d and ended at %v; want awaiting_approval, "+
			"1, none and no end", again.State(), again.Send.Approvals, len(o.find(v).Approvals), again.Send.EndedAt)
	}
	_, err = o.approve(o.owner, v)
	o.must(err)
	if now := o.find(v); now.State() != send.Ready || now.Send.Reason != send.SentAgain {
		t.Errorf("approved again it is %s (%s), want ready and the warning to stay", now.State(), now.Send.Reason)
	}
	admin, second := o.hire("ada@books.example", scope.Admin), o.hire("yaw@books.example", scope.Admin)
	_, err = retry(o.owner, v, send.Replaced)
	o.expectFault("the person who asked", err, "not_an_approver")
	again, err = retry(admin, v, send.Dropped)
	o.must(err)
	if again.Send.Approvals != 2 {
		t.Errorf("a dropped send of three approvers needs %d approvals, want 2", again.Send.Approvals)
	}
	_, err = o.approve(admin, v)
	o.must(err)
	if now := o.find(v); now.State() != send.AwaitingApproval || now.Send.Reason != send.SentAgain {
		t.Errorf("after one approval it is %s (%s), want the warning to stay", now.State(), now.Send.Reason)
	}
	_, err = o.sends.Cancel(t.Context(), admin, v.Send.Reference)
	o.expectFault("withdraw", err, "may_confirm")
	_, err = o.approve(second, v)
	o.must(err)
	o.expectState(v, send.Ready)
	o.set(v, map[string]any{"status": "ready", "reason": send.Dropped})
	_, err = o.sends.Cancel(t.Context(), admin, v.Send.Reference) // it didn't fail
	o.must(err)
}

// TestEndsHaveNotes checks that a rejection keeps its note, which is checked.
func TestEndsHaveNotes(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	o.payout(o.owner, "0.001")
	v := o.payout(o.owner, "0.001")
	_, err := o.sends.Approvals.Reject(t.Context(), o.owner, v.Send.Reference, "a\nb")
	o.expectFault("a note of several lines", err, "validation_failed")
	_, err = o.sends.Approvals.Reject(t.Context(), o.owner, v.Send.Reference, "not ours")
	o.must(err)
	steps, err := o.sends.Timeline(t.Context(), o.owner, v.Send.BusinessReference)
	o.must(err)
	if len(steps) != 2 {
		t.Errorf("the timeline has %d rows, want 2", len(steps))
	}
	if steps[0].Detail != "{}" {
		t.Errorf("the first row of the timeline has the detail %q, want {}", steps[0].Detail)
	}
	last := steps[len(steps)-1]
	if last.Reason != send.NotAgreed || last.Actor != o.owner.Actor || !strings.Contains(last.Detail,
		`"note":"not ours"`) {
		t.Errorf("the last row of the timeline is %+v, want the rejection with its note", last)
	}
	_, err = o.sends.Cancel(t.Context(), o.owner, v.Send.Reference)
	if o.expectFault("withdraw a rejected send", err, "send_not_open"); !strings.Contains(fmt.Sprint(err),
		"is rejected, so it "+
			"can't be withdrawn any more") {
		t.Errorf("the refusal says %q, want the state", err)
	}
}

// TestChangesAreTold checks that workers and open pages hear of what changed, and of nothing else.
func TestChangesAreTold(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	o.sends.Users = trusting{o.sends.Users}
	told := 0
	o.sends.Changed = func() { told++ }
	v, other := o.payout(o.owner, "0.001"), o.payout(o.owner, "0.001")
	if told != 2 {
		t.Errorf("others were told %d times of two payouts, want twice", told)
	}
	acts := o.listActs()
	for i, c := range []struct {
		act  act
		v    send.View
		told bool
	}{{acts[0], v, true}, {acts[0], v, false}, {acts[1], other, true}, {acts[3], v, true}, {acts[3], v, false},
		{acts[4], v, false}} {
		told = 0
		if err := c.act.do(o.owner, c.v); (err == nil) != c.told || (told == 1) != c.told {
			t.Errorf("%d: %s: %v, and others were told %d times; want once: %t", i, c.act.name, err, told, c.told)
		}
	}
	told = 0
	o.set(other, map[string]any{"status": "failed", "reason": send.Replaced})
	o.must(acts[4].do(o.owner, other))
	if told != 1 {
		t.Errorf("others were told %d times of a retry, want once", told)
	}
	_, err := o.sends.Ask(t.Context(), o.owner, send.Request{Kind: send.Payout, Method: string(money.CryptoBitcoin),
		Amount: "0.00000001", Address: recipient})
	o.expectFault("a payout of dust", err, "validation_failed")
	if told != 1 {
		t.Errorf("others were told of a refused payout")
	}
}

// TestTodaysPriceIsOfTheApproval checks that an amount in fiat is converted when the send is approved, capped by what
// is left.
func TestTodaysPriceIsOfTheApproval(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	o.sends.Quotes = steady{}
	p := o.paid(money.CryptoBitcoin)
	o.must(o.db.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", p.ID).
		Updates(map[string]any{"due": "100000", "paid": "100000"}).Error)
	for _, c := range []struct {
		fiat, want string
		paid       int64
	}{{"40", "40000 4000", 100_000}, {"80", "80000 8000", 100_000}, {"80", "70000 7000", 70_000}} {
		o.sends.Quotes = steady{}
		o.must(o.db.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", p.ID).Update("paid", "100000").Error)
		v := o.ask(send.Request{Kind: send.Refund, Payment: p.Reference, FiatAmount: c.fiat, Rate: send.RateToday,
			Address: recipient})
		o.sends.Quotes = dearer{}
		o.must(o.db.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", p.ID).
			Update("paid", money.Units(c.paid)).Error)
		if c.paid < 100_000 {
			_, err := o.approve(o.owner, v)
			o.expectFault("money that is gone", err, "nothing_to_refund")
			o.evaluate(v)
			continue
		}
		approved, err := o.approve(o.owner, v)
		o.must(err)
		if n := len(o.find(v).Approvals); n != 1 {
			t.Errorf("of a converted send %d approvals hold, want 1", n)
		}
		if got := fmt.Sprint(approved.Send.Amount, " ", approved.Send.Value); got != c.want {
			t.Errorf("%s USD are %q when they are approved, want %q", c.fiat, got, c.want)
		}
		if wait := approved.Send.ExpiresAt.Sub(o.clock.Now()); wait != send.WaitForFiat {
			t.Errorf("a wallet has %s to sign it, want %s", wait, send.WaitForFiat)
		}
		_, err = o.sends.Cancel(t.Context(), o.owner, v.Send.Reference)
		o.must(err)
	}
	if v := o.ready("0.001"); v.Send.ExpiresAt.Sub(o.clock.Now()) != send.WaitForWallet {
		t.Errorf("a wallet has until %s to sign an amount of a coin, want %s", v.Send.ExpiresAt, send.WaitForWallet)
	}
}

// dearer is a market in which a bitcoin costs 100,000 USD.
type dearer struct{}

func (dearer) Quote(_ context.Context, _ scope.Scope, coin money.Coin, currency money.Currency) (quote.Quote, error) {
	return quote.Quote{Coin: coin, Currency: currency, Price: decimal.NewFromInt(100_000)}, nil
}

// closed is a market without prices.
type closed struct{}

var errClosed = errors.New("no prices")

func (closed) Quote(context.Context, scope.Scope, money.Coin, money.Currency) (quote.Quote, error) {
	return quote.Quote{}, errClosed
}

// TestSendsNeedPrices checks that without a price no send is asked for, approved or made ready.
func TestSendsNeedPrices(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	v := o.payout(o.owner, "0.001")
	o.sends.Quotes = closed{}
	_, err := o.sends.Ask(t.Context(), o.owner, send.Request{Kind: send.Payout, Method: string(money.CryptoBitcoin),
		Amount: "0.001", Address: recipient})
	_, approved := o.approve(o.owner, v)
	for what, err := range map[string]error{"asked for": err, "approved": approved,
		"evaluated": o.sends.Evaluator.Evaluate(t.Context(), v.Send.ID)} {
		if !errors.Is(err, errClosed) {
			t.Errorf("%s without prices: %v, want the market's error", what, err)
		}
	}
	o.expectState(v, send.AwaitingApproval)
}

// TestSweepsEvaluateWhatIsDue checks which sends a sweep evaluates, and that one that fails is tried again.
func TestSweepsEvaluateWhatIsDue(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	network := string(chain.Sandbox(money.Bitcoin))
	told := 0
	o.sends.Changed = func() { told++ }
	expired, later, broken := o.ready("0.001"), o.ready("0.001"), o.ready("0.001")
	now := o.clock.Now()
	o.set(expired, map[string]any{"expires_at": now, "due_at": now})
	o.set(later, map[string]any{"expires_at": now, "due_at": now.Add(time.Microsecond)})
	o.set(broken, map[string]any{"due_at": now, "business_id": 999})
	told = 0
	n, err := o.sends.Evaluator.Sweep(t.Context())
	if n != 2 || err == nil || told != 1 {
		t.Errorf("the sweep read %d sends, failed with %v and told of it %d times; want 2, an error, and once", n, err,
			told)
	}
	o.expectState(expired, send.Expired)
	o.expectState(later, send.Ready)
	if ended, waits := o.find(expired).Send.DueAt, o.find(later).Send.DueAt; ended != nil ||
		!waits.Equal(now.Add(time.Microsecond)) {
		t.Errorf("the expired send is due at %v and the later one at %s, want never and as before", ended, waits)
	}
	var row models.Send
	o.must(o.db.Read(t.Context()).Where("id = ?", broken.Send.ID).Take(&row).Error)
	if row.DueAt == nil || !row.DueAt.Equal(now.Add(30*time.Second)) {
		t.Errorf("the send that fails is due again at %v, want in 30 s", row.DueAt)
	}
	if n, err := o.sends.Evaluator.Sweep(t.Context()); n != 0 || err != nil || told != 1 {
		t.Errorf("with nothing due a sweep read %d sends (%v) and told of it %d times, want none, and not", n, err,
			told-1)
	}
	o.set(broken, map[string]any{"business_id": o.owner.BusinessID})
	due, higher, elsewhere, touched := o.ready("0.001"), o.ready("0.001"), o.ready("0.001"), o.ready("0.001")
	for v, columns := range map[*send.View]map[string]any{&due: {"due_height": 7}, &higher: {"due_height": 8},
		&elsewhere: {"due_height": 7, "network": "other"}, &touched: {}} {
		columns["expires_at"] = now
		o.set(*v, columns)
	}
	o.must(o.sends.Evaluator.EvaluateDue(t.Context(), network, 7, []int64{touched.Send.ID}))
	for v, want := range map[*send.View]send.State{&due: send.Expired, &higher: send.Ready, &elsewhere: send.Ready,
		&touched: send.Expired} {
		o.expectState(*v, want)
	}
	o.must(o.db.Write(t.Context(), func(tx *models.Tx) error { return send.MarkDue(tx, []int64{higher.Send.ID}, now) }))
	if at := o.find(higher).Send.DueAt; at == nil || !at.Equal(now) || o.find(elsewhere).Send.DueAt.Equal(now) {
		t.Errorf("the send that is marked is due at %v, want %s and no other", at, now)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := o.sends.Evaluator.EvaluateDue(ended, network, 7, []int64{touched.Send.ID}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("after the end of the program it is %v, want that it was stopped", err)
	}
	if err := o.sends.Evaluator.RunSweeps(ended, time.Hour); err != nil {
		t.Errorf("after the end of the program sweeps return %v, want nothing", err)
	}
}

// TestSendsThatWaitAreLookedAtAgain checks when a send is evaluated that can't be made ready yet.
func TestSendsThatWaitAreLookedAtAgain(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	o.sends.Quotes = steady{}
	p := o.paid(money.CryptoBitcoin)
	v := o.ask(send.Request{Kind: send.Refund, Payment: p.Reference, Amount: "0.0001", Address: recipient})
	o.setRules(rules.Rules{OneFrom: 1_000_00, DayLimit: 1})
	v.Send.Approvals = 0
	o.set(v, map[string]any{"approvals": 0, "request_seal": seal.SealRequest(o.sends.Secrets, v.Send), "due_at": o.clock.Now()})
	v = o.evaluate(v)
	if v.State() != send.AwaitingApproval || v.Send.DueAt == nil ||
		!v.Send.DueAt.Equal(o.clock.Now().Add(30*time.Second)) {
		t.Errorf("above the limit of a day it is %s and due at %v, want that it waits 30 s", v.State(), v.Send.DueAt)
	}
	o.must(o.db.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", p.ID).Update("reversed", true).Error)
	if v = o.evaluate(v); v.State() != send.AwaitingApproval || v.Send.DueAt != nil {
		t.Errorf("without money it is %s and due at %v, want that it waits for a person", v.State(), v.Send.DueAt)
	}
	o.must(o.db.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", p.ID).Update("reversed", false).Error)
	o.setRules(rules.Rules{OneFrom: 1})
	if v = o.evaluate(v); v.State() != send.AwaitingApproval || v.Send.Approvals != 1 || v.Send.DueAt != nil {
		t.Errorf("under stricter rules it is %s, needs %d approvals and is due at %v; want that it waits for one",
			v.State(),
			v.Send.Approvals, v.Send.DueAt)
	}
}

// TestForgottenTransfersAreErrors checks that a send of a transfer which isn't there any more can't be evaluated.
func TestForgottenTransfersAreErrors(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	stray := o.stray("stray", nil, money.Units(9_000))
	v := o.ask(send.Request{Kind: send.Refund, TransferID: stray.ID, Address: recipient})
	o.set(v, map[string]any{"approvals": 0})
	o.setRules(rules.Rules{OneFrom: 1_000_00})
	o.must(o.db.Exec(t.Context()).Delete(&stray).Error)
	o.expectFault("a send of a forgotten transfer", o.sends.Evaluator.Evaluate(t.Context(), v.Send.ID), "not_found")
}

// logCounter counts what is logged, and ends a run.
type logCounter struct {
	slog.Handler
	count int
	end   func()
}

func (l *logCounter) Handle(context.Context, slog.Record) error {
	l.count++
	l.end()
	return nil
}

// TestFailedSweepsAreLogged checks that sweeps go on until the end of the program, and that their errors are logged
// before it.
func TestFailedSweepsAreLogged(t *testing.T) {
	o := newQuickOffice(t, scope.Test)
	v := o.ready("0.001")
	before := slog.Default()
	defer slog.SetDefault(before)
	ctx, end := context.WithCancel(t.Context())
	logged := &logCounter{before.Handler(), 0, func() { end() }}
	slog.SetDefault(slog.New(logged))
	sweeps := 0
	o.sends.Clock = func() time.Time {
		if sweeps++; sweeps == 3 {
			end()
		}
		return o.clock.Now()
	}
	o.must(o.sends.Evaluator.RunSweeps(ctx, time.Millisecond))
	if sweeps < 3 || logged.count != 0 {
		t.Errorf("after %d sweeps %d errors were logged, want 3 and none", sweeps, logged.count)
	}
	o.must(o.sends.Evaluator.RunSweeps(ctx, time.Millisecond))
	if logged.count != 0 {
		t.Errorf("after the end %d errors were logged, want none", logged.count)
	}
	o.set(v, map[string]any{"due_at": o.clock.Now(), "business_id": 999})
	ctx, end = context.WithCancel(t.Context())
	defer end()
	o.must(o.sends.Evaluator.RunSweeps(ctx, time.Hour))
	if logged.count != 1 {
		t.Errorf("of a sweep that failed %d errors were logged, want 1", logged.count)
	}
}

// TestClockOfASendMovesAhead checks the clock of a send of the test domain and its deadlines.
func TestClockOfASendMovesAhead(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	ready, asked := o.ready("0.001"), o.payout(o.owner, "0.001")
	for _, v := range []send.View{ready, asked} {
		o.must(o.sends.AdvanceClock(t.Context(), o.owner, v.Send.Reference, time.Hour))
		now := o.find(v)
		if !now.Now.Equal(o.clock.Now().Add(time.Hour)) || (now.Send.DueAt == nil) != (v.Send.DueAt == nil) {
			t.Errorf("the clock of a send that is %s shows %s and it is due at %v, want an hour more", v.State(),
				now.Now,
				now.Send.DueAt)
		}
	}
	if due := o.find(ready).Send.DueAt; !due.Equal(o.clock.Now()) {
		t.Errorf("the ready send is due at %s, want now", due)
	}
	o.evaluate(ready)
	if due, want := o.find(ready).Send.DueAt, o.find(ready).Send.ExpiresAt.Add(-time.Hour); !due.Equal(want) {
		t.Errorf("its deadline is due at %s of the wall clock, want %s", due, want)
	}
}

// TestRestoredSequencesGoOn checks that events go on above what may have been sent before a backup was restored.
func TestRestoredSequencesGoOn(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	o.sends.Restored = models.Restored{Sequence: 1_000}
	v := o.ready("0.001")
	o.reach(v.Send.Network, 10)
	row := o.pay(v, "aa", 8)
	o.evaluate(v)
	o.sends.Restored = models.Restored{}
	var numbers []int
	o.must(o.db.Read(t.Context()).Model(&models.Event{}).Where("send_id = ?", v.Send.ID).Order("sequence").
		Pluck("sequence", &numbers).Error)
	if want := []int{1_001, 1_002, 1_003}; !slices.Equal(numbers, want) {
		t.Errorf("the events of %s are numbered %v, want %v", row.TxID, numbers, want)
	}
}
