package delivery_test

import (
	"net/http"
	"strconv"
	"testing"

	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/models"
)

// TestLastFailures: of an active endpoint that fails, the newest delivery that was tried and failed is named, to its own
// business, for as long as it is among the newest hundred and wasn't cancelled.
func TestLastFailures(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		e, _ := b.create(owner, newMerchant(t, status(http.StatusInternalServerError)).URL)
		expect := func(when string, sc scope.Scope, want string) {
			t.Helper()
			found, err := b.deliveries.LastFailures(ctx, sc)
			if err != nil || found[e.ID].EventID != want || want == "" && len(found) > 0 {
				t.Errorf("%s: the last failures are %+v, %v; want the event %q", when, found, err, want)
			}
		}
		change := func(model any, set map[string]any) {
			t.Helper()
			b.must(b.DB.Exec(ctx).Model(model).Where("1 = 1").Updates(set).Error)
		}
		tried := b.emit(1)
		b.step()
		b.emit(2) // waits behind it
		change(&models.Endpoint{}, map[string]any{"failing_since": nil})
		expect("an endpoint that doesn't fail yet", owner, "")
		change(&models.Endpoint{}, map[string]any{"failing_since": b.clock.Now()})
		expect("an endpoint that fails", owner, tried)
		for _, sc := range strangers {
			expect("another business or domain", sc, "")
		}
		change(&models.Endpoint{}, map[string]any{"active": false})
		expect("an endpoint that is off", owner, "")
		change(&models.Endpoint{}, map[string]any{"active": true})

		var row models.Delivery
		b.must(b.DB.Read(ctx).Where("last_error <> ''").Take(&row).Error)
		before := row.Outcome
		change(&row, map[string]any{"outcome": webhook.Cancelled})
		expect("a delivery that was cancelled", owner, "")
		change(&row, map[string]any{"outcome": before})
		expect("the same once more", owner, tried)
		newer := make([]models.Delivery, 99) // with the one that waits
		for i := range newer {
			newer[i] = row
			newer[i].ID, newer[i].LastError, newer[i].CreatedAt = 0, "", b.clock.Now().Add(1)
			newer[i].EventID = "evt_" + strconv.Itoa(i)
		}
		b.must(b.DB.Exec(ctx).CreateInBatches(newer, 50).Error)
		expect("a delivery with a hundred newer ones", owner, "")
	})
}
