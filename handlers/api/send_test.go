package api_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/account/apikey"
	"cointill/core/scope"
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

// TestUnmatchedTransferIsRefundedByItsID refunds a payment's surplus by the id that the payment's
// record gives it, and no other transfer.
func TestUnmatchedTransferIsRefundedByItsID(t *testing.T) {
	each(t, func(b *bench) {
		s := b.initiate("payment_method", `"crypto_dogecoin"`)
		b.expect(b.call("POST", "/v1/sandbox/payments/"+s.Reference+"/simulate", `{"scenario":"surplus"}`), 200, "")
		b.pass(30 * time.Second)
		var paid struct {
			Transfers []struct {
				Surplus     bool
				Amount      string
				UnmatchedID string `json:"unmatched_id"`
			}
		}
		b.into(b.expect(b.call("GET", "/v1/payment/verify/"+s.Reference, ""), 200, ""), &paid)
		id, amount := "", ""
		for _, t := range paid.Transfers {
			if t.Surplus != (t.UnmatchedID != "") {
				b.Errorf("a transfer with surplus %v has the unmatched_id %q, want an id for surplus only", t.Surplus, t.UnmatchedID)
			}
			if t.Surplus {
				id, amount = t.UnmatchedID, t.Amount
			}
		}
		var made sent
		b.into(b.expect(b.call("POST", "/v1/sends", `{"kind":"refund","unmatched_id":"`+id+
			`","address":"mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"}`), 201, ""), &made)
		if made.Amount != amount || made.PaymentReference == nil || *made.PaymentReference != s.Reference {
			b.Errorf("the refund of %s is %+v, want all of its %s DOGE, and the payment %s", id, made, amount, s.Reference)
		}
		b.expect(b.call("POST", "/v1/sends", `{"kind":"refund","unmatched_id":"`+id+
			`","address":"mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"}`), 409, "nothing_to_refund")
		_, other, _ := b.merchant("Another Shop", "other@books.example")
		b.expect(b.callAs(other, "POST", "/v1/sends", `{"kind":"refund","unmatched_id":"`+id+`"}`), 404, "not_found")
	})
}

// TestPayoutGoesToTheNetworkOfItsCoin takes the network of the coin in the key's domain, and no other.
func TestPayoutGoesToTheNetworkOfItsCoin(t *testing.T) {
	b := quick(t)
	named := strings.TrimSuffix(payoutBody, "}") + `,"network":"%s"}`
	made := b.expect(b.call("POST", "/v1/sends", fmt.Sprintf(named, "sandbox-dogecoin")), 201, "").Raw
	if !strings.Contains(made, `"network":"sandbox-dogecoin"`) {
		t.Errorf("a payout on sandbox-dogecoin is answered with %s", made)
	}
	for _, network := range []string{"sandbox-bitcoin", "dogecoin-mainnet", "tron"} {
		refused := b.expect(b.call("POST", "/v1/sends", fmt.Sprintf(named, network)), 422, "validation_failed")
		if got := refused.Body.Errors["network"]; len(got) != 1 || !strings.Contains(got[0], ": dogecoin.") {
			t.Errorf("a payout of DOGE on %s is refused with %v, want a sentence that names : dogecoin.", network, got)
		}
	}
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
		{`{"kind":"payout","payment_method":"crypto_bitcoin","amount":"1","fiat_amount":"1","address":"x"}`, 422, "address currency fiat_amount rate"},
		{`{"kind":"payout","payment_method":"crypto_bitcoin","amount":"1","address":"mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfX"}`, 422, "address"},
		{`{"kind":"payout","payment_method":"crypto_bitcoin","amount":"0.000005","address":"bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"}`, 422, "amount"},
		{`{"kind":"payout","payment_method":"crypto_ethereum","amount":"1","address":"0x52908400098527886e0F7030069857D2E4169EE7"}`, 422, "address"},
		{`{"kind":"payout","payment_method":"crypto_ethereum","amount":"1","address":"0x52908400098527886E0F7030069857D2E4169EE7","tag":1}`, 422, "tag"},
		{`{"kind":"payout","payment_method":"crypto_dogecoin","amount":"1e3","address":"mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"}`, 422, "amount"},
		{`{"kind":"refund","payment_reference":"order-404"}`, 404, ""},
		{`{"kind":"refund","payment_reference":"order-404","amount":"x","note":"` + strings.Repeat("n", 301) + `"}`, 422, "note"},
		{`{"kind":"refund","payment_reference":"order-1","unmatched_id":"UNM_1"}`, 422, "unmatched_id"},
		{`{"kind":"refund","unmatched_id":"UNM_404"}`, 404, ""},
		{`{"kind":"refund","unmatched_id":"UNM_01","network":"tron"}`, 422, "network unmatched_id"},
		{`{"kind":"refund","unmatched_id":7}`, 422, "unmatched_id"},
		{`{"kind":"payout","payment_reference":"order-1","unmatched_id":"UNM_1"}`, 422, "address amount payment_method payment_reference unmatched_id"},
		{`{"kind":"payout","payment_method":"crypto_ripple","network":"tron","amount":"x","address":"x","tag":4294967296,"business_reference":"SND_1"}`, 422,
			"address amount business_reference network tag"},
		{`{"kind":"payout","payment_method":"crypto_ripple","network":"tron","amount":7,"address":"x"}`, 422, "address amount network"},
		{`{"kind":"payout","payment_method":"crypto_dogecoin","amount":20,"address":"mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"}`, 422, "amount"},
	} {
		a := b.call("POST", "/v1/sends", c.body)
		if a.Status != c.status {
			t.Errorf("%s: status %d, want %d: %s", c.body, a.Status, c.status, a.Raw)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(a.Body.Errors)), " "); got != c.fields {
			t.Errorf("%s: sentences for the fields %q, want %q: %s", c.body, got, c.fields, a.Raw)
		}
	}
	if listed := b.call("GET", "/v1/sends", "").Raw; !strings.Contains(listed, `"data":[]`) {
		t.Errorf("refused requests stored sends: %s", listed)
	}
	b.expect(b.callAs(b.liveKey, "POST", "/v1/sends", payoutBody), 403, "permission_missing")
	live := scope.Scope{BusinessID: b.business.ID, Domain: scope.Live, Actor: "user:1", Role: scope.Owner}
	_, key, err := b.keys.CreateRestrictedKey(t.Context(), live, "sends", []apikey.Permission{apikey.WriteSends})
	b.must(err)
	b.expect(b.callAs(key, "POST", "/v1/sends", payoutBody), 409, "send_unavailable")
}
