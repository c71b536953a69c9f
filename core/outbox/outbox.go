// Package outbox works through rows that stand for something to do outside the
// database: deliveries and mails. A row is written in the transaction that
// makes it necessary, claimed later by any process under a lease, and settled
// with its attempt number as the fence, so that a worker whose lease ran out
// changes nothing. A row's effect happens at least once, its record exactly once.
//
// A table that is worked through has the columns id, attempt, due_at,
// claimed_at and done_at, and an index over the rows that are not done.
package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"cointill/models"
)

// Table says how a table is worked through.
type Table struct {
	Name string
	// Key is the column by whose value rows are kept from delaying one
	// another: the endpoint of a delivery. "" when there is none.
	Key string
	// Lease is how long a claim holds. It must be longer than any attempt
	// with its settling can take.
	Lease time.Duration
}

// bid is what a claim asks for.
type bid struct {
	now   time.Time
	limit int            // rows in all
	share int            // rows of one key that may be under way in this process
	busy  map[string]int // rows of each key that are under way already
}

// claim takes due rows: it raises their attempt and puts their due time at the
// end of the lease, so that nobody else takes them before. Their order is not
// defined.
func claim[T any](ctx context.Context, db *models.DB, table Table, b bid) ([]T, error) {
	due := false
	peek := fmt.Sprintf("SELECT EXISTS (SELECT 1 FROM %s WHERE done_at IS NULL AND due_at <= ?)", table.Name)
	if err := db.Read(ctx).Raw(peek, b.now).Find(&due).Error; err != nil || !due {
		return nil, err // an idle poll doesn't take SQLite's only writer
	}
	busy, err := json.Marshal(b.busy)
	if err != nil {
		return nil, err
	}
	var rows []T
	err = db.Exec(ctx).Raw(claimSQL(table, db.Postgres()), map[string]any{
		"lease": b.now.Add(table.Lease), "now": b.now, "limit": b.limit, "share": b.share, "busy": string(busy),
	}).Find(&rows).Error
	return rows, err
}

// claimSQL takes the oldest due rows, and of each key no more than its share
// minus what is under way. PostgreSQL can't lock rows at the level of a window
// function, so the condition stands twice: it is checked again after the lock.
func claimSQL(table Table, postgres bool) string {
	skip, busy := "", "@busy"
	if postgres {
		skip, busy = "FOR UPDATE SKIP LOCKED", "CAST(@busy AS jsonb)" // SQLite's single writer needs no lock
	}
	fair := ""
	if table.Key != "" {
		fair = fmt.Sprintf(`AND id IN (SELECT id FROM (
				SELECT id, %[2]s, row_number() OVER (PARTITION BY %[2]s ORDER BY due_at, id) AS place
				FROM %[1]s WHERE done_at IS NULL AND due_at <= @now) AS queue
			WHERE place + COALESCE(CAST(%[3]s ->> %[2]s AS integer), 0) <= @share)`, table.Name, table.Key, busy)
	}
	return fmt.Sprintf(`
		UPDATE %[1]s SET due_at = @lease, claimed_at = @now, attempt = attempt + 1
		WHERE id IN (SELECT id FROM %[1]s
			WHERE done_at IS NULL AND due_at <= @now %[2]s ORDER BY due_at, id LIMIT @limit %[3]s)
		RETURNING *`, table.Name, fair, skip)
}

// Settle writes what became of an attempt and gives the claim back. It reports
// false, and changes nothing, when the row was settled, cancelled or claimed
// again in the meantime.
func (t Table) Settle(tx *models.Tx, id int64, attempt int, set map[string]any) (bool, error) {
	set["claimed_at"] = nil
	return t.Mark(tx, id, attempt, set)
}

// Mark writes to a row that the attempt still holds, and keeps the claim.
func (t Table) Mark(tx *models.Tx, id int64, attempt int, set map[string]any) (bool, error) {
	done := tx.Table(t.Name).Where("id = ? AND attempt = ? AND done_at IS NULL", id, attempt).Updates(set)
	return done.RowsAffected == 1, done.Error
}
