package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"cointill/core/clock"
	"cointill/models"
)

type serveCommand struct{}

// Run serves until it is stopped.
func (serveCommand) Run(ctx context.Context, settings *Settings) error {
	p, listener, err := settings.startServing(ctx)
	if err != nil {
		return ignoreStop(ctx, err)
	}
	fmt.Fprintf(os.Stderr, "Cointill serves on %s\n", p.base)
	notice, err := p.firstOwnerNotice(ctx)
	if err != nil { // the server may well have an owner
		p.log.Error("no link for the first owner; start again to get one if nobody has signed up", "error", err)
	}
	fmt.Fprint(os.Stderr, notice)
	if settings.webhookLoopback() {
		fmt.Fprintln(os.Stderr, "Webhooks of the test domain may reach loopback addresses; --no-webhook-loopback "+
			"forbids that.")
	}
	return p.serveUntilDone(ctx, listener)
}

// startServing makes this process the one that serves the data folder, and the product ready to serve.
// A PostgreSQL that is down is waited for.
func (s *Settings) startServing(ctx context.Context) (*product, net.Listener, error) {
	release, err := s.occupyDataDir()
	if err != nil {
		return nil, nil, err
	}
	if err := s.awaitDatabase(ctx); err != nil {
		return nil, nil, errors.Join(err, release())
	}
	p, listener, err := s.openListeners(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, release())
	}
	p.release = release
	return p, listener, nil
}

// ignoreStop returns the error of a start, or nil when the start ended because its context did.
func ignoreStop(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// occupyDataDir refuses a data folder whose embedded database another process serves.
func (s *Settings) occupyDataDir() (release func() error, err error) {
	if s.DatabaseURL != "" {
		return func() error { return nil }, nil // PostgreSQL has any number of them
	}
	return models.Occupy(s.DataDir, clock.Real()())
}

// The pauses between two tries to reach PostgreSQL.
const (
	firstWait = time.Second
	maxWait   = 3 * time.Second
)

// awaitDatabase waits until PostgreSQL can be connected to, and writes a sentence to the log for
// each try in vain. It ends with ctx, and with an error that waiting doesn't help.
func (s *Settings) awaitDatabase(ctx context.Context) error {
	if s.DatabaseURL == "" {
		return nil
	}
	for wait := firstWait; ; wait = min(wait+time.Second, maxWait) {
		err := models.Reach(ctx, s.DatabaseURL)
		var down *models.Outage
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !errors.As(err, &down) {
			return err
		}
		slog.WarnContext(ctx, down.Reason+" Serving begins once it can be used.", "seconds", int(wait.Seconds()),
			"error", down.Cause)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// openListeners opens the listeners and builds the product for them.
func (s *Settings) openListeners(ctx context.Context) (*product, net.Listener, error) {
	listener, err := net.Listen("tcp", s.Listen)
	if err != nil {
		return nil, nil, fmt.Errorf("%w (another instance may be running; --listen chooses another address)", err)
	}
	own, metrics := []net.Addr{listener.Addr()}, net.Listener(nil)
	if s.MetricsListen != "" {
		if metrics, err = net.Listen("tcp", s.MetricsListen); err != nil {
			return nil, nil, errors.Join(err, listener.Close())
		}
		own = append(own, metrics.Addr())
	}
	p, err := s.buildProduct(ctx, own...)
	if err == nil {
		if err = p.refuseCopy(ctx); err == nil {
			s.warnOfMarks()
			err = p.wallets.CheckMarks(ctx)
		}
		if err != nil {
			err = errors.Join(err, p.db.Close())
		}
	}
	if err != nil {
		if metrics != nil {
			err = errors.Join(err, metrics.Close())
		}
		return nil, nil, errors.Join(err, listener.Close())
	}
	p.limits.logLimits(ctx, p.log)
	if metrics != nil {
		go func() {
			if err := p.server.ListenMetrics(metrics); err != nil {
				p.log.Error("metrics can't be served", "error", err)
			}
		}()
	}
	return p, listener, nil
}

// firstOwnerNotice says where the first owner signs up; it is "" once there is a user. Where others
// may reach the server, the link carries a new set-up token.
func (p *product) firstOwnerNotice(ctx context.Context) (string, error) {
	empty, err := p.accounts.Empty(ctx)
	if err != nil || !empty {
		return "", err
	}
	if !p.accounts.AskSetupToken {
		return "Nobody has signed up yet: open " + p.base + "/sign-up\n", nil
	}
	token, err := p.accounts.IssueSetupToken(ctx)
	if err != nil || token == "" { // a user signed up meanwhile
		return "", err
	}
	return "Nobody has signed up yet. This link makes the first owner, within 24 hours and until the server starts " +
		"again:\n" +
		p.base + "/sign-up#token=" + token + "\n", nil
}
