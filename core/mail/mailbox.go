package mail

import (
	"context"
	"time"

	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

// Mail is a mail as the mailbox page shows it.
type Mail struct {
	ID        int64
	Kind      string // receipt, or what a notice is about
	About     string // the payment's reference, of a receipt
	PaymentID *int64
	FromName  string
	To        string
	Subject   string
	Text      string
	State     string     // pending, sending, sent, kept, failed or unknown
	Attempt   int        // attempts made, or under way
	LastError string     // a sentence
	NextAt    *time.Time // when it is tried, of one that is pending, or unknown and sent once more
	CreatedAt time.Time
	DoneAt    *time.Time
}

// CanResend reports whether a person may have it sent again.
func (m Mail) CanResend() bool { return isResendable(m.State) }

func isResendable(outcome string) bool {
	return outcome == Failed || outcome == Unknown || outcome == Kept
}

// ListMails lists a page of the mails, newest first and without their bodies. before and next are as in
// models.ReadPage; a page has 1–100 mails.
func (s *Service) ListMails(ctx context.Context, sc scope.Scope, before int64, limit int) (list []Mail, next int64,
	err error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return nil, 0, err
	}
	rows, next, err := models.ReadPage(sc.Rows(s.DB.Read(ctx)).Omit("text", "html"), before, min(max(limit, 1), 100),
		func(row models.Mail) int64 { return row.ID })
	return s.showMails(rows), next, err
}

// OfPayment gives the mails about a payment, newest first and without their
// bodies, at most 100. Faults: Forbidden.
func (s *Service) OfPayment(ctx context.Context, sc scope.Scope, paymentID int64) ([]Mail, error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return nil, err
	}
	var rows []models.Mail
	err := sc.Rows(s.DB.Read(ctx)).Omit("text", "html").Where("payment_id = ?", paymentID).Order("id DESC").Limit(100).
		Find(&rows).Error
	return s.showMails(rows), err
}

func (s *Service) showMails(rows []models.Mail) (list []Mail) {
	for _, row := range rows {
		list = append(list, s.showMail(row))
	}
	return list
}

// FindMail finds one mail. Faults: NotFound, Forbidden.
func (s *Service) FindMail(ctx context.Context, sc scope.Scope, id int64) (Mail, error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return Mail{}, err
	}
	row, err := findRow(s.DB.Read(ctx), sc, id)
	if err == nil {
		err = s.fillCustomers(ctx, &row)
	}
	return s.showMail(row), err
}

// ResendMail queues a mail again that was kept, failed, or may not have arrived.
// It keeps its Message-ID, so that most mailboxes show a twin once. Faults:
// NotFound, Forbidden, Conflict when it was sent, is on its way, or there is no
// mail server.
func (s *Service) ResendMail(ctx context.Context, sc scope.Scope, id int64) (Mail, error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return Mail{}, err
	}
	var row models.Mail
	err := s.DB.Write(ctx, func(tx *models.Tx) (err error) {
		if row, err = findRow(tx, sc, id); err != nil {
			return err
		}
		if s.SMTP == nil {
			return fault.New(fault.Conflict, "no_mail_server",
				"No mail server is configured. Set COINTILL_SMTP_URL to send e-mails.")
		}
		if row.DoneAt == nil && !awaitsRepeat(row) {
			return fault.New(fault.Conflict, "mail_pending", "The e-mail is already on its way.")
		}
		if !isResendable(row.Outcome) {
			return fault.New(fault.Conflict, "mail_sent", "The e-mail was already sent.")
		}
		queued := tx.Model(&models.Mail{}).Where("id = ? AND outcome = ? AND claimed_at IS NULL", id,
			row.Outcome).Updates(map[string]any{
			"outcome": "", "done_at": nil, "claimed_at": nil, "due_at": s.Clock(), "tries": 0, "sending": false,
		})
		if queued.Error == nil && queued.RowsAffected == 0 {
			return fault.New(fault.Conflict, "mail_pending", "The e-mail is already on its way.")
		}
		if queued.Error != nil {
			return queued.Error
		}
		row, err = findRow(tx, sc, id)
		return err
	})
	if err != nil {
		return Mail{}, err
	}
	if s.Wake != nil {
		s.Wake()
	}
	return s.showMail(row), nil
}

func findRow(db *models.Tx, sc scope.Scope, id int64) (models.Mail, error) {
	var row models.Mail
	err := sc.Rows(db).Where("id = ?", id).Take(&row).Error
	return row, fault.MissingRow(err, "mail")
}

func (s *Service) showMail(row models.Mail) Mail {
	if isReadHere(row) && s.Fill != nil {
		row.Text = s.Fill(row.Text)
	}
	m := Mail{
		ID: row.ID, Kind: row.Kind, About: row.About, PaymentID: row.PaymentID, FromName: row.FromName, To: row.To,
		Subject: row.Subject, Text: row.Text, State: row.Outcome, Attempt: row.Attempt, LastError: row.LastError,
		CreatedAt: row.CreatedAt, DoneAt: row.DoneAt,
	}
	switch {
	case row.DoneAt != nil:
	case row.ClaimedAt != nil && row.DueAt.After(s.Clock()):
		m.State = "sending"
	case awaitsRepeat(row) && row.ClaimedAt == nil:
		m.NextAt = &row.DueAt
	default:
		m.State, m.NextAt = "pending", &row.DueAt
	}
	return m
}

// isReadHere reports that the mailbox is where a mail's recipient reads it, with what only the
// recipient may know: a mail of the test domain that was kept, as there is no mail server.
func isReadHere(row models.Mail) bool {
	return row.Outcome == Kept && row.Domain == string(scope.Test)
}
