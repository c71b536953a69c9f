package dashboard

import (
	"cointill/handlers/page"
	"cointill/views/ui"
	"cointill/views/words"
)

// mailResend queues a mail again that was kept, or did not arrive.
func (h *Handlers) mailResend(c *page.Ctx) error {
	id, err := number(c, "mail")
	if err != nil {
		return err
	}
	if _, err := h.Mails.Resend(c.UserContext(), c.Scope, id); err != nil {
		said, status, err := objection(err)
		if err != nil {
			return err
		}
		return h.showMail(c, status, said)
	}
	c.Flash(string(ui.Info), words.T(c.UserContext(), "mailbox.queued_again"))
	return c.Redirect(mailPath(id))
}
