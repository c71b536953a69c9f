package house_test

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// blockWays are the ways of a block from observe.Observer.Apply to the insert of webhook deliveries. Each step is a
// function that calls the next one. The first way is the transaction of the block itself, the others are those of the
// payments and sends that it makes due.
var blockWays = []string{
	`core/payment/observe/observe.go Apply applyBatch applyBlock applyFacts
	core/payment/observe/update.go flushEvents core/payment/apply.go EmitEvent
	core/webhook/event.go Emit core/webhook/queue.go QueueEvent QueueDeliveries`,
	`core/payment/observe/observe.go applyBatch core/payment/observe/mempool.go applyMempool
	core/payment/observe/update.go flushEvents`,
	`core/payment/observe/observe.go Apply core/payment/observe/looked.go evaluatePayments
	core/payment/sweep.go EvaluateDue evaluateAll
	core/payment/apply.go Evaluate decidePayments decideUntilStable writeTransition EmitEvent`,
	`core/payment/apply.go decideUntilStable core/payment/surplus.go writeSurplus core/payment/apply.go EmitEvent`,
	`core/payment/observe/observe.go Apply core/payment/observe/sends.go evaluateSends
	core/send/evaluate.go EvaluateDue evaluateAll Evaluate core/send/apply.go loadCurrent writeTransition emitEvent
	core/webhook/event.go Emit`,
}

// wayOfBlock holds the files that the ways pass, and their packages.
type wayOfBlock struct{ files, packages []string }

// followWays follows ways and returns what they pass. A step that doesn't exist, or doesn't call the next one, is
// broken.
func (t *tree) followWays(ways []string) (found wayOfBlock, broken []string) {
	for _, way := range ways {
		var file, caller string
		var before *ast.FuncDecl
		for _, step := range strings.Fields(way) {
			if strings.HasSuffix(step, ".go") {
				file = step
				found.files = append(found.files, file)
				found.packages = append(found.packages, path.Dir(file))
				continue
			}
			f := t.findFunction(file, step)
			switch {
			case f == nil:
				broken = append(broken, "the way of a block: "+file+" has no function "+step)
			case before != nil && !callsFunction(before, step):
				broken = append(broken, "the way of a block: "+caller+" doesn't call "+step+" of "+file)
			}
			before, caller = f, step
		}
	}
	slices.Sort(found.files)
	slices.Sort(found.packages)
	return wayOfBlock{slices.Compact(found.files), slices.Compact(found.packages)}, broken
}

// findFunction returns a function or method of a file, nil when there is none.
func (t *tree) findFunction(file, name string) *ast.FuncDecl {
	for _, s := range t.sources {
		if s.path != file {
			continue
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == name {
				return f
			}
		}
	}
	return nil
}

// callsFunction reports whether a function calls one of a name.
func callsFunction(f *ast.FuncDecl, name string) (calls bool) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch of := call.Fun.(type) {
		case *ast.Ident:
			calls = calls || of.Name == name
		case *ast.SelectorExpr:
			calls = calls || of.Sel.Name == name
		}
		return true
	})
	return calls
}

// TestWaysFind: a way is followed over files, and a step that is missing or not called is found.
func TestWaysFind(t *testing.T) {
	t.Parallel()
	tree, err := load(fstest.MapFS{
		"core/a/a.go": {Data: []byte("package a\n\nfunc Apply() { store() }\n\nfunc store() { b.Queue() }\n")},
		"core/b/b.go": {Data: []byte("package b\n\nfunc Queue() { insert() }\n\nfunc insert() {}\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	for way, want := range map[string]string{
		"core/a/a.go Apply store core/b/b.go Queue insert": "",
		"core/a/a.go Apply core/b/b.go Queue":              "the way of a block: Apply doesn't call Queue of core/b/b.go",
		"core/a/a.go Apply core/b/b.go store":              "the way of a block: core/b/b.go has no function store",
	} {
		found, broken := tree.followWays([]string{way})
		if got := strings.Join(broken, "\n"); got != want {
			t.Errorf("followWays(%q): got %q, want %q", way, got, want)
		}
		if got := strings.Join(slices.Concat(found.files, found.packages), " "); got != "core/a/a.go core/b/b.go core/a core/b" {
			t.Errorf("followWays(%q) passes %q, want two files and their packages", way, got)
		}
	}
}
