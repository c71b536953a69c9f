package mailbox

import (
	"time"

	"cointill/core/mail"
	"cointill/handlers/dashboard/display"
	"cointill/views/dashboard"
	"cointill/views/layout"
)

// mailProps is the page of one mail; server says that there is a mail server to send it again.
func mailProps(shell layout.Page, m mail.Mail, server bool, zone *time.Location) dashboard.MailProps {
	props := dashboard.MailProps{Page: shell, MailRow: display.MailRow(m, zone), From: m.FromName, Text: m.Text,
		Attempts: m.Attempt, CanResend: server && m.CanResend()}
	if m.State == mail.Unknown && m.NextAt != nil {
		props.OnceMore = m.NextAt.In(zone)
	}
	if m.PaymentID != nil {
		props.PaymentReference = m.About
	}
	return props
}
