package node

import (
	"bytes"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
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

// TestOnlyMissingAnswersAreTransient: missing answers are transient. Silence, wrong answers and
// overload are not. This holds for the wrapped error of a node, too.
func TestOnlyMissingAnswersAreTransient(t *testing.T) {
	withTwoNodes(t, func(t *testing.T, p *Pool, a, b *fakeAdapter, _ *bytes.Buffer) {
		cause := errors.New("the cause")
		for _, c := range []struct {
			err  error
			want bool
		}{
			{UnreachableError(cause), true}, {BrokenConnectionError(cause), true}, {ServerError(502), true},
			{SilentError(time.Second), false}, {AnswerTooLongError(), false},
			{UnexpectedAnswerError("a node", cause), false},
			{DamagedDataError("a block", cause), false},
			{NewFailure(cause, "is overloaded."), false},
		} {
			a.err, b.err = c.err, NewFailure(nil, "is old.")
			p.CheckAll(t.Context())
			for _, err := range []error{c.err, p.nodes[0].WrapProblem(c.err), p.NoUsableNodeError()} {
				if got := chain.IsTransient(err); got != c.want {
					t.Errorf("%v: %v, want %v", err, got, c.want)
				}
			}
		}
	})
}

// TestTransientNeedsAMissingAnswerAndNoSilentNode: the failure of several nodes is transient if at
// least one missed an answer and none is silent, in any order.
func TestTransientNeedsAMissingAnswerAndNoSilentNode(t *testing.T) {
	withTwoNodes(t, func(t *testing.T, p *Pool, a, b *fakeAdapter, _ *bytes.Buffer) {
		cause := errors.New("the cause")
		for _, c := range []struct {
			one, other error
			want       bool
		}{
			{UnreachableError(cause), ServerError(502), true},
			{UnreachableError(cause), NewFailure(nil, "is old."), true},
			{UnreachableError(cause), errors.New("unknown"), true},
			{UnreachableError(cause), SilentError(time.Second), false},
			{SilentError(time.Second), NewFailure(nil, "is old."), false},
			{NewFailure(nil, "is ill."), NewFailure(nil, "is old."), false},
		} {
			for _, order := range [][2]error{{c.one, c.other}, {c.other, c.one}} {
				a.err, b.err = order[0], order[1]
				p.CheckAll(t.Context())
				if got := chain.IsTransient(p.NoUsableNodeError()); got != c.want {
					t.Errorf("%v: %v, want %v", order, got, c.want)
				}
			}
		}
	})
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
		err := CheckURLs("server", urls, read)
		if (err == nil) != (want == "") || err != nil &&
			!strings.HasPrefix(err.Error(), strings.TrimSuffix(want, " ")) {
			t.Errorf("%q: %v", urls, err)
		}
	}
}
