package mail

import (
	"strconv"

	"cointill/core/send"
	"cointill/views/words"
)

// Send is the mail about a refund or payout: to its customer, or to a member who approves sends.
func Send(l send.Letter) NoticeProps {
	pairs := []string{"Business", l.Business, "Amount", l.Amount, "Network", l.Network, "Reference", l.Send}
	say := func(part string) string { return words.T(english, "mail.send_"+string(l.Kind)+"_"+part, pairs...) }
	p := NoticeProps{Title: say("title"), Name: l.Name, Test: l.Test, Before: []string{say("text")}, URL: l.URL,
		Footer: words.T(english, "mail.send_sent_to", pairs...)}
	if l.URL != "" {
		p.URLText = say("see")
	}
	tag := ""
	if l.Tag != nil {
		tag = strconv.FormatInt(*l.Tag, 10)
	}
	p.lines = filledLines([]line{
		{words.T(english, "mail.send_amount"), l.Amount}, {words.T(english, "mail.send_network"), l.Network},
		{words.T(english, "mail.send_address"), l.Address}, {words.T(english, "mail.send_tag"), tag},
		{words.T(english, "mail.send_hash"), l.Hash}, {words.T(english, "mail.send_payment"), l.Payment},
		{words.T(english, "mail.send_reference"), l.Send},
	})
	if l.Kind.ToCustomer() {
		p.After = []string{words.T(english, "mail.send_questions", append(pairs, "Contact", l.Contact)...)}
	}
	return p
}

// RenderSend writes the mail about a send. Its HTML form is left out when it can't be written: the
// text says the same.
func RenderSend(l send.Letter) (subject, text, html string) { return renderNotice(Send(l)) }
