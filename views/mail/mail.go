// Package mail holds the mails that go to customers and to members of a
// business, as HTML and as text.
package mail

import (
	"strings"
	"time"
)

// ReceiptProps is the receipt of a successful payment.
type ReceiptProps struct {
	Merchant, CustomerName string
	// Fiat, Coin and Rate are as shown, for example "₦25,000.00" and
	// "0.00012345 BTC".
	Fiat, Coin, Rate string
	// Network is for example "Bitcoin".
	Network                      string
	Reference, BusinessReference string
	Hash, ExplorerURL            string
	Paid                         time.Time
	// Contact is how the merchant is reached; empty shows nothing.
	Contact string
	// PayURL leads to the payment page; empty shows nothing.
	PayURL string
	// Test says that no real money moved.
	Test bool
}

// Subject is the subject of the receipt.
func (p ReceiptProps) Subject() string {
	subject := "Receipt from " + p.Merchant + ": " + p.Fiat
	if p.Test {
		return "[TEST] " + subject
	}
	return subject
}

type line struct{ name, value string }

func (p ReceiptProps) lines() []line {
	return filled([]line{
		{"Paid", p.Fiat},
		{"In coin", p.Coin},
		{"Rate", p.Rate},
		{"Network", p.Network},
		{"Date", p.Paid.Format("2 January 2006, 15:04 MST")},
		{"Payment reference", p.Reference},
		{"Merchant's reference", p.BusinessReference},
		{"Transaction", p.Hash},
	})
}

// filled are the lines that have something to say.
func filled(all []line) (out []line) {
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
		out.WriteString("TEST DATA: no real money was paid.\n\n")
	}
	out.WriteString("Hello " + p.CustomerName + ",\n\n")
	out.WriteString(p.Merchant + " has received your payment. Thank you.\n\n")
	for _, one := range p.lines() {
		out.WriteString(one.name + ": " + one.value + "\n")
	}
	if p.ExplorerURL != "" {
		out.WriteString("\nSee the transaction: " + p.ExplorerURL + "\n")
	}
	if p.PayURL != "" {
		out.WriteString("\nYour payment page: " + p.PayURL + "\n")
	}
	out.WriteString("\nQuestions about what you bought? Ask " + p.Merchant)
	if p.Contact != "" {
		out.WriteString(" (" + p.Contact + ")")
	}
	out.WriteString(" and name the payment reference.\n\n-- \nSent by Cointill for " + p.Merchant + "\n")
	return out.String()
}
