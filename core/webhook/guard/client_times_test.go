package guard_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"cointill/core/scope"
	"cointill/core/webhook/guard"
)

// TestClientTimes: neither the way to a server nor its TLS takes the whole time of an attempt.
func TestClientTimes(t *testing.T) {
	t.Parallel()
	for _, domain := range []scope.Domain{scope.Live, scope.Test} {
		transport, ok := guard.NewClient(guard.Config{Domain: domain}).Transport.(*http.Transport)
		if !ok {
			t.Fatal("another transport")
		}
		if transport.TLSHandshakeTimeout != 5*time.Second {
			t.Errorf("%s: %s for TLS", domain, transport.TLSHandshakeTimeout)
		}
	}
}

// TestDialTime has a name server that never answers, in a time of the test's own.
func TestDialTime(t *testing.T) {
	t.Parallel()
	// The first look-up of a process makes what later ones share: it is made here,
	// as nothing of it may belong to the test's own time.
	none := errors.New("no name server")
	first := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, none }}
	if _, err := first.LookupHost(t.Context(), "shop.example"); err == nil {
		t.Fatal("looked up without a name server")
	}
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		defer close(end)
		silent := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
			<-end
			return nil, none
		}}
		client := guard.NewClient(guard.Config{Domain: scope.Test, Resolver: silent})
		began := time.Now()
		ctx, stop := context.WithTimeout(t.Context(), guard.Timeout)
		defer stop()
		if conn, err := client.Transport.(*http.Transport).DialContext(ctx, "tcp", "shop.example:443"); err == nil {
			t.Error("connected to", conn.RemoteAddr())
		}
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("given up after %s", took)
		}
	})
}
