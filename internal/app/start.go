package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"cointill/core/clock"
	"cointill/core/filelock"
	"cointill/models"
)

// RefuseCopy refuses to serve a copy whose wallets would give addresses out again.
func (p *Product) RefuseCopy(ctx context.Context) error {
	of, is, err := p.DB.Copied(ctx)
	if err == nil && is {
		err = fmt.Errorf("this database is a copy of %s: addresses that were given out since would be given out again. "+
			"`cointill restore` leaves them out, or, where it was only moved, --leave-out 0; docs/operations.md "+
			"tells how", of)
	}
	return err
}

// NewBeside builds the product for a command that runs beside the server.
func NewBeside(ctx context.Context, s *Settings) (*Product, error) {
	address, err := net.ResolveTCPAddr("tcp", s.Listen)
	if err != nil {
		return nil, errors.New(EnvPrefix + "_LISTEN is no address")
	}
	if err := models.Exists(s.DatabaseURL, s.DataDir); err != nil {
		return nil, err
	}
	return New(ctx, s, address)
}

// Start makes this process the one that serves the data folder, and the product ready to serve.
// A PostgreSQL that is down is waited for.
func Start(ctx context.Context, s *Settings) (*Product, net.Listener, error) {
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

// occupyDataDir refuses a data folder whose embedded database another process serves.
func (s *Settings) occupyDataDir() (release func() error, err error) {
	if s.DatabaseURL != "" {
		return func() error { return nil }, nil // PostgreSQL has any number of them
	}
	return filelock.OccupyFolder(s.DataDir, clock.Real()())
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
func (s *Settings) openListeners(ctx context.Context) (*Product, net.Listener, error) {
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
	p, err := New(ctx, s, own...)
	if err == nil {
		if err = p.RefuseCopy(ctx); err == nil {
			s.warnOfMarks()
			err = p.Wallets.CheckMarks(ctx)
		}
		if err != nil {
			err = errors.Join(err, p.DB.Close())
		}
	}
	if err != nil {
		if metrics != nil {
			err = errors.Join(err, metrics.Close())
		}
		return nil, nil, errors.Join(err, listener.Close())
	}
	p.limits.logLimits(ctx, p.Log)
	if metrics != nil {
		go func() {
			if err := p.Server.ListenMetrics(metrics); err != nil {
				p.Log.Error("metrics can't be served", "error", err)
			}
		}()
	}
	return p, listener, nil
}

// DescribeFirstOwner says where the first owner signs up; it is "" once there is a user. Where others
// may reach the server, the link carries a new set-up token.
func (p *Product) DescribeFirstOwner(ctx context.Context) (string, error) {
	empty, err := p.Accounts.Empty(ctx)
	if err != nil || !empty {
		return "", err
	}
	if !p.Users.AskSetupToken {
		return "No user has signed up yet: open " + p.Base + "/sign-up\n", nil
	}
	token, err := p.Users.IssueSetupToken(ctx)
	if err != nil || token == "" { // a user signed up meanwhile
		return "", err
	}
	return "No user has signed up yet. This link makes the first owner, within 24 hours and until the server starts " +
		"again:\n" +
		p.Base + "/sign-up#token=" + token + "\n", nil
}
