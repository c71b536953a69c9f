package mail

import (
	"strconv"

	"cointill/core/send/letter"
	"cointill/views/words"
)

// Send is the mail about a refund or payout: to its customer, or to a member who approves sends.
func Send(l letter.Letter) NoticeProps {
	if l.Kind.ToCustomer() {
		return customerSend(l)
	}
	return memberSend(l)
}

// memberSend is a mail to a member who approves sends.
func memberSend(l letter.Letter) NoticeProps {
	ctx := spokenIn(l.Language)
	p := NoticeProps{Reader: l.Language, Name: l.Name, Test: l.Test, URL: l.URL, URLText: words.T(ctx, "mail.send_open"),
		Footer: words.T(ctx, "mail.send_sent_to", "Business", l.Business)}
	text := ""
	switch l.Kind {
	case letter.ApproveFile:
		p.Title, p.URLText = words.N(ctx, "mail.send_file_title", l.Count, "Business", l.Business),
			words.T(ctx, "mail.send_file_open")
		p.Before = []string{words.T(ctx, "mail.send_file_text")}
		p.lines = []line{{words.T(ctx, "mail.send_file_total"), l.Amount}}
		return p
	case letter.PaidTwice:
		p.Title = words.T(ctx, "mail.send_paid_twice_title", "Business", l.Business, "Amount", l.Amount)
		text = words.T(ctx, "mail.send_paid_twice_text")
	case letter.Reversed:
		p.Title = words.T(ctx, "mail.send_reversed_title", "Business", l.Business, "Amount", l.Amount)
		text = words.T(ctx, "mail.send_reversed_text")
	case letter.Sent:
		p.Title = words.T(ctx, "mail.send_sent_anyway_title", "Business", l.Business, "Amount", l.Amount)
		text = words.T(ctx, "mail.send_sent_anyway_text", "Network", l.Network)
	case letter.Marked:
		p.Title = words.T(ctx, "mail.send_marked_title", "Business", l.Business, "Amount", l.Amount)
		text = words.T(ctx, "mail.send_marked_text")
	default:
		p.Title = words.T(ctx, "mail.send_approve_title", "Business", l.Business, "Amount", l.Amount)
		text = words.T(ctx, "mail.send_approve_text")
	}
	p.Before = []string{text}
	p.lines = filledLines([]line{
		{words.T(ctx, "mail.send_amount"), l.Amount}, {words.T(ctx, "mail.send_network"), l.Network},
		{words.T(ctx, "mail.send_address"), l.Address}, {words.T(ctx, "mail.send_tag"), tagText(l.Tag)},
		{words.T(ctx, "mail.send_hash"), l.Hash}, {words.T(ctx, "mail.send_payment"), l.Payment},
		{words.T(ctx, "mail.send_reference"), l.Send},
	})
	return p
}

// customerSend is a mail to the customer of a refund, in the customer's language.
func customerSend(l letter.Letter) NoticeProps {
	lang := words.ChooseLanguage(l.Language, "")
	p := NoticeProps{Lang: lang, Name: l.Name, Test: l.Test, URL: l.URL,
		Footer: words.Say(lang, "receipt_sent", "Merchant", l.Business)}
	text := ""
	switch l.Kind {
	case letter.Confirm:
		p.Title = words.Say(lang, "refund_confirm_subject", "Amount", l.Amount)
		text = words.Say(lang, "refund_confirm_mail", "Merchant", l.Business)
		p.URLText = words.Say(lang, "refund_confirm_link")
	case letter.OnItsWay:
		p.Title = words.Say(lang, "refund_way_subject", "Amount", l.Amount)
		text = words.Say(lang, "refund_way_mail", "Merchant", l.Business, "Network", l.Network)
		p.URLText = words.Say(lang, "refund_see")
	case letter.Done:
		p.Title = words.Say(lang, "refund_done_subject", "Amount", l.Amount)
		text = words.Say(lang, "refund_done_mail", "Merchant", l.Business, "Network", l.Network)
		p.URLText = words.Say(lang, "refund_see")
	case letter.AnotherWay: // of which there is no transaction, and no address that has the money
		p.Title = words.Say(lang, "refund_another_way_subject", "Amount", l.Amount)
		text = words.Say(lang, "refund_another_way_text", "Merchant", l.Business, "Network", l.Network)
		p.URLText = words.Say(lang, "refund_see")
		l.Network, l.Address, l.Tag, l.Hash = "", "", nil, ""
	default:
		p.Title = words.Say(lang, "refund_claim_subject", "Merchant", l.Business, "Amount", l.Amount)
		text = words.Say(lang, "refund_claim_mail", "Merchant", l.Business, "Amount", l.Amount, "Network", l.Network)
		p.URLText = words.Say(lang, "refund_claim_link")
	}
	p.Before = []string{text}
	p.lines = filledLines([]line{
		{words.Say(lang, "amount"), l.Amount}, {words.Say(lang, "receipt_network"), l.Network},
		{words.Say(lang, "address"), l.Address}, {words.Say(lang, "tag"), tagText(l.Tag)},
		{words.Say(lang, "transaction_hash"), l.Hash}, {words.Say(lang, "reference"), l.Payment},
	})
	questions := words.Say(lang, "refund_questions", "Merchant", l.Business)
	if l.Contact != "" {
		questions = words.Say(lang, "refund_questions_contact", "Merchant", l.Business, "Contact", l.Contact)
	}
	p.After = []string{questions}
	return p
}

func tagText(tag *int64) string {
	if tag == nil {
		return ""
	}
	return strconv.FormatInt(*tag, 10)
}

// RenderSend writes the mail about a send. Its HTML form is left out when it can't be written: the
// text says the same.
func RenderSend(l letter.Letter) (subject, text, html string) { return renderNotice(Send(l)) }
