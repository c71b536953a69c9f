package delivery_test

import (
	"errors"
	"testing"

	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/models"
)

// TestNothingCrosses (AP-1, AP-2) asks for everything of one business from another, and
// from the other domain.
func TestNothingCrosses(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		shop := newMerchant(t, nil)
		e, _ := b.create(owner, shop.URL)
		event := b.emit(1)
		b.step()
		name := "taken over"
		for _, sc := range []scope.Scope{
			{BusinessID: 2, Domain: scope.Test, Role: scope.Owner}, {BusinessID: 1, Domain: scope.Live, Role: scope.Owner},
		} {
			for what, err := range map[string]error{
				"find":       second(b.Find(ctx, sc, e.ID)),
				"update":     second(b.Update(ctx, sc, e.ID, webhook.Change{Name: &name})),
				"delete":     b.Delete(ctx, sc, e.ID),
				"rotate":     third(b.RotateSecret(ctx, sc, e.ID)),
				"test":       second(b.deliveries.SendTest(ctx, sc, e.ID)),
				"deliveries": third(b.deliveries.History(ctx, sc, e.ID, "", "", 0)),
				"delivery":   third(b.deliveries.DeliveryOf(ctx, sc, e.ID, event)),
				"event":      second(b.Event(ctx, sc, event)),
				"of event":   second(b.deliveries.DeliveriesOfEvent(ctx, sc, event)),
				"redeliver":  second(b.deliveries.Redeliver(ctx, sc, event, "")),
			} {
				if fault.KindOf(err) != fault.NotFound {
					t.Errorf("%s from %+v: %v", what, sc, err)
				}
			}
			if list, _, err := b.List(ctx, sc, "", 0); err != nil || len(list) != 0 {
				t.Error("list", list, err)
			}
			if list, _, err := b.Events(ctx, sc, webhook.Filter{}, "", 0); err != nil || len(list) != 0 {
				t.Error("events", list, err)
			}
			if list, err := b.deliveries.DeliveriesOfPayment(ctx, sc, 9); err != nil || len(list) != 0 {
				t.Error("deliveries of the payment", list, err)
			}
		}
		if err := second(b.Find(ctx, scope.Scope{Role: scope.Owner}, e.ID)); !errors.Is(err, scope.ErrZero) {
			t.Error("a zero scope", err)
		}
		// An event of the other domain or business comes to nobody here.
		for _, sc := range []scope.Scope{{BusinessID: 2, Domain: scope.Test}, {BusinessID: 1, Domain: scope.Live}} {
			err := b.DB.Write(ctx, func(tx *models.Tx) error {
				return b.Emit(tx, webhook.Event{BusinessID: sc.BusinessID, Domain: sc.Domain, Type: webhook.PaymentExpired})
			})
			if err != nil || b.step() != 0 {
				t.Error("an event crossed", err)
			}
		}
	})
}

func second[T any](_ T, err error) error      { return err }
func third[T, U any](_ T, _ U, e error) error { return e }

// TestRoles asks as every role, in both domains.
func TestRoles(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		for _, domain := range []scope.Domain{scope.Test, scope.Live} {
			boss := scope.Scope{BusinessID: 1, Domain: domain, Role: scope.Owner}
			e, _ := b.create(boss, "https://example.com/")
			for role, want := range map[scope.Role][2]bool{ // may see, may manage
				scope.Owner: {true, true}, scope.Admin: {true, true}, scope.API: {true, true}, scope.Finance: {false, false},
				scope.Developer: {true, domain == scope.Test}, "": {false, false},
			} {
				sc := scope.Scope{BusinessID: 1, Domain: domain, Role: role}
				see := map[string]error{
					"list": third(b.List(ctx, sc, "", 0)), "find": second(b.Find(ctx, sc, e.ID)),
					"deliveries": third(b.deliveries.History(ctx, sc, e.ID, "", "", 0)), "events": third(b.Events(ctx, sc, webhook.Filter{}, "", 0)),
					"missed": second(b.deliveries.Missed(ctx, sc, e.ID)),
				}
				for what, err := range see {
					if got := fault.KindOf(err) != fault.Forbidden; got != want[0] {
						t.Errorf("%s as %q in %s: %v", what, role, domain, err)
					}
				}
				manage := map[string]error{
					"update": second(b.Update(ctx, sc, e.ID, webhook.Change{})), "rotate": third(b.RotateSecret(ctx, sc, e.ID)),
					"test": second(b.deliveries.SendTest(ctx, sc, e.ID)), "redeliver": second(b.deliveries.Redeliver(ctx, sc, "evt_none", "")),
					"delete": b.Delete(ctx, sc, "whk_none"), "create": third(b.Create(ctx, sc, webhook.Create{})),
				}
				for what, err := range manage {
					if got := fault.KindOf(err) != fault.Forbidden; got != want[1] {
						t.Errorf("%s as %q in %s: %v", what, role, domain, err)
					}
				}
			}
		}
	})
}
