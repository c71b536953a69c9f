package body

import (
	"strings"
	"testing"
)

// TestUnreadableBodySaysWhy: each cause has its sentence, the first that stands in the body decides, and nothing of
// the body is repeated.
func TestUnreadableBodySaysWhy(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 20_000)
	for _, c := range []struct{ name, body, want string }{
		{"bad UTF-8", "{\"a\":\"\xff\"}", "not valid UTF-8 (near byte 6)"},
		{"bad UTF-8 in a name", "{\"\xff\":1}", "not valid UTF-8 (near byte 2)"},
		{"lone surrogate", `{"a":"\ud800"}`, "not valid UTF-8 (near byte 6)"},
		{"bad UTF-8, then no JSON", "{\"a\":\"\xff\",x}", "not valid UTF-8 (near byte 6)"},
		{"no JSON, then bad UTF-8", "{x:\"\xff\"}", "not valid JSON (near byte 1)"},
		{"bad UTF-8 outside a text", "{\xff}", "not valid JSON (near byte 1)"},
		{"too deep", `{"a":` + deep, "nested too deeply"},
		{"a name twice", `{"a":1,"a":2}`, "names a field twice"},
		{"cut off", `{"a":`, "ends before the JSON is complete"},
		{"no JSON", `{'a':1}`, "not valid JSON (near byte 1)"},
	} {
		_, err := readMembers([]byte(c.body))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: readMembers answered %v, want an error with %q", c.name, err, c.want)
		}
	}
}
