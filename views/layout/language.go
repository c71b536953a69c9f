package layout

import (
	"context"
	"net/url"

	"cointill/views/words"
)

// LanguageField is the part of an address that chooses the language of a page before sign-in, as
// on the customer's pages.
const LanguageField = "lang"

// languageLink is the way to a page in another language.
type languageLink struct{ lang, href string }

type address struct{}

// WithAddress returns a context in which pages before sign-in offer themselves in other languages;
// address is the page's own path with its query.
func WithAddress(ctx context.Context, own string) context.Context {
	return context.WithValue(ctx, address{}, own)
}

// otherLanguages returns the ways to the page in the other languages; none without its address.
func otherLanguages(ctx context.Context) (links []languageLink) {
	own, _ := ctx.Value(address{}).(string)
	at, err := url.Parse(own)
	if own == "" || err != nil {
		return nil
	}
	for _, lang := range words.DashboardLanguages() {
		if lang == words.LanguageOf(ctx) {
			continue
		}
		query := at.Query()
		query.Set(LanguageField, lang)
		links = append(links, languageLink{lang, "?" + query.Encode()}) // without the path, which may hold a secret
	}
	return links
}
