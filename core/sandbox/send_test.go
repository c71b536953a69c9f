package sandbox_test

import (
	"strings"
	"testing"
	"time"

	"cointill/core/fault"
	"cointill/core/journal/journaltest"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/books"
	"cointill/core/payment/refund"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/internal/testing/speed"
	"cointill/models"
	"cointill/models/modelstest"
)

// somewhere is an address of a coin that belongs to no payment.
var somewhere = map[money.Coin]string{
	money.BTC: "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080", money.DOGE: "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn",
	money.ETH: "0x52908400098527886E0F7030069857D2E4169EE7", money.USDT: "0x52908400098527886E0F7030069857D2E4169EE7",
	money.XRP: "rrrrrrrrrrrrrrrrrrrrBZbvji",
}

// refund asks for a refund of all of a payment that was paid exactly, and approves it.
func (b *bench) refund(coin money.Coin, amount int64) (reference string) {
	b.Helper()
	paid := b.initiateFor(coin, amount)
	b.simulate(paid, sandbox.Exact)
	b.passUntil(func() bool { return b.view(paid).State() == payment.Successful })
	asked, err := b.sends.Ask(b.Context(), b.scope, send.Request{Kind: send.Refund, Payment: paid,
		Address: somewhere[coin]})
	b.must(err)
	_, err = b.sandbox.ApproveSend(b.Context(), b.scope, asked.Send.Reference)
	b.must(err)
	return asked.Send.Reference
}

// passUntil lets time pass until something is so, at most for two minutes.
func (b *bench) passUntil(done func() bool) {
	b.Helper()
	for range 240 {
		if done() {
			return
		}
		b.clock.Advance(500 * time.Millisecond)
		b.look()
	}
	b.Fatal("two minutes passed, and the test still waits")
}

// sendPath is the states that a send went through.
func (b *bench) sendPath(reference string) string {
	b.Helper()
	steps, err := b.sends.Timeline(b.Context(), b.scope, reference)
	b.must(err)
	var path []string
	for _, step := range steps {
		if n := len(path); n == 0 || path[n-1] != step.To {
			path = append(path, step.To)
		}
	}
	return strings.Join(path, " ")
}

// sendEvents lists the types of a send's events in their order.
func (b *bench) sendEvents(v send.View) string {
	b.Helper()
	var types []string
	b.must(b.db.Read(b.Context()).Model(&models.Event{}).Where("send_id = ?", v.Send.ID).Order("sequence").
		Pluck("type", &types).Error)
	return strings.Join(types, " ")
}

// TestScenarioPaysTheSendThatItIsOf: two open sends of the same amount to the same address are each paid by the
// scenario that is played with it, the newer one first, and a scenario that pays one twice pays no other.
func TestScenarioPaysTheSendThatItIsOf(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := newBench(t, db)
		var references []string
		for range 3 {
			asked, err := b.sends.Ask(b.Context(), b.scope, send.Request{Kind: send.Payout, Method: string(money.CryptoTether),
				Amount: "5", Address: somewhere[money.USDT]})
			b.must(err)
			_, err = b.sandbox.ApproveSend(b.Context(), b.scope, asked.Send.Reference)
			b.must(err)
			references = append(references, asked.Send.Reference)
		}
		state := func(i int) string {
			v, err := b.sends.Find(b.Context(), b.scope, references[i])
			b.must(err)
			return v.Send.Status + " " + v.Send.Reason
		}
		expect := func(scenario string, want ...string) {
			b.Helper()
			for i, one := range want {
				if got := state(i); got != one {
					b.Errorf("after %s of another send, send %d is %q, want %q", scenario, i+1, got, one)
				}
			}
		}
		_, err := b.sandbox.SimulateSend(b.Context(), b.scope, references[2], sandbox.PaidTwice)
		b.must(err)
		b.passUntil(func() bool { return state(2) == "successful paid_twice" })
		expect(sandbox.PaidTwice, "ready ", "ready ")
		_, err = b.sandbox.SimulateSend(b.Context(), b.scope, references[1], sandbox.Exact)
		b.must(err)
		b.passUntil(func() bool { return state(1) == "successful " })
		expect(sandbox.Exact, "ready ")
	})
}

// TestSendScenarios plays every scenario of every coin and checks the states, the events, the
// payment's record and the books at the end.
func TestSendScenarios(t *testing.T) {
	const begun = "awaiting_approval ready processing"
	want := map[string]struct{ path, events, reason string }{
		sandbox.Exact:       {begun + " successful", "send.processing send.processed send.successful", ""},
		sandbox.WrongAmount: {"awaiting_approval ready", "", ""},
		sandbox.Replaced:    {begun + " failed", "send.processing send.failed", send.Replaced},
		sandbox.Reorg:       {begun + " successful", "send.processing send.processed send.successful", ""},
		sandbox.Dropped:     {begun + " failed", "send.processing send.failed", send.Dropped},
		sandbox.Reverted:    {begun + " failed", "send.processing send.failed", send.Reverted},
		sandbox.PaidTwice: {begun + " successful", "send.processing send.processed send.successful",
			send.PaidTwice},
	}
	modelstest.EachFull(t, func(t *testing.T, db *models.DB) {
		b, amount := newBench(t, db), int64(20) // the same for all, so that they fit each other's transactions
		for _, info := range money.Coins() {
			if speed.Pick(info.Coin == money.ETH || info.Coin == money.DOGE, false) {
				continue // much like USDT and BTC
			}
			for _, scenario := range sandbox.SendScenariosFor(info.Coin) {
				expected := want[scenario.Code]
				if info.Coin == money.XRP { // is seen in validated ledgers only, which are final
					expected.path = strings.Replace(expected.path, " processing", "", 1)
					if scenario.Code == sandbox.Reverted {
						expected.events = "send.failed"
					}
				}
				t.Run(string(info.Coin)+" "+scenario.Code, func(t *testing.T) {
					b.T = t
					reference := b.refund(info.Coin, amount)
					_, err := b.sandbox.SimulateSend(t.Context(), b.scope, reference, scenario.Code)
					b.must(err)
					var v send.View
					b.passUntil(func() bool {
						v, err = b.sends.Find(t.Context(), b.scope, reference)
						b.must(err)
						return string(v.State()) == expected.path[strings.LastIndex(expected.path, " ")+1:] &&
							v.Send.Reason == expected.reason
					})
					if path := b.sendPath(reference); path != expected.path {
						t.Errorf("the send went through %q, want %q", path, expected.path)
					}
					if events := b.sendEvents(v); events != expected.events {
						t.Errorf("it has the events %q, want %q", events, expected.events)
					}
					if v.Send.Reason != expected.reason {
						t.Errorf("its reason is %q, want %q", v.Send.Reason, expected.reason)
					}
					b.checkRefunded(v)
				})
			}
		}
	})
}

// checkRefunded checks what a send's payment and the books say about it.
func (b *bench) checkRefunded(v send.View) {
	b.Helper()
	paid := b.view(v.Payment)
	refunded := money.Amount{}
	if v.State() == send.Successful {
		refunded = paid.Payment.Paid
	}
	if paid.Refunded.Cmp(refunded) != 0 {
		b.Errorf("the payment says that %s is refunded, want %s", paid.Refunded, refunded)
	}
	if left, err := refund.CountLeft(b.db.Exec(b.Context()), paid.Payment); err != nil || left.Sign() != 0 {
		b.Errorf("%s is left to refund (%v), want nothing", left, err)
	}
	journaltest.Check(b, b.db)
}

// TestOpenRefundsBarOtherDecisions checks that money which a send refunds is not accepted, attached
// or recorded as refunded a second time, until the send is withdrawn.
func TestOpenRefundsBarOtherDecisions(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := newBench(t, db)
		owner := b.scope
		owner.Role = scope.Owner
		resolver := payment.NewResolver(b.payments)
		declined, surplus := b.initiateFor(money.DOGE, 31), b.initiateFor(money.DOGE, 32)
		b.simulate(declined, sandbox.Underpay)
		b.simulate(surplus, sandbox.Surplus)
		b.passUntil(func() bool {
			return b.view(declined).State() == payment.Declined && len(b.view(surplus).Surplus) > 0 &&
				b.view(surplus).State() == payment.Successful
		})
		stray := b.view(surplus).Surplus[0]
		part, err := b.sends.Ask(t.Context(), owner, send.Request{Kind: send.Refund, Payment: declined, Amount: "1",
			Address: somewhere[money.DOGE]})
		b.must(err)
		whole, err := b.sends.Ask(t.Context(), owner, send.Request{Kind: send.Refund, TransferID: stray.ID,
			Address: somewhere[money.DOGE]})
		b.must(err)
		all := money.DOGE.Format(b.view(declined).Payment.Paid)
		decisions := map[string]func() error{
			"accept": func() error { return resolver.Resolve(t.Context(), owner, declined) },
			"record a refund of all": func() error {
				_, err := resolver.RecordRefund(t.Context(), owner, declined, refund.Report{Amount: all,
					Note: "by hand"})
				return err
			},
			"mark the transfer as refunded": func() error {
				return resolver.MarkRefunded(t.Context(), owner, stray.ID, refund.Report{Note: "by hand"})
			},
			"attach the transfer": func() error {
				_, err := resolver.Attach(t.Context(), owner, stray.ID, declined)
				return err
			},
			"refund the transfer again": func() error {
				_, err := b.sends.Ask(t.Context(), owner, send.Request{Kind: send.Refund, TransferID: stray.ID,
					Address: somewhere[money.DOGE]})
				return err
			},
		}
		for what, decide := range decisions {
			if kind := fault.KindOf(decide()); kind != fault.Conflict && kind != fault.Invalid {
				t.Errorf("%s while a send refunds the money: a fault of kind %d, want a refusal", what, kind)
			}
		}
		for _, v := range []send.View{part, whole} {
			_, err := b.sends.Cancel(t.Context(), owner, v.Send.Reference)
			b.must(err)
		}
		b.must(decisions["attach the transfer"]())
		b.must(decisions["accept"]())
		journaltest.Check(t, b.db)
	})
}

// TestUnmatchedMoneyIsRefunded refunds a surplus: it leaves the list of unmatched transfers, and the
// books.
func TestUnmatchedMoneyIsRefunded(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := newBench(t, db)
		owner := b.scope
		owner.Role = scope.Owner
		paid := b.initiateFor(money.XRP, 33)
		b.simulate(paid, sandbox.Surplus)
		b.passUntil(func() bool { return len(b.view(paid).Surplus) > 0 && b.view(paid).State() == payment.Successful })
		stray := b.view(paid).Surplus[0]
		for _, part := range []string{money.XRP.Format(stray.Amount.MulDiv(40, 100)), ""} { // and all that is left
			v, err := b.sends.Ask(t.Context(), owner, send.Request{Kind: send.Refund, TransferID: stray.ID,
				Amount:  part,
				Address: somewhere[money.XRP]})
			b.must(err)
			_, err = b.sandbox.ApproveSend(t.Context(), b.scope, v.Send.Reference)
			b.must(err)
			signs(sandbox.Exact, send.Successful)(b, v.Send.Reference)
			b.must(books.PrepareBooks(t.Context(), b.db, b.clock.Now, func(int) {})) // as the next start does
			journaltest.Check(t, b.db)
		}
		open, _, err := payment.NewResolver(b.payments).Unmatched(t.Context(), owner,
			payment.UnmatchedFilter{Limit: 10})
		b.must(err)
		if len(open) != 0 || b.view(paid).SurplusSum.Sign() != 0 {
			t.Errorf("%d transfers are unmatched and %s is owed after the refund, want none", len(open),
				b.view(paid).SurplusSum)
		}
		if refunded := b.view(paid).Refunded; refunded.Sign() != 0 {
			t.Errorf("the payment's own money counts as refunded: %s", refunded)
		}
	})
}

// TestPartlyRefundedMoneyStaysUnmatched completes one of two refunds of a transfer and withdraws the
// other: what is left can be refunded again.
func TestPartlyRefundedMoneyStaysUnmatched(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := newBench(t, db)
		owner := b.scope
		owner.Role = scope.Owner
		paid := b.initiateFor(money.XRP, 34)
		b.simulate(paid, sandbox.Surplus)
		b.passUntil(func() bool { return len(b.view(paid).Surplus) > 0 && b.view(paid).State() == payment.Successful })
		stray := b.view(paid).Surplus[0]
		ask := func(amount string) string {
			v, err := b.sends.Ask(t.Context(), owner, send.Request{Kind: send.Refund, TransferID: stray.ID,
				Amount:  amount,
				Address: somewhere[money.XRP]})
			b.must(err)
			return v.Send.Reference
		}
		first, second := ask(money.XRP.Format(stray.Amount.MulDiv(40, 100))), ask("")
		_, err := b.sandbox.ApproveSend(t.Context(), b.scope, first)
		b.must(err)
		signs(sandbox.Exact, send.Successful)(b, first)
		_, err = b.sends.Cancel(t.Context(), owner, second)
		b.must(err)
		open, _, err := payment.NewResolver(b.payments).Unmatched(t.Context(), owner,
			payment.UnmatchedFilter{Limit: 10})
		b.must(err)
		if len(open) != 1 {
			t.Errorf("%d transfers are unmatched after a part was refunded, want 1", len(open))
		}
		ask("")
	})
}

// TestSignedTwiceIsOneTransaction checks that a scenario which is played again signs the same
// transaction.
func TestSignedTwiceIsOneTransaction(t *testing.T) {
	b := newBench(t, modelstest.Open(t, false, time.Now))
	reference := b.refund(money.BTC, 36)
	for range 2 {
		_, err := b.sandbox.SimulateSend(t.Context(), b.scope, reference, sandbox.Exact)
		b.must(err)
	}
	find := func() send.View {
		v, err := b.sends.Find(t.Context(), b.scope, reference)
		b.must(err)
		return v
	}
	b.passUntil(func() bool { return find().State() == send.Successful })
	if v := find(); v.Send.PaidTwice || len(v.Transfers) != 1 {
		t.Errorf("%d transactions pay the send, paid twice: %t; want one", len(v.Transfers), v.Send.PaidTwice)
	}
}
