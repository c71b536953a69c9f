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
	"cointill/core/sandbox"
	"cointill/core/send"
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

// eventReason returns the reason that the event comes with. A transfer on a network that is off has a reason of its
// own; its payment has none. Scenarios of sends that end as others do are named by their code.
func (c course) eventReason() string {
	switch c.reason {
	case payment.NetworkOff, sandbox.Reorg, sandbox.PaidTwice:
		return ""
	case sandbox.WrongAmount: // it pays no send, so that one is withdrawn
		return send.Withdrawn
	}
	return c.reason
}

// listCourses returns all events of payments and sends, with every reason that the sandbox can
// bring about. Where a type stands several times the first is meant when no
// reason is given.
func listCourses() []course {
	const btc, eth, usdt, xrp, doge = money.CryptoBitcoin, money.CryptoEthereum, money.CryptoTether, money.CryptoRipple,
		money.CryptoDogecoin
	pay, paid, reorganise := playScenario("exact"), awaitEvent("payment.successful", ""), playScenario("reorg")
	all := []money.Method{btc, eth, usdt, xrp, doge}
	mempool := []money.Method{btc, eth, usdt, doge} // networks on which something is seen before it is final
	networks := []money.Method{usdt, eth}           // coins with several networks
	failing := []money.Method{eth, usdt, xrp}       // networks that record failures
	withdraw := actOnSend("/v1/sends/", "/cancel", nil)
	return []course{
		{"payment.initiated", "", all, []step{playScenario("exact")}},
		{"payment.initiated", "reorged", mempool, []step{playScenario("reorg")}},
		{"payment.detected", "", mempool, []step{playScenario("exact")}},
		{"payment.processing", "", all, []step{playScenario("exact")}},
		{"payment.processing", "after_abandoned", all, []step{playScenario("after_abandoned")}},
		{"payment.successful", "", all, []step{playScenario("exact")}},
		{"payment.successful", "late", all, []step{playScenario("late")}},
		{"payment.declined", "underpaid", all, []step{playScenario("underpay")}},
		{"payment.declined", "overpaid", all, []step{playScenario("overpay")}},
		{"payment.declined", "after_abandoned", all, []step{playScenario("after_abandoned")}},
		{"payment.declined", "late", all, []step{playScenario("late")}},
		{"payment.failed", "replaced", mempool, []step{playScenario("double_spend")}},
		{"payment.failed", "reverted", failing, []step{playScenario("revert")}},
		{"payment.failed", "dropped", mempool, []step{playScenario("never_confirms"), awaitEvent("payment.detected", ""),
			mineBlocks(40), awaitForgotten, advanceClock(25 * time.Hour)}},
		{"payment.abandoned", "", []money.Method{xrp}, []step{playScenario("missing_tag"),
			advanceClock(25 * time.Hour)}},
		{"payment.expired", "", all, []step{advanceClock(8 * time.Minute)}},
		{"payment.reversed", "reversed", mempool, []step{pay, paid, reorganise}},
		{"payment.restored", "", mempool, []step{pay, paid, reorganise, awaitEvent("payment.reversed", "reversed"),
			reorganise}},
		{"payment.unexpected_transfer", "", all, []step{pay, paid, pay}},
		{"payment.unexpected_transfer", payment.NetworkOff, networks, []step{payOnNetworkThatIsOff}},
		{"send.processing", "", mempool, signRefund("exact")},
		{"send.processed", "", mempool, signRefund("exact")},
		{"send.successful", "", all, signRefund("exact")},
		{"send.successful", sandbox.Reorg, mempool, signRefund(sandbox.Reorg)},
		{"send.successful", sandbox.PaidTwice, all, append(signRefund(sandbox.PaidTwice), awaitPaidTwice)},
		{"send.failed", "replaced", mempool, signRefund("replaced")},
		{"send.failed", "dropped", mempool, signRefund("dropped")},
		{"send.failed", "reverted", failing, signRefund("reverted")},
		{"send.cancelled", "withdrawn", all, append(askRefund(), withdraw)},
		{"send.cancelled", sandbox.WrongAmount, all, append(signRefund(sandbox.WrongAmount), withdraw)},
		{webhook.WebhookTest, "", nil, nil}, // about no payment
	}
}

// askRefund pays a payment and asks for a refund of it.
func askRefund() []step {
	paid := awaitEvent("payment.successful", "")
	return []step{playScenario("exact"), paid, func(ctx context.Context, d *driver) error {
		var made struct{ ID string }
		_, err := d.api.callAPI(ctx, http.MethodPost, "/v1/sends", map[string]string{"kind": "refund",
			"payment_reference": d.reference, "address": refundAddress(d.method)}, &made)
		d.send = made.ID
		return err
	}}
}

// signRefund asks for a refund, approves it and has the sandbox wallet sign it.
func signRefund(scenario string) []step {
	return append(askRefund(), actOnSend("/v1/sandbox/sends/", "/approve", nil),
		actOnSend("/v1/sandbox/sends/", "/simulate", map[string]string{"scenario": scenario}))
}

// actOnSend posts to an address of the send.
func actOnSend(before, after string, body any) step {
	return func(ctx context.Context, d *driver) error {
		_, err := d.api.callAPI(ctx, http.MethodPost, before+url.PathEscape(d.send)+after, body, nil)
		return err
	}
}

// awaitPaidTwice waits until the send says that a second transaction pays it, which no event says.
func awaitPaidTwice(ctx context.Context, d *driver) error {
	return d.awaitCondition(ctx, "the second transaction", func() (bool, error) {
		var record struct {
			PaidTwice bool `json:"paid_twice"`
		}
		_, err := d.api.callAPI(ctx, http.MethodGet, "/v1/sends/"+url.PathEscape(d.send), nil, &record)
		return record.PaidTwice, err
	})
}

// refundAddress returns an address of the sandbox's network of a method. It belongs to no payment.
func refundAddress(method money.Method) string {
	switch method {
	case money.CryptoBitcoin:
		return "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
	case money.CryptoDogecoin:
		return "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"
	case money.CryptoRipple:
		return "rrrrrrrrrrrrrrrrrrrrBZbvji"
	}
	return "0x52908400098527886E0F7030069857D2E4169EE7"
}

// chooseCourse finds the course to an event; reason "" takes the first.
func chooseCourse(event, reason string) (course, error) {
	reasons := reasonsOf(event)
	for _, each := range listCourses() {
		if each.event == event && (reason == "" || reason == cmp.Or(each.reason, "none")) {
			return each, nil
		}
	}
	switch {
	case len(reasons) == 0:
		return course{}, fmt.Errorf("%q is no type of event. There are:\n%s", plainText(event), listTypes())
	case len(reasons) == 1 && reasons[0] == "none":
		return course{}, fmt.Errorf("%s comes without a reason in the sandbox: leave --reason out", event)
	case reason == string(payment.AcceptedByUser):
		return course{}, errors.New(
			"a person accepts a declined payment, in the dashboard: trigger payment.declined first")
	}
	return course{}, fmt.Errorf("%s never has the reason %s in the sandbox; it has %s", event, plainText(reason),
		strings.Join(reasons, ", "))
}

// reasonsOf are the reasons that an event can have, "none" for having none.
func reasonsOf(event string) (reasons []string) {
	for _, each := range listCourses() {
		if each.event == event {
			reasons = append(reasons, cmp.Or(each.reason, "none"))
		}
	}
	return reasons
}

// listTypes lists the types of events that can be triggered, one per line.
func listTypes() string {
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

// nameReason returns a reason as it follows the type of its event.
func nameReason(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// chooseMethod returns the payment method that was asked for, or the course's own.
func (c course) chooseMethod(asked string) (money.Method, error) {
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
	return "", fmt.Errorf("%s%s doesn't happen with %s; --method can be %s", c.event, nameReason(c.reason),
		plainText(asked), strings.Join(names, ", "))
}

// playScenario lets the customer act.
func playScenario(scenario string) step {
	return func(ctx context.Context, d *driver) error {
		return simulatePayment(ctx, d, map[string]string{"scenario": scenario})
	}
}

// simulatePayment has the sandbox play what a body asks for.
func simulatePayment(ctx context.Context, d *driver, body map[string]string) error {
	var played struct{ Next string }
	_, err := d.api.callAPI(ctx, http.MethodPost, "/v1/sandbox/payments/"+url.PathEscape(d.reference)+"/simulate", body,
		&played)
	d.printNote("%s: %s", d.reference, played.Next)
	return err
}

// payOnNetworkThatIsOff lets the customer pay on a network that is off for the business.
func payOnNetworkThatIsOff(ctx context.Context, d *driver) error {
	var methods []struct {
		Code     money.Method
		Networks []struct {
			Code    string
			Enabled bool
		}
	}
	if _, err := d.api.callAPI(ctx, http.MethodGet, "/v1/payment-methods", nil, &methods); err != nil {
		return err
	}
	for _, one := range methods {
		for _, network := range one.Networks {
			if one.Code == d.method && !network.Enabled {
				return simulatePayment(ctx, d, map[string]string{"scenario": "wrong_network", "network": network.Code})
			}
		}
	}
	return fmt.Errorf("every network of %s is on: switch one off in the dashboard, under Payment methods", d.method)
}

// advanceClock moves the payment's clock.
func advanceClock(by time.Duration) step {
	return func(ctx context.Context, d *driver) error {
		_, err := d.api.callAPI(ctx, http.MethodPost, "/v1/sandbox/advance",
			map[string]any{"reference": d.reference, "seconds": int64(by / time.Second)}, nil)
		return err
	}
}

// mineBlocks makes blocks on the payment's chain.
func mineBlocks(blocks int) step {
	return func(ctx context.Context, d *driver) error {
		body := map[string]any{"payment_method": d.method, "blocks": blocks}
		if d.network != "" {
			body["network"] = d.network
		}
		_, err := d.api.callAPI(ctx, http.MethodPost, "/v1/sandbox/mine", body, nil)
		return err
	}
}

// awaitEvent waits for an event on the way.
func awaitEvent(kind, reason string) step {
	return func(ctx context.Context, d *driver) error {
		_, err := d.awaitPaymentEvent(ctx, kind, reason)
		return err
	}
}

// awaitForgotten waits until the network has forgotten the payment's transfer.
func awaitForgotten(ctx context.Context, d *driver) error {
	return d.awaitCondition(ctx, "the mempool to forget the transfer", func() (bool, error) {
		var record struct {
			Transaction struct {
				Paid string `json:"amount_paid"`
			}
		}
		_, err := d.api.callAPI(ctx, http.MethodGet, "/v1/payment/verify/"+url.PathEscape(d.reference), nil, &record)
		return err == nil && strings.Trim(record.Transaction.Paid, "0.") == "", err
	})
}
