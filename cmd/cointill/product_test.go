package main

import (
	"database/sql"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/clock"
	"cointill/core/money"
	"cointill/core/settings"
	"cointill/internal/app"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestOneClock (T-4): on a machine whose clock is ten minutes behind PostgreSQL's,
// everything goes by PostgreSQL's, rows are stamped by it, and the System page
// hears how far the machine is off. With SQLite the machine's clock is the only one.
func TestOneClock(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		settings, off := &app.Settings{DataDir: t.TempDir(), RateLimit: 1}, time.Duration(0)
		if db.Postgres() {
			off = 10 * time.Minute
			// Functions of pg_catalog are found after the schema's.
			settings.DatabaseURL = strings.Replace(modelstest.URL(t), "&", "%2Cpg_catalog&", 1)
			bare, err := sql.Open("pgx", settings.DatabaseURL)
			if err == nil {
				_, err = bare.Exec("CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$SELECT pg_catalog.clock_timestamp() + interval '10 minutes'$$")
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = bare.Close() }()
		}
		p, err := app.New(t.Context(), settings, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = p.DB.Close() }()
		made, _, err := p.Accounts.CreateBusiness(t.Context(), account.NewBusiness{BusinessName: "Till", Name: "Ama", Email: "ama@till.example", Password: "a long enough passphrase"})
		if err != nil {
			t.Fatal(err)
		}
		report, err := p.NewSystem().Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		machine := clock.Real()()
		for what, ahead := range map[string]time.Duration{
			"the clock": p.Clock().Sub(machine), "a row": made.CreatedAt.Sub(machine), "the drift": -report.Drift,
		} {
			if (ahead - off).Abs() > time.Minute {
				t.Errorf("%s is %s ahead of this machine, want about %s", what, ahead, off)
			}
		}
	})
}

// TestConfirmations (DOGE-1): what the operator asks for reaches payments, the settings
// of businesses, and their page; what can't be meant is refused at the start.
func TestConfirmations(t *testing.T) {
	s := &app.Settings{Listen: "127.0.0.1:8080", DataDir: t.TempDir(), RateLimit: 1, LogLevel: "error", Confirmations: map[string]string{"DOGE": "12/60"}}
	if err := s.CompleteSettings(); err != nil {
		t.Fatal(err)
	}
	p, err := app.New(t.Context(), s, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.DB.Close() }()
	for room, depths := range map[string]settings.Depths{"payments": p.Payments.Depths, "settings": p.Settings.Depths, "pages": p.NewDashboard().Settings.Depths} {
		if usual, open := depths.UsualDepth(money.DOGE); !open || usual != (settings.Depth{Small: 12, Large: 60}) {
			t.Errorf("%s: %+v", room, usual)
		}
	}
	s.Confirmations = map[string]string{"DOGE": "5"}
	if err := s.CompleteSettings(); err == nil || !strings.Contains(err.Error(), "COINTILL_CONFIRMATIONS: confirmations of DOGE must be at least 6/40") {
		t.Error(err)
	}
}

// TestSetupTokenIsForReachableServers: unless both the listener and the base URL are loopback
// the notice at the start carries a token, and sign-up is refused without it. Another start
// prints another token, and none once there is an owner.
func TestSetupTokenIsForReachableServers(t *testing.T) {
	t.Parallel()
	loopback, everywhere := net.IPv4(127, 0, 0, 1), net.IPv4zero
	for _, c := range []struct {
		listening net.IP
		base      string
		asks      bool
	}{
		{loopback, "", false},
		{loopback, "http://localhost:8080", false},
		{net.IPv6loopback, "https://localhost", false},
		{loopback, "https://pay.example.com", true},
		{everywhere, "", true},
		{everywhere, "http://localhost:8080", true},
		{everywhere, "https://pay.example.com", true},
	} {
		what := fmt.Sprintf("listening on %s for %q", c.listening, c.base)
		settings, at := &app.Settings{DataDir: t.TempDir(), RateLimit: 1, BaseURL: c.base}, &net.TCPAddr{IP: c.listening, Port: 8080}
		start := func() (p *app.Product, token string) {
			p, err := app.New(t.Context(), settings, at)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			notice, err := p.DescribeFirstOwner(t.Context())
			if err != nil || !strings.Contains(notice, p.Base+"/sign-up") {
				t.Fatalf("%s: the notice is %q, %v", what, notice, err)
			}
			_, token, _ = strings.Cut(strings.TrimSpace(notice), "/sign-up#token=")
			return p, token
		}
		p, old := start()
		if err := p.DB.Close(); err != nil {
			t.Fatal(err)
		}
		p, token := start()
		n := account.NewBusiness{BusinessName: "Till", Name: "Ama", Email: "ama@till.example", Password: "a long enough passphrase", SetupToken: old}
		if (token != "") != c.asks || p.Users.SetupTokenAsked() != c.asks {
			t.Errorf("%s: the notice has the token %q, asked for: %t, want %t", what, token, p.Users.SetupTokenAsked(), c.asks)
		}
		if _, _, err := p.Accounts.SignUp(t.Context(), n); (err != nil) != c.asks || old == token && c.asks {
			t.Errorf("%s: sign-up with the token of the start before: %v", what, err)
		}
		if n.SetupToken = token; c.asks {
			if _, _, err := p.Accounts.SignUp(t.Context(), n); err != nil {
				t.Errorf("%s: sign-up with the token: %v", what, err)
			}
		}
		if notice, err := p.DescribeFirstOwner(t.Context()); notice != "" || err != nil {
			t.Errorf("%s: there is an owner, and the notice is %q, %v", what, notice, err)
		}
		if err := p.DB.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
