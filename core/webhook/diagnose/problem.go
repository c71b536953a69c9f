package diagnose

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"sync/atomic"
	"syscall"

	"cointill/core/fault"
	"cointill/core/webhook/guard"
)

// DescribeStatus returns the problem of a status; zero for success.
func DescribeStatus(status int) fault.Message {
	switch text := http.StatusText(status); {
	case status >= 200 && status < 300:
		return fault.Message{}
	case status >= 300 && status < 400:
		return fault.NewMessage("The endpoint answered %d, a redirect. Redirects are not followed: register the final "+
			"URL.", status)
	case status == http.StatusGone:
		return fault.NewMessage("The endpoint answered 410 Gone: it wants no more events.")
	case text == "":
		return fault.NewMessage("The endpoint answered %d.", status)
	default:
		return fault.NewMessage("The endpoint answered %d %s.", status, text)
	}
}

// Code names why a request brought no answer, or why none was made. Attempts are stored with it.
type Code string

// The codes of attempts without an answer.
const (
	HostForbidden      Code = "host_forbidden"
	HostUnknown        Code = "host_unknown"
	LookupFailed       Code = "lookup_failed"
	AnswerTimeout      Code = "answer_timeout"
	ConnectTimeout     Code = "connect_timeout"
	TLSTimeout         Code = "tls_timeout"
	ConnectionRefused  Code = "connection_refused"
	CertificateInvalid Code = "certificate_invalid"
	NoTLS              Code = "no_tls"
	ConnectionClosed   Code = "connection_closed"
	NoHTTP             Code = "no_http"
	SecretUnreadable   Code = "secret_unreadable"
	SecretUnusable     Code = "secret_unusable"
	HeadersUnreadable  Code = "headers_unreadable"
	NotHTTPS           Code = "not_https"
	URLUnusable        Code = "url_unusable"
	DeliveriesOff      Code = "deliveries_off"
	Stopped            Code = "stopped"
)

// Describe returns the sentence of a code.
func (c Code) Describe() string { return problems[c].sentence }

// TraceRequest prepares a request's context. The returned function gives the code of the error of a
// request with this context.
func TraceRequest(ctx context.Context) (traced context.Context, findCode func(err error) Code) {
	var tlsTimedOut atomic.Bool // net/http has no name for the error
	trace := &httptrace.ClientTrace{TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
		tlsTimedOut.Store(timedOut(err))
	}}
	return httptrace.WithClientTrace(ctx, trace), func(err error) Code {
		if tlsTimedOut.Load() {
			return TLSTimeout
		}
		return codeOf(err)
	}
}

// codeOf returns the code of the error of a request whose connection didn't time out on TLS.
func codeOf(err error) Code {
	var lookup *net.DNSError
	var certificate *tls.CertificateVerificationError
	var notTLS tls.RecordHeaderError
	var dialling *net.OpError
	switch {
	case errors.Is(err, guard.ErrForbiddenAddress):
		return HostForbidden
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return HostUnknown
	case errors.As(err, &lookup):
		return LookupFailed
	case errors.As(err, &dialling) && dialling.Op == "dial" && dialling.Timeout():
		return ConnectTimeout
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), timedOut(err):
		return AnswerTimeout
	case errors.Is(err, syscall.ECONNREFUSED):
		return ConnectionRefused
	case errors.As(err, &certificate):
		return CertificateInvalid
	case errors.As(err, &notTLS):
		return NoTLS
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return ConnectionClosed
	}
	return NoHTTP
}

func timedOut(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}
