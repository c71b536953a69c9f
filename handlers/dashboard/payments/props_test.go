package payments

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/scope"
	"cointill/handlers/dashboard/display"
	"cointill/models"
	"cointill/views/layout"
	"cointill/views/ui"
)

var (
	noon  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	owner = scope.Scope{BusinessID: 1, Domain: scope.Test, Role: scope.Owner}
)

// sample is an opened Bitcoin payment of ₦5,000 that asks for 0.0001 BTC.
func sample(state payment.State, reason payment.Reason, paid int64) payment.View {
	return payment.View{
		Payment: models.Payment{
			Domain: "test", Reference: "PAY_1", BusinessReference: "order-1", Currency: "NGN", Amount: 5000, Method: "crypto_bitcoin", Coin: "BTC",
			Due: money.Units(10_000), Paid: money.Units(paid), Price: "90000000", Quote: `{"price":"90000000","legs":[{"base":"BTC","quote":"USD","readings":[{"source":"a","value":"60000","at":"2026-03-01T12:00:00Z"},{"source":"b","value":"9","at":"2026-03-01T12:00:00Z","left_out":"off by 99 %"}]}]}`,
			FinalDepth: 2, Status: string(state), Reason: string(reason), Remark: "-", Address: "tb1qsample",
			ExpiresAt: noon.Add(payment.Window), AbandonsAt: noon.Add(payment.Monitoring), CreatedAt: noon,
		},
		Business: models.Business{Name: "Ama's Shop", TimeZone: "Africa/Nairobi"}, Now: noon.Add(time.Minute),
	}
}

func TestSentence(t *testing.T) {
	cases := map[string]struct {
		v    payment.View
		want string
	}{
		"pending":        {sample(payment.Pending, "", 0), "has not opened"},
		"too small":      {tooSmall(), "can't carry less than 0.00000546 BTC"},
		"nothing yet":    {sample(payment.Initiated, "", 0), "Nothing has been received yet."},
		"seen":           {sample(payment.Initiated, "", 10_000), "first confirmation"},
		"processing":     {sample(payment.Processing, "", 10_000), "being confirmed by the network"},
		"part of it":     {sample(payment.Processing, "", 4_000), "The rest has not been received"},
		"successful":     {sample(payment.Successful, "", 10_000), "Paid and final."},
		"declined":       {sample(payment.Declined, "", 9_000), "wrong amount"},
		"failed":         {sample(payment.Failed, payment.Replaced, 0), "not completed"},
		"abandoned":      {sample(payment.Abandoned, "", 0), "within 24 hours"},
		"expired":        {sample(payment.Expired, "", 0), "within 7 minutes"},
		"its own remark": {remarked(), "Underpaid by 1."},
	}
	for name, c := range cases {
		if got := sentence(t.Context(), c.v); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func tooSmall() payment.View {
	v := sample(payment.Pending, "", 0)
	v.Payment.Coin, v.Payment.Due = "BTC", money.Units(545)
	return v
}

func remarked() payment.View {
	v := sample(payment.Declined, payment.Underpaid, 9_000)
	v.Payment.Remark = "Underpaid by 1."
	return v
}

func TestPaymentProps(t *testing.T) {
	metadata, height, tag := `{"cart":[1,1.50]}`, int64(100), int64(7)
	v := sample(payment.Declined, payment.Underpaid, 9_000)
	v.Payment.Metadata, v.Payment.Tag = &metadata, &tag
	v.Chain.Tip = 101
	v.Transfers = []models.Transfer{{TxID: "aa", Amount: money.Units(9_000), Height: &height, FirstSeenAt: noon}}
	props := paymentProps(t.Context(), layout.Page{}, v, paymentMore{PayURL: "http://x/pay/t", Scope: owner})
	for name, pair := range map[string][2]string{
		"fiat": {props.Fiat, "₦5,000.00"}, "coin": {props.Coin, "0.00010000 BTC"}, "why": {props.Why, "underpaid"},
		"came": {props.ReceivedFiat, "₦4,500.00"}, "missing": {props.DifferenceFiat + " " + props.DifferenceWord, "₦500.00 Underpaid by"},
		"tag": {props.Tag, "7"}, "metadata": {props.Metadata, "{\n  \"cart\": [\n    1,\n    1.50\n  ]\n}"},
		"confirmations": {props.Confirmations, "2, final at 2"}, "rate": {props.Rate, "1 BTC = 90000000 NGN, locked when the payment was initiated."},
		"price": {props.Evidence.Price + " " + props.Evidence.Unit, "90000000 NGN"}, "left out": {props.Evidence.Legs[0].Readings[1].LeftOut, "off by 99 %"},
		"transfer": {props.Transfers[0].State + " " + props.Transfers[0].Fiat, "2 confirmations ₦4,500.00"},
		"zone":     {props.Created.Format("15:04 MST"), "15:00 EAT"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %q, want %q", name, pair[0], pair[1])
		}
	}
	v.Payment.Reversed = true
	if display.DescribeReason(t.Context(), v.Payment) != "reversed" || flag(t.Context(), v.Payment) == "" {
		t.Error("a reversal is not shown")
	}
}

func TestScenarios(t *testing.T) {
	live, unopened := sample(payment.Initiated, "", 0), sample(payment.Expired, "", 0)
	live.Payment.Domain, unopened.Payment.Address = "live", ""
	finance := owner
	finance.Role = scope.Finance
	inLive := owner
	inLive.Domain = scope.Live
	for name, c := range map[string]struct {
		v    payment.View
		sc   scope.Scope
		some bool
	}{
		"waiting": {sample(payment.Initiated, "", 0), owner, true}, "abandoned": {sample(payment.Abandoned, "", 0), owner, true},
		"successful": {sample(payment.Successful, "", 0), owner, true}, "expired": {unopened, owner, false},
		"finance": {sample(payment.Initiated, "", 0), finance, false}, "live": {live, inLive, false},
	} {
		c.v.Payment.Network = "sandbox-bitcoin"
		if got := listScenarios(t.Context(), c.v, c.sc); len(got) > 0 != c.some {
			t.Errorf("%s: %d scenarios", name, len(got))
		}
	}
}

func TestTransferState(t *testing.T) {
	v, height := sample(payment.Processing, "", 10_000), int64(101)
	v.Chain.Tip = 101
	for want, transfer := range map[string]models.Transfer{
		"Unconfirmed":                           {},
		"1 of 2 confirmations":                  {Height: &height},
		"Its block is no longer on the chain":   {Gone: true, GoneReason: "reorged"},
		"No longer valid: replaced":             {Gone: true, GoneReason: "replaced"},
		"Failed on the network: no money moved": {Reverted: true, Height: &height},
	} {
		if got, _ := transferState(t.Context(), v, transfer); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTimeline(t *testing.T) {
	steps := listSteps(t.Context(), sample(payment.Successful, "", 10_000), []models.Step{
		{Kind: payment.StepState, To: "pending", Remark: "-", Detail: "{}", At: noon},
		{Kind: payment.StepState, From: "pending", To: "initiated", Remark: "-", Detail: "{}", At: noon},
		{Kind: payment.StepTransfer, From: "initiated", To: "initiated", Remark: "Seen.", Detail: `{"hash":"aa"}`, At: noon},
		{Kind: payment.StepTransfer, Reason: "after_final", Remark: "More.", Detail: "no JSON", At: noon},
		{Kind: payment.StepNote, Actor: "customer", Remark: "Paid.", Detail: "{}", At: noon},
		{Kind: payment.StepNote, Actor: "user:1", Detail: "{}", At: noon},
		{Kind: payment.StepState, From: "processing", To: "successful", Detail: "{}", At: noon},
	}, time.UTC)
	var titles []string
	for _, step := range steps {
		titles = append(titles, step.Title)
	}
	if got := strings.Join(titles, ", "); got != "Initiated by the merchant, Opened by the customer, Transfer, Transfer, Message from the customer, Note, Successful" {
		t.Errorf(`strings.Join(titles, ", "): got = %v`, got)
	}
	if steps[0].Text != "" || steps[2].Mono != "aa" || steps[3].Tone != ui.Warn || steps[6].Tone != ui.Good {
		t.Errorf("%+v", steps)
	}
}

// TestTotalsOfManyPayments checks that sums of days are shown although the payments are not counted.
func TestTotalsOfManyPayments(t *testing.T) {
	shown := totalsProps(t.Context(), list.Totals{More: true, Due: map[money.Currency]int64{"NGN": 7000}, Sums: map[money.Currency]journal.CurrencyLine{"NGN": {Payments: 6000, Sold: 650_050, Reversed: 50}}})
	if shown.Payments != "More than 5,000" || shown.TooMany != "" || !slices.Equal(shown.Received, []string{"₦6,500.00"}) || !slices.Equal(shown.Successful, []string{"6,000"}) || !slices.Equal(shown.Due, []string{"₦7,000.00"}) || !slices.Equal(shown.Reversed, []string{"₦0.50"}) {
		t.Errorf("the totals are shown as %+v", shown)
	}
	if none := totalsProps(t.Context(), list.Totals{More: true}); none.TooMany == "" || none.Payments != "" {
		t.Errorf("many payments without sums are shown as %+v, want the reason alone", none)
	}
}
