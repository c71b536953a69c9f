package catalogue_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cointill/handlers/api/catalogue"
)

// TestEveryCodeIsInTheCatalogue reads all codes out of the source.
func TestEveryCodeIsInTheCatalogue(t *testing.T) {
	used := map[string]bool{}
	for _, folder := range []string{"core", "web", "handlers"} {
		err := filepath.WalkDir(filepath.Join("../../..", folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "catalogue.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err == nil {
				collect(file, used)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	listed := map[string]bool{}
	for _, c := range catalogue.Codes() {
		if listed[c.Code] {
			t.Errorf("%s is listed twice", c.Code)
		}
		listed[c.Code] = true
	}
	for code := range used {
		if prefix, isPrefix := strings.CutSuffix(code, "*"); isPrefix {
			if !slices.ContainsFunc(catalogue.Codes(), func(c catalogue.Code) bool { return strings.HasPrefix(c.Code, prefix) }) {
				t.Errorf("no code with the prefix %s is in the catalogue", prefix)
			}
			continue
		}
		if !listed[code] {
			t.Errorf("%s is not in the catalogue", code)
		}
	}
	for code := range listed {
		if !used[code] && !strings.HasPrefix(code, "link_") {
			t.Errorf("%s is in the catalogue, but nowhere in the source", code)
		}
	}
}

var codeShape = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

// collect finds the codes that a file gives to faults and answers.
func collect(file *ast.File, used map[string]bool) {
	note := func(e ast.Expr) {
		suffix := ""
		if sum, is := e.(*ast.BinaryExpr); is {
			e, suffix = sum.X, "*"
		}
		if text, is := e.(*ast.BasicLit); is && text.Kind == token.STRING {
			if code, err := strconv.Unquote(text.Value); err == nil && codeShape.MatchString(strings.TrimSuffix(code, "_")) {
				used[code+suffix] = true
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := fmt.Sprint(n.Fun)
			if selector, is := n.Fun.(*ast.SelectorExpr); is {
				name = fmt.Sprint(selector.X) + "." + selector.Sel.Name
			}
			switch {
			case (name == "fault.New" || name == "New" && file.Name.Name == "fault") && len(n.Args) > 1:
				note(n.Args[1])
			case name == "fault.Retry" && len(n.Args) > 0:
				note(n.Args[0])
			}
		case *ast.CompositeLit:
			of := fmt.Sprint(n.Type)
			if selector, is := n.Type.(*ast.SelectorExpr); is {
				of = selector.Sel.Name
			}
			if of == "Fault" || of == "Answer" {
				for _, element := range n.Elts {
					if member, is := element.(*ast.KeyValueExpr); is && fmt.Sprint(member.Key) == "Code" {
						note(member.Value)
					}
				}
			}
			if n.Type == nil && file.Name.Name == "page" && len(n.Elts) > 1 { // a row of the table of refusals
				note(n.Elts[1])
			}
		}
		return true
	})
}
