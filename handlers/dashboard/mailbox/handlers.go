// Package mailbox shows the mails of a business and sends them again.
package mailbox

import (
	"cointill/core/mail"
	"cointill/core/scope"
	"cointill/handlers/page"
)

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	MailServer bool // a mail server is configured: mails are sent, not only kept
	Mails      *mail.Service
}

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	m.Get("/dashboard/mailbox", scope.SeePayments, h.listMails)
	m.Get("/dashboard/mailbox/:id", scope.SeePayments, page.ShowPage(h.showMail))
	m.Post("/dashboard/mailbox/:id/resend", scope.SeePayments, h.resendMail)
}
