package webhooks

import (
	"net/http"
	"slices"
	"time"

	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// showEndpoint shows one endpoint.
func (h *Handlers) showEndpoint(c *page.Ctx) error {
	return h.renderEndpoint(c, webhookShown{Status: http.StatusOK})
}

// webhookShown is how the page of an endpoint is answered.
type webhookShown struct {
	Status int
	Secret string // just made; Replaced says that an older one signs along
	// Replaced is false for the first secret of an endpoint.
	Replaced bool
}

// endpointFacts is what the page of an endpoint is made of.
type endpointFacts struct {
	Scope    scope.Scope
	Endpoint webhook.Endpoint
	Health   delivery.Health
	Missed   delivery.Missed
	Sent     []delivery.Delivery
	Tried    map[int64]delivery.Attempt // the latest, by the delivery
	Asked    sentAsked
	Next     string // cursor
	Now      time.Time
}

// sentAsked is what the list of deliveries was asked for, in the address.
type sentAsked struct{ State, After string }

func (h *Handlers) renderEndpoint(c *page.Ctx, shown webhookShown) error {
	endpoint, err := h.Webhooks.Find(c.UserContext(), c.Scope, c.Param("id"))
	if err != nil {
		return err
	}
	return h.renderEndpointPage(c, endpoint, shown)
}

func (h *Handlers) renderEndpointPage(c *page.Ctx, endpoint webhook.Endpoint, shown webhookShown) error {
	facts, err := h.loadEndpoint(c, endpoint)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "webhook.page", "Name", endpoint.Name), "webhooks")
	shell.NextPath = display.WebhookPath(endpoint.ID)
	props := webhookProps(c.UserContext(), shell, facts, page.LoadZone(c.Member.Business))
	props.Secret, props.NewSecret = shown.Secret, shown.Replaced
	return c.RenderStatus(shown.Status, dashboard.Webhook(props))
}

// loadEndpoint reads an endpoint's health and deliveries.
func (h *Handlers) loadEndpoint(c *page.Ctx, e webhook.Endpoint) (f endpointFacts, err error) {
	ctx, sc := c.UserContext(), c.Scope
	f = endpointFacts{Scope: sc, Endpoint: e, Now: h.Clock(), Asked: sentAsked{After: page.CleanText(c.Query("after"))}}
	if state := c.Query("state"); slices.Contains(delivery.States(), state) {
		f.Asked.State = page.CleanText(state)
	}
	if f.Health, err = h.Deliveries.Health(ctx, sc, e.ID); err != nil {
		return f, err
	}
	if f.Missed, err = h.Deliveries.Missed(ctx, sc, e.ID); err != nil {
		return f, err
	}
	if f.Sent, f.Next, err = h.Deliveries.History(ctx, sc, e.ID, f.Asked.State, f.Asked.After,
		listing.PageSize); err != nil {
		return f, err
	}
	f.Tried, err = h.Deliveries.LastAttempts(ctx, sc, f.Sent)
	return f, err
}

// refuseEndpoint shows the endpoint's page with the error of an action.
func (h *Handlers) refuseEndpoint(c *page.Ctx, refused error) error {
	return page.ShowRefusal(c, refused, func(c *page.Ctx, status int) error {
		return h.renderEndpoint(c, webhookShown{Status: status})
	})
}
