package mutationtest

import (
	"context"
	"flag"
	"os"
	"testing"
)

var (
	mutate  = flag.Bool("mutate", false, "run the mutants")
	only    = flag.String("mutate.only", "", "names of pieces, with commas between them; empty is all")
	workers = flag.Int("mutate.workers", 4, "how many test processes run at once; most tests wait")
	reuse   = flag.Bool("mutate.reuse", false, "keep mutants as found although only tests changed since")
	atMost  = flag.Duration("mutate.time", 0, "stop after this time and keep the results; 0 is no limit")
)

// stateVariable names the folder that keeps results between runs.
const stateVariable = "COINTILL_MUTATION_STATE"

// TestMutants runs the mutants of each piece and fails when less than 95 % are found. It
// does so only with -mutate (make mutate); otherwise it checks that every mutant that is
// listed as equivalent exists.
func TestMutants(t *testing.T) {
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	equivalents, err := readEquivalents(equivalentText)
	if err != nil {
		t.Fatal(err)
	}
	checkEquivalents(t, root, equivalents)
	if !*mutate {
		return
	}
	o := options{root: root, state: os.Getenv(stateVariable), workers: *workers, reuse: *reuse, out: os.Stdout}
	if o.state == "" {
		t.Fatalf("%s is not set: run make mutate", stateVariable)
	}
	if err := os.MkdirAll(o.state, 0o700); err != nil {
		t.Fatal(err)
	}
	selected, err := selectPieces(*only)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := t.Context(), context.CancelFunc(func() {})
	if *atMost > 0 {
		ctx, stop = context.WithTimeout(ctx, *atMost)
	}
	defer stop()
	var names []string
	results := map[string][]result{}
	for _, p := range selected {
		names = append(names, p.name)
		if results[p.name], err = measurePiece(ctx, o, p); ctx.Err() != nil {
			t.Fatalf("%s: not finished after %s; the same command goes on", p.name, *atMost)
		} else if err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
	}
	if found := printTable(o.out, names, results, equivalents); found < least {
		t.Errorf("tests find %.1f %% of the mutants, want %d %% or more", found, least)
	}
}

// checkEquivalents fails for a listed mutant that no piece has.
func checkEquivalents(t *testing.T, root string, equivalents map[string]string) {
	t.Helper()
	left := map[string]bool{}
	for name := range equivalents {
		left[name] = true
	}
	for _, p := range pieces {
		s, err := p.loadSource(root)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range s.mutants {
			delete(left, m.name)
		}
	}
	for name := range left {
		t.Errorf("equivalent.txt names a mutant that doesn't exist: %s", name)
	}
}
