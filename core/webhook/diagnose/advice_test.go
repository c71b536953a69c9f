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

// mute is what the client says of a server that takes connections and is silent.
func mute(t *testing.T) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client := &http.Client{Transport: &http.Transport{TLSHandshakeTimeout: time.Millisecond}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+listener.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(request)
	if err == nil {
		answer.Body.Close()
		t.Fatal("it answered")
	}
	return err
}

// TestAdvice has a sentence of its own for each kind of failure that there is.
func TestAdvice(t *testing.T) {
	t.Parallel()
	other := Advice(0, "?")
	said := map[string]string{}
	kinds := []error{guard.ErrForbiddenAddress, &net.DNSError{IsNotFound: true}, &net.DNSError{}, context.DeadlineExceeded, os.ErrDeadlineExceeded,
		syscall.ECONNREFUSED, &tls.CertificateVerificationError{}, tls.RecordHeaderError{}, io.EOF, syscall.ECONNRESET, errors.New("anything"),
		&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, mute(t)}
	for _, err := range kinds {
		sentence := DescribeError(err)
		if got := Advice(0, sentence); got == other || got == "" {
			t.Errorf("%s: %s", sentence, got)
		}
		said[sentence] = Advice(0, sentence)
	}
	if len(said) != 11 {
		t.Errorf("%d kinds", len(said))
	}
	for _, status := range []int{101, 301, 302, 400, 401, 403, 404, 405, 408, 410, 413, 415, 418, 429, 500, 502, 503} {
		if got := Advice(status, DescribeStatus(status)); got == "" || strings.Count(got, "\n") > 0 {
			t.Errorf("%d: %q", status, got)
		}
	}
	for _, pair := range [][2]int{{401, 403}, {403, 404}, {404, 405}, {405, 410}, {410, 413}, {413, 429}, {429, 500}, {500, 503}, {302, 404}} {
		if Advice(pair[0], "?") == Advice(pair[1], "?") {
			t.Errorf("the same for %d and %d", pair[0], pair[1])
		}
	}
	for _, ours := range []string{"The webhook's secret can't be read. Rotate it.", "The URL is not https, which the live domain demands.",
		"The webhook's headers can't be read. Enter them again.",
		"The webhook's headers can't be read. Give them anew.", "Cointill was stopped during the request."} {
		if Advice(0, ours) == other {
			t.Errorf("nothing on: %s", ours)
		}
	}
	if got := Advice(204, ""); got != "" {
		t.Errorf("of a success: %q", got)
	}
}
