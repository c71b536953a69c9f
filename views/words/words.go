// Package words holds what people read: catalogues of messages with blanks. What
// customers read, on pages and in mails, is there in every language that is
// offered, one file a language (Say, Count); English is the measure, and the
// tests hold every other language to its messages, blanks and forms of plural.
// What merchants read in the dashboard is there in the languages that have its
// files, one file a group of pages (T, N, Parts); the language is the context's, so
// that another one needs no more than its files.
package words

import (
	"embed"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"
)

//go:embed customer/*.toml
var catalogue embed.FS

// Languages are the languages of the catalogue, the default first.
var Languages = []string{"en", "fr", "pt", "sw", "ha", "yo", "ig", "ar"}

var (
	localizers = loadCatalogues()
	customers  = newOffer(Languages)
	members    = newOffer(listDashboard())
)

// loadCatalogues reads the catalogues. They are part of the program, so one that can't be
// read is a fault of the build.
func loadCatalogues() map[string]*i18n.Localizer {
	bundle := i18n.NewBundle(language.English)
	bundle.RegisterUnmarshalFunc("toml", toml.Unmarshal)
	out := map[string]*i18n.Localizer{}
	for _, lang := range Languages {
		if _, err := bundle.LoadMessageFileFS(catalogue, "customer/"+lang+".toml"); err != nil {
			panic("words: " + lang + ": " + err.Error())
		}
		out[lang] = i18n.NewLocalizer(bundle, lang)
	}
	loadDashboard(bundle)
	return out
}

// offer is the languages that a reader can choose from, the default first.
type offer struct {
	languages []string
	matcher   language.Matcher
}

func newOffer(languages []string) offer {
	var tags []language.Tag
	for _, lang := range languages {
		tags = append(tags, language.Make(lang))
	}
	return offer{languages, language.NewMatcher(tags)}
}

// maxAccept is the most bytes that are read from an Accept-Language header.
const maxAccept = 256

// choose returns the chosen language, then the best one of an Accept-Language header, then the
// default.
func (o offer) choose(chosen, accept string) string {
	if slices.Contains(o.languages, chosen) {
		return chosen
	}
	if len(accept) > maxAccept { // the first ones are the most wanted
		accept = accept[:max(0, strings.LastIndexByte(accept[:maxAccept], ','))]
	}
	wanted, _, err := language.ParseAcceptLanguage(accept)
	if err != nil {
		return o.languages[0]
	}
	_, index, confidence := o.matcher.Match(wanted...)
	if confidence == language.No {
		return o.languages[0]
	}
	return o.languages[index]
}

// ChooseLanguage picks the best language of the customers' catalogue: the chosen one, then the
// one of the browser's Accept-Language header, then English.
func ChooseLanguage(chosen, accept string) string { return customers.choose(chosen, accept) }

// Direction is how a language is written: ltr or rtl, as HTML has it.
func Direction(lang string) string {
	if lang == "ar" {
		return "rtl"
	}
	return "ltr"
}

// Say looks a message up; pairs are names and values for its blanks. A
// message that the language lacks is in English, and an unknown message is its name.
func Say(lang, id string, pairs ...string) string {
	return localizeMessage(lang, i18n.LocalizeConfig{MessageID: id, TemplateData: fillBlanks(lang, pairs)})
}

// SayCount looks up a message about n things, in the form of plural that n takes
// in the language. Its blank N is n.
func SayCount(lang, id string, n int) string {
	return localizeMessage(lang, i18n.LocalizeConfig{MessageID: id, PluralCount: n, TemplateData: map[string]int{"N": n}})
}

func localizeMessage(lang string, c i18n.LocalizeConfig) string {
	localizer, ok := localizers[lang]
	if !ok {
		localizer = localizers[Languages[0]]
	}
	text, err := localizer.Localize(&c)
	if err != nil && text == "" {
		return strings.ReplaceAll(c.MessageID, "_", " ")
	}
	return text
}

// The marks around a value whose direction is its own.
const isolate, end = "\u2068", "\u2069"

// fillBlanks returns the values of a message. Where the sentence runs from right to
// left each stands by itself, so that an amount or an address keeps its order.
func fillBlanks(lang string, pairs []string) map[string]string {
	data := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		data[pairs[i]] = pairs[i+1]
		if Direction(lang) == "rtl" {
			data[pairs[i]] = isolate + pairs[i+1] + end
		}
	}
	return data
}

// KeepTogether returns a text that stays on one line, such as a number and its unit.
func KeepTogether(text string) string { return strings.ReplaceAll(text, " ", "\u00a0") }

// FormatMoment writes an absolute time to the minute with its zone: in English with
// the month's name, elsewhere in figures, day first, as all of the languages
// here are used to.
func FormatMoment(lang string, t time.Time) string {
	switch {
	case t.IsZero():
		return "–"
	case lang == Languages[0]:
		return t.Format("2 Jan 2006, 15:04 MST")
	}
	return t.Format("02/01/2006 15:04 MST")
}
