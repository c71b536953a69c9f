package words_test

import (
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

var key = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// dashboardCatalogue reads the dashboard's messages by id. Each file holds one
// table, of its own name, so that an id says where it is written.
func dashboardCatalogue(t *testing.T) map[string]message {
	t.Helper()
	files, err := filepath.Glob("dashboard/*.en.toml")
	if err != nil || len(files) == 0 {
		t.Fatal("no catalogue", err)
	}
	out := map[string]message{}
	for _, file := range files {
		group := strings.TrimSuffix(filepath.Base(file), ".en.toml")
		var raw map[string]map[string]any
		if _, err := toml.DecodeFile(file, &raw); err != nil {
			t.Fatal(err)
		}
		if len(raw) != 1 || raw[group] == nil {
			t.Errorf("%s holds %v, not [%s] alone", file, slices.Collect(maps.Keys(raw)), group)
		}
		for name, value := range raw[group] {
			if !key.MatchString(name) {
				t.Errorf("%s: %q is no good key", file, name)
			}
			out[group+"."+name] = readMessage(t, group+"."+name, value)
		}
	}
	return out
}

// readMessage reads one message: a text, or its two forms of plural.
func readMessage(t *testing.T, id string, value any) message {
	t.Helper()
	texts := map[string]any{"": value}
	m := message{}
	if forms, ok := value.(map[string]any); ok {
		texts, m.forms = forms, map[string]string{}
		if len(forms) != 2 || forms["one"] == nil || forms["other"] == nil {
			t.Errorf("%s has not the forms one and other alone", id)
		}
	}
	for form, value := range texts {
		text, _ := value.(string)
		if text == "" || text != strings.TrimSpace(text) || strings.ContainsAny(text, "<>\n") {
			t.Errorf("%s %s is empty, or has space around it or markup inside", id, form)
		}
		if m.forms != nil {
			m.forms[form] = text
		} else {
			m.text = text
		}
	}
	return m
}

// uses is what pages ask of the catalogue.
type uses struct {
	fset      *token.FileSet
	catalogue map[string]message
	named     map[string]bool // every text that is an id
	wrong     []string
}

func (u *uses) report(at token.Pos, format string, args ...any) {
	p := u.fset.Position(at)
	u.wrong = append(u.wrong, fmt.Sprintf("%s:%d: %s", filepath.Base(p.Filename), p.Line, fmt.Sprintf(format, args...)))
}

func (u *uses) read(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.CallExpr:
			u.call(x)
		case *ast.BasicLit:
			if text, err := strconv.Unquote(x.Value); err == nil && x.Kind == token.STRING {
				if _, ok := u.catalogue[text]; ok {
					u.named[text] = true
				}
			}
		}
		return true
	})
}

// call holds one call against the catalogue: T and N name their blanks in pairs,
// Sentence in its pieces.
func (u *uses) call(x *ast.CallExpr) {
	name := ""
	switch f := x.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
		if left, ok := f.X.(*ast.Ident); !ok || left.Name != "words" && left.Name != "ui" {
			return
		}
	}
	switch {
	case name == "T" && len(x.Args) > 1:
		u.asked(x, x.Args[1], pairNames(x.Args[2:]), false)
	case name == "N" && len(x.Args) > 2:
		u.asked(x, x.Args[1], append(pairNames(x.Args[3:]), "N"), true)
	case name == "Sentence" && len(x.Args) == 2:
		var names []string
		if pieces, ok := x.Args[1].(*ast.CompositeLit); ok {
			for _, element := range pieces.Elts {
				if pair, ok := element.(*ast.KeyValueExpr); ok {
					names = append(names, literal(pair.Key))
				}
			}
		}
		u.asked(x, x.Args[0], names, false)
	}
}

func (u *uses) asked(x *ast.CallExpr, idExpr ast.Expr, names []string, counted bool) {
	id := literal(idExpr)
	if id == "" {
		return // a variable: what it may be is written elsewhere, as a text that is an id
	}
	m, ok := u.catalogue[id]
	if !ok {
		u.report(x.Pos(), "%s is not in the catalogue", id)
		return
	}
	if counted != (m.forms != nil) {
		u.report(x.Pos(), "%s is counted in one place and not in the other", id)
		return
	}
	text := m.text
	if counted {
		text = m.forms["other"]
	}
	if given := fillBlanks("{{." + strings.Join(names, "}}{{.") + "}}"); fillBlanks(text) != given {
		u.report(x.Pos(), "%s has the blanks %q, and is given %q", id, fillBlanks(text), given)
	}
}

func pairNames(args []ast.Expr) (names []string) {
	for i := 0; i < len(args); i += 2 {
		names = append(names, literal(args[i]))
	}
	return names
}

// literal is the text that an expression is, and "" for any other expression.
func literal(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	text, _ := strconv.Unquote(lit.Value)
	return text
}

// TestDashboardCatalogue: what pages ask for is there with the blanks that they
// fill, and nothing is left over.
func TestDashboardCatalogue(t *testing.T) {
	u := &uses{fset: token.NewFileSet(), catalogue: dashboardCatalogue(t), named: map[string]bool{}}
	for _, room := range append(slices.Clone(rooms), "handlers/page") {
		files, err := filepath.Glob("../../" + room + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := goparser.ParseFile(u.fset, name, nil, goparser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			u.read(file)
		}
	}
	for _, wrong := range u.wrong {
		t.Errorf("wrong = %v", wrong)
	}
	for _, id := range slices.Sorted(maps.Keys(u.catalogue)) {
		if !u.named[id] {
			t.Errorf("%s is never asked for", id)
		}
	}
}
