package webhooks

import (
	"context"
	"slices"
	"strconv"

	"cointill/core/webhook"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// eventWords are the messages that say what each type of event tells.
var eventWords = map[string]string{
	webhook.PaymentInitiated:          "webhook.event_initiated",
	webhook.PaymentDetected:           "webhook.event_detected",
	webhook.PaymentProcessing:         "webhook.event_processing",
	webhook.PaymentSuccessful:         "webhook.event_successful",
	webhook.PaymentDeclined:           "webhook.event_declined",
	webhook.PaymentFailed:             "webhook.event_failed",
	webhook.PaymentAbandoned:          "webhook.event_abandoned",
	webhook.PaymentExpired:            "webhook.event_expired",
	webhook.PaymentReversed:           "webhook.event_reversed",
	webhook.PaymentRestored:           "webhook.event_restored",
	webhook.PaymentUnexpectedTransfer: "webhook.event_unexpected",
	webhook.SendProcessing:            "webhook.event_send_processing",
	webhook.SendProcessed:             "webhook.event_send_processed",
	webhook.SendSuccessful:            "webhook.event_send_successful",
	webhook.SendFailed:                "webhook.event_send_failed",
	webhook.SendCancelled:             "webhook.event_send_cancelled",
}

// chosenTypes are the types that can be chosen; a test event always arrives.
func chosenTypes() []string {
	return slices.DeleteFunc(webhook.Types(), func(kind string) bool { return kind == webhook.WebhookTest })
}

// eventTypes are those types with what each tells.
func eventTypes(ctx context.Context) (list []dashboard.EventType) {
	for _, kind := range chosenTypes() {
		list = append(list, dashboard.EventType{Name: kind, Text: words.T(ctx, eventWords[kind])})
	}
	return list
}

// webhookFields are the names of the fields of an endpoint's form.
func webhookFields() []string {
	names := []string{"type", "url", "active"}
	for _, kind := range chosenTypes() {
		names = append(names, "event."+kind)
	}
	for i := range webhook.MaxHeaders {
		for _, part := range []string{"name", "value", "kept", "drop"} {
			names = append(names, headerField(part, i))
		}
	}
	return names
}

func headerField(part string, i int) string { return "header_" + part + "_" + strconv.Itoa(i) }

// typesIn are the types that are ticked; none means all.
func typesIn(typed ui.Form) (types []string) {
	for _, kind := range chosenTypes() {
		if typed.On("event." + kind) {
			types = append(types, kind)
		}
	}
	return types
}

// headersIn are the headers of the form: one that was there keeps its value
// unless another is typed.
func headersIn(typed ui.Form) (headers []webhook.Header) {
	for i := range webhook.MaxHeaders {
		name, value := typed.Value(headerField("name", i)), typed.Value(headerField("value", i))
		switch {
		case typed.On(headerField("drop", i)) || name == "" && value == "":
			continue
		case value == "" && name == typed.Value(headerField("kept", i)):
			value = webhook.Mask
		}
		headers = append(headers, webhook.Header{Name: name, Value: value})
	}
	return headers
}

// webhookValues are an endpoint's fields as its form holds them.
func webhookValues(e webhook.Endpoint) map[string]string {
	values := map[string]string{"type": e.Name, "url": e.URL}
	for _, kind := range e.Types {
		values["event."+kind] = "true"
	}
	for i, header := range e.Headers {
		values[headerField("name", i)], values[headerField("kept", i)] = header.Name, header.Name
	}
	return values
}

// spareHeaders is how many empty rows the form offers.
const spareHeaders = 2

// webhookFormProps is the form of an endpoint; a new one has no id.
func webhookFormProps(ctx context.Context, shell layout.Page, typed ui.Form,
	e webhook.Endpoint) dashboard.WebhookFormProps {
	p := dashboard.WebhookFormProps{Page: shell, Form: typed, ID: e.ID, Name: e.Name, Types: eventTypes(ctx)}
	spare := 0
	for i := range webhook.MaxHeaders {
		name, kept := typed.Value(headerField("name", i)), typed.Value(headerField("kept", i))
		row := dashboard.HeaderRow{Name: name, Value: typed.Value(headerField("value", i)), Kept: kept != "" &&
			kept == name, Errors: typed.Errors["headers."+name]}
		if row.Name == "" && row.Value == "" {
			if spare++; spare > spareHeaders {
				break
			}
		}
		p.Headers = append(p.Headers, row)
	}
	return p
}
