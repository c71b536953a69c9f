package settings

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestActionsHaveWords: each action that the core records by its name has words in the audit log.
func TestActionsHaveWords(t *testing.T) {
	const core = "../../../core"
	recorded := regexp.MustCompile(`audit\.(?:Record\([^"\n]*|AppendAct\([^"]*Action: )"(\w+\.\w+)"`)
	n := 0
	err := filepath.WalkDir(core, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range recorded.FindAllStringSubmatch(string(text), -1) {
			n++
			if actionWords[found[1]] == "" {
				t.Errorf("%s records %s, which has no words", path, found[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 40 {
		t.Errorf("%d actions were found in the core, want at least 40", n)
	}
}
