package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/internal/app"
	"cointill/models"
	"cointill/models/modelstest"
)

// sentences are the messages of a log, as they come.
type sentences chan string

func (s sentences) Enabled(context.Context, slog.Level) bool { return true }
func (s sentences) WithAttrs([]slog.Attr) slog.Handler       { return s }
func (s sentences) WithGroup(string) slog.Handler            { return s }
func (s sentences) Handle(_ context.Context, r slog.Record) error {
	s <- r.Message
	return nil
}

// logged has a test read the log.
func logged(t *testing.T) sentences {
	t.Helper()
	before, said := slog.Default(), make(sentences, 100)
	slog.SetDefault(slog.New(said))
	t.Cleanup(func() { slog.SetDefault(before) })
	return said
}

// freeAddress returns an address on which no process listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return listener.Addr().String()
}

const downSentence = "The database can't be reached. Serving begins once it can be used."

// TestServeWaitsForPostgres: a start waits for a PostgreSQL that is down, says so at each try,
// and serves once it is there.
func TestServeWaitsForPostgres(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		if !db.Postgres() {
			return // SQLite is never down
		}
		server, err := url.Parse(modelstest.MigratedURL(t))
		if err != nil {
			t.Fatal(err)
		}
		here, there := *server, server.Host
		here.Host = freeAddress(t)
		settings := &app.Settings{DataDir: t.TempDir(), DatabaseURL: here.String(), Listen: "127.0.0.1:0", RateSources: []string{"none"}}
		said := logged(t)
		started := make(chan error, 1)
		go func() {
			p, listener, err := app.Start(t.Context(), settings)
			if err == nil {
				err = errors.Join(listener.Close(), p.Close())
			}
			started <- err
		}()
		for try := range 2 {
			select {
			case got := <-said:
				if got != downSentence {
					t.Errorf("try %d is told as %q, want %q", try, got, downSentence)
				}
			case err := <-started:
				t.Fatalf("a start without its database ends in %v", err)
			case <-time.After(20 * time.Second):
				t.Fatalf("try %d isn't told", try)
			}
		}
		forward(t, here.Host, there)
		select {
		case err := <-started:
			if err != nil {
				t.Errorf("once the database is there a start ends in %v", err)
			}
		case <-time.After(30 * time.Second):
			t.Error("once the database is there nothing is served")
		}
	})
}

// TestStopWhileWaiting: a process that is stopped while it waits for its database ends without an
// error. Commands that serve nothing don't wait, and neither does a start with a wrong address.
func TestStopWhileWaiting(t *testing.T) {
	settings := &app.Settings{DataDir: t.TempDir(), Listen: "127.0.0.1:0",
		DatabaseURL: "postgres://till@" + freeAddress(t) + "/till"}
	for name, run := range map[string]func(context.Context) error{
		"serve": func(ctx context.Context) error { return serveCommand{}.Run(ctx, settings) },
		"demo":  func(ctx context.Context) error { return demoCommand{}.Run(ctx, settings) },
	} {
		said := logged(t)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- run(ctx) }()
		select {
		case <-said:
		case <-time.After(20 * time.Second):
			t.Errorf("%s doesn't say that it waits", name)
		}
		stop()
		if err := <-ended; err != nil {
			t.Errorf("%s that is stopped while it waits ends in %v", name, err)
		}
	}
	said := logged(t)
	if err := (migrateCommand{}).Run(t.Context(), settings); err == nil || !strings.Contains(err.Error(), "PostgreSQL at 127.0.0.1:") {
		t.Errorf("migrate without its database ends in %v", err)
	}
	settings.DatabaseURL = "postgres://%"
	if _, _, err := app.Start(t.Context(), settings); err == nil {
		t.Error("a start with a wrong address of its database doesn't end")
	}
	for len(said) > 0 {
		if got := <-said; strings.Contains(got, "Serving begins") {
			t.Errorf("it is waited: %q", got)
		}
	}
}

// forward passes connections on from one address to another until the test ends.
func forward(t *testing.T, from, to string) {
	t.Helper()
	listener, err := net.Listen("tcp", from)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			go func() {
				var both sync.WaitGroup
				both.Go(func() { _, _ = io.Copy(far, near); _ = far.Close() })
				both.Go(func() { _, _ = io.Copy(near, far); _ = near.Close() })
				both.Wait()
			}()
		}
	}()
}
