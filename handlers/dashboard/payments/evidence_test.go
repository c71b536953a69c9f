package payments

import (
	"testing"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/quote"
	"cointill/handlers/dashboard/display"
)

func TestQuoteEvidence(t *testing.T) {
	v := sample(payment.Pending, "", 0)
	v.Payment.Quote = `{"coin":"BTC","currency":"NGN","price":"98500","market":"street","spread":150,"at":"2026-03-01T12:00:30Z","legs":[
		{"base":"BTC","quote":"USD","value":"60000.10","readings":[{"source":"kraken","value":"60000.1","at":"2026-03-01T12:00:18Z"},{"source":"okx","value":"9","at":"2026-03-01T12:00:31Z","via":"9.1 USDT","left_out":"off by 99 %"}]},
		{"base":"USDT","quote":"USD","value":"0.9996","divides":true,"readings":[]},
		{"base":"USDT","quote":"NGN","value":"1664","trusted":"quidax","readings":[]}]}`
	e := quoteEvidence(t.Context(), v, lagos)
	if e.Market != "Street rate" || e.Spread != "1.5 %" || e.Before != "100000" || e.Price != "98500" || e.Unit != "NGN" || e.At.Format("15:04:05") != "13:00:30" || len(e.Legs) != 3 {
		t.Fatalf("%+v", e)
	}
	kraken, okx := e.Legs[0].Readings[0], e.Legs[0].Readings[1]
	if kraken.Source != "Kraken" || kraken.Age != "12 s before" || kraken.Value != "60000.1" || okx.Via != "9.1 USDT" || okx.LeftOut != "off by 99 %" || okx.Age != "1 s after" {
		t.Errorf("%+v", e.Legs[0])
	}
	if e.Legs[0].Divides || !e.Legs[1].Divides || e.Legs[1].Trusted != "" || e.Legs[2].Trusted != "Quidax" || e.Legs[2].Median != "1664" {
		t.Errorf("%+v", e.Legs)
	}
	for want, q := range map[string]quote.Quote{"Official rate": {Currency: money.NGN}, "Your own rate": {Currency: money.NGN, Market: quote.Manual}, "Not needed: priced in US dollars": {Currency: money.USD, Market: quote.Official}} {
		if got := display.DescribeMarket(t.Context(), q); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	old := sample(payment.Pending, "", 0) // from before there was a choice
	if e = quoteEvidence(t.Context(), old, lagos); e.Market != "Official rate" || e.Spread != "None" || e.Before != "" || e.Legs[0].Readings[0].Age != "at once" {
		t.Errorf("%+v", e)
	}
	old.Payment.Quote = "no JSON"
	if quoteEvidence(t.Context(), old, lagos) != nil {
		t.Error("evidence out of nothing")
	}
}
