package wallet_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"cointill/core/addressmark"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/internal/testing/speed"
	"cointill/models"
	"cointill/models/modelstest"
)

// rewind takes a wallet back to an earlier index, with its destinations, as a copy of the
// database does that is put back.
func (f *fixture) rewind(id, to int64) {
	f.t.Helper()
	err := f.db.Exec(f.t.Context()).Where("wallet_id = ? AND idx >= ?", id, to).Delete(&models.Destination{}).Error
	if err != nil {
		f.t.Fatal(err)
	}
	f.setIndex(id, to)
}

// open assigns an address as the opening of a payment does: it catches up first where the
// wallet is behind its mark.
func (f *fixture) open(business int64) (row models.Destination, err error) {
	row, err = f.assign(business)
	var behind *wallet.BehindError
	if errors.As(err, &behind) {
		if err = f.CatchUp(f.t.Context(), *behind); err == nil {
			return f.assign(business)
		}
	}
	return row, err
}

// captureLog collects the log until the test ends.
func captureLog(t *testing.T) *bytes.Buffer {
	t.Helper()
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return &log
}

// TestRewoundWalletSkips (BTC-17): a wallet that the database offers earlier indexes of
// gives out no address again, while it runs, and after a start. The skipped addresses are
// watched in every kind, and are in the log, the audit log and the System page's count.
func TestRewoundWalletSkips(t *testing.T) {
	for name, start := range map[string]bool{"running": false, "at the start": true} {
		t.Run(name, func(t *testing.T) {
			modelstest.Each(t, func(t *testing.T, db *models.DB) {
				log := captureLog(t)
				folder := t.TempDir()
				f := newFixture(t, db)
				f.Marks = addressmark.New(folder)
				w := f.mustUse(1, vpub, "")
				shown := map[string]bool{}
				for _, row := range f.mustAssign(1, 6) {
					shown[row.Address] = true
				}
				f.rewind(w.ID, 2)
				if start {
					f.Marks = addressmark.New(folder)
					if err := f.CheckMarks(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				row, err := f.open(1)
				if err != nil || shown[row.Address] || *row.Index != 6 {
					t.Fatalf("after the rewind address %d was given out (before: %v), %v, want 6", *row.Index, shown[row.Address], err)
				}
				if n := f.unpaid(w.ID); n != 4*kinds {
					t.Errorf("%d addresses are watched, want %d", n, 4*kinds)
				}
				for _, one := range f.leftOut(w.ID) {
					if !shown[one.Address] {
						t.Errorf("%s is watched, and was never shown", one.Address)
					}
				}
				f.expectSkipped(w, 2, 6)
				text := log.String()
				if !strings.Contains(text, "addresses were skipped") || !strings.Contains(text, "from=2 to=5") {
					t.Errorf("the log says:\n%s", text)
				}
			})
		})
	}
}

// expectSkipped checks what the audit log and the System page say of a skip.
func (f *fixture) expectSkipped(w models.Wallet, from, to int64) {
	f.t.Helper()
	var entries []models.Audit
	err := f.db.Read(f.t.Context()).Where("action = ?", "wallet.skipped").Find(&entries).Error
	if err != nil || len(entries) != 1 || entries[0].Actor != "system" || entries[0].BusinessID != w.BusinessID {
		f.t.Errorf("the audit log has %+v, %v, want one skip", entries, err)
	}
	said, err := f.db.Skipped(f.t.Context(), f.clock.Now())
	if err != nil || said.Addresses != to-from || !said.Last.Equal(f.clock.Now()) {
		f.t.Errorf("Skipped = %+v, %v, want %d addresses", said, err, to-from)
	}
	if said, err := f.db.Skipped(f.t.Context(), f.clock.Now().AddDate(0, 0, 8)); err != nil || said.Addresses != 0 {
		f.t.Errorf("after eight days Skipped = %+v, %v, want none", said, err)
	}
}

// TestRewoundListSkips (BTC-17): a list of addresses continues after the last one that was given
// out, too, and ends with its last address.
func TestRewoundListSkips(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		f.network = sepolia
		f.Networks = func(scope.Domain, money.Chain) (wallet.Net, bool) { return wallet.Find(sepolia) }
		var w models.Wallet
		err := db.Write(t.Context(), func(tx *models.Tx) (err error) {
			w, err = f.Use(tx, owner(1), money.Ethereum, strings.Join(addressList("shop", 5), " "), "", "user:1")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		rows := map[string]bool{}
		for range 4 {
			row, err := f.open(1)
			if err != nil {
				t.Fatal(err)
			}
			rows[row.Address] = true
		}
		f.rewind(w.ID, 1)
		row, err := f.open(1)
		if err != nil || rows[row.Address] || *row.Index != 4 {
			t.Fatalf("entry %v was given out, %v, want 4", row.Index, err)
		}
		f.rewind(w.ID, 1)
		if _, err := f.open(1); code(err) != "no_wallet" {
			t.Errorf("a list that was given out to its end: %v, want no_wallet", err)
		}
	})
}

// TestSkipIsBounded: one request leaves out 2,000 addresses and is Unavailable when more
// are missing; the next goes on. A start leaves out all of them.
func TestSkipIsBounded(t *testing.T) {
	missing := int64(speed.Pick(2_300, 25_000))
	db := modelstest.Open(t, false, time.Now)
	f := newFixture(t, db)
	w := f.mustUse(1, accountKeys("tpub", 0), "")
	key := addressmark.Key{Network: w.Network, Fingerprint: w.Fingerprint}
	if _, err := f.Marks.Raise(key, missing); err != nil {
		t.Fatal(err)
	}
	if _, err := f.open(1); fault.KindOf(err) != fault.Unavailable || code(err) != "address_unavailable" {
		t.Fatalf("%d addresses are missing: %v, want address_unavailable", missing, err)
	}
	var after models.Wallet
	if err := db.Read(t.Context()).Take(&after, w.ID).Error; err != nil || after.NextIndex != 2_000 {
		t.Fatalf("the wallet's next index is %d, %v, want 2,000", after.NextIndex, err)
	}
	if err := f.CheckMarks(t.Context()); err != nil {
		t.Fatal(err)
	}
	if row, err := f.open(1); err != nil || *row.Index != missing {
		t.Errorf("address %v was given out, %v, want %d", row.Index, err, missing)
	}
}

// TestNoMarkNoAddress: while no folder can keep the mark no address is given out, which is
// Unavailable, and no index is lost by it. With one folder of two, addresses are given out.
func TestNoMarkNoAddress(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		ill, well := filepath.Join(t.TempDir(), "ill"), filepath.Join(t.TempDir(), "well")
		for _, path := range []string{ill, well} {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f.Marks = addressmark.New(ill, well)
		f.mustUse(1, vpub, "")
		for range 3 {
			_, err := f.open(1)
			var said *fault.Fault
			if !errors.As(err, &said) || said.Kind != fault.Unavailable || said.Code != "address_unavailable" ||
				said.RetryAfter == 0 || said.Cause == nil {
				t.Fatalf("without a folder: %v, want address_unavailable with its cause", err)
			}
		}
		if err := f.CheckMarks(t.Context()); err != nil { // serves other coins all the same
			t.Errorf("CheckMarks: %v", err)
		}
		if err := os.Remove(well); err != nil {
			t.Fatal(err)
		}
		if row := f.mustAssign(1, 1)[0]; *row.Index != 0 {
			t.Errorf("address %d was given out, want 0", *row.Index)
		}
	})
}

// failing is a pool whose commits are refused, or done without an answer.
type failing struct {
	*sql.DB
	commits bool
}

type failingTx struct {
	*sql.Tx
	commits bool
}

func (p *failing) GetDBConn() (*sql.DB, error) { return p.DB, nil }

func (p *failing) BeginTx(ctx context.Context, opts *sql.TxOptions) (gorm.ConnPool, error) {
	tx, err := p.DB.BeginTx(ctx, opts)
	return &failingTx{tx, p.commits}, err
}

func (t *failingTx) Commit() error {
	if t.commits {
		return errors.Join(t.Tx.Commit(), io.ErrUnexpectedEOF)
	}
	return errors.Join(t.Tx.Rollback(), io.ErrUnexpectedEOF)
}

// TestCommitThatFails: an address whose commit failed for certain is given to the next
// payment. One whose commit may have succeeded, as PostgreSQL's answer was lost, is given to none.
func TestCommitThatFails(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		f.mustUse(1, vpub, "")
		f.mustAssign(1, 1)
		try := func(commits bool) {
			t.Helper()
			var whole gorm.ConnPool
			db.Through(func(p gorm.ConnPool) gorm.ConnPool { whole = p; return &failing{p.(*sql.DB), commits} })
			_, err := f.assign(1)
			db.Through(func(gorm.ConnPool) gorm.ConnPool { return whole })
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatal(err)
			}
		}
		want := int64(1)
		if db.Postgres() {
			try(false)
			want++
		} else {
			for range 3 {
				try(false)
			}
		}
		if row, err := f.open(1); err != nil || *row.Index != want {
			t.Errorf("after commits that failed address %v was given out, %v, want %d", row.Index, err, want)
		}
		try(true)
		if row, err := f.open(1); err != nil || *row.Index != want+2 {
			t.Errorf("after a commit whose answer was lost address %v was given out, %v, want %d", row.Index, err, want+2)
		}
	})
}

// TestReplicasSkipForAll (BTC-17): a replica that gave out what the database lacks skips it
// in the database, so one that knows nothing of it goes on after it, too.
func TestReplicasSkipForAll(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		w := f.mustUse(1, vpub, "")
		other := *f
		other.Service = &wallet.Service{DB: db, Clock: f.clock.Now, Networks: f.Networks, Marks: addressmark.New(t.TempDir())}
		f.mustAssign(1, 3)     // 0 to 2, of the first
		other.mustAssign(1, 1) // 3, of the other
		f.mustAssign(1, 1)     // 4
		f.rewind(w.ID, 2)
		row, err := f.open(1)
		if err != nil || *row.Index != 5 {
			t.Fatalf("the first gave out address %v, %v, want 5", row.Index, err)
		}
		if row, err := other.open(1); err != nil || *row.Index != 6 {
			t.Errorf("the other gave out address %v, %v, want 6", row.Index, err)
		}
	})
}

// TestMarksFollowDatabase: marks are brought up to what the database knows, so that a
// replica, or a further folder, knows of what others gave out.
func TestMarksFollowDatabase(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		w := f.mustUse(1, vpub, "")
		f.mustAssign(1, 4)
		folder := t.TempDir()
		f.Marks = addressmark.New(folder)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		ended := make(chan error, 1)
		go func() { ended <- f.KeepMarks(ctx) }()
		key := addressmark.Key{Network: w.Network, Fingerprint: w.Fingerprint}
		deadline := time.After(20 * time.Second)
		for next := int64(0); next != 4; {
			select {
			case <-deadline:
				t.Fatalf("the mark is %d, want 4", next)
			case <-time.After(time.Millisecond):
			}
			var err error
			if next, err = addressmark.New(folder).Next(key); err != nil {
				t.Fatal(err)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		f.rewind(w.ID, 0)
		if row, err := f.open(1); err != nil || *row.Index != 4 {
			t.Errorf("address %v was given out, %v, want 4", row.Index, err)
		}
	})
}
