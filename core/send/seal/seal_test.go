package seal_test

import (
	"testing"

	"cointill/core/money"
	"cointill/core/secret"
	"cointill/core/send/request"
	"cointill/core/send/seal"
	"cointill/models"
)

// TestSealsCoverEveryField (SD-4) changes each field that a seal covers, and sees another seal.
func TestSealsCoverEveryField(t *testing.T) {
	box, err := secret.NewBox(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	one, two := int64(1), int64(2)
	coin := models.Send{Reference: "SND_1", BusinessID: 1, Domain: "live", Kind: "refund", Coin: "BTC", Network: "bitcoin-mainnet",
		Amount: money.Units(100), Address: "address", Tag: &one, PaymentID: &one, TransferID: &one, Actor: "user:1",
		AddressBy: "merchant", Approvals: 1, Account: "account", Terms: "terms", BatchID: &one}
	fiat := coin
	fiat.Rate, fiat.Fiat, fiat.Currency = request.RateToday, 500, "KES"
	type change = func(row *models.Send)
	content := map[string]change{"reference": func(r *models.Send) { r.Reference = "SND_2" },
		"business": func(r *models.Send) { r.BusinessID = 2 }, "domain": func(r *models.Send) { r.Domain = "test" },
		"kind": func(r *models.Send) { r.Kind = "payout" }, "coin": func(r *models.Send) { r.Coin = "DOGE" },
		"network": func(r *models.Send) { r.Network = "bitcoin-testnet" },
		"address": func(r *models.Send) { r.Address = "another" }, "tag": func(r *models.Send) { r.Tag = &two },
		"no tag": func(r *models.Send) { r.Tag = nil }, "payment": func(r *models.Send) { r.PaymentID = &two },
		"transfer": func(r *models.Send) { r.TransferID = &two }}
	amount := map[string]change{"amount": func(r *models.Send) { r.Amount = money.Units(101) }}
	price := map[string]change{"amount in fiat": func(r *models.Send) { r.Fiat = 501 },
		"currency": func(r *models.Send) { r.Currency = "NGN" }}
	for _, c := range []struct {
		name    string
		row     models.Send
		seal    func(row models.Send) string
		changes []map[string]change
	}{
		{"request", coin, func(r models.Send) string { return seal.SealRequest(box, r) }, []map[string]change{content, amount,
			{"actor": func(r *models.Send) { r.Actor = "key:1" }, "approvals": func(r *models.Send) { r.Approvals = 0 },
				"who named the address": func(r *models.Send) { r.AddressBy = "customer" }}}},
		{"request in fiat", fiat, func(r models.Send) string { return seal.SealRequest(box, r) }, []map[string]change{content, price}},
		{"approval", coin, func(r models.Send) string { return seal.SealApproval(box, r, "user:1") }, []map[string]change{content, amount}},
		{"approval in fiat", fiat, func(r models.Send) string { return seal.SealApproval(box, r, "user:1") }, []map[string]change{content, price}},
		{"ready", coin, func(r models.Send) string { return seal.SealReady(box, r) }, []map[string]change{content, amount,
			{"account": func(r *models.Send) { r.Account = "another" }, "terms": func(r *models.Send) { r.Terms = "others" },
				"batch": func(r *models.Send) { r.BatchID = &two }}}},
		{"ready in fiat", fiat, func(r models.Send) string { return seal.SealReady(box, r) }, []map[string]change{content, amount, price}},
		{"mark", coin, func(r models.Send) string { return seal.SealMark(box, r, "user:1") }, []map[string]change{content, amount}},
	} {
		want := c.seal(c.row)
		for _, changes := range c.changes {
			for field, change := range changes {
				row := c.row
				change(&row)
				if c.seal(row) == want {
					t.Errorf("%s: another %s has the same seal", c.name, field)
				}
			}
		}
	}
	if seal.SealApproval(box, coin, "user:2") == seal.SealApproval(box, coin, "user:1") ||
		seal.SealMark(box, coin, "user:2") == seal.SealMark(box, coin, "user:1") {
		t.Error("another person has the same seal")
	}
}
