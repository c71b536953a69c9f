// Package metadata holds the bounds of the JSON that a business attaches to a payment or a send, and
// that is returned as given.
package metadata

import (
	"bytes"
	"encoding/json"
	"strings"

	"cointill/core/fault"
)

// The bounds of the contract's Initiation rules.
const (
	MaxSize  = 8 << 10 // bytes
	maxDepth = 16
)

// Check returns the fault of metadata as it was given; zero when it is valid.
func Check(text []byte) fault.Message {
	if text == nil {
		return fault.Message{}
	}
	if len(text) > MaxSize {
		return fault.NewMessage("Must not be longer than 8 KiB.")
	}
	if trimmed := strings.TrimLeft(string(text), " \t\r\n"); !strings.HasPrefix(trimmed, "{") &&
		!strings.HasPrefix(trimmed, "[") {
		return fault.NewMessage("Must be an object or an array.")
	}
	if !json.Valid(text) {
		return fault.NewMessage("Must be valid JSON.")
	}
	switch depth, nul := scanJSON(text); {
	case depth > maxDepth:
		return fault.NewMessage("Must not be nested deeper than 16 levels.")
	case nul:
		return fault.NewMessage("Must not contain the NUL character.")
	}
	return fault.Message{}
}

// scanJSON is how deep valid JSON is nested, and whether a string in it holds an
// escaped NUL; an escaped backslash before u0000 makes none.
func scanJSON(text []byte) (deepest int, nul bool) {
	depth, inString, escaped := 0, false, false
	for i, c := range text {
		switch {
		case escaped:
			escaped = false
			nul = nul || bytes.HasPrefix(text[i:], []byte("u0000"))
		case c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest, nul
}
