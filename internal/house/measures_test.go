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
	if generic, ok := receiver.(*ast.IndexExpr); ok {
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

// TestMeasures holds the words and sizes of the code against the bars and prints the
// figures (make house).
func TestMeasures(t *testing.T) {
	tree, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	m := measure(tree)
	percent := func(part, all int) float64 { return 100 * float64(part) / float64(all) }
	bars := []struct {
		name       string
		value, bar float64
	}{
		{"one-word function names, %", percent(m.oneWord, m.functions), maxOneWord},
		{"turns of phrase in 1,000 words of comments", 10 * percent(m.idioms, m.words), maxIdiom},
		{"lines of more than 120 characters, %", percent(m.long, m.lines), maxLong},
		{"test failures without words", float64(len(m.silent)), maxSilent},
	}
	t.Logf("%d functions, %d words of comments, %d lines of source", m.functions, m.words, m.lines)
	for _, b := range bars {
		t.Logf("%-45s %6.2f of %6.2f", b.name, b.value, b.bar)
		if b.value > b.bar {
			t.Errorf("%s: %.2f, want at most %.2f", b.name, b.value, b.bar)
		}
	}
	for _, found := range m.silent {
		t.Log(found)
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
		"core/a/a.go": "package a\n\n// lose tells of whoever asked.\nfunc lose() {}\n\n// loadRow is fine.\nfunc (s *S) loadRow() {}\n\n//" +
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
	got := fmt.Sprint(m.functions, m.oneWord, m.idioms, m.long, len(m.silent), m.sizes["core/a.S methods"], m.sizes["core/a files"])
	if want := "2 1 2 1 1 1 1"; got != want {
		t.Errorf("functions, one-word, idioms, long lines, silent failures, methods, files: got %s, want %s", got, want)
	}
}
