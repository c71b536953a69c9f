package api

import (
	"net/http"
	"strings"

	"cointill/handlers/api/openapi"

	"github.com/danielgtaylor/huma/v2"
)

// operation is one endpoint: its documentation and its handler.
type operation struct {
	openapi.Operation
	run handler
}

// listOperations returns every endpoint, in the order of the reference.
func (s *service) listOperations() []*operation {
	var all []*operation
	for _, group := range [][]*operation{
		s.paymentOperations(), s.resolveOperations(), s.customerOperations(),
		s.methodOperations(), s.linkOperations(), s.webhookOperations(), s.deliveryOperations(),
		s.eventOperations(), s.resendOperations(), s.sendOperations(), s.signingOperations(), s.bookOperations(),
		s.keyOperations(), s.sandboxOperations(), s.sandboxSendOperations(),
	} {
		all = append(all, group...)
	}
	for _, op := range all {
		if op.Status == 0 {
			op.Status = http.StatusOK
		}
	}
	return all
}

// fiberPath writes a path as the router wants it.
func fiberPath(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
}

func pathParam(name, about, example string) *huma.Param {
	return &huma.Param{Name: name, In: "path", Required: true, Description: about, Example: example,
		Schema: &huma.Schema{Type: huma.TypeString, MaxLength: pointerTo(100)}}
}

func textParam(name, about, example string) *huma.Param {
	return &huma.Param{Name: name, In: "query", Description: about, Example: example,
		Schema: &huma.Schema{Type: huma.TypeString, MaxLength: pointerTo(maxParameter)}}
}

func enumParam(name, about string, values []string) *huma.Param {
	schema := &huma.Schema{Type: huma.TypeString}
	for _, v := range values {
		schema.Enum = append(schema.Enum, v)
	}
	return &huma.Param{Name: name, In: "query", Description: about, Example: values[0], Schema: schema}
}

func timeParam(name, about, example string) *huma.Param {
	return &huma.Param{Name: name, In: "query", Description: about, Example: example,
		Schema: &huma.Schema{Type: huma.TypeString, Description: "RFC 3339 time, or a day."}}
}

// pageParams are what every list takes.
func pageParams() []*huma.Param {
	least, most := 1.0, float64(maxLimit)
	return []*huma.Param{
		{Name: "limit", In: "query", Description: "How many items a page has.", Example: defaultLimit,
			Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: &least, Maximum: &most, Default: defaultLimit}},
		textParam("cursor", "`meta.next_cursor` of the page before; leave it out for the first page.", ""),
	}
}

func pointerTo(n int) *int { return &n }
