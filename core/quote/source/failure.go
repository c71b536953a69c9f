package source

import (
	"errors"
	"fmt"
	"time"
)

// failure is the reason why a source gave no price: a phrase to follow the
// source's name, which every reader may see, and a cause for the log, which may
// hold addresses and parts of answers.
type failure struct {
	phrase string
	cause  error
}

// Error is the phrase alone.
func (f *failure) Error() string { return f.phrase }

// Unwrap gives the cause.
func (f *failure) Unwrap() error { return f.cause }

// Busy says that a source asks to be left alone. Fetch's errors hold it where
// the source named a time; find it by errors.As.
type Busy struct{ After time.Duration }

// Error says for how long.
func (b Busy) Error() string { return fmt.Sprintf("asks to be left alone for %s", b.After) }

// The ways in which an exchange or a document fails, in the words that people see.
const (
	unreachable = "can't be reached"
	untrusted   = "has a certificate that can't be trusted"
	brokenOff   = "broke off in the middle of its answer"
	interrupted = "was interrupted"
	tooSlow     = "took longer than 5 s"
	tooLong     = "sent more than 1 MiB"
	packed      = "sent an answer in an encoding that was not requested"
	webPage     = "sent a web page instead of JSON"
	notJSON     = "sent something else than JSON"
	unreadable  = "sent JSON that can't be read"
	otherShape  = "sent a document that isn't what it publishes"
	ownError    = "reports an error of its own"
	priceless   = "sent no price that can be read"
)

// shapeFailure returns the failure of a document that isn't what its source publishes.
func shapeFailure(what string) error { return &failure{otherShape, errors.New(what)} }

// reportedFailure returns the failure of a document that says itself that something is wrong.
func reportedFailure(code string) error {
	return &failure{ownError, fmt.Errorf("code %.100q", code)}
}
