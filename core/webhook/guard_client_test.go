package webhook_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cointill/core/scope"
	"cointill/core/webhook"
)

// TestClientTimes: neither the way to a server nor its TLS takes the whole time of an attempt.
func TestClientTimes(t *testing.T) {
	t.Parallel()
	for _, domain := range []scope.Domain{scope.Live, scope.Test} {
		transport, ok := webhook.NewClient(webhook.GuardConfig{Domain: domain}).Transport.(*http.Transport)
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
		client := webhook.NewClient(webhook.GuardConfig{Domain: scope.Test, Resolver: silent})
		began := time.Now()
		ctx, stop := context.WithTimeout(t.Context(), webhook.Timeout)
		defer stop()
		if conn, err := client.Transport.(*http.Transport).DialContext(ctx, "tcp", "shop.example:443"); err == nil {
			t.Error("connected to", conn.RemoteAddr())
		}
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("given up after %s", took)
		}
	})
}

// fickle answers the first request of its first connection, reads the second,
// and closes without a word. Other connections are answered as they should be.
type fickle struct {
	url string
	mu  sync.Mutex
	got []http.Header
}

func newFickle(t *testing.T) *fickle {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	f := &fickle{url: "http://" + listener.Addr().String()}
	go func() {
		for left := 1; ; left = 1000 {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go f.serve(conn, left)
		}
	}()
	return f
}

// serve answers so many requests of a connection and hangs up at the next.
func (f *fickle) serve(conn net.Conn, answers int) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for ; ; answers-- {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := in.Discard(int(r.ContentLength)); err != nil {
			return
		}
		f.mu.Lock()
		f.got = append(f.got, r.Header)
		f.mu.Unlock()
		if answers == 0 {
			return
		}
		if _, err := conn.Write([]byte("HTTP/1.1 204 No Content\r\n\r\n")); err != nil {
			return
		}
	}
}

// TestClosedMeanwhile: a kept connection that the server closed just now costs no
// attempt, as the request is made again on a new one. What has the client do so isn't sent.
func TestClosedMeanwhile(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newFickle(t)
		e, _ := b.create(owner, shop.url)
		for sequence := range 2 {
			b.emit(sequence + 1)
			b.step()
		}
		list, _, err := b.History(t.Context(), owner, e.ID, webhook.Delivered, "", 0)
		if err != nil || len(list) != 2 || list[0].Attempt != 1 || list[1].Attempt != 1 {
			t.Errorf("%+v %v", list, err)
		}
		shop.mu.Lock()
		defer shop.mu.Unlock()
		if len(shop.got) != 3 || shop.got[1].Get("webhook-id") != shop.got[2].Get("webhook-id") {
			t.Errorf("%d requests: %v", len(shop.got), shop.got)
		}
		for _, header := range shop.got {
			if _, sent := header["Idempotency-Key"]; sent {
				t.Errorf("%v", header)
			}
		}
	})
}
