package payment_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"testing"
	"time"

	"gorm.io/gorm"

	"cointill/chain"
	"cointill/core/payment"
)

// deaf is a pool of connections that never hears of what was committed.
type deaf struct{ *sql.DB }

func (d *deaf) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	result, err := d.DB.ExecContext(ctx, text, args...)
	return result, errors.Join(err, io.ErrUnexpectedEOF)
}

type deafTx struct{ *sql.Tx }

func (d *deaf) GetDBConn() (*sql.DB, error) { return d.DB, nil }

func (d *deaf) BeginTx(ctx context.Context, opts *sql.TxOptions) (gorm.ConnPool, error) {
	tx, err := d.DB.BeginTx(ctx, opts)
	return &deafTx{tx}, err
}

func (d *deafTx) Commit() error { return errors.Join(d.Tx.Commit(), io.ErrUnexpectedEOF) }

// deafTo does what ends in a commit whose answer is lost.
func (b *bench) deafTo(do func() error) {
	b.t.Helper()
	var pool gorm.ConnPool
	b.db.Through(func(whole gorm.ConnPool) gorm.ConnPool { pool = whole; return &deaf{whole.(*sql.DB)} })
	err := do()
	b.db.Through(func(gorm.ConnPool) gorm.ConnPool { return pool })
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		b.t.Fatal(err)
	}
}

// TestLostAnswer: when the answer to the commit of what was seen is lost, what the
// transaction spends is watched all the same: nobody reads it from the database until the
// process restarts, and a double spend would be taken for a transaction that was dropped.
func TestLostAnswer(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		tx := b.pay(v, "lost", v.Payment.Due)
		b.deafTo(func() error {
			return b.observer.Apply(t.Context(), chain.Batch{Network: b.network, From: b.blocks[len(b.blocks)-1], Read: b.clock.Now(),
				Tip: chain.Tip{Header: chain.Header{BlockID: b.blocks[len(b.blocks)-1]}, Finalized: -1}, Pending: &chain.Pending{Transfers: []chain.Transfer{tx}}})
		})
		if got := b.view(v.Payment.Reference); len(got.Transfers) != 1 {
			t.Fatalf("%+v", got.Transfers)
		}
		if !b.observer.Watching.Spend(tx.Spends[0]) {
			t.Error("nobody watches what the transaction spends")
		}
	})
}

// TestLostAnswerOfRereading checks that a payment whose money a block that was read again brought is
// due until it is decided, also when the answer to the commit is lost.
func TestLostAnswerOfRereading(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		b.mine() // holds the transfer, but it was not looked for
		missed := chain.Block{Header: chain.Header{BlockID: b.blocks[len(b.blocks)-1], Time: b.clock.Now()}, Transfers: []chain.Transfer{b.pay(v, "missed", v.Payment.Due)}}
		b.mine()
		b.deafTo(func() error { _, err := b.observer.Reread(t.Context(), network, missed); return err })
		b.expect(v.Payment.Reference, payment.Initiated, "")
		b.sweep()
		b.expect(v.Payment.Reference, payment.Successful, "")
	})
}

// TestLostLook: when the answer to the note of a look is lost, the same look decides
// what it shows to be over, once it is told again.
func TestLostLook(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		b.clock.Advance(payment.Monitoring + time.Microsecond)
		b.deafTo(func() error { return b.observer.Looked(t.Context(), b.looks()) })
		b.expect(v.Payment.Reference, payment.Initiated, "")
		b.look()
		b.expect(v.Payment.Reference, payment.Abandoned, "")
	})
}
