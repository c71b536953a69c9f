package mutationtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// traced is a test with the mutants that it reaches, and how long it took.
type traced struct {
	Suite   int           `json:"suite"`
	Name    string        `json:"name"`
	Took    time.Duration `json:"took"`
	Reached []int         `json:"reached"`
	Failed  string        `json:"failed,omitempty"` // its output when it failed without any mutant
}

// traces is the file of a piece's traced tests.
type traces struct {
	Hash  string   `json:"hash"`
	Tests []traced `json:"tests"`
}

// testLimit is how long one test may take without a mutant.
const testLimit = 5 * time.Minute

// traceTests runs each test by itself without a mutant. It reuses its former result for the same files.
func traceTests(ctx context.Context, folder, work string, s *source, binaries []binary, workers int) ([]traced, error) {
	name := filepath.Join(folder, fileName(s.piece.name)+".trace.json")
	var known traces
	text, err := os.ReadFile(name)
	if err == nil && json.Unmarshal(text, &known) == nil && known.Hash == s.tests {
		return known.Tests, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []traced
	for i, b := range binaries {
		names, err := b.listTests(ctx)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			all = append(all, traced{Suite: i, Name: name})
		}
	}
	err = inParallel(workers, len(all), func(i int) error {
		return traceOne(ctx, filepath.Join(work, fmt.Sprintf("trace%d", i)), binaries[all[i].Suite], &all[i])
	})
	if err != nil {
		return nil, err
	}
	written, err := json.Marshal(traces{s.tests, all})
	if err != nil {
		return nil, err
	}
	return all, os.WriteFile(name, written, 0o600)
}

// traceOne runs one test and reads which mutants it reached.
func traceOne(ctx context.Context, file string, b binary, t *traced) error {
	began := time.Now()
	out, err := b.runTests(ctx, testLimit, "^"+t.Name+"$", traceVariable+"="+file)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if t.Took = time.Since(began); err != nil {
		t.Failed = fmt.Sprintf("%v: %.2000s", err, out)
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, line := range strings.Fields(string(text)) {
		number, err := strconv.Atoi(line)
		if err != nil {
			return err
		}
		t.Reached = append(t.Reached, number)
	}
	return os.RemoveAll(file)
}
