package dashboard

import (
	"strconv"
	"time"

	"cointill/core/receipt"
	"cointill/views/dashboard"
	"cointill/views/layout"
)

// mailRow is a mail as the mailbox lists it.
func mailRow(m receipt.Mail, zone *time.Location) dashboard.MailRow {
	row := dashboard.MailRow{ID: strconv.FormatInt(m.ID, 10), To: m.To, Subject: m.Subject, Status: mailStatus(m.State),
		LastError: m.LastError, At: m.CreatedAt.In(zone)}
	if m.DoneAt != nil {
		row.At = m.DoneAt.In(zone)
	}
	return row
}

func mailRows(mails []receipt.Mail, zone *time.Location) (rows []dashboard.MailRow) {
	for _, m := range mails {
		rows = append(rows, mailRow(m, zone))
	}
	return rows
}

// mailStatus is the key of a mail's badge.
func mailStatus(state string) string {
	switch state {
	case receipt.Sent, receipt.Failed, receipt.Unknown, receipt.Kept:
		return state
	}
	return "queued"
}

// mailProps is the page of one mail; server says that there is a mail server to send it again.
func mailProps(shell layout.Page, m receipt.Mail, server bool, zone *time.Location) dashboard.MailProps {
	props := dashboard.MailProps{Page: shell, MailRow: mailRow(m, zone), From: m.FromName, Text: m.Text, Attempts: m.Attempt, CanResend: server && m.CanResend()}
	if m.PaymentID != nil {
		props.PaymentReference = m.About
	}
	return props
}
