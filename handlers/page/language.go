package page

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cointill/views/layout"
	"cointill/views/words"
)

// languageCookie is the cookie that remembers the language of a browser. It holds the language's
// code and nothing else.
const languageCookie = "language"

// aYear is how long a browser remembers a choice, in seconds.
const aYear = 365 * 24 * 60 * 60

// ReadLanguage returns the language of the dashboard that a request's cookie names, otherwise the
// best one for its browser.
func ReadLanguage(c *fiber.Ctx) string {
	return words.ChooseDashboardLanguage(c.Cookies(languageCookie), c.Get(fiber.HeaderAcceptLanguage))
}

// SpeakToBrowser makes the language that the request's browser asks for the page's.
func SpeakToBrowser(c *Ctx) { c.setLanguage(ReadLanguage(c.Ctx)) }

// SpeakToVisitor makes the language that the address chooses the page's, and lets the browser
// remember it. The page then offers the other languages.
func SpeakToVisitor(c *Ctx) {
	if lang := c.Query(layout.LanguageField); slices.Contains(words.DashboardLanguages(), lang) {
		c.RememberLanguage(lang)
		c.setLanguage(lang)
	}
	own := url.URL{Path: c.Path()}
	if next := DashboardPath(c.Query("next")); next != "" { // nothing else of the address is kept
		own.RawQuery = url.Values{"next": {next}}.Encode()
	}
	c.SetUserContext(layout.WithAddress(c.UserContext(), own.String()))
}

// SpeakToMember makes the language that the member has chosen the page's.
func SpeakToMember(c *Ctx) {
	if lang := c.Member.User.Language; slices.Contains(words.DashboardLanguages(), lang) {
		c.setLanguage(lang)
	}
}

func (c *Ctx) setLanguage(lang string) { c.SetUserContext(words.WithLanguage(c.UserContext(), lang)) }

// RememberLanguage lets the browser remember a language for the pages before sign-in.
func (c *Ctx) RememberLanguage(lang string) { c.RememberChoice(languageCookie, lang, "/") }

// RememberChoice lets the browser remember a choice for a year, on pages below a path. Nothing is granted by it.
func (c *Ctx) RememberChoice(name, value, path string) {
	cookie := http.Cookie{Name: name, Value: value, Path: path, MaxAge: aYear, HttpOnly: true,
		Secure: strings.HasPrefix(c.BaseURL, "https:"), SameSite: http.SameSiteLaxMode}
	c.Response().Header.Add(fiber.HeaderSetCookie, cookie.String())
}

// ErrorContext returns the context of an error page, in the language of the page that failed,
// otherwise in the browser's.
func ErrorContext(c *fiber.Ctx) context.Context {
	ctx := context.WithoutCancel(c.UserContext()) // its deadline may be over
	if words.HasLanguage(ctx) {
		return ctx
	}
	return words.WithLanguage(ctx, ReadLanguage(c))
}
