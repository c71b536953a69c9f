package payments

import (
	"cointill/core/contact"
	"cointill/core/fault"
	"cointill/core/payment/list"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// customersPath is the list of those who paid.
const customersPath = "/dashboard/customers"

// listCustomers lists those who started payments, or those whom a text means.
func (h *Handlers) listCustomers(c *page.Ctx) error {
	query, after := page.CleanText(c.Query("q")), page.CleanText(c.Query("after"))
	list, more, err := h.Lists.Customers(c.UserContext(), c.Scope, list.CustomerFilter{Query: query, Before: after,
		Limit: listing.PageSize})
	if fault.KindOf(err) == fault.NotFound { // the page was one of another business or domain
		return c.Redirect(customersHref(query, ""))
	}
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "customers.title"), "customers")
	shell.NextPath = customersPath
	return c.Render(dashboard.Customers(customersProps(c.UserContext(), shell,
		customersFacts{query, after, list, more, page.LoadZone(c.Member.Business)})))
}

// showCustomer shows one customer with their latest payments.
func (h *Handlers) showCustomer(c *page.Ctx) error {
	found, totals, err := h.Lists.Customer(c.UserContext(), c.Scope, page.CleanText(c.Param("id")))
	if err != nil {
		return err
	}
	latest, err := h.Lists.Search(c.UserContext(), c.Scope, list.Filter{Customer: found.ID, Limit: 10})
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(c.UserContext(), "customers.customer"), "customers")
	shell.NextPath = customersPath
	props := customerProps(c.UserContext(), shell,
		customerFacts{found, totals, latest.Payments, page.LoadZone(c.Member.Business)})
	props.Erased = contact.IsErasedEmail(found.Email)
	if props.EraseHref, err = h.erasureOf(c, found.Code, props.Erased); err != nil {
		return err
	}
	return c.Render(dashboard.Customer(props))
}

func customersHref(query, after string) string {
	return listing.MakeHref(customersPath, map[string]string{"q": query, "after": after})
}
