package models_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"testing"
	"time"

	"gorm.io/gorm"

	"cointill/models"
	"cointill/models/modelstest"
)

// TestAfterCommit: a call waits for the commit, is made once, and never for what was rolled back.
func TestAfterCommit(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		calls, inside := 0, -1
		note := func(fails error) func(tx *models.Tx) error {
			return func(tx *models.Tx) error {
				models.AfterCommit(tx, func() {
					calls++
					ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
					defer stop()
					if err := db.Exec(ctx).Exec("SELECT 1").Error; err != nil { // the writer is free
						t.Error(err)
					}
				})
				inside = calls
				return fails
			}
		}
		refused := errors.New("refused")
		if err := db.Write(t.Context(), note(refused)); !errors.Is(err, refused) || calls != 0 {
			t.Fatalf("db.Write(note(refused)): calls = %v, err = %v", calls, err)
		}
		if err := db.Write(t.Context(), note(nil)); err != nil || inside != 0 || calls != 1 {
			t.Fatalf("db.Write(note(nil)): inside = %v, calls = %v, err = %v", inside, calls, err)
		}
		if models.AfterCommit(db.Exec(t.Context()), func() { calls++ }); calls != 2 {
			t.Error("outside a transaction nothing is called")
		}
	})
}

// refusing is a pool whose commits are rolled back and refused.
type refusing struct{ *sql.DB }

type refusingTx struct{ *sql.Tx }

func (p *refusing) GetDBConn() (*sql.DB, error) { return p.DB, nil }

func (p *refusing) BeginTx(ctx context.Context, opts *sql.TxOptions) (gorm.ConnPool, error) {
	tx, err := p.DB.BeginTx(ctx, opts)
	return &refusingTx{tx}, err
}

func (t *refusingTx) Commit() error { return errors.Join(t.Tx.Rollback(), io.ErrUnexpectedEOF) }

// TestAfterRollback: a call is made when a transaction was rolled back for certain: always
// when the program refused it, and when the commit failed only with SQLite, as PostgreSQL may
// have done it and the answer was lost.
func TestAfterRollback(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		refused := errors.New("refused")
		write := func(fails error) (calls int, err error) {
			err = db.Write(t.Context(), func(tx *models.Tx) error {
				models.AfterRollback(tx, func() { calls++ })
				return fails
			})
			return calls, err
		}
		if calls, err := write(nil); calls != 0 || err != nil {
			t.Errorf("committed: %d calls, %v, want none", calls, err)
		}
		if calls, err := write(refused); calls != 1 || !errors.Is(err, refused) {
			t.Errorf("refused by the program: %d calls, %v, want one", calls, err)
		}
		want := 1
		if db.Postgres() {
			want = 0
		}
		db.Through(func(whole gorm.ConnPool) gorm.ConnPool { return &refusing{whole.(*sql.DB)} })
		if calls, err := write(nil); calls != want || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("the commit failed: %d calls, %v, want %d", calls, err, want)
		}
	})
}
