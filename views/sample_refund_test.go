package views_test

import (
	"strings"
	"testing"

	"github.com/a-h/templ"

	"cointill/core/send/letter"
	"cointill/views/checkout"
	"cointill/views/mail"
	"cointill/views/ui"
	"cointill/views/words"
)

// refundViews are all faces of a refund's page.
var refundViews = []checkout.RefundView{checkout.RefundAsk, checkout.RefundNamed, checkout.RefundConfirmed,
	checkout.RefundReady, checkout.RefundOnItsWay, checkout.RefundDone, checkout.RefundFailed, checkout.RefundExpired,
	checkout.RefundEnded, checkout.RefundAnotherWay}

func refundProps(lang string, shown checkout.RefundView) checkout.RefundProps {
	p := checkout.RefundProps{Lang: lang, Chosen: true, Path: "/refund/tOkEn", OtherPath: "/refund/tOkEn", View: shown,
		Merchant: "Sunbird Coffee", Contact: "help@sunbird.example", Amount: "12.345678", Coin: "XRP",
		Network: "XRP Ledger", Reference: "PAY_9hQ2mVx4Lr7TzKc1Bn3W", Confirmations: 1, Needed: 3,
		Mail: "c…@example.com", Test: shown == checkout.RefundAsk}
	if shown != checkout.RefundAsk && shown != checkout.RefundExpired {
		p.Address, p.Tag = "rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY", "12345"
	}
	switch shown {
	case checkout.RefundOnItsWay, checkout.RefundDone, checkout.RefundFailed:
		p.Hash = strings.Repeat("4F2A", 16)
	}
	return p
}

// refundPages are the pages of refunds and their mails: in every language those with most words.
func refundPages() map[string]templ.Component {
	pages := map[string]templ.Component{}
	for _, lang := range words.Languages {
		shown := []checkout.RefundView{checkout.RefundAsk, checkout.RefundNamed}
		if lang == "en" || words.Direction(lang) == "rtl" {
			shown = refundViews
		}
		for _, v := range shown {
			pages["refund-"+lang+"-"+string(v)] = checkout.Refund(refundProps(lang, v))
		}
		refused := refundProps(lang, checkout.RefundAsk)
		refused.Form = ui.Form{Values: map[string]string{"address": "rWrong", "tag": "x"}, Errors: map[string][]string{
			"address": {words.Say(lang, "refund_bad_address", "Coin", "XRP", "Network", "XRP Ledger")},
			"tag":     {words.Say(lang, "refund_bad_tag")}}}
		pages["refund-"+lang+"-refused"] = checkout.Refund(refused)
		limited := refundProps(lang, checkout.RefundNamed)
		limited.Form = ui.Form{Errors: map[string][]string{"": {words.Say(lang, "refund_wait")}}}
		pages["refund-"+lang+"-limited"] = checkout.Refund(limited)
		pages["refund-"+lang+"-compare"] = checkout.RefundConfirm(refundProps(lang, checkout.RefundNamed))
		pages["refund-"+lang+"-gone"] = checkout.RefundGone(lang)
		for _, kind := range customerLetters {
			pages["mail-refund-"+lang+"-"+string(kind)] = mail.Notice(mail.Send(refundLetter(lang, kind)))
		}
	}
	for _, kind := range []letter.Kind{letter.Approve, letter.ApproveFile, letter.PaidTwice, letter.Reversed,
		letter.Sent, letter.Marked} {
		pages["mail-send-"+string(kind)] = mail.Notice(mail.Send(refundLetter("", kind)))
	}
	return pages
}

var customerLetters = []letter.Kind{letter.Claim, letter.Confirm, letter.OnItsWay, letter.Done,
	letter.AnotherWay}

func refundLetter(lang string, kind letter.Kind) letter.Letter {
	l := letter.Letter{Kind: kind, Language: lang, Business: "Sunbird Coffee", Contact: "help@sunbird.example",
		Name: "Chidi", Amount: "12.345678 XRP", Network: "XRP Ledger", Send: "SND_9hQ2mVx4Lr7TzKc1Bn3W",
		Payment: "PAY_9hQ2mVx4Lr7TzKc1Bn3W", URL: "https://pay.example.com/refund/tOkEn",
		Test: true}
	if kind != letter.Claim {
		tag := int64(12345)
		l.Address, l.Tag = "rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY", &tag
	}
	if kind == letter.ApproveFile {
		l.Count, l.Amount = 12, "0.50000000 BTC, 20.00000000 DOGE"
	}
	if kind == letter.OnItsWay || kind == letter.Done {
		l.Hash = strings.Repeat("4F2A", 16)
	}
	return l
}

// TestRefundMailsAreInTheCustomersLanguage: both forms of each mail say it in the customer's
// language and direction, and without a link or a contact they show none.
func TestRefundMailsAreInTheCustomersLanguage(t *testing.T) {
	subjects := map[string]string{}
	for _, lang := range words.Languages {
		for _, kind := range customerLetters {
			l := refundLetter(lang, kind)
			subject, text, html := mail.RenderSend(l)
			if before := subjects[subject]; before != "" {
				t.Errorf("%s %s has the subject of %s: %q", lang, kind, before, subject)
			}
			subjects[subject] = lang + " " + string(kind)
			contact := words.Say(lang, "refund_questions_contact", "Merchant", l.Business, "Contact", l.Contact)
			for _, want := range []string{words.Say(lang, "receipt_test"), contact, l.Payment,
				words.Say(lang, "receipt_sent", "Merchant", l.Business)} {
				if !strings.Contains(text, want) || !strings.Contains(html, templ.EscapeString(want)) {
					t.Errorf("%s %s: %q is not in both forms", lang, kind, want)
				}
			}
			if !strings.Contains(html, `<html lang="`+lang+`" dir="`+words.Direction(lang)+`"`) {
				t.Errorf("%s %s: the page is not marked as of its language", lang, kind)
			}
			if lang != "en" && strings.Contains(text, "Hello ") {
				t.Errorf("%s %s: English is left:\n%s", lang, kind, text)
			}
			l.URL, l.Contact = "", ""
			_, text, html = mail.RenderSend(l)
			if strings.Contains(html, "<a ") || strings.Contains(html, "()") || strings.Contains(text, "()") {
				t.Errorf("%s %s: an empty link or contact is shown:\n%s", lang, kind, text)
			}
		}
	}
}

// TestMailAboutAFileOfPayouts: it names how many payouts wait and their totals, and no single payout.
func TestMailAboutAFileOfPayouts(t *testing.T) {
	l := refundLetter("", letter.ApproveFile)
	subject, text, _ := mail.RenderSend(l)
	for _, want := range []string{"approve 12 payouts of a file", "Total: " + l.Amount,
		"Open the payouts to approve: " + l.URL} {
		if !strings.Contains(subject+text, want) {
			t.Errorf("the mail has the subject %q, want %q in it, and says:\n%s", subject, want, text)
		}
	}
	if strings.Contains(text, l.Send) || strings.Contains(text, l.Address) {
		t.Errorf("the mail names one payout of several:\n%s", text)
	}
	if subject, _, _ := mail.RenderSend(refundLetter("fr", letter.ApproveFile)); !strings.Contains(subject,
		"approuvez 12 versements d'un fichier") {
		t.Errorf("the mail in French has the subject %q", subject)
	}
}

// TestMailsAboutSendsToMembers: they are in the member's language, where the dashboard has it, lead to
// the send, and ask no customer's question.
func TestMailsAboutSendsToMembers(t *testing.T) {
	for kind, want := range map[letter.Kind]string{letter.Approve: "approve a send of 12.345678 XRP",
		letter.PaidTwice: "was sent twice", letter.Reversed: "left the chain", letter.Sent: "had ended"} {
		subject, text, _ := mail.RenderSend(refundLetter("ar", kind))
		if !strings.Contains(subject, want) || !strings.Contains(text, "Open the send: https://") ||
			strings.Contains(text, "Questions") {
			t.Errorf("the mail %s has the subject %q, want %q in it, and says:\n%s", kind, subject, want, text)
		}
		subject, text, html := mail.RenderSend(refundLetter("fr", kind))
		if strings.Contains(subject, want) || !strings.Contains(text, "Ouvrir l'envoi") ||
			!strings.Contains(text, "Bonjour") || !strings.Contains(html, `<html lang="fr"`) {
			t.Errorf("the mail %s in French has the subject %q, and says:\n%s", kind, subject, text)
		}
	}
}
