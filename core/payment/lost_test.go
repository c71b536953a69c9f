package payment_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"testing"

	"gorm.io/gorm"

	"cointill/chain"
)

// deaf is a pool of connections that never hears of a commit that was made.
type deaf struct{ *sql.DB }

type deafTx struct{ *sql.Tx }

func (d *deaf) GetDBConn() (*sql.DB, error) { return d.DB, nil }

func (d *deaf) BeginTx(ctx context.Context, opts *sql.TxOptions) (gorm.ConnPool, error) {
	tx, err := d.DB.BeginTx(ctx, opts)
	return &deafTx{tx}, err
}

func (d *deafTx) Commit() error { return errors.Join(d.Tx.Commit(), io.ErrUnexpectedEOF) }

// TestLostAnswer: when the answer to the commit of what was seen is lost, what the
// transaction spends is watched all the same: nobody reads it from the database until the
// process restarts, and a double spend would be taken for a transaction that was dropped.
func TestLostAnswer(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		tx := b.pay(v, "lost", v.Payment.Due)
		var pool gorm.ConnPool
		b.db.Through(func(whole gorm.ConnPool) gorm.ConnPool { pool = whole; return &deaf{whole.(*sql.DB)} })
		err := b.observer.Apply(t.Context(), chain.Batch{Network: b.network, From: b.blocks[len(b.blocks)-1], Read: b.clock.Now(),
			Tip: chain.Tip{Header: chain.Header{BlockID: b.blocks[len(b.blocks)-1]}, Finalized: -1}, Pending: &chain.Pending{Transfers: []chain.Transfer{tx}}})
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
		b.db.Through(func(gorm.ConnPool) gorm.ConnPool { return pool })
		if got := b.view(v.Payment.Reference); len(got.Transfers) != 1 {
			t.Fatalf("%+v", got.Transfers)
		}
		if !b.observer.Watching.Spend(tx.Spends[0]) {
			t.Error("nobody watches what the transaction spends")
		}
	})
}
