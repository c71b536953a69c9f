package modelstest

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"

	"cointill/models"
)

// ErrStatement is the error of a statement that FailStatements lets fail.
var ErrStatement = errors.New("modelstest: the statement failed")

// maxStatements bounds how many statements a call of FailStatements may run.
const maxStatements = 200

// FailStatements calls a function again and again. In the n-th call the n-th statement
// fails, and the call must return that statement's error; the last call is the one in
// which none fails any more, and must succeed. The function prepares nothing by the
// database itself. Failures of statements that tolerated names, as in "update attempts",
// are no errors of the call, but are logged as warnings.
func FailStatements(t testing.TB, db *models.DB, call func() error, tolerated ...string) {
	t.Helper()
	f := &statementFailer{}
	stop := watchStatements(t, db, "test:fail", f.failStatement)
	defer stop()
	logged := &failureLog{Handler: slog.Default().Handler()}
	defer logged.installLog()()
	for n := int64(1); n <= maxStatements; n++ {
		f.failed.Store(nil)
		f.left.Store(n)
		warned := logged.failures.Load()
		err := call()
		f.left.Store(0)
		failed := f.failed.Load()
		switch {
		case failed == nil && err != nil:
			t.Errorf("a call in which no statement fails returned %v, want no error", err)
			return
		case failed == nil:
			if n := logged.baseless.Load(); n > 0 {
				t.Errorf("%d warnings have no error", n)
			}
			return
		case errors.Is(err, ErrStatement) || errors.Is(err, context.Canceled):
		case err == nil && slices.Contains(tolerated, *failed):
			if logged.failures.Load() == warned {
				t.Errorf("when statement %d (%s) fails, nothing is logged, want a warning with its error", n, *failed)
			}
		default:
			t.Errorf("when statement %d (%s) fails, the call returns %v, want that statement's error", n, *failed, err)
		}
	}
	t.Errorf("a call runs more than %d statements", maxStatements)
}

// ConflictOnce has the next statement of a kind on a table, as in "update payments", refused as PostgreSQL refuses a
// transaction that is in conflict with another: models.DB runs that again.
func ConflictOnce(t testing.TB, db *models.DB, what string) {
	t.Helper()
	var refused atomic.Bool
	stop := watchStatements(t, db, "test:conflict", func(kind string, tx *gorm.DB) error {
		if kind+" "+tx.Statement.Table != what || !refused.CompareAndSwap(false, true) {
			return nil
		}
		return &pgconn.PgError{Code: "40001"}
	})
	t.Cleanup(func() {
		stop()
		if !refused.Load() {
			t.Errorf("no statement was %s, want one that is refused", what)
		}
	})
}

// statementFailer lets one statement fail.
type statementFailer struct {
	left   atomic.Int64 // statements until the one that fails, that one included; 0 for none
	failed atomic.Pointer[string]
}

// failStatement counts a statement and fails it if it is the one.
func (f *statementFailer) failStatement(kind string, tx *gorm.DB) error {
	if tx.DryRun || f.left.Load() == 0 || f.left.Add(-1) != 0 {
		return nil
	}
	what := kind + " " + tx.Statement.Table
	if text := tx.Statement.SQL.String(); text != "" {
		words := strings.Fields(text)
		what = kind + " " + strings.Join(words[:min(3, len(words))], " ")
	}
	f.failed.Store(&what)
	return ErrStatement
}

// watchStatements calls fail before each statement of all connections of a database, until stop is
// called. A statement doesn't run where fail returns an error, and has that error; that of a single
// row is context.Canceled.
func watchStatements(t testing.TB, db *models.DB, name string, fail func(kind string, tx *gorm.DB) error) (stop func()) {
	t.Helper()
	ended, end := context.WithCancel(context.Background())
	end()
	refuse := func(kind string) func(*gorm.DB) {
		return func(tx *gorm.DB) {
			if err := fail(kind, tx); err != nil {
				_ = tx.AddError(err)
			}
		}
	}
	refuseRow := func(tx *gorm.DB) { // a single row has no place for GORM's error
		if fail("row", tx) != nil {
			tx.Statement.Context = ended
		}
	}
	ctx := context.Background()
	var errs []error
	var removes []func()
	var seen []any
	for _, handle := range []*gorm.DB{db.Exec(ctx), db.Read(ctx), db.List(ctx)} {
		c := handle.Callback()
		if slices.Contains(seen, any(c)) {
			continue
		}
		seen = append(seen, c)
		errs = append(errs, c.Create().Before("*").Register(name, refuse("create")),
			c.Update().Before("*").Register(name, refuse("update")), c.Delete().Before("*").
				Register(name, refuse("delete")),
			c.Query().Before("*").Register(name, refuse("query")), c.Raw().Before("*").Register(name, refuse("raw")),
			c.Row().Before("*").Register(name, refuseRow))
		removes = append(removes, func() {
			_ = errors.Join(c.Create().Remove(name), c.Update().Remove(name), c.Delete().Remove(name),
				c.Query().Remove(name), c.Raw().Remove(name), c.Row().Remove(name))
		})
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return func() {
		for _, remove := range removes {
			remove()
		}
	}
}

// failureLog counts warnings with the error of a failed statement, and those whose error is nil.
type failureLog struct {
	slog.Handler
	failures, baseless atomic.Int64
}

// installLog has the log written to it, until restore is called.
func (l *failureLog) installLog() (restore func()) {
	before, writer, flags := slog.Default(), log.Writer(), log.Flags()
	slog.SetDefault(slog.New(l))
	return func() {
		slog.SetDefault(before)
		log.SetOutput(writer) // SetDefault has package log write to the handler
		log.SetFlags(flags)
	}
}

// Handle implements slog.Handler.
func (l *failureLog) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" && r.Level >= slog.LevelWarn {
			switch err, _ := a.Value.Any().(error); {
			case err == nil:
				l.baseless.Add(1)
			case errors.Is(err, ErrStatement) || errors.Is(err, context.Canceled):
				l.failures.Add(1)
				return false
			}
		}
		return true
	})
	return nil
}
