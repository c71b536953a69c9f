package journal

import (
	"strings"
	"time"
	"unicode"

	"cointill/core/money"
	"cointill/core/spreadsheet"
)

// BankFormat is how an accounting program reads a bank statement.
type BankFormat struct {
	Columns []spreadsheet.Column
	Cells   func(BankLine) []spreadsheet.Cell
}

// BankFormats are the formats by the names of programs, as they publish them. Xero reads columns
// by their place, dates as 2006-01-02 and 255 bytes of a description. QuickBooks reads three
// columns, and refuses digits in a description.
func BankFormats() map[string]BankFormat {
	date, description := spreadsheet.Column{Title: "Date"}, spreadsheet.Column{Title: "Description"}
	amount := spreadsheet.Column{Title: "Amount", Kind: spreadsheet.Number}
	return map[string]BankFormat{
		"xero": {[]spreadsheet.Column{date, amount, {Title: "Payee"}, description, {Title: "Reference"}},
			BankLine.formatXero},
		"quickbooks": {[]spreadsheet.Column{date, description, amount}, BankLine.formatQuickBooks},
	}
}

const maxXeroDescription = 255

func (l BankLine) formatXero() []spreadsheet.Cell {
	description := l.describeMovement() + " " + money.Coin(l.Coin).Format(l.Amount) + " " + l.Coin
	for _, name := range []string{l.Send, l.Hash} {
		if name != "" {
			description += ", " + name
		}
	}
	text := spreadsheet.TextCell
	return []spreadsheet.Cell{text(l.BookedOn), text(money.FormatHundredths(l.Value)), text(l.Payer),
		text(description[:min(len(description), maxXeroDescription)]), text(l.Reference)}
}

func (l BankLine) formatQuickBooks() []spreadsheet.Cell {
	day := l.BookedOn
	if at, err := time.Parse(time.DateOnly, day); err == nil {
		day = at.Format("02/01/2006")
	}
	description := strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, strings.TrimSpace(l.describeMovement()+" "+l.Coin+" "+l.Payer))
	text := spreadsheet.TextCell
	return []spreadsheet.Cell{text(day), text(description), text(money.FormatHundredths(l.Value))}
}

// describeMovement says in the words of a bank what a movement is. Lost and Left are what a reorganisation
// took back.
func (l BankLine) describeMovement() string {
	sent := "Refund"
	if l.IsPayout {
		sent = "Payout"
	}
	switch l.Kind {
	case Received, Restored:
		return "Received"
	case Refunded:
		return "Refund"
	case Sent:
		return sent
	case Unsent:
		return sent + " returned"
	case SentTwice:
		return sent + " paid twice"
	case SentOnce:
		return "Second payment returned"
	}
	return "Left the chain"
}
