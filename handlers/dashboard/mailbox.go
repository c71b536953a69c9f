package dashboard

import (
	"net/url"

	"cointill/core/fault"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// mailbox lists the mails to customers and members.
func (h *Handlers) mailbox(c *page.Ctx) error {
	after := c.Query("cursor")
	mails, next, err := h.Mails.List(c.UserContext(), c.Scope, after, listSize)
	if fault.KindOf(err) == fault.Invalid { // no page begins there
		return c.Redirect("/dashboard/mailbox")
	}
	if err != nil {
		return err
	}
	props := dashboard.MailboxProps{Page: c.Layout(words.T(c.UserContext(), "mailbox.mailbox"), "mailbox"), NoServer: !h.MailServer, Rows: mailRows(mails, zoneOf(c.Member.Business))}
	props.Pager = pager(words.N(c.UserContext(), "mailbox.counted", len(mails)), after != "", "/dashboard/mailbox",
		next != "", "/dashboard/mailbox?cursor="+url.QueryEscape(next))
	return c.Render(dashboard.Mailbox(props))
}
