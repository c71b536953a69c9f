package addressmark_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"cointill/core/addressmark"
)

// TestHighestMarkWins: a mark is written to all folders, the highest of them counts, and
// the next write brings the others up.
func TestHighestMarkWins(t *testing.T) {
	near, far := t.TempDir(), t.TempDir()
	both := addressmark.New(near, far)
	reserve(t, both, 0)
	reserve(t, addressmark.New(far), 7)
	for _, folders := range [][]string{{near, far}, {far, near}} {
		if next, err := addressmark.New(folders...).Next(key); err != nil || next != 8 {
			t.Errorf("Next of %v = %d, %v, want 8", folders, next, err)
		}
	}
	expectAhead(t, both, 1, 8)
	reserve(t, both, 8)
	for _, folder := range []string{near, far} {
		expectAhead(t, addressmark.New(folder), 8, 9)
	}
	if err := os.Remove(markFile(t, near)); err != nil { // a copy without marks was put back
		t.Fatal(err)
	}
	expectAhead(t, addressmark.New(near, far), 3, 9)
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

// TestOneFolderIsEnough: while one folder can keep a mark, an index is given out, and what
// fails is said once; when none can, it isn't, and may be tried again.
func TestOneFolderIsEnough(t *testing.T) {
	log := captureLog(t)
	well, ill := t.TempDir(), filepath.Join(t.TempDir(), "file")
	block := func(path string) {
		t.Helper()
		if err := os.WriteFile(path, nil, 0o600); err != nil { // a file in the place of a folder
			t.Fatal(err)
		}
	}
	block(ill)
	s := addressmark.New(ill, well)
	for index := range int64(3) {
		reserve(t, s, index)
	}
	if n := strings.Count(log.String(), "can't be kept in this folder"); n != 1 {
		t.Errorf("the problem was logged %d times, want once:\n%s", n, log.String())
	}
	status := s.Status()
	if len(status) != 2 || len(status[0].Problems) != 1 || len(status[1].Problems) != 0 || status[0].Folder != ill {
		t.Errorf("Status = %+v, want one problem of the first folder", status)
	}
	if err := os.RemoveAll(well); err != nil {
		t.Fatal(err)
	}
	block(well)
	for range 3 {
		err := s.Reserve(key, 3)
		if err == nil || !strings.Contains(err.Error(), well) || !strings.Contains(err.Error(), ill) ||
			errors.As(err, new(*addressmark.AheadError)) {
			t.Fatalf("without a folder Reserve = %v, want an error that names both", err)
		}
	}
	if err := os.Remove(well); err != nil {
		t.Fatal(err)
	}
	reserve(t, s, 3)
	expectAhead(t, s, 3, 4)
	if status := s.Status(); len(status[1].Problems) != 0 || !strings.Contains(log.String(), "kept in this folder again") {
		t.Errorf("Status = %+v after the folder came back, log:\n%s", status, log.String())
	}
}

// TestReleasedIndexIsFreeOnce: an index that was certainly not given out may be reserved
// again by the process that released it, once, and by no other.
func TestReleasedIndexIsFreeOnce(t *testing.T) {
	folder := t.TempDir()
	s := addressmark.New(folder)
	reserve(t, s, 0)
	s.Release(key, 0)
	expectAhead(t, addressmark.New(folder), 0, 1)
	reserve(t, s, 0)
	expectAhead(t, s, 0, 1)
	s.Release(key, 0)
	reserve(t, addressmark.New(folder), 1)
	expectAhead(t, s, 0, 2) // another process went on from there
	reserve(t, s, 2)
	s.Release(key, 1) // of long ago
	expectAhead(t, s, 2, 3)
	s.Release(key, 2)
	if next, err := s.Raise(key, 2); err != nil || next != 3 {
		t.Errorf("Raise = %d, %v, want 3", next, err)
	}
	reserve(t, s, 2)
	s.Release(key, 0)
	if err := os.Remove(markFile(t, folder)); err != nil {
		t.Fatal(err)
	}
	for index := range int64(3) { // the process itself remembers
		expectAhead(t, s, index, 3)
	}
}

// TestReleasedIndexIsFreeForOne: of several that want an index which was released, one gets it.
func TestReleasedIndexIsFreeForOne(t *testing.T) {
	s := addressmark.New(t.TempDir())
	for index := range int64(20) {
		reserve(t, s, index)
		s.Release(key, index)
		if got := reserveAtOnce([]*addressmark.Store{s, s, s, s}, key, index, t); got != 1 {
			t.Fatalf("index %d was given out %d times", index, got)
		}
	}
}

// TestFirstMarkOfKey: of several processes that give out a key's first index one gets it,
// and the others get the next one from the error; creating the file is no error for any of them.
func TestFirstMarkOfKey(t *testing.T) {
	folder := t.TempDir()
	for n := range 20 {
		k := addressmark.Key{Network: "bitcoin-mainnet", Fingerprint: fmt.Sprint(n)}
		var stores []*addressmark.Store
		for range 8 {
			stores = append(stores, addressmark.New(folder))
		}
		if got := reserveAtOnce(stores, k, 0, t); got != 1 {
			t.Fatalf("the first index of key %d was given out %d times", n, got)
		}
	}
}

// reserveAtOnce has all stores reserve an index at the same time, and counts who got it.
func reserveAtOnce(stores []*addressmark.Store, k addressmark.Key, index int64, t *testing.T) int {
	t.Helper()
	var got atomic.Int64
	var all sync.WaitGroup
	for _, s := range stores {
		all.Go(func() {
			err := s.Reserve(k, index)
			if err == nil {
				got.Add(1)
			} else if !errors.As(err, new(*addressmark.AheadError)) {
				t.Errorf("Reserve(%d): %v", index, err)
			}
		})
	}
	all.Wait()
	return int(got.Load())
}

// TestRaise: a mark is brought up to an index in every folder and never down, and a key of
// which nothing was given out gets no file.
func TestRaise(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	s := addressmark.New(one, two)
	if next, err := s.Raise(key, 0); err != nil || next != 0 {
		t.Errorf("Raise(0) = %d, %v", next, err)
	}
	if files, err := os.ReadDir(one); err != nil || len(files) > 0 {
		t.Errorf("a mark of 0 made the files %v, %v", files, err)
	}
	reserve(t, addressmark.New(two), 4)
	for _, step := range []struct{ to, want int64 }{{3, 5}, {9, 9}, {7, 9}} {
		if next, err := s.Raise(key, step.to); err != nil || next != step.want {
			t.Errorf("Raise(%d) = %d, %v, want %d", step.to, next, err, step.want)
		}
	}
	expectAhead(t, addressmark.New(one), 8, 9)
	expectAhead(t, addressmark.New(two), 8, 9)
	expectAhead(t, s, 8, 9)
}

// TestProcessesShareFolder: whatever the order in which they name the folders, processes
// that offer the same indexes never both get one.
func TestProcessesShareFolder(t *testing.T) {
	const processes, indexes = 4, 25
	a, b := t.TempDir(), t.TempDir()
	var mu sync.Mutex
	given := map[int64]int{}
	var all sync.WaitGroup
	for n := range processes {
		s := addressmark.New(a, b)
		if n%2 == 1 {
			s = addressmark.New(b, a)
		}
		all.Go(func() {
			for index := int64(0); index < indexes; {
				err := s.Reserve(key, index)
				var ahead *addressmark.AheadError
				switch {
				case errors.As(err, &ahead):
					index = ahead.Next
				case err != nil:
					t.Errorf("Reserve(%d): %v", index, err)
					return
				default:
					mu.Lock()
					given[index]++
					mu.Unlock()
					index++
				}
			}
		})
	}
	all.Wait()
	for index, times := range given {
		if times > 1 {
			t.Errorf("index %d was given out %d times", index, times)
		}
	}
	if len(given) == 0 {
		t.Error("no index was given out")
	}
}

// TestNeverTwice: whatever is put back, lost or restarted, and whichever index the database
// offers, none is given out twice as long as the mark is kept in one folder that is left.
func TestNeverTwice(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		root, err := os.MkdirTemp(t.TempDir(), "run")
		if err != nil {
			r.Fatal(err)
		}
		folders := []string{filepath.Join(root, "rewound"), filepath.Join(root, "kept")}
		s := addressmark.New(folders...)
		given := map[int64]bool{}
		next := int64(0) // what the database offers
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			steps := []string{"issue", "issue", "issue", "roll back", "rewind", "restart", "lose a folder", "raise"}
			switch rapid.SampledFrom(steps).Draw(r, "step") {
			case "issue":
				next = issueOnce(r, s, next, given)
			case "roll back":
				if s.Reserve(key, next) == nil {
					s.Release(key, next)
				}
			case "rewind":
				next = rapid.Int64Range(0, next).Draw(r, "next")
			case "restart":
				s = addressmark.New(folders...)
			case "lose a folder":
				if err := os.RemoveAll(folders[0]); err != nil {
					r.Fatal(err)
				}
			case "raise":
				if _, err := s.Raise(key, next); err != nil {
					r.Fatal(err)
				}
			}
		}
	})
}

// issueOnce gives out an index that the database offers, and returns the next one that it offers.
func issueOnce(r *rapid.T, s *addressmark.Store, next int64, given map[int64]bool) int64 {
	err := s.Reserve(key, next)
	var ahead *addressmark.AheadError
	if errors.As(err, &ahead) {
		next = ahead.Next
		err = s.Reserve(key, next)
	}
	if err != nil {
		r.Fatalf("Reserve(%d): %v", next, err)
	}
	if given[next] {
		r.Fatalf("index %d was given out twice", next)
	}
	given[next] = true
	return next + 1
}

// TestRefusalNamesHighest: a process that refuses an index which it gave out itself names the
// index after the highest that any process gave out.
func TestRefusalNamesHighest(t *testing.T) {
	folder := t.TempDir()
	s := addressmark.New(folder)
	reserve(t, s, 0)
	reserve(t, addressmark.New(folder), 7)
	expectAhead(t, s, 0, 8)
}
