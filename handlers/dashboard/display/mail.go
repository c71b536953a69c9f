package display

import (
	"strconv"
	"time"

	"cointill/core/mail"
	"cointill/views/dashboard"
)

// MailRow is a mail as the mailbox lists it.
func MailRow(m mail.Mail, zone *time.Location) dashboard.MailRow {
	row := dashboard.MailRow{ID: strconv.FormatInt(m.ID, 10), To: m.To, Subject: m.Subject, Status: mailStatus(m.State),
		LastError: m.LastError, At: m.CreatedAt.In(zone)}
	if m.DoneAt != nil {
		row.At = m.DoneAt.In(zone)
	}
	return row
}

func MailRows(mails []mail.Mail, zone *time.Location) (rows []dashboard.MailRow) {
	for _, m := range mails {
		rows = append(rows, MailRow(m, zone))
	}
	return rows
}

// mailStatus is the key of a mail's badge.
func mailStatus(state string) string {
	switch state {
	case mail.Sent, mail.Failed, mail.Unknown, mail.Kept:
		return state
	}
	return "queued"
}
