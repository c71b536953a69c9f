package views_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"cointill/views/layout"
	"cointill/views/words"
)

// translatedPages are the pages of the dashboard that are shown in each of its languages.
var translatedPages = []string{"overview", "overview-attention", "payments", "payment", "sends", "send-ready", "statement",
	"settings", "account-full", "sign-in", "error-404", "webhook", "unmatched", "team", "till", "till-network"}

// inLanguage is a page in a language of the dashboard.
func inLanguage(lang string, page templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return page.Render(words.WithLanguage(layout.WithAddress(ctx, "/sign-in?next=%2Fdashboard"), lang), w)
	})
}

// dashboardLanguagePages are main pages of the dashboard in the languages beside English.
func dashboardLanguagePages(english map[string]templ.Component) map[string]templ.Component {
	pages := map[string]templ.Component{}
	for _, lang := range words.DashboardLanguages()[1:] {
		for _, name := range translatedPages {
			if page, found := english[name]; found {
				pages[lang+"-"+name] = inLanguage(lang, page)
			}
		}
	}
	return pages
}

// TestPagesSayTheirLanguage: a page in another language says so, and its menu and headings are in it.
func TestPagesSayTheirLanguage(t *testing.T) {
	pages := book()
	for _, lang := range words.DashboardLanguages()[1:] {
		ctx := words.WithLanguage(t.Context(), lang)
		for _, name := range []string{"overview", "payments", "sends", "statement", "settings", "sign-in"} {
			html := render(t, pages[lang+"-"+name])
			skip := templ.EscapeString(words.T(ctx, "layout.skip"))
			if !strings.Contains(html, `<html lang="`+lang+`"`) || !strings.Contains(html, skip) {
				t.Errorf("%s-%s is not in its language: %.300s", lang, name, html)
			}
			if name == "sign-in" && !strings.Contains(html, `href="?lang=en&amp;next=%2Fdashboard"`) {
				t.Errorf("%s-%s doesn't offer English: %s", lang, name, html)
			}
		}
	}
	if !slices.Contains(words.DashboardLanguages(), "fr") {
		t.Errorf("the languages are %v, French is missing", words.DashboardLanguages())
	}
}
