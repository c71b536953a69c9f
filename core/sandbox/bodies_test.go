package sandbox_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/sandbox"
	"cointill/core/secret"
	"cointill/core/send"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/models"
	"cointill/models/modelstest"
)

var write = flag.Bool("write", false, "write docs/event-bodies.md from the events that the sandbox makes")

// shown is an event of the document, and how it comes about.
type shown struct {
	kind   string
	coin   money.Coin
	reason payment.Reason
	about  string
	play   func(b *bench, reference string)
}

// plays lets scenarios happen one after the other, with time for each to end.
func plays(scenarios ...string) func(*bench, string) {
	return func(b *bench, reference string) {
		for _, each := range scenarios {
			b.simulate(reference, each)
			b.pass(30 * time.Second)
		}
	}
}

// waits moves the payment's clock.
func waits(seconds int64) func(*bench, string) {
	return func(b *bench, reference string) {
		_, err := b.sandbox.Advance(b.Context(), b.scope, reference, seconds)
		b.must(err)
		b.pass(time.Second)
	}
}

var bodies = []shown{
	{webhook.PaymentInitiated, money.BTC, "", "The customer has opened the page.", plays(sandbox.Exact)},
	{webhook.PaymentDetected, money.BTC, "", "The transfer is in the mempool.", plays(sandbox.Exact)},
	{webhook.PaymentProcessing, money.BTC, "", "The transfer has its first confirmation.", plays(sandbox.Exact)},
	{webhook.PaymentSuccessful, money.BTC, "", "The exact amount is final.", plays(sandbox.Exact)},
	{webhook.PaymentDeclined, money.USDT, payment.Underpaid, "90 % of the amount came.", plays(sandbox.Underpay)},
	{webhook.PaymentFailed, money.DOGE, payment.Replaced, "Another transaction spent the money elsewhere.", plays(sandbox.DoubleSpend)},
	{webhook.PaymentAbandoned, money.XRP, "", "24 hours passed and nothing came.", func(b *bench, reference string) {
		_, err := b.payments.OpenByReference(b.Context(), b.scope, reference)
		b.must(err)
		waits(86_400)(b, reference)
	}},
	{webhook.PaymentExpired, money.ETH, "", "7 minutes passed and nobody opened the page.", waits(480)},
	{webhook.PaymentReversed, money.BTC, payment.ReversedReason, "A reorganisation took back what had been final.", plays(sandbox.Exact, sandbox.Reorg)},
	{webhook.PaymentRestored, money.BTC, "", "The money is on the chain again, and final.", plays(sandbox.Exact, sandbox.Reorg, sandbox.Reorg)},
	{webhook.PaymentUnexpectedTransfer, money.XRP, "", "The customer paid a second time.", plays(sandbox.Exact, sandbox.Exact)},
}

// sendBodies are the events of sends.
var sendBodies = []struct {
	kind  string
	coin  money.Coin
	about string
	play  func(b *bench, reference string)
}{
	{webhook.SendProcessing, money.BTC, "The wallet's transaction was seen on the network.", signs(sandbox.Exact, send.Processing)},
	{webhook.SendProcessed, money.USDT, "It has its first confirmation.", signs(sandbox.Exact, send.Successful)},
	{webhook.SendSuccessful, money.XRP, "It is final.", signs(sandbox.Exact, send.Successful)},
	{webhook.SendFailed, money.ETH, "The network recorded the transaction as failed.", signs(sandbox.Reverted, send.Failed)},
	{webhook.SendCancelled, money.DOGE, "A person withdrew it.", func(b *bench, reference string) {
		_, err := b.sends.Cancel(b.Context(), b.scope, reference)
		b.must(err)
	}},
}

// signs has the sandbox wallet sign a send, and waits until it is in a state.
func signs(scenario string, state send.State) func(b *bench, reference string) {
	return func(b *bench, reference string) {
		_, err := b.sandbox.SimulateSend(b.Context(), b.scope, reference, scenario)
		b.must(err)
		b.passUntil(func() bool {
			v, err := b.sends.Find(b.Context(), b.scope, reference)
			b.must(err)
			return v.State() == state
		})
	}
}

// TestEventBodies lets each event happen on a fake clock: docs/event-bodies.md
// holds the bodies that were written.
func TestEventBodies(t *testing.T) {
	t.Parallel()
	b := newBench(t, modelstest.Open(t, false, time.Now))
	var page strings.Builder
	page.WriteString(bodiesHead)
	var kinds []string
	for _, one := range bodies {
		started, err := b.payments.Initiate(t.Context(), b.scope, payment.Request{Currency: "NGN", Amount: 25_000, FirstName: "Ngozi", LastName: "Okafor",
			Email: "ngozi@example.com", Method: string(one.coin.Info().Method), BusinessReference: fmt.Sprint("order-", 1001+len(kinds)), Metadata: []byte(`{"cart":[17,42]}`)})
		b.must(err)
		one.play(b, started.Reference)
		var row models.Event
		b.must(b.db.Read(t.Context()).Where("payment_id = ? AND type = ?", b.view(started.Reference).Payment.ID, one.kind).Order("sequence DESC").Take(&row).Error)
		var told struct {
			Data struct{ Reason payment.Reason }
		}
		b.must(json.Unmarshal([]byte(row.Body), &told))
		if told.Data.Reason != one.reason {
			t.Errorf("%s comes with %q", one.kind, told.Data.Reason)
		}
		section(b, &page, one.kind, one.about, row.Body)
		kinds = append(kinds, one.kind)
	}
	for i, one := range sendBodies {
		reference := b.refund(one.coin, int64(100+i))
		one.play(b, reference)
		v, err := b.sends.Find(t.Context(), b.scope, reference)
		b.must(err)
		var row models.Event
		b.must(b.db.Read(t.Context()).Where("send_id = ? AND type = ?", v.Send.ID, one.kind).Take(&row).Error)
		section(b, &page, one.kind, one.about, row.Body)
		kinds = append(kinds, one.kind)
	}
	section(b, &page, webhook.WebhookTest, "Somebody asked for a test.", testBody(b))
	kinds = append(kinds, webhook.WebhookTest)
	for _, kind := range webhook.Types() {
		if !slices.Contains(kinds, kind) {
			t.Errorf("no body of %s", kind)
		}
	}
	path := filepath.Join("..", "..", "docs", "event-bodies.md")
	if *write {
		b.must(os.WriteFile(path, []byte(page.String()), 0o644))
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != page.String() {
		t.Errorf("docs/event-bodies.md doesn't hold the bodies that are sent (%v): go test ./core/sandbox -run EventBodies -write writes it", err)
	}
}

const bodiesHead = "# Event bodies\n\n" +
	"One body of every [type of event](events.md), as a test let it happen in the sandbox. They are sent without the line breaks and spaces; ids and hashes are " +
	"others each time. `reason` tells why: [states](states.md#reasons) lists the codes.\n\n" +
	"`cointill trigger TYPE` makes any of them happen: [webhooks](webhooks.md#try-it-on-your-machine).\n"

// section writes one event.
func section(b *bench, page *strings.Builder, kind, about, body string) {
	b.Helper()
	var pretty bytes.Buffer
	b.must(json.Indent(&pretty, []byte(settled(kind, body)), "", "  "))
	fmt.Fprintf(page, "\n## %s\n%s\n\n```json\n%s\n```\n", kind, about, pretty.String())
}

// testBody asks for a webhook.test.
func testBody(b *bench) string {
	b.Helper()
	box, err := secret.NewBox(make([]byte, 32))
	b.must(err)
	hooks := &webhook.Service{DB: b.db, Clock: b.clock.Now, Secrets: box}
	endpoint, _, err := hooks.Create(b.Context(), b.scope, webhook.Create{Name: "orders", URL: "https://shop.example.com/webhooks/cointill", Active: true})
	b.must(err)
	id, err := (&delivery.Service{DB: b.db, Clock: b.clock.Now, Events: hooks}).SendTest(b.Context(), b.scope, endpoint.ID)
	b.must(err)
	event, err := hooks.Event(b.Context(), b.scope, id)
	b.must(err)
	return event.Body
}

var random = regexp.MustCompile(`[A-Za-z]{2,4}_[0-9A-Z]{26}|(0x)?[0-9a-fA-F]{64}`)

// settled gives what is random in a body the same value in every run.
func settled(kind, body string) string {
	given := map[string]string{}
	return random.ReplaceAllStringFunc(body, func(found string) string {
		value, known := given[found]
		if !known {
			sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", kind, len(given)))
			if prefix, _, is := strings.Cut(found, "_"); is {
				value = prefix + "_"
				for _, each := range sum[:26] {
					value += string("0123456789ABCDEFGHJKMNPQRSTVWXYZ"[each%32])
				}
			} else {
				value = hex.EncodeToString(sum[:])
				if strings.ToUpper(found) == found {
					value = strings.ToUpper(value)
				}
				if strings.HasPrefix(found, "0x") {
					value = "0x" + value
				}
			}
			given[found] = value
		}
		return value
	})
}
