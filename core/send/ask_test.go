package send_test

import (
	"fmt"
	"strings"
	"testing"

	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/models"
)

// TestAmountsAndValues checks what a send is of and what it is worth, in BTC at 80,000 USD, and the
// bounds of both.
func TestAmountsAndValues(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	o.sends.Quotes = steady{}
	p := o.paid(money.CryptoBitcoin)
	o.must(o.db.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", p.ID).
		Updates(map[string]any{"due": "100000", "paid": "100000", "price": "50000"}).Error)
	other := o.stray("other", nil, money.Units(70_000))
	own := o.stray("own", &p, money.Units(70_000))
	const ledger = "rrrrrrrrrrrrrrrrrrrrBZbvji"
	ripple := o.paid(money.CryptoRipple)
	o.must(o.db.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", ripple.ID).
		Updates(map[string]any{"due": "10", "paid": "10"}).Error)
	wrong := o.stray("wrong", &ripple, money.Units(70_000))
	refund := func(amount, fiat, rate string) send.Request {
		return send.Request{Kind: send.Refund, Payment: p.Reference, Amount: amount, FiatAmount: fiat, Rate: rate,
			Address: recipient}
	}
	transfer := func(row models.Transfer, amount, fiat, rate string) send.Request {
		return send.Request{Kind: send.Refund, TransferID: row.ID, Amount: amount, FiatAmount: fiat, Rate: rate,
			Address: recipient}
	}
	payout := func(amount, fiat, currency string) send.Request {
		r := send.Request{Kind: send.Payout, Method: string(money.CryptoBitcoin), Amount: amount, FiatAmount: fiat,
			Currency: currency, Address: recipient}
		if fiat != "" {
			r.Rate = send.RateToday
		}
		return r
	}
	const below, above, more = "Is less than the network can carry (0.00000546 BTC).", " above zero, for example 0.5.",
		"Is more than is left to refund: 0.00100000 BTC."
	for _, c := range []struct {
		name    string
		request send.Request
		want    string // amount, value, currency, price, value in USD; or the refused field and its sentence
	}{
		{"all", refund("", "", ""), "100000 5000 USD 50000 8000"},
		{"a part", refund("0.0005", "", ""), "50000 2500 USD 50000 4000"},
		{"to the last unit", refund("0.001", "", ""), "100000 5000 USD 50000 8000"},
		{"one unit more", refund("0.00100001", "", ""), "amount: " + more},
		{"much more", refund("20000", "", ""), "amount: " + more},
		{"fiat at the payment's price", refund("", "25", send.RatePayment), "50000 2500 USD 50000 4000"},
		{"more fiat at the payment's price", refund("", "50.01", send.RatePayment), "fiat_amount: " + more},
		{"fiat at today's price", refund("", "40", send.RateToday), "50000 4000 USD 80000 4000"},
		{"all at today's price", refund("", "80", send.RateToday), "100000 8000 USD 80000 8000"},
		{"more than all at today's price", refund("", "81", send.RateToday), "100000 8000 USD 80000 8000"},
		{"nothing", refund("0", "", ""), "amount: Must be an amount of BTC" + above},
		{"below nothing", refund("-1", "", ""), "amount: Must be an amount of BTC" + above},
		{"no number", refund("x", "", ""), "amount: Must be an amount of BTC" + above},
		{"the least", refund("0.00000546", "", ""), "546 27 USD 50000 44"},
		{"less than the least", refund("0.00000545", "", ""), "amount: " + below},
		{"fiat that is less", refund("", "0.01", send.RatePayment), "fiat_amount: " + below},
		{"a transfer to the payment", transfer(own, "", "", ""), "70000 3500 USD 50000 5600"},
		{"the fiat of such a transfer", transfer(own, "", "25", send.RatePayment), "50000 2500 USD 50000 4000"},
		{"a transfer of no payment", transfer(other, "", "", ""), "70000 0   5600"},
		{"its fiat", transfer(other, "", "25", send.RatePayment), "fiat_amount: No price was locked for this money: " +
			"give an amount of BTC."},
		{"so little fiat that it is nothing", send.Request{Kind: send.Refund, Payment: ripple.Reference,
			FiatAmount: "0.01",
			Rate:       send.RatePayment, Address: ledger},
			"fiat_amount: Is less than the network can carry (0.000000 XRP)."},
		{"fiat of another coin than the payment's", transfer(wrong, "", "25", send.RatePayment),
			"fiat_amount: No price was " +
				"locked for this money: give an amount of BTC."},
		{"another coin than the payment's", transfer(wrong, "", "", ""), "70000 0   5600"},
		{"a payout", payout("0.5", "", ""), "50000000 4000000 USD 80000 4000000"},
		{"a payout in fiat", payout("", "80", "USD"), "100000 8000 USD 80000 8000"},
		{"a payout in another currency", payout("", "160", "KES"), "1000 16000 KES 16000000 80"},
		{"a billion", payout("12500", "", ""), "1250000000000 100000000000 USD 80000 100000000000"},
		{"more than a billion", payout("12500.000001", "", ""), "amount: Is worth more than 1,000,000,000 USD."},
	} {
		v, err := o.sends.Ask(t.Context(), o.owner, c.request)
		got := fmt.Sprint(v.Send.Amount, " ", v.Send.Value, " ", v.Send.Currency, " ", v.Send.Price, " ",
			v.Send.ValueUSD)
		if err != nil {
			got = describeFields(err)
		} else {
			_, err = o.sends.Cancel(t.Context(), o.owner, v.Send.Reference)
			o.must(err)
		}
		if got != c.want {
			t.Errorf("%s: %q (%v), want %q", c.name, got, err, c.want)
		}
	}
	o.ask(refund("", "", ""))
	for _, amount := range []string{"", "0.0001"} {
		_, err := o.sends.Ask(t.Context(), o.owner, refund(amount, "", ""))
		o.expectFault("a second refund of "+amount, err, "nothing_to_refund")
	}
	_, err := o.sends.FindRefundable(t.Context(), o.owner, p.Reference, 0)
	o.expectFault("what is left", err, "nothing_to_refund")
}

// TestOnlyFinalMoneyIsRefunded (SD-2) checks of which payments and transfers nothing can be refunded, when it is asked for
// and when it is approved.
func TestOnlyFinalMoneyIsRefunded(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	p := o.paid(money.CryptoBitcoin)
	stray := o.stray("stray", nil, money.Units(90_000))
	ofPayment := send.Request{Kind: send.Refund, Payment: p.Reference, Amount: "0.00001", Address: recipient}
	ofTransfer := send.Request{Kind: send.Refund, TransferID: stray.ID, Amount: "0.00001", Address: recipient}
	for _, c := range []struct {
		name    string
		request send.Request
		columns map[string]any
		want    string // the fault's code; "" for none
	}{
		{"a successful payment", ofPayment, map[string]any{"status": "successful"}, ""},
		{"a declined payment", ofPayment, map[string]any{"status": "declined"}, ""},
		{"a reversed payment", ofPayment, map[string]any{"reversed": true}, "nothing_to_refund"},
		{"an expired payment", ofPayment, map[string]any{"status": "expired"}, "nothing_to_refund"},
		{"an unmatched transfer", ofTransfer, map[string]any{"unmatched": payment.Surplus}, ""},
		{"an unconfirmed transfer", ofTransfer, map[string]any{"height": nil}, "nothing_to_refund"},
		{"a dropped transfer", ofTransfer, map[string]any{"gone": true}, "nothing_to_refund"},
		{"a reverted transfer", ofTransfer, map[string]any{"reverted": true}, "nothing_to_refund"},
		{"an unproved transfer", ofTransfer, map[string]any{"unmatched": payment.Unproved}, "nothing_to_refund"},
		{"a transfer that was dealt with", ofTransfer, map[string]any{"resolution": "refunded"}, "nothing_to_refund"},
		{"a transfer that was attached", ofTransfer, map[string]any{"unmatched": ""}, "not_found"},
		{"another business's", ofTransfer, map[string]any{"business_id": 0}, "not_found"},
	} {
		v := o.ask(c.request)
		var row any = &stray
		change := o.db.Exec(t.Context()).Model(&models.Transfer{}).Where("id = ?", stray.ID)
		if c.request.Payment != "" {
			row, change = &p, o.db.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", p.ID)
		}
		o.must(change.Updates(c.columns).Error)
		expect := func(what string, err error, want string) {
			if err == nil && want == "" {
				return
			}
			o.expectFault(what+" of "+c.name, err, want)
		}
		_, err := o.sends.Ask(t.Context(), o.owner, c.request)
		expect("asking for a refund", err, c.want)
		_, err = o.sends.FindRefundable(t.Context(), o.owner, c.request.Payment, c.request.TransferID)
		expect("finding the money", err, c.want)
		approved := c.want
		switch c.name {
		case "a transfer that was attached":
			approved = "nothing_to_refund"
		case "another business's":
			approved = "" // the transfer is the one that was asked for
		}
		_, err = o.approve(o.owner, v)
		expect("approving a refund", err, approved)
		o.must(o.db.Exec(t.Context()).Save(row).Error)
	}
}

// TestWhatCanBeRefundedIsFound checks what a form of a refund shows of a payment and of a transfer.
func TestWhatCanBeRefundedIsFound(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	p := o.paid(money.CryptoDogecoin)
	own, unknown := o.stray("own", &p, money.Units(9_000)), o.stray("unknown", nil, money.Units(8_000))
	for _, c := range []struct {
		reference string
		transfer  int64
		want      string // payment, transfer, coin, network, what is left, and whether the customer can be asked
	}{
		{p.Reference, 0, fmt.Sprint(p.ID, " 0 DOGE ", p.Due, " true")},
		{"", own.ID, fmt.Sprint(p.ID, " ", own.ID, " BTC 9000 true")},
		{"", unknown.ID, fmt.Sprint("0 ", unknown.ID, " BTC 8000 false")},
	} {
		found, err := o.sends.FindRefundable(t.Context(), o.owner, c.reference, c.transfer)
		o.must(err)
		var ids [2]int64
		if found.Payment != nil {
			ids[0] = found.Payment.Payment.ID
		}
		if found.Transfer != nil {
			ids[1] = found.Transfer.ID
		}
		if got := fmt.Sprintf("%d %d %s %s %t", ids[0], ids[1], found.Coin, found.Left,
			found.AskCustomer); got != c.want {
			t.Errorf("of %q and transfer %d: %q, want %q", c.reference, c.transfer, got, c.want)
		}
	}
}

// TestSendsThatCantBeMade (SD-1) checks what is refused for its network, its asset, its customer, its reference or its number.
func TestSendsThatCantBeMade(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	delete(o.payments.Networks.(*networks.Registry).Domains[scope.Test], money.Dogecoin)
	p := o.paid(money.CryptoBitcoin)
	asset, real := o.stray("asset", nil, money.Units(9_000)), o.stray("real", nil, money.Units(9_000))
	o.change(asset, map[string]any{"asset": "FAKE-USDT"})
	o.change(real, map[string]any{"network": "bitcoin-mainnet"})
	payout := send.Request{Kind: send.Payout, Method: string(money.CryptoBitcoin), Amount: "0.001", Address: recipient,
		BusinessReference: "once", Metadata: []byte(`{"a":1}`)}
	if v := o.ask(payout); v.Send.BusinessReference != "once" || v.Send.Metadata == nil ||
		*v.Send.Metadata != `{"a":1}` ||
		v.Payment != "" {
		t.Errorf("the payout is %+v of %q, want its reference, its metadata, and no payment", v.Send, v.Payment)
	}
	if v := o.payout(o.owner, "0.001"); !strings.HasPrefix(v.Send.BusinessReference, "REF_") || v.Send.Metadata != nil {
		t.Errorf("a payout without a reference has %q and metadata %v, want one that is made and none",
			v.Send.BusinessReference,
			v.Send.Metadata)
	}
	doge := payout
	doge.Method, doge.Amount, doge.Address = string(money.CryptoDogecoin), "20", "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"
	for _, c := range []struct {
		name    string
		request send.Request
		code    string
		says    string
	}{
		{"nothing", send.Request{}, "validation_failed", "kind: Must be refund or payout."},
		{"a reference twice", payout, "duplicate_business_reference", "exists already"},
		{"no node", doge, "send_unavailable", "No node for dogecoin"},
		{"another asset", send.Request{Kind: send.Refund, TransferID: asset.ID, Address: recipient}, "send_unavailable",
			"Only money of the five coins"},
		{"a real network", send.Request{Kind: send.Refund, TransferID: real.ID, Address: recipient}, "send_unavailable",
			"Sends on Bitcoin can't be signed here"},
		{"no customer", send.Request{Kind: send.Refund, TransferID: o.stray("unknown", nil, money.Units(9_000)).ID},
			"validation_failed", "address: Is required: this money belongs to no payment"},
		{"another address of Bitcoin", send.Request{Kind: send.Refund, Payment: p.Reference, Address: "x"},
			"validation_failed", "address: Is not an address"},
	} {
		_, err := o.sends.Ask(t.Context(), o.owner, c.request)
		o.expectFault(c.name, err, c.code)
		if text := fmt.Sprint(err, describeFields(err)); !strings.Contains(text, c.says) {
			t.Errorf("%s is refused with %q, want %q", c.name, text, c.says)
		}
	}
	_, err := o.sends.FindRefundable(t.Context(), o.owner, "", asset.ID)
	o.expectFault("finding money of another asset", err, "send_unavailable")
}

// TestCustomersAreAskedByMailOnly checks that in the live domain a customer is asked only where a mail server sends
// mails.
func TestCustomersAreAskedByMailOnly(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Live)
	p := o.paid(money.CryptoBitcoin)
	ask := send.Request{Kind: send.Refund, Payment: p.Reference}
	_, err := o.sends.Ask(t.Context(), o.owner, ask)
	const refused = "address: Is required: no mail server is configured, so the customer can't be asked."
	if got := describeFields(err); got != refused {
		t.Errorf("without a mail server the refund is refused with %q, want %q", got, refused)
	}
	o.sends.HasMailServer = true
	letters := o.listen()
	v := o.ask(ask)
	if l := *letters; len(l) != 1 || l[0].Test || l[0].URL != o.sends.ClaimURL(v.Send) {
		t.Errorf("the mails are %+v, want one to the refund's page that is no test", l)
	}
	if v.State() != send.AwaitingDestination || v.Payment != p.Reference {
		t.Errorf("with a mail server the refund of %q is %s, want awaiting_destination of %q", v.Payment, v.State(),
			p.Reference)
	}
}

// TestRefundsOfAPaymentAreCounted (SD-2) checks the bounds of the refunds of a payment, and of the mails that ask its
// customer.
func TestRefundsOfAPaymentAreCounted(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	p := o.paid(money.CryptoBitcoin)
	ask := func(address string) error {
		v, err := o.sends.Ask(t.Context(), o.owner, send.Request{Kind: send.Refund, Payment: p.Reference,
			Address: address,
			Amount:  "0.00001"})
		if err == nil {
			o.set(v, map[string]any{"status": "cancelled"})
		}
		return err
	}
	for range 10 {
		o.must(ask(""))
	}
	o.expectFault("an eleventh mail", ask(""), "too_many_sends")
	o.must(ask(recipient))
	var rows []models.Send
	for i := range payment.MaxSends - 12 {
		row := models.Send{PaymentID: &p.ID, Reference: fmt.Sprint("SND_", i), BusinessReference: fmt.Sprint("REF_", i),
			Kind: send.Refund, Status: "cancelled", Coin: "BTC"}
		rows = append(rows, row)
	}
	o.must(o.db.Exec(t.Context()).CreateInBatches(rows, 20).Error)
	o.must(ask(recipient))
	o.expectFault("one refund more", ask(recipient), "too_many_sends")
	p = o.paid(money.CryptoBitcoin)
	o.must(ask("")) // of another payment
}
