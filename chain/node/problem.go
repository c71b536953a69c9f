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

// Trouble is why a node can't be used. The sentence goes on after the node's name
// ("can't be reached. Check …"), says what to do, and holds nothing that the node
// or the configuration wrote; the cause is for the log.
type Trouble struct {
	sentence  string
	cause     error
	transient bool
}

// Error is for the log: the sentence with its cause.
func (t *Trouble) Error() string {
	if t.cause == nil {
		return t.sentence
	}
	return t.sentence + " (" + t.cause.Error() + ")"
}

// Unwrap is the cause, or nil.
func (t *Trouble) Unwrap() error { return t.cause }

// Passing reports whether the next answer may well be a good one: see chain.Follower.
func (t *Trouble) Passing() bool { return t.transient }

// Passing reports whether to ask again at once may help and costs little, where several
// nodes fail: an answer of one is missing, and none hangs. Who else is ill is asked again
// as well, which tells that soon.
func Passing(all []error) bool {
	return slices.ContainsFunc(all, chain.Passing) && !slices.ContainsFunc(all, isSilent)
}

// Troubled makes a Trouble; the cause may be nil.
func Troubled(cause error, format string, args ...any) error {
	return &Trouble{sentence: fmt.Sprintf(format, args...), cause: cause}
}

// newTransient makes a Trouble that may pass by itself: no answer came, or half of one.
func newTransient(cause error, format string, args ...any) error {
	return &Trouble{fmt.Sprintf(format, args...), cause, true}
}

// errSilent is the cause of questions that were ended because nothing came.
var errSilent = errors.New("nothing came in time")

// ErrTooLong is the cause of answers that are longer than what was asked for can be.
var ErrTooLong = errors.New("the answer is longer than it can be")

// Unreachable is a node that no connection leads to.
func Unreachable(err error) error {
	return newTransient(withoutURL(err), "can't be reached. Check that it runs, and that host and port in its URL are right.")
}

// Silent is a node that was given up after it said nothing for a while.
func Silent(after time.Duration) error {
	return Troubled(errSilent, "takes the connection and then says nothing for %s. It may hang: restart it if that stays.", after)
}

// isSilent reports whether an error is one of a node that said nothing.
func isSilent(err error) bool { return errors.Is(err, errSilent) }

// Broken is a connection that ended before its answer did.
func Broken(err error) error {
	return newTransient(withoutURL(err), "broke off in the middle of an answer. It may be restarting, or the connection to it is bad.")
}

// TooLong is an answer that was not read to its end: see ErrTooLong.
func TooLong() error {
	return Troubled(ErrTooLong, "gives answers longer than they can be. Check that its URL leads to one of this network.")
}

// Failing is an answer with a status of 500 or more that says no more than that.
func Failing(status int) error {
	return newTransient(fmt.Errorf("HTTP %d", status), "reports an internal error (HTTP %d). Look into its log.", status)
}

// Strange is an answer that no server of the expected kind ("a node's JSON-RPC") gives.
func Strange(kind string, cause error) error {
	return Troubled(cause, "answers, but not as %s does. Check that host, port and path in its URL lead to one.", kind)
}

// Damaged is something that isn't what it must be ("a block").
func Damaged(what string, err error) error {
	return Troubled(err, "sent %s that is damaged, or not the one asked for. It is not counted. Check its software and its disk; "+
		"if that stays, use another one.", what)
}

// withoutURL is an HTTP client's error without the URL, which may hold a path or a name.
func withoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// isDialError reports whether an error came before there was a connection.
func isDialError(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// Clip bounds what a node wrote, and leaves only what moves no cursor and forges
// no line where it is printed: printable ASCII.
func Clip(text string) string {
	const most = 100
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, text[:min(len(text), most)])
}
