package mutationtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// options say how a run goes.
type options struct {
	root    string // of the repository
	state   string // folder that keeps results
	workers int    // how many test processes run at once
	reuse   bool   // keep mutants as found although tests changed
	out     io.Writer
}

// result is a mutant with its outcome.
type result struct {
	mutant
	record
}

// measurePiece runs all mutants of a piece that have no result yet, and returns all results.
func measurePiece(ctx context.Context, o options, p piece) ([]result, error) {
	s, err := p.loadSource(o.root)
	if err != nil {
		return nil, err
	}
	kept, known, err := openState(o.state, s, o.reuse)
	if err != nil {
		return nil, err
	}
	defer func() { _ = kept.file.Close() }()
	var open []mutant
	for _, m := range s.mutants {
		if _, ok := known[m.name]; !ok {
			open = append(open, m)
		}
	}
	fmt.Fprintf(o.out, "%s: %d mutants, %d without a result\n", p.name, len(s.mutants), len(open))
	if len(open) > 0 {
		if err := runMutants(ctx, o, s, open, known, kept); err != nil {
			return nil, err
		}
	}
	var results []result
	for _, m := range s.mutants {
		results = append(results, result{m, known[m.name]})
	}
	return results, nil
}

// runMutants builds and traces the tests, runs the mutants and adds their results.
func runMutants(ctx context.Context, o options, s *source, open []mutant, known map[string]record, kept *state) error {
	work, err := os.MkdirTemp("", "cointill-mutation-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	binaries, err := buildSuites(ctx, o.root, work, s)
	if err != nil {
		return err
	}
	began := time.Now()
	tests, err := traceTests(ctx, o.state, work, s, binaries, o.workers)
	if err != nil {
		return err
	}
	for _, t := range tests {
		if t.Failed != "" {
			fmt.Fprintf(o.out, "%s fails without a mutant and is left out: %s\n", t.Name, t.Failed)
		}
	}
	fmt.Fprintf(o.out, "%s: %d tests traced in %.0f s\n", s.piece.name, len(tests), time.Since(began).Seconds())
	found := &finders{count: map[[2]string]int{}}
	for _, m := range s.mutants {
		if test, ok := kept.finders[m.name]; ok {
			found.addFinder(m, test)
		}
	}
	var lock sync.Mutex
	done := 0
	return inParallel(o.workers, len(open), func(i int) error {
		m := open[i]
		r := record{Name: m.name, Code: s.code, Tests: s.tests}
		r.Outcome, r.By = runMutant(ctx, m, binaries, tests, found)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if r.Outcome == killed {
			found.addFinder(m, r.By)
		}
		lock.Lock()
		defer lock.Unlock()
		if known[m.name] = r; !r.Outcome.isFound() {
			fmt.Fprintf(o.out, "  %s %s: %s\n", m.formatPlace(), m.note, r.Outcome)
		}
		if done++; done%50 == 0 {
			fmt.Fprintf(o.out, "%s: %d of %d after %.0f s\n", s.piece.name, done, len(open), time.Since(began).
				Seconds())
		}
		return kept.addRecord(r)
	})
}

// failing matches the test that fails.
var failing = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// runMutant runs the tests that reach a mutant until one fails: first those that found most
// mutants like it, then the package's own before others, quick ones before slow ones.
func runMutant(ctx context.Context, m mutant, binaries []binary, tests []traced, found *finders) (outcome, string) {
	var reaching []traced
	for _, t := range tests {
		if t.Failed == "" && slices.Contains(t.Reached, m.number) {
			reaching = append(reaching, t)
		}
	}
	likely := found.listLikely(m, reaching)
	for _, t := range likely {
		if o, by := runBatch(ctx, m, binaries[t.Suite], []string{t.Name}, limitFor(t.Took)); o.isFound() {
			return o, by
		}
	}
	for i, b := range binaries {
		selected := slices.DeleteFunc(slices.Clone(reaching), func(t traced) bool {
			return t.Suite != i || slices.ContainsFunc(likely, func(l traced) bool {
				return l.Suite == t.Suite && l.Name == t.Name
			})
		})
		slices.SortFunc(selected, func(a, b traced) int { return cmp.Compare(a.Took, b.Took) })
		for most := time.Second; len(selected) > 0; most *= 4 { // each process prepares a database
			names, limit := takeBatch(&selected, most)
			if o, by := runBatch(ctx, m, b, names, limit); o.isFound() {
				return o, by
			}
		}
	}
	if len(reaching) == 0 {
		return unreached, ""
	}
	return survived, fmt.Sprintf("%d tests", len(reaching))
}

// runBatch runs tests in one process with a mutant.
func runBatch(ctx context.Context, m mutant, b binary, names []string, limit time.Duration) (outcome, string) {
	out, err := b.runTests(ctx, limit, "^("+strings.Join(names, "|")+")$",
		fmt.Sprintf("%s=%d", activeVariable, m.number))
	switch {
	case strings.Contains(out, "panic: test timed out") || errors.Is(err, context.DeadlineExceeded):
		return timeout, strings.Join(names, " ")
	case err != nil:
		if name := failing.FindStringSubmatch(out); name != nil {
			return killed, name[1]
		}
		return killed, "crash"
	}
	return survived, ""
}

// takeBatch takes the next tests that one process runs, until they take a time in all.
func takeBatch(selected *[]traced, most time.Duration) (names []string, limit time.Duration) {
	var sum time.Duration
	for len(*selected) > 0 && (sum < most || len(names) == 0) {
		names, sum = append(names, (*selected)[0].Name), sum+(*selected)[0].Took
		*selected = (*selected)[1:]
	}
	return names, limitFor(sum)
}

// limitFor returns how long tests may take with a mutant that take a time without one.
func limitFor(took time.Duration) time.Duration { return 30*time.Second + 10*took }

// inParallel calls a function for the numbers below n from several goroutines, and
// stops at the first error.
func inParallel(workers, n int, call func(i int) error) error {
	var group sync.WaitGroup
	var lock sync.Mutex
	var failed error
	next := 0
	take := func() int {
		lock.Lock()
		defer lock.Unlock()
		if failed != nil || next >= n {
			return -1
		}
		next++
		return next - 1
	}
	for range workers {
		group.Go(func() {
			for i := take(); i >= 0; i = take() {
				if err := call(i); err != nil {
					lock.Lock()
					failed = errors.Join(failed, err)
					lock.Unlock()
				}
			}
		})
	}
	group.Wait()
	return failed
}

// repositoryRoot is where this package's repository begins.
func repositoryRoot() (string, error) { return filepath.Abs(filepath.Join("..", "..", "..")) }
