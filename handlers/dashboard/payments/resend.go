package payments

import (
	"context"
	"net/http"
	"strings"

	"cointill/core/fault"
	"cointill/core/payment/list"
	"cointill/core/webhook/delivery"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

const resendPath = listing.PaymentsPath + "/resend"

// resendPages answers the requests to send the events of payments again.
type resendPages struct{ *Handlers }

// reviewResend says how many events of the list would be sent again. It changes nothing.
func (h resendPages) reviewResend(c *page.Ctx) error {
	return h.showResend(c, http.StatusOK, ui.Form{Values: map[string]string{"failed": "true"}})
}

// showResend shows the form that sends the events of the list again.
func (h resendPages) showResend(c *page.Ctx, status int, typed ui.Form) error {
	ctx, asked := c.UserContext(), listing.ReadRequest(c).FirstPage()
	filter := h.makeFilter(c, asked)
	n, err := h.Lists.Count(ctx, c.Scope, filter)
	if err != nil {
		return err
	}
	p := dashboard.PaymentsResendProps{Page: c.FillLayout(words.T(ctx, "payments.resend_events"), "payments"),
		Form: typed, Payments: words.N(ctx, "payments.counted", int(n), "N", words.FormatThousands(ctx, n)),
		Chips: asked.DescribeFilters(ctx), Wrong: asked.Wrong, BackHref: asked.Href(), Action: asked.HrefOf(resendPath)}
	if n == 0 || len(asked.Wrong) > 0 {
		return c.RenderStatus(status, dashboard.PaymentsResend(p))
	}
	ids, err := h.listChosen(c, filter)
	if err == nil {
		var planned delivery.PaymentsPlan
		if planned, err = h.Resends.PlanPayments(ctx, c.Scope, ids); err == nil {
			p.Possible, p.Planned = true, words.T(ctx, "payments.resend_planned",
				"Events", words.N(ctx, "webhook.events_n", planned.Events),
				"Endpoints", words.N(ctx, "webhook.endpoints_n", planned.Endpoints))
		}
	}
	if err != nil && len(p.Form.Errors) == 0 {
		if status, err = page.RefuseForm(c.UserContext(), &p.Form, err); err != nil {
			return err
		}
	}
	return c.RenderStatus(status, dashboard.PaymentsResend(p))
}

// listChosen returns the payments of a filter, at most one more than an order may be for.
func (h resendPages) listChosen(c *page.Ctx, f list.Filter) ([]int64, error) {
	return h.Lists.IDs(c.UserContext(), c.Scope, f, delivery.MaxResendPayments+1)
}

// resendEvents orders that the events of the list are sent again.
func (h resendPages) resendEvents(c *page.Ctx) error {
	typed, asked := page.ReadForm(c, "failed"), listing.ReadRequest(c).FirstPage()
	if len(asked.Wrong) > 0 { // the order would be for more than was asked for
		return fault.New(fault.Invalid, "filter_unreadable", "%s", words.T(c.UserContext(), "filters.no_file", "Why",
			strings.Join(asked.Wrong, " ")))
	}
	ids, err := h.listChosen(c, h.makeFilter(c, asked))
	if err != nil {
		return err
	}
	err = page.RedirectOnce(h.Answers, c, func(ctx context.Context) (delivery.Resend, error) {
		return h.Resends.CreateForPayments(ctx, c.Scope, ids, typed.On("failed"))
	}, func(r delivery.Resend) string { return display.WebhooksPath + "/resends/" + r.ID })
	if err == nil {
		return nil
	}
	return page.ShowAgain(c, typed, err, h.showResend)
}
