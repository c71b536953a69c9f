package mailbox

import (
	"cointill/handlers/page"
	"cointill/views/ui"
	"cointill/views/words"
)

// resendMail queues a mail again that was kept, or did not arrive.
func (h *Handlers) resendMail(c *page.Ctx) error {
	id, err := page.ReadID(c, "mail")
	if err != nil {
		return err
	}
	if _, err := h.Mails.ResendMail(c.UserContext(), c.Scope, id); err != nil {
		return page.ShowRefusal(c, err, h.showMail)
	}
	c.SetFlash(string(ui.Info), words.T(c.UserContext(), "mailbox.queued_again"))
	return c.Redirect(mailPath(id))
}
