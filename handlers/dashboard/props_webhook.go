package dashboard

import (
	"net/url"
	"strconv"
	"time"

	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
)

// webhookRow is an endpoint in the list; last is its latest delivery, if any.
func webhookRow(e webhook.Endpoint, last *webhook.Delivery, zone *time.Location) dashboard.WebhookRow {
	row := dashboard.WebhookRow{ID: e.ID, Name: e.Name, URL: e.URL, Active: e.Active}
	if e.OffReason != "" {
		row.OffWhy = "Switched off by Cointill: " + e.OffReason
	}
	if last != nil {
		shown := deliveryRow(*last, zone)
		row.LastResult, row.LastTone, row.LastAt = shown.Result, shown.Tone, shown.At
	}
	row.Health, row.HealthTone = healthWord(e, last != nil)
	return row
}

// healthWord is how an endpoint does, in a word or two.
func healthWord(e webhook.Endpoint, sent bool) (string, ui.Tone) {
	switch {
	case e.OffReason != "" && !e.Active:
		return "Switched off", ui.Bad
	case !e.Active:
		return "Off", ui.Mute
	case e.FailingSince != nil:
		return "Failing", ui.Bad
	case !sent:
		return "Untried", ui.Mute
	}
	return "Healthy", ui.Good
}

// deliveryRow is a delivery as pages of other things show it.
func deliveryRow(d webhook.Delivery, zone *time.Location) dashboard.DeliveryRow {
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
	row.Result, row.Tone = deliveryResult(d)
	return row
}

// deliveryResult is a short sentence about how a delivery stands.
func deliveryResult(d webhook.Delivery) (string, ui.Tone) {
	answer := d.LastError
	if d.LastStatus != 0 {
		answer = "Answered " + strconv.Itoa(d.LastStatus)
	}
	switch d.State {
	case webhook.Delivered:
		return "Delivered (" + strconv.Itoa(d.LastStatus) + ")", ui.Good
	case webhook.Exhausted:
		return "Given up: " + answer, ui.Bad
	case webhook.Cancelled:
		if d.Attempt > 0 {
			return "Ended: " + d.LastError, ui.Mute
		}
		return "Not sent: " + d.LastError, ui.Mute
	case webhook.Skipped:
		return "Skipped: it was off then", ui.Mute
	case webhook.Sending:
		return "Being sent", ui.Info
	}
	if d.Attempt == 0 || answer == "" {
		return "Waits to be sent", ui.Info
	}
	return answer, ui.Warn
}

func deliveryRows(deliveries []webhook.Delivery, zone *time.Location) (rows []dashboard.DeliveryRow) {
	for _, d := range deliveries {
		rows = append(rows, deliveryRow(d, zone))
	}
	return rows
}

// webhookProps is the page of one endpoint.
func webhookProps(page layout.Page, f endpointFacts, zone *time.Location) dashboard.WebhookProps {
	e := f.Endpoint
	p := dashboard.WebhookProps{
		Page: page, WebhookRow: webhookRow(e, nil, zone), Manage: f.Scope.Allows(scope.ManageWebhooks), Events: e.Types,
		Created: e.CreatedAt.In(zone), Stats: healthStats(f.Health, zone), Missed: missedNote(f, zone),
	}
	p.Health, p.HealthTone = healthWord(e, f.Health.Attempts > 0)
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
		p.Deliveries = append(p.Deliveries, sentRow(d, tried, zone))
	}
	p.Tabs, p.Filtered = stateTabs(e.ID, f.Asked.State)
	p.Pager = pager(ui.Count(len(p.Deliveries), "event", "events"), f.Asked.After != "", sentHref(e.ID, sentAsked{State: f.Asked.State}),
		f.Next != "", sentHref(e.ID, sentAsked{State: f.Asked.State, After: f.Next}))
	return p
}

// stateWords are the states of deliveries as pages call them.
var stateWords = map[string]string{"": "All", webhook.Pending: "Waiting", webhook.Delivered: "Delivered", webhook.Exhausted: "Given up",
	webhook.Cancelled: "Not sent", webhook.Skipped: "Skipped"}

// stateTabs are the states that deliveries can be narrowed to, and the word of the chosen one.
func stateTabs(id, chosen string) (tabs []dashboard.StateTab, word string) {
	for _, state := range append([]string{""}, webhook.States()...) {
		tabs = append(tabs, dashboard.StateTab{Text: stateWords[state], Href: sentHref(id, sentAsked{State: state}), On: state == chosen})
	}
	if chosen == "" {
		return tabs, ""
	}
	return tabs, stateWords[chosen]
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
func healthStats(h webhook.Health, zone *time.Location) dashboard.WebhookHealth {
	stats := dashboard.WebhookHealth{Rate: "–", Median: "–", P95: "–", Waiting: strconv.Itoa(h.Waiting), RateNote: "no attempt yet"}
	if h.Attempts > 0 {
		stats.Rate, stats.RateNote = strconv.Itoa(h.Succeeded*100/h.Attempts)+" %", "of the last "+ui.Count(h.Attempts, "attempt", "attempts")
		stats.Median, stats.P95 = took(h.Median), took(h.P95)
	}
	if h.Waiting >= webhook.MaxMissed {
		stats.Waiting += " or more"
	}
	if h.OldestAt != nil {
		stats.WaitingNote = "the oldest since " + ui.TimeText(h.OldestAt.In(zone))
	}
	if h.Last != nil {
		stats.Last, stats.LastTone = attemptResult(*h.Last)
		stats.LastAt, stats.Advice = h.Last.At.In(zone), webhook.Advice(*h.Last)
	}
	return stats
}

// missedFor is how long a page tells what an endpoint missed, after it was
// switched on again.
const missedFor = 7 * 24 * time.Hour

// missedNote says what an endpoint didn't get, and where that can be sent.
func missedNote(f endpointFacts, zone *time.Location) (note dashboard.MissedEvents) {
	m := f.Missed
	if m.Count == 0 || m.Until != nil && f.Now.Sub(*m.Until) > missedFor {
		return note
	}
	note.Text = missedText(m, f.Endpoint.Active, zone)
	if !f.Endpoint.Active {
		note.Text += " Switch it on to have them sent."
		return note
	}
	from := m.Since
	if oldest := f.Now.Add(time.Hour - webhook.KeepBodies); from.Before(oldest) {
		from = oldest
	}
	values := map[string]string{"endpoint": f.Endpoint.ID, "failed": "true", "created_after": from.In(zone).Format(formTime)}
	note.Href = resendsPath + "/review?" + orderQuery(values, nil)
	return note
}

// missedText says how many events an endpoint didn't get, and since when.
func missedText(m webhook.Missed, on bool, zone *time.Location) string {
	count := ui.Count(m.Count, "event", "events")
	if m.More {
		count = "More than " + count
	}
	if on {
		return count + " since " + ui.TimeText(m.Since.In(zone)) + ", when it began to fail or was switched off, did not reach it."
	}
	return count + " since " + ui.TimeText(m.Since.In(zone)) + " did not reach it."
}
