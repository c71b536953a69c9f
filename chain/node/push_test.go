package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

// testConfig returns a configuration whose log goes to a buffer.
func testConfig(kind string) (Config, *bytes.Buffer) {
	log := new(bytes.Buffer)
	return Config{Kind: kind, Network: "till", Clock: time.Now, Log: slog.New(slog.NewTextHandler(log, nil))}, log
}

// TestNotifyWakesUntilStopped: every registered function is called until it is stopped.
func TestNotifyWakesUntilStopped(t *testing.T) {
	t.Parallel()
	config, _ := testConfig("node")
	p := NewPushConnections(config)
	var woken []string
	stop := p.Notify(func() { woken = append(woken, "first") })
	p.Notify(func() { woken = append(woken, "second") })
	p.Wake()
	stop()
	p.Wake()
	slices.Sort(woken)
	if !slices.Equal(woken, []string{"first", "second", "second"}) {
		t.Errorf("woken are %q, want first once and second twice", woken)
	}
}

// TestRetryDelayGrowsToAMinute: a connection is opened again after delays that grow to a minute and
// start over after a connection that lasted. Subscribers are woken each time it stands.
func TestRetryDelayGrowsToAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		config, log := testConfig("server")
		p := NewPushConnections(config)
		woken := 0
		p.Notify(func() { woken++ })
		began := time.Now()
		var opened []int // seconds
		p.AddListener(Listener{Host: "host:1", Kind: "test", Listen: func(ctx context.Context, up func()) error {
			opened = append(opened, int(time.Since(began)/time.Second))
			switch len(opened) {
			case 9: // it lasts
				up()
				<-time.After(maxRetryDelay + time.Second)
			case 11:
				up()
				<-ctx.Done()
			}
			return errors.New("ended")
		}})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- p.Run(ctx) }()
		<-time.After(time.Hour)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		want := []int{0, 1, 3, 7, 15, 31, 63, 123, 183, 183 + 61 + 1, 183 + 61 + 1 + 2}
		if !slices.Equal(opened, want) || woken != 2 {
			t.Errorf("opened at %v, want %v; woken %d times", opened, want, woken)
		}
		ends, back := strings.Count(log.String(), "the server is polled"),
			strings.Count(log.String(), "connection is back")
		if ends != 2 || back != 2 {
			t.Errorf("the log shows %d ends and %d returns:\n%s", ends, back, log)
		}
	})
}

// dialServer opens a websocket to a server within the test's bubble.
func dialServer(t *testing.T, serve func(ctx context.Context, conn *websocket.Conn)) (*Client, *websocket.Conn) {
	c, _ := pipedClient(t, func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		serve(r.Context(), conn)
	})
	conn, status, err := c.DialWebsocket(t.Context(), "ws://node", BasicAuth("u", "p"))
	if status != 0 || err != nil {
		t.Fatalf("no websocket: status %d, error %v", status, err)
	}
	return c, conn
}

// TestListenHandsOnMessagesUntilTheEnd: the subscriptions are sent, and messages are handed on
// until one is refused, one is too long, or the connection ends.
func TestListenHandsOnMessagesUntilTheEnd(t *testing.T) {
	t.Parallel()
	for last, words := range map[string]string{"refuse": "refused", "123456789": "broke off", "": "broke off"} {
		synctest.Test(t, func(t *testing.T) {
			c, conn := dialServer(t, func(ctx context.Context, conn *websocket.Conn) {
				var subscriptions [][]byte
				for range 2 {
					_, subscription, err := conn.Read(ctx)
					if err != nil {
						return
					}
					subscriptions = append(subscriptions, subscription)
				}
				for _, subscription := range subscriptions {
					_ = conn.Write(ctx, websocket.MessageText, subscription)
				}
				if last != "" {
					_ = conn.Write(ctx, websocket.MessageText, []byte(last))
					_, _, _ = conn.Read(ctx)
				}
			})
			var heard []string
			subscriptions := [][]byte{[]byte("a"), []byte("b")}
			err := c.ListenWebsocket(t.Context(), conn, 8, subscriptions, func(message []byte) error {
				if string(message) == "refuse" {
					return errors.New("refused")
				}
				heard = append(heard, string(message))
				return nil
			})
			if err == nil || !strings.Contains(err.Error(), words) || fmt.Sprint(heard) != "[a b]" {
				t.Errorf("%q: heard %q, %v", last, heard, err)
			}
			if _, _, err := conn.Read(t.Context()); err == nil {
				t.Error("the connection is still open")
			}
		})
	}
}

// TestDeadWebsocketIsClosed: a connection whose other side disappeared is closed, and one that is
// only quiet is kept.
func TestDeadWebsocketIsClosed(t *testing.T) {
	t.Parallel()
	for _, alive := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c, conn := dialServer(t, func(ctx context.Context, conn *websocket.Conn) {
				if alive {
					ctx = conn.CloseRead(ctx) // answers pings
				}
				select {
				case <-time.After(time.Hour):
				case <-ctx.Done():
				}
			})
			began := time.Now()
			err := c.ListenWebsocket(t.Context(), conn, 100, nil, func([]byte) error { return nil })
			expectFailure(t, err, "broke off")
			lasted := time.Since(began) // in the bubble's time
			if alive && lasted != time.Hour || !alive && lasted > pingInterval+MaxSilence {
				t.Errorf("alive %v: it lasted %s", alive, lasted)
			}
			if !alive {
				<-time.After(time.Hour) // the server's part ends
			}
		})
	}
}

// TestDialErrorsNameTheCause: a silent server, an unreachable one and one without a websocket give
// different errors.
func TestDialErrorsNameTheCause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := pipedClient(t, func(w http.ResponseWriter, r *http.Request) {
			if user, _, _ := r.BasicAuth(); user == "u" {
				http.Error(w, "", http.StatusForbidden)
				return
			}
			<-r.Context().Done()
		})
		_, _, err := c.DialWebsocket(t.Context(), "ws://node", nil)
		expectFailure(t, err, "says nothing for 10s")
		_, status, err := c.DialWebsocket(t.Context(), "ws://node", BasicAuth("u", "p"))
		if status != http.StatusForbidden || err == nil {
			t.Errorf("%d, %v", status, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := c.DialWebsocket(ctx, "ws://node", nil); err != context.Canceled {
			t.Errorf("error %v, want context.Canceled", err)
		}
	})
	c, s := startServer(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "") })
	s.Close()
	_, _, err := c.DialWebsocket(t.Context(), "ws://"+strings.TrimPrefix(s.URL, "http://"), nil)
	expectFailure(t, err, "can't be reached")
}
