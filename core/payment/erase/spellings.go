package erase

import (
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/core/contact"
	"cointill/models"
)

// spellings are how a customer is written: whole names and addresses, which are replaced wherever they
// stand, and first and last names, which are replaced in fields for names and in free texts.
type spellings struct {
	code  string
	whole map[string]string // in small letters, with what replaces them
	names map[string]string
	find  *regexp.Regexp
}

// newSpellings returns the ways in which a customer's row spells the customer.
func newSpellings(c models.Customer) *spellings {
	w := &spellings{code: c.Code, whole: map[string]string{}, names: map[string]string{}}
	w.addName(c.FirstName, c.LastName)
	w.addEmail(c.Email)
	return w
}

// addPayment adds how a payment spells its customer. Names have no spaces.
func (w *spellings) addPayment(p models.Payment) {
	first, last, _ := strings.Cut(p.CustomerName, " ")
	w.addName(first, last)
	w.addEmail(p.CustomerEmail)
}

func (w *spellings) addName(first, last string) {
	if first+" "+last == contact.ErasedName {
		return
	}
	w.find = nil
	w.whole[strings.ToLower(first+" "+last)] = contact.ErasedName
	for name, instead := range map[string]string{first: contact.ErasedFirstName, last: contact.ErasedLastName} {
		if strings.ContainsFunc(name, unicode.IsLetter) { // a number is in every text
			w.names[strings.ToLower(name)] = instead
		}
	}
}

// addEmail adds an address, and its masked form in logs.
func (w *spellings) addEmail(address string) {
	if contact.IsErasedEmail(address) {
		return
	}
	w.find = nil
	for _, form := range []string{address, contact.MaskEmails(address)} {
		w.whole[strings.ToLower(form)] = contact.ErasedEmail(w.code)
	}
}

// replaceCustomer returns a text, or a JSON text, without the customer. free says that it is a text of people
// about the customer, in which first and last names are replaced, too.
func (w *spellings) replaceCustomer(text string, free bool) string {
	if len(w.whole) == 0 || text == "" {
		return text
	}
	if start := strings.TrimLeft(text, " \t\r\n"); strings.HasPrefix(start, "{") || strings.HasPrefix(start, "[") {
		if replaced, err := w.rewriteJSON(text, free); err == nil {
			return replaced
		}
	}
	return w.replaceFields(w.replaceText(text, free))
}

// replaceText replaces whole names and addresses, and in a free text first and last names.
func (w *spellings) replaceText(text string, free bool) string {
	if w.find == nil {
		var forms []string
		for form := range w.whole {
			forms = append(forms, regexp.QuoteMeta(form))
		}
		slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
		w.find = regexp.MustCompile("(?i)" + strings.Join(forms, "|"))
	}
	text = w.find.ReplaceAllStringFunc(text, func(found string) string {
		if instead, known := w.whole[strings.ToLower(found)]; known {
			return instead
		}
		return contact.ErasedName // letters whose small form is another one
	})
	if free {
		text = w.replaceWords(text)
	}
	return text
}

// replaceWords replaces first and last names that stand between characters that no name has.
func (w *spellings) replaceWords(text string) string {
	var out strings.Builder
	for text != "" {
		word := text
		if end := strings.IndexFunc(text, isNoName); end > 0 {
			word = text[:end]
		} else if end == 0 {
			_, size := utf8.DecodeRuneInString(text)
			word = text[:size]
		}
		text = text[len(word):]
		if instead, known := w.names[strings.ToLower(word)]; known {
			word = instead
		}
		out.WriteString(word)
	}
	return out.String()
}

// isNoName reports a character that no name has.
func isNoName(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }

// The fields of requests and answers that hold one name, and those that hold texts of people.
var (
	nameFields = []string{"first_name", "last_name"}
	freeFields = []string{"metadata", "note", "remark"}
)

// nameField is such a field in a JSON text that was cut.
var nameField = regexp.MustCompile(`"(first_name|last_name)"\s*:\s*"([^"]*)"`)

// replaceFields replaces first and last names in the fields of a JSON text that was cut.
func (w *spellings) replaceFields(text string) string {
	return nameField.ReplaceAllStringFunc(text, func(field string) string {
		parts := nameField.FindStringSubmatch(field)
		if instead, known := w.names[strings.ToLower(parts[2])]; known {
			return `"` + parts[1] + `":"` + instead + `"`
		}
		return field
	})
}

// rewriteJSON replaces in the strings of a JSON text. A text without the customer stays as it is, byte
// for byte.
func (w *spellings) rewriteJSON(text string, free bool) (string, error) {
	lenient := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	in := jsontext.NewDecoder(strings.NewReader(text), lenient...)
	var out strings.Builder
	to := jsontext.NewEncoder(&out, lenient...)
	changed, field, freeAt := false, "", -1 // freeAt is the depth of the object with a free field that is read
	for {
		depth := in.StackDepth()
		kind, count := in.StackIndex(depth)
		isName := kind == '{' && count%2 == 0
		token, err := in.ReadToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
		if depth <= freeAt && isName { // its value is over
			freeAt = -1
		}
		if token.Kind() == '"' {
			value := token.String()
			instead := w.replaceText(value, free || freeAt >= 0 || !isName && slices.Contains(freeFields, field))
			if name, known := w.names[strings.ToLower(value)]; known && !isName && slices.Contains(nameFields, field) {
				instead = name
			}
			changed, token = changed || instead != value, jsontext.String(instead)
			if isName {
				field = value
			}
		}
		if freeAt < 0 && !isName && slices.Contains(freeFields, field) {
			freeAt = depth
		}
		if !isName {
			field = ""
		}
		if err := to.WriteToken(token); err != nil {
			return "", err
		}
	}
	if !changed {
		return text, nil
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}
