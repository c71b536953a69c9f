package words_test

import (
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	templparser "github.com/a-h/templ/parser/v2"
)

// rooms are patterns of the folders whose words are in the dashboard's catalogue; mails to
// customers are in theirs.
var rooms = []string{"views/dashboard", "views/layout", "views/ui", "views/mail", "views/notice", "handlers/dashboard", "handlers/dashboard/*"}

// names are no words: they are the same in every language.
var names = []string{"Cointill", "A4", "A5", "/l/", "text/plain; charset=utf-8", "Referer", "Retry-After", "User-Agent",
	"Edg", "Edge", "Opera", "SamsungBrowser", "Samsung Internet", "Firefox", "Firefox/", "FxiOS", "CriOS", "Chrome", "Chrome/", "Safari", "Safari/",
	"BTC", "PostgreSQL", "%d.%d MB", "webhook-id", "webhook-timestamp", "webhook-signature",
	"Android", "Windows", "CrOS", "ChromeOS", "Mac OS X", "Linux", "Node", "Python", "Go"}

// shownAttributes are read by people.
var shownAttributes = []string{"placeholder", "aria-label", "title", "alt", "label", "data-label", "data-copied", "data-confirm"}

// shownArguments are the arguments of components and props that people read,
// even where they are one small word.
var shownArguments = map[string][]int{
	"Copy": {1}, "CopyShort": {1}, "CopyButton": {1, 2}, "Submit": {1}, "LinkButton": {2}, "Field": {1}, "With": {0}, "PageHead": {0, 1},
	"Section": {1, 2}, "Back": {1}, "Badge": {2}, "Alert": {1}, "Note": {1, 2}, "NameColumn": {0}, "NameFigures": {0}, "NameActions": {0},
	"sandboxPanel": {0, 1}, "DefRow": {0}, "DefText": {0}, "DefCopy": {0, 2}, "DefTime": {0}, "Code": {1}, "CodeWrap": {1}, "Once": {0, 2, 3},
	"Confirm": {1}, "filter": {1}, "drop": {1}, "labelled": {1}, "figure": {0}, "compared": {0}, "shares": {0, 1}, "tabs": {0}, "anyOf": {0},
	"exact": {2}, "themeSwitch": {0}, "band": {0}, "menu": {1}, "Layout": {0}, "Count": {1, 2},
}

// unread are calls whose arguments nobody reads as words of a page: formats, ids,
// addresses, conditions, and the faults, whose sentences the API says, too.
var unread = []string{"Format", "FormatTime", "KV", "URL", "As", "Parse", "t", "Say", "Value", "T", "N", "Parts", "Sentence", "MustCompile", "New", "Errorf",
	"Notf", "NotFound", "Invalid", "Forbidden", "Conflict", "Mono", "CodeWord", "Query", "FormValue", "ReadID"}

// literals collects the words that a file says by itself.
type literals struct {
	file  string
	found []string
}

func (l *literals) add(line int, text string) {
	l.found = append(l.found, fmt.Sprintf("%s:%d: %q is not in the catalogue", l.file, line, text))
}

var (
	letter = regexp.MustCompile(`\p{L}`)
	// sentence is a text that looks like words: it begins with a capital, or has
	// a space beside a letter.
	sentence = regexp.MustCompile(`^ *[(“]?\p{Lu}\p{Ll}|\p{L}\S* +\S|\S +\p{L}`)
	// technical texts look like words and are none: addresses, times as Go writes
	// them, markup, drawings, time zones.
	technical = regexp.MustCompile(`^/|://|15:04|^2 Jan|^<|^[LM](\d|%d)|^(Africa|America|Asia|Europe)/`)
)

func isWords(text string, shown bool) bool {
	if !letter.MatchString(text) || slices.Contains(names, strings.TrimSpace(text)) || technical.MatchString(text) {
		return false
	}
	return shown || sentence.MatchString(text)
}

// source looks through Go code; shown says that all of its texts are read.
func (l *literals) source(code string, line int, shown bool) {
	fset := token.NewFileSet()
	var node ast.Node
	node, err := goparser.ParseExprFrom(fset, "", code, 0)
	if err != nil {
		file, err := goparser.ParseFile(fset, "", code, goparser.SkipObjectResolution)
		if err != nil {
			file, err = goparser.ParseFile(fset, "", "package p; func f() { "+code+"{} }", 0)
			if err != nil {
				return
			}
		}
		node = file
	}
	l.walk(fset, node, line, shown)
}

func (l *literals) walk(fset *token.FileSet, root ast.Node, line int, shown bool) {
	read := map[ast.Node]bool{}
	ast.Inspect(root, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.ImportSpec, *ast.CommentGroup:
			return false
		case *ast.Field:
			return x.Tag == nil
		case *ast.KeyValueExpr:
			if key, ok := x.Key.(*ast.BasicLit); ok && key.Value == `"class"` {
				return false
			}
			l.walk(fset, x.Value, line, shown) // the key of a table is no word
			return false
		case *ast.BinaryExpr:
			return x.Op != token.EQL && x.Op != token.NEQ
		case *ast.CaseClause:
			for _, s := range x.Body {
				l.walk(fset, s, line, shown)
			}
			return false
		case *ast.CallExpr:
			return l.call(fset, x, line, shown, read)
		case *ast.BasicLit:
			if x.Kind != token.STRING || x.Value[0] == '`' { // raw texts are samples of code
				return true
			}
			if text, err := strconv.Unquote(x.Value); err == nil && isWords(text, shown || read[x]) {
				l.add(line+fset.Position(x.Pos()).Line-1, text)
			}
		}
		return true
	})
}

// call says whether the arguments of a call are to be looked at, and marks those that are shown.
func (l *literals) call(fset *token.FileSet, x *ast.CallExpr, line int, shown bool, read map[ast.Node]bool) bool {
	name, of := "", ast.Expr(nil)
	switch f := x.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name, of = f.Sel.Name, f.X
		if left, ok := f.X.(*ast.Ident); ok && left.Name == "fault" {
			return false
		}
	}
	attribute := ""
	if name == "Attr" && len(x.Args) == 2 {
		if lit, ok := x.Args[0].(*ast.BasicLit); ok {
			attribute, _ = strconv.Unquote(lit.Value)
		}
	}
	if slices.Contains(unread, name) || attribute != "" && !slices.Contains(shownAttributes, attribute) {
		if of != nil {
			l.walk(fset, of, line, shown)
		}
		return false
	}
	for _, i := range shownArguments[name] {
		if i < len(x.Args) {
			read[x.Args[i]] = true
		}
	}
	return true
}

func (l *literals) attributes(list []templparser.Attribute) {
	for _, a := range list {
		switch x := a.(type) {
		case *templparser.ConstantAttribute:
			if slices.Contains(shownAttributes, x.Key.String()) && isWords(html.UnescapeString(x.Value), true) {
				l.add(int(x.Range.From.Line)+1, x.Value)
			}
		case *templparser.ExpressionAttribute:
			if slices.Contains(shownAttributes, x.Key.String()) {
				l.source(x.Expression.Value, int(x.Expression.Range.From.Line)+1, true)
			}
		case *templparser.ConditionalAttribute:
			l.attributes(x.Then)
			l.attributes(x.Else)
		}
	}
}

// code says that an element holds a program's own words.
func code(e *templparser.Element) bool {
	for _, a := range e.Attributes {
		if c, ok := a.(*templparser.ConstantAttribute); ok && c.Key.String() == "class" && c.Value == "mono" {
			return true
		}
	}
	return e.Name == "code" || e.Name == "kbd"
}

func (l *literals) nodes(list []templparser.Node) {
	for _, n := range list {
		switch x := n.(type) {
		case *templparser.Text:
			if text := strings.TrimSpace(strings.ReplaceAll(html.UnescapeString(x.Value), "·", "")); isWords(text, true) {
				l.add(int(x.Range.From.Line)+1, text)
			}
		case *templparser.StringExpression:
			l.source(x.Expression.Value, int(x.Expression.Range.From.Line)+1, true)
		case *templparser.Element:
			l.attributes(x.Attributes)
			if !code(x) {
				l.nodes(x.Children)
			}
		case *templparser.TemplElementExpression:
			l.source(x.Expression.Value, int(x.Expression.Range.From.Line)+1, false)
			l.nodes(x.Children)
		case *templparser.CallTemplateExpression:
			l.source(x.Expression.Value, int(x.Expression.Range.From.Line)+1, false)
		case *templparser.IfExpression:
			l.nodes(x.Then)
			for _, other := range x.ElseIfs {
				l.nodes(other.Then)
			}
			l.nodes(x.Else)
		case *templparser.ForExpression:
			l.source("for "+x.Expression.Value, int(x.Expression.Range.From.Line)+1, false)
			l.nodes(x.Children)
		case *templparser.SwitchExpression:
			for _, c := range x.Cases {
				l.nodes(c.Children)
			}
		}
	}
}

// literalsIn are the words that a file of pages or of Go says by itself.
func literalsIn(file, text string) ([]string, error) {
	l := &literals{file: file}
	if strings.HasSuffix(file, ".go") {
		l.source(text, 1, false)
		return l.found, nil
	}
	parsed, err := templparser.ParseString(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, n := range parsed.Nodes {
		switch x := n.(type) {
		case *templparser.HTMLTemplate:
			l.nodes(x.Children)
		case *templparser.TemplateFileGoExpression:
			l.source("package p;"+x.Expression.Value, int(x.Expression.Range.From.Line)+1, false)
		}
	}
	return l.found, nil
}

// dashboardFiles are the sources of the dashboard's pages, by their path in the repository.
func dashboardFiles(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, room := range rooms {
		files, err := filepath.Glob("../../" + room + "/*")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			ext := filepath.Ext(file)
			if ext != ".templ" && ext != ".go" || strings.HasSuffix(file, "_templ.go") || strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			out[room+"/"+filepath.Base(file)] = string(text)
		}
	}
	return out
}

// TestNoLiteralWords: pages say nothing that is not in the catalogue.
func TestNoLiteralWords(t *testing.T) {
	for file, text := range dashboardFiles(t) {
		found, err := literalsIn(file, text)
		if err != nil {
			t.Error(err)
		}
		for _, one := range found {
			t.Errorf("one = %v", one)
		}
	}
}

// TestLiteralsAreFound: what the test above looks for is found where it hides.
func TestLiteralsAreFound(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`<p>Hello</p>`, "Hello"}, {`<p>{ "pay" }</p>`, "pay"}, {`<input placeholder="name"/>`, "name"}, {`<p title={ "Was " + a }></p>`, "Was "},
		{`@ui.Copy(a, "reference")`, "reference"}, {`@ui.Field(p.Field("name", "Your name").As("text"))`, "Your name"},
		{`@ui.Field(p.Field("n", words.T(ctx, "a.b")).Attr("placeholder", "shop"))`, ""}, {`@ui.Empty(ui.EmptyProps{Title: "None yet"})`, "None yet"},
		{`if a == "New one" {` + "\n<b>x</b>\n}", "x"}, {"for _, o := range anyOf(\"any\") {\n<i></i>\n}", "any"},
		{`@ui.Note(ui.Warn, "", "gone")`, "gone"}, {`@ui.TableWith(templ.Attributes{"class": "btn wide"}, ui.NameFigures("sum"))`, "sum"},
		{`<p class="btn wide">{ words.T(ctx, "keys.title") }</p>`, ""}, {`<code>cointill user password</code>`, ""}, {`@ui.Icon("x-circle")`, ""},
	} {
		found, err := literalsIn("p.templ", "package p\n\ntempl a() {\n\t"+c.text+"\n}\n")
		if err != nil {
			t.Fatal(err)
		}
		if c.want == "" && len(found) > 0 || c.want != "" && (len(found) != 1 || !strings.Contains(found[0], ": "+strconv.Quote(c.want)+" is")) {
			t.Errorf("%s: found %q, want %q", c.text, found, c.want)
		}
	}
	found, err := literalsIn("p.go", "package p\n\nfunc a() string { return fault.New(\"No words here\").Error() + \"Some words\" }\n")
	if err != nil || len(found) != 1 || !strings.HasPrefix(found[0], `p.go:3: "Some words"`) {
		t.Errorf("%q, %v", found, err)
	}
}
