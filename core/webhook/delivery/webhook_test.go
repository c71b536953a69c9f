package delivery_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/outbox"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/core/webhook/diagnose"
	"cointill/core/webhook/guard"
	"cointill/models"
	"cointill/models/modelstest"
)

// bundle is a service on a database with a clock that the test moves.
type bundle struct {
	*webhook.Service
	deliveries *delivery.Service
	resends    *delivery.Resends
	signatures *diagnose.Service
	sender     *delivery.Sender
	t          *testing.T
	clock      *clock.Fake
	worker     *outbox.Worker[models.Delivery]
}

var (
	owner = scope.Scope{BusinessID: 1, Domain: scope.Test, Actor: "user:1", Role: scope.Owner}
	start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

func setup(t *testing.T, db *models.DB) *bundle {
	t.Helper()
	box, err := secret.NewBox(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	fake := clock.NewFake(start)
	s := &webhook.Service{DB: db, Clock: fake.Now, Secrets: box}
	sender := &delivery.Sender{DB: db, Clock: fake.Now, Endpoints: s, Version: "1.2.3", Clients: map[scope.Domain]*http.Client{
		scope.Test: guard.NewClient(guard.Config{Domain: scope.Test, AllowLoopback: true}),
		scope.Live: guard.NewClient(guard.Config{Domain: scope.Live, AllowLoopback: true, AllowPrivate: true}),
	}}
	quiet := outbox.Options{Log: slog.New(slog.DiscardHandler)}
	return &bundle{Service: s, deliveries: &delivery.Service{DB: db, Clock: fake.Now, Events: s},
		resends:    &delivery.Resends{DB: db, Clock: fake.Now},
		signatures: &diagnose.Service{DB: db, Clock: fake.Now, Endpoints: s}, sender: sender, t: t, clock: fake, worker: sender.Worker(quiet)}
}

// each runs a test with a bundle on every database.
func each(t *testing.T, test func(t *testing.T, b *bundle)) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(t, setup(t, db)) })
}

func (b *bundle) create(sc scope.Scope, url string) (webhook.Endpoint, string) {
	b.t.Helper()
	e, plain, err := b.Create(b.t.Context(), sc, webhook.Create{Name: "orders", URL: url, Active: true})
	if err != nil {
		b.t.Fatal(err)
	}
	return e, plain
}

// emit commits an event of payment 9 and returns its id.
func (b *bundle) emit(sequence int) string {
	b.t.Helper()
	payment := int64(9)
	err := b.DB.Write(b.t.Context(), func(tx *models.Tx) error {
		return b.Emit(tx, webhook.Event{BusinessID: 1, Domain: scope.Test, PaymentID: &payment, Sequence: sequence,
			Type: webhook.PaymentSuccessful, At: b.clock.Now(), Data: map[string]string{"reference": "PAY_1"}})
	})
	if err != nil {
		b.t.Fatal(err)
	}
	list, _, err := b.Events(b.t.Context(), owner, webhook.Filter{PaymentID: &payment}, "", 100)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, e := range list {
		if e.Sequence == sequence {
			return e.ID
		}
	}
	b.t.Fatal("the event is not listed")
	return ""
}

func (b *bundle) step() int {
	b.t.Helper()
	n, err := b.worker.Step(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

// attempts are those of the single delivery of an endpoint, oldest first.
func (b *bundle) attempts(id string) []delivery.Attempt {
	b.t.Helper()
	_, attempts, err := b.deliveries.DeliveryOf(b.t.Context(), owner, id, b.only(id).EventID)
	if err != nil {
		b.t.Fatal(err)
	}
	return attempts
}

// only is the single delivery of an endpoint.
func (b *bundle) only(id string) delivery.Delivery {
	b.t.Helper()
	list, _, err := b.deliveries.History(b.t.Context(), owner, id, "", "", 0)
	if err != nil {
		b.t.Fatal(err)
	}
	list = slices.DeleteFunc(list, func(d delivery.Delivery) bool { return d.State == webhook.Skipped })
	if len(list) != 1 {
		b.t.Fatalf("%d deliveries, want 1", len(list))
	}
	return list[0]
}

// received is one request as the merchant's server saw it.
type received struct {
	header http.Header
	body   string
}

// merchant is a merchant's server that answers as it is told.
type merchant struct {
	*httptest.Server
	mu      sync.Mutex
	got     []received
	handler http.HandlerFunc
}

// newMerchant starts a server; a nil answer is 204.
func newMerchant(t *testing.T, answer http.HandlerFunc) *merchant {
	m := &merchant{handler: answer}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m.mu.Lock()
		m.got = append(m.got, received{header: r.Header.Clone(), body: string(body)})
		answer := m.handler
		m.mu.Unlock()
		if answer == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		answer(w, r)
	}))
	t.Cleanup(m.Close)
	return m
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func (m *merchant) answer(h http.HandlerFunc) { m.mu.Lock(); defer m.mu.Unlock(); m.handler = h }

func (m *merchant) requests() []received {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]received(nil), m.got...)
}

func mustContain(t *testing.T, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%q does not contain %q", text, part)
	}
}
