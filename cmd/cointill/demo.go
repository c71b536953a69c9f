package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"cointill/core/account"
	"cointill/core/clock"
	"cointill/core/demo"
	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/core/scope"
	"cointill/internal/app"
)

type demoCommand struct{}

// pastGCPercent is how much the memory in use may grow between two garbage collections while the sample payments are
// made. Little of it is kept, so that collecting it as often as usual takes a fifth of the time.
const pastGCPercent = 400

// demoEmail signs in to the demo business.
const demoEmail = "owner@demo.example"

// Run makes a ready business with sample data, prints how to reach it, and serves.
func (demoCommand) Run(ctx context.Context, settings *app.Settings) error {
	p, listener, err := app.Start(ctx, settings)
	if err != nil {
		return ignoreStop(ctx, err)
	}
	ready, err := makeDemo(ctx, p)
	if err == nil && ready.fresh {
		began := p.Clock()
		usual := debug.SetGCPercent(pastGCPercent)
		ready.payments, err = p.MakePast(ctx, settings, listener.Addr(), ready.owner, demo.Days,
			func(done, all int) { drawProgress(done, all, "sample payments") })
		debug.SetGCPercent(usual)
		ready.took = p.Clock().Sub(began)
	}
	if err != nil {
		return errors.Join(ignoreStop(ctx, explainFault(err)), listener.Close(), p.Close())
	}
	fmt.Print(ready.describeDemo(p.Base))
	return p.Serve(ctx, listener)
}

// demoReady is what a demo tells its user.
type demoReady struct {
	owner    scope.Scope
	password string
	key      string
	fresh    bool          // the business is new
	payments int           // sample payments that were made now
	took     time.Duration // for making them
}

func (d demoReady) describeDemo(base string) string {
	made := ""
	if d.payments > 0 {
		made = fmt.Sprintf("\nMade %d sample payments of the last %d days in %.1f s.\n", d.payments, demo.Days,
			d.took.Seconds())
	}
	return made + fmt.Sprintf(`
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
	business, user, err := p.Accounts.CreateBusiness(ctx, account.NewBusiness{
		BusinessName: "Demo Till", Name: "Demo Owner", Email: demoEmail, Password: ready.password,
	})
	ready.fresh = err == nil
	if fault.KindOf(err) == fault.Conflict || fault.KindOf(err) == fault.Invalid {
		business, err = p.Users.ResetPassword(ctx, demoEmail, ready.password)
	}
	if err != nil {
		return ready, err
	}
	ready.owner = scope.Scope{BusinessID: business.ID, Domain: scope.Test, Actor: fmt.Sprintf("user:%d", user.ID),
		Role: scope.Owner}
	if ready.fresh {
		if err := p.SwitchOnNetworks(ctx, ready.owner); err != nil {
			return ready, err
		}
	}
	system := scope.Scope{BusinessID: business.ID, Domain: scope.Test, Actor: "system", Role: scope.System}
	now := p.Clock().In(clock.LoadZone(business.TimeZone))
	_, ready.key, err = p.Keys.CreateKey(ctx, system, "Demo "+now.Format("2 January 2006 15:04"))
	return ready, err
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
