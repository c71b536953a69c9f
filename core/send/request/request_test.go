package request_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"cointill/core/money"
	"cointill/core/send/request"
)

// TestRequestsAreChecked checks which fields of a request are refused, all at once.
func TestRequestsAreChecked(t *testing.T) {
	t.Parallel()
	tag := int64(1)
	refund := func(change func(r *request.Request)) request.Request {
		r := request.Request{Kind: request.Refund, Payment: "PAY_1", Address: address}
		change(&r)
		return r
	}
	payout := func(change func(r *request.Request)) request.Request {
		r := request.Request{Kind: request.Payout, Method: string(money.CryptoBitcoin), Amount: "1", Address: address}
		change(&r)
		return r
	}
	fiat := func(amount string) request.Request {
		return payout(func(r *request.Request) {
			r.Amount, r.FiatAmount, r.Currency, r.Rate = "", amount, "KES",
				request.RateToday
		})
	}
	const notAbove = "fiat_amount"
	for name, c := range map[string]struct {
		asked request.Request
		want  string // the refused fields
	}{
		"a refund":      {refund(func(*request.Request) {}), ""},
		"of a transfer": {refund(func(r *request.Request) { r.Payment, r.TransferID = "", 1 }), ""},
		"of both":       {refund(func(r *request.Request) { r.TransferID = 1 }), "unmatched_id"},
		"of neither":    {refund(func(r *request.Request) { r.Payment = "" }), "payment_reference"},
		"with what it came in": {refund(func(r *request.Request) {
			r.Method, r.Network, r.Currency = "m", "n",
				"KES"
		}), "currency network payment_method"},
		"at the payment's price": {refund(func(r *request.Request) {
			r.FiatAmount, r.Rate = "0.01",
				request.RatePayment
		}), ""},
		"at today's price": {refund(func(r *request.Request) {
			r.FiatAmount, r.Rate = "1234567890123.12",
				request.RateToday
		}), ""},
		"at another price": {refund(func(r *request.Request) { r.FiatAmount, r.Rate = "1", "yesterday" }),
			"rate"},
		"at no price":          {refund(func(r *request.Request) { r.FiatAmount = "1" }), "rate"},
		"a price without fiat": {refund(func(r *request.Request) { r.Rate = request.RateToday }), "rate"},
		"two amounts": {refund(func(r *request.Request) {
			r.Amount, r.FiatAmount, r.Rate = "1", "1",
				request.RateToday
		}), "fiat_amount"},
		"from the customer":        {refund(func(r *request.Request) { r.Address = "" }), ""},
		"a tag without an address": {refund(func(r *request.Request) { r.Address, r.Tag = "", &tag }), "tag"},
		"a tag":                    {refund(func(r *request.Request) { r.Tag = &tag }), ""},
		"a reference of ours": {refund(func(r *request.Request) { r.BusinessReference = "SND_1" }),
			"business_reference"},
		"metadata that is no JSON":  {refund(func(r *request.Request) { r.Metadata = []byte("{") }), "metadata"},
		"a note of several lines":   {refund(func(r *request.Request) { r.Note = "a\nb" }), "note"},
		"another kind":              {refund(func(r *request.Request) { r.Kind = "gift" }), "kind"},
		"a payout":                  {payout(func(*request.Request) {}), ""},
		"of a payment":              {payout(func(r *request.Request) { r.Payment = "PAY_1" }), "payment_reference"},
		"a payout of a transfer":    {payout(func(r *request.Request) { r.TransferID = 1 }), "unmatched_id"},
		"of an unknown method":      {payout(func(r *request.Request) { r.Method = "cash" }), "payment_method"},
		"without amount or address": {payout(func(r *request.Request) { r.Amount, r.Address = "", "" }), "address amount"},
		"a currency without fiat":   {payout(func(r *request.Request) { r.Currency = "KES" }), "currency"},
		"in fiat":                   {fiat("25.50"), ""},
		"in an unknown currency": {payout(func(r *request.Request) {
			r.Amount, r.FiatAmount, r.Rate = "", "1",
				request.RateToday
		}), "currency"},
		"at a payment's price": {payout(func(r *request.Request) {
			r.Amount, r.FiatAmount, r.Currency, r.Rate = "", "1", "KES", request.RatePayment
		}), "rate"},
		"nothing":          {fiat("0"), notAbove},
		"below nothing":    {fiat("-1"), notAbove},
		"three decimals":   {fiat("0.001"), notAbove},
		"an exponent":      {fiat("1e2"), notAbove},
		"a large exponent": {fiat("1E2"), notAbove},
		"no number":        {fiat("x"), notAbove},
		"16 characters":    {fiat("1234567890123.12"), ""},
		"17 characters":    {fiat("12345678901234.12"), notAbove},
	} {
		if got := strings.Join(slices.Sorted(maps.Keys(c.asked.Check())), " "); got != c.want {
			t.Errorf("%s: the fields %q are refused, want %q", name, got, c.want)
		}
	}
}
