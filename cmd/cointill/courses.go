package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/webhook"
)

// step is one thing that is done to a payment in the sandbox.
type step func(context.Context, *driver) error

// course leads a payment to an event with a reason.
type course struct {
	event, reason string
	methods       []money.Method // it can happen with; the first is chosen where none is named
	steps         []step
}

// courses are all events of payments, with every reason that the sandbox can
// bring about. Where a type stands several times the first is meant when no
// reason is given.
func courses() []course {
	const btc, eth, usdt, xrp, doge = money.CryptoBitcoin, money.CryptoEthereum, money.CryptoTether, money.CryptoRipple,
		money.CryptoDogecoin
	all := []money.Method{btc, eth, usdt, xrp, doge}
	mempool := []money.Method{btc, eth, usdt, doge} // networks on which something is seen before it is final
	failing := []money.Method{eth, usdt, xrp}       // networks that record failures
	return []course{
		{"payment.initiated", "", all, []step{play("exact")}},
		{"payment.initiated", "reorged", mempool, []step{play("reorg")}},
		{"payment.detected", "", mempool, []step{play("exact")}},
		{"payment.processing", "", all, []step{play("exact")}},
		{"payment.processing", "after_abandoned", all, []step{play("after_abandoned")}},
		{"payment.successful", "", all, []step{play("exact")}},
		{"payment.successful", "late", all, []step{play("late")}},
		{"payment.declined", "underpaid", all, []step{play("underpay")}},
		{"payment.declined", "overpaid", all, []step{play("overpay")}},
		{"payment.declined", "after_abandoned", all, []step{play("after_abandoned")}},
		{"payment.declined", "late", all, []step{play("late")}},
		{"payment.failed", "replaced", mempool, []step{play("double_spend")}},
		{"payment.failed", "reverted", failing, []step{play("revert")}},
		{"payment.failed", "dropped", mempool, []step{play("never_confirms"), told("payment.detected", ""), mine(40),
			gone, advance(25 * time.Hour)}},
		{"payment.abandoned", "", []money.Method{xrp}, []step{play("missing_tag"), advance(25 * time.Hour)}},
		{"payment.expired", "", all, []step{advance(8 * time.Minute)}},
		{"payment.reversed", "reversed", mempool, []step{play("exact"), told("payment.successful", ""), play("reorg")}},
		{"payment.unexpected_transfer", "", all, []step{play("exact"), told("payment.successful", ""), play("exact")}},
		{webhook.WebhookTest, "", nil, nil}, // about no payment
	}
}

// choose finds the course to an event; reason "" takes the first.
func choose(event, reason string) (course, error) {
	reasons := reasonsOf(event)
	for _, each := range courses() {
		if each.event == event && (reason == "" || reason == cmp.Or(each.reason, "none")) {
			return each, nil
		}
	}
	switch {
	case strings.HasPrefix(event, "send.") && slices.Contains(webhook.Types(), event):
		return course{}, fmt.Errorf("%s can't be triggered: refunds and payouts can't be started yet", event)
	case len(reasons) == 0:
		return course{}, fmt.Errorf("%q is no type of event. There are:\n%s", plain(event), offer())
	case len(reasons) == 1 && reasons[0] == "none":
		return course{}, fmt.Errorf("%s comes without a reason in the sandbox: leave --reason out", event)
	case reason == string(payment.AcceptedByUser):
		return course{}, errors.New(
			"a person accepts a declined payment, in the dashboard: trigger payment.declined first")
	}
	return course{}, fmt.Errorf("%s never has the reason %s in the sandbox; it has %s", event, plain(reason),
		strings.Join(reasons, ", "))
}

// reasonsOf are the reasons that an event can have, "none" for having none.
func reasonsOf(event string) (reasons []string) {
	for _, each := range courses() {
		if each.event == event {
			reasons = append(reasons, cmp.Or(each.reason, "none"))
		}
	}
	return reasons
}

// offer lists the types of events that can be triggered, one per line.
func offer() string {
	var lines []string
	for _, kind := range webhook.Types() {
		switch reasons := strings.Join(reasonsOf(kind), ", "); reasons {
		case "":
		case "none":
			lines = append(lines, "  "+kind)
		default:
			lines = append(lines, fmt.Sprintf("  %-28s %s", kind, reasons))
		}
	}
	return strings.Join(lines, "\n")
}

// named puts a reason behind the type of its event.
func named(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// method is the one asked for, or the course's own.
func (c course) method(asked string) (money.Method, error) {
	if asked == "" {
		return c.methods[0], nil
	}
	if slices.Contains(c.methods, money.Method(asked)) {
		return money.Method(asked), nil
	}
	var names []string
	for _, each := range c.methods {
		names = append(names, string(each))
	}
	return "", fmt.Errorf("%s%s doesn't happen with %s; --method can be %s", c.event, named(c.reason), plain(asked),
		strings.Join(names, ", "))
}

func segment(id string) string { return url.PathEscape(id) }

// play lets the customer act.
func play(scenario string) step {
	return func(ctx context.Context, d *driver) error {
		var played struct{ Next string }
		_, err := d.api.call(ctx, http.MethodPost, "/v1/sandbox/payments/"+segment(d.reference)+"/simulate",
			map[string]string{"scenario": scenario}, &played)
		d.note("%s: %s", d.reference, played.Next)
		return err
	}
}

// advance moves the payment's clock.
func advance(by time.Duration) step {
	return func(ctx context.Context, d *driver) error {
		_, err := d.api.call(ctx, http.MethodPost, "/v1/sandbox/advance",
			map[string]any{"reference": d.reference, "seconds": int64(by / time.Second)}, nil)
		return err
	}
}

// mine makes blocks on the payment's chain.
func mine(blocks int) step {
	return func(ctx context.Context, d *driver) error {
		_, err := d.api.call(ctx, http.MethodPost, "/v1/sandbox/mine",
			map[string]any{"payment_method": d.method, "blocks": blocks}, nil)
		return err
	}
}

// told waits for an event on the way.
func told(kind, reason string) step {
	return func(ctx context.Context, d *driver) error {
		_, err := d.wait(ctx, kind, reason)
		return err
	}
}

// gone waits until the network has forgotten the payment's transfer.
func gone(ctx context.Context, d *driver) error {
	return d.until(ctx, "the mempool to forget the transfer", func() (bool, error) {
		var record struct {
			Transaction struct {
				Paid string `json:"amount_paid"`
			}
		}
		_, err := d.api.call(ctx, http.MethodGet, "/v1/payment/verify/"+segment(d.reference), nil, &record)
		return err == nil && strings.Trim(record.Transaction.Paid, "0.") == "", err
	})
}
