package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm/clause"

	"cointill/chain"
	"cointill/core/clock"
	"cointill/core/ident"
	"cointill/core/payment"
	"cointill/core/payment/bulk"
	"cointill/core/payment/observe"
	"cointill/core/webhook"
	"cointill/internal/app"
	"cointill/models"
)

var (
	scaleSizes = flag.String("scale.sizes", "10000,100000", "BenchmarkScale: numbers of payments to measure at")
	scaleFull  = flag.String("scale.business", "", "BenchmarkScale: code of a business whose database, named by COINTILL_TEST_DATABASE_URL, was filled by cointill seed; measured as it stands")
)

// The least ratios to bare requests, with as many clients at once.
const (
	scaleClients  = 32
	initiateLimit = 0.6 // of pgbench running the same statements
	verifyLimit   = 0.5 // of a bare fiber handler with one select by pgx
)

// BenchmarkScale says on PostgreSQL what requests and blocks cost as the tables
// grow, requests as ratios to bare ones in the same run, and what a payment
// takes on disk: make scale.
func BenchmarkScale(b *testing.B) {
	if os.Getenv("COINTILL_TEST_DATABASE_URL") == "" {
		b.Fatal("COINTILL_TEST_DATABASE_URL is not set: run make scale")
	}
	if *scaleFull != "" {
		s := serveOn(b, &app.Settings{DataDir: os.Getenv("COINTILL_DATA_DIR"), DatabaseURL: os.Getenv("COINTILL_TEST_DATABASE_URL")}, true, *scaleFull)
		defer s.stop()
		s.scale(b, "full")
		return
	}
	for n, text := range strings.Split(*scaleSizes, ",") {
		size, err := strconv.Atoi(text)
		if err != nil || size < 1 {
			b.Fatal("sizes are numbers: ", *scaleSizes)
		}
		s := serveOn(b, &app.Settings{DataDir: b.TempDir()}, true, "")
		if n == 0 {
			b.Run("a-payment", s.disk)
		}
		// A fifth is the business's whose requests are measured.
		err = bulk.Fill(b.Context(), s.product.DB, bulk.Plan{Business: s.scope.BusinessID, Its: size / 5, Others: 20, Theirs: size - size/5, Until: clock.Real()()})
		if err != nil {
			b.Fatal(err)
		}
		s.exec(b, "VACUUM ANALYZE")
		s.scale(b, text)
		s.stop()
	}
}

// scale measures at the size that the tables have.
func (s *served) scale(b *testing.B, size string) {
	s.prepare(b)
	b.Run("payments="+size+"/initiate", func(b *testing.B) {
		script := s.script(b)
		s.versus(b, initiateLimit, s.initiate, func(n int) time.Duration { return s.pgbench(b, script, n) })
	})
	beside := func(asks question) func(*testing.B) {
		return func(b *testing.B) {
			bare, stop := s.handler(b, asks)
			defer stop()
			s.versus(b, verifyLimit, s.verify, func(n int) time.Duration { return timed(b, scaleClients, n, bare) })
		}
	}
	b.Run("payments="+size+"/verify", beside(s.wholePayment))
	b.Run("payments="+size+"/verify-beside-least", beside(s.leastOfPayment))
	b.Run("payments="+size+"/blocks", s.blocks)
	b.Run("payments="+size+"/watching", s.watching)
}

// versus runs rounds of requests and of bare ones in turn.
func (s *served) versus(b *testing.B, limit float64, ours func() error, bare func(n int) time.Duration) {
	const rounds, n = 6, 3200
	var ratios, rates []float64
	for b.Loop() {
		for range rounds {
			took := timed(b, scaleClients, n, ours)
			ratios = append(ratios, bare(n).Seconds()/took.Seconds())
			rates = append(rates, n/took.Seconds())
		}
	}
	slices.Sort(ratios)
	slices.Sort(rates)
	median := ratios[len(ratios)/2]
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(rates[len(rates)/2], "req/s")
	b.ReportMetric(median, "ratio")
	b.ReportMetric(median/limit, "of-limit") // 1 and more holds
}

// script is pgbench's: the statements of an initiation, as the product makes them.
func (s *served) script(b *testing.B) string {
	now := clock.Trim(clock.Real()())
	customer := models.Customer{BusinessID: s.scope.BusinessID, Domain: "test", Email: "varying", Code: "varying", FirstName: "N", LastName: "O", CreatedAt: now, UpdatedAt: now}
	p := s.template(now)
	p.Reference, p.BusinessReference, p.TokenHash, p.AuthorizationCode, p.CustomerID = "varying", "varying", "varying", "varying", 999_999_999
	step := models.Step{PaymentID: 999_999_998, Number: 1, Kind: "state", To: "pending", Remark: "-", Detail: "{}", Actor: "bench", At: now, CreatedAt: now}
	tally := models.TallyChange{BusinessID: s.scope.BusinessID, Domain: "test", PaymentAt: now, Currency: "NGN", Method: "crypto_bitcoin", Amount: 25000, To: "pending"}
	upsert := clause.OnConflict{Columns: []clause.Column{{Name: "business_id"}, {Name: "domain"}, {Name: "email"}},
		DoUpdates: clause.AssignmentColumns([]string{"first_name", "last_name", "updated_at"})}
	literal := func(made statement) string {
		text := made.text
		for n := len(made.args); n > 0; n-- {
			text = strings.ReplaceAll(text, "$"+strconv.Itoa(n), quoted(made.args[n-1]))
		}
		return strings.TrimSuffix(text, ";")
	}
	lines := []string{
		`\set r random(1, 9000000000000000000)`, `\set c random(1, 1000)`,
		fmt.Sprintf("SELECT id, business_id, domain, name, last_used_at, expires_at, revoked_at FROM api_keys WHERE hash = '%s';", s.keyHash),
		fmt.Sprintf("SELECT * FROM businesses WHERE id = %d LIMIT 1;", s.scope.BusinessID),
		fmt.Sprintf("SELECT count(*) FROM methods WHERE business_id = %d AND domain = 'test' AND code = 'crypto_bitcoin' AND enabled;", s.scope.BusinessID),
		fmt.Sprintf("SELECT * FROM rate_policies WHERE business_id = %d AND domain = 'test' AND currency = 'NGN' LIMIT 1;", s.scope.BusinessID),
		"BEGIN;",
		literal(s.statement(upsert, &customer)) + ` \gset customer_`,
		literal(s.statement(clause.OnConflict{DoNothing: true}, &p)) + ` \gset payment_`,
		literal(s.statement(nil, &tally)) + ";",
		literal(s.statement(nil, &step)) + ";",
		"COMMIT;",
	}
	path := filepath.Join(b.TempDir(), "initiate.sql")
	text := strings.NewReplacer("999999999", ":customer_id", "999999998", ":payment_id").Replace(strings.Join(lines, "\n") + "\n")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// quoted writes a value as SQL; a varying one is another in each transaction.
func quoted(value any) string {
	switch v := value.(type) {
	case nil:
		return "NULL"
	case string:
		if v == "varying" {
			return "'V' || :r || '@' || :c"
		}
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	case time.Time:
		return "'" + v.Format(time.RFC3339Nano) + "'"
	case *time.Time:
		if v == nil {
			return "NULL"
		}
		return quoted(*v)
	case bool, int, int64, uint32:
		return fmt.Sprint(v)
	}
	if text := fmt.Sprint(value); text != "<nil>" {
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return "NULL"
}

var tps = regexp.MustCompile(`tps = ([0-9.]+)`)

// pgbench runs a script n times, and says how long that took.
func (s *served) pgbench(b *testing.B, script string, n int) time.Duration {
	b.Helper()
	at, err := url.Parse(s.address)
	if err != nil {
		b.Fatal(err)
	}
	// pgbench knows no search_path in an address.
	query := at.Query()
	schema := query.Get("search_path")
	query.Del("search_path")
	at.RawQuery = query.Encode()
	command := exec.CommandContext(b.Context(), "pgbench", "-n", "-M", "prepared", "-c", strconv.Itoa(scaleClients), "-j", "2",
		"-t", strconv.Itoa(n/scaleClients), "-f", script, at.String())
	command.Env = os.Environ()
	if schema != "" {
		command.Env = append(command.Env, "PGOPTIONS=-c search_path="+schema)
	}
	text, err := command.CombinedOutput()
	found := tps.FindSubmatch(text)
	if err != nil || found == nil {
		b.Fatalf("pgbench: %v: %s", err, text)
	}
	rate, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return time.Duration(float64(n) / rate * float64(time.Second))
}

// blocks says what a block costs that pays nobody, and one that pays ten payments.
func (s *served) blocks(b *testing.B) {
	const each, full = 10, 20
	network := s.network(b)
	var empty, busy []float64
	for b.Loop() {
		for range full {
			empty = append(empty, network.apply())
		}
		for paid := network.opened(each * full); len(paid) > 0; paid = paid[each:] {
			busy = append(busy, network.apply(paid[:each]...))
		}
	}
	slices.Sort(empty)
	slices.Sort(busy)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(empty[len(empty)/2], "ms/block")
	b.ReportMetric(busy[len(busy)/2]/each, "ms/paid")
}

// watching says what it takes to know every address of the network that has the most.
func (s *served) watching(b *testing.B) {
	var most struct {
		Network string
		Number  int
	}
	err := s.product.DB.Read(b.Context()).Raw("SELECT network, count(*) AS number FROM destinations GROUP BY network ORDER BY count(*) DESC LIMIT 1").Scan(&most).Error
	if err != nil {
		b.Fatal(err)
	}
	used := func() uint64 {
		runtime.GC()
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		return now.HeapAlloc
	}
	var took time.Duration
	var bytes uint64
	for b.Loop() {
		observer := observe.New(s.product.Payments, s.product.Sends, new(chain.WatchSet))
		before, began := used(), time.Now()
		if err := observer.Load(b.Context(), chain.Network(most.Network)); err != nil {
			b.Fatal(err)
		}
		took, bytes = time.Since(began), max(used(), before)-before // the program frees some meanwhile
		runtime.KeepAlive(observer)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(most.Number), "addresses")
	b.ReportMetric(took.Seconds(), "s/load")
	b.ReportMetric(float64(bytes)/float64(most.Number), "bytes/address")
}

// disk says what a payment that is paid and told to a webhook takes, by table.
func (s *served) disk(b *testing.B) {
	const each, all = 10, 1000
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer hook.Close()
	_, _, err := s.product.Webhooks.Create(b.Context(), s.scope, webhook.Create{Name: "orders", URL: hook.URL, Active: true})
	if err != nil {
		b.Fatal(err)
	}
	network := s.network(b)
	before := s.tables(b)
	for paid := network.opened(all); len(paid) > 0; paid = paid[each:] {
		network.apply(paid[:each]...)
	}
	for range 3 { // until the last are final
		network.apply()
	}
	for open := int64(1); open > 0; {
		if err := s.product.DB.Read(b.Context()).Model(&models.Delivery{}).Where("done_at IS NULL").Count(&open).Error; err != nil {
			b.Fatal(err)
		}
	}
	var bytes, rows int64
	var lines []string
	for name, now := range s.tables(b) {
		now.bytes, now.rows = now.bytes-before[name].bytes, now.rows-before[name].rows
		if now.rows*100 > all { // the others are not about payments
			lines = append(lines, fmt.Sprintf("%8.0f bytes in %4.1f rows: %s", float64(now.bytes)/all, float64(now.rows)/all, name))
			bytes, rows = bytes+now.bytes, rows+now.rows
		}
	}
	slices.Sort(lines)
	fmt.Fprintln(os.Stderr, "a payment takes, with indexes:\n"+strings.Join(lines, "\n")) // Log would cut it
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(bytes)/all, "bytes/payment")
	b.ReportMetric(float64(rows)/all, "rows/payment")
}

// room is what a table takes.
type room struct{ rows, bytes int64 }

func (s *served) tables(b *testing.B) map[string]room {
	b.Helper()
	s.exec(b, "VACUUM")
	names, err := s.product.DB.Exec(b.Context()).Migrator().GetTables()
	if err != nil {
		b.Fatal(err)
	}
	all := map[string]room{}
	for _, name := range names {
		var r room
		if err := s.bare.QueryRow(fmt.Sprintf("SELECT count(*), pg_total_relation_size('%s') FROM %s", name, name)).Scan(&r.rows, &r.bytes); err != nil {
			b.Fatal(err)
		}
		all[name] = r
	}
	return all
}

// benchNetwork is one of the benchmark's own, whose blocks it makes itself.
type benchNetwork struct {
	*served
	b        *testing.B
	name     chain.Network
	observer *observe.Observer
	last     chain.BlockID
}

func (s *served) network(b *testing.B) *benchNetwork {
	n := &benchNetwork{served: s, b: b, name: chain.Network("bench-" + ident.RandomText(6))}
	n.observer = observe.New(s.product.Payments, s.product.Sends, new(chain.WatchSet))
	n.apply()
	return n
}

// opened are payments that wait for their money on the network.
func (n *benchNetwork) opened(count int) (views []payment.View) {
	n.b.Helper()
	ctx := n.b.Context()
	for range count {
		started, err := n.product.Payments.Initiate(ctx, n.scope, payment.Request{Currency: "NGN", Amount: 25_000, FirstName: "Ngozi", LastName: "Okafor",
			Email: fmt.Sprintf("c%d@customer.example", n.next.Add(1)), Method: "crypto_bitcoin"})
		if err != nil {
			n.b.Fatal(err)
		}
		v, err := n.product.Payments.OpenByReference(ctx, n.scope, started.Reference)
		if err != nil {
			n.b.Fatal(err)
		}
		n.exec(n.b, "UPDATE payments SET network = $1 WHERE id = $2", string(n.name), v.Payment.ID)
		n.exec(n.b, "UPDATE destinations SET network = $1 WHERE payment_id = $2", string(n.name), v.Payment.ID)
		views = append(views, v)
	}
	return views
}

// apply applies a block that pays these payments, and returns how many
// milliseconds that took.
func (n *benchNetwork) apply(paid ...payment.View) float64 {
	n.b.Helper()
	ctx := n.b.Context()
	header := chain.Header{BlockID: chain.BlockID{Height: n.last.Height + 1, Hash: ident.RandomText(20)}, Parent: n.last.Hash, Time: clock.Real()()}
	block := chain.Block{Header: header}
	for i, v := range paid {
		block.Transfers = append(block.Transfers, chain.Transfer{TxID: ident.RandomText(20), Index: i, Asset: v.Payment.Coin,
			Destination: chain.Destination{Address: v.Payment.Address}, Amount: v.Payment.Due, Spends: []string{ident.RandomText(20)}})
	}
	batch := chain.Batch{Network: n.name, From: n.last, Tip: chain.Tip{Header: header, Finalized: -1}, Pending: &chain.Pending{}, Blocks: []chain.Block{block}}
	n.last = header.BlockID
	began := time.Now()
	if err := n.observer.Refresh(ctx, n.name); err != nil {
		n.b.Fatal(err)
	}
	if err := n.observer.Apply(ctx, batch); err != nil {
		n.b.Fatal(err)
	}
	return float64(time.Since(began).Microseconds()) / 1000
}

func (s *served) exec(b *testing.B, text string, args ...any) {
	b.Helper()
	if _, err := s.bare.ExecContext(context.WithoutCancel(b.Context()), text, args...); err != nil {
		b.Fatal(text, ": ", err)
	}
}
