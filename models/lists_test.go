package models

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

// fake is a PostgreSQL that tells stamps and its name, each in its time.
type fake struct {
	name    string
	recover bool
	takes   func(query string) time.Duration
	stamped *atomic.Value // the stamp that was written last
}

// Connect, and what follows, are what database/sql asks of a driver.
func (f fake) Connect(context.Context) (driver.Conn, error) { return f, nil }
func (f fake) Driver() driver.Driver                        { return nil }
func (f fake) Prepare(string) (driver.Stmt, error)          { return nil, driver.ErrSkip }
func (f fake) Begin() (driver.Tx, error)                    { return f, nil }
func (f fake) Close() error                                 { return nil }
func (f fake) Commit() error                                { return nil }
func (f fake) Rollback() error                              { return nil }

func (f fake) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) { return f, nil }
func (f fake) Ping(ctx context.Context) error                               { return f.work(ctx, "") }

func (f fake) work(ctx context.Context, query string) error {
	select {
	case <-time.After(f.takes(query)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f fake) QueryContext(ctx context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	asked := time.Now()
	if err := f.work(ctx, query); err != nil {
		return nil, err
	}
	switch {
	case query == writeStamp:
		f.stamped.Store(fmt.Sprint(fakeStart, asked.UnixMicro()))
		return &row{values: []driver.Value{f.stamped.Load()}}, nil
	case query == readStamp:
		return &row{values: []driver.Value{f.stamped.Load()}}, nil
	case strings.Contains(query, "pg_is_in_recovery"):
		return &row{values: []driver.Value{f.recover, int64(1), "till", "public"}}, nil
	case strings.Contains(query, identityQuery):
		return &row{values: []driver.Value{int64(1), "till", "public"}}, nil
	}
	return &row{values: []driver.Value{f.name}}, nil
}

// fakeStart is when the primary was started: see stamp.
const fakeStart = int64(7)

// row is an answer of one row.
type row struct {
	values []driver.Value
	read   bool
}

func (r *row) Columns() []string { return make([]string, len(r.values)) }
func (*row) Close() error        { return nil }

func (r *row) Next(into []driver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read = true
	copy(into, r.values)
	return nil
}

// withStandby is a database with a standby, whose answers take their time.
func withStandby(t *testing.T, primary, standby func(query string) time.Duration) *DB {
	t.Helper()
	var stamped atomic.Value
	connect := func() *sql.DB {
		return sql.OpenDB(fake{name: "primary", takes: primary, stamped: &stamped})
	}
	h := &health{now: time.Now}
	h.server.Store(fakeStart)
	d := &DB{health: h}
	for _, into := range []**gorm.DB{&d.write, &d.list} {
		var err error
		if *into, err = openGORM(postgresDialect{&postgres.Dialector{Config: &postgres.Config{Conn: connect()}}, h}, false, 6, time.Now); err != nil {
			t.Fatal(err)
		}
	}
	d.read = d.write
	t.Cleanup(func() { _ = d.Close() })
	err := d.useStandby(t.Context(), func() *sql.DB {
		return sql.OpenDB(fake{name: "standby", recover: true, takes: standby, stamped: &stamped})
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func atOnce(string) time.Duration { return 0 }

const report = "SELECT name"

// onReport is how long a report takes, where all else is answered at once.
func onReport(took time.Duration) func(query string) time.Duration {
	return func(query string) time.Duration {
		if query == report {
			return took
		}
		return 0
	}
}

// TestLongReports: a standby that is watched has time for as many long reports as it has
// connections, also while the primary is slow or has long reports, too.
func TestLongReports(t *testing.T) {
	t.Parallel()
	for name, primary := range map[string]func(query string) time.Duration{
		"alone":                       atOnce,
		"while the primary is slow":   func(string) time.Duration { return 3 * time.Second },
		"while the primary has lists": onReport(time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := withStandby(t, primary, onReport(6*time.Second))
				var tasks sync.WaitGroup
				defer tasks.Wait()
				ctx, end := context.WithCancel(t.Context())
				defer end()
				tasks.Go(func() { _ = d.WatchStandby(ctx) })
				for range 6 {
					tasks.Go(func() { _, _ = reported(UpToDate(ctx), d) })
				}
				<-time.After(MostBehind)
				for range 5 {
					var reports sync.WaitGroup
					for range 6 {
						reports.Go(func() {
							if name, err := reported(ctx, d); err != nil || name != "standby" {
								t.Errorf("%q, %v; %s", name, err, d.Standby())
							}
						})
					}
					reports.Wait()
				}
			})
		})
	}
}

// reported asks for a report.
func reported(ctx context.Context, d *DB) (name string, err error) {
	return name, ScanRows(d.List(ctx).Raw(report), func() {}, &name)
}

// TestSilentStandby: what a standby that answers nothing is asked, the primary answers, in
// the same request: a list, a row, and a snapshot that was begun. One that answers others is
// waited for: it may take its time with a report.
func TestSilentStandby(t *testing.T) {
	t.Parallel()
	ask := map[string]func(ctx context.Context, d *DB) (name string, err error){
		"a list": reported,
		"a row": func(ctx context.Context, d *DB) (name string, err error) {
			return name, d.List(ctx).Raw(report).Row().Scan(&name)
		},
		"a list in a snapshot": func(ctx context.Context, d *DB) (name string, err error) {
			return name, d.Snapshot(ctx, func(tx *Tx) error { return ScanRows(tx.Raw(report), func() {}, &name) })
		},
		"a row in a snapshot": func(ctx context.Context, d *DB) (name string, err error) {
			return name, d.Snapshot(ctx, func(tx *Tx) error { return tx.Raw(report).Row().Scan(&name) })
		},
	}
	const takes = 10 * time.Second
	for what, question := range ask {
		for want, hangs := range map[string]bool{"primary": true, "standby": false} {
			t.Run(what+" of the "+want, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					silent := false
					d := withStandby(t, atOnce, func(query string) time.Duration {
						if silent {
							return takes
						}
						return onReport(takes)(query)
					})
					if problem := d.standby.checkStandby(t.Context()); problem != "" {
						t.Fatalf("d.standby.checkStandby(t.Context()): problem = %v", problem)
					}
					silent = hangs
					request, end := context.WithTimeout(t.Context(), 15*time.Second)
					defer end()
					begun := time.Now()
					name, err := question(request, d)
					if err != nil || name != want {
						t.Errorf("%q, %v", name, err)
					}
					if problem := d.standby.found.Load().problem; (problem != "") != hangs {
						t.Errorf("afterwards: %q", problem)
					}
					<-time.After(takes - time.Since(begun))
					synctest.Wait() // what was given up has its answer, too, and is dropped
					if used := d.standby.pool.Stats().InUse; used != 0 {
						t.Errorf("%d connections are not given back", used)
					}
				})
			})
		}
	}
}

// TestGoneBeforeTheAnswer: who leaves while a standby takes its time doesn't make it silent.
func TestGoneBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := withStandby(t, atOnce, onReport(time.Minute))
		if problem := d.standby.checkStandby(t.Context()); problem != "" {
			t.Fatalf("d.standby.checkStandby(t.Context()): problem = %v", problem)
		}
		ctx, end := context.WithTimeout(t.Context(), patience) // gone as it is asked whether it is there
		defer end()
		if _, err := reported(ctx, d); err == nil {
			t.Error("there was an answer")
		}
		if problem := d.Standby(); problem != "" {
			t.Errorf("d.Standby(): problem = %v", problem)
		}
	})
}

// TestSlowLook: what a standby shows is as old as the look was when it began, however
// long the primary or the standby took.
func TestSlowLook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slowly := func(string) time.Duration { return time.Second / 2 }
		d := withStandby(t, slowly, slowly)
		begun := time.Now()
		if problem := d.standby.checkStandby(t.Context()); problem != "" {
			t.Fatalf("d.standby.checkStandby(t.Context()): problem = %v", problem)
		}
		<-time.After(MostBehind - time.Since(begun) - 1)
		if problem := d.Standby(); problem != "" {
			t.Errorf("a moment before: %s", problem)
		}
		<-time.After(1)
		if problem := d.Standby(); problem != tooOld {
			t.Errorf("afterwards: %q", problem)
		}
	})
}
