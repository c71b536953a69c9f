package sends

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// fieldCode is a code of chain.Difference in the adapters' signing packages.
var fieldCode = regexp.MustCompile(`(?m)^\tField[A-Za-z]+ +(?:Field )?= "([a-z_]+)"`)

// TestEveryFieldHasWords: no code of a field stands on the page.
func TestEveryFieldHasWords(t *testing.T) {
	files, err := filepath.Glob("../../../chain/*/signing/*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range fieldCode.FindAllStringSubmatch(string(text), -1) {
			found[match[1]] = true
			if fieldWords[match[1]] == "" {
				t.Errorf("%s: the field %s has no words", file, match[1])
			}
		}
	}
	for field := range fieldWords {
		if !found[field] {
			t.Errorf("no adapter has the field %s", field)
		}
	}
}
