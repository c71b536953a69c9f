package node

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"cointill/chain"
)

// Failure is the reason why a node can't be used. The sentence continues the node's name ("can't be
// reached. Check …") and says what to do. It contains nothing that the node or the configuration
// wrote. The cause is for the log.
type Failure struct {
	sentence  string
	cause     error
	transient bool
}

// Error returns the sentence with its cause, for the log.
func (t *Failure) Error() string {
	if t.cause == nil {
		return t.sentence
	}
	return t.sentence + " (" + t.cause.Error() + ")"
}

// Sentence returns the sentence alone, for operators.
func (t *Failure) Sentence() string { return t.sentence }

// Unwrap returns the cause, or nil.
func (t *Failure) Unwrap() error { return t.cause }

// Transient reports whether the failure may be transient; see chain.IsTransient.
func (t *Failure) Transient() bool { return t.transient }

// AreTransient reports whether asking several failed nodes again at once may help and costs little: at
// least one failure is transient and no node is silent. Nodes that failed for other reasons are
// asked again as well and fail soon.
func AreTransient(all []error) bool {
	return slices.ContainsFunc(all, chain.IsTransient) && !slices.ContainsFunc(all, IsSilent)
}

// NewFailure makes a Failure. The cause may be nil.
func NewFailure(cause error, format string, args ...any) error {
	return &Failure{sentence: fmt.Sprintf(format, args...), cause: cause}
}

// newTransient makes a Failure that may be transient: no answer came, or half of one.
func newTransient(cause error, format string, args ...any) error {
	return &Failure{fmt.Sprintf(format, args...), cause, true}
}

// errSilent is the cause of requests that were given up because no byte arrived.
var errSilent = errors.New("nothing came in time")

// ErrTooLong is the cause when an answer is longer than any honest answer to the request.
var ErrTooLong = errors.New("the answer is longer than it can be")

// UnreachableError is the Failure of a node that can't be connected to.
func UnreachableError(err error) error {
	return newTransient(withoutURL(err),
		"can't be reached. Check that it runs, and that host and port in its URL are right.")
}

// SilentError is the Failure of a node that was given up after it sent nothing for a while.
func SilentError(after time.Duration) error {
	return NewFailure(errSilent, "takes the connection and then says nothing for %s. It may hang: restart it if "+
		"that stays.", after)
}

// IsSilent reports whether an error is the Failure of a silent node.
func IsSilent(err error) bool { return errors.Is(err, errSilent) }

// BrokenConnectionError is the Failure of a connection that ended before its answer did.
func BrokenConnectionError(err error) error {
	return newTransient(withoutURL(err),
		"broke off in the middle of an answer. It may be restarting, or the connection to it is bad.")
}

// AnswerTooLongError is the Failure of an answer that was not read to its end; see ErrTooLong.
func AnswerTooLongError() error {
	return NewFailure(ErrTooLong, "gives answers longer than they can be. Check that its URL leads to one of this "+
		"network.")
}

// ServerError is the Failure of an answer with only a status of 500 or more.
func ServerError(status int) error {
	return newTransient(fmt.Errorf("HTTP %d", status), "reports an internal error (HTTP %d). Look into its log.",
		status)
}

// UnexpectedAnswerError is the Failure of an answer that no server of the expected kind ("a node's JSON-RPC")
// gives.
func UnexpectedAnswerError(kind string, cause error) error {
	return NewFailure(cause, "answers, but not as %s does. Check that host, port and path in its URL lead to one.",
		kind)
}

// DamagedDataError is the Failure of data ("a block") that fails its verification.
func DamagedDataError(what string, err error) error {
	return NewFailure(err, "sent %s that is damaged, or not the one asked for. It is not counted. Check its "+
		"software and its disk; "+
		"if that stays, use another one.", what)
}

// withoutURL strips the URL from an HTTP client's error. The URL may hold a path or a name.
func withoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// isDialError reports whether an error occurred before the connection stood.
func isDialError(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// CheckTipAge returns a Failure unless the time of a node's last block is near the local time. stale is the age from
// which on the node counts as stalled, 0 for no limit; ahead is how far its clock may be ahead. stalled is the sentence
// of a block that is too old, with verbs for its height and its age.
func CheckTipAge(tip chain.Header, now time.Time, stale, ahead time.Duration, stalled string) error {
	age := now.Sub(tip.Time)
	switch {
	case stale == 0:
		return nil
	case age > stale:
		return NewFailure(nil, stalled, tip.Height, age.Round(time.Minute))
	case age < -ahead:
		return NewFailure(nil,
			"has a last block, %d, from the future. Check this machine's clock, then the node.", tip.Height)
	}
	return nil
}

// ContainsAny reports whether a text of a node contains one of some words, which are in small letters.
func ContainsAny(text string, words ...string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// PrintableText bounds a text that a node wrote, and keeps only printable ASCII, so that it moves no cursor
// and forges no line where it is printed.
func PrintableText(text string) string {
	const most = 100
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, text[:min(len(text), most)])
}
