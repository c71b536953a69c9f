package house_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
)

// The bars of the code's words and sizes.
const (
	maxOneWord         = 25.0     // percent of functions whose name is one word
	maxIdiom           = 0.5      // turns of phrase in 1,000 words of comments
	maxLong            = 0.5      // percent of lines with more than 120 characters
	maxSilent          = 0        // test failures that print values alone
	maxMethods         = 40       // of one type
	maxFiles, maxLines = 25, 3500 // of one package
	maxWayFiles        = 14       // that calls pass from a block to the queue of webhook deliveries
	maxWayPackages     = 5        // of these files
)

// idiom matches words that a second-language engineer stumbles over: who or what is meant
// stands elsewhere, or nowhere.
var idiom = regexp.MustCompile(`(?i)\b(is told|are told|was told|be told|tells of|told of|whoever|whosever|` +
	`who (asks|has|does|waits|knows|may|can|would|comes|left|steals|stole|reads)\b|` +
	`what (is|was|are|were|it|they|came|comes|had|has|can't|can|may|will|would|becomes|became|could|concerns|` +
	`belongs|waits|stands|changed|changes|follows)\b|` +
	`of which|of whom|that of|those of|for ever|anew|at rest|comes to|nobody|anybody|somebody)\b`)

// measures are counts over the repository's Go code without generated files.
type measures struct {
	functions, oneWord int
	words, idioms      int
	lines, long        int
	silent             []string
	sizes              map[string]int // "package files", "package lines" and "package.Type methods"
}

// measure counts over a tree.
func measure(t *tree) measures {
	m := measures{sizes: map[string]int{}}
	for _, s := range t.sources {
		if s.generated || strings.HasSuffix(s.path, "_templ.go") {
			continue
		}
		if s.test() {
			m.silent = append(m.silent, silentFailures(t, s)...)
			continue
		}
		lines := strings.Split(t.texts[s.path], "\n")
		m.lines += len(lines)
		m.sizes[s.folder()+" files"]++
		m.sizes[s.folder()+" lines"] += len(lines) - 1
		for _, line := range lines {
			if len([]rune(strings.ReplaceAll(line, "\t", "    "))) > 120 {
				m.long++
			}
		}
		for _, group := range s.file.Comments {
			m.words += len(strings.Fields(group.Text()))
			m.idioms += len(idiom.FindAllString(group.Text(), -1))
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				m.countFunction(s, f)
			}
		}
	}
	return m
}

// countFunction counts a function's name and, for a method, its type.
func (m *measures) countFunction(s source, f *ast.FuncDecl) {
	m.functions++
	if name := []rune(f.Name.Name); !slices.ContainsFunc(name[1:], unicode.IsUpper) {
		m.oneWord++
	}
	if f.Recv == nil {
		return
	}
	receiver := f.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	switch generic := receiver.(type) {
	case *ast.IndexExpr:
		receiver = generic.X
	case *ast.IndexListExpr: // several type parameters
		receiver = generic.X
	}
	if name, ok := receiver.(*ast.Ident); ok {
		m.sizes[s.folder()+"."+name.Name+" methods"]++
	}
}

// silentFailures finds calls of Error and Fatal that hold no text, except those with an
// error alone.
func silentFailures(t *tree, s source) (found []string) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || f.Sel.Name != "Error" && f.Sel.Name != "Fatal" {
			return true
		}
		of, ok := f.X.(*ast.Ident)
		if !ok || !slices.Contains([]string{"t", "b", "tb"}, of.Name) {
			return true
		}
		if err, ok := call.Args[0].(*ast.Ident); ok && len(call.Args) == 1 && err.Name == "err" {
			return true
		}
		text := false
		ast.Inspect(call, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			text = text || ok && literal.Kind == token.STRING
			return true
		})
		if !text {
			found = append(found, t.at(call.Pos(), "the failure has no words"))
		}
		return true
	})
	return found
}

// sizeBar returns the bar of a size by the last word of its name.
func sizeBar(name string) int {
	return map[string]int{"methods": maxMethods, "files": maxFiles, "lines": maxLines}[name[strings.LastIndex(name, " ")+1:]]
}

// findLargest returns the largest size of a kind, and what has it.
func (m measures) findLargest(kind string) (name string, size int) {
	for _, of := range slices.Sorted(maps.Keys(m.sizes)) {
		if what, found := strings.CutSuffix(of, " "+kind); found && m.sizes[of] > size {
			name, size = what, m.sizes[of]
		}
	}
	return name, size
}

// countProductLines returns the lines of all packages: Go that is written by hand and no test.
func (m measures) countProductLines() (lines int) {
	for name, size := range m.sizes {
		if strings.HasSuffix(name, " lines") {
			lines += size
		}
	}
	return lines
}

// bar is a row of the table: a measure, its value and the most that it may be, 0 for no bound.
type bar struct {
	name       string
	value, bar float64
	most       string // what has the value
}

// listBars returns the rows of the table.
func (m measures) listBars(way wayOfBlock) []bar {
	percent := func(part, all int) float64 { return 100 * float64(part) / float64(all) }
	bars := []bar{
		{"one-word function names, %", percent(m.oneWord, m.functions), maxOneWord, ""},
		{"turns of phrase in 1,000 words of comments", 10 * percent(m.idioms, m.words), maxIdiom, ""},
		{"lines of more than 120 characters, %", percent(m.long, m.lines), maxLong, ""},
		{"files from a block to webhook deliveries", float64(len(way.files)), maxWayFiles, ""},
		{"packages of these files", float64(len(way.packages)), maxWayPackages, ""},
		{"lines of the product, written by hand", float64(m.countProductLines()), 0, ""},
	}
	for _, kind := range []string{"methods", "files", "lines"} {
		name, size := m.findLargest(kind)
		bars = append(bars, bar{kind + " of the largest type or package", float64(size), float64(sizeBar(kind)), name})
	}
	return bars
}

// TestMeasures holds the words and sizes of the code against the bars and prints the
// figures (make house).
func TestMeasures(t *testing.T) {
	tree, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	m := measure(tree)
	way, broken := tree.followWays(blockWays)
	if len(broken) > 0 {
		t.Errorf("ways of a block that are broken:\n%s", strings.Join(broken, "\n"))
	}
	t.Logf("%d functions, %d words of comments", m.functions, m.words)
	t.Logf("%-45s %9s %9s", "measure", "value", "at most")
	t.Logf("%-45s %9d %9d", "test failures without words", len(m.silent), maxSilent)
	for _, b := range m.listBars(way) {
		bound := "-"
		if b.bar > 0 {
			bound = fmt.Sprintf("%.2f", b.bar)
		}
		t.Logf("%-45s %9.2f %9s %s", b.name, b.value, bound, b.most)
		if b.bar > 0 && b.value > b.bar && b.most == "" { // each size is compared below
			t.Errorf("%s: %.2f, want at most %.2f", b.name, b.value, b.bar)
		}
	}
	if len(m.silent) > maxSilent {
		t.Errorf("test failures without words: got %d, want at most %d:\n%s", len(m.silent), maxSilent,
			strings.Join(m.silent, "\n"))
	}
	for _, name := range slices.Sorted(maps.Keys(m.sizes)) {
		if bar := sizeBar(name); m.sizes[name] > bar {
			t.Errorf("%s: %d, want at most %d", name, m.sizes[name], bar)
		}
	}
}

// TestMeasuresFind: each measure counts a planted violation.
func TestMeasuresFind(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"core/a/a.go": "package a\n\n// lose tells of whoever asked.\nfunc lose() {}\n\n// loadRow is fine.\nfunc (s *S) loadRow() {}\n\n" +
			"// saveRow is fine.\nfunc (p *Pair[K, V]) saveRow() {}\n\n//" +
			strings.Repeat(" word", 30) + "\n",
		"core/a/a_test.go": "package a\n\nfunc TestA(t *testing.T) { t.Error(1); t.Error(err); t.Error(\"words\") }\n",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	tree, err := load(files)
	if err != nil {
		t.Fatal(err)
	}
	m := measure(tree)
	got := fmt.Sprint(m.functions, m.oneWord, m.idioms, m.long, len(m.silent), m.sizes["core/a.S methods"],
		m.sizes["core/a.Pair methods"], m.sizes["core/a files"], m.countProductLines())
	if want := "3 1 2 1 1 1 1 1 12"; got != want {
		t.Errorf("functions, one-word, idioms, long lines, silent failures, methods of two types, files, lines: got %s, want %s",
			got, want)
	}
}
