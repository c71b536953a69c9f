package dashboard

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// webhookRow is an endpoint in the list; last is its latest delivery, if any.
func webhookRow(ctx context.Context, e webhook.Endpoint, last *webhook.Delivery, zone *time.Location) dashboard.WebhookRow {
	row := dashboard.WebhookRow{ID: e.ID, Name: e.Name, URL: e.URL, Active: e.Active}
	if e.OffReason != "" {
		row.OffWhy = words.T(ctx, "webhook.off_by", "Why", e.OffReason)
	}
	if last != nil {
		shown := deliveryRow(ctx, *last, zone)
		row.LastResult, row.LastTone, row.LastAt = shown.Result, shown.Tone, shown.At
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

// deliveryRow is a delivery as pages of other things show it.
func deliveryRow(ctx context.Context, d webhook.Delivery, zone *time.Location) dashboard.DeliveryRow {
	row := dashboard.DeliveryRow{Event: d.EventType, Endpoint: d.EndpointName, Attempt: d.Attempt, At: d.CreatedAt.In(zone)}
	if d.EndpointName != "" {
		row.EndpointHref, row.Href = webhookPath(d.EndpointID), deliveryPath(d.EndpointID, d.EventID)
	}
	if d.DoneAt != nil {
		row.At = d.DoneAt.In(zone)
	}
	if d.NextAt != nil && d.Attempt > 0 {
		row.Next = d.NextAt.In(zone)
	}
	row.Result, row.Tone = deliveryResult(ctx, d)
	return row
}

// deliveryResult is a short sentence about how a delivery stands.
func deliveryResult(ctx context.Context, d webhook.Delivery) (string, ui.Tone) {
	answer := d.LastError
	if d.LastStatus != 0 {
		answer = words.T(ctx, "webhook.answered", "Status", strconv.Itoa(d.LastStatus))
	}
	switch d.State {
	case webhook.Delivered:
		return words.T(ctx, "webhook.delivered_with", "Status", strconv.Itoa(d.LastStatus)), ui.Good
	case webhook.Exhausted:
		return words.T(ctx, "webhook.given_up", "Why", answer), ui.Bad
	case webhook.Cancelled:
		if d.Attempt > 0 {
			return words.T(ctx, "webhook.ended", "Why", d.LastError), ui.Mute
		}
		return words.T(ctx, "webhook.not_sent", "Why", d.LastError), ui.Mute
	case webhook.Skipped:
		return words.T(ctx, "webhook.skipped"), ui.Mute
	case webhook.Sending:
		return words.T(ctx, "webhook.being_sent"), ui.Info
	}
	if d.Attempt == 0 || answer == "" {
		return words.T(ctx, "webhook.waits"), ui.Info
	}
	return answer, ui.Warn
}

func deliveryRows(ctx context.Context, deliveries []webhook.Delivery, zone *time.Location) (rows []dashboard.DeliveryRow) {
	for _, d := range deliveries {
		rows = append(rows, deliveryRow(ctx, d, zone))
	}
	return rows
}

// webhookProps is the page of one endpoint.
func webhookProps(ctx context.Context, shell layout.Page, f endpointFacts, zone *time.Location) dashboard.WebhookProps {
	e := f.Endpoint
	p := dashboard.WebhookProps{
		Page: shell, WebhookRow: webhookRow(ctx, e, nil, zone), Manage: f.Scope.Allows(scope.ManageWebhooks), Events: e.Types,
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
		var tried *webhook.Attempt
		if a, any := f.Tried[d.ID]; any && d.ID != 0 {
			tried = &a
		}
		p.Deliveries = append(p.Deliveries, sentRow(ctx, d, tried, zone))
	}
	p.Tabs, p.Filtered = stateTabs(ctx, e.ID, f.Asked.State)
	p.Pager = pager(words.N(ctx, "webhook.events_n", len(p.Deliveries)), f.Asked.After != "", sentHref(e.ID, sentAsked{State: f.Asked.State}),
		f.Next != "", sentHref(e.ID, sentAsked{State: f.Asked.State, After: f.Next}))
	return p
}

// stateWords are the messages that name the states of deliveries.
var stateWords = map[string]string{"": "webhook.state_all", webhook.Pending: "webhook.state_pending", webhook.Delivered: "webhook.state_delivered",
	webhook.Exhausted: "webhook.state_exhausted", webhook.Cancelled: "webhook.state_cancelled", webhook.Skipped: "webhook.state_skipped"}

// stateTabs are the states that deliveries can be narrowed to, and the word of the chosen one.
func stateTabs(ctx context.Context, id, chosen string) (tabs []dashboard.StateTab, word string) {
	for _, state := range append([]string{""}, webhook.States()...) {
		tabs = append(tabs, dashboard.StateTab{Text: words.T(ctx, stateWords[state]), Href: sentHref(id, sentAsked{State: state}), On: state == chosen})
	}
	if chosen == "" {
		return tabs, ""
	}
	return tabs, words.T(ctx, stateWords[chosen])
}

// sentHref is the address of an endpoint's page with a part of its deliveries.
func sentHref(id string, asked sentAsked) string {
	values := url.Values{}
	if asked.State != "" {
		values.Set("state", asked.State)
	}
	if asked.After != "" {
		values.Set("after", asked.After)
	}
	if len(values) == 0 {
		return webhookPath(id)
	}
	return webhookPath(id) + "?" + values.Encode()
}

// healthStats is how an endpoint has done lately.
func healthStats(ctx context.Context, h webhook.Health, zone *time.Location) dashboard.WebhookHealth {
	stats := dashboard.WebhookHealth{Rate: "–", Median: "–", P95: "–", Waiting: strconv.Itoa(h.Waiting), RateNote: words.T(ctx, "webhook.no_attempt")}
	if h.Attempts > 0 {
		stats.Rate, stats.RateNote = strconv.Itoa(h.Succeeded*100/h.Attempts)+" %", words.N(ctx, "webhook.rate_note", h.Attempts)
		stats.Median, stats.P95 = took(ctx, h.Median), took(ctx, h.P95)
	}
	if h.Waiting >= webhook.MaxMissed {
		stats.Waiting = words.T(ctx, "units.or_more", "N", stats.Waiting)
	}
	if h.OldestAt != nil {
		stats.WaitingNote = words.T(ctx, "webhook.oldest", "Time", ui.TimeText(h.OldestAt.In(zone)))
	}
	if h.Last != nil {
		stats.Last, stats.LastTone = attemptResult(ctx, *h.Last)
		stats.LastAt, stats.Advice = h.Last.At.In(zone), webhook.Advice(*h.Last)
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
	values := map[string]string{"endpoint": f.Endpoint.ID, "failed": "true", "created_after": m.Since.In(zone).Format(formTime)}
	note.Href = resendsPath + "/review?" + orderQuery(values, nil)
	return note
}

// missedText says how many events an endpoint didn't get, and since when.
func missedText(ctx context.Context, m webhook.Missed, on bool, zone *time.Location) string {
	since := ui.TimeText(m.Since.In(zone))
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
