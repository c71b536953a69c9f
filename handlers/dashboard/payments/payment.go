package payments

import (
	"net/url"

	"cointill/core/fault"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/scope"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// showPayment shows a transaction.
func (h *Handlers) showPayment(c *page.Ctx, status int) error {
	return h.showPaymentWith(c, status, ui.Form{})
}

// showPaymentWith shows a transaction, also with a note that was refused.
func (h *Handlers) showPaymentWith(c *page.Ctx, status int, note ui.Form) error {
	ctx, sc, zone := c.UserContext(), c.Scope, page.LoadZone(c.Member.Business)
	v, err := h.Payments.Verify(ctx, sc, page.CleanText(c.Param("reference")))
	if err != nil {
		return err
	}
	more := paymentMore{PayURL: h.Payments.PageURL(v.Payment), Scope: sc, Note: note}
	if more.Steps, err = h.Payments.Timeline(ctx, sc, v.Payment.Reference); err != nil {
		return err
	}
	unmatched, err := h.Resolver.ListUnmatchedOf(ctx, sc, v.Payment.ID)
	if err != nil {
		return err
	}
	if more.Unmatched, err = h.unmatchedRows(c, unmatched); err != nil {
		return err
	}
	if more.Refunds, err = h.Resolver.Refunds(ctx, sc, v.Payment.ID); err != nil {
		return err
	}
	if v.State() == payment.Declined {
		if more.Left, err = h.Resolver.ReadLeft(ctx, sc, v.Payment); err != nil {
			return err
		}
	}
	if more.Notes, err = h.Notes.List(ctx, sc, v.Payment.ID); err != nil {
		return err
	}
	if more.Deliveries, err = h.Deliveries.DeliveriesOfPayment(ctx, sc, v.Payment.ID); err != nil {
		return err
	}
	mails, err := h.Mails.OfPayment(ctx, sc, v.Payment.ID)
	if err != nil {
		return err
	}
	more.Mails, more.List = display.MailRows(mails, zone), plainList(listing.ReadRequest(c))
	if more.Previous, more.Next, err = h.findBeside(c, more.List, v.Payment.Reference); err != nil {
		return err
	}
	if more.Origin, more.HasOrigin, err = h.Wallets.Origin(ctx, sc, v.Payment); err != nil {
		return err
	}
	if more.CanSend, err = h.canRefund(c, v.Payment.Reference, 0); err != nil {
		return err
	}
	shell := c.FillLayout(words.T(ctx, "payment.title", "Reference", v.Payment.Reference), "payments")
	shell.NextPath = display.PaymentPath(v.Payment.Reference)
	c.MakeLive(&shell, "?payment="+url.QueryEscape(v.Payment.Reference))
	return c.RenderStatus(status, dashboard.Payment(paymentProps(ctx, shell, v, more)))
}

// plainList is the search of a list without what only its table shows.
func plainList(s listing.Search) listing.Search {
	s = s.FirstPage()
	s.Columns, s.Size = nil, 0
	return s
}

// findBeside returns the references of the payments before and after one in a list; "" for none.
func (h *Handlers) findBeside(c *page.Ctx, in listing.Search, reference string) (previous, next string, err error) {
	f := h.makeFilter(c, in)
	f.Limit = 1
	for _, one := range []struct {
		found         *string
		before, after list.Place
	}{
		{&previous, list.Place{}, list.Place{Reference: reference}}, {&next, list.Place{Reference: reference}, list.Place{}},
	} {
		f.Before, f.After = one.before, one.after
		found, err := h.Lists.Search(c.UserContext(), c.Scope, f)
		if err != nil && fault.KindOf(err) != fault.NotFound { // the payment may not be one of the list's
			return "", "", err
		}
		if len(found.Payments) > 0 {
			*one.found = found.Payments[0].Reference
		}
	}
	if previous == reference || previous == next { // without a newer payment a search answers with the first page
		previous = ""
	}
	return previous, next, nil
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
