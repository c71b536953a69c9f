package delivery_test

import (
	"strings"
	"testing"

	"cointill/core/fault"
	"cointill/core/webhook"
)

// TestRedeliveryIsRefused: a redelivery that no endpoint may receive says why.
func TestRedeliveryIsRefused(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		off, _ := b.create(owner, "https://shop.example/")
		event := b.emit(1)
		b.toggle(off.ID, false)
		only, _, err := b.Create(ctx, owner, webhook.Create{Name: "other type", URL: "https://shop.example/", Active: true,
			Types: []string{webhook.PaymentExpired}})
		b.must(err)
		theirs, _ := b.create(strangers[0], "https://shop.example/")
		for name, c := range map[string]struct{ endpoint, want string }{
			"to all, of which none receives its type": {"", "no_active_webhook"},
			"to one that is off":                      {off.ID, "webhook_inactive"},
			"to one that doesn't exist":               {"whk_none", "not_found"},
			"to one of another business":              {theirs.ID, "not_found"},
		} {
			n, err := b.deliveries.Redeliver(ctx, owner, event, c.endpoint)
			if n != 0 || err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("redelivered %s: %d, %v, want %s", name, n, err, c.want)
			}
		}
		if n, err := b.deliveries.Redeliver(ctx, owner, event, only.ID); n != 1 || err != nil {
			t.Errorf("redelivered to one that is named: %d, %v, want 1", n, err)
		}
		list, _, err := b.deliveries.History(ctx, owner, off.ID, "", "", 0)
		if err != nil || len(list) != 1 || list[0].State != webhook.Cancelled {
			t.Errorf("the one that is off has %+v, %v, want the delivery that was cancelled", list, err)
		}
	})
}

// TestInactiveIsSentNothing: an endpoint that is off gets no test event, and where it is the
// only one no event is sent again.
func TestInactiveIsSentNothing(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		e, _ := b.create(owner, "https://shop.example/")
		b.toggle(e.ID, false)
		if _, err := b.deliveries.SendTest(t.Context(), owner, e.ID); fault.KindOf(err) != fault.Conflict {
			t.Errorf("a test event to an inactive endpoint: %v, want Conflict", err)
		}
		if _, err := b.deliveries.Redeliver(t.Context(), owner, b.emit(1), ""); fault.KindOf(err) != fault.Conflict {
			t.Errorf("redelivered to no endpoint: %v, want Conflict", err)
		}
	})
}
