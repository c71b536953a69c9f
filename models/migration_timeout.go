package models

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// withoutTimeout returns the settings of a connection without the time limit that the address gives its
// statements. A connection that begins without the limit can't be ended by it while the limit is lifted.
// Where the address has none it is not named: a connection pooler refuses settings that it doesn't know.
func withoutTimeout(config *pgx.ConnConfig) *pgx.ConnConfig {
	if config.RuntimeParams["statement_timeout"] == "" {
		return config
	}
	config = config.Copy()
	config.RuntimeParams["statement_timeout"] = "0"
	return config
}

// liftTimeout ends the time limit of statements in a connection that changes the schema. An index of a
// large table takes longer than the address, the role or the database allow a statement.
func liftTimeout(ctx context.Context, c *pgx.Conn) error {
	return repeatTimedOut(func() error {
		_, err := c.Exec(ctx, "SET statement_timeout = 0")
		return err
	})
}

// repeatTimedOut repeats a statement that runs under a time limit. The limit counts for the statement that
// lifts it, too: with a limit of a millisecond it may need another try.
func repeatTimedOut(run func() error) (err error) {
	for range 20 {
		var refused *pgconn.PgError
		if err = run(); !errors.As(err, &refused) || refused.Code != "57014" {
			return err
		}
	}
	return err
}
