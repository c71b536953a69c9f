package payment

import (
	"testing"

	"cointill/models"
)

// TestReceiptsLeadToTheExplorer checks that a receipt names where its transaction can be looked up, by the network on which
// the money came, which needn't be the payment's.
func TestReceiptsLeadToTheExplorer(t *testing.T) {
	t.Parallel()
	v := View{Payment: models.Payment{Coin: "USDT", Network: "ethereum-mainnet"},
		Business:  models.Business{TimeZone: "UTC"},
		Transfers: []models.Transfer{{TxID: "ab", Network: "tron-mainnet"}}}
	r, err := v.customerReceipt(nil)
	if want := "https://tronscan.org/#/transaction/ab"; err != nil || r.ExplorerURL != want || r.TxHash != "ab" {
		t.Errorf("the receipt leads to %q for %q, %v, want %q", r.ExplorerURL, r.TxHash, err, want)
	}
}
