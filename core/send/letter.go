package send

import (
	"strconv"
	"strings"

	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/mail"
	"cointill/core/money"
	"cointill/core/payment/place"
	"cointill/core/scope"
	"cointill/core/send/letter"
	"cointill/models"
)

// queueLetter queues a mail to the customer of a refund. number tells several of one kind apart.
func (s *store) queueLetter(tx *models.Tx, v *View, p *models.Payment, l letter.Letter, number int) error {
	l.Language, l.Name, l.Payment, l.Contact = p.Language, p.CustomerName, p.Reference, v.Business.ContactEmail
	return s.notify(tx, v, l, p.CustomerEmail, strconv.Itoa(number))
}

// notify queues a mail about a send.
func (s *store) notify(tx *models.Tx, v *View, l letter.Letter, to, number string) error {
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
func (s *store) mailCustomer(tx *models.Tx, v *View, kind letter.Kind) error {
	if v.Send.PaymentID == nil {
		return nil
	}
	var p models.Payment
	if err := tx.Where("id = ?", *v.Send.PaymentID).Take(&p).Error; err != nil {
		return err
	}
	l := letter.Letter{Kind: kind}
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
	return s.mailUsers(tx, v, letter.Approve, approvers)
}

// raiseAlarm mails the people who approve sends about a send that they must look into.
func (s *store) raiseAlarm(tx *models.Tx, v *View, before models.Send) error {
	row := v.Send
	var kind letter.Kind
	switch {
	case row.BookedTwice.Cmp(before.BookedTwice) > 0:
		kind = letter.PaidTwice
	case row.Reversed && !before.Reversed:
		kind = letter.Reversed
	case row.Reason == SentAnyway && before.Reason != SentAnyway:
		kind = letter.Sent
	default:
		return nil
	}
	approvers, err := s.listApprovers(tx, models.Send{BusinessID: row.BusinessID})
	if err != nil {
		return err
	}
	return s.mailUsers(tx, v, kind, approvers)
}

func (s *store) mailUsers(tx *models.Tx, v *View, kind letter.Kind, actors []string) error {
	users, err := audit.ReadUsers(tx, actors)
	if err != nil {
		return err
	}
	for _, actor := range actors {
		user := users[actor]
		l := letter.Letter{Kind: kind, Name: user.Name, Language: user.Language, Payment: v.Payment,
			URL: s.PageBase + "/" + v.Send.Reference}
		if err := s.notify(tx, v, l, user.Email, strconv.Itoa(v.Send.Steps)); err != nil {
			return err
		}
	}
	return nil
}
