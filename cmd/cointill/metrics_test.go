package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/ident"
	"cointill/core/payment"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/core/webhook/delivery"
	"cointill/internal/app"
	"cointill/models"
)

// instance is the real program, serving from a folder of its own.
type instance struct {
	*app.Product
	at, metrics string // addresses of the listeners
	scope       scope.Scope
	told        chan payment.Change
	attempts    chan delivery.Attempted
}

// serving runs the program until the test ends.
func serving(t *testing.T, settings *app.Settings) *instance {
	t.Helper()
	settings.DataDir, settings.RateLimit, settings.WebhookLoopback = t.TempDir(), 6000, new(true)
	var listeners [2]net.Listener
	for i := range listeners {
		var err error
		if listeners[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	p, err := app.New(t.Context(), settings, listeners[0].Addr(), listeners[1].Addr())
	if err != nil {
		t.Fatal(err)
	}
	told, counted := make(chan payment.Change, 100), p.Payments.Reached
	p.Payments.Reached = func(c payment.Change) { counted(c); told <- c }
	attempts, measured := make(chan delivery.Attempted, 100), p.Sender.Attempted
	p.Sender.Attempted = func(a delivery.Attempted) { measured(a); attempts <- a }
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := p.Serve(ctx, listeners[0]); err != nil {
			t.Error(err)
		}
	})
	running.Go(func() {
		if err := p.Server.ListenMetrics(listeners[1]); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	i := &instance{Product: p, at: "http://" + listeners[0].Addr().String(), metrics: "http://" + listeners[1].Addr().String() + "/metrics", told: told, attempts: attempts}
	made, _, err := p.Accounts.CreateBusiness(t.Context(), account.NewBusiness{BusinessName: "Till", Name: "Ama", Email: "ama@till.example", Password: ident.RandomText(20)})
	if err != nil {
		t.Fatal(err)
	}
	i.scope = scope.Scope{BusinessID: made.ID, Domain: scope.Test, Actor: "test", Role: scope.System}
	return i
}

// get is an answer's status and text.
func get(t *testing.T, address string) (int, string) {
	t.Helper()
	answer, err := (&http.Client{Timeout: 20 * time.Second}).Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// pay has a payment paid in the sandbox, whose blocks come by themselves, and waits until it is Successful.
func (i *instance) pay(t *testing.T) payment.View {
	t.Helper()
	ctx := t.Context()
	started, err := i.Payments.Initiate(ctx, i.scope, payment.Request{Currency: "NGN", Amount: 25_000, FirstName: "Ngozi", LastName: "Okafor",
		Email: "ngozi@customer.example", Method: "crypto_dogecoin"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.Sandbox.Simulate(ctx, i.scope, started.Reference, sandbox.Exact, ""); err != nil {
		t.Fatal(err)
	}
	for reached := ""; reached != string(payment.Successful); {
		select {
		case change := <-i.told:
			reached = change.Payment.Status
		case <-t.Context().Done():
			t.Fatal("the payment stays " + reached)
		}
	}
	v, err := i.Payments.Verify(ctx, i.scope, started.Reference)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestMetrics scrapes the running program: what happened is counted, requests by
// their route and never by their path, and nobody reads it where the public is served.
func TestMetrics(t *testing.T) {
	t.Parallel()
	i := serving(t, &app.Settings{TestBitcoinURL: []string{"http://user:password@127.0.0.1:1"}, TestBitcoinNetwork: "regtest", RateSources: []string{"standard"}})
	from, now := i.Quotes.Asked[0], i.Clock()
	price := models.Rate{Source: from.Name, Base: from.Pairs()[0].Base, Quote: from.Pairs()[0].Quote, Origin: from.Origin, Value: "60000", At: now, FetchedAt: now}
	if err := errors.Join(i.DB.Exec(t.Context()).Create(&price).Error, i.Rates.Board.Load(t.Context())); err != nil {
		t.Fatal(err)
	}
	v := i.pay(t)
	for range 3 {
		get(t, i.at+"/v1/payment/verify/"+v.Payment.Reference)
		get(t, i.at+"/"+ident.RandomText(20))
	}
	status, text := get(t, i.metrics)
	if status != http.StatusOK {
		t.Fatalf("status = %v", status)
	}
	for _, want := range []string{
		`cointill_payments_total{domain="test",state="successful"} 1`, `cointill_payments_total{domain="live",state="successful"} 0`,
		`cointill_http_request_seconds_count{method="GET",route="/v1/payment/verify/:business_reference",status="401"} 3`,
		`cointill_http_request_seconds_count{method="GET",route="none",status="404"} 3`,
		`cointill_follower_lag_blocks{domain="test",network="sandbox-dogecoin"} `, `cointill_lease_held{work="follow sandbox-dogecoin"} 1`, `cointill_follower_look_seconds{domain="test",network="sandbox-dogecoin"} `,
		`cointill_build_info{go="go`, `cointill_mails_total{outcome="kept"} `, `cointill_database_up 1`, `go_sql_open_connections{db_name="write"} 1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, private := range []string{v.Payment.Reference, v.Payment.CustomerEmail, v.Payment.Address, "BUS_"} {
		if strings.Contains(text, private) {
			t.Errorf("%s is told", private)
		}
	}
	compareNames(t, exposed(text))
	for _, name := range []string{"grafana.json", "alerts.yml"} {
		onlyExposed(t, name, exposed(text))
	}
	if status, _ := get(t, i.at+"/metrics"); status != http.StatusNotFound {
		t.Errorf("the public address answers %d", status)
	}
}

// file is a page of the documentation, or a file beside it.
func file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// compareNames compares our metrics with the table of docs/operations.md.
func compareNames(t *testing.T, told map[string]bool) {
	t.Helper()
	page := file(t, "operations.md")
	for name := range told {
		if strings.HasPrefix(name, "cointill_") && !strings.Contains(page, "\n| `"+name+"` |") {
			t.Errorf("%s is not in docs/operations.md", name)
		}
	}
	for _, row := range strings.Split(page, "\n| `cointill_")[1:] {
		if name, _, _ := strings.Cut(row, "`"); !told["cointill_"+name] {
			t.Errorf("docs/operations.md has %s, which is not told", name)
		}
	}
}

// metricName matches the metrics of this program and of the libraries that it shows.
var metricName = regexp.MustCompile(`\b(cointill|go|process)_[a-z_]+`)

// onlyExposed refuses a dashboard or rules that ask for what is never told.
func onlyExposed(t *testing.T, name string, told map[string]bool) {
	t.Helper()
	asked := metricName.FindAllString(file(t, "deploy/"+name), -1)
	if len(asked) < 15 {
		t.Errorf("%s asks for %q", name, asked)
	}
	for _, metric := range asked {
		parts := regexp.MustCompile(`_(bucket|sum|count)$`)
		if !told[metric] && !told[parts.ReplaceAllString(metric, "")] {
			t.Errorf("%s asks for %s, which is not told", name, metric)
		}
	}
}

// TestAlertsAreExplained: every alert has a paragraph that says what to do, and
// every paragraph an alert.
func TestAlertsAreExplained(t *testing.T) {
	rules, page := file(t, "deploy/alerts.yml"), file(t, "operations.md")
	named := regexp.MustCompile(`- alert: (\w+)\n\s+expr: .+\n(?:\s+for: \w+\n)\s+labels: {severity: (?:page|ticket)}\n\s+annotations:\n\s+summary: .+\n\s+runbook_url: docs/operations\.md#(\w+)\n`).
		FindAllStringSubmatch(rules, -1)
	if len(named) != strings.Count(rules, "alert:") || len(named) < 10 {
		t.Fatalf("%d of %d alerts are complete", len(named), strings.Count(rules, "alert:"))
	}
	for _, alert := range named {
		if !strings.Contains(page, "\n#### "+alert[1]+"\n") || alert[2] != strings.ToLower(alert[1]) {
			t.Errorf("docs/operations.md does not explain %s at #%s", alert[1], alert[2])
		}
	}
	if explained := strings.Count(page, "\n#### Cointill"); explained != len(named) {
		t.Errorf("%d alerts are explained, there are %d", explained, len(named))
	}
}

// exposed are the names of the metrics in what was scraped.
func exposed(scraped string) map[string]bool {
	names := map[string]bool{}
	for _, line := range strings.Split(scraped, "\n") {
		if words := strings.Fields(line); len(words) > 2 && words[1] == "TYPE" {
			names[words[2]] = true
		}
	}
	return names
}
