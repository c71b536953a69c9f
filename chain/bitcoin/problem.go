package bitcoin

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"cointill/chain"
)

// trouble is why a node can't be used. The sentence goes on after the node's
// name ("can't be reached. Check …"), says what to do, and holds nothing that
// the node or the configuration wrote; the cause is for the log.
type trouble struct {
	sentence string
	cause    error
}

func (t *trouble) Error() string {
	if t.cause == nil {
		return t.sentence
	}
	return t.sentence + " (" + t.cause.Error() + ")"
}

func (t *trouble) Unwrap() error { return t.cause }

func troubled(cause error, format string, args ...any) error {
	return &trouble{fmt.Sprintf(format, args...), cause}
}

// errSilent is the cause of requests that were ended because nothing came.
var errSilent = errors.New("nothing came in time")

// errTooLong is the cause of answers that are longer than what was asked for can be.
var errTooLong = errors.New("the answer is longer than it can be")

func unreachable(err error) error {
	return troubled(bare(err), "can't be reached. Check that it runs, and that host and port in its URL are right.")
}

func silent(after time.Duration) error {
	return troubled(errSilent, "takes the connection and then says nothing for %s. It may hang: restart it if that stays.", after)
}

func broken(err error) error {
	return troubled(bare(err), "broke off in the middle of an answer. It may be restarting, or the connection to it is bad.")
}

func tooLong() error {
	return troubled(errTooLong, "gives answers longer than they can be. Check that its URL leads to a node of this network.")
}

func refused(cookie bool) error {
	if cookie {
		return troubled(errors.New("HTTP 401"), "refuses the cookie. Check that the cookie file in its URL is that of the running node.")
	}
	return troubled(errors.New("HTTP 401"), "refuses the user name and password. Check those in its URL against the node's configuration.")
}

func forbidden() error {
	return troubled(errors.New("HTTP 403"), "forbids what was asked. Allow this machine and user in its configuration (rpcallowip, rpcwhitelist).")
}

// strange is an answer that no server of the expected kind gives.
func strange(kind string, cause error) error {
	return troubled(cause, "answers, but not as %s does. Check that host, port and path in its URL lead to one.", kind)
}

// vanished is a block that the node named and then doesn't have.
func vanished(err error) error {
	return troubled(err, "names a block and then doesn't have it. Its chain may be changing; if that stays, check its disk.")
}

func failing(status int) error {
	return troubled(fmt.Errorf("HTTP %d", status), "reports an internal error (HTTP %d). Look into its log.", status)
}

func overloaded(status int) error {
	return troubled(fmt.Errorf("HTTP %d", status), "is overloaded (HTTP %d). Raise its work queue (rpcworkqueue), or ask less of it.", status)
}

func damaged(what string, err error) error {
	return troubled(err, "sent %s that is damaged, or not the one asked for. It is not counted. Check the node and its disk; "+
		"if that stays, use another node.", what)
}

// bare is an HTTP client's error without the URL, which may hold a path or a name.
func bare(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// dialling reports whether an error came before there was a connection.
func dialling(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// clip bounds what a node wrote, and leaves only what moves no cursor and forges
// no line where it is printed: printable ASCII.
func clip(text string) string {
	const most = 100
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, text[:min(len(text), most)])
}

// problem is an error about one node as people read it: the node by its place
// in the configuration, never by its address, which only the log has.
func (n *node) problem(err error) error {
	var t *trouble
	if !errors.As(err, &t) {
		return fmt.Errorf("%s: %w", n.host, err)
	}
	return fmt.Errorf("%w (%s: %w)", chain.Problem(n.name()+" "+t.sentence), n.host, err)
}

// name is how sentences call the node.
func (n *node) name() string {
	if n.of == 1 {
		return "The node"
	}
	return fmt.Sprintf("Node %d of %d", n.number, n.of)
}

// sentenceOf is what people read of an error about a node.
func sentenceOf(err error) string {
	var p chain.Problem
	switch {
	case err == nil:
		return ""
	case errors.As(err, &p):
		return string(p)
	}
	return "The node can't be read now; the log says why."
}
