package models

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// How long a server may be silent. A machine that was switched off, or a firewall
// that forgot a connection, refuses nothing: it just says no word any more.
const (
	dialTime      = 5 * time.Second  // until a new connection is ready for statements
	silentTime    = 10 * time.Second // for which sent data may stay unacknowledged
	pingTime      = 4 * time.Second  // until Ping says that the database doesn't answer
	statementTime = time.Minute      // for one statement, where nothing else is said
)

// setTimeouts makes connections notice a server that became silent. While a statement waits,
// the system probes the other end every few seconds; a statement also has a limit of its own,
// for a middlebox that accepts data and passes nothing on. connect_timeout and
// statement_timeout of the address take precedence.
func setTimeouts(config *pgx.ConnConfig) {
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = dialTime
	}
	dialer := &net.Dialer{Control: setUserTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silentTime / 2, Interval: silentTime / 5, Count: 3}}
	config.DialFunc = dialer.DialContext
	most := statementTime
	if set, err := strconv.Atoi(config.RuntimeParams["statement_timeout"]); err == nil && set > 0 {
		most = time.Duration(set)*time.Millisecond + pingTime // PostgreSQL says so itself, if it can
	}
	config.Tracer = statementLimit(most)
}

// statementLimit cancels statements that take longer. It is a tracer: pgx calls it for each
// statement.
type statementLimit time.Duration

type calledOffKey struct{}

// TraceQueryStart gives the context of a statement its end.
func (l statementLimit) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	if ctx.Value(unlimitedKey{}) != nil {
		return ctx
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(l))
	return context.WithValue(ctx, calledOffKey{}, cancel)
}

// TraceQueryEnd frees what the limit took, once the last row was read.
func (statementLimit) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	if cancel, ok := ctx.Value(calledOffKey{}).(context.CancelFunc); ok {
		cancel()
	}
}

// shouldPing tests an idle connection before a statement uses it. A connection that doesn't
// answer in time is closed; the ping that true causes has no limit, and fails on it at once.
func shouldPing(ctx context.Context, p stdlib.ShouldPingParams) bool {
	if p.IdleDuration <= time.Second {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	return p.Conn.PgConn().Ping(ctx) != nil
}

type unlimitedKey struct{}

// unlimited is for statements that may take as long as they like.
func unlimited(ctx context.Context) context.Context {
	return context.WithValue(ctx, unlimitedKey{}, true)
}

// idleLimit is PostgreSQL's setting for how long a transaction may wait for its client.
const idleLimit = "idle_in_transaction_session_timeout"

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
