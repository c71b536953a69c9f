package apilog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"cointill/core/contact"
	"cointill/models"
)

// The texts in place of data that is not kept.
const (
	hidden  = "…"
	tooLong = "(more than 8 KiB: not kept)"
)

const (
	maxText = 6000 // characters kept of a body
	maxPath = 500
)

// secretNames are the fields whose values are secrets.
var secretNames = map[string]bool{"secret": true, "access_token": true, "token": true, "password": true,
	"authorization": true, "key": true, "api_key": true}

// headers is the field of a webhook's own headers, by name: all their values are secrets.
const headers = "headers"

var (
	keys  = regexp.MustCompile(`(sk_(?:test|live)_|whsec_)[\w+/=-]+`)
	pages = regexp.MustCompile(`/pay/[\w-]{20,}`)
)

// maskCall returns a call as it is stored.
func maskCall(c Call) models.APICall {
	_, id, _ := strings.Cut(c.Scope.Actor, ":")
	key, _ := strconv.ParseInt(id, 10, 64) // a key's actor is key: and its number
	row := models.APICall{BusinessID: c.Scope.BusinessID, Domain: string(c.Scope.Domain), KeyID: key,
		Request: c.Origin.Request, Method: c.Method,
		Path: boundText(maskText(unescapePath(c.Path)), maxPath), Status: c.Status, Micros: c.Took.Microseconds(),
		IP:    c.Origin.IP,
		Agent: boundText(c.Origin.Agent, 300),
		Sent:  maskBody(c.Body), Answered: maskBody(c.Answer), CreatedAt: c.at}
	var told struct{ Code string }
	if row.Status >= 400 && json.Unmarshal(c.Answer, &told) == nil {
		row.Code = boundText(told.Code, 100)
	}
	return row
}

// unescapePath returns a path as people read it: so that an address in a query is found.
func unescapePath(path string) string {
	if text, err := url.PathUnescape(path); err == nil {
		return text
	}
	return path
}

// maskBody returns a JSON body without secrets; a body that is not JSON is not kept.
func maskBody(raw []byte) string {
	if len(raw) == 0 || string(raw) == tooLong {
		return string(raw)
	}
	if text, ok := maskQuickly(raw); ok {
		return boundText(text, maxText)
	}
	return boundText(reencodeBody(raw), maxText)
}

// maskQuickly removes secrets from nearly every body, for far less than decoding and
// encoding costs. It is not ok for a body that must be decoded: a backslash may
// hide the content of a text, and a secret may be an object. Without a backslash,
// every second quotation mark ends a string.
func maskQuickly(raw []byte) (text string, ok bool) {
	if bytes.IndexByte(raw, '\\') >= 0 || !json.Valid(raw) {
		return "", false
	}
	text = string(raw)
	var out strings.Builder
	done := 0 // so much of text is in out
	put := func(begin, end int, instead string) {
		out.WriteString(text[done:begin])
		out.WriteString(instead)
		done = end
	}
	suspect := mayHoldSecret(text)
	for begin, end := findString(text, 0); begin > 0; begin, end = findString(text, end+1) {
		inner, after := text[begin:end], strings.TrimLeft(text[end+1:], space)
		if strings.HasPrefix(after, ":") && secretName(inner) {
			if after = strings.TrimLeft(after[1:], space); !strings.HasPrefix(after, `"`) ||
				strings.EqualFold(inner, headers) {
				return "", false
			}
			begin, end = findString(text, end+1)
			put(begin, end, hidden)
		} else if suspect {
			if open := maskText(inner); open != inner {
				put(begin, end, open)
			}
		}
	}
	return out.String() + text[done:], true
}

const space = " \t\r\n" // between the tokens of JSON

// findString finds where the next string of a JSON text without backslashes begins and
// ends, without its quotation marks; 0 after the last.
func findString(text string, from int) (begin, end int) {
	begin = strings.IndexByte(text[from:], '"') + 1
	if begin == 0 {
		return 0, 0
	}
	begin += from
	return begin, begin + strings.IndexByte(text[begin:], '"')
}

// secretName reports whether what a field of the name holds is not kept.
func secretName(field string) bool {
	field = strings.ToLower(field)
	return field == headers || secretNames[field]
}

// reencodeBody decodes and encodes a JSON body without its secrets, so that no spelling
// of a secret escapes the search for it.
func reencodeBody(raw []byte) string {
	reader := json.NewDecoder(bytes.NewReader(raw))
	reader.UseNumber()
	var value any
	if err := reader.Decode(&value); err != nil {
		return fmt.Sprintf("(no JSON: %d bytes, not kept)", len(raw))
	}
	if _, err := reader.Token(); err != io.EOF {
		return fmt.Sprintf("(more than one JSON value: %d bytes, not kept)", len(raw))
	}
	var text bytes.Buffer
	writer := json.NewEncoder(&text)
	writer.SetEscapeHTML(false)
	if err := writer.Encode(hideSecrets(value)); err != nil {
		return "(not kept)"
	}
	return strings.TrimRight(text.String(), "\n")
}

// hideSecrets takes the secrets out of a JSON value.
func hideSecrets(value any) any {
	switch v := value.(type) {
	case map[string]any:
		left := make(map[string]any, len(v))
		for name, inner := range v {
			own, named := inner.(map[string]any)
			switch field := strings.ToLower(name); {
			case inner != nil && field == headers && named:
				inner = keepNames(own)
			case inner != nil && secretName(field):
				inner = hidden
			default:
				inner = hideSecrets(inner)
			}
			left[maskText(name)] = inner
		}
		return left
	case []any:
		for i, inner := range v {
			v[i] = hideSecrets(inner)
		}
	case string:
		return maskText(v)
	}
	return value
}

// keepNames keeps the names of a webhook's headers alone.
func keepNames(own map[string]any) map[string]any {
	for name, value := range own {
		if value != nil { // which takes the header away
			own[name] = hidden
		}
	}
	return own
}

// mayHoldSecret reports whether a text may hold what plain takes out.
func mayHoldSecret(text string) bool {
	return strings.IndexByte(text, '@') >= 0 || strings.Contains(text, "sk_") || strings.Contains(text, "whsec_") ||
		strings.Contains(text, "/pay/")
}

// maskText returns a text without keys, tokens and whole e-mail addresses. Nearly no text
// has any, and a look for a piece of them costs far less than the expressions.
func maskText(text string) string {
	if !mayHoldSecret(text) {
		return text
	}
	if strings.Contains(text, "sk_") || strings.Contains(text, "whsec_") {
		text = keys.ReplaceAllString(text, "$1"+hidden)
	}
	if strings.Contains(text, "/pay/") {
		text = pages.ReplaceAllString(text, "/pay/"+hidden)
	}
	return contact.MaskEmails(text)
}

// boundText bounds a text, and takes out what PostgreSQL can't hold.
func boundText(text string, most int) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", "?")
	if len(text) <= most { // bytes: as many characters at most
		return text
	}
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + hidden
	}
	return text
}
