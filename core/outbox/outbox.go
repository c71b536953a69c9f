// Package outbox works through rows that stand for something to do outside the
// database: deliveries and mails. A row is written in the transaction that
// makes it necessary, claimed later by any process under a lease, and settled
// with its attempt number as the fence, so that a worker whose lease ran out
// changes nothing. A row's effect happens at least once, its record exactly once.
//
// A table that is worked through has the columns id, attempt, due_at,
// claimed_at and done_at, and two indexes over the rows that are not done: by
// due_at, and by key and due_at. Keys wait in lines of their own: a claim looks
// at the head of each line, so that what it costs depends on how many keys wait
// and not on how much waits for any of them.
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
	// their endpoints are on; lines.key stands for the key in it. "" when
	// keys share nothing.
	Group string
	// Columns are those that the handler is given of a row; "" for all.
	Columns string
	// Lease is how long a claim holds. An attempt with its settling must not
	// take longer than half of it: the other half is for the wait before it.
	Lease time.Duration
}

// place is a due row, by where it stands.
type place struct {
	ID    int64
	Key   string
	Group string
	DueAt time.Time
}

// due reports whether anything is: an idle look costs one step into an index
// and doesn't take SQLite's only writer.
func (t Table) due(ctx context.Context, db *models.DB, now time.Time) (found bool, err error) {
	err = db.Read(ctx).Raw(t.sql("SELECT EXISTS (SELECT 1 FROM {table} WHERE done_at IS NULL AND due_at <= ?)"), now).Find(&found).Error
	return found, err
}

// sql fills in the names of the table, which are constants of the packages that have one.
func (t Table) sql(query string) string {
	group := "''"
	if t.Group != "" {
		group = "COALESCE((" + t.Group + "), '')"
	}
	columns := cmp.Or(t.Columns, "*")
	return strings.NewReplacer("{table}", t.Name, "{key}", t.Key, "{group}", group, "{columns}", columns).Replace(query)
}

// shortest reads the due rows, oldest first, as long as there are few.
func (t Table) shortest(ctx context.Context, db *models.DB, now time.Time, limit int) (list []place, err error) {
	err = db.Read(ctx).Raw(t.sql(`
		SELECT lines.id, lines.key, lines.due_at, {group} AS "group" FROM (
			SELECT id, {key} AS key, due_at FROM {table} WHERE done_at IS NULL AND due_at <= @now ORDER BY due_at LIMIT @limit) AS lines
		ORDER BY lines.due_at, lines.id`), map[string]any{"now": now, "limit": limit}).Find(&list).Error
	return list, err
}

// heads reads the oldest due row of each key. It steps from key to key through
// the index, past everything that waits behind a head.
func (t Table) heads(ctx context.Context, db *models.DB, now time.Time) (list []place, err error) {
	head := `SELECT id, due_at FROM {table} WHERE {key} = lines.key AND done_at IS NULL AND due_at <= @now ORDER BY due_at LIMIT 1`
	from := "lines CROSS JOIN LATERAL (" + head + ") AS head"
	if !db.Postgres() {
		from = "lines JOIN {table} AS head ON head.id = (" + strings.Replace(head, "id, due_at", "id", 1) + ")"
	}
	err = db.Read(ctx).Raw(t.sql(`
		WITH RECURSIVE lines(key) AS (
			SELECT min({key}) FROM {table} WHERE done_at IS NULL
			UNION ALL
			SELECT (SELECT min({key}) FROM {table} WHERE done_at IS NULL AND {key} > lines.key) FROM lines WHERE lines.key IS NOT NULL
		)
		SELECT head.id, lines.key, head.due_at, {group} AS "group" FROM `+from+` ORDER BY head.due_at, head.id`),
		map[string]any{"now": now}).Find(&list).Error
	return list, err
}

// front reads the oldest due rows of each of some keys, at most so many of each, oldest first.
func (t Table) front(ctx context.Context, db *models.DB, now time.Time, keys []string, each int) (list []place, err error) {
	names, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	few := "SELECT id FROM {table} WHERE {key} = lines.key AND done_at IS NULL AND due_at <= @now ORDER BY due_at LIMIT @each"
	from := "(SELECT value AS key FROM jsonb_array_elements_text(CAST(@keys AS jsonb))) AS lines CROSS JOIN LATERAL (" +
		strings.Replace(few, "id", "id, due_at", 1) + ") AS one"
	if !db.Postgres() {
		from = "(SELECT value AS key FROM json_each(@keys)) AS lines JOIN {table} AS one ON one.id IN (" + few + ")"
	}
	err = db.Read(ctx).Raw(t.sql("SELECT one.id, lines.key, one.due_at FROM "+from+" ORDER BY one.due_at, one.id"),
		map[string]any{"now": now, "keys": string(names), "each": each}).Find(&list).Error
	return list, err
}

// oldest reads the ids of the oldest due rows of a table without keys.
func (t Table) oldest(ctx context.Context, db *models.DB, now time.Time, n int) (ids []int64, err error) {
	err = db.Read(ctx).Table(t.Name).Where("done_at IS NULL AND due_at <= ?", now).Order("due_at").Limit(n).Pluck("id", &ids).Error
	return ids, err
}

// take claims rows that are still due: it raises their attempt and puts their
// due time at the end of the lease, so that nobody else takes them before.
// Those that another process took meanwhile are left out.
func take[T any](ctx context.Context, db *models.DB, t Table, now time.Time, ids []int64) (rows []T, err error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	query := takeLite
	if db.Postgres() {
		query = takePostgres
	}
	err = db.Exec(ctx).Raw(t.sql(query), map[string]any{"lease": now.Add(t.Lease), "now": now, "ids": string(list)}).Find(&rows).Error
	return rows, err
}

// SQLite's single writer needs no lock.
const takeLite = `
	UPDATE {table} SET due_at = @lease, claimed_at = @now, attempt = attempt + 1
	WHERE id IN (SELECT value FROM json_each(@ids)) AND done_at IS NULL AND due_at <= @now
	RETURNING {columns}`

// Whether a row is still due is asked of what was locked by its id: asked of the
// table, PostgreSQL might go through everything that is due instead.
const takePostgres = `
	WITH held AS MATERIALIZED (
		SELECT id AS held_id, done_at AS held_done, due_at AS held_due FROM {table}
		WHERE id IN (SELECT CAST(value AS bigint) FROM jsonb_array_elements_text(CAST(@ids AS jsonb)))
		FOR UPDATE SKIP LOCKED)
	UPDATE {table} SET due_at = @lease, claimed_at = @now, attempt = attempt + 1
	FROM held WHERE id = held_id AND held_done IS NULL AND held_due <= @now
	RETURNING {columns}`

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
