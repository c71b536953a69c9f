package webhook_test

import (
	"bytes"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/webhook"
	"cointill/models"
	"cointill/models/modelstest"
)

// bundle is a service on a database with a clock that the test moves.
type bundle struct {
	*webhook.Service
	t     *testing.T
	clock *clock.Fake
}

var (
	owner = scope.Scope{BusinessID: 1, Domain: scope.Test, Actor: "user:1", Role: scope.Owner}
	start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// strangers are another business and the other domain of the same one.
var strangers = []scope.Scope{
	{BusinessID: 2, Domain: scope.Test, Actor: "user:2", Role: scope.Owner},
	{BusinessID: 1, Domain: scope.Live, Actor: "user:1", Role: scope.Owner},
}

func setup(t *testing.T, db *models.DB) *bundle {
	t.Helper()
	box, err := secret.NewBox(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	fake := clock.NewFake(start)
	return &bundle{Service: &webhook.Service{DB: db, Clock: fake.Now, Secrets: box}, t: t, clock: fake}
}

// each runs a test with a bundle on every database.
func each(t *testing.T, test func(t *testing.T, b *bundle)) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(t, setup(t, db)) })
}

func (b *bundle) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bundle) create(sc scope.Scope, url string) (webhook.Endpoint, string) {
	b.t.Helper()
	e, plain, err := b.Create(b.t.Context(), sc, webhook.Create{Name: "orders", URL: url, Active: true})
	b.must(err)
	return e, plain
}

// toggle switches an endpoint on or off.
func (b *bundle) toggle(id string, active bool) {
	b.t.Helper()
	_, err := b.Update(b.t.Context(), owner, id, webhook.Change{Active: &active})
	b.must(err)
}

// emit commits an event for every endpoint of a scope.
func (b *bundle) emit(sc scope.Scope, sequence int) {
	b.t.Helper()
	b.must(b.DB.Write(b.t.Context(), func(tx *models.Tx) error {
		return b.Emit(tx, webhook.Event{BusinessID: sc.BusinessID, Domain: sc.Domain, Sequence: sequence,
			Type: webhook.PaymentSuccessful})
	}))
}
