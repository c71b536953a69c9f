package send_test

import (
	"testing"

	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/models"
)

// TestOwnAddressesAreRefused checks that only an address of the business itself on the same network is refused.
func TestOwnAddressesAreRefused(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	o.paid(money.CryptoBitcoin)
	var own models.Destination
	o.must(o.db.Read(t.Context()).Take(&own).Error)
	ask := func(address string) error {
		_, err := o.sends.Ask(t.Context(), o.owner, send.Request{Kind: send.Payout, Amount: "0.001", Address: address,
			Method: string(money.CryptoBitcoin)})
		return err
	}
	o.must(ask(recipient))
	const refused = "address: Is one of your own addresses: payments come to it."
	if got := describeFields(ask(own.Address)); got != refused {
		t.Errorf("a payout to the business's own address is refused with %q, want %q", got, refused)
	}
	for column, value := range map[string]any{"network": "bitcoin-mainnet", "business_id": o.owner.BusinessID + 1} {
		o.must(o.db.Exec(t.Context()).Model(&models.Destination{}).Where("id = ?", own.ID).UpdateColumn(column,
			value).Error)
		if err := ask(own.Address); err != nil {
			t.Errorf("a payout to an address of another %s is refused: %v", column, err)
		}
		o.must(o.db.Exec(t.Context()).Save(&own).Error)
	}
}

// TestPayoutAddressesAreStoredWithTheirTag checks what is remembered of addresses that the business named, once each.
func TestPayoutAddressesAreStoredWithTheirTag(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	tag := int64(5)
	for range 2 {
		for _, tag := range []*int64{nil, &tag} {
			o.ask(send.Request{Kind: send.Payout, Method: string(money.CryptoRipple), Amount: "1", Tag: tag,
				Address: "rrrrrrrrrrrrrrrrrrrrBZbvji"})
		}
	}
	var tags []int64
	o.must(o.db.Read(t.Context()).Model(&models.PayoutAddress{}).Order("id").Pluck("tag", &tags).Error)
	if len(tags) != 2 || tags[0] != -1 || tags[1] != 5 {
		t.Errorf("addresses with the tags %v are stored, want -1 for none, and 5", tags)
	}
}
