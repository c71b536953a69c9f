package addressmark_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cointill/core/addressmark"
)

// key is the account key of the tests.
var key = addressmark.Key{Network: "bitcoin-mainnet", Fingerprint: "xpub-fingerprint"}

// reserve reserves an index that must be free.
func reserve(t *testing.T, s *addressmark.Store, index int64) {
	t.Helper()
	if err := s.Reserve(key, index); err != nil {
		t.Fatalf("Reserve(%d): %v", index, err)
	}
}

// expectAhead checks that an index is refused, and which one is free.
func expectAhead(t *testing.T, s *addressmark.Store, index, want int64) {
	t.Helper()
	var ahead *addressmark.AheadError
	if err := s.Reserve(key, index); !errors.As(err, &ahead) || ahead.Next != want {
		t.Errorf("Reserve(%d) = %v, want a refusal that names %d as the next index", index, err, want)
	}
}

// markFile is the only file of a folder.
func markFile(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the folder holds %q, %v; want one mark", files, err)
	}
	return files[0]
}

// edit rewrites the only mark of a folder.
func edit(t *testing.T, folder string, change func(text string) string) {
	t.Helper()
	path := markFile(t, folder)
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(change(string(text))), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestMarkOutlivesProcess: an index that was reserved is refused by every later process,
// and the one after it is free.
func TestMarkOutlivesProcess(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a", "b")
	for index := range int64(5) {
		s := addressmark.New(folder)
		for before := range index {
			expectAhead(t, s, before, index)
		}
		if next, err := s.Next(key); err != nil || next != index {
			t.Errorf("Next = %d, %v, want %d", next, err, index)
		}
		reserve(t, s, index)
		expectAhead(t, s, index, index+1)
	}
	s := addressmark.New(folder)
	reserve(t, s, 1_999_999_999) // an index may leave others out
	expectAhead(t, s, 7, 2_000_000_000)
}

// TestMarkIsReadableAndPrivate: a mark can be read by a person, is for its owner alone, and
// doesn't tell the key.
func TestMarkIsReadableAndPrivate(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "marks")
	reserve(t, addressmark.New(folder), 56)
	path := markFile(t, folder)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, must := range []string{"Cointill address mark, version 1. ", "\nkey bitcoin-mainnet ", "\nnext 0000000057 "} {
		if !strings.Contains(string(text), must) {
			t.Errorf("the mark lacks %q:\n%s", must, text)
		}
	}
	if strings.Contains(path+string(text), key.Fingerprint) {
		t.Errorf("the mark tells the fingerprint: %s\n%s", path, text)
	}
	for at, want := range map[string]os.FileMode{path: 0o600, folder: 0o700} {
		if about, err := os.Stat(at); err != nil || about.Mode().Perm() != want {
			t.Errorf("%s has mode %v, %v, want %v", at, about.Mode().Perm(), err, want)
		}
	}
	if left := addressmark.New(folder); len(left.Status()[0].Problems) > 0 {
		t.Errorf("a new store has problems: %v", left.Status())
	}
}

// TestDamagedMarkIsNoMark: a file that can't be the key's mark is an error that names the
// folder, never a mark of 0, and is left as it is.
func TestDamagedMarkIsNoMark(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other")
	another := addressmark.Key{Network: key.Network, Fingerprint: "another"}
	if err := addressmark.New(other).Reserve(another, 3); err != nil {
		t.Fatal(err)
	}
	foreign, err := os.ReadFile(markFile(t, other))
	if err != nil {
		t.Fatal(err)
	}
	log := captureLog(t)
	for name, damage := range map[string]func(text string) string{
		"empty":             func(string) string { return "" },
		"cut":               func(text string) string { return text[:len(text)-1] },
		"longer":            func(text string) string { return text + "\n" },
		"huge":              func(text string) string { return text + strings.Repeat("x", 1<<20) },
		"zeros":             func(text string) string { return strings.Repeat("\x00", len(text)) },
		"of another key":    func(string) string { return string(foreign) },
		"both records":      func(text string) string { return strings.ReplaceAll(text, "next 0", "next 9") },
		"checksum":          func(s string) string { return strings.ReplaceAll(s, "next 0000000004", "next 0000000002") },
		"sign":              func(s string) string { return strings.ReplaceAll(s, "next 0000000004", "next -000000004") },
		"another release's": func(text string) string { return strings.Replace(text, "version 1.", "version 2.", 1) },
		"version 10":        func(text string) string { return strings.Replace(text, "version 1.", "version 10.", 1) },
	} {
		folder := t.TempDir()
		reserve(t, addressmark.New(folder), 3)
		var damaged string
		edit(t, folder, func(text string) string { damaged = damage(text); return damaged })
		s := addressmark.New(folder)
		log.Reset()
		err := s.Reserve(key, 4)
		if err == nil || !strings.Contains(err.Error(), folder) || errors.As(err, new(*addressmark.AheadError)) {
			t.Errorf("%s: Reserve = %v, want an error that names the folder", name, err)
		}
		if _, err := s.Next(key); err == nil {
			t.Errorf("%s: Next gives no error", name)
		}
		if n := strings.Count(log.String(), "can't be read or written"); n != 1 {
			t.Errorf("%s: the problem was logged %d times, want once:\n%s", name, n, log.String())
		}
		if problems := s.Status()[0].Problems; len(problems) != 1 || !strings.Contains(problems[0], ".mark: ") {
			t.Errorf("%s: the status says %q, want the file's problem", name, problems)
		}
		if text, err := os.ReadFile(markFile(t, folder)); err != nil || string(text) != damaged {
			t.Errorf("%s: the file was changed to %q, %v", name, text, err)
		}
		if err := s.Reserve(addressmark.Key{Network: "dogecoin-mainnet", Fingerprint: "other"}, 0); err != nil {
			t.Errorf("%s: another key can't be reserved: %v", name, err)
		}
	}
}

// TestPowerCutWhileWriting: however much of a record was written when the power went, the
// mark is the one before the write or after it, and the next write mends the file.
func TestPowerCutWhileWriting(t *testing.T) {
	folder := t.TempDir()
	s := addressmark.New(folder)
	var before, after string
	reserve(t, s, 8)
	reserve(t, s, 9)
	edit(t, folder, func(text string) string { before = text; return text })
	reserve(t, s, 10)
	edit(t, folder, func(text string) string { after = text; return text })
	for written := range len(after) + 1 {
		edit(t, folder, func(string) string { return after[:written] + before[written:] })
		s := addressmark.New(folder)
		next, err := s.Next(key)
		if err != nil || next != 10 && next != 11 {
			t.Fatalf("after %d bytes the mark is %d, %v, want 10 or 11", written, next, err)
		}
		reserve(t, s, 20)
		expectAhead(t, addressmark.New(folder), 10, 21)
		edit(t, folder, func(text string) string {
			if strings.Count(text, "next 0000000021 ") != 1 {
				t.Errorf("after %d bytes the file is mended to\n%s", written, text)
			}
			return text
		})
	}
}
