package body

import (
	"bytes"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/core/fault"
	"cointill/core/webhook"
)

// Named is a field that must be an object whose members are strings.
type Named struct {
	Given   bool
	Members []member // in their order
}

// member is one of them.
type member struct{ name, value string }

func (n *Named) readValue(raw jsontext.Value) fault.Message {
	problem := fault.NewMessage("Must be an object whose values are strings.")
	if raw.Kind() != '{' {
		return problem
	}
	found := []member{}
	in := jsontext.NewDecoder(bytes.NewReader(raw))
	if _, err := in.ReadToken(); err != nil {
		return problem
	}
	for in.PeekKind() != '}' {
		name, err := in.ReadToken()
		if err != nil || len(found) == maxTexts {
			return problem
		}
		one := member{name: name.String()} // before the token's text is overwritten
		item, err := in.ReadValue()
		var value Text
		if err != nil || !value.readValue(item).IsZero() {
			return problem
		}
		one.value = value.Value
		found = append(found, one)
	}
	n.Given, n.Members = true, found
	return fault.Message{}
}

// Schema documents the type.
func (Named) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeString}}
}

// ListHeaders returns the members as headers.
func (n Named) ListHeaders() (list []webhook.Header) {
	for _, m := range n.Members {
		list = append(list, webhook.Header{Name: m.name, Value: m.value})
	}
	return list
}
