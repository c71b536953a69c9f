package checkout

import (
	"net/http"

	"cointill/core/fault"
	"cointill/handlers/page"
)

// chooseNetwork makes a network the one that the customer pays on. One that can't be chosen any more changes nothing.
func (h *Handlers) chooseNetwork(c *page.Ctx) error {
	ctx, who := c.UserContext(), askerOf(c)
	v, err := h.Choices.Choose(ctx, who.Token, c.FormText("network"))
	status, problem := http.StatusOK, ""
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Conflict, fault.Unavailable:
		refusal := page.ExplainError(err)
		status, problem = refusal.Status, refusal.Sentence.String()
		v, err = h.Payments.ByToken(ctx, who.Token)
	}
	if err != nil {
		return err
	}
	a, err := h.collectAbout(ctx, v, who)
	if err != nil {
		return err
	}
	if status == http.StatusServiceUnavailable {
		a.Problem = problem
	}
	return writeAnswer(c, status, v, a, "")
}
