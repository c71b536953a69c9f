// Package mail sends customers a receipt for each Successful payment, once, and
// members of a business urgent notices; it keeps every mail for the dashboard's
// E-mails page. Without a mail server the mails are only kept.
//
// A mail is written in the transaction of the payment's last step, so one
// payment has exactly one. Sending has a moment in which it is unknown
// whether the mail arrived: between the end of the message and the server's
// answer. That moment is marked in the row before it begins. A mail found with
// the mark and without an answer is unknown. It is sent once more, a day later
// and with the same Message-ID, if a second copy does no harm; otherwise, and
// when that ends without an answer too, a person decides.
package mail

import (
	"net/mail"
	"strings"
	"time"
	"unicode"

	"gorm.io/gorm/clause"

	"cointill/core/clock"
	"cointill/core/contact"
	"cointill/core/ident"
	"cointill/core/scope"
	"cointill/models"
)

// The outcomes of a mail; "" while it is on its way.
const (
	Sent   = "sent"   // the mail server took it
	Kept   = "kept"   // there is no mail server: it is read in the mailbox page
	Failed = "failed" // refused for good, or every attempt failed
	// Unknown is handed over without an answer: it may have arrived. While the mail isn't done, it is sent once more.
	Unknown = "unknown"
)

// kind is what receipts are, and with the payment's reference what makes them unique.
const kind = "receipt"

// Receipt is what a receipt says. Amounts are text as people read them.
type Receipt struct {
	BusinessID        int64
	Domain            scope.Domain
	PaymentID         int64
	BusinessName      string
	CustomerName      string
	CustomerEmail     string
	Language          string // of the payment page that the customer read; "" when it was not opened
	Reference         string // PAY_…
	BusinessReference string
	Item              string // the title of the payment link; "" without one
	Price             string // the locked price: decimal, fiat units for one whole coin
	ExplorerURL       string // where the transaction can be looked up; "" for nowhere
	Currency          string
	Amount            string // fiat, two decimals
	Coin              string // symbol
	CoinAmount        string // received, in whole coins
	Network           string // on which it came, for people
	TxHash            string
	PaidAt            time.Time
	Contact           string // how the business is reached; empty for nothing
	Logo              string // the path of its picture on this server; empty for none
}

// Service is receipts. Its fields are set once, before use.
type Service struct {
	DB    *models.DB
	Clock clock.Clock
	// Render writes a receipt's subject, text and HTML.
	Render func(Receipt) (subject, text, html string)
	// Fill writes what only the recipient may know into a mail that is being sent,
	// such as the tokens of links; nil sends mails as they are stored.
	Fill func(text string) string
	// SMTP is the mail server; nil keeps mails in the mailbox.
	SMTP *SMTP
	// Wake is called after Resend has queued a mail; it may be nil. A caller of Queue wakes the
	// worker itself, after its commit.
	Wake func()
	// Ended is called with the outcome of every attempt to send a mail, Retried
	// where another follows, for metrics; it may be nil, and must not block.
	Ended func(outcome string)
}

// Retried is the outcome of an attempt after which another follows.
const Retried = "retried"

// reportOutcome reports the outcome of an attempt to Ended.
func (s *Service) reportOutcome(outcome string) {
	if s.Ended != nil {
		s.Ended(outcome)
	}
}

// QueueReceipt writes a payment's receipt in the caller's transaction. A second call
// for the same payment changes nothing.
func (s *Service) QueueReceipt(tx *models.Tx, r Receipt) error {
	subject, text, html := s.Render(r)
	return s.queueMail(tx, models.Mail{
		BusinessID: r.BusinessID, Domain: string(r.Domain), Kind: kind, About: r.Reference, PaymentID: &r.PaymentID,
		FromName: oneLine(r.BusinessName), To: r.CustomerEmail, ToName: r.CustomerName, Subject: subject, Text: text,
		HTML: html,
	}, "receipt.")
}

// queueMail inserts a mail, once for each kind and subject. Without a mail
// server it is only kept. prefix begins its Message-ID. A customer whose data was erased gets none.
func (s *Service) queueMail(tx *models.Tx, row models.Mail, prefix string) error {
	if contact.IsErasedEmail(row.To) {
		return nil
	}
	now := s.Clock()
	row.MessageID = strings.ToLower(ident.New(prefix)) + "@" + s.mailDomain()
	row.Subject, row.ToName, row.DueAt, row.CreatedAt = oneLine(row.Subject), oneLine(row.ToName), now, now
	switch {
	case !contact.CheckEmail(row.To).IsZero():
		// An address that can't receive mail must not fail the caller's transaction.
		row.DoneAt, row.Outcome, row.LastError = &now, Failed, "The address can't receive mail."
	case s.SMTP == nil:
		row.DoneAt, row.Outcome = &now, Kept
	}
	return tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "kind"}, {Name: "about"}}, DoNothing: true}).
		Create(&row).Error
}

// mailDomain is the right side of Message-IDs.
func (s *Service) mailDomain() string {
	if s.SMTP != nil {
		if _, domain, found := strings.Cut(s.SMTP.from.Address, "@"); found {
			return domain
		}
	}
	return "cointill.invalid" // never leaves this machine
}

// oneLine makes text fit for a header: no line ends, no controls, no turns of
// direction, single spaces.
func oneLine(text string) string {
	plain := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			return ' '
		}
		if unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(plain), " ")
}

// recipientOf returns where a mail goes, as its header says it.
func recipientOf(row models.Mail) *mail.Address {
	return &mail.Address{Name: row.ToName, Address: row.To}
}
