package house_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/version"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// rule finds what breaks one house rule; each finding names its file.
type rule struct {
	name  string
	check func(*tree) []string
}

var rules = []rule{
	{"own imports", ownImports},
	{"outside imports", outsideImports},
	{"calls", forbiddenCalls},
	{"one command", oneCommand},
	{"no floats near money", floats},
	{"no safe block tag", safeTag},
	{"no built SQL", builtSQL},
	{"no skipped test", skippedTests},
	{"attack ids", attackIDs},
	{"pages", pages},
	{"package comments", packageComments},
	{"exported comments", exportedComments},
	{"nothing of one machine", machinePaths},
	{"module versions", moduleVersions},
	{"documented modules", documentedModules},
}

// roomOf is the longest room that holds a file.
func roomOf(name string) (found room, ok bool) {
	for _, r := range rooms {
		if within(name, r.folder) && len(r.folder) >= len(found.folder) {
			found, ok = r, true
		}
	}
	return found, ok
}

// ownImports holds Cointill's packages against the table of rooms.
func ownImports(t *tree) (found []string) {
	for _, s := range t.sources {
		for _, spec := range s.file.Imports {
			own, ok := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module)
			if !ok {
				continue
			}
			switch r, known := roomOf(s.path); {
			case within(s.path, "e2e"):
				if !within(own, "e2e") {
					found = append(found, t.at(spec.Pos(), "e2e sees the program from outside only, but imports %s", own))
				}
			case s.test():
			case testPackage(own):
				found = append(found, t.at(spec.Pos(), "%s is for tests", own))
			case !known:
				found = append(found, t.at(spec.Pos(), "no room of the house holds this file"))
			case !slices.ContainsFunc(r.may, func(pattern string) bool { return matches(own, pattern) }):
				found = append(found, t.at(spec.Pos(), "%s may not import %s", r.folder, own))
			}
		}
	}
	return found
}

// matches reports whether a package is the pattern's, or below a pattern that ends in "...".
func matches(own, pattern string) bool {
	if pattern == "..." {
		return true
	}
	folder, whole := strings.CutSuffix(pattern, "/...")
	return own == folder || whole && within(own, folder)
}

// outsideImports holds other people's packages against the table of holders.
func outsideImports(t *tree) (found []string) {
	for _, s := range t.sources {
		if s.test() {
			continue
		}
		for _, spec := range s.file.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			longest := holder{}
			for _, h := range holders {
				if within(imported, h.imported) && len(h.imported) > len(longest.imported) {
					longest = h
				}
			}
			if longest.imported != "" && !withinAny(s.path, longest.rooms) {
				found = append(found, t.at(spec.Pos(), "only %v may import %s", longest.rooms, imported))
			}
		}
	}
	return found
}

// forbiddenCalls holds what files use of packages against the table of calls.
func forbiddenCalls(t *tree) (found []string) {
	for _, s := range t.sources {
		for _, c := range calls {
			if c.tests && s.test() || withinAny(s.path, c.rooms) {
				continue
			}
			s.selects(c.imported, func(name string, at token.Pos) {
				if slices.Contains(c.names, name) {
					found = append(found, t.at(at, "%s.%s: %s", path.Base(c.imported), name, c.instead))
				}
			})
		}
	}
	return found
}

// oneCommand finds every main package but cmd/cointill, and its absence:
// `go run ./cmd/...` works only while there is exactly one.
func oneCommand(t *tree) []string {
	folders := map[string]bool{}
	for _, s := range t.sources {
		if s.file.Name.Name == "main" && !within(s.path, "e2e") { // the tests' own programs are none of the product's
			folders[s.folder()] = true
		}
	}
	if all := slices.Sorted(maps.Keys(folders)); !slices.Equal(all, []string{"cmd/cointill"}) {
		return []string{fmt.Sprintf("main packages are in %v; there is one, in cmd/cointill", all)}
	}
	return nil
}

// floats finds floating point where money is counted.
func floats(t *tree) (found []string) {
	names := []string{"float32", "float64", "ParseFloat", "Float64", "SetFloat64", "NewFromFloat", "InexactFloat64"}
	for _, s := range t.sources {
		if s.test() || !withinAny(s.path, moneyFolders) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && slices.Contains(names, id.Name) {
				found = append(found, t.at(id.Pos(), "%s: money is exact", id.Name))
			}
			return true
		})
	}
	return found
}

// safeTag finds Ethereum's "safe" block tag, whose promise changed from minutes to seconds.
func safeTag(t *tree) (found []string) {
	for _, s := range t.sources {
		if !withinAny(s.path, []string{"chain", "core"}) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && strings.Trim(text.Value, "\"`") == "safe" {
				found = append(found, t.at(text.Pos(), "the safe block tag promises nothing that we rely on: count depth"))
			}
			return true
		})
	}
	return found
}

// builtSQL finds query text that is formatted or put together from anything but
// literals and plain names, which are constants here.
func builtSQL(t *tree) (found []string) {
	methods := []string{"Where", "Or", "Not", "Having", "Order", "Group", "Joins", "Select", "Raw", "Exec", "Pluck", "Expr"}
	for _, s := range t.sources {
		if s.test() {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok || len(c.Args) == 0 {
				return true
			}
			if method, ok := c.Fun.(*ast.SelectorExpr); ok && slices.Contains(methods, method.Sel.Name) && !constantText(c.Args[0]) {
				found = append(found, t.at(c.Pos(), "%s with text that is built at run time: bind values with ?", method.Sel.Name))
			}
			return true
		})
	}
	return found
}

// constantText reports whether an expression can't be text that was made at run
// time: calls to fmt and strings, and sums with a call or a field, can.
func constantText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return joinable(e.X) && joinable(e.Y)
	case *ast.CallExpr:
		f, ok := e.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		left, ok := f.X.(*ast.Ident)
		return !ok || left.Name != "fmt" && left.Name != "strings"
	}
	return true
}

// joinable reports whether an operand of + is a literal, a plain name, or a sum of such.
func joinable(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit, *ast.Ident:
		return true
	case *ast.ParenExpr:
		return joinable(e.X)
	case *ast.BinaryExpr:
		return joinable(e.X) && joinable(e.Y)
	}
	return false
}

// skippedTests finds tests that may decide not to run.
func skippedTests(t *tree) (found []string) {
	for _, s := range t.sources {
		if !s.test() {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if c, ok := n.(*ast.SelectorExpr); ok && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, c.Sel.Name) {
				found = append(found, t.at(c.Pos(), "a test that needs something fails without it"))
			}
			return true
		})
	}
	return found
}

// pages finds markup that the content security policy blocks or templ does not escape.
func pages(t *tree) (found []string) {
	for _, name := range slices.Sorted(maps.Keys(t.texts)) {
		if !within(name, "views") || path.Ext(name) != ".templ" {
			continue
		}
		for _, m := range markup {
			if m.mail && within(name, "views/mail") {
				continue
			}
			for _, place := range m.pattern.FindAllStringIndex(t.texts[name], -1) {
				line := 1 + strings.Count(t.texts[name][:place[0]+1], "\n")
				found = append(found, fmt.Sprintf("%s:%d: %s", name, line, m.name))
			}
		}
	}
	return found
}

// packageComments finds packages that don't say what they are for.
func packageComments(t *tree) (found []string) {
	documented := map[string]bool{}
	for _, s := range t.sources {
		name := s.folder() + " (package " + s.file.Name.Name + ")"
		if strings.HasSuffix(s.file.Name.Name, "_test") && s.folder() != "." {
			continue // the tests of a package that has its own
		}
		documented[name] = documented[name] || s.file.Doc != nil
	}
	for _, name := range slices.Sorted(maps.Keys(documented)) {
		if !documented[name] {
			found = append(found, name+": no comment says what the package is for")
		}
	}
	return found
}

// machinePaths finds text that betrays one machine or one package host.
func machinePaths(t *tree) (found []string) {
	for _, name := range slices.Sorted(maps.Keys(t.texts)) {
		for number, line := range strings.Split(t.texts[name], "\n") {
			if match := private.FindString(line); match != "" {
				found = append(found, fmt.Sprintf("%s:%d: %q", name, number+1, match))
			}
		}
	}
	return found
}

// moduleVersions holds each go.mod against the floors.
func moduleVersions(t *tree) (found []string) {
	for _, name := range slices.Sorted(maps.Keys(t.texts)) {
		if path.Base(name) != "go.mod" {
			continue
		}
		for _, line := range strings.Split(t.texts[name], "\n") {
			words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
			if len(words) < 2 {
				continue
			}
			floor, known := floors[words[0]]
			if known && (floor == "" || version.Compare("go"+strings.TrimPrefix(words[1], "v"), "go"+floor) < 0) {
				found = append(found, fmt.Sprintf("%s: %s %s: the lowest that may be is %q", name, words[0], words[1], floor))
			}
		}
		if direct := len(directModules(t.texts[name])); direct > mostModules {
			found = append(found, fmt.Sprintf("%s: %d direct modules, more than %d", name, direct, mostModules))
		}
	}
	return found
}

// documentedModules finds what go.mod and package.json ask for in another
// version than docs/dependencies.md says, or that it says nothing of.
func documentedModules(t *tree) (found []string) {
	page := t.texts["docs/dependencies.md"]
	missing := func(name, module, version string) {
		if !strings.Contains(page, "| `"+module+"` | "+version+" |") {
			found = append(found, fmt.Sprintf("%s: %s %s is not in docs/dependencies.md", name, module, version))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.texts)) {
		switch path.Base(name) {
		case "go.mod":
			for _, m := range directModules(t.texts[name]) {
				missing(name, m[0], m[1])
			}
		case "package.json":
			for _, m := range npmPackage.FindAllStringSubmatch(t.texts[name], -1) {
				missing(name, m[1], m[2])
			}
		}
	}
	return found
}

// npmPackage matches a package with its exact version in package.json.
var npmPackage = regexp.MustCompile(`"([@\w./-]+)": "(\d[\w.-]*)"`)

// directModules are the modules that a go.mod asks for by itself, with versions.
func directModules(text string) (modules [][2]string) {
	for _, line := range strings.Split(text, "\n") {
		words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(words) == 2 && strings.HasPrefix(words[1], "v") {
			modules = append(modules, [2]string{words[0], words[1]})
		}
	}
	return modules
}
