package mutationtest

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// outcome is the result of testing a mutant.
type outcome string

const (
	killed    outcome = "killed"
	timeout   outcome = "timeout" // the tests didn't end: found as well
	survived  outcome = "survived"
	unreached outcome = "not reached" // no test reaches the place where the mutant would matter
)

// isFound reports whether a test fails for the mutant.
func (o outcome) isFound() bool { return o == killed || o == timeout }

// record is a mutant's result for a state of the package's files.
type record struct {
	Name    string  `json:"name"`
	Code    string  `json:"code"`
	Tests   string  `json:"tests"`
	Outcome outcome `json:"outcome"`
	By      string  `json:"by,omitempty"` // the test that failed, or how many ran
}

// state is the file of a piece's results, one on each line.
type state struct {
	lock    sync.Mutex
	file    *os.File
	finders map[string]string // the test that found a mutant last, for whatever files
}

// openState opens the file and returns the results that still hold: for the same files,
// or with reuse for the same code when the mutant was found, whatever its tests are now.
func openState(folder string, s *source, reuse bool) (*state, map[string]record, error) {
	name := filepath.Join(folder, fileName(s.piece.name)+".jsonl")
	kept := &state{finders: map[string]string{}}
	known, err := kept.readRecords(name, s, reuse)
	if err != nil {
		return nil, nil, err
	}
	kept.file, err = os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	return kept, known, err
}

// readRecords reads results. A line that an interruption cut off is left out.
func (k *state) readRecords(name string, s *source, reuse bool) (map[string]record, error) {
	known := map[string]record{}
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r record
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			continue
		}
		if r.Outcome == killed {
			k.finders[r.Name] = r.By
		}
		if r.Code == s.code && (r.Tests == s.tests || reuse && r.Outcome.isFound()) {
			known[r.Name] = r
		}
	}
	return known, lines.Err()
}

// addRecord writes a result down.
func (k *state) addRecord(r record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	k.lock.Lock()
	defer k.lock.Unlock()
	_, err = k.file.Write(append(line, '\n'))
	return err
}

// fileName is a piece's name in names of files.
func fileName(name string) string { return strings.NewReplacer("/", "-", " ", "-").Replace(name) }
