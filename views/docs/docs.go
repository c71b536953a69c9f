// Package docs holds the API reference. It is rendered from plain data, which
// comes from the OpenAPI document, and needs no JavaScript.
package docs

import "cointill/views/ui"

// ReferenceProps is the whole reference.
type ReferenceProps struct {
	// BaseURL is the address of this instance; Version is the document's.
	BaseURL, Version string
	Groups           []Group
	// Chapter is the ID of the group that is shown; empty shows what all calls have in common.
	Chapter string
	// Errors is the catalogue of machine codes; Events the catalogue of events.
	Errors []ErrorCode
	// FieldErrors are the codes of fields, without a status.
	FieldErrors []ErrorCode
	Events      []Event
	// Scenarios are what the sandbox can do.
	Scenarios []Scenario
	// VerifyExample is a complete program that checks a delivery; its language
	// is named in VerifyLanguage.
	VerifyExample, VerifyLanguage string
	// Quickstart is a curl command that works as it stands.
	Quickstart string
}

// FindGroup returns the group that is shown, or nil.
func (p ReferenceProps) FindGroup() *Group {
	for i := range p.Groups {
		if p.Groups[i].ID == p.Chapter {
			return &p.Groups[i]
		}
	}
	return nil
}

// Group is a chapter of operations. ID is the last part of its page's path.
type Group struct {
	ID, Title, Text string
	Operations      []Operation
}

// Operation is one method of one path. ID is its anchor.
type Operation struct {
	ID, Method, Path, Summary, Description string
	Parameters                             []Field
	Request                                []Field
	Responses                              []Response
	// Examples are programs that call it. The first is shown, the others open.
	Examples []Example
}

// Example is a program in a language.
type Example struct{ Language, Text string }

// Field is a parameter or a field of a body. In is path, query or header, and
// empty for a body.
type Field struct {
	Name, In, Type string
	Required       bool
	Text           string
}

// describeType says what the field holds and where it stands. "required" follows a required field's.
func (f Field) describeType() string {
	text := f.Type
	if f.In != "" {
		text += ", in the " + f.In
	}
	if f.Required {
		text += ","
	}
	return text
}

// Response is one answer, with an example as indented JSON.
type Response struct{ Status, Text, Example string }

// ErrorCode is one machine code of the envelope.
type ErrorCode struct{ Code, Status, Text string }

// Event is one type of event.
type Event struct{ Type, Text string }

// Scenario is one thing that the sandbox can do to a payment.
type Scenario struct{ Code, Text string }

func verbTone(method string) string {
	switch method {
	case "GET":
		return "tone-info"
	case "DELETE":
		return "tone-bad"
	case "PATCH", "PUT":
		return "tone-warn"
	}
	return "tone-good"
}

func statusTone(status string) ui.Tone {
	if status != "" && (status[0] == '2' || status[0] == '3') {
		return ui.Good
	}
	return ui.Warn
}

func statusIcon(status string) string {
	if statusTone(status) == ui.Good {
		return "check-circle"
	}
	return "warning"
}

const errorExample = `{
  "status": false,
  "message": "Some fields need another look.",
  "code": "validation_failed",
  "errors": {
    "currency": ["Use GHC for the Ghana cedi."]
  },
  "error_codes": {
    "currency": ["unknown_value"]
  },
  "request_id": "req_…"
}`

const eventExample = `{
  "id": "evt_…",
  "type": "payment.successful",
  "timestamp": "2026-11-21T05:14:09.481516Z",
  "domain": "test",
  "sequence": 4,
  "data": { "the verification record": "as GET /v1/payment/verify answers it" }
}`
