package speed_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var folders = flag.String("speed.folders", "", "print a pattern of the tests in these folders that have two sizes")

// TestTwoSizes prints a pattern for go test -run of the tests that have two sizes, for scripts/test: those
// that reach speed.Pick, servertest.RunFull or modelstest.EachFull through the declarations of their
// package's test files. Names decide, so that the pattern may hold a test too many, and never one too few.
func TestTwoSizes(t *testing.T) {
	var tests []string
	for _, folder := range strings.Fields(*folders) {
		found, err := findTests(filepath.Join("../../..", folder))
		if err != nil {
			t.Fatalf("reading the tests of %s: %v", folder, err)
		}
		tests = append(tests, found...)
	}
	slices.Sort(tests)
	if *folders != "" {
		fmt.Printf("^(%s)$\n", strings.Join(slices.Compact(tests), "|"))
	}
}

// TestFindTests finds the tests that choose a size themselves, by a variable, by a function or by a
// method, and no other.
func TestFindTests(t *testing.T) {
	folder := t.TempDir()
	files := map[string]string{"size_test.go": `package p
import "cointill/internal/testing/speed"
var rows = flag.Int("rows", speed.Pick(1, 2), "")
func fill(t *testing.T) { insert(t, *rows) }
type book struct{}
func (b book) fillUp() { fill(nil) }
func loop() { again() }
func again() { loop() }
`, "some_test.go": `package p
func TestMain(m *testing.M) { _ = speed.Full }
func TestDirect(t *testing.T) { _ = speed.Pick(1, 2) }
func TestVariable(t *testing.T) { insert(t, *rows) }
func TestMethod(t *testing.T) { book{}.fillUp() }
func TestServer(t *testing.T) { servertest.RunFull(t, nil) }
func TestDatabases(t *testing.T) { modelstest.EachFull(t, nil) }
func TestOneSize(t *testing.T) { insert(t, 3); loop() }
func helpTest(t *testing.T) { fill(t) }
	func FuzzSizes(f *testing.F) { fill(nil) }
`, "product.go": `package p
func insert() { fill() }
`}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatalf("writing %s: %v", name, err)
		}
	}
	found, err := findTests(folder)
	if err != nil {
		t.Fatalf("findTests: %v", err)
	}
	if want := []string{"TestDatabases", "TestDirect", "TestMethod", "TestServer", "TestVariable"}; !slices.Equal(found, want) {
		t.Errorf("findTests found %v, want %v", found, want)
	}
}

// TestFindTestsRefusesBrokenFiles returns the error of a file that can't be read as Go.
func TestFindTestsRefusesBrokenFiles(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "broken_test.go"), []byte("package"), 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := findTests(folder); err == nil {
		t.Errorf("findTests of a broken file found %v, want an error", found)
	}
}

// findTests returns the tests of a folder that have two sizes.
func findTests(folder string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		return nil, err
	}
	uses := map[string]map[string]bool{} // the names that each declaration mentions
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, declaration := range file.Decls {
			addDeclaration(uses, declaration)
		}
	}
	var tests []string
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		if strings.HasPrefix(name, "Test") && name != "TestMain" && reachesSize(uses, name, map[string]bool{}) {
			tests = append(tests, name)
		}
	}
	return tests, nil
}

// addDeclaration notes which names a declaration mentions, under each name that it declares.
func addDeclaration(uses map[string]map[string]bool, declaration ast.Decl) {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		addMentions(uses, d.Name.Name, d)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if values, ok := spec.(*ast.ValueSpec); ok {
				for _, name := range values.Names {
					addMentions(uses, name.Name, values)
				}
			}
		}
	}
}

// addMentions adds the names below a node to those that a declaration mentions.
func addMentions(uses map[string]map[string]bool, name string, below ast.Node) {
	if uses[name] == nil {
		uses[name] = map[string]bool{}
	}
	ast.Inspect(below, func(n ast.Node) bool {
		if identifier, ok := n.(*ast.Ident); ok {
			uses[name][identifier.Name] = true
		}
		return true
	})
}

// reachesSize reports whether a declaration mentions what chooses a size, or another that does.
func reachesSize(uses map[string]map[string]bool, name string, seen map[string]bool) bool {
	if seen[name] {
		return false
	}
	seen[name] = true
	for used := range uses[name] {
		if used == "speed" || used == "RunFull" || used == "EachFull" || used != name && reachesSize(uses, used, seen) {
			return true
		}
	}
	return false
}
