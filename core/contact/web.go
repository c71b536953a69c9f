package contact

import (
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"cointill/core/fault"
)

// MaxWebAddress is the length of the longest address of a page, in bytes.
const MaxWebAddress = 2048

// ParseWebAddress reads a full address of a page, beginning with http:// or https://, that shows where
// it leads: with a host, and without user information, spaces or characters that can't be seen.
func ParseWebAddress(text string) (*url.URL, bool) {
	hidden := func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }
	u, err := url.Parse(text)
	if err != nil || len(text) > MaxWebAddress || strings.ContainsFunc(text, hidden) {
		return nil, false
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, false
		}
	}
	return u, (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil
}

// CheckRedirect checks where a customer may be led: nowhere, by https, or to their own machine.
func CheckRedirect(text string) fault.Message {
	u, ok := ParseWebAddress(text)
	if text == "" || ok && (u.Scheme == "https" || u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1") {
		return fault.Message{}
	}
	return fault.NewMessage("Must be a full address beginning with https://, or http://localhost while you develop.")
}
