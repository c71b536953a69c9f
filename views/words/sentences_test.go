package words_test

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"cointill/core/fault"
	"cointill/views/words"
)

// messages collects the texts of the messages in one package. A text is the id of its translations, so
// it must be a literal where it is written.
type messages struct {
	fset    *token.FileSet
	takes   map[string]int // functions of the package that hand a text and its values on, with the place of the text
	texts   map[string]token.Position
	ofField map[string]bool // texts that are about a field for certain
	wrong   []string
}

// readMessages reads the files of a package.
func readMessages(fset *token.FileSet, files []*ast.File) *messages {
	m := &messages{fset: fset, takes: map[string]int{}, texts: map[string]token.Position{}, ofField: map[string]bool{}}
	for known := -1; known < len(m.takes); { // one such function may call another
		known = len(m.takes)
		m.eachFunction(files, m.findTaker)
	}
	for _, file := range files {
		ast.Inspect(file, m.readNode)
	}
	return m
}

func (m *messages) eachFunction(files []*ast.File, do func(*ast.FuncDecl)) {
	for _, file := range files {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				do(f)
			}
		}
	}
}

// findTaker notes a function that hands its text and its values on, as errKey does.
func (m *messages) findTaker(f *ast.FuncDecl) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !call.Ellipsis.IsValid() {
			return true
		}
		if place, ok := m.textPlace(call); ok && place < len(call.Args) {
			if at := parameterPlace(f, call.Args[place]); at >= 0 {
				m.takes[f.Name.Name] = at
			}
		}
		return true
	})
}

// parameterPlace returns the place of the parameter that an expression names, and -1 for any other expression.
func parameterPlace(f *ast.FuncDecl, e ast.Expr) int {
	name, ok := e.(*ast.Ident)
	if !ok {
		return -1
	}
	place := 0
	for _, field := range f.Type.Params.List {
		for _, parameter := range field.Names {
			if parameter.Name == name.Name {
				return place
			}
			place++
		}
	}
	return -1
}

// textPlace returns the place of the text in the arguments of a call that makes a message.
func (m *messages) textPlace(call *ast.CallExpr) (int, bool) {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		place, ok := m.takes[f.Name]
		return place, ok
	case *ast.SelectorExpr:
		left, _ := f.X.(*ast.Ident)
		switch {
		case left != nil && left.Name == "fault" && f.Sel.Name == "NewMessage":
			return 0, true
		case left != nil && left.Name == "fault" && f.Sel.Name == "RefuseField":
			return 1, true
		case left != nil && left.Name == "fault" && f.Sel.Name == "Missing" && isLiteral(call, 0):
			return 0, true
		case left != nil && left.Name == "fault" && f.Sel.Name == "MissingRow" && isLiteral(call, 1):
			return 1, true
		case makesFault(call):
			return 2, true
		case left != nil && left.Name == "chain" && f.Sel.Name == "InputRefusal":
			return 0, true
		case f.Sel.Name == "Add" && len(call.Args) > 1:
			return 1, !addsOthers(f.X, call)
		}
		place, ok := m.takes[f.Sel.Name]
		return place, ok
	}
	return 0, false
}

// makesFault reports whether a call makes a fault of a code and a text.
func makesFault(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	left, _ := f.X.(*ast.Ident)
	return left != nil && left.Name == "fault" && (f.Sel.Name == "New" || f.Sel.Name == "Retry")
}

// addsOthers reports whether a call of Add is of a number (x.Add(x, y)), of a service (s.Add(ctx, …)), of headers or of
// the query of an address, and not of the fields of a fault.
func addsOthers(of ast.Expr, call *ast.CallExpr) bool {
	switch first := call.Args[0].(type) {
	case *ast.UnaryExpr: // n.Add(&a, &b)
		return true
	case *ast.Ident:
		if first.Name == "ctx" {
			return true
		}
	case *ast.CallExpr:
		if f, ok := first.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "UserContext" {
			return true
		}
	}
	switch x := of.(type) {
	case *ast.SelectorExpr:
		return x.Sel.Name == "Header"
	case *ast.CallExpr:
		return true
	case *ast.Ident:
		first, _ := call.Args[0].(*ast.Ident)
		return first != nil && first.Name == x.Name || x.Name == "query"
	}
	return false
}

func (m *messages) readNode(n ast.Node) bool {
	switch x := n.(type) {
	case *ast.FuncDecl:
		return !m.skips(x)
	case *ast.ValueSpec: // of a constant such as errUnsigned
		if t, ok := x.Type.(*ast.SelectorExpr); ok && t.Sel.Name == "InputRefusal" && len(x.Values) == 1 {
			m.take(x.Values[0])
		}
	case *ast.CompositeLit:
		if t, ok := x.Type.(*ast.SelectorExpr); ok && t.Sel.Name == "Message" && len(x.Elts) > 0 {
			m.report(x, "make it by fault.NewMessage")
		}
		if t, ok := x.Type.(*ast.SelectorExpr); ok && t.Sel.Name == "Fields" {
			m.refuseElements(x)
		}
	case *ast.CallExpr:
		if place, ok := m.textPlace(x); ok && place < len(x.Args) {
			m.take(x.Args[place])
			if text, ok := readLiteral(x.Args[place]); ok && isOfField(x) {
				m.ofField[text] = true
			}
		}
	}
	return true
}

// isOfField reports whether a call that makes a message names its field.
func isOfField(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	return ok && (f.Sel.Name == "Add" || f.Sel.Name == "RefuseField")
}

// refuseElements reports messages that are made without their type's name in the fields of a fault.
func (m *messages) refuseElements(fields *ast.CompositeLit) {
	ast.Inspect(fields, func(n ast.Node) bool {
		if pair, ok := n.(*ast.KeyValueExpr); ok {
			if name, ok := pair.Key.(*ast.Ident); ok && name.Name == "Text" {
				m.report(pair, "make it by fault.NewMessage")
			}
		}
		return true
	})
}

// skips reports whether a function only hands a text on: its own, or that of a chain.InputRefusal, which is a literal.
func (m *messages) skips(f *ast.FuncDecl) bool {
	_, ok := m.takes[f.Name.Name]
	return ok || slices.ContainsFunc(f.Type.Params.List, func(p *ast.Field) bool {
		t, ok := p.Type.(*ast.SelectorExpr)
		return ok && t.Sel.Name == "InputRefusal"
	})
}

func (m *messages) take(e ast.Expr) {
	text, ok := readLiteral(e)
	if !ok {
		m.report(e, "the text is no literal, so it can't be translated")
		return
	}
	m.texts[text] = m.fset.Position(e.Pos())
}

func (m *messages) report(n ast.Node, what string) {
	m.wrong = append(m.wrong, fmt.Sprintf("%s: %s", m.fset.Position(n.Pos()), what))
}

// isLiteral reports whether an argument of a call is a literal.
func isLiteral(call *ast.CallExpr, place int) bool {
	if place >= len(call.Args) {
		return false
	}
	_, ok := readLiteral(call.Args[place])
	return ok
}

// readLiteral returns the text of a literal, or of several with + between them.
func readLiteral(e ast.Expr) (string, bool) {
	switch x := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(x.Value)
		return text, err == nil && x.Kind == token.STRING
	case *ast.BinaryExpr:
		left, ok := readLiteral(x.X)
		right, too := readLiteral(x.Y)
		return left + right, ok && too && x.Op == token.ADD
	}
	return "", false
}

// inEnglish are packages whose faults only the API says. Pages may say their messages about fields.
var inEnglish = []string{"../../core/account/apikey", "../../core/idempotency", "../../core/limit"}

// readPackages reads the messages of all packages that make some, by their folder.
func readPackages(t *testing.T) map[string]*messages {
	t.Helper()
	fset, packages := token.NewFileSet(), map[string][]*ast.File{}
	for _, room := range []string{"chain", "core", "handlers", "internal/app", "web"} {
		err := filepath.WalkDir("../../"+room, func(path string, entry fs.DirEntry, err error) error {
			switch name := entry.Name(); {
			case err != nil:
				return err
			case entry.IsDir() && (strings.HasSuffix(name, "test") || path == "../../core/fault"):
				return filepath.SkipDir
			case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			file, err := goparser.ParseFile(fset, path, nil, goparser.SkipObjectResolution)
			packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], file)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	read := map[string]*messages{}
	for folder, files := range packages {
		if slices.ContainsFunc(files, importsMessages) {
			read[strings.TrimPrefix(folder, "../../")] = readMessages(fset, files)
		}
	}
	return read
}

// collectMessages collects the texts of all packages whose sentences pages show.
func collectMessages(t *testing.T) map[string]token.Position {
	t.Helper()
	texts := map[string]token.Position{"There is no such %s here.": {Filename: "core/fault"}} // of fault.Missing
	for folder, m := range readPackages(t) {
		if strings.HasPrefix(folder, "handlers/api") {
			continue
		}
		for _, wrong := range m.wrong {
			t.Errorf("a message can't be translated: %s", wrong)
		}
		maps.Copy(texts, m.texts)
	}
	delete(texts, "%s") // which says another message, or what a page or another program says
	return texts
}

// importsMessages reports whether a file can make messages.
func importsMessages(file *ast.File) bool {
	return slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool {
		return i.Path.Value == `"cointill/core/fault"` || i.Path.Value == `"cointill/chain"`
	})
}

var verb = regexp.MustCompile(`%(?:\[(\d+)\])?([-+# 0]*\d*(?:\.\d+)?[a-zA-Z])|%%`)

// readVerbs returns the verb of each argument of a text.
func readVerbs(text string) map[int]string {
	verbs, next := map[int]string{}, 1
	for _, found := range verb.FindAllStringSubmatch(text, -1) {
		if found[0] == "%%" {
			continue
		}
		if found[1] != "" {
			next, _ = strconv.Atoi(found[1])
		}
		verbs[next] = found[2]
		next++
	}
	return verbs
}

// TestSentencesAreTranslated holds each language to the messages in the code: none missing or left over, and the same
// verbs.
func TestSentencesAreTranslated(t *testing.T) {
	texts := collectMessages(t)
	for _, lang := range words.DashboardLanguages()[1:] {
		var table struct{ Sentences map[string]string }
		if _, err := toml.DecodeFile("errors/"+lang+".toml", &table); err != nil {
			t.Fatalf("%s: %v", lang, err)
		}
		for _, text := range slices.Sorted(maps.Keys(texts)) {
			own, ok := table.Sentences[text]
			switch {
			case !ok && slices.Contains(inEnglish, filepath.Dir(texts[text].Filename)):
			case !ok:
				t.Errorf("%s: %s: no sentence for %q", lang, texts[text], text)
			case own == "" || own != strings.TrimSpace(own):
				t.Errorf("%s: the sentence for %q is empty, or has space around it", lang, text)
			case !maps.Equal(readVerbs(own), readVerbs(text)):
				t.Errorf("%s: %q has the verbs %v, want %v as in %q", lang, own, readVerbs(own), readVerbs(text), text)
			}
		}
		for _, text := range slices.Sorted(maps.Keys(table.Sentences)) {
			if _, ok := texts[text]; !ok {
				t.Errorf("%s: no code says %q", lang, text)
			}
		}
	}
}

// saidByAPI are the beginnings of the folders whose messages about fields the API says.
var saidByAPI = []string{"core/contact", "core/idempotency", "core/journal", "core/link", "core/mail", "core/metadata",
	"core/money", "core/networks", "core/payment", "core/sandbox", "core/send", "core/webhook", "handlers/api"}

// TestFieldsHaveCodes: each message about a field that the API says has a code, and each code a message.
func TestFieldsHaveCodes(t *testing.T) {
	var table map[string][]string
	if _, err := toml.DecodeFile("../../core/fault/codes.toml", &table); err != nil {
		t.Fatal(err)
	}
	codes, said := map[string]string{}, map[string]bool{}
	for code, texts := range table {
		for _, text := range texts {
			if other := codes[text]; other != "" {
				t.Errorf("%q has the codes %s and %s", text, other, code)
			}
			codes[text] = code
		}
	}
	for folder, m := range readPackages(t) {
		api := slices.ContainsFunc(saidByAPI, func(begin string) bool { return strings.HasPrefix(folder, begin) })
		for text, at := range m.texts {
			said[text] = said[text] || api
			if api && m.ofField[text] && codes[text] == "" {
				t.Errorf("%s: the message %q has no code in core/fault/codes.toml", at, text)
			}
			if got, want := (fault.Message{Text: text}).Code(), cmp.Or(codes[text], "invalid"); got != want {
				t.Errorf("%q has the code %s, want %s", text, got, want)
			}
		}
	}
	for text, code := range codes {
		if !said[text] {
			t.Errorf("the API says nowhere %q, which has the code %s", text, code)
		}
	}
	names := []string{"invalid"}
	for code := range table {
		names = append(names, code)
	}
	var listed []string
	for _, one := range fault.FieldCodes() {
		listed = append(listed, one.Code)
	}
	if slices.Sort(names); !slices.Equal(names, slices.Sorted(slices.Values(listed))) {
		t.Errorf("FieldCodes lists %v, want %v", listed, names)
	}
}

// TestMessagesAreFound: texts are found in all places where messages are made, and those that are no literals are refused.
func TestMessagesAreFound(t *testing.T) {
	for code, want := range map[string]string{
		`fields.Add("name", "Is %d.", n)`:                       "Is %d.",
		`fields.Add("name", "Is " + "long.")`:                   "Is long.",
		`q.problems.Add(name, sentence)`:                        "no literal",
		`fields.Add("name", "Is "+text)`:                        "no literal",
		`sum.Add(sum, n)`:                                       "",
		`c.Response().Header.Add(name, value)`:                  "",
		`fault.RefuseField("name", "Is long.")`:                 "Is long.",
		`fault.NewMessage(text)`:                                "no literal",
		`fault.New(fault.Gone, "gone", "Is "+text)`:             "no literal",
		`fault.Retry("busy", wait, "Is %d.", n)`:                "Is %d.",
		`fault.NewMessage("Is long.")`:                          "Is long.",
		`fault.Missing("wallet")`:                               "wallet",
		`fault.MissingRow(err, "wallet")`:                       "wallet",
		`fault.Missing(thing)`:                                  "",
		`errKey("Is long.")`:                                    "Is long.",
		`errKey(text)`:                                          "no literal",
		`fault.Verbatim(text)`:                                  "",
		`_ = fault.Message{Text: text}`:                         "fault.NewMessage",
		`_ = fault.Message{}`:                                   "",
		`_ = chain.InputRefusal("Is long.")`:                    "Is long.",
		`const long chain.InputRefusal = "Is long."`:            "Is long.",
		`_ = fault.Fields{"name": {{Text: string(said)}}}`:      "fault.NewMessage",
		`_ = fault.Fields{"name": {fault.NewMessage("Is a.")}}`: "Is a.",
	} {
		fset := token.NewFileSet()
		file, err := goparser.ParseFile(fset, "p.go", "package p\n\nfunc errKey(text string, args ...any) error {"+
			" return fault.RefuseField(\"key\", text, args...) }\n\nfunc f() {\n\t"+code+"\n}\n", 0)
		if err != nil {
			t.Fatalf("%s: %v", code, err)
		}
		m := readMessages(fset, []*ast.File{file})
		got := strings.Join(append(slices.Collect(maps.Keys(m.texts)), m.wrong...), " ")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: found %q, want %q", code, got, want)
		}
	}
}

// TestTranslate: a message is said in the reader's language with its values in the order of that language, and what is
// in no table as it is.
func TestTranslate(t *testing.T) {
	french := words.WithLanguage(context.Background(), "fr")
	inner := fault.NewMessage("Is required.")
	for _, c := range []struct {
		ctx  context.Context
		m    fault.Message
		want string
	}{
		{french, inner, "Ce champ est obligatoire."},
		{context.Background(), inner, "Is required."},
		{french, fault.NewMessage("%s: %s", "ada@", inner), "ada@\u00a0: Ce champ est obligatoire."},
		{context.Background(), fault.NewMessage("%s: %s", "ada@", inner), "ada@: Is required."},
		{french, fault.Verbatim("Is required. 100%"), "Is required. 100%"},
		{french, fault.NewMessage("%s's test network %s", "Bitcoin", "signet"), "le réseau de test signet de Bitcoin"},
		{french, fault.NewMessage("Never %d.", 7), "Never 7."},
	} {
		if got := words.Translate(c.ctx, c.m); got != c.want {
			t.Errorf("Translate(%v) is %q, want %q", c.m, got, c.want)
		}
	}
	got := words.TranslateFields(french, fault.Fields{"name": {inner, fault.Verbatim("x")}})
	if len(got) != 1 || !slices.Equal(got["name"], []string{"Ce champ est obligatoire.", "x"}) {
		t.Errorf("TranslateFields is %q, want both sentences of the field in French", got)
	}
}

// TestFrenchTypographyOfSentences: sentences by their texts are written as those of the dashboard are.
func TestFrenchTypographyOfSentences(t *testing.T) {
	var table struct{ Sentences map[string]string }
	if _, err := toml.DecodeFile("errors/fr.toml", &table); err != nil {
		t.Fatal(err)
	}
	code := strings.NewReplacer("<0;1>", "", ". _ : ~ = @ + -", "") // is the same in every language
	for text, own := range table.Sentences {
		own = code.Replace(own)
		if found := frenchMistake.FindString(own); found != "" {
			t.Errorf("%q has %q: %s", text, found, own)
		}
	}
}
