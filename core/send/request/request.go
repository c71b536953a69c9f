// Package request holds what a refund or a payout is asked for with, and the rules of its values that
// follow from the values themselves. It reads no database.
package request

import (
	"strings"

	"github.com/shopspring/decimal"

	"cointill/core/fault"
	"cointill/core/metadata"
	"cointill/core/money"
	"cointill/core/payment/reference"
	"cointill/core/payment/refund"
)

// The kinds of sends.
const (
	Refund = "refund"
	Payout = "payout"
)

// The rates of an amount in fiat.
const (
	RatePayment = "payment" // the payment's locked price
	RateToday   = "today"   // the market's price when the send is approved
)

// Request is what a send is asked for with (contract section 7). The zero value of a field leaves
// it out.
type Request struct {
	Kind       string
	Payment    string // reference of the payment that is refunded
	TransferID int64  // of the unmatched transfer that is refunded
	Method     string // of a payout
	Network    string // of a payout: its method's in the domain, or left out
	// Amount is in whole coins. Without it and FiatAmount a refund is of all that is left.
	Amount string
	// FiatAmount is in whole units of the payment's currency, for a payout of Currency.
	FiatAmount        string
	Currency          string
	Rate              string // of FiatAmount
	Address           string // "" asks the customer of a refund
	Tag               *int64
	BusinessReference string
	Metadata          []byte // JSON text as given; nil when none
	Note              string
}

// Check reports the errors in the request's values, all fields at once, by JSON field name.
func (r Request) Check() fault.Fields {
	fields := fault.Fields{}
	switch r.Kind {
	case Refund:
		r.checkRefund(fields)
	case Payout:
		r.checkPayout(fields)
	default:
		fields.Add("kind", "Must be refund or payout.")
	}
	if r.Amount != "" && r.FiatAmount != "" {
		fields.Add("fiat_amount", "Give an amount of the coin or one in fiat, not both.")
	}
	if r.FiatAmount != "" {
		if _, ok := ParseFiat(r.FiatAmount); !ok {
			fields.Add("fiat_amount", "Must be an amount above zero with at most two decimals, such as 25.50.")
		}
	}
	if r.FiatAmount == "" && r.Rate != "" {
		fields.Add("rate", "Belongs to an amount in fiat: give fiat_amount.")
	} else if r.FiatAmount != "" && r.Rate != RatePayment && r.Rate != RateToday {
		fields.Add("rate", "Must be payment or today.")
	}
	fields.AddMessage("business_reference", reference.Check(r.BusinessReference, "SND_"))
	fields.AddMessage("metadata", metadata.Check(r.Metadata))
	refund.CheckNote(r.Note, fields)
	if r.Address == "" && r.Tag != nil {
		fields.Add("tag", "Belongs to an address.")
	}
	return fields
}

func (r Request) checkRefund(fields fault.Fields) {
	switch {
	case r.Payment == "" && r.TransferID == 0:
		fields.Add("payment_reference", "Is required, or unmatched_id: the money that is refunded.")
	case r.Payment != "" && r.TransferID != 0:
		fields.Add("unmatched_id", "Give payment_reference or unmatched_id, not both.")
	}
	for name, text := range map[string]string{"payment_method": r.Method, "network": r.Network,
		"currency": r.Currency} {
		if text != "" {
			fields.Add(name, "A refund goes back as it came: leave this out.")
		}
	}
}

func (r Request) checkPayout(fields fault.Fields) {
	if r.Payment != "" {
		fields.Add("payment_reference", "A payout refunds no payment: leave this out, or make it a refund.")
	}
	if r.TransferID != 0 {
		fields.Add("unmatched_id", "A payout refunds no transfer: leave this out, or make it a refund.")
	}
	if _, known := money.Method(r.Method).Info(); !known {
		fields.AddMessage("payment_method", money.UnknownMethod)
	}
	if r.Amount == "" && r.FiatAmount == "" {
		fields.Add("amount", "Is required: the amount that the recipient gets.")
	}
	if r.Address == "" {
		fields.Add("address", "Is required: where the money goes.")
	}
	switch {
	case r.FiatAmount != "" && !money.Currency(r.Currency).IsKnown():
		fields.AddMessage("currency", money.UnknownCurrency)
	case r.FiatAmount == "" && r.Currency != "":
		fields.Add("currency", "Belongs to an amount in fiat: give fiat_amount.")
	}
	if r.Rate == RatePayment {
		fields.Add("rate", "A payout has no payment: use today.")
	}
}

// NamesSource reports that the request says of which money, or of which coin, the send is.
func (r Request) NamesSource() bool {
	if r.Kind == Refund {
		return (r.Payment == "") != (r.TransferID == 0)
	}
	_, known := money.Method(r.Method).Info()
	return r.Kind == Payout && known
}

// ParseFiat reads an amount of a currency as hundredths.
func ParseFiat(text string) (hundredths int64, ok bool) {
	d, err := decimal.NewFromString(text)
	if err != nil || len(text) > 16 || strings.ContainsAny(text, "eE") {
		return 0, false
	}
	d = d.Shift(2)
	return d.IntPart(), d.IsInteger() && d.Sign() > 0
}
