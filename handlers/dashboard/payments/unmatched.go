package payments

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/payment/refund"
	"cointill/core/scope"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

func unmatchedPath(id int64) string { return display.UnmatchedPath + "/" + strconv.FormatInt(id, 10) }

// listUnmatched lists the transfers that credit no payment, or those that were dealt with.
func (h *Handlers) listUnmatched(c *page.Ctx) error {
	show := c.Query("show")
	if show != payment.Attached && show != payment.Refunded {
		show = ""
	}
	ctx, from := c.UserContext(), page.ReadBefore(c)
	transfers, next, err := h.Resolver.Unmatched(ctx, c.Scope, payment.UnmatchedFilter{Resolution: show, Before: from,
		Limit: listing.PageSize})
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(ctx, "unmatched.title"), "unmatched")
	c.MakeLive(&shell, "")
	rows, err := h.unmatchedRows(c, transfers)
	if err != nil {
		return err
	}
	props := dashboard.UnmatchedProps{Page: shell, Shown: show, FirstHref: unmatchedHref(show, 0),
		Tabs: unmatchedTabs(ctx, show), Rows: rows}
	if show == "" && from == 0 {
		props.Since, props.News = listing.CountNewRows(c, "unmatched.news", transfers,
			func(t payment.UnmatchedTransfer) int64 { return t.ID })
	}
	props.Pager = listing.MakePager(words.N(ctx, "unmatched.transfers", len(transfers)), from > 0,
		unmatchedHref(show, 0), next > 0, unmatchedHref(show, next))
	return c.Render(dashboard.Unmatched(props))
}

// unmatchedRows are transfers that credit no payment, with the sends that refund them.
func (h *Handlers) unmatchedRows(c *page.Ctx, transfers []payment.UnmatchedTransfer) ([]dashboard.UnmatchedRow, error) {
	ctx, zone := c.UserContext(), page.LoadZone(c.Member.Business)
	ids := make([]int64, len(transfers))
	for i, t := range transfers {
		ids[i] = t.ID
	}
	refunds, err := h.Lists.FindRefundSends(ctx, c.Scope, ids)
	rows := make([]dashboard.UnmatchedRow, len(transfers))
	for i, t := range transfers {
		rows[i] = unmatchedRow(ctx, t, zone)
		showRefundSend(ctx, &rows[i], refunds[t.ID])
	}
	return rows, err
}

// unmatchedID reads the transfer in an address. A text that is not a number matches no transfer.
func unmatchedID(c *page.Ctx) int64 {
	id, err := strconv.ParseInt(c.Params("id"), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// showUnmatched shows a transfer that credits no payment, with the possible actions.
func (h *Handlers) showUnmatched(c *page.Ctx) error {
	return h.renderUnmatched(c, http.StatusOK, ui.Form{Values: map[string]string{}})
}

func (h *Handlers) renderUnmatched(c *page.Ctx, status int, typed ui.Form) error {
	t, err := h.Resolver.FindUnmatched(c.UserContext(), c.Scope, unmatchedID(c))
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "unmatched_transfer.title"), "unmatched")
	shell.NextPath = unmatchedPath(t.ID)
	facts := unmatchedFacts{Transfer: t, Zone: page.LoadZone(c.Member.Business), May: c.Scope.Allows(scope.ResolvePayment)}
	refunds, err := h.Lists.FindRefundSends(c.UserContext(), c.Scope, []int64{t.ID})
	if err != nil {
		return err
	}
	facts.Refund = refunds[t.ID]
	if facts.May && t.Resolution == "" && facts.Refund.Reference == "" {
		if facts.Meant, err = h.findCandidates(c, t); err != nil {
			return err
		}
	}
	props := unmatchedTransferProps(c.UserContext(), shell, facts, typed)
	can, err := h.canRefund(c, "", t.ID)
	if err != nil {
		return err
	}
	if can {
		props.SendHref = display.SendsPath + "/new?transfer=" + strconv.FormatInt(t.ID, 10)
	}
	return c.RenderStatus(status, dashboard.UnmatchedTransfer(props))
}

// findCandidates are payments that a transfer may be for: of its coin, in the days before it came, which still wait for
// money.
func (h *Handlers) findCandidates(c *page.Ctx, t payment.UnmatchedTransfer) ([]list.Candidate, error) {
	var method money.Method
	for _, info := range money.Coins() {
		if string(info.Coin) == t.Asset {
			method = info.Method
		}
	}
	if method == "" || !t.Provable() {
		return nil, nil
	}
	home := h.Networks.Home(t.Network)
	var compared []models.Payment
	var err error
	if t.Why == payment.OtherAmount {
		compared, err = h.Lists.ListNear(c.UserContext(), c.Scope, t.Transfer, home)
	} else {
		from, to := t.FirstSeenAt.Add(-3*24*time.Hour), t.FirstSeenAt.Add(24*time.Hour)
		var found list.Page
		found, err = h.Lists.Search(c.UserContext(), c.Scope, list.Filter{Method: string(method), From: &from, To: &to,
			Limit:  50,
			States: []payment.State{payment.Initiated, payment.Processing, payment.Declined, payment.Abandoned}})
		compared = slices.DeleteFunc(found.Payments, func(p models.Payment) bool {
			return h.Networks.Home(p.Network) != home
		})
	}
	if err != nil {
		return nil, err
	}
	return h.Lists.RankCandidates(c.UserContext(), c.Scope, t.Transfer, compared, mostMeant)
}

// reviewAttach says what attaching the transfer to a payment would do. It changes nothing.
func (h *Handlers) reviewAttach(c *page.Ctx) error {
	typed := page.ReadForm(c, "reference")
	plan, err := h.Resolver.PlanAttach(c.UserContext(), c.Scope, unmatchedID(c), page.CleanText(typed.Value("reference")))
	if err != nil {
		return h.refuseUnmatched(c, typed, err)
	}
	shell := c.FillLayout(words.T(c.UserContext(), "unmatched_transfer.attach_page"), "unmatched")
	shell.NextPath = unmatchedPath(plan.Transfer.ID)
	return c.Render(dashboard.AttachReview(attachProps(c.UserContext(), shell, plan, page.LoadZone(c.Member.Business))))
}

// returnToUnmatched is where a review leads whose form was not sent along.
func (h *Handlers) returnToUnmatched(c *page.Ctx) error {
	t, err := h.Resolver.FindUnmatched(c.UserContext(), c.Scope, unmatchedID(c))
	if err != nil {
		return err
	}
	return c.Redirect(unmatchedPath(t.ID))
}

// attachUnmatched attaches the transfer, once.
func (h *Handlers) attachUnmatched(c *page.Ctx) error {
	typed, id := page.ReadForm(c, "reference"), unmatchedID(c)
	err := page.RedirectOnce(h.Answers, c, func(ctx context.Context) (string, error) {
		made, err := h.Resolver.Attach(ctx, c.Scope, id, page.CleanText(typed.Value("reference")))
		if err == nil {
			c.SetFlash(string(ui.Good), words.T(ctx, "unmatched_transfer.attached"))
		}
		return made, err
	}, display.PaymentPath)
	if err != nil {
		return h.refuseUnmatched(c, typed, err)
	}
	return nil
}

// reviewUnmatchedRefund says what marking the transfer as refunded would write down. It changes nothing.
func (h *Handlers) reviewUnmatchedRefund(c *page.Ctx) error {
	typed, asked := sentBackOf(c)
	t, err := h.Resolver.CheckRefunded(c.UserContext(), c.Scope, unmatchedID(c), asked)
	if err != nil {
		return h.refuseUnmatched(c, typed, err)
	}
	shell := c.FillLayout(words.T(c.UserContext(), "unmatched_transfer.refund_page"), "unmatched")
	shell.NextPath = unmatchedPath(t.ID)
	return c.Render(dashboard.UnmatchedRefundReview(dashboard.UnmatchedRefundProps{Page: shell, Form: typed,
		Href:   unmatchedPath(t.ID),
		Amount: unmatchedRow(c.UserContext(), t, page.LoadZone(c.Member.Business)).Amount, Hash: t.TxID}))
}

// sentBackOf is how a form says that a transfer was sent back.
func sentBackOf(c *page.Ctx) (typed ui.Form, r refund.Report) {
	typed = page.ReadForm(c, "hash", "note")
	return typed, refund.Report{TxID: typed.Value("hash"), Note: typed.Value("note")}
}

// recordUnmatchedRefund writes down that the transfer was sent back, once.
func (h *Handlers) recordUnmatchedRefund(c *page.Ctx) error {
	typed, asked := sentBackOf(c)
	id := unmatchedID(c)
	err := page.RedirectOnce(h.Answers, c, func(ctx context.Context) (int64, error) {
		err := h.Resolver.MarkRefunded(ctx, c.Scope, id, asked)
		if err == nil {
			c.SetFlash(string(ui.Good), words.T(ctx, "unmatched_transfer.refunded"))
		}
		return id, err
	}, unmatchedPath)
	if err != nil {
		return h.refuseUnmatched(c, typed, err)
	}
	return nil
}

// refuseUnmatched shows the transfer again with the error of a form.
func (h *Handlers) refuseUnmatched(c *page.Ctx, typed ui.Form, refused error) error {
	return page.ShowRefusedForm(c, typed, refused, h.renderUnmatched)
}
