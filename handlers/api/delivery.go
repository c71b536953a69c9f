package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"cointill/core/account/apikey"
	"cointill/core/clock"
	"cointill/core/webhook/delivery"
	"cointill/handlers/api/openapi"
)

// DeliveryData is one event for one webhook.
type DeliveryData struct {
	EventID    string  `json:"event_id" example:"evt_3K9V7QZ2M4X8N6B1C5D0F7G2HJ" doc:"The event."`
	EventType  string  `json:"event_type" example:"payment.successful" doc:"Its type."`
	EventAt    string  `json:"event_at" format:"date-time" example:"2026-01-31T12:03:20.512340Z" doc:"When the event was made."`
	WebhookID  string  `json:"webhook_id" example:"whk_3K9V7QZ2M4X8N6B1C5D0F7G2HJ" doc:"The webhook."`
	URL        string  `json:"url" example:"https://shop.example.com/webhooks/cointill" doc:"Its URL now; empty when it was deleted."`
	State      string  `json:"state" enum:"pending,sending,delivered,exhausted,cancelled,skipped" example:"delivered" doc:"What became of it: exhausted when every attempt failed, cancelled when the webhook was switched off or deleted before, skipped when it was off as the event happened."`
	Attempts   int     `json:"attempts" example:"1" doc:"Attempts made, or under way."`
	LastStatus int     `json:"last_status" example:"200" doc:"HTTP status of the last attempt; 0 when there was no answer."`
	LastError  string  `json:"last_error" example:"" doc:"What was wrong with the last attempt; empty after a success."`
	NextAt     *string `json:"next_at" format:"date-time" example:"2026-01-31T12:08:20.000000Z" doc:"When it is tried next; null when it isn't."`
	CreatedAt  string  `json:"created_at" format:"date-time" example:"2026-01-31T12:03:20.512340Z" doc:"When it was first queued; of a skipped one when the event was made."`
	DoneAt     *string `json:"done_at" format:"date-time" example:"2026-01-31T12:03:21.000000Z" doc:"When it ended; null while it hasn't."`
}

// deliveryDetail is a delivery with its requests.
type deliveryDetail struct {
	DeliveryData
	Requests []attemptData `json:"requests" doc:"The requests that were made, oldest first; at most 200."`
}

// attemptData is one request that was made for a delivery.
type attemptData struct {
	Number  int    `json:"number" example:"1" doc:"Number of the attempt."`
	At      string `json:"at" format:"date-time" example:"2026-01-31T12:03:20.612340Z" doc:"When it began."`
	Millis  int64  `json:"duration_ms" example:"84" doc:"How long it took, in milliseconds."`
	Status  int    `json:"status" example:"204" doc:"HTTP status of the answer; 0 when there was none."`
	Error   string `json:"error" example:"" doc:"What was wrong, for people; empty after a success."`
	Request string `json:"request_headers" example:"Content-Type: application/json\n" doc:"Headers that were sent, one to a line, your own masked. Its body is the event's. Empty after 60 days."`
	Header  string `json:"response_headers" example:"Content-Length: 0\n" doc:"Headers of the answer, one to a line, at most 2 KiB. Empty after 60 days."`
	Answer  string `json:"response_body" example:"" doc:"Beginning of the answer, at most 4 KiB. Empty after 60 days."`
}

// missedData is what a webhook did not get.
type missedData struct {
	Events int     `json:"events" example:"12" doc:"How many events of its types it did not get in the times of the last week in which it was off, or since the failures began for which it was, as far as they can still be sent; at most 10,000."`
	More   bool    `json:"more" example:"false" doc:"Whether there are more than that."`
	Since  *string `json:"since" format:"date-time" example:"2026-01-31T12:00:00.000000Z" doc:"From when on; null when it was never off. Give it to resend as created_after."`
	Until  *string `json:"until" format:"date-time" example:"2026-01-31T18:00:00.000000Z" doc:"When it was switched on again; null while it is off."`
}

func (s *service) deliveryOperations() []*operation {
	id := pathParam("id", "Id of the webhook.", "whk_3K9V7QZ2M4X8N6B1C5D0F7G2HJ")
	const tag = "Webhooks"
	return []*operation{
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/webhooks/{id}/deliveries",
			ID:         "listDeliveries",
			Permission: apikey.Webhooks, Tag: tag, Summary: "List a webhook's deliveries",
			Message: "Deliveries found.",
			About: "What the webhook got and didn't get, newest first, with events that happened while it was off " +
				"as `skipped`. " +
				"A page may be short although another follows: go by `meta.next_cursor`.",
			Params: append([]*huma.Param{id,
				enumParam("state", "Only deliveries in this state; pending also finds those under way.",
					delivery.States())}, pageParams()...),
			Data: DeliveryData{}, Many: true, Refusals: []int{404}}, run: listDeliveries},
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/webhooks/{id}/deliveries/{event_id}",
			ID:         "getDelivery",
			Permission: apikey.Webhooks, Tag: tag, Summary: "Get a delivery",
			Message: "Delivery found.",
			About:   "What became of an event at the webhook, with every request and its answer.",
			Params:  []*huma.Param{id, pathParam("event_id", "Id of the event.", "evt_3K9V7QZ2M4X8N6B1C5D0F7G2HJ")},
			Data:    deliveryDetail{}, Refusals: []int{404}}, run: getDelivery},
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/webhooks/{id}/missed",
			ID: "getMissed", Permission: apikey.Webhooks, Tag: tag,
			Summary: "Count what a webhook missed",
			Message: "Counted.", About: "How many events the webhook did not get while it was off or failing: what " +
				"a resend since then would bring.",
			Params: []*huma.Param{id}, Data: missedData{}, Refusals: []int{404}},
			run: runRead(passParam("id", "webhook", countMissed), showMissed)},
	}
}

func showDelivery(d delivery.Delivery) DeliveryData {
	return DeliveryData{
		EventID: d.EventID, EventType: d.EventType, EventAt: clock.Format(d.EventAt), WebhookID: d.EndpointID,
		URL:   d.EndpointURL,
		State: d.State, Attempts: d.Attempt, LastStatus: d.LastStatus, LastError: d.LastError,
		NextAt: formatStamp(d.NextAt), CreatedAt: clock.Format(d.CreatedAt), DoneAt: formatStamp(d.DoneAt),
	}
}

func listDeliveries(c *call) error {
	id, err := c.readParam("id", "webhook")
	if err != nil {
		return err
	}
	q := c.newQuery()
	state, after, limit := q.oneOf("state", delivery.States()), q.readText("cursor"), q.readLimit()
	if err := q.validationError(); err != nil {
		return err
	}
	found, next, err := c.api.Deliveries.History(c.ctx, c.scope, id, state, after, limit)
	if err != nil {
		return err
	}
	return answerList(c, showAll(found, showDelivery), next)
}

func getDelivery(c *call) error {
	id, err := c.readParam("id", "webhook")
	if err != nil {
		return err
	}
	eventID, err := c.readParam("event_id", "delivery")
	if err != nil {
		return err
	}
	found, attempts, err := c.api.Deliveries.DeliveryOf(c.ctx, c.scope, id, eventID)
	if err != nil {
		return err
	}
	detail := deliveryDetail{DeliveryData: showDelivery(found), Requests: []attemptData{}}
	for _, a := range attempts {
		detail.Requests = append(detail.Requests, attemptData{
			Number: a.Number, At: clock.Format(a.At), Millis: a.Took.Milliseconds(), Status: a.Status, Error: a.Error,
			Request: a.Request, Header: a.Header, Answer: a.Answer,
		})
	}
	return c.writeAnswer(detail, nil)
}

func countMissed(c *call, id string) (delivery.Missed, error) {
	return c.api.Deliveries.Missed(c.ctx, c.scope, id)
}

func showMissed(_ *call, m delivery.Missed) (any, error) {
	shown := missedData{Events: m.Count, More: m.More, Until: formatStamp(m.Until)}
	if !m.Since.IsZero() {
		shown.Since = formatStamp(&m.Since)
	}
	return shown, nil
}
