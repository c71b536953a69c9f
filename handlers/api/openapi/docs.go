package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"cointill/core/fault"
	"cointill/core/sandbox"
	"cointill/handlers/api/body"
	"cointill/handlers/api/catalogue"
	"cointill/handlers/page"
	"cointill/views/docs"
)

// MaxAge is for how many seconds the document may be cached.
const MaxAge = "300"

// DocsRoutes declares the pages of the reference: what all calls have in common, and a page for
// each group of calls. Everything on them is taken from the document.
func DocsRoutes(r page.Payers, document func() *Document) {
	props := sync.OnceValue(func() docs.ReferenceProps { return document().Reference() })
	show := func(c *page.Ctx) error {
		shown := props()
		shown.Chapter = c.Params("chapter")
		if shown.Chapter != "" && shown.FindGroup() == nil {
			return fault.Missing("page of the reference")
		}
		c.Set("Cache-Control", "public, max-age="+MaxAge)
		return c.Render(docs.Reference(shown))
	}
	r.Get("/docs", show)
	r.Get("/docs/:chapter", show)
}

// Reference is the document as the page shows it.
func (d *Document) Reference() docs.ReferenceProps {
	props := docs.ReferenceProps{BaseURL: d.baseURL, Version: d.version, VerifyExample: verifyProgram,
		VerifyLanguage: "Node"}
	for _, tag := range tags {
		group := docs.Group{ID: strings.ToLower(strings.ReplaceAll(tag.Name, " ", "-")), Title: tag.Name,
			Text: tag.Description}
		for _, op := range d.table {
			if op.Tag == tag.Name {
				group.Operations = append(group.Operations, d.docsOperation(op))
			}
		}
		props.Groups = append(props.Groups, group)
	}
	for _, c := range catalogue.Codes() {
		props.Errors = append(props.Errors, docs.ErrorCode{Code: c.Code, Status: strconv.Itoa(c.Status),
			Text: c.Meaning + " " + c.Do})
	}
	for _, c := range fault.FieldCodes() {
		props.FieldErrors = append(props.FieldErrors, docs.ErrorCode{Code: c.Code, Text: c.Meaning})
	}
	for _, e := range catalogue.Events() {
		props.Events = append(props.Events, docs.Event{Type: e.Type, Text: e.When})
	}
	for _, s := range sandbox.Scenarios() {
		props.Scenarios = append(props.Scenarios, docs.Scenario{Code: s.Code, Text: s.Explanation})
	}
	props.Quickstart = d.exampleRequest(d.table[0]).writeCurl()
	return props
}

func (d *Document) docsOperation(op *Operation) docs.Operation {
	shown := docs.Operation{
		ID: op.ID, Method: op.Method, Path: op.Path, Summary: op.Summary,
		Description: strings.ReplaceAll(op.describe(), "`", ""), Examples: d.exampleRequest(op).listExamples(),
	}
	for _, p := range op.Params {
		shown.Parameters = append(shown.Parameters, docs.Field{Name: p.Name, In: p.In, Type: typeName(p.Schema),
			Required: p.Required, Text: plainText(p.Description)})
	}
	if op.Method == http.MethodPost {
		p := d.openapi.Components.Parameters["IdempotencyKey"]
		shown.Parameters = append(shown.Parameters, docs.Field{Name: p.Name, In: p.In, Type: typeName(p.Schema),
			Text: p.Description})
	}
	shown.Request = d.requestFields(op)
	described := d.findOperation(op)
	statuses := make([]string, 0, len(described.Responses))
	for status := range described.Responses {
		statuses = append(statuses, status)
	}
	slices.Sort(statuses)
	for _, status := range statuses {
		response := described.Responses[status]
		if name, referred := strings.CutPrefix(response.Ref, "#/components/responses/"); referred {
			shown.Responses = append(shown.Responses,
				docs.Response{Status: status, Text: d.openapi.Components.Responses[name].Description})
			continue
		}
		sample := indentJSON(d.sampleOf(response.Content["application/json"].Schema, 0))
		shown.Responses = append(shown.Responses, docs.Response{Status: status, Text: response.Description,
			Example: sample})
	}
	return shown
}

// findOperation returns the operation as it stands in the document.
func (d *Document) findOperation(op *Operation) *huma.Operation {
	item := d.openapi.Paths[op.Path]
	switch op.Method {
	case http.MethodGet:
		return item.Get
	case http.MethodPost:
		return item.Post
	case http.MethodPatch:
		return item.Patch
	}
	return item.Delete
}

// requestFields are the fields of an operation's body, in the order of its struct.
func (d *Document) requestFields(op *Operation) (fields []docs.Field) {
	if op.Request == nil {
		return nil
	}
	schema := d.followRef(d.findOperation(op).RequestBody.Content["application/json"].Schema)
	of := reflect.TypeOf(op.Request)
	for i := range of.NumField() {
		if !of.Field(i).IsExported() {
			continue
		}
		name, optional := body.FieldName(of.Field(i))
		property := schema.Properties[name]
		fields = append(fields, docs.Field{Name: name, Type: typeName(property), Required: !optional,
			Text: plainText(property.Description)})
	}
	return fields
}

// followRef returns the schema that a reference names.
func (d *Document) followRef(s *huma.Schema) *huma.Schema {
	if name, referred := strings.CutPrefix(s.Ref, schemas); referred {
		return d.openapi.Components.Schemas.Map()[name]
	}
	return s
}

// typeName says a schema's type in words.
func typeName(s *huma.Schema) string {
	switch {
	case len(s.OneOf) > 0:
		return "object or array"
	case len(s.Enum) > 0 && len(s.Enum) <= 6:
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Enum), " ", ", "), "[]")
	case s.Format != "" && s.Type == huma.TypeString:
		return s.Format
	case s.Type == huma.TypeArray:
		return "array of " + typeName(s.Items) + "s"
	case s.Nullable:
		return s.Type + " or null"
	}
	return s.Type
}

func plainText(markdown string) string { return strings.ReplaceAll(markdown, "`", "") }

// pair is a member of an example; examples keep an order that reads well.
type pair struct {
	name  string
	value any
}

type pairs []pair

// MarshalJSON writes the members in their order.
func (p pairs) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, one := range p {
		if i > 0 {
			out.WriteByte(',')
		}
		name, err := json.Marshal(one.name)
		if err != nil {
			return nil, err
		}
		value, err := body.EncodeJSON(one.value)
		if err != nil {
			return nil, err
		}
		out.Write(name)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// sampleOf makes an example of a schema from the examples of its properties.
func (d *Document) sampleOf(s *huma.Schema, depth int) any {
	s = d.followRef(s)
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type == huma.TypeArray && depth < 8:
		return []any{d.sampleOf(s.Items, depth+1)}
	case s.Type == huma.TypeArray:
		return []any{}
	case s.Type == huma.TypeObject && depth < 8:
		members := pairs{}
		for _, name := range d.orderFields(s) {
			members = append(members, pair{name, d.sampleOf(s.Properties[name], depth+1)})
		}
		return members
	case s.Type == huma.TypeString:
		return ""
	}
	return nil
}

// orderFields returns the names of a schema's properties: the envelope's in the contract's order,
// others in the order of the Go type's fields.
func (d *Document) orderFields(s *huma.Schema) []string {
	rank := map[string]int{}
	for i, name := range []string{"status", "message", "data", "meta"} {
		rank[name] = i - 4
	}
	for name, schema := range d.openapi.Components.Schemas.Map() {
		if schema != s {
			continue
		}
		rank = map[string]int{}
		for i, field := range reflect.VisibleFields(d.openapi.Components.Schemas.TypeFromRef(schemas + name)) {
			json, _ := body.FieldName(field)
			rank[json] = i
		}
	}
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	slices.SortStableFunc(names, func(a, b string) int { return rank[a] - rank[b] })
	return names
}

func indentJSON(v any) string {
	text, err := body.EncodeJSON(v)
	if err != nil {
		panic("openapi: an example can't be written: " + err.Error()) // a mistake in the table, found by every test
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		panic("openapi: an example is no JSON: " + err.Error())
	}
	return out.String()
}

// verifyProgram checks deliveries; docs/webhooks.md holds the same, and a test compares them.
const verifyProgram = `import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.COINTILL_WEBHOOK_SECRET); // whsec_…

createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    let event;
    try {
      event = webhook.verify(Buffer.concat(chunks), request.headers); // the raw body
    } catch {
      return response.writeHead(400).end();
    }
    response.writeHead(204).end(); // answer first, work afterwards
    console.log(event.id, event.type, event.sequence, event.data.reference);
  });
}).listen(process.env.PORT ?? 3000, "localhost");
`
