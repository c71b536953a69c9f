package api

import (
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"cointill/core/account/apikey"
	"cointill/core/clock"
	"cointill/core/webhook/delivery"
	"cointill/handlers/api/body"
	"cointill/handlers/api/openapi"
)

// resendRequest is the body of an order to send many events again.
type resendRequest struct {
	_      struct{}    `additionalProperties:"true"`
	From   body.Moment `json:"created_after" example:"2026-01-31T12:00:00Z" doc:"Events made at this time or later; at most 60 days ago."`
	Before body.Moment `json:"created_before,omitempty" example:"2026-01-31T18:00:00Z" doc:"Events made before this time; up to now when left out."`
	Events body.Texts  `json:"events,omitempty" maxItems:"15" doc:"Only these types; all when empty. Test events are never sent again in this way."`
	Failed body.Flag   `json:"failed_only,omitempty" example:"true" doc:"Leaves out what was delivered or is on its way: sends what failed, now instead of at its next time, and what was given up, cancelled or skipped."`
}

// resendData is such an order at work.
type resendData struct {
	ID        string   `json:"id" example:"rsd_3K9V7QZ2M4X8N6B1C5D0F7G2HJ" doc:"The order."`
	WebhookID *string  `json:"webhook_id" example:"whk_3K9V7QZ2M4X8N6B1C5D0F7G2HJ" doc:"The webhook that it is for; null for every active one."`
	Events    []string `json:"events" doc:"Types that it is for; empty for all."`
	From      string   `json:"created_after" format:"date-time" example:"2026-01-31T12:00:00.000000Z" doc:"Begin of its range."`
	Before    string   `json:"created_before" format:"date-time" example:"2026-01-31T18:00:00.000000Z" doc:"End of its range; the event made at this time is not in it."`
	Failed    bool     `json:"failed_only" example:"true" doc:"Whether it leaves out what was delivered."`
	State     string   `json:"state" enum:"queueing,sending,done,stopped" example:"sending" doc:"queueing: deliveries are made in small batches. sending: all are made, some are still to be delivered. done: none is any more. stopped: no webhook was there for the rest."`
	Total     int      `json:"total" example:"40" doc:"Events in its range."`
	Walked    int      `json:"walked" example:"40" doc:"Of these, looked at so far."`
	Made      int      `json:"queued" example:"12" doc:"Deliveries queued so far."`
	Delivered int      `json:"delivered" example:"10" doc:"Of these, delivered."`
	Failures  int      `json:"failed" example:"0" doc:"Of these, given up or cancelled."`
	Later     int      `json:"superseded" example:"0" doc:"Of these, sent again by something later, which counts them from then on."`
	CreatedAt string   `json:"created_at" format:"date-time" example:"2026-01-31T18:00:00.000000Z" doc:"When it was ordered."`
	DoneAt    *string  `json:"done_at" format:"date-time" example:"2026-01-31T18:00:09.000000Z" doc:"When it ended; null while it hasn't."`
}

func (s *service) resendOperations() []*operation {
	const tag = "Events"
	id := pathParam("id", "Id of the order.", "rsd_3K9V7QZ2M4X8N6B1C5D0F7G2HJ")
	hook := pathParam("id", "Id of the webhook.", "whk_3K9V7QZ2M4X8N6B1C5D0F7G2HJ")
	sample := json.RawMessage(`{"created_after":"2026-01-31T12:00:00Z","failed_only":true}`)
	about := "Sends the events of a range again, with the same ids and bytes: all of them, or with `failed_only` " +
		"those that did not arrive. " +
		"The deliveries are made in small batches, behind which nothing new waits; follow the progress with `GET " +
		"/v1/resends/{id}`. " +
		"At most 100,000 events in an order, and five orders that are being queued."
	refusals := []int{400, 409, 413, 415, 422}
	return []*operation{
		{Operation: openapi.Operation{Method: http.MethodPost, Path: "/v1/events/resend", ID: "resendEvents",
			Permission: apikey.Webhooks, Tag: tag, Status: http.StatusCreated, Summary: "Send many events again",
			Message: "Resend ordered.", About: about + " They go to each webhook that is active and takes their type.",
			Request: resendRequest{}, Sample: sample,
			Data: resendData{}, Refusals: refusals}, run: runEffect(resendAll, showResent)},
		{Operation: openapi.Operation{Method: http.MethodPost, Path: "/v1/webhooks/{id}/resend", ID: "resendToWebhook",
			Permission: apikey.Webhooks, Tag: tag, Status: http.StatusCreated,
			Summary: "Send many events again to a webhook", Message: "Resend ordered.",
			About:  about + " They go to this webhook alone, as far as it takes their type.",
			Params: []*huma.Param{hook}, Request: resendRequest{}, Sample: sample, Data: resendData{},
			Refusals: append([]int{404}, refusals...)},
			run: runEffect(passParam("id", "webhook", placeOrder), showResent)},
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/resends", ID: "listResends",
			Permission: apikey.Webhooks, Tag: tag, Summary: "List resends", Message: "Resends found.",
			About: "Lists orders to send many events again, newest first.", Params: pageParams(), Data: resendData{},
			Many: true}, run: listResends},
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/resends/{id}", ID: "getResend",
			Permission: apikey.Webhooks, Tag: tag, Summary: "Get a resend", Message: "Resend found.",
			About: "How far an order is.", Params: []*huma.Param{id}, Data: resendData{}, Refusals: []int{404}},
			run: runRead(passParam("id", "resend", findResend), showResent)},
	}
}

func showResend(r delivery.Resend) resendData {
	shown := resendData{
		ID: r.ID, Events: append([]string{}, r.Types...), From: clock.Format(r.From), Before: clock.Format(r.Before),
		Failed: r.Failed, State: r.State,
		Total: r.Total, Walked: r.Walked, Made: r.Made, Delivered: r.Delivered, Failures: r.Failures,
		Later: r.Superseded, CreatedAt: clock.Format(r.CreatedAt), DoneAt: formatStamp(r.DoneAt),
	}
	if r.EndpointID != "" {
		shown.WebhookID = &r.EndpointID
	}
	return shown
}

func showResent(_ *call, r delivery.Resend) (any, error) { return showResend(r), nil }

func resendAll(c *call) (delivery.Resend, error) { return placeOrder(c, "") }

// placeOrder reads the body and places the order for one webhook, or for all.
func placeOrder(c *call, endpointID string) (delivery.Resend, error) {
	in, problems, err := readBody[resendRequest](c)
	if err != nil {
		return delivery.Resend{}, err
	}
	wanted := delivery.Order{EndpointID: endpointID, Types: in.Events.Values, From: in.From.Value,
		Before: in.Before.Pointer(), Failed: in.Failed.Value}
	if len(problems) > 0 {
		return delivery.Resend{}, body.JoinRefusals(problems, c.api.Resends.Check(wanted))
	}
	return c.api.Resends.Create(c.ctx, c.scope, wanted)
}

func listResends(c *call) error {
	q := c.newQuery()
	after, limit := q.readText("cursor"), q.readLimit()
	if err := q.validationError(); err != nil {
		return err
	}
	found, next, err := c.api.Resends.List(c.ctx, c.scope, after, limit)
	if err != nil {
		return err
	}
	return answerList(c, showAll(found, showResend), next)
}

func findResend(c *call, id string) (delivery.Resend, error) {
	return c.api.Resends.Find(c.ctx, c.scope, id)
}
