package webhook_test

import (
	"testing"
	"time"

	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestEventNames: what happens to a payment has the same id in a database that was
// restored, where it happens again, whatever number it has there; the next of its kind,
// another kind, what tells of other transfers and another payment's have others, as has
// what is about no payment.
func TestEventNames(t *testing.T) {
	t.Parallel()
	names := func(of string, from int) (found []string) {
		b := setup(t, modelstest.Open(t, false, time.Now))
		for i, e := range []webhook.Event{
			{Payment: of, Type: webhook.PaymentProcessing}, {Payment: of, Type: webhook.PaymentProcessing}, {Payment: of, Type: webhook.PaymentSuccessful},
			{Payment: of, Type: webhook.PaymentDetected, About: "aa"}, {Payment: of, Type: webhook.PaymentDetected, About: "bb"}, {Type: webhook.PaymentSuccessful},
		} {
			e.BusinessID, e.Domain, e.Sequence = 1, scope.Test, from+i
			if err := b.DB.Write(t.Context(), func(tx *models.Tx) error { return b.Emit(tx, e) }); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.DB.Read(t.Context()).Model(&models.Event{}).Order("sequence").Pluck("id", &found).Error; err != nil {
			t.Fatal(err)
		}
		return found
	}
	before, after, another := names("PAY_A", 1), names("PAY_A", 7), names("PAY_B", 1)
	all := map[string]bool{}
	for i, id := range before {
		all[id], all[another[i]] = true, true
		if nobodys := i == len(before)-1; len(id) != len("evt_")+26 || (id == after[i]) == nobodys {
			t.Errorf("%d: %s, and %s after", i, id, after[i])
		}
	}
	if len(all) != 2*len(before) {
		t.Errorf("some have the same id: %q, %q", before, another)
	}
}
