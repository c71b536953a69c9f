package e2e

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cointill/e2e/harness"
)

// divided is an instance whose growing tables are divided into parts.
type divided struct {
	*harness.Instance
	t    *testing.T
	db   *sql.DB
	sink *sink
}

func (d *divided) exec(statement string) {
	d.t.Helper()
	if _, err := d.db.Exec(statement); err != nil {
		d.t.Fatalf("%s: %v", statement, err)
	}
}

func (d *divided) beginParts() {
	d.t.Helper()
	for _, table := range dividable {
		d.exec("SELECT cointill_begin_part('" + table + "')")
	}
}

func (d *divided) initiate() string { return initiated(d.t, d.Instance, "crypto_ripple") }

// pay has a customer pay, and waits until the merchant was told.
func (d *divided) pay(reference string) { d.sink.pay(d.t, d.Instance, reference) }

// parts are the parts that a table's rows are in.
func (d *divided) parts(table string) (n int) {
	d.t.Helper()
	if err := d.db.QueryRow("SELECT count(DISTINCT tableoid) FROM " + table).Scan(&n); err != nil {
		d.t.Fatal(err)
	}
	return n
}

var dividable = []string{"steps", "delivery_attempts", "api_calls"}

// TestParts: tables are divided by docs/deploy/partition.sql while the program
// serves, and divided further: payments go on from page to webhook, what was
// unique is so in whichever part it lies, a question about one payment looks at
// one part, a part can be taken away, and what later migrations do works.
func TestParts(t *testing.T) {
	t.Parallel()
	d := &divided{Instance: harness.New(t, true), t: t, sink: newSink(t)}
	d.CreateBusiness()
	d.Start()
	db, err := sql.Open("pgx", d.ReadSetting("DATABASE_URL"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	d.db = db
	d.SendRequest("POST", "/v1/webhooks", harness.Fields{"type": "parts", "url": d.sink.URL, "active": true}, 201)

	first, long := d.initiate(), d.initiate()
	d.pay(first)
	script, err := os.ReadFile(filepath.Join(harness.FindRoot(), "docs", "deploy", "partition.sql"))
	if err != nil {
		t.Fatal(err)
	}
	d.exec(string(script))
	d.beginParts()
	d.pay(d.initiate())
	d.beginParts()
	d.exec("SELECT cointill_begin_part('steps')") // an empty part stays the one that is written to
	d.pay(d.initiate())
	d.pay(long) // begun before anything was divided
	for _, table := range dividable {
		harness.WaitFor(t, time.Minute, "rows in three parts of "+table, func() bool { return d.parts(table) == 3 })
	}
	for _, twice := range []string{
		"INSERT INTO steps (payment_id, number, kind, from_status, to_status, reason, remark, detail, actor, at, created_at) SELECT payment_id, number, kind, from_status, to_status, reason, remark, detail, actor, at, created_at FROM steps",
		"INSERT INTO delivery_attempts (delivery_id, attempt, at, millis, status, answer, error) SELECT delivery_id, attempt, at, millis, status, answer, error FROM delivery_attempts",
	} {
		if _, err := db.Exec(twice); err == nil || !strings.Contains(err.Error(), "23505") {
			t.Errorf("%v: %s", err, twice)
		}
	}
	for question, want := range map[string]string{
		"SELECT * FROM steps WHERE payment_id = 1 ORDER BY number":                     "steps_first",
		"SELECT * FROM delivery_attempts WHERE delivery_id = 1 ORDER BY attempt":       "delivery_attempts_first",
		"SELECT * FROM api_calls WHERE business_id = 1 AND domain = 'test' AND id = 1": "api_calls_first",
	} {
		if plan := d.plan(question); strings.Count(plan, "Scan") > 2 || !strings.Contains(plan, want) { // an index may be gone through by itself
			t.Errorf("%s looks at\n%s", question, plan)
		}
	}
	if _, err := db.Exec("SELECT cointill_begin_part('events')"); err == nil || !strings.Contains(err.Error(), "can't be divided") {
		t.Errorf("events: %v", err)
	}

	for _, table := range dividable {
		d.exec("ALTER TABLE " + table + " DETACH PARTITION " + table + "_first")
		d.exec("ALTER TABLE " + table + " ADD COLUMN later text NOT NULL DEFAULT ''")
		d.exec("CREATE INDEX " + table + "_later ON " + table + " (later)")
	}
	if got := d.VerifyPayment(first); got.Status != "successful" {
		t.Errorf("%s is %s", first, got.Status)
	}
	d.pay(d.initiate())
	d.RunCommand("", "migrate")
}

func (d *divided) plan(question string) string {
	d.t.Helper()
	rows, err := d.db.Query("EXPLAIN (COSTS OFF) " + question)
	if err != nil {
		d.t.Fatal(err)
	}
	defer rows.Close()
	var text, line string
	for rows.Next() {
		if err := rows.Scan(&line); err != nil {
			d.t.Fatal(err)
		}
		text += line + "\n"
	}
	return text
}
