package words

import (
	"context"
	"embed"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nicksnyder/go-i18n/v2/i18n"
)

//go:embed dashboard/*.toml
var dashboard embed.FS

// Part is a piece of a message: text, or the name of a blank.
type Part struct{ Text, Blank string }

// parts are the dashboard's messages by language and id, cut at their blanks
// once: a list says the same words on every row.
var parts = map[string]map[string][]Part{}

// loadDashboard reads the dashboard's catalogues, one file for a group of pages
// and a language: customers.en.toml holds the ids customers.….
func loadDashboard(bundle *i18n.Bundle) {
	files, err := dashboard.ReadDir("dashboard")
	if err != nil {
		panic("words: " + err.Error())
	}
	for _, entry := range files {
		file, err := bundle.LoadMessageFileFS(dashboard, path.Join("dashboard", entry.Name()))
		if err != nil {
			panic("words: " + entry.Name() + ": " + err.Error())
		}
		lang := file.Tag.String()
		if !slices.Contains(Languages, lang) {
			panic("words: " + entry.Name() + " is in a language that customers can't read")
		}
		if parts[lang] == nil {
			parts[lang] = map[string][]Part{}
		}
		for _, m := range file.Messages {
			parts[lang][m.ID] = splitBlanks(m.Other)
		}
	}
}

// listDashboard returns the languages that have files for the dashboard, the default first.
func listDashboard() (languages []string) {
	for _, lang := range Languages {
		if parts[lang] != nil {
			languages = append(languages, lang)
		}
	}
	return languages
}

// DashboardLanguages are the languages of the dashboard, the default first: those that have files.
func DashboardLanguages() []string { return members.languages }

// ChooseDashboardLanguage picks the best language of the dashboard: the chosen one, then the one
// of the browser's Accept-Language header, then English.
func ChooseDashboardLanguage(chosen, accept string) string { return members.choose(chosen, accept) }

// LanguageName is what a language calls itself.
func LanguageName(lang string) string { return Say(lang, "language_name") }

var blankMark = regexp.MustCompile(`{{\.(\w+)}}`)

func splitBlanks(text string) (cut []Part) {
	at := 0
	for _, found := range blankMark.FindAllStringSubmatchIndex(text, -1) {
		if found[0] > at {
			cut = append(cut, Part{Text: text[at:found[0]]})
		}
		cut = append(cut, Part{Blank: text[found[2]:found[3]]})
		at = found[1]
	}
	if at < len(text) {
		cut = append(cut, Part{Text: text[at:]})
	}
	return cut
}

type spoken struct{}

// WithLanguage returns a context in which T, N and Parts speak a language; without it, or with "",
// they speak English.
func WithLanguage(ctx context.Context, lang string) context.Context {
	return context.WithValue(ctx, spoken{}, lang)
}

// HasLanguage reports whether a context has a language.
func HasLanguage(ctx context.Context) bool { return ctx.Value(spoken{}) != nil }

// LanguageOf is the language of a context: English without one.
func LanguageOf(ctx context.Context) string {
	if lang, ok := ctx.Value(spoken{}).(string); ok && lang != "" {
		return lang
	}
	return Languages[0]
}

// T is a message of the dashboard; pairs are names and values for its blanks.
// A message that the language lacks is in English, and an unknown message is its id.
func T(ctx context.Context, id string, pairs ...string) string {
	message := Parts(ctx, id)
	if len(message) == 1 && message[0].Blank == "" {
		return message[0].Text
	}
	return joinParts(message, fillBlanks(LanguageOf(ctx), pairs))
}

// joinParts writes a message with the values of its blanks.
func joinParts(message []Part, values map[string]string) string {
	var text strings.Builder
	for _, part := range message {
		text.WriteString(part.Text)
		text.WriteString(values[part.Blank])
	}
	return text.String()
}

// N is a message of the dashboard about n things, in the form of plural that n
// takes. Its blank N is n, unless pairs say it, for example with separators.
func N(ctx context.Context, id string, n int, pairs ...string) string {
	lang := LanguageOf(ctx)
	data := fillBlanks(lang, append([]string{"N", strconv.Itoa(n)}, pairs...))
	return localizeMessage(lang, i18n.LocalizeConfig{MessageID: id, PluralCount: n, TemplateData: data})
}

// Parts is a message cut at its blanks, for a sentence that has markup inside.
func Parts(ctx context.Context, id string) []Part {
	if message, ok := parts[LanguageOf(ctx)][id]; ok {
		return message
	}
	if message, ok := parts[Languages[0]][id]; ok {
		return message
	}
	return []Part{{Text: id}}
}

// names are the messages with the names of months and weekdays, with spaces between them, by how
// a layout of package time writes them.
var names = []struct{ layout, id string }{
	{"January", "units.months"}, {"Jan", "units.months_short"},
	{"Monday", "units.weekdays"}, {"Mon", "units.weekdays_short"},
}

// FormatTime writes a time as a layout of package time says, with the names of months and weekdays
// in the language of the context.
func FormatTime(ctx context.Context, t time.Time, layout string) string {
	if LanguageOf(ctx) == Languages[0] {
		return t.Format(layout)
	}
	for _, name := range names {
		before, after, found := strings.Cut(layout, name.layout)
		if !found {
			continue
		}
		index := int(t.Month()) - 1
		if strings.HasPrefix(name.layout, "Mon") {
			index = int(t.Weekday()+6) % 7 // weeks begin on Monday
		}
		all := strings.Fields(T(ctx, name.id))
		return FormatTime(ctx, t, before) + all[index] + FormatTime(ctx, t, after)
	}
	return t.Format(layout)
}

// FormatThousands writes a whole number with the language's separators, for example 1,203,442.
func FormatThousands(ctx context.Context, n int64) string {
	text, separator := strconv.FormatInt(n, 10), strings.Trim(T(ctx, "units.thousand"), "01")
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + separator + text[i:]
	}
	return text
}
