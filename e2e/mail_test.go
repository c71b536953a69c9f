package e2e

import (
	"io"
	"maps"
	"net"
	"regexp"
	"sync"
	"testing"

	"github.com/emersion/go-smtp"
)

// mailServer is a real SMTP server that remembers what it accepted.
type mailServer struct {
	url string

	mu    sync.Mutex
	about map[string]int // payment reference → mails
}

var paymentReference = regexp.MustCompile(`PAY_[0-9A-Z]{26}`)

func newMailServer(t *testing.T) *mailServer {
	t.Helper()
	m := &mailServer{about: map[string]int{}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return mailSession{m}, nil }))
	server.Domain = "mail.test"
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	m.url = "smtp://" + listener.Addr().String() + "?from=till@example.com"
	return m
}

func (m *mailServer) counts() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.about)
}

type mailSession struct{ *mailServer }

func (mailSession) Mail(string, *smtp.MailOptions) error { return nil }
func (mailSession) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (mailSession) Reset()                               {}
func (mailSession) Logout() error                        { return nil }

func (s mailSession) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.about[string(paymentReference.Find(text))]++
	return nil
}
