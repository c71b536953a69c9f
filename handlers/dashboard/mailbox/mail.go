package mailbox

import (
	"strconv"

	"cointill/handlers/page"
	"cointill/views/dashboard"
)

// showMail shows one mail.
func (h *Handlers) showMail(c *page.Ctx, status int) error {
	id, err := page.ReadID(c, "mail")
	if err != nil {
		return err
	}
	found, err := h.Mails.FindMail(c.UserContext(), c.Scope, id)
	if err != nil {
		return err
	}
	shell := c.FillLayout(found.Subject, "mailbox")
	shell.NextPath = mailPath(id)
	return c.RenderStatus(status,
		dashboard.Mail(mailProps(shell, found, h.MailServer, page.LoadZone(c.Member.Business))))
}

func mailPath(id int64) string { return "/dashboard/mailbox/" + strconv.FormatInt(id, 10) }
