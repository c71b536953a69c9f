package mailbox

import (
	"strconv"

	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// listMails lists the mails to customers and members.
func (h *Handlers) listMails(c *page.Ctx) error {
	before := page.ReadBefore(c)
	mails, next, err := h.Mails.ListMails(c.UserContext(), c.Scope, before, listing.PageSize)
	if err != nil {
		return err
	}
	props := dashboard.MailboxProps{Page: c.FillLayout(words.T(c.UserContext(), "mailbox.mailbox"), "mailbox"),
		NoServer: !h.MailServer, Rows: display.MailRows(mails, page.LoadZone(c.Member.Business))}
	props.Pager = listing.MakePager(words.N(c.UserContext(), "mailbox.counted", len(mails)), before > 0, "/dashboard/mailbox",
		next > 0, "/dashboard/mailbox?before="+strconv.FormatInt(next, 10))
	return c.Render(dashboard.Mailbox(props))
}
