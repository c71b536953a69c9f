package sends

import (
	"strconv"

	"cointill/core/scope"
	"cointill/core/send/addressbook"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// showAddresses shows the list with the form to add an address.
func (h *Handlers) showAddresses(c *page.Ctx, status int, typed ui.Form) error {
	ctx := c.UserContext()
	rows, err := h.Addresses.List(ctx, c.Scope)
	if err != nil {
		return err
	}
	props := dashboard.AddressBookProps{Page: c.FillLayout(words.T(ctx, "sends.addresses_title"), "sends"), Form: typed,
		Methods: methodOptions(h.Networks, c.Scope.Domain), Change: c.Scope.Allows(scope.ApproveSends),
		Ask:          c.Scope.Allows(scope.AskSends),
		SecondFactor: c.Member.User.SecondFactor}
	zone := page.LoadZone(c.Member.Business)
	for _, row := range rows {
		shown := dashboard.BookAddress{ID: strconv.FormatInt(row.ID, 10), Name: row.Name, Network: row.Network,
			Address: row.Address, Tag: formatTag(row)}
		if c.Scope.Domain == scope.Live && h.Clock().Before(row.ReleasedAt) {
			shown.Waits = row.ReleasedAt.In(zone)
		}
		props.Addresses = append(props.Addresses, shown)
	}
	return c.RenderStatus(status, dashboard.AddressBook(props))
}

// formatTag writes an address's tag; "" for none.
func formatTag(row models.PayoutAddress) string {
	if row.Tag < 0 {
		return ""
	}
	return strconv.FormatInt(row.Tag, 10)
}

// addAddress adds an address to the book.
func (h *Handlers) addAddress(c *page.Ctx) error {
	typed := page.ReadForm(c, "name", "payment_method", "address", "tag")
	entry := addressbook.Entry{Name: typed.Value("name"), Address: typed.Value("address"), Tag: typed.Value("tag")}
	entry.Method, entry.Network = readMethod(typed)
	if err := h.Addresses.Add(c.UserContext(), c.Scope, entry, page.ReadProof(c)); err != nil {
		page.SetRetryAfter(c, err)
		return page.ShowAgain(c, typed, err, h.showAddresses)
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "sends.address_added"))
	return c.Redirect(addressesPath)
}

// removeAddress takes an address from the book.
func (h *Handlers) removeAddress(c *page.Ctx) error {
	if err := h.Addresses.Remove(c.UserContext(), c.Scope, readID(c.Param("id"))); err != nil {
		return err
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "sends.address_removed"))
	return c.Redirect(addressesPath)
}

// readID reads a row's number; 0, which no row has, for another text.
func readID(text string) int64 {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return id
}
