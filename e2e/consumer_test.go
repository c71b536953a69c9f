package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// The ways in which a consumer fails. Each connection carries one request and
// has its fate from the beginning, as some fail before there is a request.
const (
	healthy     = ""
	resetEarly  = "reset before the request"
	resetLate   = "reset after the request"
	slowHeaders = "slow headers"
	slowBody    = "slow body"
	broken      = "500"
	limited     = "429"
	alert       = "TLS alert"
	noTLS       = "no TLS"
	halfClose   = "half-close"
)

var faults = []string{resetEarly, resetLate, slowHeaders, slowBody, broken, limited, alert, noTLS, halfClose}

// faulty is the share of connections that fail, in percent.
const faulty = 30

// dawdle is how long slow answers take at most: some are cut off by a kill, some end.
const dawdle = 3 * time.Second

// pause is how long one takes: mostly far less, so that what is slow doesn't
// make up the whole run.
func pause() time.Duration {
	part := rand.Float64()
	return time.Duration(part * part * part * float64(dawdle))
}

// storm is what the consumers of one run share: it is over once calm is closed.
type storm struct {
	calm     chan struct{}
	mu       sync.Mutex
	requests int
	faults   map[string]int
	wrong    []string // what must never be
	node     *nodeVerifier

	certificate tls.Certificate // of every consumer
}

func newStorm(t *testing.T) *storm {
	return &storm{calm: make(chan struct{}), faults: map[string]int{}, node: newNodeVerifier(t), certificate: elliptic256(t)}
}

// elliptic256 makes a certificate of this machine. That of httptest has an RSA
// key, whose signatures would be most of the work of a run.
func elliptic256(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(crand.Reader, about, about, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// fate draws how a connection ends.
func (s *storm) fate() string {
	select {
	case <-s.calm:
		return healthy
	default:
	}
	if rand.IntN(100) >= faulty {
		return healthy
	}
	return faults[rand.IntN(len(faults))]
}

func (s *storm) count(fault string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[fault]++
}

func (s *storm) complain(format string, values ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.wrong) < 20 {
		s.wrong = append(s.wrong, fmt.Sprintf(format, values...))
	}
}

// wait holds a request until the storm is over, its client is gone, or a time has passed.
func (s *storm) wait(ctx context.Context, atMost time.Duration) {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-s.calm:
	case <-ctx.Done():
	case <-timer.C:
	}
}

// consumer is a merchant's server in a storm. It remembers what came.
type consumer struct {
	*httptest.Server
	*storm
	id, secret string
	order      resendOrder // the latest of what failed

	mu       sync.Mutex
	bodies   map[string][sha256.Size]byte // by webhook-id, of whatever came
	taken    map[string]bool              // ids that were answered 2xx
	sequence map[string]map[int]bool      // payment → sequences that came
	ended    map[string]bool              // payments of which the last event came
	again    int                          // requests whose event had come before
}

// newConsumer serves on a free port of this machine, by TLS.
func newConsumer(t *testing.T, s *storm) *consumer {
	c := &consumer{storm: s, bodies: map[string][sha256.Size]byte{}, taken: map[string]bool{},
		sequence: map[string]map[int]bool{}, ended: map[string]bool{}}
	c.Server = httptest.NewUnstartedServer(c)
	c.Listener = fateful{c.Listener, s}
	c.Config.SetKeepAlivesEnabled(false)
	c.Config.ErrorLog = log.New(io.Discard, "", 0) // the handshakes that are to fail
	c.Config.ConnContext = func(ctx context.Context, connection net.Conn) context.Context {
		return context.WithValue(ctx, fatedKey{}, connection.(*tls.Conn).NetConn())
	}
	c.TLS = &tls.Config{Certificates: []tls.Certificate{s.certificate}, GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if hello.Conn.(*fated).fate == alert {
			return nil, errors.New("to fail")
		}
		return nil, nil
	}}
	c.StartTLS()
	t.Cleanup(c.Close)
	return c
}

// trust writes the certificate of the consumers, which all have the same, for the program to trust.
func (c *consumer) trust(t *testing.T) (file string) {
	file = filepath.Join(t.TempDir(), "roots.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// fatedKey is the connection's in the context of its request.
type fatedKey struct{}

// fated is a connection that knows how it will end.
type fated struct {
	*net.TCPConn
	fate string
}

// reset ends the connection as a crashed machine does.
func (f *fated) reset() {
	_ = f.SetLinger(0)
	_ = f.TCPConn.Close()
}

// fateful accepts connections and ends those that fail before TLS begins.
type fateful struct {
	net.Listener
	*storm
}

func (l fateful) Accept() (net.Conn, error) {
	for {
		connection, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		f := &fated{connection.(*net.TCPConn), l.fate()}
		if f.fate != healthy {
			l.count(f.fate)
		}
		switch f.fate {
		case resetEarly:
			f.reset()
		case noTLS:
			go f.plain()
		default:
			return f, nil
		}
	}
}

// plain answers a TLS handshake with HTTP.
func (f *fated) plain() {
	defer f.TCPConn.Close()
	_ = f.SetDeadline(time.Now().Add(dawdle))
	if _, err := f.Read(make([]byte, 4096)); err == nil {
		_, _ = io.WriteString(f, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
	}
}

func (c *consumer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := r.Context().Value(fatedKey{}).(*fated)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the program was killed while it sent
	}
	c.receive(r.Header, body)
	id := r.Header.Get("Webhook-Id")
	switch f.fate {
	case resetLate:
		f.reset()
	case halfClose:
		_ = f.CloseWrite()
		c.wait(r.Context(), pause())
	case slowHeaders:
		c.wait(r.Context(), pause())
		w.WriteHeader(http.StatusServiceUnavailable)
	case slowBody: // the status counts, which came
		c.take(id)
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		c.wait(r.Context(), pause())
	case broken:
		w.WriteHeader(http.StatusInternalServerError)
	case limited:
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
	default:
		c.take(id)
		w.WriteHeader(http.StatusNoContent)
	}
}

func (c *consumer) take(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.taken[id] = true
}

// receive verifies a request and compares it with those of the same event.
func (c *consumer) receive(header http.Header, body []byte) {
	c.storm.mu.Lock()
	c.requests++
	c.storm.mu.Unlock()
	if verifier, err := standardwebhooks.NewWebhook(c.secret); err != nil || verifier.Verify(body, header) != nil {
		c.complain("does not verify: %v %s", header, body)
	}
	if err := c.node.look(c.secret, delivery{header, body}); err != nil {
		c.complain("Node: %v", err)
	}
	var e struct {
		ID, Type string
		Sequence int
		Data     struct{ Reference string }
	}
	id := header.Get("Webhook-Id")
	if err := json.Unmarshal(body, &e); err != nil || e.ID != id {
		c.complain("%s is not the id of %s", id, body)
	}
	sum := sha256.Sum256(body)
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, came := c.bodies[id]; came {
		c.again++
		if before != sum {
			c.complain("%s came with two bodies", id)
		}
	}
	c.bodies[id] = sum
	if c.sequence[e.Data.Reference] == nil {
		c.sequence[e.Data.Reference] = map[int]bool{}
	}
	c.sequence[e.Data.Reference][e.Sequence] = true
	if ending[e.Type] {
		c.ended[e.Data.Reference] = true
	}
}

// ending are the types after which a payment of the run comes to rest.
var ending = map[string]bool{"payment.successful": true, "payment.declined": true, "payment.failed": true}
