package dashboard

import (
	"strings"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/link"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/receipt"
	"cointill/core/scope"
	"cointill/core/webhook"
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
		"came": {props.CameFiat, "₦4,500.00"}, "missing": {props.DifferenceFiat + " " + props.DifferenceWord, "₦500.00 Underpaid by"},
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
	if why(t.Context(), v.Payment) != "reversed" || flag(t.Context(), v.Payment) == "" {
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
		if got := scenarios(c.v, c.sc); len(got) > 0 != c.some {
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
	steps := timeline(t.Context(), []models.Step{
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
		t.Error(got)
	}
	if steps[0].Text != "" || steps[2].Mono != "aa" || steps[3].Tone != ui.Warn || steps[6].Tone != ui.Good {
		t.Errorf("%+v", steps)
	}
}

func TestDeliveryResult(t *testing.T) {
	for want, d := range map[string]webhook.Delivery{
		"Delivered (204)":              {State: webhook.Delivered, LastStatus: 204},
		"Given up: Response 500":       {State: webhook.Exhausted, LastStatus: 500},
		"Not sent: It was inactive.":   {State: webhook.Cancelled, LastError: "It was inactive."},
		"Being sent":                   {State: "sending"},
		"Waiting to be sent":           {State: "pending"},
		"Response 503":                 {State: "pending", Attempt: 1, LastStatus: 503},
		"The host name was not found.": {State: "pending", Attempt: 1, LastError: "The host name was not found."},
	} {
		if got, _ := deliveryResult(t.Context(), d); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	next := noon.Add(time.Hour)
	row := deliveryRow(t.Context(), webhook.Delivery{State: "pending", Attempt: 1, NextAt: &next, CreatedAt: noon, EndpointID: "whk_1", EndpointName: "Shop"}, time.UTC)
	if !row.Next.Equal(next) || row.EndpointHref != "/dashboard/webhooks/whk_1" {
		t.Errorf("%+v", row)
	}
}

func TestLinkRow(t *testing.T) {
	amount, limit, past := int64(5000), int64(10), noon.Add(-time.Minute)
	for want, l := range map[string]models.Link{
		"open ₦5,000.00 3 of 10":              {Active: true, Currency: "NGN", Amount: &amount, UsageLimit: &limit, Used: 3},
		"used_up ₦5,000.00 10 of 10":          {Active: true, Currency: "NGN", Amount: &amount, UsageLimit: &limit, Used: 10},
		"expired ₦5,000.00 0":                 {Active: true, Currency: "NGN", Amount: &amount, ExpiresAt: &past},
		"inactive Open, $1.00 to $1,000.00 0": {Currency: "USD", MinAmount: 1, MaxAmount: 1000},
		"open Open, KSh 2.00 to KSh 9.00 100": {Active: true, Currency: "KES", MinAmount: 2, MaxAmount: 9, Used: 100},
	} {
		row := linkRow(t.Context(), l, nil, link.State(l, noon), time.UTC)
		if got := row.State + " " + row.Amount + " " + row.Used; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestLinkDraftAndBack(t *testing.T) {
	lagos := zoneOf(models.Business{TimeZone: "Africa/Lagos"})
	values := map[string]string{"title": "Yoga", "currency": "GHC", "amount_kind": "open", "min_amount": "10", "max_amount": "50",
		"amount": "not read", "usage_limit": "3", "expires_at": "2026-04-01T10:00", "description": "", "redirect_url": ""}
	d, errors := linkDraft(t.Context(), values, []string{"crypto_bitcoin"}, nil, lagos)
	if len(errors) != 0 || d.Amount != nil || d.MinAmount != 10 || *d.UsageLimit != 3 || d.ExpiresAt.UTC().Hour() != 9 {
		t.Fatalf("%+v %v", d, errors)
	}
	back := linkValues(models.Link{Title: "Yoga", Currency: "GHC", MinAmount: 10, MaxAmount: 50, UsageLimit: d.UsageLimit, ExpiresAt: d.ExpiresAt}, lagos)
	delete(values, "amount")
	for name, value := range values {
		if back[name] != value {
			t.Errorf("%s: %q, want %q", name, back[name], value)
		}
	}
	d, errors = linkDraft(t.Context(), map[string]string{"amount_kind": "fixed", "amount": ""}, nil, nil, lagos)
	if d.Amount == nil || *d.Amount != 0 || len(errors) != 0 {
		t.Errorf("an empty fixed amount: %+v %v", d, errors)
	}
	if _, errors = linkDraft(t.Context(), map[string]string{"amount": "9999999999999999999999", "usage_limit": "0", "expires_at": "soon"}, nil, nil, lagos); len(errors) != 3 {
		t.Errorf("%v", errors)
	}
	if len(ticked(nil)) != 5 || len(ticked([]string{"crypto_bitcoin"})) != 1 || coins(t.Context(), "") == "" || coins(t.Context(), "crypto_bitcoin,crypto_ripple") != "BTC, XRP" {
		t.Error("the ticks or the names of coins are wrong")
	}
}

func TestKeyRow(t *testing.T) {
	at, past, next := timed{Now: noon, Zone: time.UTC}, noon.Add(-time.Hour), noon.Add(time.Hour)
	for name, c := range map[string]struct {
		key            account.Key
		until, revoked bool
	}{
		"working": {account.Key{}, false, false}, "rolled": {account.Key{ExpiresAt: &next}, true, false},
		"over": {account.Key{ExpiresAt: &past}, false, true}, "revoked": {account.Key{RevokedAt: &past, ExpiresAt: &next}, false, true},
	} {
		row := keyRow(c.key, at)
		if row.Until.IsZero() == c.until || row.Revoked.IsZero() == c.revoked {
			t.Errorf("%s: %+v", name, row)
		}
	}
}

func TestMailStatus(t *testing.T) {
	for state, want := range map[string]string{receipt.Sent: "sent", receipt.Failed: "failed", receipt.Unknown: "unknown", receipt.Kept: "kept", "pending": "queued", "sending": "queued"} {
		if got := mailStatus(state); got != want {
			t.Errorf("%s: %s, want %s", state, got, want)
		}
	}
}

func TestSection(t *testing.T) {
	for path, want := range map[string]string{
		"/dashboard/payments/PAY_1?x=1": "/dashboard/payments", "/dashboard": "/dashboard", "/dashboard?x": "/dashboard",
		"/dashboard/links/3/edit": "/dashboard/links", "/elsewhere": "/dashboard", "//evil.example/dashboard/keys": "/dashboard",
		"/dashboard/nothing": "/dashboard", "": "/dashboard", "/dashboard/../x": "/dashboard",
	} {
		if got := section(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

func TestClean(t *testing.T) {
	if got := clean(" a\x00\xff b "); got != "a b" {
		t.Errorf("%q", got)
	}
	if got := clean(strings.Repeat("é", 300)); len([]rune(got)) != 256 {
		t.Errorf("%d characters", len([]rune(got)))
	}
}

func TestMailProps(t *testing.T) {
	id, kept := int64(7), receipt.Mail{ID: 3, State: receipt.Kept, About: "PAY_1", CreatedAt: noon}
	if props := mailProps(layout.Page{}, kept, false, time.UTC); props.CanResend || props.PaymentReference != "" || props.ID != "3" {
		t.Errorf("%+v", props)
	}
	kept.PaymentID = &id
	if props := mailProps(layout.Page{}, kept, true, time.UTC); !props.CanResend || props.PaymentReference != "PAY_1" {
		t.Errorf("%+v", props)
	}
}
