package delivery_test

import (
	"bufio"
	"net"
	"net/http"
	"sync"
	"testing"

	"cointill/core/webhook"
)

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
		list, _, err := b.deliveries.History(t.Context(), owner, e.ID, webhook.Delivered, "", 0)
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
