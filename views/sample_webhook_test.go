package views_test

import (
	"strings"
	"time"

	"github.com/a-h/templ"

	"cointill/views/dashboard"
	"cointill/views/ui"
)

// webhookPages are the pages about webhooks, in every state.
func webhookPages(refused ui.Form) map[string]templ.Component {
	list := []dashboard.WebhookRow{{ID: "whk_1", Name: "Shop server", URL: "https://shop.example/hooks/cointill", Active: true, Health: "Healthy", HealthTone: ui.Good, LastResult: "Delivered (200)", LastAt: now},
		{ID: "whk_2", Name: "Ledger", URL: "https://ledger.internal-company-name.example/v2/events/incoming/cointill", Health: "Switched off", HealthTone: ui.Bad, LastResult: "Given up: Response 410", LastAt: now, OffWhy: "Switched off by Cointill: It answered 410 Gone, which asks for no more events."},
		{ID: "whk_3", Name: "New", URL: "https://new.example/", Health: "Off", HealthTone: ui.Mute}}
	fresh := endpointPage()
	fresh.Secret, fresh.NewSecret, fresh.OldUntil, fresh.Deliveries = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", true, now.Add(24*time.Hour), nil
	fresh.Stats, fresh.Missed, fresh.FailingSince, fresh.Events, fresh.Headers = dashboard.WebhookHealth{Rate: "–", RateNote: "no attempt yet", Median: "–", P95: "–", Waiting: "0"}, dashboard.MissedEvents{}, time.Time{}, nil, nil
	off := endpointPage()
	off.Active, off.Manage, off.OffWhy, off.Filtered, off.Deliveries, off.Missed.Href = false, false, "Switched off by Cointill: Every delivery failed for 5 days.", "Skipped", nil, ""
	wrong := ui.Form{Values: map[string]string{"type": "Shop server", "url": "http://shop", "event.payment.successful": "true"}, Errors: map[string][]string{"url": {"Must begin with https:// in the live domain."}, "headers": {"May be at most 10."}, "headers.Host": {"Is set by Cointill or by the connection. Choose another name."}}}
	types := []dashboard.EventType{{Name: "payment.successful", Text: "The payment is final, with the right amount."}, {Name: "payment.unexpected_transfer", Text: "Money was received after the payment ended, or in another asset."}}
	headers := []dashboard.HeaderRow{{Name: "X-Gateway-Key", Kept: true}, {Name: "Host", Value: "x", Errors: wrong.Errors["headers.Host"]}, {}}
	choices := []ui.Option{{Label: "All endpoints that are on"}, {Value: "whk_1", Label: "Shop server – https://shop.example/hooks/cointill"}}
	order := dashboard.ResendRow{ID: "rsd_1", What: "Failed events since 1 Aug 2026, 10:00, only payment.successful, payment.declined, for “Shop server”", State: "Being delivered", Tone: ui.Info, Created: now, Total: 1204, Walked: 800, Made: 700, Delivered: 412, Failed: 3, Waiting: 285, Working: true}
	done := order
	done.ID, done.State, done.Tone, done.Working, done.Done = "rsd_2", "Done, 3 failed", ui.Warn, false, now
	at := shell("Webhooks", "webhooks")
	return map[string]templ.Component{
		"webhooks":               dashboard.Webhooks(dashboard.WebhooksProps{Page: at, Rows: list, Manage: true}),
		"webhooks-seen":          dashboard.Webhooks(dashboard.WebhooksProps{Page: at, Rows: list}),
		"webhooks-empty":         dashboard.Webhooks(dashboard.WebhooksProps{Page: at, Manage: true}),
		"webhooks-seen-empty":    dashboard.Webhooks(dashboard.WebhooksProps{Page: at}),
		"webhook":                dashboard.Webhook(endpointPage()),
		"webhook-new-secret":     dashboard.Webhook(fresh),
		"webhook-off":            dashboard.Webhook(off),
		"webhook-new":            dashboard.WebhookForm(dashboard.WebhookFormProps{Page: at, Form: refused, Types: types, Headers: headers[2:]}),
		"webhook-edit":           dashboard.WebhookForm(dashboard.WebhookFormProps{Page: at, Form: wrong, ID: "whk_1", Name: "Shop server", Types: types, Headers: headers}),
		"delivery":               dashboard.Delivery(deliveryPage()),
		"delivery-pruned":        dashboard.Delivery(dashboard.DeliveryProps{Page: at, SentRow: deliveryPage().SentRow, EndpointID: "whk_1", EndpointName: "Shop server", CantWhy: "It is no longer kept.", Attempts: []dashboard.AttemptRow{{Number: 1, Result: "Delivered (200)", Tone: ui.Good, Took: "80 ms", At: now, Status: 200}}}),
		"delivery-withheld":      dashboard.Delivery(withheldPage()),
		"delivery-skipped":       dashboard.Delivery(dashboard.DeliveryProps{Page: at, SentRow: deliveryPage().SentRow, EndpointID: "whk_1", EndpointName: "Shop server"}),
		"resends":                dashboard.Resends(dashboard.ResendsProps{Page: at, Form: ui.Form{Values: map[string]string{"failed": "true", "created_after": "2026-08-01T10:00"}}, Manage: true, Endpoints: choices, Types: types, Zone: "Africa/Lagos", Rows: []dashboard.ResendRow{order, done}, Pager: ui.PagerProps{Shown: "2 orders"}}),
		"resends-refused":        dashboard.Resends(dashboard.ResendsProps{Page: at, Form: ui.Form{Errors: map[string][]string{"": {"The webhook is inactive."}, "created_after": {"Must be a date with a time."}, "events": {`"x" is no type of event.`}}}, Manage: true, Endpoints: choices, Types: types, TypesOn: map[string]bool{"payment.successful": true}, Zone: "UTC"}),
		"resends-seen":           dashboard.Resends(dashboard.ResendsProps{Page: at}),
		"resends-nobody":         dashboard.Resends(dashboard.ResendsProps{Page: at, Manage: true}),
		"resend-review":          dashboard.ResendReview(dashboard.ResendReviewProps{Page: at, What: order.What, Count: "1204 events will be sent.", Fields: []dashboard.HiddenField{{Name: "endpoint", Value: "whk_1"}}, BackHref: "/dashboard/webhooks/resends"}),
		"resend-nothing":         dashboard.ResendReview(dashboard.ResendReviewProps{Page: at, What: order.What, Count: "None.", Nothing: true, BackHref: "/dashboard/webhooks/resends"}),
		"resend":                 dashboard.Resend(dashboard.ResendProps{Page: at, ResendRow: order}),
		"resend-done":            dashboard.Resend(dashboard.ResendProps{Page: at, ResendRow: done}),
		"signature":              dashboard.SignatureCheck(dashboard.SignatureCheckProps{Page: at, Endpoints: choices[1:]}),
		"signature-withheld":     dashboard.SignatureCheck(dashboard.SignatureCheckProps{Page: at, Endpoints: choices[1:], Title: "It does not verify", Tone: ui.Bad, Why: "The body is not what was sent: its data differ.", Do: "Check the raw bytes.", DiffWithheld: true}),
		"signature-no-endpoint":  dashboard.SignatureCheck(dashboard.SignatureCheckProps{Page: at}),
		"signature-body-changed": dashboard.SignatureCheck(dashboard.SignatureCheckProps{Page: at, Endpoints: choices[1:], Form: ui.Form{Values: map[string]string{"body": "{\n}"}}, Title: "The signature is not valid", Tone: ui.Bad, Why: "It verifies as compact JSON.", Do: "Check the raw bytes.", Diff: &dashboard.BodyDiff{At: 14, Line: 1, Sent: `…evt_1","type":"payment.successful","dat…`, Pasted: `…evt_1",\n\t"type":"payment.successful","d…`, SentSize: 3012, PastedSize: 3199}}),
	}
}

func endpointPage() dashboard.WebhookProps {
	row := deliveryPage().SentRow
	skipped := dashboard.SentRow{Event: "payment.unexpected_transfer", ID: "evt_01J8Z5Q4V7W2K3M9N0P1R2S3T4", Href: row.Href, Result: "Skipped: the endpoint was off", Tone: ui.Mute, Happened: now}
	return dashboard.WebhookProps{Page: shell("Shop server", "webhooks"), Manage: true, Created: now,
		WebhookRow: dashboard.WebhookRow{ID: "whk_01J8Z5Q4V7W2K3M9N0P1R2S3T4", Name: "Shop server", URL: "https://shop.example/hooks/cointill", Active: true, Health: "Failing", HealthTone: ui.Bad},
		Events:     []string{"payment.successful", "payment.declined"}, Headers: []string{"X-Gateway-Key"}, FailingSince: now,
		Stats:      dashboard.WebhookHealth{Rate: "62 %", RateNote: "of the last 200 attempts", Median: "84 ms", P95: "1.2 s", Waiting: "3", WaitingNote: "the oldest since 1 Aug 2026, 10:00", Last: "The endpoint answered 404 Not Found.", LastAt: now, Advice: "Your server has nothing at this path: compare it with your routes, letter by letter, and the slash at its end."},
		Missed:     dashboard.MissedEvents{Text: "7 events were not delivered since 1 Aug 2026, 10:00, when the endpoint began to fail or was switched off.", Href: "/dashboard/webhooks/resends/review?endpoint=whk_1"},
		Tabs:       []dashboard.StateTab{{Text: "All", Href: "?", On: true}, {Text: "Waiting", Href: "?state=pending"}, {Text: "Delivered", Href: "?state=delivered"}, {Text: "Given up", Href: "?state=exhausted"}, {Text: "Not sent", Href: "?state=cancelled"}, {Text: "Skipped", Href: "?state=skipped"}},
		Deliveries: []dashboard.SentRow{row, skipped, {Event: "webhook.test", ID: "evt_01J8Z5Q4V7W2K3M9N0P1R2S3T5", Href: row.Href, Result: "Delivered (204)", Tone: ui.Good, Tries: 1, Happened: now, Tried: now}},
		Pager:      ui.PagerProps{Shown: "3 events", Next: "?after=x"}}
}

func deliveryPage() dashboard.DeliveryProps {
	headers := "Content-Type: application/json\nUser-Agent: Cointill/1.0\nWebhook-Id: evt_01J8Z5Q4V7W2K3M9N0P1R2S3T4\nWebhook-Signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=\nWebhook-Timestamp: 1785574800\nX-Gateway-Key: ••••\n"
	return dashboard.DeliveryProps{Page: shell("payment.successful", "webhooks"), EndpointID: "whk_1", EndpointName: "Shop server", EndpointURL: "https://shop.example/hooks/cointill",
		SentRow:  dashboard.SentRow{Event: "payment.successful", ID: "evt_01J8Z5Q4V7W2K3M9N0P1R2S3T4", Href: "/dashboard/webhooks/whk_1/deliveries/evt_1", Result: "Response 404", Tone: ui.Warn, Tries: 2, Happened: now, Tried: now, Next: now.Add(time.Hour)},
		Sequence: 4, PaymentReference: "PAY_9hQ2mVx4Lr7TzKc1Bn3W", BodyShown: "{\n  \"id\": \"evt_01J8Z5Q4V7W2K3M9N0P1R2S3T4\",\n  \"type\": \"payment.successful\"\n}", Body: `{"id":"evt_01J8Z5Q4V7W2K3M9N0P1R2S3T4","type":"payment.successful","data":{"reference":"PAY_9hQ2mVx4Lr7TzKc1Bn3W","note":"` + strings.Repeat("long ", 40) + `"}}`, CanResend: true,
		Attempts: []dashboard.AttemptRow{{Number: 2, Result: "The endpoint answered 404 Not Found.", Tone: ui.Bad, Took: "84 ms", At: now, Advice: "Your server has nothing at this path.", Request: headers, Header: "Content-Type: text/html\nServer: nginx\n", Answer: "<h1>404 Not Found</h1>", Status: 404, Open: true},
			{Number: 1, Result: "The connection was refused.", Tone: ui.Bad, Took: "2 ms", At: now, Advice: "Nothing listens at this host and port.", Request: headers}}}
}

// withheldPage is deliveryPage as a role sees it that may not see payments.
func withheldPage() dashboard.DeliveryProps {
	p := deliveryPage()
	p.Withheld, p.Body, p.PaymentReference, p.CanResend = true, "", "", false
	for i := range p.Attempts {
		p.Attempts[i].Withheld, p.Attempts[i].Header, p.Attempts[i].Answer = true, "", ""
	}
	return p
}
