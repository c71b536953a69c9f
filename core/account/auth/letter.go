package auth

import (
	"fmt"
	"regexp"
	"time"

	"cointill/core/ident"
	"cointill/core/mail"
	"cointill/core/scope"
	"cointill/models"
)

// LetterKind is what a mail to a user is about.
type LetterKind string

// The mails about accounts. Those that carry a link to use once say so in URL.
const (
	InviteSent      LetterKind = "invitation"
	Reset           LetterKind = "password_reset"
	NewDevice       LetterKind = "new_device"
	EmailConfirm    LetterKind = "email_confirm" // to the new address, with a link
	EmailAsked      LetterKind = "email_asked"   // to the present one
	EmailChanged    LetterKind = "email_changed" // to the former one
	PasswordChanged LetterKind = "password_changed"
	FactorOn        LetterKind = "second_factor_on"
	FactorOff       LetterKind = "second_factor_off"
	PasskeyAdded    LetterKind = "passkey_added"
	PasskeyRemoved  LetterKind = "passkey_removed"
	PasskeyCopied   LetterKind = "passkey_copied" // its count went backwards
)

// LetterKinds lists every kind.
func LetterKinds() []LetterKind {
	return []LetterKind{InviteSent, Reset, NewDevice, EmailConfirm, EmailAsked, EmailChanged, PasswordChanged, FactorOn,
		FactorOff,
		PasskeyAdded, PasskeyRemoved, PasskeyCopied}
}

// Letter is a mail to a user, or to a person who is invited.
type Letter struct {
	Kind LetterKind
	To   User // without an ID for who is none yet
	// Of an invitation: who invites, into what, as what.
	By       User
	Business string
	Role     scope.Role
	// Of a sign-in: the browser and its address.
	UserAgent, IP string
	NewEmail      string // of a change of address
	Passkey       string // the name of a passkey
	At            time.Time
	Until         time.Time // when the link ends; zero for none
	URL           string
}

const accountPath = "/dashboard/account"

// queueLetter queues a mail in the caller's transaction. It is in no business's mailbox: only
// its reader may see it.
func (s *Service) queueLetter(tx *models.Tx, l Letter) error {
	return s.QueueLetterAbout(tx, l, fmt.Sprintf("user %d %s", l.To.ID, ident.New("")))
}

// QueueLetterAbout is queueLetter for a mail that is found again by its subject.
func (s *Service) QueueLetterAbout(tx *models.Tx, l Letter, about string) error {
	if s.Mails == nil || s.Render == nil {
		return nil
	}
	zone, err := zoneOf(tx, l.To.ID)
	if err != nil {
		return err
	}
	l.At, l.Until = s.now().In(zone), l.Until.In(zone) // zero stays zero
	subject, text, html := s.Render(l)
	return s.Mails.Notify(tx, mail.Notice{Domain: scope.Live, Kind: MailKind(l.Kind),
		About: about, To: l.To.Email, ToName: l.To.Name, Subject: subject, Text: text, HTML: html})
}

// MailKind returns the kind of the mails of a kind of letter.
func MailKind(kind LetterKind) string { return "account_" + string(kind) }

// WakeMailer wakes the sender of mails after a commit.
func (s *Service) WakeMailer(err error) {
	if err == nil && s.WakeMails != nil {
		s.WakeMails()
	}
}

// seeds stand in queued mails where the token of a link will stand: the
// database holds nothing that opens an account. Fill makes them tokens at the
// moment of sending.
var seeds = regexp.MustCompile(`ticket_[0-9A-Z]{26}`)

// NewSeed makes a seed.
func NewSeed() string { return ident.New("ticket_") }

// TicketToken returns the token of a seed; only this server can tell it.
func (s *Service) TicketToken(seed string) string { return s.secret.Derive("ticket", seed) }

// Fill writes the tokens of links into a mail.
func (s *Service) Fill(text string) string { return seeds.ReplaceAllStringFunc(text, s.TicketToken) }

// zoneOf returns the time zone of a user's first business; UTC for a user without one.
func zoneOf(tx *models.Tx, userID int64) (*time.Location, error) {
	var names []string
	err := tx.Model(&models.Member{}).Joins("JOIN businesses ON businesses.id = members.business_id").
		Where("members.user_id = ?", userID).Order("members.id").Limit(1).Pluck("businesses.time_zone", &names).Error
	if len(names) == 0 { // they work nowhere, or an error
		return time.UTC, err
	}
	if zone, err := time.LoadLocation(names[0]); err == nil {
		return zone, nil
	}
	return time.UTC, nil
}
