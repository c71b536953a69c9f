package dashboard

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// unmatchedPath is the list of transfers that credit no payment.
const unmatchedPath = "/dashboard/unmatched"

func strayPath(id int64) string { return unmatchedPath + "/" + strconv.FormatInt(id, 10) }

// unmatched lists the transfers that credit no payment, or those that were dealt with.
func (h *Handlers) unmatched(c *page.Ctx) error {
	show := c.Query("show")
	if show != payment.Attached && show != payment.Refunded {
		show = ""
	}
	ctx, from := c.UserContext(), before(c)
	transfers, next, err := h.Payments.Unmatched(ctx, c.Scope, payment.UnmatchedFilter{Resolution: show, Before: from, Limit: listSize})
	if err != nil {
		return err
	}
	props := dashboard.UnmatchedProps{Page: c.Layout(words.T(ctx, "unmatched.title"), "unmatched"), Shown: show, Tabs: unmatchedTabs(ctx, show), Rows: strayRows(ctx, transfers, zoneOf(c.Member.Business))}
	older := unmatchedHref(show) + map[bool]string{true: "?", false: "&"}[show == ""] + "before=" + strconv.FormatInt(next, 10)
	props.Pager = pager(words.N(ctx, "unmatched.transfers", len(transfers)), from > 0, unmatchedHref(show), next > 0, older)
	return c.Render(dashboard.Unmatched(props))
}

// strayID is the transfer that an address names; what is no number is nobody's.
func strayID(c *page.Ctx) int64 {
	id, err := strconv.ParseInt(c.Params("id"), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// stray shows a transfer that credits no payment, with what can be done about it.
func (h *Handlers) stray(c *page.Ctx) error {
	return h.showStray(c, http.StatusOK, ui.Form{Values: map[string]string{}}, layout.Flash{})
}

func (h *Handlers) showStray(c *page.Ctx, status int, typed ui.Form, said layout.Flash) error {
	t, err := h.Payments.FindUnmatched(c.UserContext(), c.Scope, strayID(c))
	if err != nil {
		return err
	}
	shell := c.Layout(words.T(c.UserContext(), "stray.title"), "unmatched")
	shell.NextPath = strayPath(t.ID)
	if said.Text != "" {
		shell.Flash = said
	}
	facts := strayFacts{Transfer: t, Zone: zoneOf(c.Member.Business), May: c.Scope.Allows(scope.ResolvePayment)}
	if facts.May && t.Resolution == "" {
		if facts.Meant, err = h.meant(c, t); err != nil {
			return err
		}
	}
	return c.RenderStatus(status, dashboard.Stray(strayProps(c.UserContext(), shell, facts, typed)))
}

// meant are payments that a transfer may be for: of its coin, in the days before
// it came, and still in want of money.
func (h *Handlers) meant(c *page.Ctx, t payment.UnmatchedTransfer) ([]payment.View, error) {
	var method money.Method
	for _, info := range money.Coins() {
		if string(info.Coin) == t.Asset {
			method = info.Method
		}
	}
	if method == "" || !t.Provable() {
		return nil, nil
	}
	from, to := t.FirstSeenAt.Add(-3*24*time.Hour), t.FirstSeenAt.Add(24*time.Hour)
	found, err := h.Payments.Search(c.UserContext(), c.Scope, payment.Filter{Method: string(method), From: &from, To: &to, Limit: 50,
		States: []payment.State{payment.Initiated, payment.Processing, payment.Declined, payment.Abandoned}})
	var list []payment.View
	for _, p := range found.Payments {
		if p.Network == t.Network {
			list = append(list, payment.View{Payment: p})
		}
	}
	return list, err
}

// strayReview says what attaching the transfer to a payment would do. It changes nothing.
func (h *Handlers) strayReview(c *page.Ctx) error {
	typed := form(c, "reference")
	plan, err := h.Payments.PlanAttach(c.UserContext(), c.Scope, strayID(c), clean(typed.Value("reference")))
	if err != nil {
		return h.strayRefused(c, typed, err)
	}
	shell := c.Layout(words.T(c.UserContext(), "stray.attach_page"), "unmatched")
	shell.NextPath = strayPath(plan.Transfer.ID)
	return c.Render(dashboard.AttachReview(attachProps(c.UserContext(), shell, plan, zoneOf(c.Member.Business))))
}

// strayReviewBack is where a review leads whose form was not sent along.
func (h *Handlers) strayReviewBack(c *page.Ctx) error {
	t, err := h.Payments.FindUnmatched(c.UserContext(), c.Scope, strayID(c))
	if err != nil {
		return err
	}
	return c.Redirect(strayPath(t.ID))
}

// strayAttach attaches the transfer, once.
func (h *Handlers) strayAttach(c *page.Ctx) error {
	typed, id := form(c, "reference"), strayID(c)
	err := once(h.Answers, c, func(ctx context.Context) (string, error) {
		made, err := h.Payments.Attach(ctx, c.Scope, id, clean(typed.Value("reference")))
		if err == nil {
			c.Flash(string(ui.Good), words.T(ctx, "stray.attached"))
		}
		return made, err
	}, paymentPath)
	if err != nil {
		return h.strayRefused(c, typed, err)
	}
	return nil
}

// strayRefundReview says what marking the transfer as refunded would write down. It changes nothing.
func (h *Handlers) strayRefundReview(c *page.Ctx) error {
	typed, asked := sentBackOf(c)
	t, err := h.Payments.CheckRefunded(c.UserContext(), c.Scope, strayID(c), asked)
	if err != nil {
		return h.strayRefused(c, typed, err)
	}
	shell := c.Layout(words.T(c.UserContext(), "stray.refund_page"), "unmatched")
	shell.NextPath = strayPath(t.ID)
	return c.Render(dashboard.StrayRefundReview(dashboard.StrayRefundProps{Page: shell, Form: typed, Href: strayPath(t.ID),
		Amount: unmatchedRow(c.UserContext(), t, zoneOf(c.Member.Business)).Amount, Came: t.TxID}))
}

// sentBackOf is how a form says that a transfer was sent back.
func sentBackOf(c *page.Ctx) (typed ui.Form, r payment.Refund) {
	typed = form(c, "hash", "note")
	return typed, payment.Refund{TxID: typed.Value("hash"), Note: typed.Value("note")}
}

// strayRefund writes down that the transfer was sent back, once.
func (h *Handlers) strayRefund(c *page.Ctx) error {
	typed, asked := sentBackOf(c)
	id := strayID(c)
	err := once(h.Answers, c, func(ctx context.Context) (int64, error) {
		err := h.Payments.MarkRefunded(ctx, c.Scope, id, asked)
		if err == nil {
			c.Flash(string(ui.Good), words.T(ctx, "stray.refunded"))
		}
		return id, err
	}, strayPath)
	if err != nil {
		return h.strayRefused(c, typed, err)
	}
	return nil
}

// strayRefused shows the transfer again, with what was wrong.
func (h *Handlers) strayRefused(c *page.Ctx, typed ui.Form, refused error) error {
	if fault.KindOf(refused) == fault.Invalid {
		status, err := refuse(&typed, refused)
		if err != nil {
			return err
		}
		return h.showStray(c, status, typed, layout.Flash{})
	}
	said, status, err := objection(refused)
	if err != nil {
		return err
	}
	return h.showStray(c, status, typed, said)
}
