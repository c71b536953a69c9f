package api_test

import (
	"testing"

	"cointill/models/modelstest"
)

// TestWarningsAreGivenOnce: a conflict runs the transaction of a payment a second time, and its answer is written again.
func TestWarningsAreGivenOnce(t *testing.T) {
	b := quick(t)
	modelstest.ConflictOnce(t, b.db, "update idempotencies")
	request := body("amount", "1", "currency", `"NGN"`, "payment_method", `"crypto_bitcoin"`)
	a := b.expect(b.call("POST", "/v1/payment/initiate", request, "Idempotency-Key", "k"), 201, "")
	if len(a.Body.Warnings) != 1 {
		t.Errorf("got the warnings %q, want one", a.Body.Warnings)
	}
}
