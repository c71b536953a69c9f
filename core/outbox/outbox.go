// Package outbox carries out work outside of the database that rows describe: deliveries
// and mails. A row is written in the transaction that makes it necessary, claimed later by
// any process under a lease, and settled with its attempt number as the fence, so that a
// worker whose lease ended changes nothing. A row's effect happens at least once, its
// record exactly once.
//
// Such a table has the columns id, attempt, due_at, claimed_at and done_at, and two indexes
// over the rows that are not done: by due_at, and by key and due_at. Each key has its own
// queue. A claim reads the head of each queue, so its cost depends on the number of
// waiting keys and not on the number of waiting rows.
package outbox

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"cointill/models"
)

// Table says how a table is worked through.
type Table struct {
	Name string
	// Key is the column by whose value rows are kept from delaying one
	// another: the endpoint of a delivery. "" when there is none.
	Key string
	// Group is a query for what several keys share, such as the host that
	// their endpoints are on; queues.key stands for the key in it. "" when
	// keys share nothing.
	Group string
	// Columns are those that the handler is given of a row; "" for all.
	Columns string
	// Lease is how long a claim holds. An attempt with its settling must not
	// take longer than half of it: the other half is for the wait before it.
	Lease time.Duration
}

// dueRow is the key and position of a due row.
type dueRow struct {
	ID    int64
	Key   string
	Group string
	DueAt time.Time
}

// hasDueRows reports whether a row is due. It costs one step into an index and doesn't take
// SQLite's only writer.
func (t Table) hasDueRows(ctx context.Context, db *models.DB, now time.Time) (found bool, err error) {
	err = db.Read(ctx).Raw(t.fillNames("SELECT EXISTS (SELECT 1 FROM {table} WHERE done_at IS NULL AND due_at <= ?)"),
		now).Find(&found).Error
	return found, err
}

// fillNames fills in the names of the table, which are constants of the packages that have one.
func (t Table) fillNames(query string) string {
	group := "''"
	if t.Group != "" {
		group = "COALESCE((" + t.Group + "), '')"
	}
	columns := cmp.Or(t.Columns, "*")
	return strings.NewReplacer("{table}", t.Name, "{key}", t.Key, "{group}", group, "{columns}", columns).Replace(query)
}

// readBacklog reads up to limit due rows, oldest first.
func (t Table) readBacklog(ctx context.Context, db *models.DB, now time.Time, limit int) (list []dueRow, err error) {
	err = db.Read(ctx).Raw(t.fillNames(`
		SELECT queues.id, queues.key, queues.due_at, {group} AS "group" FROM (
			SELECT id, {key} AS key, due_at FROM {table} WHERE done_at IS NULL AND due_at <= @now
			ORDER BY due_at LIMIT @limit) AS queues
		ORDER BY queues.due_at, queues.id`), map[string]any{"now": now, "limit": limit}).Find(&list).Error
	return list, err
}

// readHeads reads the oldest due row of each key. It steps from key to key through
// the index, past everything that waits behind a head.
func (t Table) readHeads(ctx context.Context, db *models.DB, now time.Time) (list []dueRow, err error) {
	head := `SELECT id, due_at FROM {table} WHERE {key} = queues.key AND done_at IS NULL AND due_at <= @now
		ORDER BY due_at LIMIT 1`
	from := "queues CROSS JOIN LATERAL (" + head + ") AS head"
	if !db.Postgres() {
		from = "queues JOIN {table} AS head ON head.id = (" + strings.Replace(head, "id, due_at", "id", 1) + ")"
	}
	err = db.Read(ctx).Raw(t.fillNames(`
		WITH RECURSIVE queues(key) AS (
			SELECT min({key}) FROM {table} WHERE done_at IS NULL
			UNION ALL
			SELECT (SELECT min({key}) FROM {table} WHERE done_at IS NULL AND {key} > queues.key)
			FROM queues WHERE queues.key IS NOT NULL
		)
		SELECT head.id, queues.key, head.due_at, {group} AS "group" FROM `+from+` ORDER BY head.due_at, head.id`),
		map[string]any{"now": now}).Find(&list).Error
	return list, err
}

// readFront reads the oldest due rows of each of some keys, at most each per key, oldest
// first.
func (t Table) readFront(ctx context.Context, db *models.DB, now time.Time, keys []string, each int) (list []dueRow,
	err error) {
	names, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	few := "SELECT id FROM {table} WHERE {key} = queues.key AND done_at IS NULL AND due_at <= @now ORDER BY due_at " +
		"LIMIT @each"
	from := "(SELECT value AS key FROM jsonb_array_elements_text(CAST(@keys AS jsonb))) AS queues CROSS JOIN LATERAL (" +
		strings.Replace(few, "id", "id, due_at", 1) + ") AS one"
	if !db.Postgres() {
		from = "(SELECT value AS key FROM json_each(@keys)) AS queues JOIN {table} AS one ON one.id IN (" + few + ")"
	}
	err = db.Read(ctx).Raw(t.fillNames("SELECT one.id, queues.key, one.due_at FROM "+from+
		" ORDER BY one.due_at, one.id"),
		map[string]any{"now": now, "keys": string(names), "each": each}).Find(&list).Error
	return list, err
}

// readOldest reads the ids of the oldest due rows of a table without keys.
func (t Table) readOldest(ctx context.Context, db *models.DB, now time.Time, n int) (ids []int64, err error) {
	err = db.Read(ctx).Table(t.Name).Where("done_at IS NULL AND due_at <= ?", now).Order("due_at").Limit(n).
		Pluck("id", &ids).Error
	return ids, err
}

// claimRows claims rows that are still due: it raises their attempt and moves their due time
// to the end of the lease, so that no other process claims them before. Rows that another
// process claimed are left out.
func claimRows[T any](ctx context.Context, db *models.DB, t Table, now time.Time, ids []int64) (rows []T, err error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	query := claimOnSQLite
	if db.Postgres() {
		query = claimOnPostgres
	}
	err = db.Exec(ctx).Raw(t.fillNames(query), map[string]any{"lease": now.Add(t.Lease), "now": now,
		"ids": string(list)}).Find(&rows).Error
	return rows, err
}

// SQLite's single writer needs no lock.
const claimOnSQLite = `
	UPDATE {table} SET due_at = @lease, claimed_at = @now, attempt = attempt + 1
	WHERE id IN (SELECT value FROM json_each(@ids)) AND done_at IS NULL AND due_at <= @now
	RETURNING {columns}`

// The rows are locked by id first and checked afterwards. A condition on the table could make
// PostgreSQL read everything that is due.
const claimOnPostgres = `
	WITH held AS MATERIALIZED (
		SELECT id AS held_id, done_at AS held_done, due_at AS held_due FROM {table}
		WHERE id IN (SELECT CAST(value AS bigint) FROM jsonb_array_elements_text(CAST(@ids AS jsonb)))
		FOR UPDATE SKIP LOCKED)
	UPDATE {table} SET due_at = @lease, claimed_at = @now, attempt = attempt + 1
	FROM held WHERE id = held_id AND held_done IS NULL AND held_due <= @now
	RETURNING {columns}`

// Settle writes the result of an attempt and ends the claim. It reports false, and changes
// nothing, when the row was settled, cancelled or claimed again in between.
func (t Table) Settle(tx *models.Tx, id int64, attempt int, set map[string]any) (bool, error) {
	set["claimed_at"] = nil
	return t.Mark(tx, id, attempt, set)
}

// Mark writes to a row that the attempt still holds, and keeps the claim.
func (t Table) Mark(tx *models.Tx, id int64, attempt int, set map[string]any) (bool, error) {
	done := tx.Table(t.Name).Where("id = ? AND attempt = ? AND done_at IS NULL", id, attempt).Updates(set)
	return done.RowsAffected == 1, done.Error
}
