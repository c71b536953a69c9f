package webhooks

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// orderFields are the fields of an order, beside its types.
var orderFields = []string{"endpoint", "created_after", "created_before", "failed"}

// orderOf reads an order from its form. unreadable holds the unreadable values.
func orderOf(ctx context.Context, typed ui.Form, types []string, zone *time.Location) (o delivery.Order,
	unreadable fault.Fields) {
	unreadable = fault.Fields{}
	o = delivery.Order{EndpointID: typed.Value("endpoint"), Types: types, Failed: typed.On("failed")}
	sentence := fault.Verbatim(words.T(ctx, "webhook.date_unread"))
	from, err := time.ParseInLocation(page.FormTime, typed.Value("created_after"), zone)
	if o.From = from; err != nil {
		unreadable.AddMessage("created_after", sentence)
	}
	if text := typed.Value("created_before"); text != "" {
		before, err := time.ParseInLocation(page.FormTime, text, zone)
		switch {
		case err != nil:
			unreadable.AddMessage("created_before", sentence)
		case !before.After(from) && len(unreadable) == 0:
			unreadable.AddMessage("created_before", fault.Verbatim(words.T(ctx, "webhook.date_before")))
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
	Orders      []delivery.Resend
	After, Next string   // cursors
	Types       []string // that are ticked
}

// resendsProps is the form of an order with the orders before.
func resendsProps(ctx context.Context, shell layout.Page, typed ui.Form, f resendsFacts,
	zone *time.Location) dashboard.ResendsProps {
	p := dashboard.ResendsProps{Page: shell, Form: typed, Manage: f.Scope.Allows(scope.ManageWebhooks),
		Types: eventTypes(ctx), TypesOn: map[string]bool{},
		Zone: zone.String(), Endpoints: []ui.Option{{Value: "", Label: words.T(ctx, "webhook.every_endpoint")}}}
	for _, kind := range f.Types {
		p.TypesOn[kind] = true
	}
	names := namesOf(f.Endpoints)
	if !slices.ContainsFunc(f.Endpoints, func(e webhook.Endpoint) bool { return e.Active }) {
		f.Endpoints = nil
	}
	p.Endpoints = append(p.Endpoints, endpointOptions(ctx, f.Endpoints)...)
	for _, order := range f.Orders {
		p.Rows = append(p.Rows, resendRow(ctx, order, names, zone))
	}
	p.Pager = listing.MakePager(words.N(ctx, "webhook.orders_n", len(p.Rows)), f.After != "", resendsPath, f.Next != "",
		resendsPath+"?after="+url.QueryEscape(f.Next))
	return p
}

// endpointOptions are endpoints as choices.
func endpointOptions(ctx context.Context, endpoints []webhook.Endpoint) (list []ui.Option) {
	for _, e := range endpoints {
		label := words.T(ctx, "webhook.endpoint_choice", "Name", e.Name, "URL", e.URL)
		if !e.Active {
			label = words.T(ctx, "webhook.endpoint_choice_off", "Name", e.Name, "URL", e.URL)
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
	Order   delivery.Order
	Planned delivery.Planned
	Names   map[string]string
}

// reviewOf says how many events an order would send.
func reviewOf(ctx context.Context, shell layout.Page, typed ui.Form, r reviewed,
	zone *time.Location) dashboard.ResendReviewProps {
	p := dashboard.ResendReviewProps{Page: shell, BackHref: resendsPath + "?" + orderQuery(typed.Values, r.Order.Types),
		What: orderText(ctx, r.Order, r.Names, zone), Count: plannedText(ctx, r), Nothing: r.Planned.Deliveries == 0}
	for _, name := range orderFields {
		p.Fields = append(p.Fields, dashboard.HiddenField{Name: name, Value: typed.Value(name)})
	}
	for _, kind := range r.Order.Types {
		p.Fields = append(p.Fields, dashboard.HiddenField{Name: "types", Value: kind})
	}
	return p
}

func plannedText(ctx context.Context, r reviewed) string {
	events, endpoints := words.N(ctx, "webhook.events_n", r.Planned.Events),
		words.N(ctx, "webhook.endpoints_n", r.Planned.Endpoints)
	switch {
	case r.Planned.Deliveries == 0 && r.Order.Failed:
		return words.T(ctx, "webhook.planned_none_failed")
	case r.Planned.Deliveries == 0:
		return words.T(ctx, "webhook.planned_none")
	case r.Order.EndpointID != "":
		return words.N(ctx, "webhook.planned_one", r.Planned.Deliveries)
	case r.Order.Failed:
		return words.T(ctx, "webhook.planned_failed", "Events", events, "Endpoints", endpoints)
	}
	return words.T(ctx, "webhook.planned", "Events", events, "Endpoints", endpoints, "Deliveries",
		words.N(ctx, "webhook.deliveries_n", r.Planned.Deliveries))
}

// orderText says which events an order is for, and where they go.
func orderText(ctx context.Context, o delivery.Order, names map[string]string, zone *time.Location) string {
	text := orderRange(ctx, o, zone)
	if len(o.Types) > 0 {
		text = words.T(ctx, "webhook.order_types", "Events", text, "Types", strings.Join(o.Types, ", "))
	}
	name, known := names[o.EndpointID]
	switch {
	case o.EndpointID == "":
		return words.T(ctx, "webhook.order_every", "Events", text)
	case known:
		return words.T(ctx, "webhook.order_one", "Events", text, "Name", name)
	}
	return words.T(ctx, "webhook.order_deleted", "Events", text)
}

// orderRange describes an order's period and whether it has all events.
func orderRange(ctx context.Context, o delivery.Order, zone *time.Location) string {
	from := ui.TimeText(ctx, o.From.In(zone))
	switch {
	case o.Before == nil && o.Failed:
		return words.T(ctx, "webhook.order_failed_now", "From", from)
	case o.Before == nil:
		return words.T(ctx, "webhook.order_all_now", "From", from)
	case o.Failed:
		return words.T(ctx, "webhook.order_failed", "From", from, "To", ui.TimeText(ctx, o.Before.In(zone)))
	}
	return words.T(ctx, "webhook.order_all", "From", from, "To", ui.TimeText(ctx, o.Before.In(zone)))
}

// resendRow is an order as pages show it.
func resendRow(ctx context.Context, r delivery.Resend, names map[string]string,
	zone *time.Location) dashboard.ResendRow {
	o := delivery.Order{EndpointID: r.EndpointID, Types: r.Types, From: r.From, Before: &r.Before, Failed: r.Failed}
	row := dashboard.ResendRow{ID: r.ID, What: orderText(ctx, o, names, zone), Created: r.CreatedAt.In(zone),
		Total: r.Total, Walked: r.Walked,
		Made: r.Made, Delivered: r.Delivered, Failed: r.Failures, Waiting: max(0, r.Made-r.Delivered-r.Failures),
		Later: r.Superseded}
	switch {
	case r.Payments > 0 && r.Failed:
		row.What = words.N(ctx, "webhook.order_payments_failed", r.Payments)
	case r.Payments > 0:
		row.What = words.N(ctx, "webhook.order_payments", r.Payments)
	}
	if r.DoneAt != nil {
		row.Done, row.Waiting = r.DoneAt.In(zone), 0
	}
	switch r.State {
	case delivery.ResendQueueing:
		row.State, row.Tone, row.Working = words.T(ctx, "webhook.resend_queueing"), ui.Info, true
	case delivery.ResendSending:
		row.State, row.Tone, row.Working = words.T(ctx, "webhook.resend_sending"), ui.Info, true
	case delivery.ResendStopped:
		row.State, row.Tone = words.T(ctx, "webhook.resend_stopped"), ui.Warn
	default:
		if row.State, row.Tone = words.T(ctx, "webhook.resend_done"), ui.Good; r.Failures > 0 {
			row.State, row.Tone = words.T(ctx, "webhook.resend_done_failed", "N", strconv.Itoa(r.Failures)), ui.Warn
		}
	}
	return row
}
