package webhooks

import (
	"context"
	"strconv"
	"time"

	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// webhookRow is an endpoint in the list; last is its latest delivery, if any.
func webhookRow(ctx context.Context, e webhook.Endpoint, last *delivery.Delivery,
	zone *time.Location) dashboard.WebhookRow {
	row := dashboard.WebhookRow{ID: e.ID, Name: e.Name, URL: e.URL, Active: e.Active}
	if e.OffReason != "" {
		row.OffWhy = words.T(ctx, "webhook.off_by", "Why", words.Problem(ctx, e.OffCode, e.OffReason))
	}
	if last != nil {
		shown := display.DeliveryRow(ctx, *last, zone)
		row.LastResult, row.LastAt = shown.Result, shown.At
	}
	row.Health, row.HealthTone = healthWord(ctx, e, last != nil)
	return row
}

// healthWord is how an endpoint does, in a word or two.
func healthWord(ctx context.Context, e webhook.Endpoint, sent bool) (string, ui.Tone) {
	switch {
	case e.OffReason != "" && !e.Active:
		return words.T(ctx, "webhook.health_switched_off"), ui.Bad
	case !e.Active:
		return words.T(ctx, "webhook.health_off"), ui.Mute
	case e.FailingSince != nil:
		return words.T(ctx, "webhook.health_failing"), ui.Bad
	case !sent:
		return words.T(ctx, "webhook.health_untried"), ui.Mute
	}
	return words.T(ctx, "webhook.health_good"), ui.Good
}

// webhookProps is the page of one endpoint.
func webhookProps(ctx context.Context, shell layout.Page, f endpointFacts, zone *time.Location) dashboard.WebhookProps {
	e := f.Endpoint
	p := dashboard.WebhookProps{
		Page: shell, WebhookRow: webhookRow(ctx, e, nil, zone), Manage: f.Scope.Allows(scope.ManageWebhooks),
		Events:  e.Types,
		Created: e.CreatedAt.In(zone), Stats: healthStats(ctx, f.Health, zone), Missed: missedNote(ctx, f, zone),
	}
	p.Health, p.HealthTone = healthWord(ctx, e, f.Health.Attempts > 0)
	for _, header := range e.Headers {
		p.Headers = append(p.Headers, header.Name)
	}
	if e.OverlapUntil != nil && e.OverlapUntil.After(f.Now) {
		p.OldUntil = e.OverlapUntil.In(zone)
	}
	if e.FailingSince != nil && e.Active {
		p.FailingSince = e.FailingSince.In(zone)
	}
	for _, d := range f.Sent {
		var tried *delivery.Attempt
		if a, any := f.Tried[d.ID]; any && d.ID != 0 {
			tried = &a
		}
		p.Deliveries = append(p.Deliveries, sentRow(ctx, d, tried, zone))
	}
	p.Tabs, p.Filtered = stateTabs(ctx, e.ID, f.Asked.State)
	p.Pager = listing.MakePager(words.N(ctx, "webhook.events_n", len(p.Deliveries)), f.Asked.After != "",
		sentHref(e.ID, sentAsked{State: f.Asked.State}),
		f.Next != "", sentHref(e.ID, sentAsked{State: f.Asked.State, After: f.Next}))
	return p
}

// stateWords are the messages that name the states of deliveries.
var stateWords = map[string]string{"": "webhook.state_all", webhook.Pending: "webhook.state_pending",
	webhook.Delivered: "webhook.state_delivered",
	webhook.Exhausted: "webhook.state_exhausted", webhook.Cancelled: "webhook.state_cancelled",
	webhook.Skipped: "webhook.state_skipped"}

// stateTabs are the states that deliveries can be narrowed to, and the word of the chosen one.
func stateTabs(ctx context.Context, id, chosen string) (tabs []dashboard.StateTab, word string) {
	for _, state := range append([]string{""}, delivery.States()...) {
		tabs = append(tabs, dashboard.StateTab{Text: words.T(ctx, stateWords[state]),
			Href: sentHref(id, sentAsked{State: state}), On: state == chosen})
	}
	if chosen == "" {
		return tabs, ""
	}
	return tabs, words.T(ctx, stateWords[chosen])
}

// sentHref is the address of an endpoint's page with a part of its deliveries.
func sentHref(id string, asked sentAsked) string {
	return listing.MakeHref(display.WebhookPath(id), map[string]string{"state": asked.State, "after": asked.After})
}

// healthStats is how an endpoint has done lately.
func healthStats(ctx context.Context, h delivery.Health, zone *time.Location) dashboard.WebhookHealth {
	stats := dashboard.WebhookHealth{Rate: "–", Median: "–", P95: "–", Waiting: strconv.Itoa(h.Waiting),
		RateNote: words.T(ctx, "webhook.no_attempt")}
	if h.Attempts > 0 {
		stats.Rate, stats.RateNote = strconv.Itoa(h.Succeeded*100/h.Attempts)+" %",
			words.N(ctx, "webhook.rate_note", h.Attempts)
		stats.Median, stats.P95 = display.FormatDuration(ctx, h.Median), display.FormatDuration(ctx, h.P95)
	}
	if h.Waiting >= delivery.MaxMissed {
		stats.Waiting = words.T(ctx, "units.or_more", "N", stats.Waiting)
	}
	if h.OldestAt != nil {
		stats.WaitingNote = words.T(ctx, "webhook.oldest", "Time", ui.TimeText(ctx, h.OldestAt.In(zone)))
	}
	if h.Last != nil {
		stats.Last, _ = attemptResult(ctx, *h.Last)
		stats.LastAt, stats.Advice = h.Last.At.In(zone), adviceText(ctx, h.Last.Status, h.Last.Code)
	}
	return stats
}

// missedNote says what an endpoint didn't get, and where that can be sent.
func missedNote(ctx context.Context, f endpointFacts, zone *time.Location) (note dashboard.MissedEvents) {
	m := f.Missed
	if m.Count == 0 {
		return note
	}
	note.Text = missedText(ctx, m, f.Endpoint.Active, zone)
	if !f.Endpoint.Active {
		note.Text += " " + words.T(ctx, "webhook.missed_switch_on")
		return note
	}
	values := map[string]string{"endpoint": f.Endpoint.ID, "failed": "true", "created_after": m.Since.In(zone).
		Format(page.FormTime)}
	note.Href = resendsPath + "/review?" + orderQuery(values, nil)
	return note
}

// missedText says how many events an endpoint didn't get, and since when.
func missedText(ctx context.Context, m delivery.Missed, on bool, zone *time.Location) string {
	since := ui.TimeText(ctx, m.Since.In(zone))
	switch {
	case on && m.More:
		return words.T(ctx, "webhook.missed_on_more", "N", strconv.Itoa(m.Count), "Since", since)
	case on:
		return words.N(ctx, "webhook.missed_on", m.Count, "Since", since)
	case m.More:
		return words.T(ctx, "webhook.missed_more", "N", strconv.Itoa(m.Count), "Since", since)
	}
	return words.N(ctx, "webhook.missed", m.Count, "Since", since)
}
