package sqlitepool

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"modernc.org/sqlite"
)

// openCached opens one connection to a new SQLite database with a table of three numbers.
func openCached(t *testing.T) (*sql.Conn, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "numbers.db")
	pool, err := Open("file:" + path)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = conn.Close(), pool.Close() })
	executeText(t, conn, "CREATE TABLE numbers (n INTEGER)")
	for n := range 3 {
		executeText(t, conn, "INSERT INTO numbers (n) VALUES (?)", n)
	}
	return conn, path
}

func executeText(t *testing.T, conn *sql.Conn, text string, args ...any) {
	t.Helper()
	if _, err := conn.ExecContext(t.Context(), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func queryNumbers(t *testing.T, conn *sql.Conn, text string, args ...any) []int {
	t.Helper()
	rows, err := conn.QueryContext(t.Context(), text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer func() { _ = rows.Close() }()
	var all []int
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		all = append(all, n)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return all
}

// countKept counts the statements that a connection keeps.
func countKept(t *testing.T, conn *sql.Conn) (kept int) {
	t.Helper()
	if err := conn.Raw(func(driver any) error {
		kept = len(driver.(*cachingConn).idle)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return kept
}

// TestStatementsAreKept: the same text is prepared once, and each run has its own values.
func TestStatementsAreKept(t *testing.T) {
	t.Parallel()
	conn, _ := openCached(t)
	before := countKept(t, conn)
	for n := range 3 {
		if got := queryNumbers(t, conn, "SELECT n FROM numbers WHERE n = ?", n); !slices.Equal(got, []int{n}) {
			t.Errorf("asked for %d: got %v", n, got)
		}
	}
	if got := countKept(t, conn) - before; got != 1 {
		t.Errorf("one text run three times: %d statements kept, want 1", got)
	}
}

// TestSameTextTwiceAtATime: a query runs while the rows of the same query are read.
func TestSameTextTwiceAtATime(t *testing.T) {
	t.Parallel()
	conn, _ := openCached(t)
	const text = "SELECT n FROM numbers WHERE n >= ? ORDER BY n"
	outer, err := conn.QueryContext(t.Context(), text, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = outer.Close() }()
	var seen []int
	for outer.Next() {
		var n int
		if err := outer.Scan(&n); err != nil {
			t.Fatal(err)
		}
		seen = append(seen, n)
		if got := queryNumbers(t, conn, text, 2); !slices.Equal(got, []int{2}) {
			t.Errorf("inner query beside row %d: got %v, want [2]", n, got)
		}
	}
	if !slices.Equal(seen, []int{0, 1, 2}) || outer.Err() != nil {
		t.Errorf("outer query: got %v (%v), want [0 1 2]", seen, outer.Err())
	}
}

// TestKeptStatementsAreBounded: a connection keeps maxStatements, and frees the memory of others.
func TestKeptStatementsAreBounded(t *testing.T) {
	t.Parallel()
	conn, _ := openCached(t)
	for n := range 3 * maxStatements {
		text := fmt.Sprintf("SELECT n FROM numbers WHERE n = %d", n)
		if got := queryNumbers(t, conn, text); len(got) != min(1, max(0, 3-n)) {
			t.Fatalf("%s: got %v", text, got)
		}
	}
	if got := countKept(t, conn); got != maxStatements {
		t.Errorf("kept after %d texts: %d statements, want %d", 3*maxStatements, got, maxStatements)
	}
	if err := conn.Raw(func(driver any) error {
		memory, _, err := driver.(*cachingConn).sqliteConn.(sqlite.DBStatus).Status(sqlite.DBStatusStmtUsed, false)
		if limit := maxStatements * 8 << 10; memory > limit {
			t.Errorf("memory of all statements: %d bytes, want at most %d", memory, limit)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// TestKeptStatementsSeeNewColumns: a kept statement gives the columns of the table as it is now.
func TestKeptStatementsSeeNewColumns(t *testing.T) {
	t.Parallel()
	conn, path := openCached(t)
	const text = "SELECT * FROM numbers ORDER BY n LIMIT 1"
	if got := queryNumbers(t, conn, text); !slices.Equal(got, []int{0}) {
		t.Fatalf("before: got %v, want [0]", got)
	}
	other, err := Open("file:" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	if _, err := other.ExecContext(t.Context(), "ALTER TABLE numbers ADD COLUMN name TEXT DEFAULT 'none'"); err != nil {
		t.Fatal(err)
	}
	var n int
	var name string
	if err := conn.QueryRowContext(t.Context(), text).Scan(&n, &name); err != nil || n != 0 || name != "none" {
		t.Errorf("after the column was added: got %d %q (%v), want 0 \"none\"", n, name, err)
	}
}

// TestStatementAfterFailure: a statement that failed or was cancelled works again with other values.
func TestStatementAfterFailure(t *testing.T) {
	t.Parallel()
	conn, _ := openCached(t)
	executeText(t, conn, "CREATE UNIQUE INDEX once ON numbers (n)")
	const insert = "INSERT INTO numbers (n) VALUES (?)"
	if _, err := conn.ExecContext(t.Context(), insert, 1); err == nil {
		t.Error("a second row with 1: no error, want that of the unique index")
	}
	executeText(t, conn, insert, 3)
	// Counts numbers without end.
	const count = "WITH RECURSIVE c(n) AS (SELECT ? UNION ALL SELECT n + 1 FROM c WHERE n < ?) SELECT n FROM c"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rows, err := conn.QueryContext(ctx, count, 1, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; rows.Next(); n++ {
		if n == 10 {
			cancel()
		}
	}
	if rows.Err() == nil {
		t.Error("a query that was cancelled: no error")
	}
	if got := queryNumbers(t, conn, count, 1, 3); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("the same query afterwards: got %v, want [1 2 3]", got)
	}
}
