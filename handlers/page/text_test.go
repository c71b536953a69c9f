package page

import (
	"strings"
	"testing"
)

func TestCleanText(t *testing.T) {
	if got := CleanText(" a\x00\xff b "); got != "a b" {
		t.Errorf("%q", got)
	}
	if got := CleanText(strings.Repeat("é", 300)); len([]rune(got)) != 256 {
		t.Errorf("%d characters", len([]rune(got)))
	}
}
