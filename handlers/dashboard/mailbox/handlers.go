// Package mailbox shows the mails of a business and sends them again.
package mailbox

import (
	"context"

	"cointill/core/mail"
	"cointill/core/scope"
	"cointill/handlers/page"
)

// Mails is what these pages need of core/mail.
type Mails interface {
	ListMails(ctx context.Context, sc scope.Scope, after string, limit int) ([]mail.Mail, string, error)
	FindMail(ctx context.Context, sc scope.Scope, id int64) (mail.Mail, error)
	ResendMail(ctx context.Context, sc scope.Scope, id int64) (mail.Mail, error)
}

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	MailServer bool // a mail server is configured: mails are sent, not only kept
	Mails      Mails
}

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	m.Get("/dashboard/mailbox", scope.SeePayments, h.listMails)
	m.Get("/dashboard/mailbox/:id", scope.SeePayments, h.showMailPage)
	m.Post("/dashboard/mailbox/:id/resend", scope.SeePayments, h.resendMail)
}
