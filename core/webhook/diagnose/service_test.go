package diagnose_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/fault"
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

// bundle is the services on a database with a clock that the test moves.
type bundle struct {
	*webhook.Service
	signatures *diagnose.Service
	t          *testing.T
	clock      *clock.Fake
	worker     *outbox.Worker[models.Delivery]
}

var (
	owner = scope.Scope{BusinessID: 1, Domain: scope.Test, Actor: "user:1", Role: scope.Owner}
	start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// strangers are another business and the other domain of the same one.
var strangers = []scope.Scope{
	{BusinessID: 2, Domain: scope.Test, Actor: "user:2", Role: scope.Owner}, {BusinessID: 1, Domain: scope.Live, Actor: "user:1", Role: scope.Owner},
}

// each runs a test with a bundle on every database.
func each(t *testing.T, test func(t *testing.T, b *bundle)) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		box, err := secret.NewBox(bytes.Repeat([]byte{7}, 32))
		if err != nil {
			t.Fatal(err)
		}
		fake := clock.NewFake(start)
		s := &webhook.Service{DB: db, Clock: fake.Now, Secrets: box}
		sender := &delivery.Sender{DB: db, Clock: fake.Now, Endpoints: s, Clients: map[scope.Domain]*http.Client{
			scope.Test: guard.NewClient(guard.Config{Domain: scope.Test, AllowLoopback: true})}}
		test(t, &bundle{Service: s, signatures: &diagnose.Service{DB: db, Clock: fake.Now, Endpoints: s}, t: t,
			clock: fake, worker: sender.Worker(outbox.Options{Log: slog.New(slog.DiscardHandler)})})
	})
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

// emit commits an event of a scope and returns its id.
func (b *bundle) emit(sc scope.Scope) string {
	b.t.Helper()
	b.must(b.DB.Write(b.t.Context(), func(tx *models.Tx) error {
		return b.Emit(tx, webhook.Event{BusinessID: sc.BusinessID, Domain: sc.Domain, Type: webhook.PaymentSuccessful,
			Data: map[string]string{"reference": "PAY_1", "status": "successful"}})
	}))
	list, _, err := b.Events(b.t.Context(), sc, webhook.Filter{}, "", 1)
	if err != nil || len(list) != 1 {
		b.t.Fatalf("events of %+v: %v, %v, want one", sc, list, err)
	}
	return list[0].ID
}

// newShop starts a merchant's server and returns its address and the deliveries that it receives.
func newShop(t *testing.T) (string, <-chan diagnose.Pasted) {
	requests := make(chan diagnose.Pasted, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests <- diagnose.Pasted{ID: r.Header.Get("webhook-id"), Timestamp: r.Header.Get("webhook-timestamp"),
			Signature: r.Header.Get("webhook-signature"), Body: string(body)}
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

// TestEventOfOthersIsUnknown: the signature checker says nothing of an event of
// another business or domain, not even that it is there.
func TestEventOfOthersIsUnknown(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		e, secret := b.create(owner, "https://example.com/")
		stamp := fmt.Sprint(b.clock.Now().Unix())
		ask := func(id string) diagnose.Verdict {
			t.Helper()
			v, err := b.signatures.ExplainSignature(t.Context(), owner, e.ID, diagnose.Pasted{ID: id, Timestamp: stamp, Signature: signed(secret, "x"), Body: "{}"})
			b.must(err)
			return v
		}
		if v := ask(b.emit(owner)); v.Reason != diagnose.UnknownSignature || v.Diff == nil {
			t.Errorf("of an event of one's own: %+v", v)
		}
		for _, sc := range strangers {
			if v := ask(b.emit(sc)); v.Reason != diagnose.UnknownEvent || v.Diff != nil {
				t.Errorf("of an event of %+v: %+v", sc, v)
			}
		}
	})
}

// TestExplainSignature takes real deliveries: before and after a rotation, of
// another endpoint, and of another business.
func TestExplainSignature(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx := t.Context()
		shop, requests := newShop(t)
		e, _ := b.create(owner, shop)
		other, _ := b.create(owner, shop)
		id := b.emit(owner)
		if _, err := b.worker.Step(ctx); err != nil {
			t.Fatal(err)
		}
		pasted := diagnose.Pasted{}
		for range 2 {
			p := <-requests
			if v, err := b.signatures.ExplainSignature(ctx, owner, e.ID, p); err != nil {
				t.Fatal(err)
			} else if v.Reason == diagnose.Verifies {
				pasted = p
			}
		}
		ask := func(endpoint, reason string, p diagnose.Pasted) {
			t.Helper()
			v, err := b.signatures.ExplainSignature(ctx, owner, endpoint, p)
			if err != nil || v.Reason != reason {
				t.Errorf("%+v %v, want %s", v, err, reason)
			}
		}
		ask(e.ID, diagnose.Verifies, pasted)
		ask(other.ID, diagnose.OtherEndpoint, pasted)
		moved := pasted
		moved.Timestamp = fmt.Sprint(b.clock.Now().Unix() + 1)
		ask(e.ID, diagnose.TimestampChanged, moved)
		indented := pasted
		indented.Body = strings.ReplaceAll(indented.Body, ",", ", ")
		ask(e.ID, diagnose.BodyRewritten, indented)
		if _, _, err := b.RotateSecret(ctx, owner, e.ID); err != nil {
			t.Fatal(err)
		}
		ask(e.ID, diagnose.Verifies, pasted)
		b.clock.Advance(webhook.Overlap + time.Minute)
		ask(e.ID, diagnose.FormerSecret, pasted)
		if pasted.ID != id {
			t.Errorf("%q", pasted.ID)
		}
		pasted.Body = strings.Repeat("a", diagnose.MaxPasted+1)
		if _, err := b.signatures.ExplainSignature(ctx, owner, e.ID, pasted); fault.KindOf(err) != fault.Invalid {
			t.Error(err)
		}
		stranger := scope.Scope{BusinessID: 2, Domain: scope.Test, Actor: "user:2", Role: scope.Owner}
		if _, err := b.signatures.ExplainSignature(ctx, stranger, e.ID, diagnose.Pasted{}); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
		if _, err := b.signatures.ExplainSignature(ctx, scope.Scope{BusinessID: 1, Domain: scope.Test, Role: scope.Finance}, e.ID, diagnose.Pasted{}); fault.KindOf(err) != fault.Forbidden {
			t.Error(err)
		}
	})
}
