package payments

import (
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// showErasure says what the erasure of a customer's data does.
func (h *Handlers) showErasure(c *page.Ctx, status int, typed ui.Form) error {
	ctx := c.UserContext()
	plan, err := h.Eraser.PlanErasure(ctx, c.Scope, page.CleanText(c.Param("id")))
	refused := ""
	if fault.KindOf(err) == fault.Conflict {
		refused, err = page.ExplainError(err).SentenceIn(ctx), nil
	}
	if err != nil {
		return err
	}
	href := customersPath + "/" + plan.Customer.Code
	if plan.Done {
		return c.Redirect(href)
	}
	row := customerRow(plan.Customer, page.LoadZone(c.Member.Business))
	shell := c.FillLayout(words.T(ctx, "customers.erase_title"), "customers")
	return c.RenderStatus(status, dashboard.EraseCustomer(dashboard.EraseProps{Page: shell, Form: typed, Code: row.Code,
		Name: row.Name, Email: row.Email, Href: href,
		Payments: words.N(ctx, "customers.payments_counted", int(plan.Payments)),
		Refused:  refused, SecondFactor: c.Member.User.SecondFactor}))
}

// eraseCustomer erases a customer's data.
func (h *Handlers) eraseCustomer(c *page.Ctx) error {
	code := page.CleanText(c.Param("id"))
	err := h.Eraser.EraseCustomer(c.UserContext(), c.Scope, code, page.ReadProof(c))
	if err != nil {
		page.SetRetryAfter(c, err)
		return page.ShowAgain(c, ui.Form{}, err, h.showErasure)
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "customers.erased_now"))
	return c.Redirect(customersPath + "/" + code)
}

// erasureOf returns where an owner erases a customer, "" where that is done or not allowed.
func (h *Handlers) erasureOf(c *page.Ctx, code string, erased bool) (string, error) {
	if !c.Scope.Allows(scope.EraseCustomers) {
		return "", nil
	}
	if erased { // unless it was interrupted
		plan, err := h.Eraser.PlanErasure(c.UserContext(), c.Scope, code)
		if err != nil || plan.Done {
			return "", err
		}
	}
	return customersPath + "/" + code + "/erase", nil
}
