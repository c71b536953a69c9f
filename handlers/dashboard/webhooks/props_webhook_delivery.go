package webhooks

import (
	"context"
	"slices"
	"strconv"
	"time"

	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/core/webhook/diagnose"
	"cointill/handlers/dashboard/display"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// sentRow is a delivery in an endpoint's list; tried is its latest attempt, if any.
func sentRow(ctx context.Context, d delivery.Delivery, tried *delivery.Attempt, zone *time.Location) dashboard.SentRow {
	row := dashboard.SentRow{Event: d.EventType, ID: d.EventID, Href: display.DeliveryPath(d.EndpointID, d.EventID),
		Tries: d.Attempt, Happened: d.EventAt.In(zone)}
	row.Result, row.Tone = display.DeliveryResult(ctx, d)
	if tried != nil {
		row.Tried = tried.At.In(zone)
	}
	if d.NextAt != nil && d.Attempt > 0 {
		row.Next = d.NextAt.In(zone)
	}
	return row
}

// deliveryProps is the page of an event for an endpoint, the latest attempt first.
func deliveryProps(ctx context.Context, shell layout.Page, f deliveryFacts,
	zone *time.Location) dashboard.DeliveryProps {
	p := dashboard.DeliveryProps{Page: shell, EndpointID: f.Endpoint.ID, EndpointName: f.Endpoint.Name,
		EndpointURL: f.Endpoint.URL,
		Sequence:    f.Event.Sequence, Body: f.Event.Body, BodyShown: display.IndentJSON(f.Event.Body),
		Withheld:         webhook.Withheld(f.Scope),
		PaymentReference: f.Event.Payment}
	var last *delivery.Attempt
	for i, attempt := range slices.Backward(f.Attempts) {
		row := attemptRow(ctx, attempt, zone)
		row.Withheld = p.Withheld
		if i == len(f.Attempts)-1 {
			last, row.Open = &attempt, true
		}
		p.Attempts = append(p.Attempts, row)
	}
	p.SentRow = sentRow(ctx, f.Delivery, last, zone)
	switch {
	case !f.Scope.Allows(scope.ManageWebhooks) || f.Delivery.State == webhook.Sending:
	case !f.Endpoint.Active:
		p.CantWhy = words.T(ctx, "webhook.cant_off")
	case f.Event.Body == "":
		p.CantWhy = words.T(ctx, "webhook.cant_old")
	default:
		p.CanResend = true
	}
	return p
}

func attemptRow(ctx context.Context, a delivery.Attempt, zone *time.Location) dashboard.AttemptRow {
	row := dashboard.AttemptRow{Number: a.Number, At: a.At.In(zone), Took: display.FormatDuration(ctx, a.Took),
		Advice:  adviceText(ctx, a.Status, a.Code),
		Request: a.Request, Header: a.Header, Answer: a.Answer, Status: a.Status}
	row.Result, row.Tone = attemptResult(ctx, a)
	return row
}

// adviceText says what to do about an attempt that failed.
func adviceText(ctx context.Context, status int, code diagnose.Code) string {
	return words.Advice(ctx, diagnose.AdviceCode(status, code), diagnose.Advice(status, code))
}

// attemptResult is a short sentence about an attempt.
func attemptResult(ctx context.Context, a delivery.Attempt) (string, ui.Tone) {
	if a.Error == "" {
		return words.T(ctx, "webhook.delivered_with", "Status", strconv.Itoa(a.Status)), ui.Good
	}
	if a.Status != 0 {
		return words.Translate(ctx, diagnose.DescribeStatus(a.Status)), ui.Bad
	}
	return words.Problem(ctx, string(a.Code), a.Error), ui.Bad
}

// signatureProps is the page of the signature checker.
func signatureProps(ctx context.Context, shell layout.Page, typed ui.Form, v diagnose.Verdict,
	endpoints []webhook.Endpoint) dashboard.SignatureCheckProps {
	p := dashboard.SignatureCheckProps{Page: shell, Form: typed, Endpoints: endpointOptions(ctx, endpoints), Why: v.Why,
		Do: v.Do, DiffWithheld: v.DiffWithheld}
	switch v.Reason {
	case diagnose.Verifies:
		p.Title, p.Tone = words.T(ctx, "webhook.verifies"), ui.Good
	case diagnose.TooOld, diagnose.TooNew:
		p.Title, p.Tone = words.T(ctx, "webhook.verifies_at_another_time"), ui.Warn
	default:
		p.Title, p.Tone = words.T(ctx, "webhook.verifies_not"), ui.Bad
	}
	if v.Diff != nil {
		diff := dashboard.BodyDiff(*v.Diff)
		p.Diff = &diff
	}
	return p
}
