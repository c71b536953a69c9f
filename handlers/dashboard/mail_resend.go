package dashboard

import (
	"cointill/handlers/page"
	"cointill/views/ui"
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
	c.Flash(string(ui.Info), "The mail is queued again.")
	return c.Redirect(mailPath(id))
}
