package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/internal/app"
	"cointill/models"
)

// TestRestoreLog: what was committed and is in the log beside a file that was copied by
// hand is restored too, and nothing but the database is left of it.
func TestRestoreLog(t *testing.T) {
	old, by, dir := t.TempDir(), t.TempDir(), t.TempDir()
	db, err := (&app.Settings{DataDir: old}).OpenDatabase(t.Context(), clock.Real())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Once(t.Context(), "last", "word"); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(by, os.DirFS(old)); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(by, "cointill.db")
	if played, err := models.Restore(t.Context(), copied, dir); err != nil || played != copied+"-wal" {
		t.Fatalf("models.Restore(copied, dir): played = %v, err = %v", played, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
	restored, err := (&app.Settings{DataDir: dir}).OpenDatabase(t.Context(), clock.Real())
	if err != nil {
		t.Fatal(err)
	}
	defer restored.Close()
	if last, err := restored.Once(t.Context(), "last", "lost"); err != nil || last != "word" {
		t.Errorf("%q, %v", last, err)
	}
}

// TestRestoreOldLog: the log of an earlier copy takes nothing of a later one back that was
// put over it, unless somebody says that it belongs to it. A log that is restored is told of.
func TestRestoreOldLog(t *testing.T) {
	served, by, key := t.TempDir(), t.TempDir(), strings.Repeat("5a", 32)
	old := openTill(t, &app.Settings{DataDir: served, SecretKey: key})
	old.found()
	from := filepath.Join(by, "cointill.db")
	log := from + "-wal"
	if err := os.CopyFS(by, os.DirFS(served)); err != nil {
		t.Fatal(err)
	}
	later := old.issue()
	if err := old.DB.Close(); err != nil { // which leaves no log
		t.Fatal(err)
	}
	last, err := os.ReadFile(filepath.Join(served, "cointill.db"))
	before := clock.Real()().Add(-time.Hour)
	if err := errors.Join(err, os.WriteFile(from, last, 0o600), os.Chtimes(log, before, before)); err != nil {
		t.Fatal(err)
	}

	again := &app.Settings{DataDir: t.TempDir(), SecretKey: key, Listen: "127.0.0.1:0"}
	restore := func(wants bool) {
		t.Helper()
		said := printed(t, func() error { return (restoreCommand{From: from}).Run(t.Context(), again) })
		if strings.Contains(said, log) != wants {
			t.Errorf("it says %q", said)
		}
	}
	err = (restoreCommand{From: from}).Run(t.Context(), again)
	if err == nil || !strings.Contains(err.Error(), log+" is older") || !strings.Contains(err.Error(), "touch") {
		t.Fatalf("restored with the log of an earlier copy: %v", err)
	}
	if err := os.Chtimes(log, time.Time{}, clock.Real()()); err != nil { // touch
		t.Fatal(err)
	}
	restore(true)
	// Nothing is in one that is empty, or moved away.
	for _, away := range []func() error{func() error { return errors.Join(os.Truncate(log, 0), os.Chtimes(log, before, before)) }, func() error { return os.Remove(log) }} {
		if err := errors.Join(models.Discard(again.DataDir), away()); err != nil {
			t.Fatal(err)
		}
		restore(false)
	}
	var rows int64
	if err := openTill(t, again).DB.Read(t.Context()).Model(&models.Payment{}).Where("address = ?", later).Count(&rows).Error; err != nil || rows != 1 {
		t.Errorf("the last payment: %d, %v", rows, err)
	}
}

// printed is what a command writes for whoever runs it.
func printed(t *testing.T, run func() error) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	defer func(was *os.File) { os.Stdout = was }(os.Stdout)
	os.Stdout = file
	if err := run(); err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(said)
}

// TestRestoreFails: what fails can be done again, as nothing is left of it, unless the
// database may be served already.
func TestRestoreFails(t *testing.T) {
	key, other := strings.Repeat("5a", 32), strings.Repeat("a5", 32)
	old := openTill(t, &app.Settings{DataDir: t.TempDir(), SecretKey: key})
	old.found()
	const last = "CREATE TRIGGER last BEFORE DELETE ON instances WHEN old.name = 'left_out' BEGIN SELECT RAISE(ABORT, 'no further'); END"
	if err := old.DB.Exec(t.Context()).Exec(last).Error; err != nil {
		t.Fatal(err)
	}
	from := filepath.Join(t.TempDir(), "till.db")
	if err := old.DB.Backup(t.Context(), from, clock.Real()()); err != nil {
		t.Fatal(err)
	}
	few, tooMany := int64(5), int64(1e6)
	dir := t.TempDir()
	for _, c := range []struct {
		key, says string
		command   restoreCommand
		left      int // files
	}{
		{other, "master key", restoreCommand{From: from}, 0},
		{key, "", restoreCommand{From: from, LeaveOut: &tooMany}, 0},
		{key, "--leave-out", restoreCommand{From: from, All: true}, 0},
		{key, "no further", restoreCommand{From: from, LeaveOut: &few, All: true}, 1},
		{key, "not overwritten", restoreCommand{From: from, LeaveOut: &few}, 1},
	} {
		settings := &app.Settings{DataDir: dir, SecretKey: c.key, Listen: "127.0.0.1:0"}
		if err := c.command.Run(t.Context(), settings); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c.command, err)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != c.left {
			t.Errorf("%+v leaves %v, %v", c.command, files, err)
		}
	}
}
