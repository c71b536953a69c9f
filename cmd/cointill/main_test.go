package main

import (
	"log/slog"
	"os"
	"testing"
)

// TestMain has the programs of the tests log warnings only.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	os.Exit(m.Run())
}
