package webhook_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestEventNames: what happens to a payment has the same id in a database that was
// restored, where it happens again; another payment's, step's or kind's has another, as
// has what is about no payment.
func TestEventNames(t *testing.T) {
	t.Parallel()
	names := func(of string) map[string]string {
		b := setup(t, modelstest.Open(t, false, time.Now))
		found := map[string]string{}
		for what, e := range map[string]webhook.Event{
			"it": {Payment: of, Sequence: 4, Type: webhook.PaymentSuccessful}, "next": {Payment: of, Sequence: 5, Type: webhook.PaymentSuccessful},
			"other kind": {Payment: of, Sequence: 4, Type: webhook.PaymentDeclined}, "no payment's": {Type: webhook.PaymentSuccessful},
		} {
			e.BusinessID, e.Domain = 1, scope.Test
			if err := b.DB.Write(t.Context(), func(tx *models.Tx) error { return b.Emit(tx, e) }); err != nil {
				t.Fatal(err)
			}
			var row models.Event
			if err := b.DB.Read(t.Context()).Order("number DESC, created_at DESC").Where("id NOT IN ?", append(slices.Collect(maps.Values(found)), "")).Take(&row).Error; err != nil {
				t.Fatal(err)
			}
			found[what] = row.ID
		}
		return found
	}
	before, after, another := names("PAY_A"), names("PAY_A"), names("PAY_B")
	for what, id := range before {
		if len(id) != len("evt_")+26 || id == another[what] || (id == after[what]) == (what == "no payment's") {
			t.Errorf("%s: %s, %s after, %s of another", what, id, after[what], another[what])
		}
	}
}
