package send_test

import (
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/destination"
	"cointill/core/send/match"
	"cointill/core/send/payer"
	"cointill/core/send/rules"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestFailedStatementsAreErrors checks that each operation returns the error of each of its statements.
func TestFailedStatementsAreErrors(t *testing.T) {
	o, ctx := newQuickOffice(t, scope.Test), t.Context()
	network := string(chain.Sandbox(money.Bitcoin))
	o.reach(network, 10)
	proof := send.Proof{}
	o.sends.Users = trusting{o.sends.Users}
	o.sends.Rules.Users = o.sends.Users
	approvals, claims, evaluator := o.sends.Approvals, o.sends.Claims, o.sends.Evaluator
	fails := func(name string, call func() error) {
		t.Helper()
		t.Run(name, func(t *testing.T) { modelstest.FailStatements(t, o.db, call) })
	}
	asks := func(r send.Request) func() error {
		return func() error { _, err := o.sends.Ask(ctx, o.owner, r); return err }
	}
	evaluates := func(v send.View) func() error {
		return func() error { return evaluator.Evaluate(ctx, v.Send.ID) }
	}
	p := o.paid(money.CryptoBitcoin)
	stray := o.stray("stray", &p, money.Units(9_000))
	unknown := o.stray("unknown", nil, money.Units(9_000))
	fails("Ask for a payout", asks(send.Request{Kind: send.Payout, Method: string(money.CryptoBitcoin),
		FiatAmount: "7000",
		Currency:   "NGN", Rate: send.RateToday, Address: recipient}))
	fails("Ask for a refund", asks(send.Request{Kind: send.Refund, Payment: p.Reference, Amount: "0.0001",
		Address: recipient}))
	fails("Ask the customer", asks(send.Request{Kind: send.Refund, Payment: p.Reference, Amount: "0.0001"}))
	fails("Ask for a transfer", asks(send.Request{Kind: send.Refund, TransferID: stray.ID, Amount: "0.00001",
		Address: recipient}))
	fails("Ask for a transfer of no payment", asks(send.Request{Kind: send.Refund, TransferID: unknown.ID,
		Amount: "0.00001", Address: recipient}))
	for name, find := range map[string]send.Request{"a payment": {Payment: p.Reference},
		"a transfer": {TransferID: stray.ID}} {
		fails("FindRefundable of "+name, func() error {
			_, err := o.sends.FindRefundable(ctx, o.owner, find.Payment, find.TransferID)
			return err
		})
	}

	asked := o.ask(send.Request{Kind: send.Refund, Payment: p.Reference, Amount: "0.0001"})
	token := o.sends.ClaimURL(asked.Send)[len("http://localhost/refund/"):]
	fails("FindClaim", func() error { _, err := claims.FindClaim(ctx, token); return err })
	o.clock.Advance(time.Minute) // until another mail is allowed
	fails("NameAddress", func() error { _, err := claims.NameAddress(ctx, token, recipient, nil); return err })
	var letter models.Mail
	o.must(o.db.Read(ctx).Where("kind = 'send_confirm'").Take(&letter).Error)
	confirm := o.sends.Users.TicketToken(strings.TrimPrefix(letter.Text, "http://localhost/refund/confirm/"))
	fails("FindConfirmation", func() error { _, err := claims.FindConfirmation(ctx, confirm); return err })
	fails("ConfirmAddress", func() error { _, err := claims.ConfirmAddress(ctx, confirm); return err })

	named, err := o.sends.Find(ctx, o.owner, asked.Send.Reference)
	o.must(err)
	fails("Approve", func() error {
		_, err := approvals.Approve(ctx, o.owner, asked.Send.Reference, named.Version(), proof)
		return err
	})
	fails("StartSigning", func() error {
		_, err := approvals.StartSigning(ctx, o.owner,
			asked.Send.Reference)
		return err
	})
	fails("AdvanceClock", func() error { return o.sends.AdvanceClock(ctx, o.owner, asked.Send.Reference, time.Second) })
	seen := o.pay(asked, "pays", 0)
	fails("Evaluate a seen send", evaluates(asked))
	o.change(seen, map[string]any{"height": 8})
	o.reach(network, 20)
	fails("Evaluate a final send", evaluates(asked))
	again := o.pay(asked, "pays again", 9)
	fails("Evaluate one that is paid twice", evaluates(asked))
	fails("match.New", func() error {
		return o.db.Write(ctx, func(tx *models.Tx) error {
			moved := chain.Transfer{TxID: "other", Asset: "BTC", Destination: chain.Destination{Address: recipient},
				Amount: asked.Send.Amount,
				Spends: []string{payer.SandboxAccount(o.owner.BusinessID, "test") + ":1"}}
			m, err := match.New(tx, network, []chain.Transfer{moved})
			if err != nil {
				return err
			}
			_, err = m.Match(moved, 0)
			return err
		})
	})
	for _, row := range []models.Transfer{seen, again} {
		o.change(row, map[string]any{"gone": true, "gone_reason": "reorged", "gone_at": o.clock.Now()})
	}
	fails("Evaluate one that is reversed", evaluates(asked))

	for name, of := range map[string]*models.Payment{"stray": &p, "unknown": nil} {
		row := o.stray(name+" whole", of, money.Units(9_000))
		v := o.ask(send.Request{Kind: send.Refund, TransferID: row.ID, Address: recipient})
		_, err := o.approve(o.owner, v)
		o.must(err)
		o.pay(v, "pays "+name, 12)
		fails("Evaluate a refund of "+name, evaluates(v))
	}

	failed := o.ready("0.001")
	lost := o.pay(failed, "lost", 0)
	o.evaluate(failed)
	o.change(lost, map[string]any{"gone": true, "gone_reason": "dropped", "gone_at": o.clock.Now().Add(-7 * time.Hour)})
	fails("Evaluate a failed send", evaluates(failed))
	fails("Retry a dropped send", func() error {
		_, err := approvals.Retry(ctx, o.owner, failed.Send.Reference,
			proof)
		return err
	})
	o.set(failed, map[string]any{"status": "failed", "reason": send.Replaced})
	fails("Retry", func() error { _, err := approvals.Retry(ctx, o.owner, failed.Send.Reference, proof); return err })
	rejected, cancelled, waits := o.payout(o.owner, "0.001"), o.payout(o.owner, "0.001"), o.payout(o.owner, "0.001")
	fails("Reject", func() error {
		_, err := approvals.Reject(ctx, o.owner, rejected.Send.Reference,
			"no")
		return err
	})
	fails("Cancel", func() error { _, err := o.sends.Cancel(ctx, o.owner, cancelled.Send.Reference); return err })
	o.pay(cancelled, "anyway", 0)
	fails("Evaluate one that was sent anyway", evaluates(cancelled))

	fails("SetRules", func() error {
		return o.sends.Rules.SetRules(ctx, o.owner, rules.Rules{OneFrom: 1_000_000_00, DayLimit: 1_000_000_00}, proof)
	})
	fails("ReadRules", func() error { _, _, err := o.sends.Rules.ReadRules(ctx, o.owner); return err })
	fails("MayApprove", func() error { _, err := approvals.MayApprove(ctx, o.owner, waits); return err })
	o.set(waits, map[string]any{"approvals": 0, "due_at": o.clock.Now()})
	fails("Evaluate one that waits", evaluates(waits))
	fails("Ask for a payout without approvals", asks(send.Request{Kind: send.Payout, Address: recipient,
		Method: string(money.CryptoBitcoin), Amount: "0.001"}))
	o.set(waits, map[string]any{"due_at": o.clock.Now(), "due_height": 3})
	fails("EvaluateDue", func() error { return evaluator.EvaluateDue(ctx, network, 3, nil) })
	in := newQuickOffice(t, scope.Live)
	in.setRules(rules.Rules{OneFrom: 1_000_000_00, DayLimit: 1_000_000_00})
	t.Run("Ask for a payout to a new address", func(t *testing.T) {
		modelstest.FailStatements(t, in.db, func() error {
			_, err := in.sends.Ask(ctx, in.owner, send.Request{Kind: send.Payout, Address: recipient,
				Method: string(money.CryptoBitcoin), Amount: "0.001"})
			return err
		})
	})
	t.Run("Evaluate one whose address waits", func(t *testing.T) {
		modelstest.FailStatements(t, in.db, func() error { return in.sends.Evaluator.Evaluate(ctx, 1) })
	})
	fails("List", func() error {
		_, _, err := o.sends.List(ctx, o.owner,
			send.Filter{Payment: p.Reference})
		return err
	})
	fails("Timeline", func() error { _, err := o.sends.Timeline(ctx, o.owner, asked.Send.Reference); return err })
	fails("Totals", func() error { _, err := o.sends.Totals(ctx, o.owner, o.clock.Now()); return err })
	fails("NameActors", func() error {
		_, err := o.sends.NameActors(ctx, o.owner, []string{o.owner.Actor,
			"key:1"})
		return err
	})
	fails("ListAddresses", func() error { _, err := destination.ListAddresses(ctx, o.db, network, 0, 9); return err })
	fails("MarkDue", func() error { return send.MarkDue(o.db.Exec(ctx), []int64{waits.Send.ID}, o.clock.Now()) })
}
