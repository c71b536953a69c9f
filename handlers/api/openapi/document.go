package openapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"cointill/core/payment/record"
	"cointill/core/send"
	"cointill/core/webhook"
	"cointill/handlers/api/body"
	"cointill/handlers/api/catalogue"
	"cointill/handlers/page"
)

// Document describes the interface.
type Document struct {
	// JSON is the OpenAPI 3.1 document.
	JSON []byte

	openapi *huma.OpenAPI
	table   []*Operation
	baseURL string
	version string
}

const schemas = "#/components/schemas/"

// tags are the chapters of the reference.
var tags = []*huma.Tag{
	{Name: "Payments", Description: "Initiate a payment, send the customer to its page, verify it before you " +
		"give value."},
	{Name: "Customers", Description: "The people who paid, with what their payments come to."},
	{Name: "Payment methods", Description: "What a customer can pay with, and what it costs now."},
	{Name: "Payment links", Description: "Pages on which customers start payments themselves."},
	{Name: "Webhooks", Description: "Where events are posted to."},
	{Name: "Events", Description: "What happened, and what was told of it."},
	{Name: "Sends", Description: "Refunds and payouts from your own wallet: asked for here, approved by people, signed by " +
		"the wallet."},
	{Name: "Books", Description: "Statements of periods, and the journal entries that their figures add up."},
	{Name: "Keys", Description: "The key that a request came with."},
	{Name: "Sandbox", Description: "Plays the customer and the network in the test domain. Test keys only: with a " +
		"live key these addresses hold nothing."},
}

const intro = `Accept BTC, ETH, USDT, XRP and DOGE for prices in NGN, GHC, KES or USD.

**Answers.** ` + "`{\"status\": true, \"message\": …, \"data\": …}`" + ` or ` +
	"`{\"status\": false, \"message\": …, \"code\": …, \"request_id\": …}`" + `; a refused field stands in ` +
	"`errors`" + ` by its name, all at once.
Unknown fields of a request are ignored, and named in ` + "`warnings`" + `. Numbers that must be whole are written without a point or exponent. Times are UTC with six fractional digits.

**Https.** Where this instance has an https address, a call by plain http is answered with 403: replace a key that was sent so.

**Repeating a POST.** Send ` + "`Idempotency-Key`" + `: the same key and body gets the first answer again, for 24 hours.

**Permissions.** Each endpoint names the permission that a key needs. Without it the answer is a 403 with the code ` + "`permission_missing`" + `. They are chosen when a key is made.

**Limits.** ` + "`RateLimit-Policy` and `RateLimit`" + ` tell how many requests are left; a 429 or 503 says in ` + "`Retry-After`" + ` how many seconds to wait. A body may have 64 KiB, and where a signed transaction is sent 64 KiB beside it.`

// Describe makes the document of the table. names are the schemas' names of types that don't tell them.
func Describe(table []*Operation, names map[reflect.Type]string, baseURL, version string) *Document {
	registry := huma.NewMapRegistry(schemas, nameSchemas(names))
	least, most := 1, 255
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{Title: "Cointill API", Version: "1", Description: intro,
			Extensions: map[string]any{"x-cointill-version": version}},
		Servers: []*huma.Server{{URL: baseURL, Description: "This instance"}},
		Tags:    tags,
		Components: &huma.Components{
			Schemas:   registry,
			Responses: refusalResponses(registry),
			Headers:   answerHeaders(),
			Parameters: map[string]*huma.Param{"IdempotencyKey": {Name: "Idempotency-Key", In: "header",
				Example: "order-1001-try",
				Description: "Makes a repetition of this request harmless: 1 to 255 printable ASCII characters, " +
					"kept for 24 hours.",
				Schema: &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most}}},
			SecuritySchemes: map[string]*huma.SecurityScheme{"bearer": {Type: "http", Scheme: "bearer",
				Description: "A secret key of the dashboard: sk_test_… works in the test domain, sk_live_… in the " +
					"live one."}},
		},
		Security: []map[string][]string{{"bearer": {}}},
	}
	for _, op := range table {
		doc.AddOperation(op.documentOperation(registry))
	}
	addDocumentItself(doc)
	refineSchemas(registry)
	doc.Webhooks = describeWebhooks(registry)
	tidySchemas(registry)
	d := &Document{openapi: doc, table: table, baseURL: baseURL, version: version}
	for _, op := range table {
		media := d.findOperation(op).Responses[strconv.Itoa(op.Status)].Content["application/json"]
		media.Example = d.sampleOf(media.Schema, 0)
	}
	var err error
	if d.JSON, err = json.Marshal(doc); err != nil {
		// a mistake in the table, found by every test
		panic("openapi: the document can't be written: " + err.Error())
	}
	return d
}

// nameSchemas returns a function that names types in the document. names are those of types that only the
// endpoints know.
func nameSchemas(names map[reflect.Type]string) func(t reflect.Type, hint string) string {
	all := map[reflect.Type]string{
		reflect.TypeFor[record.Record](): "Payment", reflect.TypeFor[record.Business](): "Business",
		reflect.TypeFor[record.Customer](): "Customer",
		reflect.TypeFor[record.Method]():   "MethodOfPayment",
		reflect.TypeFor[record.Detail]():   "Transaction", reflect.TypeFor[record.Move](): "Transfer",
		reflect.TypeFor[record.Rate](): "Rate", reflect.TypeFor[page.Envelope](): "Failure",
		reflect.TypeFor[record.Send](): "Refund", reflect.TypeFor[send.Summary](): "SendSummary",
	}
	maps.Copy(all, names)
	return func(t reflect.Type, hint string) string {
		if name, known := all[t]; known {
			return name
		}
		return strings.TrimSuffix(huma.DefaultSchemaNamer(t, hint), "Data")
	}
}

// documentOperation returns the operation as the document has it.
func (op *Operation) documentOperation(registry huma.Registry) *huma.Operation {
	out := &huma.Operation{
		Method: op.Method, Path: op.Path, OperationID: op.ID, Summary: op.Summary,
		Description: op.describe(),
		Tags:        []string{op.Tag}, Extensions: map[string]any{"x-permission": op.Permission},
		Parameters: op.Params, Responses: map[string]*huma.Response{},
	}
	if op.Method == http.MethodPost {
		out.Parameters = append(slices.Clone(op.Params), &huma.Param{Ref: "#/components/parameters/IdempotencyKey"})
	}
	if op.Request != nil {
		media := &huma.MediaType{Schema: registry.Schema(reflect.TypeOf(op.Request), true, ""), Example: op.Sample}
		out.RequestBody = &huma.RequestBody{Required: !op.Bodiless,
			Content: map[string]*huma.MediaType{"application/json": media}}
	}
	success := &huma.Response{Description: op.Message, Headers: headerRefs("X-Request-Id", "RateLimit-Policy",
		"RateLimit"),
		Content: map[string]*huma.MediaType{"application/json": {Schema: op.answerSchema(registry)}}}
	if op.Method == http.MethodPost {
		success.Headers["Idempotency-Replayed"] = &huma.Param{Ref: "#/components/headers/Idempotency-Replayed"}
	}
	out.Responses[strconv.Itoa(op.Status)] = success
	refusals := append([]int{401, 403, 422, 429, 500, 503}, op.Refusals...) // 422: at least for an unknown parameter
	if op.Method == http.MethodPost {
		refusals = append(refusals, 409) // an Idempotency-Key that is used already
	}
	for _, status := range refusals {
		code := strconv.Itoa(status)
		out.Responses[code] = &huma.Response{Ref: "#/components/responses/Refused" + code}
	}
	return out
}

// answerSchema is the success envelope around the operation's data.
func (op *Operation) answerSchema(registry huma.Registry) *huma.Schema {
	data := registry.Schema(reflect.TypeOf(op.Data), true, "")
	s := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false,
		Required: []string{"status", "message", "data"},
		Properties: map[string]*huma.Schema{
			"status":  {Type: huma.TypeBoolean, Enum: []any{true}, Description: "Whether the call succeeded."},
			"message": {Type: huma.TypeString, Description: "For people.", Examples: []any{op.Message}},
			"data":    data,
			"warnings": {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString},
				Description: "Only when there are any: fields that the request doesn't have, amounts that the " +
					"network can't carry."},
		}}
	if op.Many {
		s.Properties["data"] = &huma.Schema{Type: huma.TypeArray, Items: data}
		s.Properties["meta"] = registry.Schema(reflect.TypeFor[Meta](), true, "")
		s.Required = append(s.Required, "meta")
	}
	return s
}

// addDocumentItself lists the address of the document.
func addDocumentItself(doc *huma.OpenAPI) {
	doc.AddOperation(&huma.Operation{
		Method: http.MethodGet, Path: "/v1/openapi.json", OperationID: "getDocument", Summary: "This document",
		Description: "The OpenAPI 3.1 document of this interface. It needs no key.", Tags: []string{"Payments"},
		Security: []map[string][]string{},
		Responses: map[string]*huma.Response{"200": {Description: "The document.",
			Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: huma.TypeObject,
				AdditionalProperties: true}}}}},
	})
}

// answerHeaders are the headers that answers carry.
func answerHeaders() map[string]*huma.Param {
	text := func(about, example string) *huma.Param {
		return &huma.Param{Description: about, Schema: &huma.Schema{Type: huma.TypeString}, Example: example}
	}
	return map[string]*huma.Param{
		"X-Request-Id": text("Names this request. Quote it when you ask for help.",
			"req_3K9V7QZ2M4X8N6B1C5D0F7G2HJ"),
		"RateLimit-Policy": text("Requests that the key may make (q) in a window of seconds (w).",
			`"default";q=6000;w=60`),
		"RateLimit": text("Requests left (r) and seconds until the window ends (t).",
			`"default";r=5999;t=42`),
		"Retry-After":          text("Seconds to wait.", "5"),
		"WWW-Authenticate":     text("How to authenticate.", `Bearer realm="cointill"`),
		"Idempotency-Replayed": text("true when this is the first answer to the same Idempotency-Key again.", "true"),
	}
}

func headerRefs(names ...string) map[string]*huma.Param {
	refs := map[string]*huma.Param{}
	for _, name := range names {
		refs[name] = &huma.Param{Ref: "#/components/headers/" + name}
	}
	return refs
}

// refusalResponses are the answers that are no success, by status.
func refusalResponses(registry huma.Registry) map[string]*huma.Response {
	schema := registry.Schema(reflect.TypeFor[page.Envelope](), true, "")
	all := map[string]*huma.Response{}
	for status, about := range map[int]string{
		400: "The body is not JSON that can be read in one way only.", 401: "No API key, or one that doesn't work.",
		403: "Not allowed: the payment method isn't enabled, the key may not do this, or the call came by plain " +
			"http where the address is https.", 404: "Nothing of this name in the key's business and domain.",
		409: "In conflict with what is there: a business_reference that is taken, an Idempotency-Key of another " +
			"request, a state that doesn't allow it.",
		410: "It is no longer kept.", 413: "The body has more than 64 KiB, or beside a signed transaction more than that.",
		415: "The body is not application/json, or is compressed.",
		422: "Fields need attention: errors names all of them.", 429: "Too many requests.",
		500: "Something went wrong on the server.",
		503: "No rate, no chain or no database at the moment: try again after Retry-After. With the code " +
			"unavailable it may have been done all the same: repeat a POST with the same Idempotency-Key.",
	} {
		response := &huma.Response{Description: about, Headers: headerRefs("X-Request-Id"),
			Content: map[string]*huma.MediaType{"application/json": {Schema: schema, Example: sampleFailure(status)}}}
		switch status {
		case 401:
			response.Headers["WWW-Authenticate"] = &huma.Param{Ref: "#/components/headers/WWW-Authenticate"}
		case 429, 503:
			response.Headers["Retry-After"] = &huma.Param{Ref: "#/components/headers/Retry-After"}
		}
		all["Refused"+strconv.Itoa(status)] = response
	}
	return all
}

// sampleFailure is an example of a refusal.
func sampleFailure(status int) map[string]any {
	sample := map[string]any{"status": false, "request_id": "req_3K9V7QZ2M4X8N6B1C5D0F7G2HJ"}
	for _, c := range catalogue.Codes() {
		if c.Status == status {
			sample["code"], sample["message"] = c.Code, c.Meaning
			break
		}
	}
	if status == http.StatusUnprocessableEntity {
		sample["errors"] = map[string]any{"amount": []string{"Must be a whole number from 1 to 1,000,000."},
			"email": []string{"Is required."}}
		sample["error_codes"] = map[string]any{"amount": []string{"out_of_range"}, "email": []string{"required"}}
	}
	return sample
}

// describeWebhooks returns the events as receivers get them.
func describeWebhooks(registry huma.Registry) map[string]*huma.PathItem {
	header := func(name, about, example string) *huma.Param {
		return &huma.Param{Name: name, In: "header", Required: true, Description: about, Example: example,
			Schema: &huma.Schema{Type: huma.TypeString}}
	}
	params := []*huma.Param{
		header("webhook-id", "The event's id, the same at every attempt: the key to drop repetitions by.",
			"evt_3K9V7QZ2M4X8N6B1C5D0F7G2HJ"),
		header("webhook-timestamp", "Unix seconds of this attempt. Refuse what is older than five minutes.",
			"1769860999"),
		header("webhook-signature",
			"`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two, with a space between, while a secret is "+
				"rotated.",
			"v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="),
	}
	all := map[string]*huma.PathItem{}
	for _, event := range catalogue.Events() {
		body := eventBody(registry, event)
		all[event.Type] = &huma.PathItem{Post: &huma.Operation{
			OperationID: "on" + pascalCase(event.Type), Summary: event.Type, Description: event.When,
			Tags: []string{"Events"}, Parameters: params,
			Security: []map[string][]string{},
			RequestBody: &huma.RequestBody{Required: true,
				Content: map[string]*huma.MediaType{"application/json": {Schema: body}}},
			Responses: map[string]*huma.Response{
				"2XX": {Description: "Received. Anything else, a redirect too, is tried again."},
				"410": {Description: "No more, please: the webhook is switched off."},
			},
		}}
	}
	return all
}

// eventBody is the schema of the body that is posted for an event.
func eventBody(registry huma.Registry, event catalogue.EventType) *huma.Schema {
	known := registry.Map()["Event"]
	properties := maps.Clone(known.Properties)
	properties["type"] = &huma.Schema{Type: huma.TypeString, Enum: []any{event.Type}, Description: "Type of the event."}
	switch {
	case strings.HasPrefix(event.Type, "payment."):
		properties["data"] = &huma.Schema{Ref: schemas + "Payment"}
	case strings.HasPrefix(event.Type, "send."):
		properties["data"] = &huma.Schema{Ref: schemas + "SendSummary"}
	case event.Type == webhook.WebhookTest:
		properties["data"] = testEventSchema()
	default:
		properties["data"] = body.Object{}.Schema(registry)
	}
	return &huma.Schema{Type: huma.TypeObject, Required: known.Required, Properties: properties}
}

func testEventSchema() *huma.Schema {
	text := func(about string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Description: about} }
	return &huma.Schema{Type: huma.TypeObject, Description: "Names the webhook.",
		Required: []string{"message", "webhook"},
		Properties: map[string]*huma.Schema{
			"message": text("For people."),
			"webhook": {Type: huma.TypeObject, Description: "The webhook that was tested.",
				Required: []string{"id", "type", "url"},
				Properties: map[string]*huma.Schema{"id": text("Its id."), "type": text("Its name."),
					"url": text("Its URL.")}},
		}}
}

// pascalCase joins the words of an event type.
func pascalCase(text string) string {
	var out strings.Builder
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == '.' || r == '_' }) {
		out.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return out.String()
}
