package simulation_test

import (
	"context"
	"database/sql"
	"io"

	"gorm.io/gorm"
)

// errGone is a connection that broke: nobody knows what became of what was sent.
var errGone = io.ErrUnexpectedEOF

// breaking is the pool of connections that write. Of a commit there, its answer or the
// whole may be lost; a statement outside of a transaction is its own commit.
type breaking struct {
	*sql.DB
	failer *failer
}

var _ gorm.ConnPoolBeginner = (*breaking)(nil)

// GetDBConn implements gorm.GetDBConnector.
func (b *breaking) GetDBConn() (*sql.DB, error) { return b.DB, nil }

// BeginTx implements gorm.ConnPoolBeginner.
func (b *breaking) BeginTx(ctx context.Context, opts *sql.TxOptions) (gorm.ConnPool, error) {
	tx, err := b.DB.BeginTx(ctx, opts)
	return &breakingTx{tx, b.failer}, err
}

// ExecContext implements gorm.ConnPool.
func (b *breaking) ExecContext(ctx context.Context, query string, args ...any) (result sql.Result, err error) {
	err = b.failer.commits(func() (err error) {
		result, err = b.DB.ExecContext(ctx, query, args...)
		return err
	}, func() error { return nil })
	return result, err
}

type breakingTx struct {
	*sql.Tx
	failer *failer
}

var _ gorm.Tx = (*breakingTx)(nil)

// Commit implements gorm.TxCommitter.
func (t *breakingTx) Commit() error { return t.failer.commits(t.Tx.Commit, t.Rollback) }
