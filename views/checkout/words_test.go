package checkout

import (
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

func read(t *testing.T, lang string) map[string]string {
	t.Helper()
	words := map[string]string{}
	if _, err := toml.DecodeFS(catalogue, "catalogue/"+lang+".toml", &words); err != nil {
		t.Fatal(err)
	}
	return words
}

var blank = regexp.MustCompile(`{{\.\w+}}`)

func blanks(text string) string {
	found := blank.FindAllString(text, -1)
	sort.Strings(found)
	return strings.Join(found, " ")
}

func TestCatalogueIsComplete(t *testing.T) {
	english := read(t, "en")
	for _, lang := range Languages {
		words := read(t, lang)
		for key, text := range english {
			other, ok := words[key]
			switch {
			case !ok || strings.TrimSpace(other) == "":
				t.Errorf("%s: %s is missing", lang, key)
			case blanks(other) != blanks(text):
				t.Errorf("%s: %s has blanks %q, English has %q", lang, key, blanks(other), blanks(text))
			}
		}
		for key := range words {
			if _, ok := english[key]; !ok {
				t.Errorf("%s: %s is not in English", lang, key)
			}
		}
	}
}

var used = regexp.MustCompile(`(?:\.t|\.say|say)\((?:[\w.]+, )?"(\w+)"`)

// Every message that a page asks for exists, and every message is asked for.
func TestEveryMessageIsUsed(t *testing.T) {
	english := read(t, "en")
	asked := map[string]bool{"language_name": true}
	files, err := filepath.Glob("*.templ")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "checkout.go")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range used.FindAllStringSubmatch(string(text), -1) {
			asked[match[1]] = true
			if _, ok := english[match[1]]; !ok {
				t.Errorf("%s asks for %s, which is not in the catalogue", file, match[1])
			}
		}
	}
	for key := range english {
		if !asked[key] {
			t.Errorf("%s is never asked for", key)
		}
	}
}

func TestLanguage(t *testing.T) {
	for _, c := range []struct{ chosen, accept, want string }{
		{"fr", "sw", "fr"}, {"", "sw-KE,en;q=0.5", "sw"}, {"", "ha", "ha"}, {"xx", "", "en"},
		{"", "zh", "en"}, {"", ";;;", "en"}, {"", "fr-CI", "fr"},
	} {
		if got := Language(c.chosen, c.accept); got != c.want {
			t.Errorf("Language(%q, %q) is %q, want %q", c.chosen, c.accept, got, c.want)
		}
	}
}
