package dashboard

import (
	"net/url"

	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/ui"
)

// mailbox lists the mails to customers and members.
func (h *Handlers) mailbox(c *page.Ctx) error {
	after := c.Query("cursor")
	mails, next, err := h.Mails.List(c.UserContext(), c.Scope, after, listSize)
	if err != nil {
		return err
	}
	props := dashboard.MailboxProps{Page: c.Layout("Mailbox", "mailbox"), NoServer: !h.MailServer, Rows: mailRows(mails, zoneOf(c.Member.Business))}
	props.Pager = pager(ui.Count(len(mails), "mail", "mails"), after != "", "/dashboard/mailbox",
		next != "", "/dashboard/mailbox?cursor="+url.QueryEscape(next))
	return c.Render(dashboard.Mailbox(props))
}
