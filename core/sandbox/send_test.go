package sandbox_test

import (
	"strings"
	"testing"
	"time"

	"cointill/core/journal/journaltest"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/sandbox"
	"cointill/core/send"
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
		b.pass(500 * time.Millisecond)
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
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b, amount := newBench(t, db), int64(20)
		for _, info := range money.Coins() {
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
					amount++ // so that no other send fits its transaction
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
	if left, err := payment.RefundableOf(b.db.Exec(b.Context()), paid.Payment); err != nil || left.Sign() != 0 {
		b.Errorf("%s is left to refund (%v), want nothing", left, err)
	}
	journaltest.Check(b, b.db)
}
