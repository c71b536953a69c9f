package sends

import (
	"net/http"
	"slices"
	"strings"

	"cointill/core/money"
	"cointill/core/send"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// approvalPages are the pages on which a person approves several sends with one proof of who they are.
type approvalPages struct{ *Handlers }

const approvePath = display.SendsPath + "/approve"

// readTicked returns the references of the sends that were ticked in a list.
func readTicked(c *page.Ctx) (references []string) {
	for _, value := range c.Context().QueryArgs().PeekMulti("send") {
		references = append(references, page.CleanText(string(value)))
	}
	return references
}

// chooseSends shows the ticked sends, each with all that an approval of it covers.
func (h approvalPages) chooseSends(c *page.Ctx) error {
	return h.showChosen(c, http.StatusOK, readTicked(c), approvalForm{})
}

// approvalForm is what a refused form shows again.
type approvalForm struct {
	ui.Form
	refusals []dashboard.ApprovalRefusal
}

// showChosen shows the sends that the member may approve now. Without any it leads back to the list.
func (h approvalPages) showChosen(c *page.Ctx, status int, references []string, form approvalForm) error {
	ctx := c.UserContext()
	list, err := h.listApprovable(c, references)
	if err != nil {
		return err
	}
	if len(list) == 0 && len(form.refusals) == 0 {
		c.SetFlash(string(ui.Warn), words.T(ctx, "sends.tick_to_approve"))
		return c.Redirect(listPath("approve", "", 0))
	}
	names, err := h.nameActors(c, list, nil)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(ctx, "sends.approve_several"), "sends")
	props := dashboard.SendApproveProps{Page: shell, Form: form.Form, Refusals: form.refusals,
		SecondFactor: c.Member.User.SecondFactor, LeftOut: len(references) - len(list) - len(form.refusals)}
	var usd int64
	zone := page.LoadZone(c.Member.Business)
	for _, v := range list {
		usd += v.Send.ValueUSD
		props.Rows = append(props.Rows, dashboard.ApprovalSend{SendRow: sendRow(ctx, v, names, zone),
			Network: networkText(v), Version: v.Version(), Note: v.Send.Note,
			BusinessReference: v.Send.BusinessReference, Given: len(v.Approvals), Needed: v.Send.Approvals})
	}
	props.Sum = display.FormatHundredths(money.USD, usd)
	return c.RenderStatus(status, dashboard.SendApprove(props))
}

// listApprovable lists the sends that the member may approve now, the oldest first.
func (h approvalPages) listApprovable(c *page.Ctx, references []string) (list []send.View, err error) {
	if len(references) == 0 || len(references) > send.MaxTogether {
		return nil, nil
	}
	found, _, err := h.Sends.List(c.UserContext(), c.Scope, send.Filter{States: []send.State{send.AwaitingApproval},
		References: references, Limit: send.MaxTogether})
	if err != nil {
		return nil, err
	}
	may, err := h.findApprovable(c, found)
	for _, v := range slices.Backward(found) {
		if may[v.Send.ID] {
			list = append(list, v)
		}
	}
	return list, err
}

// findApprovable finds the sends that the member may approve now, and hasn't yet, by their numbers.
func (h approvalPages) findApprovable(c *page.Ctx, list []send.View) (map[int64]bool, error) {
	type asked struct {
		actor  string
		needed int
	}
	known, approvable := map[asked]bool{}, map[int64]bool{} // sends of one file are asked for alike
	for _, v := range list {
		if v.State() != send.AwaitingApproval || hasApproved(v, c.Scope.Actor) || v.Send.Reason == send.SentAgain {
			continue // the risk of sending again stands on the page of the send
		}
		key := asked{v.Send.Actor, v.Send.Approvals}
		may, is := known[key]
		if !is {
			var err error
			if may, err = h.Approvals.MayApprove(c.UserContext(), c.Scope, v); err != nil {
				return nil, err
			}
			known[key] = may
		}
		approvable[v.Send.ID] = may
	}
	return approvable, nil
}

// approveChosen approves the sends as the member saw them, each by itself. Those that are refused are shown
// again with the reason.
func (h approvalPages) approveChosen(c *page.Ctx) error {
	ctx := c.UserContext()
	var seen []send.Seen
	var references []string
	for _, value := range page.ReadValues(c, "send") {
		reference, version, _ := strings.Cut(page.CleanText(value), " ")
		if !slices.Contains(references, reference) {
			seen, references = append(seen, send.Seen{Reference: reference, Version: version}), append(references, reference)
		}
	}
	if len(seen) == 0 || len(seen) > send.MaxTogether {
		return h.showChosen(c, http.StatusOK, nil, approvalForm{})
	}
	refused, err := h.Approvals.ApproveEach(ctx, c.Scope, seen, page.ReadProof(c))
	if err != nil {
		page.SetRetryAfter(c, err)
		return page.ShowRefusedForm(c, ui.Form{}, err, func(c *page.Ctx, status int, typed ui.Form) error {
			return h.showChosen(c, status, references, approvalForm{Form: typed})
		})
	}
	var again []string
	var form approvalForm
	for i, err := range refused {
		if err == nil {
			continue
		}
		said, _, err := page.DescribeRefusal(c.UserContext(), err)
		if err != nil {
			return err
		}
		again = append(again, references[i])
		form.refusals = append(form.refusals, dashboard.ApprovalRefusal{Reference: references[i],
			Href: display.SendPath(references[i]), Text: said.Text})
	}
	done := words.N(ctx, "sends.approved_counted", len(seen)-len(again))
	if len(again) == 0 {
		c.SetFlash(string(ui.Good), done)
		return c.Redirect(listPath("approve", "", 0))
	}
	c.ShowMessage(string(ui.Warn), done)
	return h.showChosen(c, http.StatusConflict, again, form)
}
