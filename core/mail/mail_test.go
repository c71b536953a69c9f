package mail_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"cointill/core/clock"
	"cointill/core/mail"
	"cointill/core/outbox"
	"cointill/core/scope"
	"cointill/models"
	"cointill/models/modelstest"
)

var (
	owner = scope.Scope{BusinessID: 1, Domain: scope.Test, Actor: "user:1", Role: scope.Owner}
	start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// post is a mail server of the test: it keeps what it accepts, and does at
// each command what the test says.
type post struct {
	server  *smtp.Server
	address string
	tls     *tls.Config // what a client needs to trust it

	mu     sync.Mutex
	mail   func() error
	rcpt   func() error
	data   func(c *smtp.Conn, message string) error // after the end of the message
	got    []string
	sentTo []string // by envelopes
	users  []string
	halted chan struct{}
}

type postOption func(*smtp.Server, *post)

// withTLS offers STARTTLS with a certificate for 127.0.0.1.
func withTLS(s *smtp.Server, p *post) {
	issuer := httptest.NewUnstartedServer(nil)
	issuer.StartTLS()
	roots := x509.NewCertPool()
	roots.AddCert(issuer.Certificate())
	s.TLSConfig, p.tls = &tls.Config{Certificates: issuer.TLS.Certificates}, &tls.Config{RootCAs: roots}
	issuer.Close()
}

func newPost(t *testing.T, options ...postOption) *post {
	t.Helper()
	p := &post{halted: make(chan struct{})}
	p.server = smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) { return &session{p: p, c: c}, nil }))
	p.server.AllowInsecureAuth, p.server.ErrorLog = true, log.New(io.Discard, "", 0)
	for _, o := range options {
		o(p.server, p)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.address = listener.Addr().String()
	go func() { _ = p.server.Serve(listener) }()
	t.Cleanup(func() { close(p.halted); _ = p.server.Close() })
	return p
}

func (p *post) messages() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.got...)
}

func (p *post) set(change func()) { p.mu.Lock(); defer p.mu.Unlock(); change() }

type session struct {
	p *post
	c *smtp.Conn
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if password != "p@ss" {
			return errors.New("no")
		}
		s.p.set(func() { s.p.users = append(s.p.users, user) })
		return nil
	}), nil
}
func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }
func (s *session) Mail(string, *smtp.MailOptions) error {
	return s.p.run(func() func() error { return s.p.mail })
}
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.p.set(func() { s.p.sentTo = append(s.p.sentTo, to) })
	return s.p.run(func() func() error { return s.p.rcpt })
}

func (p *post) run(which func() func() error) error {
	p.mu.Lock()
	do := which()
	p.mu.Unlock()
	if do == nil {
		return nil
	}
	return do()
}

func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err // no end of the message: nothing is delivered
	}
	s.p.mu.Lock()
	do := s.p.data
	s.p.mu.Unlock()
	if do != nil {
		if err := do(s.c, string(text)); err != nil {
			return err
		}
	}
	s.p.set(func() { s.p.got = append(s.p.got, string(text)) })
	return nil
}

func code(n int, text string) func() error {
	return func() error { return &smtp.SMTPError{Code: n, Message: text} }
}

// bundle is a service on a database with a clock that the test moves.
type bundle struct {
	*mail.Service
	t      *testing.T
	clock  *clock.Fake
	worker *outbox.Worker[models.Mail]
}

// each runs a test with a bundle on every database. query is added to the
// mail server's setting.
func each(t *testing.T, query string, test func(t *testing.T, b *bundle, p *post), options ...postOption) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		p, fake := newPost(t, options...), clock.NewFake(start)
		server, err := mail.ParseSMTP("smtp://" + p.address + "?from=till@example.com" + query)
		if err != nil {
			t.Fatal(err)
		}
		server.TLS, server.Timeout = p.tls, 3*time.Second
		s := &mail.Service{DB: db, Clock: fake.Now, SMTP: server, Render: render}
		worker := s.NewWorker(outbox.Options{Log: slog.New(slog.DiscardHandler)})
		test(t, &bundle{Service: s, t: t, clock: fake, worker: worker}, p)
	})
}

func render(r mail.Receipt) (subject, text, html string) {
	return "Receipt from " + r.BusinessName, "You paid " + r.Amount + " " + r.Currency + " – thank you.\n", "<p>You paid <b>" + r.Amount + "</b></p>"
}

func sample(reference string) mail.Receipt {
	return mail.Receipt{BusinessID: 1, Domain: scope.Test, PaymentID: 9, BusinessName: "Àdìrẹ Shop", CustomerName: "Chiọma Ọbí",
		CustomerEmail: "chioma@example.com", Reference: reference, Currency: "NGN", Amount: "1500.00", Coin: "BTC", CoinAmount: "0.00001234"}
}

func (b *bundle) queue(r mail.Receipt) {
	b.t.Helper()
	if err := b.DB.Write(b.t.Context(), func(tx *models.Tx) error { return b.QueueReceipt(tx, r) }); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bundle) step() int {
	b.t.Helper()
	n, err := b.worker.Step(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

// only is the single mail of the business.
func (b *bundle) only() mail.Mail {
	b.t.Helper()
	list, _, err := b.ListMails(b.t.Context(), owner, 0, 25)
	if err != nil || len(list) != 1 {
		b.t.Fatalf("%d mails, want 1: %v", len(list), err)
	}
	m, err := b.FindMail(b.t.Context(), owner, list[0].ID)
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

func (b *bundle) resend(id int64) {
	b.t.Helper()
	if _, err := b.ResendMail(context.Background(), owner, id); err != nil {
		b.t.Fatal(err)
	}
}

func header(message, name string) (values []string) {
	head, _, _ := strings.Cut(message, "\r\n\r\n")
	head = strings.ReplaceAll(strings.ReplaceAll(head, "\r\n ", " "), "\r\n\t", " ")
	for line := range strings.SplitSeq(head, "\r\n") {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(key, name) {
			values = append(values, strings.TrimSpace(value))
		}
	}
	return values
}
