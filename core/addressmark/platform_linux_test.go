package addressmark

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cointill/core/filelock"
)

// TestLockedMark: a file that another process keeps locked is an error in time.
func TestLockedMark(t *testing.T) {
	k := Key{Network: "bitcoin-mainnet", Fingerprint: "f"}
	s := New(t.TempDir())
	s.places[0].timeout = 2 * time.Second // half of it for the lock
	if err := s.Reserve(k, 0); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(s.places[0].folder, k.fileName()))
	if err == nil {
		err = lockFile(file, time.Second)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Reserve(k, 1); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("Reserve = %v, want %v", err, filelock.ErrLocked)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Reserve(k, 1); err != nil {
		t.Errorf("Reserve after the lock was given back: %v", err)
	}
}
