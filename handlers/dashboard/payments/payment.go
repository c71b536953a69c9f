package payments

import (
	"net/http"

	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/words"
)

// showPaymentPage shows one transaction.
func (h *Handlers) showPaymentPage(c *page.Ctx) error {
	return h.showPayment(c, http.StatusOK, layout.Flash{})
}

// showPayment shows a transaction, with a word on an act that was refused.
func (h *Handlers) showPayment(c *page.Ctx, status int, said layout.Flash) error {
	ctx, sc, zone := c.UserContext(), c.Scope, page.LoadZone(c.Member.Business)
	v, err := h.Payments.Verify(ctx, sc, page.CleanText(c.Param("reference")))
	if err != nil {
		return err
	}
	more := paymentMore{PayURL: h.Payments.PageURL(v.Payment), Scope: sc}
	if more.Steps, err = h.Payments.Timeline(ctx, sc, v.Payment.Reference); err != nil {
		return err
	}
	if more.Stray, err = h.Resolver.StrayOf(ctx, sc, v.Payment.ID); err != nil {
		return err
	}
	if more.Refunds, err = h.Resolver.Refunds(ctx, sc, v.Payment.ID); err != nil {
		return err
	}
	if more.Told, err = h.Deliveries.DeliveriesOfPayment(ctx, sc, v.Payment.ID); err != nil {
		return err
	}
	if more.Attempts, err = h.Deliveries.AttemptsOf(ctx, sc, more.Told); err != nil {
		return err
	}
	if more.Sent, err = h.Mails.OfPayment(ctx, sc, v.Payment.ID); err != nil {
		return err
	}
	more.Deliveries, more.Mails = display.DeliveryRows(ctx, more.Told, zone), display.MailRows(more.Sent, zone)
	if !sc.Allows(scope.SeeWebhooks) { // the links would lead nowhere
		for i := range more.Deliveries {
			more.Deliveries[i].Endpoint, more.Deliveries[i].Href = "", ""
		}
	}
	if more.Origin, more.HasOrigin, err = h.Wallets.Origin(ctx, sc, v.Payment.ID); err != nil {
		return err
	}
	if more.CanSend, err = h.canRefund(c, v.Payment.Reference, 0); err != nil {
		return err
	}
	shell := c.FillLayout(words.T(ctx, "payment.title", "Reference", v.Payment.Reference), "payments")
	shell.NextPath = display.PaymentPath(v.Payment.Reference)
	if said.Text != "" {
		shell.Flash = said
	}
	return c.RenderStatus(status, dashboard.Payment(paymentProps(ctx, shell, v, more)))
}

// canRefund reports that the member may ask for a refund of a payment, or of an unmatched transfer,
// and that there is money to refund.
func (h *Handlers) canRefund(c *page.Ctx, reference string, transfer int64) (bool, error) {
	if !c.Scope.Allows(scope.AskSends) {
		return false, nil
	}
	_, err := h.Sends.FindRefundable(c.UserContext(), c.Scope, reference, transfer)
	if kind := fault.KindOf(err); kind == fault.Conflict || kind == fault.NotFound { // attached since
		return false, nil
	}
	return err == nil, err
}
