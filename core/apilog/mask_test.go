package apilog

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzBody (AP-26) looks for secrets in what is kept of any body.
//
//fuzz:inputs 5000
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{"secret":"x","email":"ada@example.com","headers":{"X-Auth":"y"},"a":[{"Token" : "z"},"sk_test_ABC"]}`,
		`{"secret":{"a":"b"},"key":null,"password":1,"n":"\u0061da@example.com"}`, `["secret",":","x"]`, `"secret"`, `{"a":"secret","b":"c"}`, "{\"secret\"\n:\t\"x\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var value any
		if text := maskBody(raw); json.Unmarshal([]byte(text), &value) == nil {
			if found := secretIn(value); found != "" {
				t.Errorf("%q is kept of %q: %s", found, raw, text)
			}
		}
	})
}

// secretIn is something that should not have been kept, "" when there is nothing.
func secretIn(value any) string {
	switch v := value.(type) {
	case string:
		if v != maskText(v) {
			return v
		}
	case []any:
		for _, inner := range v {
			if found := secretIn(inner); found != "" {
				return found
			}
		}
	case map[string]any:
		for name, inner := range v {
			if secretNames[strings.ToLower(name)] && inner != hidden && inner != nil {
				return name
			}
			if found := secretIn(name) + secretIn(inner); found != "" {
				return found
			}
		}
	}
	return ""
}
