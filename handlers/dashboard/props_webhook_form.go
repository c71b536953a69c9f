package dashboard

import (
	"strconv"

	"cointill/core/webhook"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
)

// eventTexts says what each type of event tells.
var eventTexts = map[string]string{
	webhook.PaymentInitiated:          "The customer opened the payment page.",
	webhook.PaymentDetected:           "A transfer was seen, without confirmation yet.",
	webhook.PaymentProcessing:         "The transfer has its first confirmation.",
	webhook.PaymentSuccessful:         "Final, and the right amount.",
	webhook.PaymentDeclined:           "Final, but not as asked: too little, too much or too late.",
	webhook.PaymentFailed:             "The transfer did not resolve on the network.",
	webhook.PaymentAbandoned:          "Nothing came within 24 hours.",
	webhook.PaymentExpired:            "The payment page was never opened.",
	webhook.PaymentReversed:           "A final transfer was taken back by the network.",
	webhook.PaymentUnexpectedTransfer: "Money came after the end, or of another kind.",
	webhook.SendProcessing:            "A refund or payout was seen on the network.",
	webhook.SendProcessed:             "A refund or payout has confirmations.",
	webhook.SendSuccessful:            "A refund or payout is final.",
	webhook.SendFailed:                "A refund or payout did not resolve.",
}

// eventTypes are the types that can be chosen; a test event always arrives.
func eventTypes() (list []dashboard.EventType) {
	for _, kind := range webhook.Types() {
		if kind != webhook.WebhookTest {
			list = append(list, dashboard.EventType{Name: kind, Text: eventTexts[kind]})
		}
	}
	return list
}

// webhookFields are the names of the fields of an endpoint's form.
func webhookFields() []string {
	names := []string{"type", "url", "active"}
	for _, kind := range eventTypes() {
		names = append(names, "event."+kind.Name)
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
	for _, kind := range eventTypes() {
		if typed.On("event." + kind.Name) {
			types = append(types, kind.Name)
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
func webhookFormProps(page layout.Page, typed ui.Form, e webhook.Endpoint) dashboard.WebhookFormProps {
	p := dashboard.WebhookFormProps{Page: page, Form: typed, ID: e.ID, Name: e.Name, Types: eventTypes()}
	spare := 0
	for i := range webhook.MaxHeaders {
		name, kept := typed.Value(headerField("name", i)), typed.Value(headerField("kept", i))
		row := dashboard.HeaderRow{Name: name, Value: typed.Value(headerField("value", i)), Kept: kept != "" && kept == name, Errors: typed.Errors["headers."+name]}
		if row.Name == "" && row.Value == "" {
			if spare++; spare > spareHeaders {
				break
			}
		}
		p.Headers = append(p.Headers, row)
	}
	return p
}
