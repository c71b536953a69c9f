package api

import (
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"cointill/core/account/apikey"
	"cointill/core/clock"
	"cointill/core/webhook"
	"cointill/handlers/api/body"
	"cointill/handlers/api/openapi"
)

// webhookRequest is the body of POST /v1/webhooks (interface section 4.3).
type webhookRequest struct {
	_       struct{}   `additionalProperties:"true"`
	Type    body.Text  `json:"type" minLength:"1" maxLength:"100" example:"orders" doc:"Name of the webhook, for people."`
	URL     body.Text  `json:"url" maxLength:"2048" example:"https://shop.example.com/webhooks/cointill" doc:"Where events are posted to: https, in the test domain http too."`
	Active  body.Flag  `json:"active" example:"true" doc:"Whether it receives events."`
	Events  body.Texts `json:"events,omitempty" maxItems:"15" doc:"Types of events that it receives; all when empty. A webhook.test always comes."`
	Headers body.Named `json:"headers,omitempty" doc:"Headers that its deliveries carry beside ours, such as a gateway's key: at most 10, names of up to 64 characters, values of up to 512 visible ASCII ones."`
}

// webhookPatch is the body of PATCH /v1/webhooks/{id}: omitted fields stay.
type webhookPatch struct {
	_       struct{}   `additionalProperties:"true"`
	Type    body.Text  `json:"type,omitempty" minLength:"1" maxLength:"100" example:"orders" doc:"Name of the webhook."`
	URL     body.Text  `json:"url,omitempty" maxLength:"2048" example:"https://shop.example.com/webhooks/cointill" doc:"Where events are posted to."`
	Active  body.Flag  `json:"active,omitempty" example:"false" doc:"Whether it receives events. Switching one on forgives its failures."`
	Events  body.Texts `json:"events,omitempty" maxItems:"15" doc:"Types of events that it receives; all when empty."`
	Headers body.Named `json:"headers,omitempty" doc:"Headers that its deliveries carry, in place of all there were. A value of •••• keeps the one there is."`
}

// WebhookData is a webhook (interface section 2.4).
type WebhookData struct {
	ID        string            `json:"id" example:"whk_3K9V7QZ2M4X8N6B1C5D0F7G2HJ" doc:"The webhook's id."`
	Type      string            `json:"type" example:"orders" doc:"Name of the webhook."`
	Domain    string            `json:"domain" enum:"test,live" example:"test" doc:"Environment whose events it receives."`
	URL       string            `json:"url" example:"https://shop.example.com/webhooks/cointill" doc:"Where events are posted to."`
	Events    []string          `json:"events" doc:"Types of events that it receives; empty for all."`
	Headers   map[string]string `json:"headers" doc:"Headers that its deliveries carry beside ours. Their values are not shown again: •••• stands for them."`
	Status    string            `json:"status" enum:"active,inactive" example:"active" doc:"An inactive webhook receives no events."`
	OffReason string            `json:"off_reason" example:"" doc:"Why it was switched off for you after failures; empty otherwise."`
	Failing   *string           `json:"failing_since" format:"date-time" example:"2026-01-31T12:00:00.000000Z" doc:"First of the failures that no success has interrupted; null when the last delivery succeeded."`
	Overlap   *string           `json:"old_secret_until" format:"date-time" example:"2026-02-01T12:00:00.000000Z" doc:"Until when the secret before the last rotation signs too; null when there was none."`
	UpdatedAt string            `json:"updated_at" format:"date-time" example:"2026-01-31T12:00:00.000000Z" doc:"When it was last changed."`
	CreatedAt string            `json:"created_at" format:"date-time" example:"2026-01-31T12:00:00.000000Z" doc:"When it was registered."`
}

// webhookSecretData is a webhook with its signing secret, which is shown only once.
type webhookSecretData struct {
	WebhookData
	Secret string `json:"secret" example:"whsec_c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IQ==" doc:"Verifies deliveries. Store it now: it is shown only here and on rotation."`
}

// deletedData names the deleted object.
type deletedData struct {
	ID      string `json:"id" example:"whk_3K9V7QZ2M4X8N6B1C5D0F7G2HJ" doc:"What was deleted."`
	Deleted bool   `json:"deleted" example:"true" doc:"Always true."`
}

// testedData is the answer about a test event.
type testedData struct {
	EventID string `json:"event_id" example:"evt_3K9V7QZ2M4X8N6B1C5D0F7G2HJ" doc:"The webhook.test event that is being sent."`
}

func (s *service) webhookOperations() []*operation {
	id := []*huma.Param{pathParam("id", "Id of the webhook.", "whk_3K9V7QZ2M4X8N6B1C5D0F7G2HJ")}
	const tag = "Webhooks"
	return []*operation{
		{Operation: openapi.Operation{Method: http.MethodPost, Path: "/v1/webhooks", ID: "createWebhook",
			Permission: apikey.Webhooks, Tag: tag, Status: http.StatusCreated,
			Summary: "Register a webhook", Message: "Webhook registered. Keep its secret: it is not shown again.",
			About: "Events of the key's domain are posted to the URL, signed with the secret of this answer. " +
				"`events` narrows them to some types; `headers` are sent with each, except those that are ours, the " +
				"body's or the connection's to set.",
			Request: webhookRequest{},
			Sample: json.RawMessage(
				`{"type":"orders","url":"https://shop.example.com/webhooks/cointill","active":true}`),
			Data: webhookSecretData{}, Refusals: []int{400, 409, 413, 415}},
			run: runEffect(createWebhook, showSecret)},
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/webhooks", ID: "listWebhooks",
			Permission: apikey.Webhooks, Tag: tag, Summary: "List webhooks", Message: "Webhooks found.",
			About: "Lists webhooks, newest first.", Params: pageParams(), Data: WebhookData{}, Many: true},
			run: listWebhooks},
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/webhooks/{id}", ID: "getWebhook",
			Permission: apikey.Webhooks, Tag: tag, Summary: "Get a webhook", Message: "Webhook found.",
			About:  "One webhook. How its deliveries went is under `deliveries`, what it missed under `missed`.",
			Params: id, Data: WebhookData{}, Refusals: []int{404}},
			run: runRead(passParam("id", "webhook", findWebhook), showWebhook)},
		{Operation: openapi.Operation{Method: http.MethodPatch, Path: "/v1/webhooks/{id}",
			ID: "updateWebhook", Permission: apikey.Webhooks, Tag: tag,
			Summary: "Change a webhook", Message: "Webhook changed.",
			About: "Changes what is given and leaves the rest: `{\"active\": false}` switches it off. " +
				"What happens while it is off is listed as skipped and can be sent later: see `missed` and `resend`.",
			Params: id, Request: webhookPatch{}, Sample: json.RawMessage(`{"active":false}`), Data: WebhookData{},
			Refusals: []int{400, 404, 413, 415}},
			run: runEffect(passParam("id", "webhook", updateWebhook), showWebhook)},
		{Operation: openapi.Operation{Method: http.MethodDelete, Path: "/v1/webhooks/{id}",
			ID: "deleteWebhook", Permission: apikey.Webhooks, Tag: tag,
			Summary: "Delete a webhook", Message: "Webhook deleted.",
			About: "Deletes it. What was still to be delivered to it is cancelled.", Params: id, Data: deletedData{},
			Refusals: []int{404}},
			run: runEffect(passParam("id", "webhook", deleteWebhook),
				func(_ *call, id string) (any, error) { return deletedData{ID: id, Deleted: true}, nil })},
		{Operation: openapi.Operation{Method: http.MethodPost, Path: "/v1/webhooks/{id}/rotate-secret",
			ID:         "rotateWebhookSecret",
			Permission: apikey.Webhooks, Tag: tag, Summary: "Rotate a webhook's secret",
			Message: "Secret rotated. Keep the new one: it is not shown again.",
			About:   "Makes a new secret. For 24 hours deliveries are signed by those before, too.",
			Params:  id, Data: webhookSecretData{}, Refusals: []int{404, 409}},
			run: runEffect(passParam("id", "webhook", rotateSecret), showSecret)},
		{Operation: openapi.Operation{Method: http.MethodPost, Path: "/v1/webhooks/{id}/test",
			ID: "testWebhook", Permission: apikey.Webhooks, Tag: tag,
			Summary: "Send a test event", Message: "Test event on its way.",
			About: "Sends a `webhook.test` event to this webhook alone.", Params: id, Data: testedData{},
			Refusals: []int{404, 409}},
			run: runEffect(passParam("id", "webhook", testWebhook),
				func(_ *call, id string) (any, error) { return testedData{EventID: id}, nil })},
	}
}

func showEndpoint(e webhook.Endpoint) WebhookData {
	headers := map[string]string{}
	for _, h := range e.Headers {
		headers[h.Name] = h.Value
	}
	return WebhookData{
		ID: e.ID, Type: e.Name, Domain: string(e.Domain), URL: e.URL, Events: append([]string{}, e.Types...),
		Headers: headers,
		Status:  e.Status(), OffReason: e.OffReason, Failing: formatStamp(e.FailingSince),
		Overlap: formatStamp(e.OverlapUntil), UpdatedAt: clock.Format(e.UpdatedAt), CreatedAt: clock.Format(e.CreatedAt),
	}
}

func showWebhook(_ *call, e webhook.Endpoint) (any, error) { return showEndpoint(e), nil }

func showSecret(_ *call, made webhook.WithSecret) (any, error) {
	return webhookSecretData{WebhookData: showEndpoint(made.Endpoint), Secret: made.Secret}, nil
}

func createWebhook(c *call) (webhook.WithSecret, error) {
	in, problems, err := readBody[webhookRequest](c)
	if err != nil {
		return webhook.WithSecret{}, err
	}
	wanted := webhook.Create{Name: in.Type.Value, URL: in.URL.Value, Active: in.Active.Value, Types: in.Events.Values,
		Headers: in.Headers.ListHeaders()}
	if len(problems) > 0 {
		return webhook.WithSecret{}, body.JoinRefusals(problems, wanted.Check(c.scope.Domain))
	}
	made, secret, err := c.api.Webhooks.Create(c.ctx, c.scope, wanted)
	return webhook.WithSecret{Endpoint: made, Secret: secret}, err
}

func listWebhooks(c *call) error {
	q := c.newQuery()
	after, limit := q.readText("cursor"), q.readLimit()
	if err := q.validationError(); err != nil {
		return err
	}
	found, next, err := c.api.Webhooks.List(c.ctx, c.scope, after, limit)
	if err != nil {
		return err
	}
	return answerList(c, showAll(found, showEndpoint), next)
}

func findWebhook(c *call, id string) (webhook.Endpoint, error) {
	return c.api.Webhooks.Find(c.ctx, c.scope, id)
}

func updateWebhook(c *call, id string) (webhook.Endpoint, error) {
	in, problems, err := readBody[webhookPatch](c)
	if err != nil {
		return webhook.Endpoint{}, err
	}
	change := webhook.Change{Name: in.Type.Pointer(), URL: in.URL.Pointer(), Active: in.Active.Pointer()}
	if in.Events.Given {
		change.Types = &in.Events.Values
	}
	if in.Headers.Given {
		headers := in.Headers.ListHeaders()
		change.Headers = &headers
	}
	if len(problems) > 0 {
		return webhook.Endpoint{}, body.JoinRefusals(problems, change.Check(c.scope.Domain))
	}
	return c.api.Webhooks.Update(c.ctx, c.scope, id, change)
}

func deleteWebhook(c *call, id string) (string, error) {
	return id, c.api.Webhooks.Delete(c.ctx, c.scope, id)
}

func rotateSecret(c *call, id string) (webhook.WithSecret, error) {
	made, secret, err := c.api.Webhooks.RotateSecret(c.ctx, c.scope, id)
	return webhook.WithSecret{Endpoint: made, Secret: secret}, err
}

func testWebhook(c *call, id string) (string, error) {
	return c.api.Deliveries.SendTest(c.ctx, c.scope, id)
}
