package views_test

import (
	"strings"
	"testing"

	"github.com/a-h/templ"

	"cointill/core/journal"
	"cointill/core/journal/monthly"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/views/mail"
)

func monthlyLetter() monthly.Letter {
	return monthly.Letter{Business: "Sunbird <Coffee>", To: "books@sunbird.example", Domain: scope.Live, Month: "2026-10", URL: "https://till.example/dashboard/statements?month=2026-10",
		Statement: journal.Statement{Period: journal.Period{From: "2026-10-01", To: "2026-10-31"},
			Currencies: []journal.CurrencyLine{{Currency: "KES", Payments: 1, Sold: 420_000}, {Currency: "NGN", Payments: 38, Sold: 14_850_000, Reversed: 50_000, Refunded: 120_000, Declined: 90_000}},
			Coins:      []journal.CoinLine{{Coin: "BTC", Network: "bitcoin-mainnet", Closing: money.Units(1_234_567)}}}}
}

// statementMails are the mails with the statement of a month.
func statementMails() map[string]templ.Component {
	return map[string]templ.Component{"mail-statement": mail.Notice(mail.MonthlyStatement(monthlyLetter()))}
}

// TestStatementMails checks that both forms of the mail have the month's figures.
func TestStatementMails(t *testing.T) {
	t.Parallel()
	subject, text, html := mail.RenderMonthlyStatement(monthlyLetter())
	if subject != "Sunbird <Coffee>: statement of October 2026" || strings.Contains(html, "<Coffee>") {
		t.Errorf("the subject is %q, and the HTML form has the name unescaped: %v", subject, strings.Contains(html, "<Coffee>"))
	}
	for _, want := range []string{"KSh 4,200.00, 1 payment", "₦148,000.00, 38 payments", "Refunded in NGN", "₦1,200.00", "Reversed in NGN", "₦500.00", "Change of declined, held, in NGN", "choose Live", "₦900.00", "Closing, BTC on bitcoin-mainnet", "not the balance of your wallet", "0.01234567 BTC", "books@sunbird.example", "https://till.example/dashboard/statements?month=2026-10"} {
		if !strings.Contains(text, want) || !strings.Contains(html, want) {
			t.Errorf("the mail lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "Refunded in KES") {
		t.Error("the mail has a figure of zero")
	}
	test := monthlyLetter()
	test.Domain = scope.Test
	if subject, _, _ := mail.RenderMonthlyStatement(test); !strings.HasPrefix(subject, "[TEST] ") {
		t.Errorf("the subject in the test domain is %q, want it marked", subject)
	}
}
