package words

import (
	"context"
	"embed"
	"path"
	"regexp"
	"strconv"
	"strings"

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
		if parts[lang] == nil {
			parts[lang] = map[string][]Part{}
		}
		for _, m := range file.Messages {
			parts[lang][m.ID] = splitBlanks(m.Other)
		}
	}
}

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

// WithLanguage returns a context in which T, N and Parts speak a language; without it they
// speak English.
func WithLanguage(ctx context.Context, lang string) context.Context {
	return context.WithValue(ctx, spoken{}, lang)
}

func languageOf(ctx context.Context) string {
	if lang, ok := ctx.Value(spoken{}).(string); ok {
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
	values := fillBlanks(languageOf(ctx), pairs)
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
	lang := languageOf(ctx)
	data := fillBlanks(lang, append([]string{"N", strconv.Itoa(n)}, pairs...))
	return localizeMessage(lang, i18n.LocalizeConfig{MessageID: id, PluralCount: n, TemplateData: data})
}

// Parts is a message cut at its blanks, for a sentence that has markup inside.
func Parts(ctx context.Context, id string) []Part {
	if message, ok := parts[languageOf(ctx)][id]; ok {
		return message
	}
	if message, ok := parts[Languages[0]][id]; ok {
		return message
	}
	return []Part{{Text: id}}
}
