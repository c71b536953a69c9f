package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"cointill/core/clock"
	"cointill/core/money"
	"cointill/core/send"
	"cointill/core/webhook"
	"cointill/internal/app"
)

type triggerCommand struct {
	apiFlags
	Event   string `arg:"" optional:"" help:"Type of the event, e.g. payment.declined. Without one: a list of what there is."`
	Reason  string `env:"-" help:"Reason code that it comes with, e.g. underpaid. Default: the first that there is for the type."`
	Method  string `env:"-" placeholder:"crypto_bitcoin" help:"Payment method. Default: one that it can happen with."`
	Network string `env:"-" placeholder:"polygon" help:"Network of the payment method; it must be on. Default: the one that customers see first."`
	Webhook string `env:"-" placeholder:"whk_…" help:"Which webhook a webhook.test is for. Default: the newest that is active."`
	JSON    bool   `name:"json" env:"-" help:"Print the result as JSON and nothing else."`
}

// Run makes a test payment and plays in the sandbox what leads to the event.
func (c triggerCommand) Run(ctx context.Context, settings *app.Settings) error {
	if c.Event == "" {
		fmt.Println("cointill trigger EVENT [--reason REASON] makes these happen; the first reason is meant when " +
			"none is given:\n" + listTypes())
		return nil
	}
	chosen, err := chooseCourse(c.Event, c.Reason)
	if err != nil {
		return err
	}
	api, err := c.connectAPI(settings)
	if err != nil {
		return err
	}
	d := &driver{api: api, quiet: c.JSON, network: c.Network}
	if d.events, err = startWatcher(ctx, api, clock.Real()); err != nil {
		return err
	}
	var came event
	if chosen.event == webhook.WebhookTest {
		if c.Method+c.Network != "" {
			return errors.New("webhook.test is about no payment: it has no --method and no --network")
		}
		came, err = d.sendTest(ctx, c.Webhook)
	} else {
		came, err = d.payAsked(ctx, chosen, c.Method)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		result := map[string]string{"reference": d.reference, "event": came.ID, "type": came.Type,
			"reason": came.readPayment().Reason}
		if d.send != "" {
			result["send"] = d.send
		}
		return printJSON(result)
	}
	fmt.Print(d.formatResult(came))
	return nil
}

// formatResult writes the payment, the send and the event that were made.
func (d *driver) formatResult(came event) (lines string) {
	for _, each := range [][2]string{{"Payment", d.reference}, {"Send   ", d.send}, {"Event  ", came.ID}} {
		if each[1] != "" {
			lines += each[0] + " " + plainText(each[1]) + "\n"
		}
	}
	return lines
}

// driver drives one payment through a scenario and reads its events.
type driver struct {
	api       *apiClient
	events    *watcher
	quiet     bool
	method    money.Method
	network   string // as asked for; "" for the one that is shown first
	reference string
	send      string  // the refund of the payment; "" for none
	reported  []event // of this payment, in order
	asked     int     // how many of them a wait has looked at
}

// patience is how long one step may take: several blocks of the slowest chain.
const patience = 2 * time.Minute

// initiatePayment makes the payment. Its customer is called Trigger.
func (d *driver) initiatePayment(ctx context.Context, method money.Method) error {
	var made struct{ Reference string }
	body := map[string]any{"currency": "USD", "amount": 25, "first_name": "Trigger", "last_name": "Test",
		"email": "trigger@example.com", "payment_method": method}
	if d.network != "" {
		body["network"] = d.network
	}
	_, err := d.api.callAPI(ctx, http.MethodPost, "/v1/payment/initiate", body, &made)
	d.method, d.reference = method, made.Reference
	return err
}

// payAsked plays a scenario with a new payment. A reorganisation is played again when another
// process mined the final block at the same moment, which makes it come too late.
func (d *driver) payAsked(ctx context.Context, chosen course, asked string) (event, error) {
	method, err := chosen.chooseMethod(asked)
	if err != nil {
		return event{}, err
	}
	came, err := d.playCourse(ctx, chosen, method)
	for range 3 {
		var ended endedError
		if chosen.reason != "reorged" || !errors.As(err, &ended) {
			break
		}
		came, err = d.playCourse(ctx, chosen, method)
	}
	return came, err
}

// endedError is when a payment came to another end than the one that was wanted.
type endedError struct{ *apiError }

// Unwrap says that waiting longer doesn't help.
func (e endedError) Unwrap() error { return e.apiError }

func (d *driver) playCourse(ctx context.Context, chosen course, method money.Method) (event, error) {
	d.reported, d.asked, d.send = nil, 0, ""
	if err := d.initiatePayment(ctx, method); err != nil {
		return event{}, err
	}
	for _, step := range chosen.steps {
		if err := step(ctx, d); err != nil {
			return event{}, err
		}
	}
	return d.awaitPaymentEvent(ctx, chosen.event, chosen.eventReason())
}

// awaitCondition repeats a check until it holds, for at most the patience of the command.
func (d *driver) awaitCondition(ctx context.Context, what string, reached func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ask := time.NewTicker(300 * time.Millisecond)
	defer ask.Stop()
	for {
		done, err := reached()
		if done || err != nil && !mayPass(err) {
			return err
		}
		select {
		case <-ctx.Done():
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return ctx.Err()
			}
			return errors.Join(fmt.Errorf("waited %s for %s of %s; it didn't come", patience, what,
				plainText(cmp.Or(d.reference, "the webhook"))), err)
		case <-ask.C:
		}
	}
}

// awaitPaymentEvent waits for an event of the payment. A final event of another kind is an error.
func (d *driver) awaitPaymentEvent(ctx context.Context, kind, reason string) (event, error) {
	var found event
	err := d.awaitCondition(ctx, kind, func() (bool, error) {
		fresh, err := d.events.readNew(ctx)
		if err != nil {
			return false, err
		}
		for _, e := range fresh {
			if about := e.readPayment(); about.Reference == d.reference || d.send != "" && about.ID == d.send {
				d.reported = append(d.reported, e)
				d.printNote("  %s %s", e.Type, about.Reason)
			}
		}
		for ; d.asked < len(d.reported); d.asked++ {
			e := d.reported[d.asked]
			why := e.readPayment().Reason
			// Both transactions of a send that is paid twice may be final at once.
			if e.Type == kind && (why == reason || kind == webhook.SendSuccessful && why == send.PaidTwice) {
				d.asked, found = d.asked+1, e
				return true, nil
			}
			switch e.Type {
			case "payment.successful", "payment.declined", "payment.failed", "payment.expired", "send.successful", "send.failed",
				"send.cancelled":
				return false, endedError{&apiError{message: fmt.Sprintf(
					"%s ended with %s%s instead: the settings of the business decide (tolerances, late payments)",
					plainText(d.reference), plainText(e.Type), plainText(nameReason(why)))}}
			}
		}
		return false, nil
	})
	return found, err
}

// sendTest sends a webhook.test to a webhook.
func (d *driver) sendTest(ctx context.Context, id string) (event, error) {
	if id == "" {
		var webhooks []struct{ ID, Status string }
		if _, err := d.api.callAPI(ctx, http.MethodGet, "/v1/webhooks?limit=100", nil, &webhooks); err != nil {
			return event{}, err
		}
		for _, each := range webhooks {
			if each.Status == "active" {
				id = each.ID
				break
			}
		}
		if id == "" {
			return event{}, errors.New(
				"no webhook is active: register one in the dashboard or by POST /v1/webhooks, or name one with " +
					"--webhook")
		}
	}
	var made struct {
		EventID string `json:"event_id"`
	}
	path := "/v1/webhooks/" + url.PathEscape(id) + "/test"
	if _, err := d.api.callAPI(ctx, http.MethodPost, path, nil, &made); err != nil {
		return event{}, err
	}
	var found event
	err := d.awaitCondition(ctx, "webhook.test", func() (bool, error) {
		fresh, err := d.events.readNew(ctx)
		for _, e := range fresh {
			if e.ID == made.EventID {
				found = e
			}
		}
		return found.ID != "", err
	})
	return found, err
}

// printNote prints a line about the progress.
func (d *driver) printNote(format string, values ...any) {
	if !d.quiet {
		fmt.Fprintln(os.Stderr, strings.TrimRight(plainText(fmt.Sprintf(format, values...)), " "))
	}
}
