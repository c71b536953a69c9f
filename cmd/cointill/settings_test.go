package main

import (
	"cointill/internal/app"
	"os"
	"strings"
	"testing"
)

// TestEverySettingIsDocumented compares the settings with docs/configuration.md.
func TestEverySettingIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, each := range listSettings(&app.Settings{}) {
		names = append(names, each.variable)
		if !strings.Contains(string(text), "| `"+each.variable+"` |") {
			t.Errorf("%s is not in docs/configuration.md", each.variable)
		}
	}
	if documented := strings.Count(string(text), "\n| `COINTILL_"); documented != len(names) {
		t.Errorf("%d variables are documented, %d exist", documented, len(names))
	}
}

// TestUnknownVariable is refused with the nearest name.
func TestUnknownVariable(t *testing.T) {
	t.Setenv("COINTILL_LISTN", "127.0.0.1:1")
	if err := loadEnvironment(); err == nil || !strings.Contains(err.Error(), "COINTILL_LISTEN") {
		t.Errorf("got %v", err)
	}
}

// TestSecretFile: a secret's …_FILE variant is read, and both at once are refused.
func TestSecretFile(t *testing.T) {
	file := t.TempDir() + "/url"
	if err := os.WriteFile(file, []byte("postgres://x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("COINTILL_DATABASE_URL", "")
	os.Unsetenv("COINTILL_DATABASE_URL")
	t.Setenv("COINTILL_DATABASE_URL_FILE", file)
	if err := loadEnvironment(); err != nil || os.Getenv("COINTILL_DATABASE_URL") != "postgres://x" {
		t.Errorf("%q, %v", os.Getenv("COINTILL_DATABASE_URL"), err)
	}
	if err := loadEnvironment(); err == nil {
		t.Error("both a secret and its file were accepted")
	}
}

// TestBaseURLIsCheckedFirst: every command refuses a base URL that can't be used before it
// opens a database or prints the settings.
func TestBaseURLIsCheckedFirst(t *testing.T) {
	for text, says := range map[string]string{
		"https://ada:hunter2@pay.example.com": "must not hold a user name or a password",
		"http://pay.example.com":              "must begin with https://",
		"https://pay.example.com/shop":        "must be a scheme and a host",
	} {
		folder := t.TempDir()
		t.Setenv("COINTILL_BASE_URL", text)
		t.Setenv("COINTILL_DATA_DIR", folder)
		t.Setenv("COINTILL_LISTEN", "127.0.0.1:0")
		for _, command := range []string{"serve", "config", "migrate"} {
			err := runCommand([]string{command})
			if err == nil || !strings.Contains(err.Error(), "COINTILL_BASE_URL: ") || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s with %s: %v, want a sentence that it %s", command, text, err, says)
			}
		}
		if made, err := os.ReadDir(folder); err != nil || len(made) > 0 {
			t.Errorf("with %s the data folder has %v, %v", text, made, err)
		}
	}
}

// TestLoopbackWebhooksAreForDevelopment: webhooks may reach this machine by default only
// while the base URL is plain http on a loopback host; a setting in words wins.
func TestLoopbackWebhooksAreForDevelopment(t *testing.T) {
	for _, c := range []struct {
		base, set string
		arguments []string
		want      bool
	}{
		{"", "", nil, true},
		{"", "", []string{"--listen", "127.0.0.1:9000"}, true},
		{"", "", []string{"--listen", "10.0.0.1:9000"}, false},
		{"", "", []string{"--listen", "0.0.0.0:9000"}, false},
		{"http://localhost:8080", "", []string{"--listen", "0.0.0.0:9000"}, false},
		{"http://localhost:8080", "", []string{"--listen", ":9000"}, false},
		{"http://localhost:8080", "true", []string{"--listen", ":9000"}, true},
		{"http://localhost:8080", "", []string{"--listen", "localhost:9000"}, true},
		{"http://localhost:8080", "", []string{"--listen", "[::1]:9000"}, true},
		{"http://localhost:8080", "", nil, true},
		{"http://[::1]:8080", "", nil, true},
		{"https://pay.example.com", "", nil, false},
		{"https://localhost", "", nil, false},
		{"https://pay.example.com", "true", nil, true},
		{"https://pay.example.com", "", []string{"--webhook-loopback"}, true},
		{"http://localhost:8080", "false", nil, false},
		{"", "", []string{"--no-webhook-loopback"}, false},
	} {
		t.Setenv("COINTILL_BASE_URL", c.base)
		os.Unsetenv("COINTILL_WEBHOOK_LOOPBACK")
		if c.set != "" {
			t.Setenv("COINTILL_WEBHOOK_LOOPBACK", c.set)
		}
		_, all, err := parseArguments(append([]string{"config"}, c.arguments...))
		if err != nil {
			t.Fatalf("base URL %q, setting %q, %v: %v", c.base, c.set, c.arguments, err)
		}
		if got := all.AllowsWebhookLoopback(); got != c.want {
			t.Errorf("base URL %q, setting %q, %v: loopback webhooks %t, want %t", c.base, c.set, c.arguments, got, c.want)
		}
	}
}
