package page

import (
	"strings"
	"time"
	"unicode"

	"cointill/core/clock"
	"cointill/core/contact"
	"cointill/models"
)

// LoadZone returns the time zone of a business; UTC when this machine doesn't know it.
func LoadZone(b models.Business) *time.Location { return clock.LoadZone(b.TimeZone) }

// CleanText makes a text from an address fit for the database and for a sentence
// around it: readable, of a bounded length, without NUL, and without the marks
// that turn the direction of text, which copied text often has unseen.
func CleanText(text string) string {
	const most = 256
	text = strings.Map(func(r rune) rune {
		if r == 0 || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most])
	}
	return strings.TrimSpace(text)
}

// FileSlug is a name as a part of a file's name.
func FileSlug(name string) string {
	var out strings.Builder
	for _, r := range contact.FoldName(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			out.WriteRune(r)
		case out.Len() > 0 && !strings.HasSuffix(out.String(), "-") && r != '\'' && r != '’':
			out.WriteByte('-')
		}
		if out.Len() >= 40 {
			break
		}
	}
	if text := strings.Trim(out.String(), "-"); text != "" {
		return text
	}
	return "business"
}
