package api

import (
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"cointill/core/clock"
	"cointill/core/webhook"
)

// object is JSON that is passed on as it was written.
type object struct{ json.RawMessage }

// Schema documents any object.
func (object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// EventData is an event as it was sent: the same fields with the same content.
type EventData struct {
	ID        string `json:"id" example:"evt_3K9V7QZ2M4X8N6B1C5D0F7G2HJ" doc:"The event's id; the same in every delivery, and the header webhook-id."`
	Type      string `json:"type" example:"payment.successful" doc:"Type of the event."`
	Timestamp string `json:"timestamp" format:"date-time" example:"2026-01-31T12:03:20.512340Z" doc:"When it happened."`
	Domain    string `json:"domain" enum:"test,live" example:"test" doc:"Environment."`
	Sequence  int64  `json:"sequence" example:"4" doc:"Rises with each event of a payment: drop what is lower than what you know."`
	Data      object `json:"data" doc:"What it is about: for payments the record that verify answers."`
}

// eventDetail is an event with what became of its deliveries.
type eventDetail struct {
	EventData
	Deliveries []deliveryData `json:"deliveries" doc:"One for each webhook that was active, newest first."`
}

// deliveryData is one event for one webhook.
type deliveryData struct {
	WebhookID  string  `json:"webhook_id" example:"whk_3K9V7QZ2M4X8N6B1C5D0F7G2HJ" doc:"The webhook."`
	URL        string  `json:"url" example:"https://shop.example.com/webhooks/cointill" doc:"Its URL now; empty when it was deleted."`
	State      string  `json:"state" enum:"pending,sending,delivered,exhausted,cancelled" example:"delivered" doc:"What became of it."`
	Attempts   int     `json:"attempts" example:"1" doc:"Attempts made, or under way."`
	LastStatus int     `json:"last_status" example:"200" doc:"HTTP status of the last attempt; 0 when there was no answer."`
	LastError  string  `json:"last_error" example:"" doc:"What was wrong with the last attempt; empty after a success."`
	NextAt     *string `json:"next_at" format:"date-time" example:"2026-01-31T12:08:20.000000Z" doc:"When it is tried next; null when it isn't."`
	CreatedAt  string  `json:"created_at" format:"date-time" example:"2026-01-31T12:03:20.512340Z" doc:"When it was queued."`
	DoneAt     *string `json:"done_at" format:"date-time" example:"2026-01-31T12:03:21.000000Z" doc:"When it ended; null while it hasn't."`
}

// redeliveredData tells of a resent event.
type redeliveredData struct {
	EventID  string `json:"event_id" example:"evt_3K9V7QZ2M4X8N6B1C5D0F7G2HJ" doc:"The event."`
	Webhooks int    `json:"webhooks" example:"1" doc:"How many active webhooks it is sent to again."`
}

func (s *service) eventOperations() []*operation {
	id := []*huma.Param{pathParam("id", "Id of the event.", "evt_3K9V7QZ2M4X8N6B1C5D0F7G2HJ")}
	return []*operation{
		{method: http.MethodGet, path: "/v1/events", id: "listEvents", tag: "Events", summary: "List events", message: "Events found.",
			about:  "Lists events, newest first. A receiver that was down can catch up here.",
			params: append([]*huma.Param{enumParam("type", "Only this type.", webhook.Types())}, pageParams()...),
			data:   EventData{}, many: true, refusals: []int{422}, run: (*call).events},
		{method: http.MethodGet, path: "/v1/events/{id}", id: "getEvent", tag: "Events", summary: "Get an event", message: "Event found.",
			about: "One event with its deliveries.", params: id, data: eventDetail{}, refusals: []int{404}, run: (*call).event},
		{method: http.MethodPost, path: "/v1/events/{id}/redeliver", id: "redeliverEvent", tag: "Events", summary: "Send an event again",
			message: "Event on its way again.", about: "Sends the event again, with the same id and content, to each webhook that is active now.",
			params: id, data: redeliveredData{}, refusals: []int{403, 404, 409, 422},
			run: effect((*call).redeliver, showRedelivered)},
	}
}

func showEvent(e webhook.Recorded) (EventData, error) {
	var shown EventData
	err := json.Unmarshal([]byte(e.Body), &shown)
	return shown, err
}

func (c *call) events() error {
	q := c.query()
	filter, after, limit := webhook.Filter{Type: q.oneOf("type", webhook.Types())}, q.text("cursor"), q.limit()
	if err := q.err(); err != nil {
		return err
	}
	found, next, err := c.api.Webhooks.Events(c.ctx, c.scope, filter, after, limit)
	if err != nil {
		return err
	}
	items := make([]EventData, 0, len(found))
	for _, e := range found {
		shown, err := showEvent(e)
		if err != nil {
			return err
		}
		items = append(items, shown)
	}
	return list(c, items, next)
}

func (c *call) event() error {
	id, err := c.param("id", "event")
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
	deliveries, err := c.api.Webhooks.DeliveriesOfEvent(c.ctx, c.scope, id)
	if err != nil {
		return err
	}
	detail := eventDetail{EventData: shown, Deliveries: []deliveryData{}}
	for _, d := range deliveries {
		detail.Deliveries = append(detail.Deliveries, deliveryData{
			WebhookID: d.EndpointID, URL: d.EndpointURL, State: d.State, Attempts: d.Attempt, LastStatus: d.LastStatus, LastError: d.LastError,
			NextAt: stamp(d.NextAt), CreatedAt: clock.Format(d.CreatedAt), DoneAt: stamp(d.DoneAt),
		})
	}
	return c.answer(detail)
}

func (c *call) redeliver() (int, error) {
	id, err := c.param("id", "event")
	if err != nil {
		return 0, err
	}
	return c.api.Webhooks.Redeliver(c.ctx, c.scope, id, "")
}

func showRedelivered(c *call, webhooks int) (any, error) {
	id, err := c.param("id", "event")
	return redeliveredData{EventID: id, Webhooks: webhooks}, err
}
