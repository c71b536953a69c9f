package money

import (
	"slices"

	"github.com/shopspring/decimal"

	"cointill/core/fault"
)

// Currency is a fiat currency by the code that the interface uses. Prices are
// asked in whole major units.
type Currency string

// The currencies of interface section 2.1. GHC is the interface's name for
// today's Ghana cedi, which ISO 4217 calls GHS.
const (
	NGN Currency = "NGN"
	GHC Currency = "GHC"
	KES Currency = "KES"
	USD Currency = "USD"
)

// Currencies lists them in the interface's order.
func Currencies() []Currency { return []Currency{NGN, GHC, KES, USD} }

// IsKnown reports whether the currency is one of the four.
func (c Currency) IsKnown() bool {
	return slices.Contains(Currencies(), c)
}

// UnknownCurrency is said of a currency that isn't one of the four.
var UnknownCurrency = fault.NewMessage("Must be one of NGN, GHC, KES, USD.")

// ISOCode is the code to ask rate sources for. This is the only place where GHC
// becomes GHS: ISO's own GHC was retired in 2007 at 10,000 to 1.
func (c Currency) ISOCode() string {
	if c == GHC {
		return "GHS"
	}
	return string(c)
}

// Sign is the currency sign for pages.
func (c Currency) Sign() string {
	switch c {
	case NGN:
		return "₦"
	case GHC:
		return "GH₵"
	case KES:
		return "KSh"
	case USD:
		return "$"
	}
	return string(c)
}

// FormatFiat writes a fiat amount with two decimals, as answers carry it.
func FormatFiat(d decimal.Decimal) string { return d.StringFixed(2) }

// FormatHundredths writes a value in hundredths as FormatFiat does.
func FormatHundredths(value int64) string { return FormatFiat(decimal.New(value, -2)) }

// CountHundredths returns a value with two decimals as a number of hundredths.
func CountHundredths(value decimal.Decimal) int64 { return value.Shift(2).IntPart() }

// FormatForPeople writes a fiat amount for people: sign, thousands separators, two decimals.
func (c Currency) FormatForPeople(d decimal.Decimal) string {
	text := d.Abs().StringFixed(2)
	whole, part := text[:len(text)-3], text[len(text)-3:]
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	sign := ""
	if d.IsNegative() {
		sign = "−"
	}
	gap := ""
	if c == KES {
		gap = " "
	}
	return sign + c.Sign() + gap + whole + part
}
