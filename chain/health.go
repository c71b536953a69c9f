package chain

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"
)

// maxSentence bounds, in bytes, the text of a source's Problem on a page.
const maxSentence = 400

// healthSentence returns the sentence for Health, "" when healthy. Only the text of a Problem is
// shown; the texts of other errors may hold secrets that only the log may have.
func healthSentence(err error) string {
	var p Problem
	switch {
	case err == nil:
		return ""
	case errors.As(err, &p):
		return shortenText(string(p))
	case errors.Is(err, errStore):
		return "What the node says can't be stored now. Nothing is lost; it is tried again."
	case errors.Is(err, errMoved):
		return "The node contradicts itself, so nothing of it is counted. It is read again."
	case errors.Is(err, context.DeadlineExceeded):
		return "The node doesn't answer in time. It is asked again."
	}
	return "The node can't be read now; the log says why. It is asked again."
}

// shortenText cuts a text to maxSentence bytes between two characters.
func shortenText(text string) string {
	text = strings.ToValidUTF8(text, "?")
	if len(text) <= maxSentence {
		return text
	}
	cut := maxSentence
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
