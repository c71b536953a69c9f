package sends

import (
	"encoding/json"
	"net/http"

	"cointill/core/send"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// showAnotherWay shows the form by which a person says that a send was sent in another way.
func (h approvalPages) showAnotherWay(c *page.Ctx) error {
	return h.showMarkForm(c, http.StatusOK, ui.Form{})
}

func (h approvalPages) showMarkForm(c *page.Ctx, status int, typed ui.Form) error {
	ctx := c.UserContext()
	facts, err := h.readFacts(c)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(ctx, "sends.another_way_title"), "sends")
	props := dashboard.SendAnotherWayProps{SendProps: sendProps(ctx, shell, facts)}
	props.Form, props.SecondFactor = typed, c.Member.User.SecondFactor
	if props.SendRow.Marked {
		props.First, props.FirstNote = nameActor(ctx, facts.View.Send.AnotherWayBy, facts.Names), firstNote(facts)
	}
	return c.RenderStatus(status, dashboard.SendAnotherWay(props))
}

// firstNote returns how a send was sent, as the person says who said so first.
func firstNote(f sendFacts) string {
	var about struct{ Note string }
	for _, step := range f.Steps {
		if step.Reason == send.StepMarked && json.Unmarshal([]byte(step.Detail), &about) != nil {
			about.Note = ""
		}
	}
	return about.Note
}

// markSent takes the word of a person that a send was sent in another way.
func (h approvalPages) markSent(c *page.Ctx) error {
	found, err := h.findSend(c)
	if err != nil {
		return err
	}
	typed := page.ReadForm(c, "note")
	v, err := h.Approvals.MarkSent(c.UserContext(), c.Scope, send.Seen{Reference: found.Send.Reference,
		Version: c.FormText("version")}, typed.Value("note"), page.ReadProof(c))
	if err != nil {
		return h.refuseMark(c, typed, err)
	}
	text := words.T(c.UserContext(), "sends.another_way_waits")
	if v.Send.AnotherWayAt != nil {
		text = words.T(c.UserContext(), "sends.another_way_done")
	}
	return h.finish(c, v, text)
}

// refuseMark shows the form again with why it was refused.
func (h approvalPages) refuseMark(c *page.Ctx, typed ui.Form, refused error) error {
	page.SetRetryAfter(c, refused)
	return page.ShowRefusedForm(c, typed, refused, h.showMarkForm)
}

// unmarkSent takes that back.
func (h approvalPages) unmarkSent(c *page.Ctx) error {
	v, err := h.Approvals.UnmarkSent(c.UserContext(), c.Scope, page.CleanText(c.Param("reference")))
	if err != nil {
		return h.showRefusal(c, ui.Form{}, err)
	}
	return h.finish(c, v, words.T(c.UserContext(), "sends.another_way_taken_back"))
}
