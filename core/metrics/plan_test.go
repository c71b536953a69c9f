package metrics

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cointill/core/money"
	"cointill/core/webhook/delivery"
	"cointill/internal/testing/speed"
	"cointill/models"
	"cointill/models/modelstest"
)

// numbers are as many as a table is filled with: more than are counted.
var numbers = fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) `, speed.Pick(15_000, 30_000))

// fill writes many rows that wait, and many that are over, in every table that is counted.
func fill(t *testing.T, db *models.DB) {
	t.Helper()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	transfer := func(tx, why string) models.Transfer {
		return models.Transfer{Network: "n", TxID: tx, Asset: "XRP", Amount: money.Units(1), BusinessID: 1, Domain: "live", Unmatched: why, FirstSeenAt: at, CreatedAt: at, UpdatedAt: at}
	}
	for _, rows := range []any{
		&[]models.Delivery{{EventID: "open", EndpointID: "a", DueAt: at, CreatedAt: at}, {EventID: "done", EndpointID: "a", DueAt: at, DoneAt: &at, CreatedAt: at}},
		&[]models.Mail{{Kind: "open", DueAt: at, CreatedAt: at}, {Kind: "done", DueAt: at, DoneAt: &at, CreatedAt: at}},
		&[]models.Resend{{ID: "open", CountedAt: at, CreatedAt: at}, {ID: "done", CountedAt: at, CreatedAt: at, DoneAt: &at}},
		&[]models.Transfer{transfer("open", "missing_tag"), transfer("done", "")},
	} {
		if err := db.Exec(t.Context()).Create(rows).Error; err != nil {
			t.Fatal(err)
		}
	}
	statements := []string{
		`INSERT INTO deliveries (event_id, endpoint_id, business_id, domain, attempt, tries, due_at, done_at, outcome, last_status, last_error, resend_id, created_at) ` + numbers +
			`SELECT event_id || i, endpoint_id, 1, 'live', 0, 0, due_at, done_at, '', 0, '', '', created_at FROM deliveries, n`,
		`INSERT INTO mails (business_id, domain, kind, about, message_id, from_name, to_address, to_name, subject, text, html, attempt, tries, due_at, sending, done_at, outcome, last_error, created_at) ` + numbers +
			`SELECT 1, 'live', kind, i, '', '', '', '', '', '', '', 0, 0, due_at, FALSE, done_at, '', '', created_at FROM mails, n`,
		`INSERT INTO resends (id, business_id, domain, endpoint_id, types, failed, since, until, at_number, at_event, total, walked, made, delivered, failures, superseded, actor, counted_at, created_at, done_at) ` + numbers +
			`SELECT id || i, 1, 'live', '', '', FALSE, 0, 0, 0, '', 0, 0, 0, 0, 0, 0, '', counted_at, created_at, done_at FROM resends, n`,
		`INSERT INTO transfers (network, tx_id, idx, asset, address, tag, amount, business_id, domain, block_hash, gone, gone_reason, reverted, maturity, unmatched, resolution, conflict_tx, first_seen_at, created_at, updated_at) ` + numbers +
			`SELECT network, tx_id || i, 0, asset, '', 0, amount, i % 100, 'live', '', FALSE, '', FALSE, 0, unmatched, '', '', first_seen_at, created_at, updated_at FROM transfers, n`,
	}
	if db.Postgres() {
		statements = append(statements, "VACUUM ANALYZE deliveries", "VACUUM ANALYZE mails", "VACUUM ANALYZE resends", "VACUUM ANALYZE transfers")
	} else {
		statements = append(statements, "ANALYZE")
	}
	for _, statement := range statements {
		if err := db.Exec(t.Context()).Exec(statement).Error; err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// TestPlans: with tens of thousands of rows, every count is read from an index
// and ends at its bound.
func TestPlans(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		fill(t, db)
		now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
		explain, only, whole := "EXPLAIN QUERY PLAN ", " USING INDEX ", "TEMP B-TREE FOR ORDER BY" // SQLite reads the rows that it counts
		if db.Postgres() {
			explain, only, whole = "EXPLAIN ", "Index Only Scan", "Seq Scan"
		}
		type query struct {
			text string
			args []any
		}
		var list []query
		for _, q := range queues {
			list = append(list, query{q.waiting, []any{Most}}, query{q.due, []any{now, Most}}, query{q.oldest, []any{now}})
		}
		for _, q := range list {
			if plan := planOf(t, db, explain+q.text, q.args); !strings.Contains(plan, only) || strings.Contains(plan, whole) {
				t.Errorf("%s\n%s", q.text, plan)
			}
			if strings.HasPrefix(q.text, "SELECT count(*)") {
				var n int
				if err := db.Read(t.Context()).Raw(q.text, q.args...).Scan(&n).Error; err != nil || n != Most {
					t.Errorf("%s counts %d, %v", q.text, n, err)
				}
			}
		}
		looked := 0
		for domain, want := range map[string]int{"live": Most, "test": 0} {
			bounds := []any{map[string]any{"domain": domain, "each": each, "most": Most}}
			plan := planOf(t, db, explain+unmatchedQuery(db.Postgres()), bounds)
			for _, costly := range []string{"Seq Scan", "Bitmap", "Sort", "SCAN transfers", "TEMP B-TREE"} {
				if strings.Contains(plan, costly) || strings.Count(plan, "transfers_unmatched") < 2 {
					t.Errorf("%s: %s", costly, plan)
				}
			}
			var n int
			if err := db.Read(t.Context()).Raw(unmatchedQuery(db.Postgres()), bounds...).Scan(&n).Error; err != nil || n != want {
				t.Errorf("%d in %s, %v", n, domain, err)
			}
		}
		for _, plan := range modelstest.ReadPlans(t, db, db.Read(t.Context()), func() {
			if _, err := delivery.Late(t.Context(), db, now); err != nil {
				t.Error(err)
			}
		}) {
			text := strings.Join(plan.Lines, "\n")
			if strings.Contains(text, "Seq Scan on deliveries") || strings.Contains(text, "SCAN deliveries") || !strings.Contains(text, "deliveries_due") {
				t.Errorf("%s\n%s", plan.Query, text)
			}
			looked++
		}
		if looked != 1 {
			t.Errorf("%d queries for what is late", looked)
		}
		if plan := planOf(t, db, explain+retrying, []any{tried}); !strings.Contains(plan, "mails_due") || strings.Contains(plan, whole) {
			t.Errorf("%s\n%s", retrying, plan)
		}
	})
}

// planOf is what the database would do, as text.
func planOf(t *testing.T, db *models.DB, statement string, args []any) string {
	t.Helper()
	rows, err := db.Read(t.Context()).Raw(statement, args...).Rows()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var text strings.Builder
	for rows.Next() {
		var detail string
		into := []any{&detail}
		if !db.Postgres() {
			var id, parent, unused int
			into = []any{&id, &parent, &unused, &detail}
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		text.WriteString(detail + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
