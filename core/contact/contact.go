// Package contact holds the rules for how people and things may be called: the
// e-mail addresses, customer names and labels that reach the database, pages
// and mails. Each rule answers with a sentence to show beside the field, or
// the zero message when the text is fine, so that a caller can report all fields at once.
package contact

import (
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"cointill/core/fault"
)

// Bounds of the rules, in characters.
const (
	maxEmail = 254
	maxLocal = 64
	maxLabel = 63
	MaxName  = 100
)

var notEmail = fault.NewMessage("Must be a plain e-mail address such as ada@example.com.")

// CheckEmail checks an ASCII addr-spec with a dotted domain: no display name, no
// quoted local part, no comment, no address literal, at most 254 characters. The addresses of erased customers
// are refused: nothing reaches them.
func CheckEmail(text string) fault.Message {
	if text == "" {
		return fault.NewMessage("Is required.")
	}
	if len(text) > maxEmail {
		return fault.NewMessage("May have at most 254 characters.")
	}
	local, domain, found := strings.Cut(text, "@")
	if !found || len(local) > maxLocal || !isDotted(local, isAtom) || !isHost(domain) ||
		IsErasedEmail(strings.ToLower(text)) {
		return notEmail
	}
	// The standard library must read the same address, as the mailer will.
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Name != "" || parsed.Address != text {
		return notEmail
	}
	return fault.Message{}
}

// isHost reports whether the domain is made of at least two labels, the last not a number.
func isHost(domain string) bool {
	labels := strings.Split(domain, ".")
	for _, label := range labels {
		if len(label) == 0 || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		if strings.ContainsFunc(label, func(r rune) bool { return !isAlphanumeric(r) && r != '-' }) {
			return false
		}
	}
	last := labels[len(labels)-1]
	return len(labels) >= 2 && strings.ContainsFunc(last, func(r rune) bool { return r < '0' || r > '9' })
}

// isDotted reports whether the text is one or more non-empty runs of allowed characters between dots.
func isDotted(text string, allowed func(rune) bool) bool {
	for part := range strings.SplitSeq(text, ".") {
		if part == "" || strings.ContainsFunc(part, func(r rune) bool { return !allowed(r) }) {
			return false
		}
	}
	return true
}

// isAtom reports a character of RFC 5322's atext.
func isAtom(r rune) bool { return isAlphanumeric(r) || strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r) }

func isAlphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// CheckName checks a customer's first or last name: letters of any script, each with
// its combining marks, and digits; nothing else; 1–100 characters.
func CheckName(text string) fault.Message {
	if text == "" {
		return fault.NewMessage("Is required.")
	}
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > MaxName {
		return fault.NewMessage("Must have 1 to 100 characters.")
	}
	letter := false // a mark needs something that it combines with
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r): // letters that show nothing
			return fault.NewMessage("May hold letters and digits only.")
		case unicode.IsLetter(r):
			letter = true
		case unicode.IsDigit(r):
			letter = false
		case unicode.IsMark(r) && letter:
		default:
			return fault.NewMessage("May hold letters and digits only.")
		}
	}
	return fault.Message{}
}

// CheckLabel checks the name that a user gives to a business, a person, a key or
// a link: 1–100 visible characters and single spaces, nothing that changes how
// the text around it reads.
func CheckLabel(text string) fault.Message {
	if strings.TrimSpace(text) == "" {
		return fault.NewMessage("Is required.")
	}
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > MaxName {
		return fault.NewMessage("Must have 1 to 100 characters.")
	}
	if strings.TrimSpace(text) != text {
		return fault.NewMessage("May not begin or end with a space.")
	}
	visible := false
	for _, r := range text {
		// Graphic leaves out controls, line ends and the characters that turn
		// the direction of text; of the spaces only the plain one is let in.
		if !unicode.IsGraphic(r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || r != ' ' &&
			unicode.IsSpace(r) {
			return fault.NewMessage("May not hold invisible or control characters.")
		}
		visible = visible || r != ' ' && r != blank && !unicode.IsMark(r)
	}
	if !visible {
		return fault.NewMessage("Must hold something that can be seen.")
	}
	return fault.Message{}
}

// blank is the Braille pattern without dots: the space of Braille, and a symbol
// to everything else.
const blank = '\u2800'

// CheckLines checks a text of several lines that is shown as it is, of at most `most`
// characters long; it may be empty. It may hold tabs, and the joiners that
// scripts and emoji need, but nothing else that is unseen.
func CheckLines(text string, most int) fault.Message {
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > most {
		return fault.NewMessage("May have at most %d characters.", most)
	}
	if strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsGraphic(r) &&
			!strings.ContainsRune("\n\r\t\u200c\u200d", r)
	}) {
		return fault.NewMessage("May not hold invisible or control characters.")
	}
	return fault.Message{}
}
