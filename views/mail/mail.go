// Package mail holds the mails that go to customers and to members of a
// business, as HTML and as text.
package mail

import (
	"strings"
	"time"

	"cointill/views/words"
)

// ReceiptProps is the receipt of a successful payment.
type ReceiptProps struct {
	// Lang is the customer's language, of package words; empty is English.
	Lang                   string
	Merchant, CustomerName string
	// Fiat, Coin and Rate are as shown, for example "₦25,000.00",
	// "0.00012345 BTC" and "1 BTC = 116620796.36 NGN".
	Fiat, Coin, Rate string
	// Network is for example "Bitcoin".
	Network                      string
	Reference, BusinessReference string
	// Item names the thing that was bought, as the merchant's payment link does; empty shows nothing.
	Item              string
	Hash, ExplorerURL string
	Paid              time.Time
	// Contact is how the merchant is reached; empty shows nothing.
	Contact string
	// LogoURL is the merchant's picture; empty shows none.
	LogoURL string
	// PayURL leads to the payment page; empty shows nothing.
	PayURL string
	// Test says that no real money moved.
	Test bool
}

// Subject is the subject of the receipt.
func (p ReceiptProps) Subject() string {
	subject := p.t("receipt_subject", "Merchant", p.Merchant, "Fiat", p.Fiat)
	if p.Test {
		return "[TEST] " + subject
	}
	return subject
}

func (p ReceiptProps) t(id string, pairs ...string) string { return words.Say(p.Lang, id, pairs...) }

func (p ReceiptProps) questions() string {
	if p.Contact == "" {
		return p.t("receipt_questions", "Merchant", p.Merchant)
	}
	return p.t("receipt_questions_contact", "Merchant", p.Merchant, "Contact", p.Contact)
}

type line struct{ name, value string }

func (p ReceiptProps) lines() []line {
	return filledLines([]line{
		{p.t("item"), p.Item},
		{p.t("receipt_merchant_reference"), p.BusinessReference},
		{p.t("receipt_paid"), p.Fiat},
		{p.t("receipt_coin"), p.Coin},
		{p.t("receipt_rate"), p.Rate},
		{p.t("receipt_network"), p.Network},
		{p.t("receipt_date"), words.FormatMoment(p.Lang, p.Paid)},
		{p.t("reference"), p.Reference},
		{p.t("transaction_hash"), p.Hash},
	})
}

// filledLines returns the lines that have something to say.
func filledLines(all []line) (out []line) {
	for _, one := range all {
		if one.value != "" {
			out = append(out, one)
		}
	}
	return out
}

// ReceiptText is the receipt as plain text.
func ReceiptText(p ReceiptProps) string {
	var out strings.Builder
	if p.Test {
		out.WriteString(p.t("receipt_test") + "\n\n")
	}
	out.WriteString(p.t("receipt_hello", "Name", p.CustomerName) + "\n\n")
	out.WriteString(p.t("receipt_thanks", "Merchant", p.Merchant) + "\n\n")
	for _, one := range p.lines() {
		out.WriteString(one.name + ": " + one.value + "\n")
	}
	if p.ExplorerURL != "" {
		out.WriteString("\n" + p.t("receipt_see") + ": " + p.ExplorerURL + "\n")
	}
	if p.PayURL != "" {
		out.WriteString("\n" + p.t("receipt_page") + ": " + p.PayURL + "\n")
	}
	out.WriteString("\n" + p.questions() + "\n\n-- \n" + p.t("receipt_sent", "Merchant", p.Merchant) + "\n")
	return out.String()
}
