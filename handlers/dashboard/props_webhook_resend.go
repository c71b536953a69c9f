package dashboard

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
)

// orderFields are the fields of an order, beside its types.
var orderFields = []string{"endpoint", "created_after", "created_before", "failed"}

// orderOf reads an order from its form; unreadable says what can't be read.
func orderOf(typed ui.Form, types []string, zone *time.Location) (o webhook.Order, unreadable fault.Fields) {
	unreadable = fault.Fields{}
	o = webhook.Order{EndpointID: typed.Value("endpoint"), Types: types, Failed: typed.On("failed")}
	const sentence = "Must be a date with a time."
	from, err := time.ParseInLocation(formTime, typed.Value("created_after"), zone)
	if o.From = from; err != nil {
		unreadable.Add("created_after", sentence)
	}
	if text := typed.Value("created_before"); text != "" {
		before, err := time.ParseInLocation(formTime, text, zone)
		switch {
		case err != nil:
			unreadable.Add("created_before", sentence)
		case !before.After(from) && len(unreadable) == 0:
			unreadable.Add("created_before", "Must be after the beginning.")
		}
		o.Before = &before
	}
	return o, unreadable
}

// orderQuery is an order in the address of a page.
func orderQuery(values map[string]string, types []string) string {
	query := url.Values{}
	for _, name := range orderFields {
		if values[name] != "" {
			query.Set(name, values[name])
		}
	}
	for _, kind := range types {
		query.Add("types", kind)
	}
	return query.Encode()
}

// resendsFacts is what the page of orders is made of.
type resendsFacts struct {
	Scope       scope.Scope
	Endpoints   []webhook.Endpoint
	Orders      []webhook.Resend
	After, Next string   // cursors
	Types       []string // that are ticked
}

// resendsProps is the form of an order with the orders before.
func resendsProps(page layout.Page, typed ui.Form, f resendsFacts, zone *time.Location) dashboard.ResendsProps {
	p := dashboard.ResendsProps{Page: page, Form: typed, Manage: f.Scope.Allows(scope.ManageWebhooks), Types: eventTypes(), TypesOn: map[string]bool{},
		Zone: zone.String(), Endpoints: []ui.Option{{Value: "", Label: "Every endpoint that is on"}}}
	for _, kind := range f.Types {
		p.TypesOn[kind] = true
	}
	names := namesOf(f.Endpoints)
	if !slices.ContainsFunc(f.Endpoints, func(e webhook.Endpoint) bool { return e.Active }) {
		f.Endpoints = nil
	}
	p.Endpoints = append(p.Endpoints, endpointOptions(f.Endpoints)...)
	for _, order := range f.Orders {
		p.Rows = append(p.Rows, resendRow(order, names, zone))
	}
	p.Pager = pager(ui.Count(len(p.Rows), "order", "orders"), f.After != "", resendsPath, f.Next != "", resendsPath+"?after="+url.QueryEscape(f.Next))
	return p
}

// endpointOptions are endpoints as choices.
func endpointOptions(endpoints []webhook.Endpoint) (list []ui.Option) {
	for _, e := range endpoints {
		label := e.Name + " – " + e.URL
		if !e.Active {
			label = e.Name + " (off) – " + e.URL
		}
		if runes := []rune(label); len(runes) > 80 {
			label = string(runes[:79]) + "…"
		}
		list = append(list, ui.Option{Value: e.ID, Label: label})
	}
	return list
}

func namesOf(endpoints []webhook.Endpoint) map[string]string {
	names := map[string]string{}
	for _, e := range endpoints {
		names[e.ID] = e.Name
	}
	return names
}

// reviewed is an order that is about to be given.
type reviewed struct {
	Order   webhook.Order
	Planned webhook.Planned
	Names   map[string]string
}

// reviewOf says how many events an order would send.
func reviewOf(page layout.Page, typed ui.Form, types []string, r reviewed, zone *time.Location) dashboard.ResendReviewProps {
	p := dashboard.ResendReviewProps{Page: page, BackHref: resendsPath + "?" + orderQuery(typed.Values, types),
		What: orderText(r.Order, r.Names, zone), Count: plannedText(r), Nothing: r.Planned.Deliveries == 0}
	for _, name := range orderFields {
		p.Fields = append(p.Fields, dashboard.HiddenField{Name: name, Value: typed.Value(name)})
	}
	for _, kind := range types {
		p.Fields = append(p.Fields, dashboard.HiddenField{Name: "types", Value: kind})
	}
	return p
}

func plannedText(r reviewed) string {
	events, endpoints := ui.Count(r.Planned.Events, "event", "events"), ui.Count(r.Planned.Endpoints, "endpoint", "endpoints")
	switch {
	case r.Planned.Deliveries == 0 && r.Order.Failed:
		return "None: everything in this range was delivered or is under way."
	case r.Planned.Deliveries == 0:
		return "None: nothing of this kind happened in this range."
	case r.Order.EndpointID != "":
		return ui.Count(r.Planned.Deliveries, "event", "events") + " will be sent."
	case r.Order.Failed:
		return "Of " + events + ", what each of " + endpoints + " takes and didn't get."
	}
	return events + " for " + endpoints + ", as far as they take them: at most " + ui.Count(r.Planned.Deliveries, "delivery", "deliveries") + "."
}

// orderText says which events an order is for, and where they go.
func orderText(o webhook.Order, names map[string]string, zone *time.Location) string {
	text := "All events"
	if o.Failed {
		text = "What failed"
	}
	if text += " from " + ui.TimeText(o.From.In(zone)); o.Before != nil {
		text += " to " + ui.TimeText(o.Before.In(zone))
	} else {
		text += " up to now"
	}
	if len(o.Types) > 0 {
		text += ", only " + strings.Join(o.Types, ", ")
	}
	name, known := names[o.EndpointID]
	switch {
	case o.EndpointID == "":
		return text + ", for every endpoint that is on"
	case known:
		return text + ", for “" + name + "”"
	}
	return text + ", for an endpoint that was deleted"
}

// resendRow is an order as pages show it.
func resendRow(r webhook.Resend, names map[string]string, zone *time.Location) dashboard.ResendRow {
	o := webhook.Order{EndpointID: r.EndpointID, Types: r.Types, From: r.From, Before: &r.Before, Failed: r.Failed}
	row := dashboard.ResendRow{ID: r.ID, What: orderText(o, names, zone), Created: r.CreatedAt.In(zone), Total: r.Total, Walked: r.Walked,
		Made: r.Made, Delivered: r.Delivered, Failed: r.Failures, Waiting: max(0, r.Made-r.Delivered-r.Failures), Later: r.Superseded}
	if r.DoneAt != nil {
		row.Done, row.Waiting = r.DoneAt.In(zone), 0
	}
	switch r.State {
	case webhook.ResendQueueing:
		row.State, row.Tone, row.Working = "Being queued", ui.Info, true
	case webhook.ResendSending:
		row.State, row.Tone, row.Working = "Being delivered", ui.Info, true
	case webhook.ResendStopped:
		row.State, row.Tone = "Stopped: the endpoint was switched off or deleted", ui.Warn
	default:
		if row.State, row.Tone = "Done", ui.Good; r.Failures > 0 {
			row.State, row.Tone = "Done, "+strconv.Itoa(r.Failures)+" failed", ui.Warn
		}
	}
	return row
}
