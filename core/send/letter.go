package send

import (
	"strconv"
	"strings"
	"time"

	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/mail"
	"cointill/core/money"
	"cointill/core/payment/place"
	"cointill/core/scope"
	"cointill/models"
)

// LetterKind is what a mail about a send says.
type LetterKind string

// The kinds of mails: the first five go to customers, the others to approvers and owners.
const (
	LetterClaim      LetterKind = "claim"       // name an address
	LetterConfirm    LetterKind = "confirm"     // confirm the address
	LetterOnItsWay   LetterKind = "on_its_way"  // the refund was seen on the network
	LetterDone       LetterKind = "done"        // the refund is final
	LetterAnotherWay LetterKind = "another_way" // the refund was sent in another way, as people say
	LetterApprove    LetterKind = "approve"     // a send waits for approval
	LetterMarked     LetterKind = "marked"      // a person says that a send was sent in another way; another must agree
	LetterPaidTwice  LetterKind = "paid_twice"  // a second transaction pays a send
	LetterReversed   LetterKind = "reversed"    // a final send left the chain
	LetterSent       LetterKind = "sent_anyway" // a send that had ended was seen all the same
)

// ToCustomer reports that a mail goes to the customer of a refund.
func (k LetterKind) ToCustomer() bool {
	return k == LetterClaim || k == LetterConfirm || k == LetterOnItsWay || k == LetterDone || k == LetterAnotherWay
}

// Letter is a mail about a send, to be written by views.
type Letter struct {
	Kind          LetterKind
	Language      string // of the recipient; "" for none
	Business      string
	Contact       string // how customers reach the business; "" for nothing
	Name          string // of the recipient
	Amount        string // with the coin's symbol
	Network       string // as people say it
	Send, Payment string // references; Payment is "" for none
	Refund        bool
	Address       string
	Tag           *int64
	Hash          string
	URL           string // of the page that the mail asks the recipient to open; "" for none
	At            time.Time
	Test          bool
}

// queueLetter queues a mail to the customer of a refund. number tells several of one kind apart.
func (s *store) queueLetter(tx *models.Tx, v *View, p *models.Payment, l Letter, number int) error {
	l.Language, l.Name, l.Payment, l.Contact = p.Language, p.CustomerName, p.Reference, v.Business.ContactEmail
	return s.notify(tx, v, l, p.CustomerEmail, strconv.Itoa(number))
}

// notify queues a mail about a send.
func (s *store) notify(tx *models.Tx, v *View, l Letter, to, number string) error {
	row := v.Send
	l.Business, l.Amount, l.Send, l.Refund = v.Business.Name, formatCoin(row), row.Reference, row.Kind == Refund
	l.Network, l.Hash, l.Test = place.NameNetwork(money.Coin(row.Coin), row.Network), row.Hash,
		row.Domain == string(scope.Test)
	l.At = s.Clock().In(clock.LoadZone(v.Business.TimeZone))
	if l.Address == "" {
		l.Address, l.Tag = row.Address, row.Tag
	}
	subject, text, html := s.Render(l)
	from := ""
	if l.Kind.ToCustomer() {
		from = l.Business
	}
	return s.Mails.Notify(tx, mail.Notice{BusinessID: row.BusinessID, Domain: scope.Domain(row.Domain),
		Kind: "send_" + string(l.Kind), About: strings.Join([]string{row.Reference, to, number}, " "), FromName: from, To: to,
		ToName: l.Name, Subject: subject, Text: text, HTML: html})
}

// mailCustomer mails the customer of a refund about its progress.
func (s *store) mailCustomer(tx *models.Tx, v *View, kind LetterKind) error {
	if v.Send.PaymentID == nil {
		return nil
	}
	var p models.Payment
	if err := tx.Where("id = ?", *v.Send.PaymentID).Take(&p).Error; err != nil {
		return err
	}
	l := Letter{Kind: kind}
	if v.Send.AddressBy == ByCustomer { // otherwise there is no page for them
		l.URL = s.ClaimURL(v.Send)
	}
	return s.queueLetter(tx, v, &p, l, 1)
}

// mailApprovers mails each person who may approve a send.
func (s *store) mailApprovers(tx *models.Tx, v *View) error {
	approvers, err := s.listApprovers(tx, v.Send)
	if err != nil {
		return err
	}
	return s.mailUsers(tx, v, LetterApprove, approvers)
}

// raiseAlarm mails the people who approve sends about a send that they must look into.
func (s *store) raiseAlarm(tx *models.Tx, v *View, before models.Send) error {
	row := v.Send
	var kind LetterKind
	switch {
	case row.BookedTwice.Cmp(before.BookedTwice) > 0:
		kind = LetterPaidTwice
	case row.Reversed && !before.Reversed:
		kind = LetterReversed
	case row.Reason == SentAnyway && before.Reason != SentAnyway:
		kind = LetterSent
	default:
		return nil
	}
	approvers, err := s.listApprovers(tx, models.Send{BusinessID: row.BusinessID})
	if err != nil {
		return err
	}
	return s.mailUsers(tx, v, kind, approvers)
}

func (s *store) mailUsers(tx *models.Tx, v *View, kind LetterKind, actors []string) error {
	users, err := audit.ReadUsers(tx, actors)
	if err != nil {
		return err
	}
	for _, actor := range actors {
		user := users[actor]
		l := Letter{Kind: kind, Name: user.Name, Language: user.Language, Payment: v.Payment,
			URL: s.PageBase + "/" + v.Send.Reference}
		if err := s.notify(tx, v, l, user.Email, strconv.Itoa(v.Send.Steps)); err != nil {
			return err
		}
	}
	return nil
}
