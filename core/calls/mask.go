package calls

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"cointill/models"
)

// What stands for what is not kept.
const (
	hidden  = "…"
	tooLong = "(more than 8 KiB: not kept)"
)

const (
	maxText = 6000 // characters kept of a body
	maxPath = 500
)

// secretNames are the fields whose values are secrets.
var secretNames = map[string]bool{"secret": true, "access_token": true, "token": true, "password": true, "authorization": true, "key": true, "api_key": true}

// headers is the field of a webhook's own headers, by name: all their values are secrets.
const headers = "headers"

var (
	addresses = regexp.MustCompile(`([^\s"'<>@,:;/?&=]{1,64})@([^\s"'<>@,:;/?&=]+\.[^\s"'<>@,:;/?&=]+)`)
	keys      = regexp.MustCompile(`(sk_(?:test|live)_|whsec_)[\w+/=-]+`)
	pages     = regexp.MustCompile(`/pay/[\w-]{20,}`)
)

// masked is a call as it is stored.
func masked(c Call) models.APICall {
	_, id, _ := strings.Cut(c.Scope.Actor, ":")
	key, _ := strconv.ParseInt(id, 10, 64) // a key's actor is key: and its number
	row := models.APICall{BusinessID: c.Scope.BusinessID, Domain: string(c.Scope.Domain), KeyID: key, Request: c.Origin.Request, Method: c.Method,
		Path: cut(plain(unescaped(c.Path)), maxPath), Status: c.Status, Micros: c.Took.Microseconds(), IP: c.Origin.IP, Agent: cut(c.Origin.Agent, 300),
		Sent: body(c.Body), Answered: body(c.Answer), CreatedAt: c.at}
	var told struct{ Code string }
	if row.Status >= 400 && json.Unmarshal(c.Answer, &told) == nil {
		row.Code = cut(told.Code, 100)
	}
	return row
}

// unescaped is a path as people read it: so that an address in a query is found.
func unescaped(path string) string {
	if text, err := url.PathUnescape(path); err == nil {
		return text
	}
	return path
}

// body is a JSON body without secrets. It is read and written anew, so that no
// way of writing a secret gets around the look for it; what is no JSON is not kept.
func body(raw []byte) string {
	if len(raw) == 0 || string(raw) == tooLong {
		return string(raw)
	}
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
	writer.SetIndent("", "  ")
	if err := writer.Encode(hide(value)); err != nil {
		return "(not kept)"
	}
	return cut(strings.TrimRight(text.String(), "\n"), maxText)
}

// hide takes the secrets out of a JSON value.
func hide(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			own, named := inner.(map[string]any)
			switch field := strings.ToLower(name); {
			case inner == nil:
			case field == headers && named:
				v[name] = emptied(own)
			case field == headers || secretNames[field]:
				v[name] = hidden
			default:
				v[name] = hide(inner)
			}
		}
	case []any:
		for i, inner := range v {
			v[i] = hide(inner)
		}
	case string:
		return plain(v)
	}
	return value
}

// emptied keeps the names of a webhook's headers alone.
func emptied(own map[string]any) map[string]any {
	for name, value := range own {
		if value != nil { // which takes the header away
			own[name] = hidden
		}
	}
	return own
}

// plain is a text without keys, tokens and whole e-mail addresses. Nearly no text
// has any, and a look for a piece of them costs far less than the expressions.
func plain(text string) string {
	if strings.Contains(text, "sk_") || strings.Contains(text, "whsec_") {
		text = keys.ReplaceAllString(text, "$1"+hidden)
	}
	if strings.Contains(text, "/pay/") {
		text = pages.ReplaceAllString(text, "/pay/"+hidden)
	}
	if !strings.Contains(text, "@") {
		return text
	}
	return addresses.ReplaceAllStringFunc(text, func(address string) string {
		name, domain, _ := strings.Cut(address, "@")
		return string([]rune(name)[:1]) + hidden + "@" + domain
	})
}

// cut bounds a text, and takes out what PostgreSQL can't hold.
func cut(text string, most int) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", "?")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + hidden
	}
	return text
}
