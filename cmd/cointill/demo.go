package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"cointill/core/account"
	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/core/link"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/internal/app"
)

type demoCommand struct{}

// demoEmail signs in to the demo business.
const demoEmail = "owner@demo.example"

// Run makes a ready business with sample data, prints how to reach it, and serves.
func (demoCommand) Run(ctx context.Context, settings *app.Settings) error {
	p, listener, err := app.Start(ctx, settings)
	if err != nil {
		return ignoreStop(ctx, err)
	}
	ready, err := makeDemo(ctx, p)
	if err != nil {
		return errors.Join(explainFault(err), listener.Close(), p.Close())
	}
	fmt.Print(ready.describeDemo(p.Base))
	serving, stop := context.WithCancel(ctx)
	defer stop()
	seeding := make(chan struct{})
	go func() {
		defer close(seeding)
		startSamples(serving, p, ready.scope)
	}()
	err = p.Serve(ctx, listener)
	stop()
	<-seeding
	return err
}

// demoReady is what a demo tells its user.
type demoReady struct {
	scope    scope.Scope
	password string
	key      string
}

func (d demoReady) describeDemo(base string) string {
	return fmt.Sprintf(`
Cointill is ready.

  Dashboard   %[1]s/dashboard
  Sign in     %[2]s
  Password    %[3]s
  Test key    %[4]s
  API docs    %[1]s/docs

Start a payment and open its payment_url; its sandbox panel pays:

  curl -s %[1]s/v1/payment/initiate \
    -H 'Authorization: Bearer %[4]s' -H 'Content-Type: application/json' \
    -d '{"currency":"NGN","amount":25000,"first_name":"Ngozi","last_name":"Okafor","email":"ngozi@example.com","payment_method":"crypto_bitcoin"}'

`, base, demoEmail, d.password, d.key)
}

// makeDemo makes the demo business, or opens the one that is there with a new password and key.
func makeDemo(ctx context.Context, p *app.Product) (demoReady, error) {
	ready := demoReady{password: ident.RandomText(20)}
	business, _, err := p.Accounts.CreateBusiness(ctx, account.NewBusiness{
		BusinessName: "Demo Till", Name: "Demo Owner", Email: demoEmail, Password: ready.password,
	})
	if fault.KindOf(err) == fault.Conflict || fault.KindOf(err) == fault.Invalid {
		business, err = p.Users.ResetPassword(ctx, demoEmail, ready.password)
	}
	if err != nil {
		return ready, err
	}
	ready.scope = scope.Scope{BusinessID: business.ID, Domain: scope.Test, Actor: "system", Role: scope.System}
	_, ready.key, err = p.Keys.CreateKey(ctx, ready.scope, "Demo "+p.Clock().Format("2 January 2006 15:04"))
	return ready, err
}

// sample is one payment of the demo: who pays what, and what happens to it.
type sample struct {
	request  payment.Request
	scenario string
	advance  time.Duration // before the scenario, or instead of it
	open     bool
	then     string        // a second scenario, once the first one's money was seen
	state    payment.State // its last state
}

// newRequest returns a request of a customer of the demo.
func newRequest(currency string, amount int64, first, last, method, order string) payment.Request {
	return payment.Request{Currency: currency, Amount: amount, FirstName: first, LastName: last,
		Email: first + "@example.com", Method: "crypto_" + method, BusinessReference: order}
}

// listSamples returns the demo's payments, all eight states among them.
func listSamples() []sample {
	return []sample{
		{request: newRequest("NGN", 48_500, "Ngozi", "Okafor", "bitcoin", "order-1001"), scenario: "exact",
			state: payment.Successful},
		{request: newRequest("KES", 7_200, "Wanjiru", "Kamau", "tether", "order-1002"), scenario: "exact",
			state: payment.Successful},
		{request: newRequest("GHC", 640, "Kwame", "Boateng", "ripple", "order-1003"), scenario: "exact",
			state: payment.Successful},
		{request: newRequest("USD", 95, "Amina", "Diallo", "dogecoin", "order-1004"), scenario: "two_parts",
			state: payment.Successful},
		{request: newRequest("NGN", 120_000, "Chidi", "Eze", "ethereum", "order-1005"), scenario: "underpay",
			state: payment.Declined},
		{request: newRequest("KES", 15_000, "Otieno", "Odhiambo", "ripple", "order-1006"), scenario: "overpay",
			state: payment.Declined},
		{request: newRequest("USD", 60, "Fatou", "Sow", "ethereum", "order-1007"), scenario: "revert", state: payment.Failed},
		{request: newRequest("GHC", 310, "Akosua", "Asante", "bitcoin", "order-1008"),
			advance: payment.Monitoring + time.Minute, open: true, state: payment.Abandoned},
		{request: newRequest("NGN", 9_900, "Tunde", "Bello", "tether", "order-1009"), advance: payment.Window + time.Minute,
			state: payment.Expired},
		{request: newRequest("USD", 20, "Zuri", "Njoroge", "bitcoin", "order-1010"), scenario: "never_confirms",
			state: payment.Initiated},
		{request: newRequest("KES", 2_450, "Juma", "Mwangi", "dogecoin", "order-1011"), state: payment.Pending},
		// Paid short, with the rest waiting in the mempool: it stays Processing for a day.
		{request: newRequest("USD", 90, "Sade", "Adeyemi", "bitcoin", "order-1012"), scenario: "underpay",
			then: "never_confirms", state: payment.Processing},
	}
}

// startSamples starts the demo's payments once, with progress on the terminal.
// They settle within half a minute as the sandbox makes its blocks.
func startSamples(ctx context.Context, p *app.Product, sc scope.Scope) {
	all := listSamples()
	for i, one := range all {
		if err := startSample(ctx, p, sc, one); err != nil {
			if fault.KindOf(err) == fault.Conflict {
				return // an earlier demo made them
			}
			if ctx.Err() == nil {
				p.Log.Error("the demo's sample data is not complete", "error", err)
			}
			return
		}
		drawProgress(i+1, len(all), "sample payments")
	}
	amount := int64(5000)
	if _, err := p.Links.CreateLink(ctx, sc,
		link.Draft{Title: "Monthly membership", Description: "One month at the studio.", Currency: "KES",
			Amount: &amount}); err != nil && ctx.Err() == nil {
		p.Log.Error("the demo's payment link is missing", "error", err)
	}
}

func startSample(ctx context.Context, p *app.Product, sc scope.Scope, one sample) error {
	started, err := p.Payments.Initiate(ctx, sc, one.request)
	if err != nil {
		return err
	}
	if one.open {
		if _, err := p.Payments.OpenByReference(ctx, sc, started.Reference); err != nil {
			return err
		}
	}
	if one.advance > 0 {
		return p.Payments.AdvanceClock(ctx, sc, started.Reference, one.advance, false)
	}
	if one.scenario == "" {
		return nil
	}
	if _, err = p.Sandbox.Simulate(ctx, sc, started.Reference, one.scenario); err != nil || one.then == "" {
		return err
	}
	if err := awaitMoney(ctx, p, sc, started.Reference); err != nil {
		return err
	}
	_, err = p.Sandbox.Simulate(ctx, sc, started.Reference, one.then)
	return err
}

// awaitMoney waits until money for a payment was seen.
func awaitMoney(ctx context.Context, p *app.Product, sc scope.Scope, reference string) error {
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		v, err := p.Payments.Verify(ctx, sc, reference)
		if err != nil || v.Payment.Paid.Sign() > 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// drawProgress draws a bar on a terminal, and nothing elsewhere.
func drawProgress(done, all int, what string) {
	info, err := os.Stderr.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return
	}
	const width = 24
	full := width * done / all
	fmt.Fprintf(os.Stderr, "\r  [%.*s%*s] %d of %d %s", full, "########################", width-full, "", done, all,
		what)
	if done == all {
		fmt.Fprintln(os.Stderr)
	}
}
