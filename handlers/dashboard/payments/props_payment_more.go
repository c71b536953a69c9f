package payments

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"cointill/core/mail"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/webhook/delivery"
	"cointill/handlers/dashboard/display"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// happened is an entry of the timeline with when it was, by the wall clock: a
// payment's own clock may be ahead in the sandbox.
type happened struct {
	at   time.Time
	step ui.Step
}

// fullTimeline is everything that happened about a payment: its own steps, each
// request to a webhook, and the mails.
func fullTimeline(ctx context.Context, more paymentMore, zone *time.Location) (list []ui.Step) {
	var all []happened
	for i, step := range timeline(ctx, more.Steps, zone) {
		all = append(all, happened{more.Steps[i].CreatedAt, step})
	}
	for _, d := range more.Told {
		for _, a := range more.Attempts[d.ID] {
			all = append(all, happened{a.At, attemptStep(ctx, d, a, more.Scope, zone)})
		}
	}
	for _, m := range more.Sent {
		all = append(all, mailStep(ctx, m, zone))
	}
	slices.SortStableFunc(all, func(a, b happened) int { return cmp.Compare(a.at.UnixMicro(), b.at.UnixMicro()) })
	for _, one := range all {
		list = append(list, one.step)
	}
	return list
}

// attemptStep is one request to a webhook. The endpoint's name is for users with the right to
// see webhooks.
func attemptStep(ctx context.Context, d delivery.Delivery, a delivery.Attempt, sc scope.Scope,
	zone *time.Location) ui.Step {
	step := ui.Step{At: a.At.In(zone), Icon: "send", Tone: ui.Good}
	named := sc.Allows(scope.SeeWebhooks) && d.EndpointName != ""
	status, time := strconv.Itoa(a.Status), display.FormatDuration(ctx, a.Took)
	switch {
	case a.Error == "" && named:
		step.Title = words.T(ctx, "payment.webhook_delivered_to", "Event", d.EventType, "Endpoint", d.EndpointName,
			"Status", status, "Time", time)
	case a.Error == "":
		step.Title = words.T(ctx, "payment.webhook_delivered", "Event", d.EventType, "Status", status, "Time", time)
	case named:
		step.Title = words.T(ctx, "payment.webhook_failed_to", "Event", d.EventType, "Endpoint", d.EndpointName)
	default:
		step.Title = words.T(ctx, "payment.webhook_failed", "Event", d.EventType)
	}
	if a.Number > 1 {
		step.Text = words.T(ctx, "payment.attempt_number", "N", strconv.Itoa(a.Number))
	}
	if a.Error != "" {
		step.Tone, step.Text = ui.Bad, words.T(ctx, "payment.attempt_result", "N", strconv.Itoa(a.Number), "Result",
			a.Error, "Time", time)
	}
	if named {
		step.Href, step.HrefText = display.DeliveryPath(d.EndpointID, d.EventID),
			words.T(ctx, "payment.request_and_answer")
	}
	return step
}

// mailStep is a mail about the payment.
func mailStep(ctx context.Context, m mail.Mail, zone *time.Location) happened {
	row := display.MailRow(m, zone)
	step := ui.Step{At: row.At, Icon: "mailbox", Title: words.T(ctx, "payment.mail_to", "To", m.To),
		Href: "/dashboard/mailbox/" + row.ID, HrefText: m.Subject, Tone: ui.Mute}
	switch row.Status {
	case mail.Sent:
		step.Text, step.Tone = words.T(ctx, "payment.mail_sent"), ui.Good
	case mail.Failed:
		step.Text, step.Tone = words.T(ctx, "payment.mail_failed", "Error", m.LastError), ui.Bad
	case mail.Unknown:
		step.Text, step.Tone = words.T(ctx, "payment.mail_unknown"), ui.Warn
	case mail.Kept:
		step.Text = words.T(ctx, "payment.mail_kept")
	default:
		step.Text, step.Tone = words.T(ctx, "payment.mail_waits"), ui.Info
	}
	return happened{row.At, step}
}

// nextWords say what a person may do about a payment now; "" when there is nothing to do.
func nextWords(ctx context.Context, v payment.View, refunds []models.Resolution, sc scope.Scope) string {
	may := sc.Allows(scope.ResolvePayment)
	switch state := v.State(); {
	case v.Payment.Reversed && v.Payment.ResolvedAt != nil:
		return words.T(ctx, "payment.next_closed")
	case v.Payment.Reversed:
		return words.T(ctx, "payment.next_reversed")
	case state == payment.Declined && send.HasOpen(v.Sends):
		return words.T(ctx, "payment.next_sent")
	case state == payment.Declined && len(refunds) > 0:
		return words.T(ctx, "payment.next_refunded")
	case state == payment.Declined && may && v.Payment.Paid.Cmp(v.Payment.Due) > 0:
		return words.T(ctx, "payment.next_surplus")
	case state == payment.Declined && may:
		return words.T(ctx, "payment.next_declined")
	case state == payment.Declined:
		return words.T(ctx, "payment.next_declined_others")
	case state == payment.Failed:
		return words.T(ctx, "payment.next_failed")
	case state == payment.Abandoned:
		return words.T(ctx, "payment.next_abandoned")
	case state == payment.Expired, state == payment.Pending && v.Now.After(v.Payment.ExpiresAt):
		return words.T(ctx, "payment.next_expired")
	case state == payment.Initiated && v.Payment.Paid.Sign() == 0 && v.Now.After(v.Payment.ExpiresAt):
		return words.T(ctx, "payment.next_late")
	}
	return ""
}

// strayRows are the transfers that don't credit the payment.
func strayRows(ctx context.Context, stray []payment.UnmatchedTransfer,
	zone *time.Location) (rows []dashboard.UnmatchedRow) {
	for _, t := range stray {
		rows = append(rows, unmatchedRow(ctx, t, zone))
	}
	return rows
}

// refundRows are the recorded refunds.
func refundRows(refunds []models.Resolution, v payment.View, zone *time.Location) (rows []dashboard.RefundRow) {
	for _, r := range refunds {
		rows = append(rows, dashboard.RefundRow{Amount: money.Coin(r.Asset).Format(r.Amount) + " " + r.Asset,
			Fiat: display.FormatFiat(v.Payment, v.Fiat(r.Amount)), Hash: r.TxID, Note: r.Note,
			At: r.CreatedAt.In(zone)})
	}
	return rows
}

// sentBack is the sum of refunds.
func sentBack(refunds []models.Resolution) (sum money.Amount) {
	for _, r := range refunds {
		sum = sum.Add(r.Amount)
	}
	return sum
}
