package models

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// explainPooler explains what a pooler between Cointill and PostgreSQL refuses.
func explainPooler(err error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && strings.HasPrefix(refused.Message, "unsupported startup parameter") {
		return fmt.Errorf("a connection pooler stands before it that refuses a setting: let it "+
			"ignore_startup_parameters = %s, "+
			"and have PostgreSQL itself set %[1]s (docs/operations.md, Poolers): %w", idleLimit, err)
	}
	return err
}

// checkOwnSessions is an error when connections don't lead to sessions of their own: sessions
// hold the lock of migrations, and know prepared statements.
func (d *DB) checkOwnSessions(ctx context.Context) error {
	pool, err := d.write.DB()
	if err != nil {
		return err
	}
	var conns [2]*sql.Conn
	for i := range conns {
		if conns[i], err = pool.Conn(ctx); err != nil {
			return err
		}
		defer func() { _ = conns[i].Close() }()
	}
	var sessions [3]int
	var limit string
	for i := range sessions { // of one, of the other, and of the first again
		asked := conns[i%2].QueryRowContext(ctx, "SELECT pg_backend_pid(), current_setting('"+idleLimit+"')",
			pgx.QueryExecModeSimpleProtocol)
		if err := asked.Scan(&sessions[i], &limit); err != nil {
			return err
		}
	}
	if sessions[0] == sessions[1] || sessions[0] != sessions[2] {
		return errors.New("a connection pooler stands before it that shares sessions among connections: " +
			"set its pool_mode = session (docs/operations.md, Poolers)")
	}
	if limit == "0" {
		slog.Warn(idleLimit + " is off: what a process locks that is halted stays locked; set it to 5s in " +
			"PostgreSQL (docs/operations.md, Poolers)")
	}
	return nil
}
