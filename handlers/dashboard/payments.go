package dashboard

import (
	"strconv"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/handlers/page"
	"cointill/views/dashboard"
)

// payments lists the transactions that its address asks for.
func (h *Handlers) payments(c *page.Ctx) error {
	asked := searchOf(c)
	found, err := h.Payments.Search(c.UserContext(), c.Scope, asked.filter())
	if err != nil {
		return err
	}
	return c.Render(dashboard.Payments(paymentsProps(c.Layout("Transactions", "payments"), asked, found, zoneOf(c.Member.Business))))
}

// searchOf reads the search from the address. A value that no payment can have
// is left out, as if it had not been chosen.
func searchOf(c *page.Ctx) search {
	s := search{Query: clean(c.Query("q"))}
	if status := payment.State(c.Query("status")); status.Known() {
		s.Status = string(status)
	}
	if method := money.Method(c.Query("method")); known(method) {
		s.Method = string(method)
	}
	if currency := money.Currency(c.Query("currency")); currency.Known() {
		s.Currency = string(currency)
	}
	s.Before = before(c)
	return s
}

func known(method money.Method) bool { _, ok := method.Info(); return ok }

// before is where a page of a list begins; 0 is its start.
func before(c *page.Ctx) int64 {
	n, err := strconv.ParseInt(c.Query("before"), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
