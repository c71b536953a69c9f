package models

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"gorm.io/driver/postgres"
)

const (
	// MostBehind is how far a standby may be behind, for lists to be read there.
	MostBehind = 10 * time.Second

	lookEvery = time.Second
	lookTime  = 2 * time.Second // for one look at both servers
)

// standby is a hot standby of the database, where lists are read.
type standby struct {
	pool, primary *sql.DB
	now           func() time.Time
	of            identity // of the primary
	problem       atomic.Pointer[string]

	// mark is a place in the primary's log of changes, marked is when the primary
	// was there. Only whoever looks uses them.
	mark   string
	marked time.Time
}

// identity tells databases apart: a standby has its primary's.
type identity struct {
	system           int64
	database, schema string
}

const identify = "system_identifier, current_database(), COALESCE(current_schema(), '') FROM pg_control_system()"

// errOtherDatabase is of a server that is no standby of this database: no lag
// explains that, so a start with it is refused.
var errOtherDatabase = errors.New("COINTILL_LISTS_DATABASE_URL doesn't lead to a hot standby of the database at COINTILL_DATABASE_URL, with the same database and schema")

// UseStandby has lists of a PostgreSQL read from a hot standby, while WatchStandby finds it near
// enough; call it before the database is used. An error when it is no standby of
// this database. One that can't be reached is none: it may come back.
func (d *DB) UseStandby(ctx context.Context, databaseURL string) error {
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return errors.New("COINTILL_LISTS_DATABASE_URL is no PostgreSQL address") // the cause would show the password
	}
	patiently(config)
	primary, err := d.list.DB()
	if err != nil {
		return err
	}
	s := &standby{pool: pgxPool(forLists(config)), primary: primary, now: d.health.now}
	s.pool.SetMaxOpenConns(6)
	s.pool.SetMaxIdleConns(6)
	s.say("it wasn't looked at yet")
	err = primary.QueryRowContext(ctx, "SELECT "+identify).Scan(&s.of.system, &s.of.database, &s.of.schema)
	if err == nil {
		err = s.markNow(ctx)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("the database doesn't tell what its standby must be: %w", outage(err)), s.pool.Close())
	}
	if _, err = s.passed(ctx); errors.Is(err, errOtherDatabase) {
		return errors.Join(err, s.pool.Close())
	}
	pool := postgres.Dialector{Config: &postgres.Config{Conn: lists{primary, s}}}
	if d.list, err = open(postgresDialect{&pool, d.health}, false, 6, d.health.now); err != nil {
		return errors.Join(err, s.pool.Close())
	}
	d.standby = s
	return nil
}

// WatchStandby looks at the standby every second until the context ends, and has
// lists read from it or from the primary accordingly.
func (d *DB) WatchStandby(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for was := "unknown"; ; {
		is := d.standby.look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case was != is && is == "":
			slog.InfoContext(ctx, "lists are read from the standby")
		case was != is:
			slog.WarnContext(ctx, "lists are read from the primary", "standby", is)
		}
		was = is
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// HasStandby reports whether there is a standby for lists.
func (d *DB) HasStandby() bool { return d.standby != nil }

// Standby says why lists are not read from the standby now; "" while they are.
func (d *DB) Standby() string { return *d.standby.problem.Load() }

func (s *standby) say(problem string) { s.problem.Store(&problem) }

// look holds the standby against what the primary had written MostBehind ago. The
// clocks of their machines don't matter: what is compared is places in the log.
func (s *standby) look(ctx context.Context) (problem string) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	passed, err := s.passed(ctx)
	late := s.now().Sub(s.marked) > MostBehind
	if err == nil && passed {
		err = s.markNow(ctx)
	}
	switch {
	case err != nil:
		s.say(err.Error())
	case late:
		s.say(fmt.Sprintf("it is more than %s behind", MostBehind))
	case passed:
		s.say("")
	}
	return *s.problem.Load() // one that is on its way is what it was
}

// passed reports whether the standby has come past the mark.
func (s *standby) passed(ctx context.Context) (passed bool, err error) {
	var recovers bool
	var is identity
	err = s.pool.QueryRowContext(ctx, "SELECT pg_is_in_recovery(), COALESCE(pg_last_wal_replay_lsn() >= CAST($1::text AS pg_lsn), false), "+identify, s.mark).
		Scan(&recovers, &passed, &is.system, &is.database, &is.schema)
	if err == nil && (!recovers || is != s.of) {
		err = errOtherDatabase
	}
	return passed, err
}

// markNow marks where the primary is.
func (s *standby) markNow(ctx context.Context) error {
	at := s.now() // before it is asked: what it says may be younger
	if err := s.primary.QueryRowContext(ctx, "SELECT pg_current_wal_lsn()::text").Scan(&s.mark); err != nil {
		return err
	}
	s.marked = at
	return nil
}

// left reports that the primary has to be asked, as the standby couldn't answer:
// it is gone, or what is asked for is in the way of what it has to replay. If it
// is gone, nobody asks it again before the next look.
func (s *standby) left(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	if reasonOf(err) != "" {
		s.say(err.Error())
	}
	return true
}

type upToDateKey struct{}

// UpToDate has List and Snapshot read all that was committed before, which a
// standby may lack: for what decides something, and what is compared with it.
func UpToDate(ctx context.Context) context.Context {
	return context.WithValue(ctx, upToDateKey{}, true)
}

// lists is GORM's pool for lists: the primary's, with the standby before it.
type lists struct {
	*sql.DB
	standby *standby
}

// GetDBConn is what GORM asks for the primary's pool.
func (l lists) GetDBConn() (*sql.DB, error) { return l.DB, nil }

func (l lists) onStandby(ctx context.Context) bool {
	return *l.standby.problem.Load() == "" && ctx.Value(upToDateKey{}) == nil
}

// QueryContext asks the standby if it may, and the primary when that can't answer.
func (l lists) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if l.onStandby(ctx) {
		if rows, err := l.standby.pool.QueryContext(ctx, query, args...); !l.standby.left(ctx, err) {
			return rows, err
		}
	}
	return l.DB.QueryContext(ctx, query, args...)
}

// QueryRowContext is QueryContext for one row.
func (l lists) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if l.onStandby(ctx) {
		if row := l.standby.pool.QueryRowContext(ctx, query, args...); !l.standby.left(ctx, row.Err()) {
			return row
		}
	}
	return l.DB.QueryRowContext(ctx, query, args...)
}

// BeginTx begins a transaction that only reads where lists are read.
func (l lists) BeginTx(ctx context.Context, options *sql.TxOptions) (*sql.Tx, error) {
	if options != nil && options.ReadOnly && l.onStandby(ctx) {
		if tx, err := l.standby.pool.BeginTx(ctx, options); !l.standby.left(ctx, err) {
			return tx, err
		}
	}
	return l.DB.BeginTx(ctx, options)
}
