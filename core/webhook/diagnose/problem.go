package diagnose

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	"cointill/core/webhook/guard"
)

// DescribeStatus returns the problem of a status; "" for success.
func DescribeStatus(status int) string {
	switch {
	case status >= 200 && status < 300:
		return ""
	case status >= 300 && status < 400:
		return fmt.Sprintf("The endpoint answered %d, a redirect. Redirects are not followed: register the final URL.",
			status)
	case status == http.StatusGone:
		return "The endpoint answered 410 Gone: it wants no more events."
	}
	return strings.TrimSpace(fmt.Sprintf("The endpoint answered %d %s", status, http.StatusText(status))) + "."
}

// DescribeError returns a sentence for a request without an answer. The error's own
// text would show addresses of this machine.
func DescribeError(err error) string {
	var lookup *net.DNSError
	var certificate *tls.CertificateVerificationError
	var notTLS tls.RecordHeaderError
	var dialling *net.OpError
	switch {
	case errors.Is(err, guard.ErrForbiddenAddress):
		return "The host stands for an address that deliveries may not go to (private, local or reserved)."
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return "The host name is not known."
	case errors.As(err, &lookup):
		return "The host name could not be looked up."
	case errors.As(err, &dialling) && dialling.Op == "dial" && dialling.Timeout():
		return "No connection could be made within 5 seconds."
	case strings.Contains(err.Error(), "TLS handshake timeout"): // net/http has no name for it
		return "TLS was not agreed on within 5 seconds."
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), timedOut(err):
		return "No answer came within 15 seconds."
	case errors.Is(err, syscall.ECONNREFUSED):
		return "The connection was refused."
	case errors.As(err, &certificate):
		return "The TLS certificate is not valid for this host."
	case errors.As(err, &notTLS):
		return "The server does not speak TLS on this port."
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "The connection was closed without an answer."
	}
	return "The request failed: no valid HTTP answer came."
}

func timedOut(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}
