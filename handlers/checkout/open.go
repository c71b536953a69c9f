package checkout

import (
	"errors"
	"net/http"

	"cointill/core/fault"
	"cointill/core/wallet/oneaddress"
	"cointill/handlers/page"
)

// openPayment handles the customer's request for the payment details.
func (h *Handlers) openPayment(c *page.Ctx) error {
	ctx, who := c.UserContext(), askerOf(c)
	v, err := h.Payments.Open(ctx, who.Token, who.Lang, c.ClientIP)
	status, problem, usedUp := http.StatusOK, "", false
	if fault.KindOf(err) == fault.Unavailable { // the payment is there, its coin can't be paid now
		refusal := page.ExplainError(err)
		status, problem, usedUp = refusal.Status, refusal.Sentence.String(), errors.Is(err, oneaddress.ErrUsedUp)
		v, err = h.Payments.ByToken(ctx, who.Token)
	}
	if err != nil {
		return err
	}
	a, err := h.collectAbout(ctx, v, who)
	if err != nil {
		return err
	}
	if problem != "" {
		a.Problem, a.AmountsUsedUp = problem, usedUp
	}
	return writeAnswer(c, status, v, a, "")
}
