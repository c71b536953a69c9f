package models

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/libtnb/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// copied is the fact that a database is a copy, and of when. What another went
// on to do since is unknown to it, so it must not be served as it is.
const copied = "copied_at"

// leavesOut is the fact behind LeftOut.
const leavesOut = "left_out"

// home is the fact of where a PostgreSQL's database is, by whereabouts; nowhere, where that is
// unknown to the process that restored it.
const (
	home    = "home"
	nowhere = ""
)

// ErrNotEmbedded is the refusal to copy a database that isn't a file of ours.
var ErrNotEmbedded = errors.New(
	"the database is PostgreSQL: back it up with pg_dump, and bring it back with pg_restore")

// Backup writes a copy of an SQLite database to a new file, as it is at one
// moment, while others use it: only this process's own writer waits. The file is whole or not
// there, readable by its owner alone, and carries the mark that Copied reads.
func (d *DB) Backup(ctx context.Context, path string, at time.Time) (err error) {
	if d.Postgres() {
		return ErrNotEmbedded
	}
	return whole(path, func(draft string) error {
		// It reads only, though a connection that may do no more refuses it.
		if err := d.write.WithContext(ctx).Exec("VACUUM INTO ?", draft).Error; err != nil {
			return err
		}
		return mark(ctx, draft, at)
	})
}

// Restore puts a copy into a data folder that has no database, with what the log beside
// it (…-wal) has and the file has not; played is that log, "" where there is none. A copy
// that was made in another way than by Backup gets its mark, with the file's time.
func Restore(ctx context.Context, from, dataDir string) (played string, err error) {
	about, err := os.Stat(from)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return "", err
	}
	path := sqlitePath(dataDir)
	for _, beside := range besides { // of another database: SQLite would play it into this one
		if _, err := os.Stat(path + beside); !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf(
				"%s is in the way: move the old database away, with all files that begin with its name", path+beside)
		}
	}
	if played, err = logOf(from, about); err != nil {
		return "", err
	}
	return played, whole(path, func(draft string) error {
		if err := copyFile(from, draft); err != nil {
			return err
		}
		if played == "" {
			return mark(ctx, draft, about.ModTime())
		}
		if err := copyFile(played, draft+"-wal"); err != nil {
			return err
		}
		if err := mark(ctx, draft, about.ModTime()); err != nil { // which has SQLite write the log into the file
			return fmt.Errorf("%s with the log beside it: %w. If %s is of another copy, move it away", from, err,
				played)
		}
		return nil
	})
}

// besides is how SQLite's files beside a database end.
var besides = []string{"-wal", "-shm"}

// logOf names the log beside a copy, "" where there is none. A newer copy without one, as
// a process that is stopped leaves it, may have been put over an older one: with the log of
// that, SQLite would go back to the older one and say nothing.
func logOf(from string, file os.FileInfo) (path string, err error) {
	path = from + "-wal"
	about, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case about.Size() == 0:
		return "", nil
	case about.ModTime().Before(file.ModTime()):
		return "", fmt.Errorf("%s is older than %s: left by an earlier copy, it would undo what came since. Move "+
			"it away. "+
			"Only if both are of one copy, that was made while the database was in use, `touch` it and restore again",
			path, from)
	}
	return path, nil
}

// Discard takes away what Restore put into a data folder.
func Discard(dataDir string) error { return discard(sqlitePath(dataDir)) }

// discard removes a database, its own file last.
func discard(path string) error {
	for _, end := range append(besides, "") {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// copyFile copies a file, for its owner alone.
func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	into, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(into, source)
	return errors.Join(err, into.Close())
}

// whole has a file made in another place, put on the disk, and given its name.
func whole(path string, fill func(draft string) error) error {
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s exists: it is not overwritten", path)
	}
	draft, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part") // for its owner alone
	if err != nil {
		return err
	}
	defer func() { _ = discard(draft.Name()) }()
	if err := errors.Join(draft.Close(), fill(draft.Name())); err != nil {
		return err
	}
	for _, name := range []string{draft.Name(), filepath.Dir(path)} {
		if name == filepath.Dir(path) {
			if err := os.Link(draft.Name(), path); err != nil { // unlike a renaming, never over another file
				return err
			}
		}
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		if err := errors.Join(file.Sync(), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// mark checks a copy through and notes that it is one, unless it says so already.
func mark(ctx context.Context, path string, at time.Time) (err error) {
	db, err := gorm.Open(sqlite.Open("file:"+(&url.URL{Path: path}).
		EscapedPath()+"?_pragma=journal_mode(DELETE)&_pragma=synchronous(FULL)"), &gorm.Config{
		TranslateError: true, Logger: logger.Discard})
	if err != nil {
		return fmt.Errorf("%s is no SQLite database: %w", path, err)
	}
	pool, err := db.DB()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	var said string
	if err := db.WithContext(ctx).Raw("PRAGMA quick_check(1)").Scan(&said).Error; err != nil || said != "ok" {
		return errors.Join(fmt.Errorf("the copy is damaged: %s", said), err)
	}
	return db.WithContext(ctx).Exec("INSERT INTO instances (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING", copied,
		at.UTC().Format(time.RFC3339)).Error
}

// Copied tells whether this database is a copy that was not made ready to be
// served (Continue), and of what. PostgreSQL's tools leave no mark in a copy: it is
// known by not being where it was when it was first asked this. Where it is no copy,
// connections that lead to another place are refused from then on.
func (d *DB) Copied(ctx context.Context) (of string, is bool, err error) {
	var rows []Instance
	err = d.Read(ctx).Where("name = ?", copied).Find(&rows).Error
	if err != nil {
		return "", false, err
	}
	if len(rows) > 0 {
		return rows[0].Value, true, nil
	}
	if !d.Postgres() {
		return "", false, nil
	}
	here, err := databaseIdentity(queryWith(d.Exec(ctx)))
	if err != nil {
		return "", false, err
	}
	noted, err := d.Once(ctx, home, here)
	if err != nil {
		return "", false, err
	}
	if sameDatabase(noted, here) {
		d.health.home.Store(&here)
		return "", false, nil
	}
	return "another, made by pg_restore or on another server", true, nil
}

// Brought marks a database as a copy during a restore when it is a PostgreSQL that has not
// recorded its identity, as one of an earlier release. It is a copy until Copied is called.
func (d *DB) Brought(ctx context.Context) error {
	if !d.Postgres() {
		return nil
	}
	_, err := d.Once(ctx, home, nowhere)
	return err
}

// Continue takes the mark of a copy away: it may be served from now on. Unknown facts stay
// unknown: wallets that were entered since the copy was made are not in it. leftOut is added
// to how many addresses each of those leaves out when it is entered again (LeftOut).
func (d *DB) Continue(ctx context.Context, leftOut int64) error {
	return d.Write(ctx, func(tx *Tx) error {
		before, err := LeftOut(tx)
		if err != nil {
			return err
		}
		if err := tx.Where("name = ?", copied).Delete(&Instance{}).Error; err != nil {
			return err
		}
		if IsPostgres(tx) {
			here, err := databaseIdentity(queryWith(tx))
			if err == nil {
				err = tx.Save(&Instance{Name: home, Value: here}).Error
			}
			if err != nil {
				return err
			}
		}
		if err := markRestored(tx); err != nil {
			return err
		}
		return tx.Save(&Instance{Name: leavesOut, Value: strconv.FormatInt(before+leftOut, 10)}).Error
	})
}

// LeftOut is how many addresses of a key that the database doesn't know may have
// been given out before it was restored; 0 where it never was, and after Complete.
func LeftOut(tx *Tx) (int64, error) {
	var rows []Instance
	if err := tx.Where("name = ?", leavesOut).Find(&rows).Error; err != nil || len(rows) == 0 {
		return 0, err
	}
	return strconv.ParseInt(rows[0].Value, 10, 64)
}

// Complete notes that every wallet which was in use is known again: a key that is
// entered from now on is new.
func (d *DB) Complete(ctx context.Context) error {
	return d.Exec(ctx).Where("name = ?", leavesOut).Delete(&Instance{}).Error
}
