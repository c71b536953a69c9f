package views_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pageOf finds a templ function that is a whole page: it stands in a shell.
var pageOf = regexp.MustCompile(`(?m)^templ ([A-Z]\w*)\([^)]*\) \{\n(?:\t.*\n)*?\t@layout\.(?:App|Auth|Paper|Docs|Customer)\(`)

// TestBookIsWhole: every page has a sample in the book, which is what browsers
// look at in light and dark, at both widths, and by the keyboard.
func TestBookIsWhole(t *testing.T) {
	var samples strings.Builder
	tests, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range tests {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		samples.Write(text)
	}
	files, err := filepath.Glob("*/*.templ")
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range pageOf.FindAllStringSubmatch(string(text), -1) {
			pages++
			if name := filepath.Base(filepath.Dir(file)) + "." + found[1]; !strings.Contains(samples.String(), name+"(") {
				t.Errorf("%s has no sample in the book", name)
			}
		}
	}
	if pages < 50 {
		t.Errorf("only %d pages were found", pages)
	}
}
