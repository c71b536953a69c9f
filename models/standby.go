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
	// MostBehind is how old what a standby shows may be, for lists to be read there.
	MostBehind = 10 * time.Second

	lookEvery = time.Second
)

// standby is a hot standby of the database, where lists are read.
type standby struct {
	pool    *sql.DB  // for lists
	looks   *sql.DB  // one connection, so that no look waits for lists
	primary *sql.DB  // where stamps are written, which wait for no lists either
	health  *health  // of the primary
	of      identity // of the primary
	found   atomic.Pointer[standbyState]
}

// standbyState is the result of a check of the standby.
type standbyState struct {
	problem string    // why lists aren't read there
	server  int64     // on whose history it is: see stamp
	until   time.Time // the time at which its data is too old
}

// stamp is a row that is written on the primary again and again. Places in the log of
// changes prove nothing: a standby may have gone another way than a primary that was
// restored, or than another server that was promoted, and be ahead of it. A stamp
// with the start of the primary's server can only come from there, with all that was
// committed before it. Both are in microseconds of the primary's clock.
type stamp struct{ server, at int64 }

const (
	serverStart = "CAST(EXTRACT(EPOCH FROM pg_postmaster_start_time()) * 1000000 AS bigint)"
	writeStamp  = "INSERT INTO instances (name, value) SELECT 'lists', " + serverStart +
		" || ' ' || CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS bigint)" +
		" ON CONFLICT (name) DO UPDATE SET value = excluded.value RETURNING value"
	readStamp = "SELECT value FROM instances WHERE name = 'lists'"
)

// identity tells databases apart: a standby has its primary's.
type identity struct {
	system           int64
	database, schema string
}

const identityQuery = "system_identifier, current_database(), COALESCE(current_schema(), '') FROM pg_control_system()"

// errOtherDatabase is of a server with another database: neither lag nor a failover
// explains that, so a start with it is refused.
var errOtherDatabase = errors.New(
	"COINTILL_LISTS_DATABASE_URL doesn't lead to a hot standby of the database at COINTILL_DATABASE_URL, with the " +
		"same database and schema")

// errPromoted is of a server of this database that follows no other: it may come to be a standby again.
var errPromoted = errors.New("it is no hot standby any more: it was promoted, or is the primary itself")

// UseStandby has lists of a PostgreSQL read from a hot standby, while WatchStandby finds it near
// enough; call it after Migrate, and before lists are read. An error when it has
// another database. One that can't be reached, or was promoted, is none: it may come back.
func (d *DB) UseStandby(ctx context.Context, databaseURL string) error {
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return errors.New("COINTILL_LISTS_DATABASE_URL is no PostgreSQL address") // the cause would show the password
	}
	setTimeouts(config)
	return d.useStandby(ctx, func() *sql.DB { return openPool(listConfig(config), nil) })
}

// useStandby is UseStandby with pools of connections to it.
func (d *DB) useStandby(ctx context.Context, pool func() *sql.DB) (err error) {
	s := &standby{pool: limitPool(6, pool()), looks: limitPool(1, pool()), health: d.health}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	s.setProblem("it wasn't looked at yet")
	if s.primary, err = d.write.DB(); err != nil {
		return err
	}
	ofLists, err := d.list.DB()
	if err != nil {
		return err
	}
	err = s.primary.QueryRowContext(ctx, "SELECT "+identityQuery).Scan(&s.of.system, &s.of.database, &s.of.schema)
	if err == nil {
		_, err = scanStamp(s.primary.QueryRowContext(ctx, writeStamp)) // so that it may have come when it is looked for
	}
	if err != nil {
		return fmt.Errorf("the database doesn't tell what its standby must be: %w", asOutage(err))
	}
	if err := s.checkIdentity(ctx); errors.Is(err, errOtherDatabase) {
		return err
	}
	dialect := postgres.Dialector{Config: &postgres.Config{Conn: listPool{ofLists, s}}}
	list, err := openGORM(postgresDialect{&dialect, d.health}, false, 6, d.health.now)
	if err == nil {
		d.list, d.standby = list, s
	}
	return err
}

func limitPool(connections int, pool *sql.DB) *sql.DB {
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	return pool
}

func (s *standby) close() error { return errors.Join(s.pool.Close(), s.looks.Close()) }

// WatchStandby looks at the standby every second until the context ends, and has
// lists read from it or from the primary accordingly.
func (d *DB) WatchStandby(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for was := "unknown"; ; {
		is := d.standby.checkStandby(ctx)
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
func (d *DB) Standby() string { return d.standby.problemNow() }

func (s *standby) setProblem(problem string) { s.found.Store(&standbyState{problem: problem}) }

// problemNow returns why lists are not read from the standby at this moment; "" when they are.
func (s *standby) problemNow() string {
	switch found := s.found.Load(); {
	case found.problem != "":
		return found.problem
	case found.server != s.health.server.Load():
		return notCaughtUp
	case !s.health.now().Before(found.until):
		return tooOld
	}
	return ""
}

const notCaughtUp = "nothing has come to it yet that was written since the database was started"

var tooOld = fmt.Sprintf("it is more than %s behind", MostBehind)

// checkStandby writes a stamp and reads which one has reached the standby. A slow primary
// makes the standby's data no older than that.
func (s *standby) checkStandby(ctx context.Context) (problem string) {
	begun := s.health.now()
	wrote, err := s.writeStamp(ctx)
	if err != nil && s.problemNow() == "" {
		return "" // its data counts until it is too old
	}
	var shows stamp
	if err == nil {
		shows, err = s.readStamp(ctx)
	}
	if err != nil {
		s.setProblem(err.Error())
	} else {
		found := compareStamps(begun, wrote, shows)
		s.found.Store(&found)
	}
	return s.problemNow()
}

// writeStamp writes a stamp. One that comes later than MostBehind is of no use.
func (s *standby) writeStamp(ctx context.Context) (stamp, error) {
	ctx, cancel := context.WithTimeout(ctx, MostBehind)
	defer cancel()
	wrote, err := scanStamp(s.primary.QueryRowContext(ctx, writeStamp))
	if err != nil {
		err = fmt.Errorf("the primary notes no time to compare with: %w", err)
	}
	return wrote, err
}

// readStamp reads the stamp that has come to the standby.
func (s *standby) readStamp(ctx context.Context) (stamp, error) {
	ctx, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	if err := s.checkIdentity(ctx); err != nil {
		return stamp{}, err
	}
	return scanStamp(s.looks.QueryRowContext(ctx, readStamp))
}

// answersNow reports whether the standby answers at this moment, whatever it is busy with.
func (s *standby) answersNow(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), silence) // the caller may leave in between
	defer cancel()
	return s.looks.PingContext(ctx) == nil
}

// compareStamps holds the stamp that a standby shows against one that was just written. Both
// are by the primary's clock, so it doesn't matter what others say; one that was set back
// counts as late. The data is as old as its stamp, and gets older.
func compareStamps(begun time.Time, wrote, shows stamp) standbyState {
	age := time.Duration(wrote.at-shows.at) * time.Microsecond
	switch {
	case shows.server != wrote.server:
		return standbyState{problem: notCaughtUp}
	case age.Abs() > MostBehind:
		return standbyState{problem: tooOld}
	}
	// another process may have written after us
	return standbyState{server: wrote.server, until: begun.Add(MostBehind - max(age, 0))}
}

// afterConnect records which server a new connection leads to. After a failover a process
// meets the new primary before it learns anything from it, and reads no list from a standby of
// the old one. Another database is refused.
func (h *health) afterConnect(ctx context.Context, c *pgx.Conn) error {
	if err := h.checkDatabase(ctx, c); err != nil {
		return err
	}
	var server int64
	err := c.QueryRow(ctx, "SELECT "+serverStart, pgx.QueryExecModeSimpleProtocol).Scan(&server)
	if err == nil {
		h.server.Store(server)
	}
	return err
}

// scanStamp reads a stamp; without one it is none of any server.
func scanStamp(row *sql.Row) (m stamp, err error) {
	var value string
	if err = row.Scan(&value); err == nil {
		_, err = fmt.Sscan(value, &m.server, &m.at)
	} else if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return m, err
}

// checkIdentity refuses a server that is no standby of the primary.
func (s *standby) checkIdentity(ctx context.Context) error {
	var recovers bool
	var is identity
	err := s.looks.QueryRowContext(ctx, "SELECT pg_is_in_recovery(), "+identityQuery).
		Scan(&recovers, &is.system, &is.database, &is.schema)
	switch {
	case err != nil:
		return err
	case is != s.of:
		return errOtherDatabase
	case !recovers:
		return errPromoted
	}
	return nil
}

// fallBack reports whether the primary has to answer, because the standby failed or the query
// was in the way of its replay. A standby that is gone is not asked again before the next
// check.
func (s *standby) fallBack(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	if outageReason(err) != "" {
		s.setProblem(err.Error())
	}
	return true
}
