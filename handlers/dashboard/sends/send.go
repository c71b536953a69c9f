package sends

import (
	"net/url"

	"cointill/core/scope"
	"cointill/core/send"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// findSend finds the send that the address names.
func (h *Handlers) findSend(c *page.Ctx) (send.View, error) {
	return h.Sends.Find(c.UserContext(), c.Scope, page.CleanText(c.Param("reference")))
}

// showSend shows a send, with the errors of its form.
func (h *Handlers) showSend(c *page.Ctx, status int, typed ui.Form) error {
	ctx := c.UserContext()
	facts, err := approvalPages{h}.readFacts(c)
	if err != nil {
		return err
	}
	v := facts.View
	shell := c.FillLayout(words.T(ctx, "sends.page", "Reference", v.Send.Reference), "sends")
	shell.NextPath = display.SendPath(v.Send.Reference)
	c.MakeLive(&shell, "?send="+url.QueryEscape(v.Send.Reference))
	props := sendProps(ctx, shell, facts)
	props.Form, props.SecondFactor = typed, c.Member.User.SecondFactor
	return c.RenderStatus(status, dashboard.Send(props))
}

// readFacts reads what the page of a send shows.
func (h approvalPages) readFacts(c *page.Ctx) (facts sendFacts, err error) {
	ctx, sc := c.UserContext(), c.Scope
	v, err := h.findSend(c)
	if err != nil {
		return facts, err
	}
	facts = sendFacts{View: v, Scope: sc, Zone: page.LoadZone(c.Member.Business)}
	if facts.Steps, err = h.Sends.Timeline(ctx, sc, v.Send.Reference); err != nil {
		return facts, err
	}
	if facts.Approver, err = h.Approvals.MayApprove(ctx, sc, v); err != nil {
		return facts, err
	}
	if v.State() == send.AwaitingDestination && sc.Allows(scope.AskSends) {
		facts.ClaimURL = h.Sends.ClaimURL(v.Send)
	}
	facts.Names, err = h.nameActors(c, []send.View{v}, facts.Steps)
	return facts, err
}

// nameActors reads the names of who asked for sends, approved them and acted on them.
func (h *Handlers) nameActors(c *page.Ctx, list []send.View, steps []models.SendStep) (map[string]string, error) {
	var actors []string
	for _, v := range list {
		actors = append(actors, v.Send.Actor)
		for _, a := range v.Approvals {
			actors = append(actors, a.Actor)
		}
	}
	for _, step := range steps {
		actors = append(actors, step.Actor)
	}
	return h.Sends.NameActors(c.UserContext(), c.Scope, actors)
}
