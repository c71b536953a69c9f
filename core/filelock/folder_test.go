package filelock_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"cointill/core/filelock"
	"cointill/models"
)

// occupyEnv names the data folder that a test's own process occupies.
const occupyEnv = "OCCUPY_DATA_DIR"

var since = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestOccupier is the process that other tests start; by itself it does nothing.
func TestOccupier(t *testing.T) {
	dir := os.Getenv(occupyEnv)
	if dir == "" {
		return
	}
	if _, err := filelock.OccupyFolder(dir, since); err != nil {
		t.Fatal(err)
	}
	_, _ = os.Stdout.WriteString("occupied\n")
	_, _ = os.Stdin.Read(make([]byte, 1)) // until it is killed
}

// TestOneProcessServesADataFolder: the error of a second one names the process that serves it and
// since when, whether that is this process or another. Once the first has released it or was killed, the next
// may. Commands use the database meanwhile.
func TestOneProcessServesADataFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	other := exec.Command(os.Args[0], "-test.run=^TestOccupier$")
	other.Env = append(os.Environ(), occupyEnv+"="+dir)
	output, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 20)
	n, err := output.Read(said)
	if err != nil || string(said[:n]) != "occupied\n" {
		t.Fatalf("the other process says %q, %v", said[:n], err)
	}
	refused := func(pid string) {
		t.Helper()
		release, err := filelock.OccupyFolder(dir, since.Add(time.Hour))
		if release != nil || err == nil || !strings.Contains(err.Error(), "is served by process "+pid+" on ") ||
			!strings.Contains(err.Error(), "since 2026-03-01T12:00:00Z") {
			t.Errorf("a second process is told %v, want process %s", err, pid)
		}
	}
	refused(strconv.Itoa(other.Process.Pid))
	db, err := models.Open("", dir, time.Now)
	if err != nil {
		t.Fatalf("beside the serving process the database can't be opened: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait() // killed
	release, err := filelock.OccupyFolder(dir, since)
	if err != nil {
		t.Fatalf("after a kill -9 the next process is told %v", err)
	}
	refused(strconv.Itoa(os.Getpid()))
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if release, err = filelock.OccupyFolder(dir, since); err != nil {
		t.Fatalf("after a release the next process is told %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "cointill.lock"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the lock's file is %v, %v", info.Mode(), err)
	}
	if _, err := filelock.OccupyFolder(filepath.Join(dir, "cointill.lock"), since); err == nil {
		t.Error("a file is occupied like a folder")
	}
}
