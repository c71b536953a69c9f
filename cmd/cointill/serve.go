package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"cointill/internal/app"
)

type serveCommand struct{}

// Run serves until it is stopped.
func (serveCommand) Run(ctx context.Context, settings *app.Settings) error {
	p, listener, err := app.Start(ctx, settings)
	if err != nil {
		return ignoreStop(ctx, err)
	}
	fmt.Fprintf(os.Stderr, "Cointill serves on %s\n", p.Base)
	notice, err := p.DescribeFirstOwner(ctx)
	if err != nil { // the server may well have an owner
		p.Log.Error("no link for the first owner; start again to get one if no user has signed up", "error", err)
	}
	fmt.Fprint(os.Stderr, notice)
	if settings.AllowsWebhookLoopback() {
		fmt.Fprintln(os.Stderr, "Webhooks of the test domain may reach loopback addresses; --no-webhook-loopback "+
			"forbids that.")
	}
	return p.Serve(ctx, listener)
}

// ignoreStop returns the error of a start, or nil when the start ended because its context did.
func ignoreStop(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}
