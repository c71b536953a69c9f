package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/internal/app"
)

// TestSecondServeIsRefused: one process serves a data folder. A second serve or demo is refused,
// and its error names the first process. Commands run beside it. A start that fails gives the folder back.
func TestSecondServeIsRefused(t *testing.T) {
	settings := &app.Settings{DataDir: t.TempDir(), Listen: "127.0.0.1:0", BaseURL: "no address", RateSources: []string{"none"}}
	if _, _, err := app.Start(t.Context(), settings); err == nil || strings.Contains(err.Error(), "is served by") {
		t.Fatalf("a start with a wrong base URL ends in %v", err)
	}
	settings.BaseURL = ""
	p, listener, err := app.Start(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("the data folder %s is served by process %d on ", settings.DataDir, os.Getpid())
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // one that isn't refused serves until then
	defer cancel()
	for name, err := range map[string]error{"serve": serveCommand{}.Run(ctx, settings), "demo": demoCommand{}.Run(ctx, settings)} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("a second %s ends in %v, want %q…", name, err, want)
		}
	}
	beside, err := settings.OpenDatabase(t.Context(), clock.Real())
	if err != nil {
		t.Fatalf("a command beside it ends in %v", err)
	}
	if err := errors.Join(beside.Close(), listener.Close(), p.Close()); err != nil {
		t.Fatal(err)
	}
	p, listener, err = app.Start(t.Context(), settings)
	if err != nil {
		t.Fatalf("the next one ends in %v", err)
	}
	if err := errors.Join(listener.Close(), p.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestDemoIsMadeOnce: only the first start of a demo makes the business, and with it the sample
// payments.
func TestDemoIsMadeOnce(t *testing.T) {
	t.Parallel()
	p, listener, err := app.Start(t.Context(), &app.Settings{DataDir: t.TempDir(), Listen: "127.0.0.1:0",
		RateSources: []string{"none"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, fresh := range []bool{true, false} {
		ready, err := makeDemo(t.Context(), p)
		if err != nil || ready.fresh != fresh || ready.owner.BusinessID != 1 {
			t.Errorf("the demo is fresh: %v, of business %d (%v), want %v of business 1", ready.fresh, ready.owner.BusinessID,
				err, fresh)
		}
	}
	if err := errors.Join(listener.Close(), p.Close()); err != nil {
		t.Fatal(err)
	}
}
