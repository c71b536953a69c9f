package metadata_test

import (
	"strings"
	"testing"

	"cointill/core/metadata"
)

// TestCheck holds the bounds at both sides.
func TestCheck(t *testing.T) {
	nested := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	for text, want := range map[string]string{
		`{}`: "", ` [1]`: "", nested(16): "", `"[[[[[[[[[[[[[[[[["`: "array", `["[[[[[[[[[[[[[[[[["]`: "",
		nested(17):                               "deeper",
		"[" + strings.Repeat(" ", 8<<10-2) + "]": "",
		"[" + strings.Repeat(" ", 8<<10-1) + "]": "8 KiB",
		`"text"`:                                 "array",
		`7`:                                      "array",
		`null`:                                   "array",
		``:                                       "array",
		`{"a":`:                                  "valid JSON",
		`[1] [2]`:                                "valid JSON",
		`["\u0000"]`:                             "NUL",
		`["\\u0000"]`:                            "",
		`{"\\\u0000":1}`:                         "NUL",
	} {
		if got := metadata.Check([]byte(text)).String(); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("Check(%.40q…) = %q, want a sentence about %q", text, got, want)
		}
	}
	if got := metadata.Check(nil); !got.IsZero() {
		t.Errorf("Check(nil) = %q, want none", got)
	}
}
