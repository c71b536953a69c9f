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

	"cointill/views/words"
)

var key = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// dashboardCatalogue reads the dashboard's messages in a language by id. Each file holds one
// table, of its own name, so that an id says where it is written.
func dashboardCatalogue(t *testing.T, lang string) map[string]message {
	t.Helper()
	files, err := filepath.Glob("dashboard/*." + lang + ".toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no catalogue in %s: %v", lang, err)
	}
	needed := countedForms(t, lang)
	out := map[string]message{}
	for _, file := range files {
		group := strings.TrimSuffix(filepath.Base(file), "."+lang+".toml")
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
			out[group+"."+name] = readMessage(t, lang+": "+group+"."+name, value, needed)
		}
	}
	return out
}

// countedForms are the forms of plural that a language has for the numbers up to a thousand. French
// has one more for whole millions, which falls back to the form other.
func countedForms(t *testing.T, lang string) []string {
	t.Helper()
	return formsUpTo(t, lang, 1000)
}

// readMessage reads one message: a text, or the forms of plural of its language.
func readMessage(t *testing.T, id string, value any, needed []string) message {
	t.Helper()
	texts := map[string]any{"": value}
	m := message{}
	if forms, ok := value.(map[string]any); ok {
		texts, m.forms = forms, map[string]string{}
		if own := slices.Sorted(maps.Keys(forms)); !slices.Equal(own, needed) {
			t.Errorf("%s has the forms %v, want %v", id, own, needed)
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
	u := &uses{fset: token.NewFileSet(), catalogue: dashboardCatalogue(t, "en"), named: map[string]bool{}}
	for _, room := range append(slices.Clone(rooms), "handlers/page", "views/words") {
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

// TestDashboardLanguages holds each language of the dashboard to the messages of English: none
// missing or left over, the same blanks, and the forms of plural that it has.
func TestDashboardLanguages(t *testing.T) {
	english := dashboardCatalogue(t, "en")
	for _, lang := range words.DashboardLanguages() {
		own := dashboardCatalogue(t, lang)
		for _, id := range slices.Sorted(maps.Keys(english)) {
			m, ok := own[id]
			switch {
			case !ok:
				t.Errorf("%s: %s is missing", lang, id)
			case (m.forms == nil) != (english[id].forms == nil):
				t.Errorf("%s: %s is counted in one language and not in the other", lang, id)
			case m.forms == nil:
				compare(t, lang+": "+id, m.text, english[id].text)
			default:
				compare(t, lang+": "+id, m.forms["other"], english[id].forms["other"])
			}
		}
		for _, id := range slices.Sorted(maps.Keys(own)) {
			if _, ok := english[id]; !ok {
				t.Errorf("%s: %s is not in English", lang, id)
			}
		}
	}
}

// TestLanguagesWithFilesAreOffered: a language is offered as soon as it has files.
func TestLanguagesWithFilesAreOffered(t *testing.T) {
	files, err := filepath.Glob("dashboard/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("files of the dashboard: %d, %v", len(files), err)
	}
	for _, file := range files {
		parts := strings.Split(filepath.Base(file), ".")
		if !slices.Contains(words.DashboardLanguages(), parts[1]) {
			t.Errorf("%s: the languages offered are %v", file, words.DashboardLanguages())
		}
	}
	for _, c := range []struct{ chosen, accept, want string }{
		{"fr", "", "fr"}, {"", "fr-CI,fr;q=0.9,en;q=0.5", "fr"}, {"en", "fr", "en"}, {"xx", "fr", "fr"}, {"", "ar", "en"}, {"", "", "en"},
	} {
		if got := words.ChooseDashboardLanguage(c.chosen, c.accept); got != c.want {
			t.Errorf("ChooseDashboardLanguage(%q, %q) is %q, want %q", c.chosen, c.accept, got, c.want)
		}
	}
}

var frenchMistake = regexp.MustCompile(`(^|[^\x{00a0}])[;!?»]|[ \pL\d}][:](\s|$)|«[^\x{00a0}]|[“”’]`)

// TestFrenchTypography: French has a space that doesn't break before high punctuation and inside
// quotation marks.
func TestFrenchTypography(t *testing.T) {
	for id, m := range dashboardCatalogue(t, "fr") {
		for _, text := range []string{m.text, m.forms["one"], m.forms["other"]} {
			if found := frenchMistake.FindString(text); found != "" && id != "layout.keyboard_shortcuts_hover" {
				t.Errorf("%s has %q: %s", id, found, text)
			}
		}
	}
}
