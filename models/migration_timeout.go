package models

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3/lock"
)

// unlimitedLocker locks the session that migrations run in, and lets statements take their time
// in it. An index of a large table takes longer than what the address, the role or the database
// allow a statement.
type unlimitedLocker struct{ lock.SessionLocker }

// SessionLock is called before the first statement of a migration.
func (l unlimitedLocker) SessionLock(ctx context.Context, conn *sql.Conn) error {
	if err := liftTimeouts(ctx, conn); err != nil {
		return err
	}
	return l.SessionLocker.SessionLock(ctx, conn)
}

// SessionUnlock is called after the last one. Others use the session afterwards.
func (l unlimitedLocker) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	err := l.SessionLocker.SessionUnlock(ctx, conn)
	_, reset := conn.ExecContext(ctx, "RESET statement_timeout")
	return errors.Join(err, reset)
}

// liftTimeouts ends the time limit of statements in a session.
func liftTimeouts(ctx context.Context, conn *sql.Conn) error {
	return repeatTimedOut(func() error {
		_, err := conn.ExecContext(ctx, "SET statement_timeout = 0")
		return err
	})
}

// repeatTimedOut repeats statements that run under a time limit, which counts for the one that lifts
// it, too: with a limit of a millisecond they may need another try.
func repeatTimedOut(run func() error) (err error) {
	for range 20 {
		var refused *pgconn.PgError
		if err = run(); !errors.As(err, &refused) || refused.Code != "57014" {
			return err
		}
	}
	return err
}
