package payments

import (
	"context"
	"slices"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/place"
	"cointill/core/payment/timeline"
	"cointill/models"
	"cointill/views/ui"
	"cointill/views/words"
)

// listSteps returns the steps of a payment as pages show them.
func listSteps(ctx context.Context, v payment.View, steps []models.Step, zone *time.Location) (list []ui.Step) {
	for _, s := range steps {
		facts := timeline.ReadFacts(s)
		shown := ui.Step{At: s.At.In(zone), Title: stepTitle(ctx, s), Tone: ui.Mute}
		if s.Remark != "-" {
			shown.Text = translateRemark(ctx, s.Remark, func() string { return stepText(ctx, v, s, facts) })
		}
		if facts.Hash != "" {
			shown.Mono, shown.MonoLabel = facts.Hash, words.T(ctx, "payment.transaction_hash")
		}
		switch facts.Act {
		case timeline.Refunded:
			shown.Title, shown.Icon = words.T(ctx, "payment.step_refund"), "back"
		case timeline.Attached:
			shown.Title, shown.Icon = words.T(ctx, "payment.step_attached"), "links"
		}
		switch {
		case isReversal(s):
			shown.Tone = ui.Bad
		case s.Kind == payment.StepState:
			shown.Tone = ui.StateTone(s.To)
		case s.Kind == payment.StepTransfer && s.Reason != "":
			shown.Tone = ui.Warn
		case s.Kind == payment.StepTransfer:
			shown.Tone = ui.Info
		}
		list = append(list, shown)
	}
	return list
}

// translateRemark returns a stored remark to readers of English, as the API does, and the same in words of the
// catalogue to others.
func translateRemark(ctx context.Context, remark string, translated func() string) string {
	if words.LanguageOf(ctx) == words.Languages[0] {
		return remark
	}
	return translated()
}

// stepText says in the reader's language what a step's remark says in English, from the facts of the
// step. It is the remark where a step lacks them, as steps of earlier releases do.
func stepText(ctx context.Context, v payment.View, s models.Step, facts timeline.Facts) string {
	switch {
	case s.Kind == payment.StepTransfer && facts.Amount != nil:
		return sightingText(ctx, s, facts)
	case s.Kind == payment.StepNote:
		return actText(ctx, s, facts)
	case s.Kind != payment.StepState:
		return s.Remark
	case s.From == s.To && !isReversal(s):
		return words.T(ctx, "payment.said_restored")
	}
	v.Payment.Status, v.Payment.Reason = s.To, s.Reason
	if facts.Paid == nil || facts.Due == nil {
		if differenceSaid(payment.Reason(s.Reason)) {
			return words.Remark(ctx, s.Reason, s.Remark)
		}
	} else {
		v.Payment.Paid, v.Payment.Due = *facts.Paid, *facts.Due
	}
	return outcomeText(ctx, v, s.Remark)
}

// sightings are the messages about transfers, by why they credit nothing.
var sightings = map[string]string{
	"": "payment.said_seen", payment.WrongAsset: "payment.said_wrong_asset", payment.AfterFinal: "payment.said_after_final",
	payment.Surplus: "payment.said_surplus", payment.NetworkOff: "payment.said_network_off",
	payment.AddressNotEntered: "payment.said_not_entered",
	payment.NotPayment:        "payment.said_not_payment", payment.NoTransaction: "payment.said_not_payment",
	payment.Unproved: "payment.said_unproved",
}

// sightingText says which transfer was seen.
func sightingText(ctx context.Context, s models.Step, facts timeline.Facts) string {
	id, known := sightings[s.Reason]
	network, via := "", ""
	switch s.Reason {
	case payment.NetworkOff, payment.AddressNotEntered:
		known, network = facts.Network != "", place.NameNetwork(money.Coin(facts.Asset), facts.Network)
	case payment.NotPayment, payment.NoTransaction, payment.Unproved:
		if known = facts.Via != nil; known {
			via = words.Via(ctx, *facts.Via)
		}
	}
	if !known {
		return s.Remark
	}
	return words.T(ctx, id, "Amount", timeline.FormatAmount(facts.Asset, *facts.Amount), "Network", network, "Via", via)
}

// acts are the messages about what people, customers and the sandbox did.
var acts = map[timeline.Act]string{timeline.Attached: "payment.said_attached",
	timeline.Refunded: "payment.said_refunded", timeline.Sent: "payment.said_sent",
	timeline.Closed: "payment.said_closed", timeline.Claimed: "payment.said_claimed",
	timeline.ClockMoved: "payment.said_clock_moved"}

// actText describes an act, with the note of its actor.
func actText(ctx context.Context, s models.Step, facts timeline.Facts) string {
	id, known := acts[facts.Act]
	amount := ""
	switch facts.Act {
	case timeline.Attached, timeline.Refunded, timeline.Sent:
		if known = facts.Amount != nil; known {
			amount = timeline.FormatAmount(facts.Asset, *facts.Amount)
		}
	}
	switch facts.Act {
	case timeline.Refunded, timeline.Closed:
		known = known && facts.Note != nil // steps of earlier releases hold it in their remark
	}
	if !known {
		return s.Remark
	}
	if facts.AnotherWay {
		id = "payment.said_sent_another_way"
	}
	text := words.T(ctx, id, "Amount", amount)
	if facts.Note != nil && *facts.Note != "" {
		text += " " + words.T(ctx, "payment.said_note", "Note", *facts.Note)
	}
	return text
}

// outcomes are the messages about a payment's state, by its reason.
var outcomes = map[payment.Reason]string{
	payment.Underpaid: "payment.said_underpaid", payment.Overpaid: "payment.said_overpaid", payment.Late: "payment.said_late",
	payment.AfterAbandoned: "payment.said_after_abandoned", payment.Replaced: "payment.said_replaced",
	payment.Reverted: "payment.said_reverted", payment.Dropped: "payment.said_dropped",
	payment.Reorged: "payment.said_reorged", payment.ReversedReason: "payment.said_reversed",
	payment.AcceptedByUser: "payment.said_accepted",
}

// differenceSaid reports whether the remark of a reason names the missing or the surplus amount.
func differenceSaid(reason payment.Reason) bool {
	return slices.Contains([]payment.Reason{payment.Underpaid, payment.Overpaid, payment.AfterAbandoned,
		payment.AcceptedByUser}, reason)
}

// outcomeText says why a payment is in its state, and the exact difference. It is the remark for
// a reason that has no message.
func outcomeText(ctx context.Context, v payment.View, remark string) string {
	reason := payment.Reason(v.Payment.Reason)
	id, known := outcomes[reason]
	if !known {
		return remark
	}
	difference := v.Payment.Paid.Sub(v.Payment.Due)
	short := reason == payment.Underpaid && difference.Sign() < 0
	switch {
	case reason == payment.Overpaid, short:
		return differenceText(ctx, id, v)
	case reason == payment.Underpaid:
		id = "payment.said_made_up"
	case reason == payment.Late && v.State() == payment.Successful:
		id = "payment.said_late_accepted"
	}
	text := words.T(ctx, id)
	switch {
	case !differenceSaid(reason) || difference.Sign() == 0:
		return text
	case difference.Sign() < 0:
		return text + " " + differenceText(ctx, "payment.said_underpaid", v)
	}
	return text + " " + differenceText(ctx, "payment.said_overpaid", v)
}

// differenceText says how much of a payment is missing or too much.
func differenceText(ctx context.Context, id string, v payment.View) string {
	p := v.Payment
	return words.T(ctx, id, "Amount", v.Coin().Format(p.Paid.Sub(p.Due).Abs())+" "+p.Coin,
		"Value", money.Currency(p.Currency).FormatForPeople(v.PaidFiat().Sub(v.Charged()).Abs()))
}

// isReversal reports whether the chain took back money that was final.
func isReversal(s models.Step) bool {
	return s.Kind == payment.StepState && s.From == s.To && s.Reason == string(payment.ReversedReason)
}

func stepTitle(ctx context.Context, s models.Step) string {
	switch {
	case s.Kind == payment.StepState && s.From == "":
		return words.T(ctx, "payment.step_initiated")
	case s.Kind == payment.StepState && s.To == string(payment.Initiated) && s.From == string(payment.Pending):
		return words.T(ctx, "payment.step_opened")
	case isReversal(s):
		return words.T(ctx, "payment.step_reversed")
	case s.Kind == payment.StepState && s.From == s.To:
		return words.T(ctx, "payment.step_restored")
	case s.Kind == payment.StepState:
		return ui.StateWord(ctx, s.To)
	case s.Kind == payment.StepTransfer:
		return words.T(ctx, "payment.step_transfer")
	case s.Actor == "customer":
		return words.T(ctx, "payment.step_customer")
	}
	return words.T(ctx, "payment.note")
}
