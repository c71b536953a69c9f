package ui

import (
	"context"
	"strings"

	"cointill/views/words"
)

// word is what a browser's name says when it holds a mark; the first one counts.
type word struct{ mark, text string }

var browsers = []word{
	{"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser", "Samsung Internet"}, {"Firefox/", "Firefox"},
	{"FxiOS", "Firefox"},
	{"CriOS", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"curl/", "curl"},
}

var systems = []word{
	{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"CrOS", "ChromeOS"},
	{"Mac OS X", "macOS"}, {"Linux", "Linux"},
}

// BrowserName returns the usual name of a browser, from its User-Agent header.
func BrowserName(ctx context.Context, agent string) string {
	browser, system := matchWord(browsers, agent), matchWord(systems, agent)
	switch {
	case browser == "" && system == "":
		return words.T(ctx, "ui.unknown_browser")
	case browser == "":
		return words.T(ctx, "ui.some_browser_on", "System", system)
	case system == "":
		return browser
	}
	return words.T(ctx, "ui.browser_on", "Browser", browser, "System", system)
}

func matchWord(list []word, agent string) string {
	for _, w := range list {
		if strings.Contains(agent, w.mark) {
			return w.text
		}
	}
	return ""
}
