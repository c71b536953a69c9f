package payment_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"

	"cointill/core/payment"
	"cointill/models"
)

// crossed is a pool of connections that refuses one statement of a transaction, or its
// commit, as PostgreSQL does when another transaction got in the way.
type crossed struct {
	*sql.DB
	before  int // statements that pass
	refused bool
}

type crossedTx struct {
	*sql.Tx
	pool *crossed
}

func (d *crossed) pass() error {
	if d.before--; d.before != -1 {
		return nil
	}
	d.refused = true
	return &pgconn.PgError{Code: "40001", Message: "could not serialize access due to concurrent update"}
}

func (d *crossed) GetDBConn() (*sql.DB, error) { return d.DB, nil }

func (d *crossed) BeginTx(ctx context.Context, opts *sql.TxOptions) (gorm.ConnPool, error) {
	tx, err := d.DB.BeginTx(ctx, opts)
	return &crossedTx{tx, d}, err
}

func (d *crossedTx) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	if err := d.pool.pass(); err != nil {
		return nil, err
	}
	return d.Tx.ExecContext(ctx, text, args...)
}

func (d *crossedTx) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if err := d.pool.pass(); err != nil {
		return nil, err
	}
	return d.Tx.QueryContext(ctx, text, args...)
}

func (d *crossedTx) Commit() error {
	if err := d.pool.pass(); err != nil {
		return err
	}
	return d.Tx.Commit()
}

// TestTriedAgain: whichever statement another transaction gets in the way of, the next try
// writes all of what a block brings, once, and what its transactions spend.
func TestTriedAgain(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for n, refused := 0, true; refused; n++ {
			v := b.opened()
			tx := b.pay(v, fmt.Sprint("tx-", n), v.Payment.Due)
			var whole gorm.ConnPool
			pool := &crossed{before: n}
			b.db.Through(func(p gorm.ConnPool) gorm.ConnPool { whole, pool.DB = p, p.(*sql.DB); return pool })
			b.mine(tx)
			b.db.Through(func(gorm.ConnPool) gorm.ConnPool { return whole })
			refused = pool.refused
			var steps, keys int64
			b.count(&steps, &models.Step{}, "payment_id = ? AND kind = ?", v.Payment.ID, payment.StepTransfer)
			b.count(&keys, &models.Spend{}, "spend_key = ?", tx.Spends[0])
			got, events := b.expect(v.Payment.Reference, payment.Processing, ""), b.events(v.Payment.ID)
			if steps != 1 || keys != 1 || len(got.Transfers) != 1 || events != "initiated detected processing" || !b.observer.Watching.Spend(tx.Spends[0]) {
				t.Errorf("after statement %d: %d steps, %d spend keys, %d transfers, events: %s", n, steps, keys, len(got.Transfers), events)
			}
			if !refused && n < 10 {
				t.Errorf("only %d statements were refused", n)
			}
		}
	})
}

// count is how many rows of a table there are.
func (b *bench) count(n *int64, of any, where string, values ...any) {
	b.t.Helper()
	if err := b.db.Read(b.t.Context()).Model(of).Where(where, values...).Count(n).Error; err != nil {
		b.t.Fatal(err)
	}
}
