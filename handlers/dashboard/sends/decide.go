package sends

import (
	"strings"

	"cointill/core/fault"
	"cointill/core/send"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/ui"
	"cointill/views/words"
)

// approveSend records that the member agrees to the send as they saw it.
func (h *Handlers) approveSend(c *page.Ctx) error {
	found, err := h.findSend(c) // before a proof is tried
	if err != nil {
		return err
	}
	v, err := h.Approvals.Approve(c.UserContext(), c.Scope, found.Send.Reference, c.FormText("version"),
		page.ReadProof(c))
	if err != nil {
		return h.showRefusal(c, ui.Form{}, err)
	}
	return h.finish(c, v, words.T(c.UserContext(), "sends.approved"))
}

// rejectSend refuses a send that waits for approval.
func (h *Handlers) rejectSend(c *page.Ctx) error {
	typed := page.ReadForm(c, "note")
	v, err := h.Approvals.Reject(c.UserContext(), c.Scope, page.CleanText(c.Param("reference")), typed.Value("note"))
	if err != nil {
		return h.showRefusal(c, typed, err)
	}
	return h.finish(c, v, words.T(c.UserContext(), "sends.rejected"))
}

// cancelSend withdraws a send.
func (h *Handlers) cancelSend(c *page.Ctx) error {
	v, err := h.Sends.Cancel(c.UserContext(), c.Scope, page.CleanText(c.Param("reference")))
	if err != nil {
		return h.showRefusal(c, ui.Form{}, err)
	}
	return h.finish(c, v, words.T(c.UserContext(), "sends.withdrawn"))
}

// retrySend makes a failed send ready again.
func (h *Handlers) retrySend(c *page.Ctx) error {
	found, err := h.findSend(c) // before a proof is tried
	if err != nil {
		return err
	}
	v, err := h.Approvals.Retry(c.UserContext(), c.Scope, found.Send.Reference, page.ReadProof(c))
	if err != nil {
		return h.showRefusal(c, ui.Form{}, err)
	}
	text := words.T(c.UserContext(), "sends.retried")
	if v.State() == send.AwaitingApproval {
		text = words.T(c.UserContext(), "sends.step_approve_again")
	}
	return h.finish(c, v, text)
}

// playApprover approves a send of the test domain.
func (h *Handlers) playApprover(c *page.Ctx) error {
	v, err := h.Sandbox.ApproveSend(c.UserContext(), c.Scope, page.CleanText(c.Param("reference")))
	if err != nil {
		return h.showRefusal(c, ui.Form{}, err)
	}
	return h.finish(c, v, words.T(c.UserContext(), "sends.approver_played"))
}

// simulateSend has the sandbox wallet sign a send.
func (h *Handlers) simulateSend(c *page.Ctx) error {
	done, err := h.Sandbox.SimulateSend(c.UserContext(), c.Scope, page.CleanText(c.Param("reference")),
		c.FormText("scenario"))
	if err != nil {
		return h.showRefusal(c, ui.Form{}, err)
	}
	what := words.SignText(c.UserContext(), done.Scenario.Code, done.Scenario.Explanation)
	return h.finish(c, done.Send, words.T(c.UserContext(), "sends.signed", "What", what))
}

// finish leads back to the send after an act.
func (h *Handlers) finish(c *page.Ctx, v send.View, text string) error {
	c.SetFlash(string(ui.Good), strings.TrimSpace(text))
	return c.Redirect(display.SendPath(v.Send.Reference))
}

// showRefusal shows the send again with why an act was refused. A password is never shown again.
func (h *Handlers) showRefusal(c *page.Ctx, typed ui.Form, refused error) error {
	page.SetRetryAfter(c, refused)
	onScenario := len(page.ExplainError(refused).Fields["scenario"]) > 0
	if fault.KindOf(refused) == fault.Invalid && !onScenario {
		return page.ShowAgain(c, typed, refused, h.showSend)
	}
	return page.ShowRefusal(c, refused, func(c *page.Ctx, status int) error { return h.showSend(c, status, typed) })
}
