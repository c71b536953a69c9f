package words_test

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// TestViaIsTranslated checks that French has each of our own texts about the way in which money came, and no other: the
// constants UnknownVia and via… of the adapters and of the core.
func TestViaIsTranslated(t *testing.T) {
	var texts []string
	read := func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := goparser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 &&
				(spec.Names[0].Name == "UnknownVia" || strings.HasPrefix(spec.Names[0].Name, "via")) {
				if value, ok := spec.Values[0].(*ast.BasicLit); ok && value.Kind == token.STRING {
					text, _ := strconv.Unquote(value.Value)
					texts = append(texts, text)
				}
			}
			return true
		})
		return nil
	}
	for _, root := range []string{"../../chain", "../../core"} {
		if err := filepath.WalkDir(root, read); err != nil {
			t.Fatal(err)
		}
	}
	var french struct{ Via map[string]string }
	if _, err := toml.DecodeFile("errors/fr.toml", &french); err != nil {
		t.Fatal(err)
	}
	slices.Sort(texts)
	if got := slices.Sorted(maps.Keys(french.Via)); len(texts) < 4 || !slices.Equal(got, texts) {
		t.Errorf("French has the ways %q, want those of the code: %q", got, texts)
	}
}
