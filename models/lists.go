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

// UpToDate makes List and Snapshot read everything that was committed before, which a standby
// may lack. Use it for decisions, and for reads that are compared with them.
func UpToDate(ctx context.Context) context.Context {
	return context.WithValue(ctx, upToDateKey{}, true)
}

// listPool is GORM's pool for lists: the primary's, with the standby before it.
type listPool struct {
	*sql.DB
	standby *standby
}

// GetDBConn is what GORM asks for the primary's pool.
func (l listPool) GetDBConn() (*sql.DB, error) { return l.DB, nil }

func (l listPool) onStandby(ctx context.Context) bool {
	return l.standby.problemNow() == "" && ctx.Value(upToDateKey{}) == nil
}

// QueryContext asks the standby if it may, and the primary when that can't answer.
func (l listPool) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if l.onStandby(ctx) {
		if rows, err := queryRows(ctx, l.standby, l.standby.pool, query, args); !l.standby.fallBack(ctx, err) {
			return rows, err
		}
	}
	return l.DB.QueryContext(ctx, query, args...)
}

// QueryRowContext is QueryContext for one row.
func (l listPool) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if l.onStandby(ctx) {
		if row, err := queryRow(ctx, l.standby, l.standby.pool, query, args); !l.standby.fallBack(ctx, err) {
			return row
		}
	}
	return l.DB.QueryRowContext(ctx, query, args...)
}

// BeginTx begins a transaction that only reads where lists are read.
func (l listPool) BeginTx(ctx context.Context, options *sql.TxOptions) (gorm.ConnPool, error) {
	if options != nil && options.ReadOnly && l.onStandby(ctx) {
		begin := func() (*sql.Tx, error) { return l.standby.pool.BeginTx(ctx, options) }
		if tx, err := awaitStandby(ctx, l.standby, begin, (*sql.Tx).Rollback); !l.standby.fallBack(ctx, err) {
			return &standbyTx{tx, l.standby}, err
		}
	}
	return l.DB.BeginTx(ctx, options)
}

// standbyTx is a transaction on the standby.
type standbyTx struct {
	*sql.Tx
	standby *standby
}

// QueryContext fails when the standby is silent.
func (m *standbyTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return queryRows(ctx, m.standby, m.Tx, query, args)
}

// QueryRowContext is QueryContext for one row.
func (m *standbyTx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	row, err := queryRow(ctx, m.standby, m.Tx, query, args)
	if errors.Is(err, errSilent) {
		return m.Tx.QueryRowContext(ctx, query) // which was called off, and says so
	}
	return row
}

// querier is what a question is put to: a pool, or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func queryRows(ctx context.Context, s *standby, of querier, query string, args []any) (*sql.Rows, error) {
	return awaitStandby(ctx, s, func() (*sql.Rows, error) { return of.QueryContext(ctx, query, args...) },
		(*sql.Rows).Close)
}

func queryRow(ctx context.Context, s *standby, of querier, query string, args []any) (*sql.Row, error) {
	return awaitStandby(ctx, s, func() (*sql.Row, error) {
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

// awaitStandby waits for a query on a standby. A standby that answers other queries may take
// its time. When it answers nothing, the query is given up: a late answer is passed to drop,
// and the query is cancelled when the context allows it. After the first answer the rows may
// take any time.
func awaitStandby[T any](ctx context.Context, s *standby, ask func() (T, error), drop func(T) error) (answer T,
	err error) {
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
			speaks = s.answersNow(ctx)
		}
	}
	s.setProblem(errSilent.Error())
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
