package house_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// module is how Cointill's own packages are imported.
const module = "cointill/"

// tree is the repository as the rules see it: parsed, not type-checked, so that
// a package that doesn't compile yet is held against the rules all the same.
type tree struct {
	positions *token.FileSet
	sources   []source          // every .go file, by path
	texts     map[string]string // every text file, by path
}

// source is one Go file.
type source struct {
	path      string
	file      *ast.File
	imports   map[string]string // import path by the name the file uses it by
	generated bool
}

// unread are folders that are not the repository's own text.
var unread = []string{".git", "node_modules", "data", "bin", "tmp", "testdata"}

// load reads every file of the tree.
func load(files fs.FS) (*tree, error) {
	t := &tree{positions: token.NewFileSet(), texts: map[string]string{}}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(unread, entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || !entry.Type().IsRegular():
			return nil
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		if text := string(data); !strings.ContainsRune(text, 0) {
			t.texts[name] = text
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		return t.parse(name, data)
	})
	return t, err
}

func (t *tree) parse(name string, data []byte) error {
	file, err := parser.ParseFile(t.positions, name, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	s := source{path: name, file: file, imports: map[string]string{}, generated: ast.IsGenerated(file)}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		s.imports[importName(spec, imported)] = imported
	}
	t.sources = append(t.sources, s)
	return nil
}

// importName is what a file calls an import: the name it gives, or the last
// element that is no major version.
func importName(spec *ast.ImportSpec, imported string) string {
	if spec.Name != nil && spec.Name.Name != "_" {
		return spec.Name.Name
	}
	last := path.Base(imported)
	if len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
		last = path.Base(path.Dir(imported))
	}
	return last
}

// folder is where the file lies; "." is the root.
func (s source) folder() string { return path.Dir(s.path) }

// test reports whether the file is only ever part of a test.
func (s source) test() bool {
	return strings.HasSuffix(s.path, "_test.go") || testPackage(s.folder()) || within(s.path, "e2e")
}

// testPackage reports whether a folder's package exists for tests, by its name.
func testPackage(folder string) bool {
	return slices.ContainsFunc(strings.Split(folder, "/"), func(part string) bool {
		return len(part) > len("test") && strings.HasSuffix(part, "test")
	})
}

// selects reports which names of an imported package the file uses, and where.
func (s source) selects(imported string, use func(name string, at token.Pos)) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if left, ok := selector.X.(*ast.Ident); ok && s.imports[left.Name] == imported {
			use(selector.Sel.Name, selector.Pos())
		}
		return true
	})
}

// within reports whether name is the folder or lies in it; in "folder/*", it lies in a folder of it.
func within(name, folder string) bool {
	if parent, inner := strings.CutSuffix(folder, "/*"); inner {
		rest, ok := strings.CutPrefix(name, parent+"/")
		return ok && strings.Contains(rest, "/")
	}
	return name == folder || strings.HasPrefix(name, folder+"/")
}

// withinAny reports whether name lies in one of the folders.
func withinAny(name string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return within(name, folder) })
}

// at writes what was found at a place.
func (t *tree) at(pos token.Pos, format string, args ...any) string {
	p := t.positions.Position(pos)
	return fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, fmt.Sprintf(format, args...))
}
