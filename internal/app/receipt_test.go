package app

import (
	"strings"
	"testing"
	"time"

	"cointill/core/mail"
	"cointill/core/scope"
)

// TestReceiptsSayItemRateAndExplorer: both forms of a receipt name what was bought, the price at which the amount was
// locked, and where the transaction can be looked up.
func TestReceiptsSayItemRateAndExplorer(t *testing.T) {
	r := mail.Receipt{Domain: scope.Live, BusinessName: "Ama's Shop", CustomerName: "Chidi", Reference: "PAY_1",
		BusinessReference: "order-1042", Item: "Yoga class", Currency: "USD", Amount: "25.00", Coin: "USDT",
		CoinAmount: "25.022521", Price: "0.9991", Network: "Tron", TxHash: "ab",
		ExplorerURL: "https://tronscan.org/#/transaction/ab", PaidAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	_, text, html := renderReceipt("https://pay.example", r)
	for _, want := range []string{r.Item, r.BusinessReference, "1 USDT = 0.9991 USD", r.ExplorerURL} {
		if !strings.Contains(text, want) || !strings.Contains(html, want) {
			t.Errorf("%q is not in both forms:\n%s\n%s", want, text, html)
		}
	}
}
