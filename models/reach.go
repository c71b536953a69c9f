package models

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Reach connects to a PostgreSQL once, and lets go of it. The error is an Outage when the server
// can't be used now and may be later: nothing answers, it starts or stops, or it has all the
// connections that it takes. Another one, as a wrong password is, stays until a person corrects it.
func Reach(ctx context.Context, databaseURL string) error {
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return errNoAddress
	}
	setTimeouts(config)
	conn, err := pgx.ConnectConfig(ctx, config)
	if err == nil {
		return conn.Close(ctx)
	}
	err = fmt.Errorf("PostgreSQL at %s:%d: %w", config.Host, config.Port, explainPooler(err))
	if reason := passingReason(err); reason != "" {
		return &Outage{Reason: reason, Cause: err}
	}
	return err
}

// passingReason says why a server can't be connected to now; "" where that stays.
func passingReason(err error) string {
	var answered *pgconn.PgError
	var network net.Error
	switch {
	case errors.As(err, &answered):
		if reason := reasons[answered.Code]; reason == stopping || reason == crowded {
			return reason
		}
		return ""
	case errors.As(err, &network) && network.Timeout():
		return silent
	case errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return unreached
	}
	return ""
}
