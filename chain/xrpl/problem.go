package xrpl

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"cointill/chain"
)

// trouble is why a server can't be used. The sentence goes on after the server's
// name ("can't be reached. Check …"), says what to do, and holds nothing that
// the server or the configuration wrote; the cause is for the log.
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

// errSilent is the cause of questions that were ended because nothing came.
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
	return troubled(errTooLong, "gives answers longer than they can be. Check that its URL leads to a server of this network.")
}

func forbidden(status int) error {
	return troubled(fmt.Errorf("HTTP %d", status), "refuses to answer (HTTP %d). Check user and password in its URL, and whom it lets in.", status)
}

func overloaded(cause error) error {
	return troubled(cause, "is overloaded, or answers us too rarely. Use a server of your own, or one more.")
}

func failing(status int) error {
	return troubled(fmt.Errorf("HTTP %d", status), "reports an internal error (HTTP %d). Look into its log.", status)
}

// strange is an answer that no server of the XRP Ledger gives.
func strange(cause error) error {
	return troubled(cause, "answers, but not as a server of the XRP Ledger does. Check that host, port and path in its URL lead to rippled or Clio.")
}

func damaged(what string, err error) error {
	return troubled(err, "sent %s that is damaged, or not the one asked for. It is not counted. Check the server and its disk; "+
		"if that stays, use another server.", what)
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

// clip bounds what a server wrote, and leaves only what moves no cursor and forges
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

// problem is an error about one server as people read it: the server by its place
// in the configuration, never by its address, which only the log has.
func (s *server) problem(err error) error {
	var t *trouble
	if !errors.As(err, &t) {
		return fmt.Errorf("%s: %w", s.host, err)
	}
	return fmt.Errorf("%w (%s: %w)", chain.Problem(s.name()+" "+t.sentence), s.host, err)
}

// name is how sentences call the server.
func (s *server) name() string {
	if s.of == 1 {
		return "The server"
	}
	return fmt.Sprintf("Server %d of %d", s.number, s.of)
}

// sentenceOf is what people read of an error about a server.
func sentenceOf(err error) string {
	var p chain.Problem
	switch {
	case err == nil:
		return ""
	case errors.As(err, &p):
		return string(p)
	}
	return "The server can't be read now; the log says why."
}
