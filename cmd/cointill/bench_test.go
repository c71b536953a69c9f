package main

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cointill/core/account"
	"cointill/core/ident"
	"cointill/core/scope"
	"cointill/internal/app"
	"cointill/models"
	"cointill/models/modelstest"
)

// The benchmarks print, for each database, how many payments are open already
// and how many clients ask at once, the requests a second over HTTP and their
// ratio to the same SQL statements run bare by database/sql in the same run.

func BenchmarkInitiate(b *testing.B) {
	eachBench(b, func(b *testing.B, s *served, clients int) {
		compare(b, clients, s.initiate, s.bareInitiate)
	})
}

func BenchmarkVerify(b *testing.B) {
	eachBench(b, func(b *testing.B, s *served, clients int) {
		compare(b, clients, s.verify, s.bareVerify)
	})
}

func eachBench(b *testing.B, measure func(b *testing.B, s *served, clients int)) {
	for _, database := range []string{"sqlite", "postgres"} {
		if database == "postgres" && os.Getenv("COINTILL_TEST_DATABASE_URL") == "" {
			b.Log("COINTILL_TEST_DATABASE_URL is not set: run make bench for PostgreSQL")
			continue
		}
		for _, open := range []int{0, 10_000, 100_000} {
			s := serveForBench(b, database == "postgres", open)
			for _, clients := range []int{1, 8, 32} {
				b.Run(fmt.Sprintf("%s/open=%d/clients=%d", database, open, clients), func(b *testing.B) { measure(b, s, clients) })
			}
			s.stop()
		}
	}
}

// compare runs rounds of both in turn, so that what else the machine does hits both.
func compare(b *testing.B, clients int, ours, bare func() error) {
	const rounds = 4
	var oursTook, bareTook time.Duration
	n := max(b.N/rounds, clients)
	b.ResetTimer()
	for range rounds {
		oursTook += timed(b, clients, n, ours)
		b.StopTimer()
		bareTook += timed(b, clients, n, bare)
		b.StartTimer()
	}
	total := float64(n * rounds)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(total/oursTook.Seconds(), "req/s")
	b.ReportMetric(total/bareTook.Seconds(), "bare/s")
	b.ReportMetric(bareTook.Seconds()/oursTook.Seconds(), "ratio")
}

func timed(b *testing.B, clients, n int, op func() error) time.Duration {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(n))
	var all sync.WaitGroup
	began := time.Now()
	for range clients {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				if err := op(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	return time.Since(began)
}

// served is a running product with a business, a key, and a bare connection beside it.
type served struct {
	product  *app.Product
	key      string
	scope    scope.Scope
	refs     []string
	next     atomic.Int64
	client   *fasthttp.Client
	bare     *sql.DB // the same database, written to as the product does
	read     *sql.DB
	postgres bool
	address  string // of the PostgreSQL database
	keyHash  string
	stop     func()
}

// statement is one SQL statement with its arguments.
type statement struct {
	text string
	args []any
}

func serveForBench(b *testing.B, postgres bool, open int) *served {
	b.Helper()
	s := serveOn(b, &app.Settings{DataDir: b.TempDir()}, postgres, "")
	s.seed(b, open)
	s.prepare(b)
	return s
}

// serveOn serves from a database of its own, unless the settings name one, with
// a key of a new business, or of the one that has the code.
func serveOn(b *testing.B, settings *app.Settings, postgres bool, code string) *served {
	b.Helper()
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))) // as production logs, but for the lines
	settings.RateLimit, settings.WebhookLoopback = 1<<40, new(true)
	if postgres && settings.DatabaseURL == "" {
		settings.DatabaseURL = modelstest.URL(b)
	}
	listener := listen(b)
	p, err := app.New(b.Context(), settings, listener.Addr())
	if err != nil {
		b.Fatal(err)
	}
	s := &served{product: p, postgres: postgres, address: settings.DatabaseURL}
	business, err := p.Accounts.Business(b.Context(), code)
	if code == "" {
		business, _, err = p.Accounts.CreateBusiness(b.Context(), account.NewBusiness{BusinessName: "Bench", Name: "Bench", Email: "b@bench.example", Password: ident.RandomText(20)})
	}
	if err != nil {
		b.Fatal(err)
	}
	s.scope = scope.Scope{BusinessID: business.ID, Domain: scope.Test, Actor: "bench", Role: scope.System}
	if _, s.key, err = p.Keys.CreateKey(b.Context(), s.scope, "bench"); err != nil {
		b.Fatal(err)
	}
	s.client = &fasthttp.Client{MaxConnsPerHost: 64}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := p.Serve(ctx, listener); err != nil {
			b.Error(err)
		}
	})
	s.connect(b, settings)
	s.stop = func() { s.bare.Close(); s.read.Close(); cancel(); running.Wait() }
	for range 200 {
		if err := s.initiate(); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

func listen(b *testing.B) net.Listener {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	return listener
}

// connect opens the database a second time, as bare database/sql.
func (s *served) connect(b *testing.B, settings *app.Settings) {
	b.Helper()
	if s.postgres {
		db, err := sql.Open("pgx", settings.DatabaseURL)
		if err != nil {
			b.Fatal(err)
		}
		db.SetMaxOpenConns(16)
		db.SetMaxIdleConns(16)
		s.bare, s.read = db, db
		return
	}
	dsn := "file:" + settings.DataDir + "/cointill.db?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
	var err error
	if s.bare, err = sql.Open("sqlite", dsn+"&_txlock=immediate"); err != nil {
		b.Fatal(err)
	}
	s.bare.SetMaxOpenConns(1)
	if s.read, err = sql.Open("sqlite", dsn); err != nil {
		b.Fatal(err)
	}
	s.read.SetMaxOpenConns(8)
	s.read.SetMaxIdleConns(8)
}

// seed copies a payment until so many are open, with addresses and deadlines far away.
func (s *served) seed(b *testing.B, open int) {
	b.Helper()
	types, err := s.product.DB.Exec(b.Context()).Migrator().ColumnTypes(&models.Payment{})
	if err != nil {
		b.Fatal(err)
	}
	var names, values []string
	own := map[string]string{"reference": "'PAY_SEED' || i", "business_reference": "'SEED' || i", "token_hash": "'seed' || i", "address": "'seed' || i", "status": "'initiated'"}
	for _, column := range types {
		name := column.Name()
		if name == "id" {
			continue
		}
		value := "payments." + name
		if changed, ok := own[name]; ok {
			value = changed
		}
		if name == "due_at" {
			value = "payments.created_at"
			if s.postgres {
				value += " + interval '1000 hours'"
			} else {
				value = "'2999-01-01 00:00:00+00:00'"
			}
		}
		names, values = append(names, name), append(values, value)
	}
	if open > 0 {
		seed := fmt.Sprintf(`INSERT INTO payments (%s) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
			SELECT %s FROM payments, n WHERE payments.id = (SELECT min(id) FROM payments)`, strings.Join(names, ", "), open, strings.Join(values, ", "))
		if _, err := s.bare.Exec(seed); err != nil {
			b.Fatal(err)
		}
	}
	if s.postgres {
		if _, err := s.bare.Exec("ANALYZE payments"); err != nil {
			b.Fatal(err)
		}
	}
}

// prepare chooses what is asked for: some of the business's payments, from all over.
func (s *served) prepare(b *testing.B) {
	b.Helper()
	s.refs = nil
	err := s.product.DB.Read(b.Context()).Model(&models.Payment{}).Where("business_id = ?", s.scope.BusinessID).Order("random()").Limit(2000).Pluck("reference", &s.refs).Error
	if err == nil {
		err = s.product.DB.Read(b.Context()).Model(&models.APIKey{}).Where("business_id = ?", s.scope.BusinessID).Order("id DESC").Limit(1).Pluck("hash", &s.keyHash).Error
	}
	if err != nil {
		b.Fatal(err)
	}
}

// call asks with fasthttp's client, which leaves most of the machine to the
// server: the two share it.
func (s *served) call(method, path string, body []byte, want int) error {
	request, answer := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(request)
	defer fasthttp.ReleaseResponse(answer)
	request.Header.SetMethod(method)
	request.SetRequestURI(s.product.Base + path)
	request.Header.Set("Authorization", "Bearer "+s.key)
	if body != nil {
		request.Header.SetContentType("application/json")
		request.SetBody(body)
	}
	err := s.client.Do(request, answer)
	if err == nil && answer.StatusCode() != want {
		err = fmt.Errorf("%s %s: %d %s", method, path, answer.StatusCode(), answer.Body())
	}
	return err
}

func (s *served) initiate() error {
	body := fmt.Sprintf(`{"currency":"NGN","amount":25000,"first_name":"Ngozi","last_name":"Okafor","email":"c%d@example.com","payment_method":"crypto_bitcoin"}`, s.next.Add(1)%1000)
	return s.call("POST", "/v1/payment/initiate", []byte(body), 201)
}

func (s *served) verify() error {
	return s.call("GET", "/v1/payment/verify/"+s.refs[int(s.next.Add(1))%len(s.refs)], nil, 200)
}

// bareInitiate runs the statements of an initiation: who asks, the business,
// the method, its rate policy, and one transaction with customer, payment,
// what the figures count, and timeline row.
func (s *served) bareInitiate() error {
	n := s.next.Add(1)
	ctx := context.Background()
	if err := s.rows(ctx, s.reads(
		statement{"SELECT id, business_id, domain, name, last_used_at, expires_at, revoked_at FROM api_keys WHERE hash = ?", []any{s.keyHash}},
		statement{"SELECT * FROM businesses WHERE id = ?", []any{s.scope.BusinessID}},
		statement{"SELECT count(*) FROM methods WHERE business_id = ? AND domain = ? AND code = ? AND enabled = ?", []any{s.scope.BusinessID, "test", "crypto_bitcoin", true}},
		statement{"SELECT * FROM rate_policies WHERE business_id = ? AND domain = ? AND currency = ? LIMIT 1", []any{s.scope.BusinessID, "test", "NGN"}})); err != nil {
		return err
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	customer := models.Customer{BusinessID: s.scope.BusinessID, Domain: "test", Email: fmt.Sprintf("c%d@example.com", n%1000), Code: ident.New("CUS_"), FirstName: "N", LastName: "O", CreatedAt: now, UpdatedAt: now}
	tx, err := s.bare.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	made := s.statement(clause.OnConflict{Columns: []clause.Column{{Name: "business_id"}, {Name: "domain"}, {Name: "email"}},
		DoUpdates: clause.AssignmentColumns([]string{"first_name", "last_name", "updated_at"})}, &customer)
	if err := tx.QueryRowContext(ctx, made.text, made.args...).Scan(&customer.ID); err != nil {
		return err
	}
	p := s.template(now)
	p.CustomerID = customer.ID
	made = s.statement(clause.OnConflict{DoNothing: true}, &p)
	if err := tx.QueryRowContext(ctx, made.text, made.args...).Scan(&p.ID); err != nil {
		return err
	}
	made = s.statement(nil, &models.TallyChange{BusinessID: s.scope.BusinessID, Domain: "test", PaymentAt: now, Currency: "NGN", Method: "crypto_bitcoin", Amount: 25000, To: "pending"})
	if _, err := tx.ExecContext(ctx, made.text, made.args...); err != nil {
		return err
	}
	made = s.statement(nil, &models.Step{PaymentID: p.ID, Number: 1, Kind: "state", To: "pending", Remark: "-", Detail: "{}", Actor: "bench", At: now, CreatedAt: now})
	var id int64
	if err := tx.QueryRowContext(ctx, made.text, made.args...).Scan(&id); err != nil {
		return err
	}
	return tx.Commit()
}

var quoteText = strings.Repeat(`{"source":"sandbox-a","value":"60000.12345678"}`, 12)

func (s *served) template(now time.Time) models.Payment {
	due := now.Add(time.Hour)
	return models.Payment{BusinessID: s.scope.BusinessID, Domain: "test", Reference: ident.New("PAY_"), BusinessReference: ident.New("REF_"),
		TokenHash: ident.NewToken(), AuthorizationCode: ident.New("AUTH_"), CustomerName: "N O", CustomerEmail: "c@example.com", Currency: "NGN", Amount: 25000,
		Method: "crypto_bitcoin", Coin: "BTC", Network: "sandbox-bitcoin", Price: "90000000", Quote: quoteText, FinalDepth: 2, LatePayments: "accept",
		Status: "pending", Remark: "-", Steps: 1, DueAt: &due, ExpiresAt: due, AbandonsAt: due, CreatedAt: now, UpdatedAt: now}
}

// statement is what GORM would run to insert a row, without running it.
func (s *served) statement(conflict clause.Expression, row any) statement {
	dry := s.product.DB.Exec(context.Background()).Session(&gorm.Session{DryRun: true})
	if conflict != nil {
		dry = dry.Clauses(conflict)
	}
	made := dry.Create(row).Statement
	text := made.SQL.String()
	if !strings.Contains(text, "RETURNING") {
		text += " RETURNING id"
	}
	return statement{text, made.Vars}
}

// bareVerify runs the statements of a verification.
func (s *served) bareVerify() error {
	ref := s.refs[int(s.next.Add(1))%len(s.refs)]
	return s.rows(context.Background(), s.reads(
		statement{"SELECT id, business_id, domain, name, last_used_at, expires_at, revoked_at FROM api_keys WHERE hash = ?", []any{s.keyHash}},
		statement{`SELECT payments.*, businesses.code, businesses.name, businesses.time_zone, businesses.receipts_enabled,
				customers.code, COALESCE(chain_cursors.height, 0), COALESCE(chain_cursors.finalized, 0), chain_cursors.read_until
			FROM payments JOIN businesses ON businesses.id = payments.business_id JOIN customers ON customers.id = payments.customer_id
				LEFT JOIN chain_cursors ON chain_cursors.network = payments.network
			WHERE payments.business_id = ? AND payments.domain = ? AND payments.reference = ?`, []any{s.scope.BusinessID, "test", ref}}))
}

// reads numbers the placeholders for PostgreSQL.
func (s *served) reads(statements ...statement) []statement {
	if s.postgres {
		for i := range statements {
			for n := 1; strings.Contains(statements[i].text, "?"); n++ {
				statements[i].text = strings.Replace(statements[i].text, "?", fmt.Sprintf("$%d", n), 1)
			}
		}
	}
	return statements
}

// rows reads everything that the statements give.
func (s *served) rows(ctx context.Context, statements []statement) error {
	for _, one := range statements {
		rows, err := s.read.QueryContext(ctx, one.text, one.args...)
		if err != nil {
			return err
		}
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		for rows.Next() {
			if err := rows.Scan(values...); err != nil {
				return err
			}
		}
		if err := rows.Close(); err != nil {
			return err
		}
	}
	return nil
}
