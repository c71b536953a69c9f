package models

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
)

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
	return l.standby.why() == "" && ctx.Value(upToDateKey{}) == nil
}

// QueryContext asks the standby if it may, and the primary when that can't answer.
func (l lists) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if l.onStandby(ctx) {
		if rows, err := rowsOf(ctx, l.standby, l.standby.pool, query, args); !l.standby.left(ctx, err) {
			return rows, err
		}
	}
	return l.DB.QueryContext(ctx, query, args...)
}

// QueryRowContext is QueryContext for one row.
func (l lists) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if l.onStandby(ctx) {
		if row, err := rowOf(ctx, l.standby, l.standby.pool, query, args); !l.standby.left(ctx, err) {
			return row
		}
	}
	return l.DB.QueryRowContext(ctx, query, args...)
}

// BeginTx begins a transaction that only reads where lists are read.
func (l lists) BeginTx(ctx context.Context, options *sql.TxOptions) (gorm.ConnPool, error) {
	if options != nil && options.ReadOnly && l.onStandby(ctx) {
		begin := func() (*sql.Tx, error) { return l.standby.pool.BeginTx(ctx, options) }
		if tx, err := await(ctx, l.standby, begin, (*sql.Tx).Rollback); !l.standby.left(ctx, err) {
			return &moment{tx, l.standby}, err
		}
	}
	return l.DB.BeginTx(ctx, options)
}

// moment is a transaction on the standby.
type moment struct {
	*sql.Tx
	standby *standby
}

// QueryContext fails when the standby is silent.
func (m *moment) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return rowsOf(ctx, m.standby, m.Tx, query, args)
}

// QueryRowContext is QueryContext for one row.
func (m *moment) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	row, err := rowOf(ctx, m.standby, m.Tx, query, args)
	if errors.Is(err, errSilent) {
		return m.Tx.QueryRowContext(ctx, query) // which was called off, and says so
	}
	return row
}

// answerer is what a question is put to: a pool, or a transaction.
type answerer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func rowsOf(ctx context.Context, s *standby, of answerer, query string, args []any) (*sql.Rows, error) {
	return await(ctx, s, func() (*sql.Rows, error) { return of.QueryContext(ctx, query, args...) }, (*sql.Rows).Close)
}

func rowOf(ctx context.Context, s *standby, of answerer, query string, args []any) (*sql.Row, error) {
	return await(ctx, s, func() (*sql.Row, error) {
		row := of.QueryRowContext(ctx, query, args...)
		return row, row.Err()
	}, func(row *sql.Row) error { return row.Scan() })
}

const (
	patience = time.Second     // after which a standby is asked whether it is there at all
	silence  = 2 * time.Second // for which one that is there leaves nothing unanswered
)

var errSilent = fmt.Errorf("it has answered nothing for %s", silence)

type callOffKey struct{}

// await waits for what a standby is asked. It may take its time while it answers others; one
// that hangs answers nobody, and the question is given up: what comes of it later is
// dropped, and it is called off where the context says how. Once there is an answer,
// its rows may take as long as they like.
func await[T any](ctx context.Context, s *standby, ask func() (T, error), drop func(T) error) (answer T, err error) {
	type result struct {
		answer T
		err    error
	}
	came := make(chan result, 1)
	go func() {
		answer, err := ask()
		came <- result{answer, err}
	}()
	for speaks := true; speaks; {
		select {
		case r := <-came:
			return r.answer, r.err
		case <-time.After(patience):
			speaks = s.speaks(ctx)
		}
	}
	s.say(errSilent.Error())
	if off, is := ctx.Value(callOffKey{}).(context.CancelFunc); is {
		off()
	}
	go func() {
		if late := <-came; late.err == nil {
			_ = drop(late.answer)
		}
	}()
	return answer, errSilent
}
