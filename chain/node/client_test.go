package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// expectFailure expects a Failure whose sentence contains some words.
func expectFailure(t *testing.T, err error, words string) {
	t.Helper()
	var failure *Failure
	if !errors.As(err, &failure) || !strings.Contains(failure.sentence, words) {
		t.Errorf("%v, want a failure with %q", err, words)
	}
}

// startServer starts a server and returns a client for it.
func startServer(t *testing.T, handle http.HandlerFunc) (*Client, *httptest.Server) {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	return NewClient(s.URL, nil, nil), s
}

// TestRequestCarriesMethodLoginAndBody: a request without a body is a GET, and the answer is
// returned with its status.
func TestRequestCarriesMethodLoginAndBody(t *testing.T) {
	t.Parallel()
	c, _ := startServer(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, strings.Join([]string{r.Method, r.URL.Path, user, password,
			r.Header.Get("Content-Type"), string(body)}, " "))
	})
	for body, want := range map[string]string{"": "GET /a u p:w  ", "{}": "POST /a u p:w application/json {}"} {
		var sent []byte
		if body != "" {
			sent = []byte(body)
		}
		reply, err := c.Send(t.Context(), "/a", BasicAuth("u", "p:w"), sent, 100)
		if reply.Status != http.StatusTeapot || string(reply.Body) != want || err != nil {
			t.Errorf("%d %q, %v", reply.Status, reply.Body, err)
		}
	}
}

// TestRedirectIsNotFollowed: a redirect is returned as the answer, and the password is sent to no
// other host.
func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	var asked atomic.Bool
	_, other := startServer(t, func(http.ResponseWriter, *http.Request) { asked.Store(true) })
	c, _ := startServer(t, func(w http.ResponseWriter,
		r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusFound)
	})
	if reply, err := c.Send(t.Context(), "", nil, nil, 100); reply.Status != http.StatusFound || err != nil ||
		asked.Load() {
		t.Errorf("%d, %v, followed %v", reply.Status, err, asked.Load())
	}
}

// TestEnvironmentProxyIsIgnored: the environment's proxy settings do not apply.
func TestEnvironmentProxyIsIgnored(t *testing.T) {
	t.Parallel()
	if NewClient("http://node", nil, nil).http.Transport.(*http.Transport).Proxy != nil {
		t.Error("a proxy may be taken")
	}
}

// TestAnswerOverTheLimitIsRefused: an answer over the limit is refused, whether its length is
// announced or not, and compression is not requested.
func TestAnswerOverTheLimitIsRefused(t *testing.T) {
	t.Parallel()
	announced := true
	c, _ := startServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "" {
			t.Error("a compressed answer is asked for")
		}
		if !announced {
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = io.WriteString(w, "12345")
	})
	for _, announced = range []bool{true, false} {
		if reply, err := c.Send(t.Context(), "", nil, nil, 5); err != nil || string(reply.Body) != "12345" {
			t.Errorf("%q, %v", reply.Body, err)
		}
		_, err := c.Send(t.Context(), "", nil, nil, 4)
		if expectFailure(t, err, "longer than they can be"); !errors.Is(err, ErrTooLong) {
			t.Errorf("announced %v: error %v, want ErrTooLong", announced, err)
		}
	}
}

// TestEndlessAnswerIsCutAtTheLimit: an answer without end is read only up to the limit.
func TestEndlessAnswerIsCutAtTheLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := pipedClient(t, func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				select {
				case <-time.After(time.Second):
				case <-r.Context().Done():
				}
				_, _ = io.WriteString(w, "x")
				_ = http.NewResponseController(w).Flush()
			}
		})
		_, err := c.Send(t.Context(), "", nil, nil, 5)
		expectFailure(t, err, "longer than they can be")
	})
}

// TestAnswerAnnouncedOverTheLimitIsNotRead: the client doesn't wait for an answer whose announced
// length is over the limit.
func TestAnswerAnnouncedOverTheLimitIsNotRead(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	c, _ := startServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000000000")
		_ = http.NewResponseController(w).Flush()
		<-ended
	})
	defer close(ended)
	c.SilenceTimeout = time.Hour
	_, err := c.Send(t.Context(), "", nil, nil, 1000)
	expectFailure(t, err, "longer than they can be")
}

// TestOwnCertificateIsTrustedOnlyWhereItIsNamed: a self-signed certificate is trusted by a client
// that names it, and by no other.
func TestOwnCertificateIsTrustedOnlyWhereItIsNamed(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	s.StartTLS()
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	if _, err := NewClient(s.URL, roots, nil).Send(t.Context(), "", nil, nil, 1); err != nil {
		t.Errorf("with its own certificate as root: %v", err)
	}
	_, err := NewClient(s.URL, nil, nil).Send(t.Context(), "", nil, nil, 1)
	var untrusted *tls.CertificateVerificationError
	if !errors.As(err, &untrusted) {
		t.Errorf("error %v, want one of the certificate's verification", err)
	}
}

// TestUnreachableErrorHidesTheURL: the error says what to check and holds no part of the URL, which
// may contain a key.
func TestUnreachableErrorHidesTheURL(t *testing.T) {
	t.Parallel()
	c, s := startServer(t, nil)
	s.Close()
	_, err := c.Send(t.Context(), "/canary", nil, nil, 1)
	if expectFailure(t, err, "can't be reached"); strings.Contains(err.Error(), "canary") {
		t.Errorf("the error shows the path of the URL: %v", err)
	}
}

// TestClosedIdleConnectionIsReplaced: when the node has closed the idle connection, the request is
// sent on a new one.
func TestClosedIdleConnectionIsReplaced(t *testing.T) {
	t.Parallel()
	c, s := startServer(t, func(http.ResponseWriter, *http.Request) {})
	for range 20 {
		if _, err := c.Send(t.Context(), "", nil, []byte("{}"), 1); err != nil {
			t.Fatal(err)
		}
		s.CloseClientConnections()
	}
}

// pipe is a net.Listener within the process, so that a test can run in a synctest bubble.
type pipe struct{ conns chan net.Conn }

func (p *pipe) Accept() (net.Conn, error) {
	conn, ok := <-p.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}
func (p *pipe) Close() error   { return nil }
func (p *pipe) Addr() net.Addr { return &net.UnixAddr{} }

// pipedClient returns a client for a server within the test's bubble, and a counter of dials.
func pipedClient(t *testing.T, handle http.HandlerFunc) (c *Client, dials *atomic.Int32) {
	p := &pipe{make(chan net.Conn)}
	s := &http.Server{Handler: handle}
	go func() { _ = s.Serve(p) }()
	c, dials = NewClient("http://node", nil, nil), new(atomic.Int32)
	transport := c.http.Transport.(*http.Transport)
	transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
		dials.Add(1)
		ours, theirs := net.Pipe()
		p.conns <- theirs
		return ours, nil
	}
	t.Cleanup(func() {
		close(p.conns)
		transport.CloseIdleConnections()
		_ = s.Close()
	})
	return c, dials
}

// TestSilentNodeIsGivenUp: a node that sends nothing before or during its answer is given up after
// MaxSilence, and one that sends a byte now and then after maxRequestTime.
func TestSilentNodeIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		drops int           // bytes before it falls silent
		every time.Duration // time between two bytes
		words string        // "" expects the error of the context
		after time.Duration
	}{
		"before": {0, 0, "says nothing for 10s", MaxSilence},
		"within": {3, time.Second, "says nothing for 10s", 3*time.Second + MaxSilence},
		"drips":  {1000, MaxSilence - time.Second, "", maxRequestTime},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := pipedClient(t, func(w http.ResponseWriter, r *http.Request) {
					for range one.drops {
						select {
						case <-time.After(one.every):
						case <-r.Context().Done():
							return
						}
						_, _ = io.WriteString(w, " ")
						_ = http.NewResponseController(w).Flush()
					}
					<-r.Context().Done()
				})
				began := time.Now()
				_, err := c.Send(t.Context(), "", nil, nil, 1000)
				if took := time.Since(began); took != one.after { // in the bubble's time
					t.Errorf("after %s, want %s", took, one.after)
				}
				if one.words == "" {
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("error %v, want the end of the time limit", err)
					}
					return
				}
				expectFailure(t, err, one.words)
			})
		})
	}
}

// TestSlowSteadyAnswerIsRead: an answer that arrives slowly but steadily is read to its end.
func TestSlowSteadyAnswerIsRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := pipedClient(t, func(w http.ResponseWriter, _ *http.Request) {
			for range 5 {
				<-time.After(MaxSilence - time.Second)
				_, _ = io.WriteString(w, "x")
				_ = http.NewResponseController(w).Flush()
			}
		})
		if reply, err := c.Send(t.Context(), "", nil, nil, 5); string(reply.Body) != "xxxxx" || err != nil {
			t.Errorf("%q, %v", reply.Body, err)
		}
	})
}

// TestFailureClosesIdleConnections: after a failure no idle connection is used again.
func TestFailureClosesIdleConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun, hold := make(chan struct{}, 2), make(chan struct{})
		c, dials := pipedClient(t, func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/hold":
				begun <- struct{}{}
				<-hold
			case "/long":
				_, _ = io.WriteString(w, "too long")
			}
		})
		ask := func(path string) error { _, err := c.Send(t.Context(), path, nil, nil, 1); return err }
		ended := make(chan error, 1)
		go func() { ended <- ask("/hold") }()
		<-begun
		if err := ask(""); err != nil || dials.Load() != 2 {
			t.Fatalf("error %v after %d dials, want 2", err, dials.Load())
		}
		close(hold)
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		// Two connections are idle. One fails, and both are closed.
		if err := ask("/long"); err == nil {
			t.Fatal("no failure")
		}
		synctest.Wait()
		if err := ask(""); err != nil || dials.Load() != 3 {
			t.Errorf("%v after %d connections, want 3", err, dials.Load())
		}
	})
}

// TestCanceledContextIsReturnedAsItIs: the end of the context is not an error of the node.
func TestCanceledContextIsReturnedAsItIs(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c, _ := startServer(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	if _, err := c.Send(ctx, "", nil, nil, 1); err != context.Canceled {
		t.Errorf("error %v, want context.Canceled", err)
	}
}
