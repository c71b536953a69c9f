package api

import (
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"cointill/core/account/apikey"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/payment/reference"
	"cointill/core/webhook"
	"cointill/handlers/api/body"
	"cointill/handlers/api/openapi"
)

// EventData is an event as it was sent: the same fields with the same content.
type EventData struct {
	ID        string      `json:"id" example:"evt_3K9V7QZ2M4X8N6B1C5D0F7G2HJ" doc:"The event's id; the same in every delivery, and the header webhook-id."`
	Type      string      `json:"type" example:"payment.successful" doc:"Type of the event."`
	Timestamp string      `json:"timestamp" format:"date-time" example:"2026-01-31T12:03:20.512340Z" doc:"When it happened."`
	Domain    string      `json:"domain" enum:"test,live" example:"test" doc:"Environment."`
	Sequence  int64       `json:"sequence" example:"4" doc:"Rises with each event of a payment: drop what is lower than what you know."`
	Data      body.Object `json:"data" doc:"What it is about: for payments the record that verify answers. null once the event is older than 60 days."`
}

// eventDetail is an event with the state of its deliveries.
type eventDetail struct {
	EventData
	Body       string         `json:"body" example:"{\"id\":\"evt_3K9V7QZ2M4X8N6B1C5D0F7G2HJ\"}" doc:"The bytes that are posted, as they are signed: the event once more, as text. Empty once the event is older than 60 days."`
	Deliveries []DeliveryData `json:"deliveries" doc:"One for each webhook that receives it, and for each that was off when it happened (state skipped), newest first."`
}

// redeliverRequest is the body of POST /v1/events/{id}/redeliver.
type redeliverRequest struct {
	_         struct{}  `additionalProperties:"true"`
	WebhookID body.Text `json:"webhook_id,omitempty" maxLength:"64" example:"whk_3K9V7QZ2M4X8N6B1C5D0F7G2HJ" doc:"Only to this webhook, whatever types it receives; to every active one that takes the type when left out."`
}

// redeliveredData is the answer about a resent event.
type redeliveredData struct {
	EventID  string `json:"event_id" example:"evt_3K9V7QZ2M4X8N6B1C5D0F7G2HJ" doc:"The event."`
	Webhooks int    `json:"webhooks" example:"1" doc:"How many active webhooks it is sent to again."`
}

func (s *service) eventOperations() []*operation {
	id := []*huma.Param{pathParam("id", "Id of the event.", "evt_3K9V7QZ2M4X8N6B1C5D0F7G2HJ")}
	return []*operation{
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/events", ID: "listEvents",
			Permission: apikey.Webhooks, Tag: "Events", Summary: "List events", Message: "Events found.",
			About: "Lists events, newest first, those of one payment by their sequence. A receiver that was down " +
				"can catch up here. " +
				"Each item is, byte for byte, the body that is posted.",
			Params: append([]*huma.Param{enumParam("type", "Only this type.", webhook.Types()),
				textParam("payment", "Only events of this payment: its reference or your business_reference.",
					"order-1001"),
				timeParam("created_after", "Only events made at this time or later.", "2026-01-31T12:00:00Z"),
				timeParam("created_before", "Only events made before this time.", "2026-02-01")}, pageParams()...),
			Data: EventData{}, Many: true}, run: listEvents},
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/events/{id}", ID: "getEvent",
			Permission: apikey.Webhooks, Tag: "Events", Summary: "Get an event", Message: "Event found.",
			About: "One event with its deliveries.", Params: id, Data: eventDetail{}, Refusals: []int{404}},
			run: getEvent},
		{Operation: openapi.Operation{Method: http.MethodPost, Path: "/v1/events/{id}/redeliver", ID: "redeliverEvent",
			Permission: apikey.Webhooks, Tag: "Events", Summary: "Send an event again",
			Message: "Event on its way again.",
			About: "Sends the event again, with the same id and bytes, to each webhook that is active now and takes " +
				"its type, " +
				"or to the one that the body names. The body may be left out. A range of events: `POST " +
				"/v1/events/resend`.",
			Params: id, Request: redeliverRequest{}, Bodiless: true,
			Sample: json.RawMessage(`{"webhook_id":"whk_3K9V7QZ2M4X8N6B1C5D0F7G2HJ"}`),
			Data:   redeliveredData{}, Refusals: []int{400, 404, 409, 410, 413, 415}},
			run: runEffect(redeliverEvent, showRedelivered)},
	}
}

// showEvent is the event with the content that was sent; without it once that is no longer kept.
func showEvent(e webhook.Recorded) (shown EventData, err error) {
	if e.Body == "" {
		return EventData{ID: e.ID, Type: e.Type, Timestamp: clock.Format(e.CreatedAt), Domain: string(e.Domain),
			Sequence: int64(e.Sequence)}, nil
	}
	return shown, json.Unmarshal([]byte(e.Body), &shown)
}

// sentEvent is the event in the very bytes that were sent, which encode leaves as they are.
func sentEvent(e webhook.Recorded) (json.RawMessage, error) {
	if e.Body != "" {
		return json.RawMessage(e.Body), nil
	}
	shown, err := showEvent(e)
	if err != nil {
		return nil, err
	}
	return body.EncodeJSON(shown)
}

// readReference returns a parameter that is a payment's reference.
func (q *query) readReference(name string) string {
	value := q.readText(name)
	if value != "" && !reference.Pattern.MatchString(value) {
		q.problems.Add(name, "Is not a reference of a payment.")
		return ""
	}
	return value
}

func listEvents(c *call) error {
	q := c.newQuery()
	filter := webhook.Filter{Type: q.oneOf("type", webhook.Types()), Payment: q.readReference("payment"),
		From: q.readMoment("created_after"), Before: q.readMoment("created_before")}
	after, limit := q.readText("cursor"), q.readLimit()
	if err := q.validationError(); err != nil {
		return err
	}
	found, next, err := c.api.Webhooks.Events(c.ctx, c.scope, filter, after, limit)
	if err != nil {
		return err
	}
	items := make([]json.RawMessage, 0, len(found))
	for _, e := range found {
		sent, err := sentEvent(e)
		if err != nil {
			return err
		}
		items = append(items, sent)
	}
	return answerList(c, items, next)
}

func getEvent(c *call) error {
	id, err := c.readParam("id", "event")
	if err != nil {
		return err
	}
	found, err := c.api.Webhooks.Event(c.ctx, c.scope, id)
	if err != nil {
		return err
	}
	shown, err := showEvent(found)
	if err != nil {
		return err
	}
	deliveries, err := c.api.Deliveries.DeliveriesOfEvent(c.ctx, c.scope, id)
	if err != nil {
		return err
	}
	detail := eventDetail{EventData: shown, Body: found.Body, Deliveries: showAll(deliveries, showDelivery)}
	return c.writeAnswer(detail, nil)
}

func redeliverEvent(c *call) (int, error) {
	id, err := c.readParam("id", "event")
	if err != nil {
		return 0, err
	}
	var to redeliverRequest
	if len(c.fiber.Body()) > 0 {
		in, problems, err := readBody[redeliverRequest](c)
		if err != nil {
			return 0, err
		}
		if in.WebhookID.Given && in.WebhookID.Value == "" {
			problems.Add("webhook_id", "May not be empty. Leave it out for every active webhook.")
		}
		if len(problems) > 0 {
			return 0, fault.Validation(problems)
		}
		to = in
	}
	return c.api.Deliveries.Redeliver(c.ctx, c.scope, id, to.WebhookID.Value)
}

func showRedelivered(c *call, webhooks int) (any, error) {
	id, err := c.readParam("id", "event")
	return redeliveredData{EventID: id, Webhooks: webhooks}, err
}
