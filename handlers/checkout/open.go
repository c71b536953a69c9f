package checkout

import (
	"errors"
	"net/http"

	"cointill/core/fault"
	"cointill/core/wallet"
	"cointill/core/wallet/oneaddress"
	"cointill/handlers/page"
)

// openPayment handles the customer's request for the payment details.
func (h *Handlers) openPayment(c *page.Ctx) error {
	ctx, who := c.UserContext(), askerOf(c)
	v, err := h.Payments.Open(ctx, who.Token, who.Lang, c.ClientIP)
	status, problem, refused := http.StatusOK, "", err
	if tooSmall := errors.Is(err, oneaddress.ErrTooSmall); tooSmall || fault.KindOf(err) == fault.Unavailable {
		// The payment is there, its coin can't be paid now.
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
	if problem != "" {
		a.Problem, a.AmountsUsedUp = problem, errors.Is(refused, oneaddress.ErrUsedUp)
		a.TooSmallForOneAddress = errors.Is(refused, oneaddress.ErrTooSmall)
		var f *fault.Fault
		a.NoAddress = errors.As(refused, &f) && f.Code == wallet.CodeNoWallet
	}
	return writeAnswer(c, status, v, a, "")
}
