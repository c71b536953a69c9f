package main

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/valyala/fasthttp"
	"gorm.io/gorm/clause"

	"cointill/chain"
	"cointill/core/clock"
	"cointill/core/ident"
	"cointill/core/payment"
	"cointill/core/payment/bulk"
	"cointill/models"
)

var (
	scaleSizes = flag.String("scale.sizes", "10000,100000", "BenchmarkScale: numbers of payments to measure at, growing")
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
	settings := &Settings{DataDir: b.TempDir()}
	if *scaleFull != "" {
		settings.DatabaseURL, settings.DataDir = os.Getenv("COINTILL_TEST_DATABASE_URL"), os.Getenv("COINTILL_DATA_DIR")
	}
	s := serveOn(b, settings, true, *scaleFull)
	defer s.stop()
	if *scaleFull != "" {
		s.scale(b, "full")
		return
	}
	made := 0
	for text := range strings.SplitSeq(*scaleSizes, ",") {
		size, err := strconv.Atoi(text)
		if err != nil || size <= made {
			b.Fatal("sizes are numbers that grow: ", *scaleSizes)
		}
		// A fifth is the business's whose requests are measured.
		its := (size - made) / 5
		err = bulk.Fill(b.Context(), s.product.db, bulk.Plan{Business: s.scope.BusinessID, Its: its, Others: 20, Theirs: size - made - its, Until: clock.Real()()})
		if err != nil {
			b.Fatal(err)
		}
		made = size
		s.exec(b, "VACUUM ANALYZE")
		s.scale(b, text)
	}
}

// scale measures at the size that the tables have.
func (s *served) scale(b *testing.B, size string) {
	s.prepare(b)
	b.Run("payments="+size+"/initiate", func(b *testing.B) {
		script := s.script(b)
		s.versus(b, initiateLimit, s.initiate, func(n int) time.Duration { return s.pgbench(b, script, n) })
	})
	b.Run("payments="+size+"/verify", func(b *testing.B) {
		bare, stop := s.handler(b)
		defer stop()
		s.versus(b, verifyLimit, s.verify, func(n int) time.Duration { return timed(b, scaleClients, n, bare) })
	})
	b.Run("payments="+size+"/blocks", s.blocks)
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

// handler is a bare fiber handler with one select by pgx, and a client of it.
func (s *served) handler(b *testing.B) (ask func() error, stop func()) {
	pool, err := pgxpool.New(b.Context(), s.address)
	if err != nil {
		b.Fatal(err)
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Get("/:reference", func(c *fiber.Ctx) error {
		var status, due string
		var amount int64
		err := pool.QueryRow(c.Context(), "SELECT status, amount, due::text FROM payments WHERE business_id = $1 AND domain = 'test' AND reference = $2",
			s.scope.BusinessID, c.Params("reference")).Scan(&status, &amount, &due)
		if err != nil {
			return err
		}
		return c.JSON(fiber.Map{"status": status, "amount": amount, "due": due})
	})
	listener := listen(b)
	var running sync.WaitGroup
	running.Go(func() { _ = app.Listener(listener) })
	at := "http://" + listener.Addr().String() + "/"
	ask = func() error {
		request, answer := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
		defer fasthttp.ReleaseRequest(request)
		defer fasthttp.ReleaseResponse(answer)
		request.SetRequestURI(at + s.refs[int(s.next.Add(1))%len(s.refs)])
		err := s.client.Do(request, answer)
		if err == nil && answer.StatusCode() != 200 {
			err = fmt.Errorf("the bare handler answered %d: %s", answer.StatusCode(), answer.Body())
		}
		return err
	}
	return ask, func() { _ = app.Shutdown(); running.Wait(); pool.Close() }
}

// blocks says what a block costs that pays nobody, and one that pays ten
// payments, on a network of the benchmark's own.
func (s *served) blocks(b *testing.B) {
	const each, full = 10, 20
	ctx, network := b.Context(), chain.Network("bench-"+ident.Text(6))
	var paid []payment.View
	for range each * full {
		started, err := s.product.payments.Initiate(ctx, s.scope, payment.Request{Currency: "NGN", Amount: 25_000, FirstName: "Ngozi", LastName: "Okafor",
			Email: "ngozi@customer.example", Method: "crypto_bitcoin"})
		if err != nil {
			b.Fatal(err)
		}
		v, err := s.product.payments.OpenByReference(ctx, s.scope, started.Reference)
		if err != nil {
			b.Fatal(err)
		}
		s.exec(b, "UPDATE payments SET network = $1 WHERE id = $2", string(network), v.Payment.ID)
		s.exec(b, "UPDATE destinations SET network = $1 WHERE payment_id = $2", string(network), v.Payment.ID)
		paid = append(paid, v)
	}
	observer := &payment.Observer{Service: s.product.payments, Watching: new(chain.WatchSet)}
	last := chain.BlockID{}
	apply := func(transfers ...chain.Transfer) time.Duration {
		header := chain.Header{BlockID: chain.BlockID{Height: last.Height + 1, Hash: ident.Text(20)}, Parent: last.Hash, Time: clock.Real()()}
		batch := chain.Batch{Network: network, From: last, Tip: chain.Tip{Header: header, Finalized: -1}, Pending: &chain.Pending{},
			Blocks: []chain.Block{{Header: header, Transfers: transfers}}}
		last = header.BlockID
		began := time.Now()
		if err := observer.Refresh(ctx, network); err != nil {
			b.Fatal(err)
		}
		if err := observer.Apply(ctx, batch); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	apply()
	var empty, busy []float64
	for b.Loop() {
		for range full {
			empty = append(empty, float64(apply().Microseconds())/1000)
		}
		for ; len(paid) > 0; paid = paid[each:] {
			var transfers []chain.Transfer
			for n, v := range paid[:each] {
				transfers = append(transfers, chain.Transfer{TxID: ident.Text(20), Index: n, Asset: v.Payment.Coin,
					Destination: chain.Destination{Address: v.Payment.Address}, Amount: v.Payment.Due, Spends: []string{ident.Text(20)}})
			}
			busy = append(busy, float64(apply(transfers...).Microseconds())/1000)
		}
	}
	slices.Sort(empty)
	slices.Sort(busy)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(empty[len(empty)/2], "ms/block")
	b.ReportMetric(busy[len(busy)/2]/each, "ms/paid")
}

func (s *served) exec(b *testing.B, text string, args ...any) {
	b.Helper()
	if _, err := s.bare.ExecContext(context.WithoutCancel(b.Context()), text, args...); err != nil {
		b.Fatal(text, ": ", err)
	}
}
