package node

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// TestPrintableTextKeepsPrintableASCII: a node's text can forge no line and move no cursor.
func TestPrintableTextKeepsPrintableASCII(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		"a node/1.0 (x)":          "a node/1.0 (x)",
		"\x1b[2Jlive\n\t\u202e é": "?[2Jlive??? ?",
		strings.Repeat("x", 1000): strings.Repeat("x", 100),
	} {
		if got := PrintableText(input); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestFailureTextHidesTheURL: the text of a Failure has the sentence and the cause, and no URL.
func TestFailureTextHidesTheURL(t *testing.T) {
	t.Parallel()
	cause := errors.New("the cause")
	for _, make := range []func(error) error{UnreachableError, BrokenConnectionError} {
		err := make(&url.Error{Op: "Get", URL: "http://canary", Err: cause})
		if !errors.Is(err, cause) || !strings.HasSuffix(err.Error(), " (the cause)") {
			t.Errorf("error %q, want one that ends with its cause", err)
		}
	}
	if text := NewFailure(nil, "is %d", 5).Error(); text != "is 5" {
		t.Errorf("a Failure without cause reads %q, want %q", text, "is 5")
	}
}

// TestURLsAreCountedAndUnique: the number of URLs is bounded, duplicates are refused, and the error
// gives the position.
func TestURLsAreCountedAndUnique(t *testing.T) {
	t.Parallel()
	read := func(text string) (string, error) {
		if text == "bad" {
			return "", errors.New("no URL")
		}
		base, _, _ := strings.Cut(text, "?")
		return base, nil
	}
	for want, urls := range map[string][]string{
		"":                                {"a", "b", "c", "d", "e", "f", "g", "h"},
		"a network has 1 to 8 servers":    nil,
		"a network has 1 to 8 servers ":   slices.Repeat([]string{"a"}, 9),
		"server 2 of 3: no URL":           {"a", "bad", "a"},
		"server 3 of 3 is listed twice: ": {"a", "b", "a?other"},
	} {
		_, err := ParseURLs("server", urls, read, func(base string) string { return base })
		if (err == nil) != (want == "") || err != nil &&
			!strings.HasPrefix(err.Error(), strings.TrimSuffix(want, " ")) {
			t.Errorf("%q: %v", urls, err)
		}
	}
}
