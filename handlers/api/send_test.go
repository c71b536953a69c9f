package api_test

import (
	"strings"
	"testing"
	"time"
)

const payoutBody = `{"kind":"payout","payment_method":"crypto_dogecoin","amount":"20","address":"mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"}`

// sent is a send as the interface answers it.
type sent struct {
	ID, Kind, Status, Reason, Amount, Hash, Address string
	PaymentReference                                *string `json:"payment_reference"`
	ClaimURL                                        *string `json:"claim_url"`
	Needed                                          int     `json:"approvals_needed"`
}

// payout asks for a payout, and lets the sandbox approve it.
func (b *bench) payout(approved bool) (id string) {
	b.Helper()
	var made sent
	b.into(b.expect(b.call("POST", "/v1/sends", payoutBody), 201, ""), &made)
	if approved {
		b.expect(b.call("POST", "/v1/sandbox/sends/"+made.ID+"/approve", ""), 200, "")
	}
	return made.ID
}

// TestRefundByTheInterface refunds part of a payment from the request to the final confirmation,
// and reads it back where contract section 7 shows it.
func TestRefundByTheInterface(t *testing.T) {
	each(t, func(b *bench) {
		s := b.initiate("payment_method", `"crypto_dogecoin"`)
		b.expect(b.call("POST", "/v1/sandbox/payments/"+s.Reference+"/simulate", `{"scenario":"exact"}`), 200, "")
		b.pass(30 * time.Second)
		asked := b.expect(b.call("POST", "/v1/sends", `{"kind":"refund","payment_reference":"`+s.BusinessReference+
			`","amount":"1.5","address":"mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn","note":"wrong size"}`), 201, "")
		var made sent
		b.into(asked, &made)
		if made.Status != "awaiting_approval" || made.Needed != 1 || made.Amount != "1.50000000" ||
			made.PaymentReference == nil || *made.PaymentReference != s.Reference {
			b.Fatalf("the refund is %s, want it to wait for one approval of 1.5 DOGE of %s", asked.Raw, s.Reference)
		}
		b.expect(b.call("POST", "/v1/sandbox/sends/"+made.ID+"/approve", ""), 200, "")
		b.expect(b.call("POST", "/v1/sandbox/sends/"+made.ID+"/simulate", `{"scenario":"exact"}`), 200, "")
		b.pass(30 * time.Second)
		b.into(b.expect(b.call("GET", "/v1/sends/"+made.ID, ""), 200, ""), &made)
		if made.Status != "successful" || made.Hash == "" {
			b.Errorf("the refund is %+v at the end, want it successful with its hash", made)
		}
		verified := b.expect(b.call("GET", "/v1/payment/verify/"+s.Reference, ""), 200, "").Raw
		for _, part := range []string{`"refunded_amount_in_crypto":"1.50000000"`, `"id":"` + made.ID + `"`,
			`"hash":"` + made.Hash + `"`} {
			if !strings.Contains(verified, part) {
				b.Errorf("the payment's record lacks %s: %s", part, verified)
			}
		}
		if strings.Contains(verified, "wrong size") || strings.Contains(verified, made.Address) {
			b.Errorf("the payment's record holds the note or the destination of its refund: %s", verified)
		}
		listed := b.expect(b.call("GET", "/v1/sends?status=successful&payment="+s.BusinessReference, ""), 200, "").Raw
		if !strings.Contains(listed, made.ID) {
			b.Errorf("the list of successful sends of the payment lacks %s: %s", made.ID, listed)
		}
	})
}

// TestSendRefusals checks what the interface refuses, with every field at once and nothing stored.
func TestSendRefusals(t *testing.T) {
	b := quick(t)
	for _, c := range []struct {
		body   string
		status int
		fields string // that are named, with blanks between
	}{
		{`{}`, 422, "kind"},
		{`{"kind":"payout"}`, 422, "address amount payment_method"},
		{`{"kind":"refund"}`, 422, "payment_reference"},
		{`{"kind":"payout","payment_method":"crypto_bitcoin","amount":"1","fiat_amount":"1","address":"x"}`, 422, "currency fiat_amount rate"},
		{`{"kind":"payout","payment_method":"crypto_bitcoin","amount":"1","address":"mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfX"}`, 422, "address"},
		{`{"kind":"payout","payment_method":"crypto_bitcoin","amount":"0.000005","address":"bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"}`, 422, "amount"},
		{`{"kind":"payout","payment_method":"crypto_ethereum","amount":"1","address":"0x52908400098527886e0F7030069857D2E4169EE7"}`, 422, "address"},
		{`{"kind":"payout","payment_method":"crypto_ethereum","amount":"1","address":"0x52908400098527886E0F7030069857D2E4169EE7","tag":1}`, 422, "tag"},
		{`{"kind":"payout","payment_method":"crypto_dogecoin","amount":"1e3","address":"mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"}`, 422, "amount"},
		{`{"kind":"refund","payment_reference":"order-404"}`, 404, ""},
		{`{"kind":"payout","payment_method":"crypto_dogecoin","amount":20,"address":"mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"}`, 422, "amount"},
	} {
		a := b.call("POST", "/v1/sends", c.body)
		if a.Status != c.status {
			t.Errorf("%s: status %d, want %d: %s", c.body, a.Status, c.status, a.Raw)
		}
		for field := range strings.FieldsSeq(c.fields) {
			if !strings.Contains(a.Raw, `"`+field+`":[`) {
				t.Errorf("%s: no sentence for %s: %s", c.body, field, a.Raw)
			}
		}
	}
	if listed := b.call("GET", "/v1/sends", "").Raw; !strings.Contains(listed, `"data":[]`) {
		t.Errorf("refused requests stored sends: %s", listed)
	}
	if a := b.call("POST", "/v1/sends", payoutBody, "Authorization", "Bearer "+b.liveKey); a.Status != 403 {
		t.Errorf("a live key asks for a payout with status %d, want 403: %s", a.Status, a.Raw)
	}
}
