package delivery_test

import (
	"testing"
	"time"

	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/models"
	"cointill/models/modelstest"
)

// webhookTables are the tables that an operation on webhooks may write to.
var webhookTables = []string{"endpoints", "endpoint_pauses", "events", "deliveries",
	"delivery_attempts", "audits", "mails"}

// operation is a call on the service, and how often it wakes the worker when it succeeds.
type operation struct {
	name  string
	call  func() error
	wakes int
}

// TestFailedStatementUndoesOperation: when any statement of an operation fails, the
// operation fails with that error, changes nothing and doesn't wake the worker.
func TestFailedStatementUndoesOperation(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := setup(t, db)
		woken := 0
		b.deliveries.Wake = func() { woken++ }
		for _, o := range b.operations() {
			before, wokenBefore := modelstest.ReadRows(t, db, webhookTables...), woken
			modelstest.FailStatements(t, db, func() error {
				err := o.call()
				if err == nil {
					return nil
				}
				if woken != wokenBefore {
					t.Errorf("%s failed (%v) and woke the worker", o.name, err)
				}
				if after := modelstest.ReadRows(t, db, webhookTables...); after != before {
					t.Errorf("%s failed (%v) and left\n%s\nwant the rows of before\n%s", o.name, err, after, before)
				}
				return err
			})
			if t.Failed() {
				t.Fatalf("%s is the operation that failed", o.name)
			}
			if got := woken - wokenBefore; got != o.wakes {
				t.Errorf("%s woke the worker %d times, want %d", o.name, got, o.wakes)
			}
		}
	})
}

// operations prepares endpoints, events and deliveries, and returns every operation on them.
func (b *bundle) operations() []operation {
	b.t.Helper()
	ctx := b.t.Context()
	e, _ := b.create(owner, "https://example.com/")
	gone, _ := b.create(owner, "https://example.com/gone")
	off, _ := b.create(owner, "https://example.com/off")
	b.clock.Advance(time.Minute)
	b.toggle(off.ID, false)
	b.clock.Advance(time.Minute)
	event := b.emit(1)
	b.clock.Advance(time.Minute)
	test, err := b.deliveries.SendTest(ctx, owner, e.ID)
	b.must(err)
	emitted := webhook.Event{BusinessID: 1, Domain: scope.Test, Type: webhook.PaymentExpired}
	name, yes, no, headers := "renamed", true, false, []webhook.Header{{Name: "X-Key", Value: "secret"}}
	create := func(active bool) func() error {
		return func() error {
			return third(b.Create(ctx, owner, webhook.Create{Name: "new", URL: "https://example.com/", Active: active}))
		}
	}
	update := func(id string, c webhook.Change) func() error {
		return func() error { return second(b.Update(ctx, owner, id, c)) }
	}
	return []operation{
		{"creating an active endpoint", create(true), 0},
		{"creating an inactive endpoint", create(false), 0},
		{"listing", func() error { return third(b.List(ctx, owner, "", 0)) }, 0},
		{"finding", func() error { return second(b.Find(ctx, owner, e.ID)) }, 0},
		{"counting what was missed", func() error { return second(b.deliveries.Missed(ctx, owner, off.ID)) }, 0},
		{"listing what was missed", func() error { return third(b.deliveries.History(ctx, owner, off.ID, webhook.Skipped, "", 0)) }, 0},
		{"changing", update(e.ID, webhook.Change{Name: &name, Headers: &headers}), 0},
		{"rotating the secret", func() error { return third(b.RotateSecret(ctx, owner, e.ID)) }, 0},
		{"sending a test event", func() error { return second(b.deliveries.SendTest(ctx, owner, e.ID)) }, 1},
		{"redelivering to all", func() error { return second(b.deliveries.Redeliver(ctx, owner, event, "")) }, 1},
		{"redelivering to one", func() error { return second(b.deliveries.Redeliver(ctx, owner, event, e.ID)) }, 1},
		{"redelivering a test event", func() error { return second(b.deliveries.Redeliver(ctx, owner, test, "")) }, 1},
		{"emitting", func() error { return b.DB.Write(ctx, func(tx *models.Tx) error { return b.Emit(tx, emitted) }) }, 0},
		{"switching on", update(off.ID, webhook.Change{Active: &yes}), 0},
		{"switching off", update(e.ID, webhook.Change{Active: &no}), 0},
		{"deleting", func() error { return b.Delete(ctx, owner, gone.ID) }, 0},
	}
}
