// Package checkout holds the customer's pages: the payment page with its live
// status, and the page of a payment link. Their words come from a catalogue of
// messages in several languages.
package checkout

import (
	"embed"
	"io/fs"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"
)

//go:embed catalogue/*.toml
var catalogue embed.FS

// Languages are the languages of the catalogue, the default first.
var Languages = []string{"en", "fr", "sw", "ha"}

var (
	bundle     = loadCatalogue()
	localizers = makeLocalizers()
	matcher    = makeMatcher()
)

func loadCatalogue() *i18n.Bundle {
	b := i18n.NewBundle(language.English)
	b.RegisterUnmarshalFunc("toml", toml.Unmarshal)
	names, err := fs.Glob(catalogue, "catalogue/*.toml")
	if err != nil {
		panic("checkout: " + err.Error())
	}
	for _, name := range names {
		if _, err := b.LoadMessageFileFS(catalogue, name); err != nil {
			panic("checkout: " + name + ": " + err.Error())
		}
	}
	return b
}

func makeLocalizers() map[string]*i18n.Localizer {
	out := map[string]*i18n.Localizer{}
	for _, lang := range Languages {
		out[lang] = i18n.NewLocalizer(bundle, lang)
	}
	return out
}

func makeMatcher() language.Matcher {
	var tags []language.Tag
	for _, lang := range Languages {
		tags = append(tags, language.Make(lang))
	}
	return language.NewMatcher(tags)
}

// Language picks the best language of the catalogue: what was chosen, then
// what the browser's Accept-Language header asks for, then English.
func Language(chosen, accept string) string {
	if _, ok := localizers[chosen]; ok {
		return chosen
	}
	wanted, _, err := language.ParseAcceptLanguage(accept)
	if err != nil {
		return Languages[0]
	}
	_, index, confidence := matcher.Match(wanted...)
	if confidence == language.No {
		return Languages[0]
	}
	return Languages[index]
}

// say looks a message up; pairs are names and values for its blanks. A message
// that is missing in a language comes in English.
func say(lang, id string, pairs ...string) string {
	localizer, ok := localizers[lang]
	if !ok {
		localizer = localizers[Languages[0]]
	}
	data := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		data[pairs[i]] = pairs[i+1]
	}
	text, err := localizer.Localize(&i18n.LocalizeConfig{MessageID: id, TemplateData: data})
	if err != nil && text == "" {
		return strings.ReplaceAll(id, "_", " ")
	}
	return text
}
