package models

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// speaker is a server that answers every question with its name, once it speaks.
type speaker struct {
	name   string
	speaks chan struct{}
}

// Connect, and what follows, are what database/sql asks of a driver.
func (s speaker) Connect(context.Context) (driver.Conn, error) { return s, nil }
func (s speaker) Driver() driver.Driver                        { return nil }
func (s speaker) Prepare(string) (driver.Stmt, error)          { return nil, driver.ErrSkip }
func (s speaker) Begin() (driver.Tx, error)                    { return s, nil }
func (s speaker) Close() error                                 { return nil }
func (s speaker) Commit() error                                { return nil }
func (s speaker) Rollback() error                              { return nil }

func (s speaker) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) { return s, nil }

func (s speaker) QueryContext(ctx context.Context, _ string, _ []driver.NamedValue) (driver.Rows, error) {
	select {
	case <-s.speaks:
		return &named{name: s.name}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// named is a row with a name.
type named struct {
	name string
	read bool
}

func (*named) Columns() []string { return []string{"name"} }
func (*named) Close() error      { return nil }

func (n *named) Next(into []driver.Value) error {
	if n.read {
		return io.EOF
	}
	n.read, into[0] = true, n.name
	return nil
}

// TestSilentStandby: what a standby that answers nothing is asked, the primary answers, in
// the same request: a list, a row, and a snapshot that was begun. One that answers looks is
// waited for: it may take its time with a report.
func TestSilentStandby(t *testing.T) {
	t.Parallel()
	ask := map[string]func(ctx context.Context, d *DB) (name string, err error){
		"a list": func(ctx context.Context, d *DB) (name string, err error) {
			return name, ScanRows(d.List(ctx).Raw("SELECT name"), func() {}, &name)
		},
		"a row": func(ctx context.Context, d *DB) (name string, err error) {
			return name, d.List(ctx).Raw("SELECT name").Row().Scan(&name)
		},
		"a list in a snapshot": func(ctx context.Context, d *DB) (name string, err error) {
			return name, d.Snapshot(ctx, func(tx *Tx) error { return ScanRows(tx.Raw("SELECT name"), func() {}, &name) })
		},
		"a row in a snapshot": func(ctx context.Context, d *DB) (name string, err error) {
			return name, d.Snapshot(ctx, func(tx *Tx) error { return tx.Raw("SELECT name").Row().Scan(&name) })
		},
	}
	for what, question := range ask {
		for want, hangs := range map[string]bool{"primary": true, "standby": false} {
			t.Run(what+" of the "+want, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					silent := make(chan struct{})
					d, s := withSpeakers(t, silent)
					if !hangs {
						go func() {
							for range 10 {
								<-time.After(lookEvery)
								s.heard.Add(1) // as a look that was answered
							}
							close(silent)
						}()
					}
					request, end := context.WithTimeout(t.Context(), 15*time.Second)
					defer end()
					name, err := question(request, d)
					if err != nil || name != want {
						t.Errorf("%q, %v", name, err)
					}
					if problem := s.why(); (problem != "") != hangs {
						t.Errorf("afterwards: %q", problem)
					}
					if hangs {
						close(silent)
					}
					synctest.Wait() // what was given up has its answer, too, and is dropped
					if used := s.pool.Stats().InUse; used != 0 {
						t.Errorf("%d connections are not given back", used)
					}
				})
			})
		}
	}
}

// withSpeakers is a database whose lists come from a standby that is silent.
func withSpeakers(t *testing.T, silent chan struct{}) (*DB, *standby) {
	t.Helper()
	speaks := make(chan struct{})
	close(speaks)
	now := time.Now()
	h := &health{now: func() time.Time { return now }}
	s := &standby{pool: sql.OpenDB(speaker{"standby", silent}), primary: sql.OpenDB(speaker{"primary", speaks}), health: h}
	s.found.Store(&finding{until: now.Add(MostBehind)})
	t.Cleanup(func() { _, _ = s.pool.Close(), s.primary.Close() })
	db, err := gorm.Open(postgresDialect{&postgres.Dialector{Config: &postgres.Config{Conn: lists{s.primary, s}}}, h},
		&gorm.Config{SkipDefaultTransaction: true, DisableAutomaticPing: true, Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	return &DB{write: db, read: db, list: db, health: h, standby: s}, s
}
