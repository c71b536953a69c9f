package mailbox

import (
	"net/url"

	"cointill/core/fault"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// listMails lists the mails to customers and members.
func (h *Handlers) listMails(c *page.Ctx) error {
	after := c.Query("cursor")
	mails, next, err := h.Mails.ListMails(c.UserContext(), c.Scope, after, listing.PageSize)
	if fault.KindOf(err) == fault.Invalid { // no page begins there
		return c.Redirect("/dashboard/mailbox")
	}
	if err != nil {
		return err
	}
	props := dashboard.MailboxProps{Page: c.FillLayout(words.T(c.UserContext(), "mailbox.mailbox"), "mailbox"),
		NoServer: !h.MailServer, Rows: display.MailRows(mails, page.LoadZone(c.Member.Business))}
	props.Pager = listing.MakePager(words.N(c.UserContext(), "mailbox.counted", len(mails)), after != "",
		"/dashboard/mailbox",
		next != "", "/dashboard/mailbox?cursor="+url.QueryEscape(next))
	return c.Render(dashboard.Mailbox(props))
}
