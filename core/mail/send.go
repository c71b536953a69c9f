package mail

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"cointill/core/contact"
	"cointill/core/outbox"
	"cointill/models"
)

// retries are the waits between attempts to send a mail.
var retries = outbox.Schedule{30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour,
	24 * time.Hour}

// repeatAfter is the wait before a mail whose hand-over ended without an answer is sent once more. A server that had
// accepted it has delivered it by then, or reported to the sender's address that it couldn't: RFC 5321, section 4.5.4.1,
// has servers try twice in the first hour and every two or three hours afterwards, so about ten times in a day, and
// they usually warn of a delay after 4 hours (sendmail) to 24 hours (Exim). Servers that answer late end up with two
// copies (RFC 1047); both have one Message-ID, by which many mailboxes show them once.
const repeatAfter = 24 * time.Hour

// repeatable are the kinds of mails that are sent once more. Each states a fact that stays true, so a second copy, a day
// later, does no harm. Left out are mails with links that work once or for some time (invitations, new passwords, new
// addresses, claims of refunds), those that ask for an action, and those about a condition that may be over by then. A
// kind that isn't listed is left out.
var repeatable = map[string]bool{
	kind: true, "monthly_statement": true, "receiving_changed": true, "webhook_off": true,
	"notification": true, "notifications_held": true, "notifications_daily": true,
	"send_done": true, "send_another_way": true, "send_paid_twice": true, "send_reversed": true, "send_sent_anyway": true,
	"account_new_device": true, "account_email_changed": true, "account_password_changed": true,
	"account_second_factor_on": true, "account_second_factor_off": true,
	"account_passkey_added": true, "account_passkey_removed": true, "account_passkey_copied": true,
}

// mails is how the table is worked through. The lease outlasts connecting, two
// halves of a conversation of 20 s each, and settling.
var mails = outbox.Table{Name: "mails", Lease: 2 * time.Minute}

// errLost is why a hand-over is called off: the attempt no longer holds the mail.
var errLost = errors.New("receipt: the mail is held by another attempt")

// NewWorker makes the worker that sends.
func (s *Service) NewWorker(o outbox.Options) *outbox.Worker[models.Mail] {
	o.Clock = s.Clock
	if o.Pool == 0 {
		o.Pool = 4 // one mail server, which limits connections
	}
	return outbox.NewWorker(s.DB, mails, sender{s, cmp.Or(o.Log, slog.Default())}, o)
}

// sender is what the worker calls.
type sender struct {
	*Service
	log *slog.Logger
}

// Key is none: all mails go to the one server.
func (sender) Key(models.Mail) string { return "" }

// Work makes one attempt to send a mail.
func (s sender) Work(ctx context.Context, row models.Mail) error {
	switch {
	case row.Sending: // an attempt before ended between hand-over and answer
		return s.endWithoutAnswer(ctx, row, "Cointill stopped while the mail was handed over. It may have arrived.")
	case s.SMTP == nil && awaitsRepeat(row):
		return s.endMail(ctx, row, Unknown,
			"It may have arrived. It wasn't sent once more, as no mail server is configured any more.")
	case s.SMTP == nil:
		return s.endMail(ctx, row, Kept, "")
	}
	if s.Fill != nil {
		row.Text, row.HTML = s.Fill(row.Text), s.Fill(row.HTML)
	}
	replyTo, err := s.findReplyAddress(ctx, row)
	if err == nil {
		err = s.fillCustomers(ctx, &row)
	}
	if err != nil {
		return err // nothing was handed over: the lease ends, and another attempt follows
	}
	err = s.SMTP.sendMail(ctx, row, replyTo, s.Clock(), ledger{
		handing:  func() error { return s.holdMail(ctx, row) },
		accepted: func() error { return s.endMail(ctx, row, Sent, "") },
	})
	var no *refusal
	switch {
	case err == nil || errors.Is(err, errLost):
		return nil
	case ctx.Err() != nil && errors.As(err, &no): // stopping: nothing was handed over
		return s.settleMail(ctx, row, map[string]any{"due_at": s.Clock(), "sending": false})
	case errors.As(err, &no) && awaitsRepeat(row): // the first copy may have arrived, so the mail hasn't failed
		return s.endMail(ctx, row, Unknown, "It may have arrived the first time. The second time: "+no.sentence)
	case errors.As(err, &no):
		return s.planAgain(ctx, row, no)
	case !errors.Is(err, errNoAnswer):
		return err // taken, but not recorded: the mark stands, and it becomes unknown
	}
	return s.endWithoutAnswer(ctx, row, "The mail server took the message but never confirmed it. It may have arrived.")
}

// awaitsRepeat reports that a mail was handed over once without an answer, and is sent once more.
func awaitsRepeat(row models.Mail) bool { return row.DoneAt == nil && row.Outcome == Unknown }

// endWithoutAnswer records that a mail may have arrived, and in the same statement that it is sent once more after
// repeatAfter. A second copy, or a kind that isn't repeatable, ends instead.
func (s sender) endWithoutAnswer(ctx context.Context, row models.Mail, why string) error {
	if awaitsRepeat(row) || !repeatable[row.Kind] {
		return s.endMail(ctx, row, Unknown, why)
	}
	s.noteOutcome(ctx, row, Unknown)
	return s.settleMail(ctx, row, map[string]any{"outcome": Unknown, "due_at": s.Clock().Add(repeatAfter),
		"last_error": why, "sending": false})
}

// findReplyAddress returns who gets the answers to a receipt: the business's contact as it is now. It is empty for other
// mails, which Cointill writes by itself, and for a business without a contact.
func (s sender) findReplyAddress(ctx context.Context, row models.Mail) (address string, err error) {
	if row.Kind != kind {
		return "", nil
	}
	var found []string
	err = s.DB.Read(ctx).Model(&models.Business{}).Where("id = ?", row.BusinessID).Pluck("contact_email", &found).Error
	if err == nil && len(found) > 0 && contact.CheckEmail(found[0]).IsZero() {
		address = found[0]
	}
	return address, err
}

// holdMail marks that from here the mail may arrive. It refuses when the program is
// stopping, as the answer might not be waited for.
func (s sender) holdMail(ctx context.Context, row models.Mail) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	held, err := mails.Mark(s.DB.Exec(ctx), row.ID, row.Attempt, map[string]any{"sending": true})
	if err == nil && !held {
		return errLost
	}
	return err
}

// planAgain plans the next attempt, or gives up.
func (s sender) planAgain(ctx context.Context, row models.Mail, no *refusal) error {
	wait, left := retries.Next(row.Tries)
	if no.final || !left {
		return s.endMail(ctx, row, Failed, no.sentence)
	}
	s.reportOutcome(Retried)
	return s.settleMail(ctx, row, map[string]any{
		"tries": row.Tries + 1, "due_at": s.Clock().Add(outbox.JitterWait(wait)), "sending": false,
		"last_error": no.sentence,
	})
}

// noteOutcome counts the outcome of an attempt, and logs one that a person should know. Why it came to it stays in the
// mailbox, as servers repeat addresses.
func (s sender) noteOutcome(ctx context.Context, row models.Mail, outcome string) {
	s.reportOutcome(outcome)
	if outcome == Failed || outcome == Unknown {
		s.log.WarnContext(ctx, "a mail did not arrive for certain", "outcome", outcome, "kind", row.Kind, "mail", row.ID,
			"business", row.BusinessID)
	}
}

func (s sender) endMail(ctx context.Context, row models.Mail, outcome, why string) error {
	s.noteOutcome(ctx, row, outcome)
	return s.settleMail(ctx, row, map[string]any{"done_at": s.Clock(), "outcome": outcome, "last_error": why,
		"sending": false})
}

// settleMail records the outcome of the attempt, although the program may be stopping.
func (s sender) settleMail(ctx context.Context, row models.Mail, set map[string]any) error {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer done()
	_, err := mails.Settle(s.DB.Exec(ctx), row.ID, row.Attempt, set)
	return err
}
