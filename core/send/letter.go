package send

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"cointill/core/audit"
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
	return s.queueMail(tx, v, l, p.CustomerEmail, strconv.Itoa(number))
}

// queueMail queues a mail about a send.
func (s *store) queueMail(tx *models.Tx, v *View, l letter.Letter, to, number string) error {
	row := v.Send
	l.Business, l.Send = v.Business.Name, row.Reference
	l.Amount = cmp.Or(l.Amount, formatCoin(row))
	l.Network, l.Hash, l.Test = place.NameNetwork(money.Coin(row.Coin), row.Network), row.Hash,
		row.Domain == string(scope.Test)
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

// mailApprovers mails each person who may approve one of the sends: one mail about all of them. They are sends of one
// business that the same person or key asked for.
func (s *store) mailApprovers(tx *models.Tx, views ...View) error {
	approvers := map[int][]string{} // by how many approvals a send needs
	waiting := map[string][]View{}  // by approver
	for _, v := range views {
		needed := v.Send.Approvals
		if v.State() != AwaitingApproval || needed == 0 {
			continue
		}
		if approvers[needed] == nil {
			var err error
			if approvers[needed], err = s.listApprovers(tx, v.Send); err != nil {
				return err
			}
		}
		for _, actor := range approvers[needed] {
			waiting[actor] = append(waiting[actor], v)
		}
	}
	for _, actor := range slices.Sorted(maps.Keys(waiting)) {
		theirs, l := waiting[actor], letter.Letter{Kind: letter.Approve}
		if len(theirs) > 1 {
			l = letter.Letter{Kind: letter.ApproveFile, Count: len(theirs), Amount: formatTotals(theirs),
				URL: s.PageBase + "?show=approve"}
		}
		if err := s.mailUsers(tx, &theirs[0], l, []string{actor}); err != nil {
			return err
		}
	}
	return nil
}

// formatTotals writes the sum of each coin, such as "0.50000000 BTC, 20.00000000 DOGE".
func formatTotals(views []View) string {
	sums := map[string]models.Send{}
	for _, v := range views {
		sum := sums[v.Send.Coin]
		sum.Coin, sum.Amount = v.Send.Coin, sum.Amount.Add(v.Send.Amount)
		sums[v.Send.Coin] = sum
	}
	var totals []string
	for _, coin := range slices.Sorted(maps.Keys(sums)) {
		totals = append(totals, formatCoin(sums[coin]))
	}
	return strings.Join(totals, ", ")
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
	return s.mailUsers(tx, v, letter.Letter{Kind: kind}, approvers)
}

// mailUsers mails people about a send. The letter leads to its page where it names no other.
func (s *store) mailUsers(tx *models.Tx, v *View, l letter.Letter, actors []string) error {
	users, err := audit.ReadUsers(tx, actors)
	if err != nil {
		return err
	}
	for _, actor := range actors {
		user := users[actor]
		l.Name, l.Language, l.Payment = user.Name, user.Language, v.Payment
		l.URL = cmp.Or(l.URL, s.PageBase+"/"+v.Send.Reference)
		if err := s.queueMail(tx, v, l, user.Email, strconv.Itoa(v.Send.Steps)); err != nil {
			return err
		}
	}
	return nil
}
