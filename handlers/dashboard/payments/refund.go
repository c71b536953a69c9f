package payments

import (
	"context"
	"net/http"

	"cointill/core/fault"
	"cointill/core/payment"
	"cointill/core/payment/refund"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// showRefundForm asks for the refund of a declined payment.
func (h *Handlers) showRefundForm(c *page.Ctx) error {
	return h.showRefund(c, http.StatusOK, ui.Form{Values: map[string]string{}})
}

// showRefund shows the form; the amount is all that is left, until one was typed.
func (h *Handlers) showRefund(c *page.Ctx, status int, typed ui.Form) error {
	ctx, sc := c.UserContext(), c.Scope
	v, err := h.Payments.Verify(ctx, sc, page.CleanText(c.Param("reference")))
	if err != nil {
		return err
	}
	if v.State() != payment.Declined {
		c.ShowMessage(string(ui.Bad), words.T(ctx, "refund.only_declined", "State", v.Payment.Status))
		return h.showPayment(c, http.StatusOK)
	}
	refunds, err := h.Resolver.Refunds(ctx, sc, v.Payment.ID)
	if err != nil {
		return err
	}
	left, err := h.Resolver.ReadLeft(ctx, sc, v.Payment)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(ctx, "refund.title"), "payments")
	shell.NextPath = display.PaymentPath(v.Payment.Reference)
	return c.RenderStatus(status, dashboard.RefundForm(refundProps(shell, v, refunds, left, typed)))
}

// reviewRefund says what recording the refund would write down. It changes nothing.
func (h *Handlers) reviewRefund(c *page.Ctx) error {
	typed, asked := refundOf(c)
	plan, err := h.Resolver.PlanRefund(c.UserContext(), c.Scope, page.CleanText(c.Param("reference")), asked)
	if err != nil {
		return h.refuseRefund(c, typed, err)
	}
	shell := c.FillLayout(words.T(c.UserContext(), "refund.title"), "payments")
	shell.NextPath = display.PaymentPath(plan.View.Payment.Reference)
	return c.Render(dashboard.RefundReview(refundReviewProps(shell, plan, typed)))
}

// returnToRefund is where a review leads whose form was not sent along.
func (h *Handlers) returnToRefund(c *page.Ctx) error {
	v, err := h.Payments.Verify(c.UserContext(), c.Scope, page.CleanText(c.Param("reference")))
	if err != nil {
		return err
	}
	return c.Redirect(display.PaymentPath(v.Payment.Reference) + "/refund")
}

// recordRefund writes the refund down, once.
func (h *Handlers) recordRefund(c *page.Ctx) error {
	typed, asked := refundOf(c)
	reference := page.CleanText(c.Param("reference"))
	err := page.RedirectOnce(h.Answers, c, func(ctx context.Context) (string, error) {
		made, err := h.Resolver.RecordRefund(ctx, c.Scope, reference, asked)
		if err == nil {
			c.SetFlash(string(ui.Good), words.T(ctx, "refund.recorded"))
		}
		return made, err
	}, display.PaymentPath)
	if err != nil {
		return h.refuseRefund(c, typed, err)
	}
	return nil
}

// refundOf is the refund that a form describes.
func refundOf(c *page.Ctx) (typed ui.Form, r refund.Report) {
	typed = page.ReadForm(c, "amount", "hash", "note")
	return typed, refund.Report{Amount: typed.Value("amount"), TxID: typed.Value("hash"), Note: typed.Value("note")}
}

func (h *Handlers) refuseRefund(c *page.Ctx, typed ui.Form, refused error) error {
	if fault.KindOf(refused) == fault.Invalid {
		return page.ShowAgain(c, typed, refused, h.showRefund)
	}
	return page.ShowRefusal(c, refused, h.showPayment) // it is declined no more, or a twin is under way
}
