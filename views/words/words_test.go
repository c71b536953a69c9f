package words_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"

	"cointill/views/words"
)

// message is a text, or its forms of plural.
type message struct {
	text  string
	forms map[string]string
}

func read(t *testing.T, lang string) map[string]message {
	t.Helper()
	var raw map[string]any
	if _, err := toml.DecodeFile("customer/"+lang+".toml", &raw); err != nil {
		t.Fatal(err)
	}
	out := map[string]message{}
	for key, value := range raw {
		switch v := value.(type) {
		case string:
			out[key] = message{text: v}
		case map[string]any:
			m := message{forms: map[string]string{}}
			for form, text := range v {
				m.forms[form], _ = text.(string)
			}
			out[key] = m
		default:
			t.Errorf("%s: %s is no text", lang, key)
		}
	}
	return out
}

var blank = regexp.MustCompile(`{{\.\w+}}`)

func fillBlanks(text string) string {
	found := blank.FindAllString(text, -1)
	slices.Sort(found)
	return strings.Join(slices.Compact(found), " ")
}

// forms are the forms of plural that a language has, as the library picks them.
func forms(t *testing.T, lang string) []string {
	t.Helper()
	return formsUpTo(t, lang, 2000)
}

// formsUpTo are the forms of the numbers up to most; those above 1,000 stand for millions.
func formsUpTo(t *testing.T, lang string, most int) []string {
	t.Helper()
	tag := language.Make(lang)
	bundle := i18n.NewBundle(tag)
	bundle.MustAddMessages(tag, &i18n.Message{ID: "x", Zero: "zero", One: "one", Two: "two", Few: "few", Many: "many", Other: "other"})
	localizer := i18n.NewLocalizer(bundle, lang)
	seen := []string{}
	for n := range most + 1 {
		if n > 1000 {
			n = (n - 1000) * 1_000_000
		}
		form, err := localizer.Localize(&i18n.LocalizeConfig{MessageID: "x", PluralCount: n})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(seen, form) {
			seen = append(seen, form)
		}
	}
	slices.Sort(seen)
	return seen
}

// TestCatalogues holds each language to the messages of English: none missing
// or left over, the same blanks, and exactly the forms of plural that it has.
func TestCatalogues(t *testing.T) {
	files, err := filepath.Glob("customer/*.toml")
	if err != nil || len(files) != len(words.Languages) {
		t.Errorf("%d catalogues for %d languages, %v", len(files), len(words.Languages), err)
	}
	english := read(t, "en")
	for _, lang := range words.Languages {
		own, plural := read(t, lang), forms(t, lang)
		for key, measure := range english {
			m, ok := own[key]
			if !ok {
				t.Errorf("%s: %s is missing", lang, key)
				continue
			}
			if (m.forms == nil) != (measure.forms == nil) {
				t.Errorf("%s: %s is counted in one language and not in the other", lang, key)
			} else if m.forms == nil {
				compare(t, lang+": "+key, m.text, measure.text)
			} else {
				counted(t, lang+": "+key, m, measure, plural)
			}
		}
		for key := range own {
			if _, ok := english[key]; !ok {
				t.Errorf("%s: %s is not in English", lang, key)
			}
		}
	}
}

func compare(t *testing.T, what, text, measure string) {
	t.Helper()
	if strings.TrimSpace(text) == "" || text != strings.TrimSpace(text) {
		t.Errorf("%s is empty, or has space around it", what)
	}
	if fillBlanks(text) != fillBlanks(measure) {
		t.Errorf("%s has blanks %q, English has %q", what, fillBlanks(text), fillBlanks(measure))
	}
}

// counted: one and two of a thing may be said without the number.
func counted(t *testing.T, what string, m, measure message, plural []string) {
	t.Helper()
	var own []string
	for form, text := range m.forms {
		own = append(own, form)
		if form == "one" || form == "two" {
			compare(t, what+" "+form, strings.ReplaceAll(text, "{{.N}}", ""), "")
		} else {
			compare(t, what+" "+form, text, measure.forms["other"])
		}
	}
	slices.Sort(own)
	if !slices.Equal(own, plural) {
		t.Errorf("%s has the forms %v, the language has %v", what, own, plural)
	}
}

var asks = regexp.MustCompile(`(?:\.t|words\.Say|words\.SayCount|\.count)\((?:[\w.]+, )?"(\w+)"`)

// TestEveryMessageIsAskedFor: what pages and mails ask for exists, and nothing is left over.
func TestEveryMessageIsAskedFor(t *testing.T) {
	english, asked := read(t, "en"), map[string]bool{}
	for _, folder := range []string{"../checkout", "../mail", "../dashboard", "../../handlers/checkout"} {
		files, err := filepath.Glob(folder + "/*.*")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_templ.go") || strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range asks.FindAllStringSubmatch(string(text), -1) {
				asked[found[1]] = true
				if _, ok := english[found[1]]; !ok {
					t.Errorf("%s asks for %s, which is in no catalogue", file, found[1])
				}
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
		{"", "zh", "en"}, {"", ";;;", "en"}, {"", "fr-CI", "fr"}, {"", "ar-EG", "ar"}, {"", "pt-BR,en;q=0.2", "pt"},
		{"", "yo-NG", "yo"}, {"", "ig", "ig"}, {"en", "ar", "en"}, {"", "pcm,ig;q=0.5", "ig"},
	} {
		if got := words.ChooseLanguage(c.chosen, c.accept); got != c.want {
			t.Errorf("Language(%q, %q) is %q, want %q", c.chosen, c.accept, got, c.want)
		}
	}
}

// TestCount: a number takes the form that its language wants.
func TestCount(t *testing.T) {
	for _, c := range []struct {
		lang string
		n    int
		want string
	}{
		{"en", 1, "Expected in about a minute"}, {"en", 2, "Expected in about 2 minutes"}, {"fr", 1, "Prévu dans une minute environ"},
		{"ar", 1, "متوقع خلال دقيقة واحدة تقريبًا"}, {"ar", 2, "متوقع خلال دقيقتين تقريبًا"}, {"ar", 5, "متوقع خلال 5 دقائق تقريبًا"}, {"ar", 20, "متوقع خلال 20 دقيقة تقريبًا"},
		{"yo", 1, "A ń retí rẹ̀ ní nǹkan bíi ìṣẹ́jú 1"}, {"xx", 3, "Expected in about 3 minutes"},
	} {
		if got := words.SayCount(c.lang, "wait_minutes", c.n); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.lang, strconv.Itoa(c.n), got, c.want)
		}
	}
}

// TestSay: values keep their own direction inside a sentence from right to left.
func TestSay(t *testing.T) {
	for lang, want := range map[string]string{"en": "Pay ₦5", "ar": "الدفع إلى \u2068₦5\u2069", "xx": "Pay ₦5"} {
		if got := words.Say(lang, "pay_to", "Merchant", "₦5"); got != want {
			t.Errorf("%s: %q, want %q", lang, got, want)
		}
	}
	if got := words.Say("fr", "never_written"); got != "never written" {
		t.Errorf(`words.Say("fr", "never_written"): got = %v`, got)
	}
}

func TestMoment(t *testing.T) {
	at := time.Date(2026, 11, 3, 13, 7, 0, 0, time.UTC)
	for lang, want := range map[string]string{"en": "3 Nov 2026, 13:07 UTC", "ar": "03/11/2026 13:07 UTC", "yo": "03/11/2026 13:07 UTC"} {
		if got := words.FormatMoment(lang, at); got != want {
			t.Errorf("%s: %s, want %s", lang, got, want)
		}
	}
	if got := words.FormatMoment("en", time.Time{}); got != "–" {
		t.Errorf(`words.Moment("en", time.Time{}): got = %v`, got)
	}
}

// TestTestDataIsMarkedInEachLanguage checks that the pages and the receipts of test payments aren't marked in English.
func TestTestDataIsMarkedInEachLanguage(t *testing.T) {
	for _, lang := range words.Languages {
		for _, id := range []string{"test_data", "receipt_test"} {
			if got := words.Say(lang, id); (lang == "en") != strings.HasPrefix(got, "TEST DATA") {
				t.Errorf("%s: %s is %q", lang, id, got)
			}
		}
	}
}
