package diagnose

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"cointill/core/webhook/guard"
)

// codeOfMute is the code of a request to a server that takes connections and is silent.
func codeOfMute(t *testing.T) Code {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client := &http.Client{Transport: &http.Transport{TLSHandshakeTimeout: time.Millisecond}}
	ctx, findCode := TraceRequest(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+listener.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(request)
	if err == nil {
		answer.Body.Close()
		t.Fatal("it answered")
	}
	return findCode(err)
}

// TestAdvice has a sentence of its own for each kind of failure that there is.
func TestAdvice(t *testing.T) {
	t.Parallel()
	other := Advice(0, "?")
	said := map[string]string{}
	kinds := []error{guard.ErrForbiddenAddress, &net.DNSError{IsNotFound: true}, &net.DNSError{}, context.DeadlineExceeded, os.ErrDeadlineExceeded,
		syscall.ECONNREFUSED, &tls.CertificateVerificationError{}, tls.RecordHeaderError{}, io.EOF, syscall.ECONNRESET, errors.New("anything"),
		&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}}
	codes := []Code{codeOfMute(t), SecretUnreadable, HeadersUnreadable, NotHTTPS, URLUnusable, DeliveriesOff, Stopped}
	for _, err := range kinds {
		codes = append(codes, codeOf(err))
	}
	for _, code := range codes {
		if got := Advice(0, code); got == other || got == "" {
			t.Errorf("the advice on %s is %q, want one of its own", code, got)
		}
		said[code.Describe()] = Advice(0, code)
	}
	if len(said) != 11+6 || said[""] != "" {
		t.Errorf("%d sentences, want one for each of 17 codes: %v", len(said), said)
	}
	if codes[0] != TLSTimeout {
		t.Errorf("a server that is silent gives the code %s, want %s", codes[0], TLSTimeout)
	}
	for _, status := range []int{101, 301, 302, 400, 401, 403, 404, 405, 408, 410, 413, 415, 418, 429, 500, 502, 503} {
		if got := Advice(status, ""); got == "" || strings.Count(got, "\n") > 0 {
			t.Errorf("%d: %q", status, got)
		}
	}
	for _, pair := range [][2]int{{401, 403}, {403, 404}, {404, 405}, {405, 410}, {410, 413}, {413, 429}, {429, 500}, {500, 503}, {302, 404}} {
		if Advice(pair[0], "?") == Advice(pair[1], "?") {
			t.Errorf("the same for %d and %d", pair[0], pair[1])
		}
	}
	if got := Advice(204, ""); got != "" {
		t.Errorf("of a success: %q", got)
	}
}
