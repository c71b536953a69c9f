package contact

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// FoldName returns a name as searches compare it: in small letters, without accents and
// other combining marks, with single spaces. “Ọlá  ADÉ” and “ola ade” are one.
func FoldName(name string) string {
	bare := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(name))
	return strings.Join(strings.Fields(bare), " ")
}
