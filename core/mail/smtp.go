package mail

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/textproto"
	"net/url"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"cointill/core/contact"
	"cointill/models"
)

// SMTP is a mail server and how to reach it.
type SMTP struct {
	host     string
	port     int
	user     string
	password string
	from     mail.Address
	implicit bool // TLS from the first byte
	startTLS bool // TLS is required by STARTTLS

	// TLS is the client's TLS configuration; nil verifies against the system's roots.
	TLS *tls.Config
	// Timeout bounds connecting, and each of the two halves of a conversation.
	Timeout time.Duration
}

// errSMTP never repeats the setting: it may hold a password.
var errSMTP = errors.New("COINTILL_SMTP_URL must look like " +
	"smtp://user:password@mail.example.com:587?from=shop@example.com")

// ParseSMTP reads COINTILL_SMTP_URL: smtp:// (port 587 by default) or smtps://
// (465), and from, the sender's address. STARTTLS is required on smtp:// unless
// the host is this machine; ?tls=none and ?tls=starttls say otherwise.
func ParseSMTP(text string) (*SMTP, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Path != "" && u.Path != "/" || u.Fragment != "" {
		return nil, errSMTP
	}
	s := &SMTP{host: u.Hostname(), port: 587, Timeout: 20 * time.Second}
	switch u.Scheme {
	case "smtp":
		s.startTLS = !isLoopback(s.host)
	case "smtps":
		s.implicit, s.port = true, 465
	default:
		return nil, errSMTP
	}
	if u.Port() != "" {
		if s.port, err = strconv.Atoi(u.Port()); err != nil || s.port < 1 || s.port > 65535 {
			return nil, errSMTP
		}
	}
	if u.User != nil {
		s.user = u.User.Username()
		s.password, _ = u.User.Password()
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, errSMTP
	}
	for name := range query {
		if name != "from" && name != "tls" {
			return nil, fmt.Errorf("COINTILL_SMTP_URL: ?%s is not known; from and tls are", name)
		}
	}
	switch query.Get("tls") {
	case "":
	case "none":
		if s.implicit {
			return nil, errors.New("COINTILL_SMTP_URL: smtps:// with ?tls=none contradicts itself")
		}
		s.startTLS = false
	case "starttls":
		s.startTLS = !s.implicit
	default:
		return nil, errors.New("COINTILL_SMTP_URL: ?tls= may be starttls or none")
	}
	from, err := mail.ParseAddress(query.Get("from"))
	if err != nil || !contact.CheckEmail(from.Address).IsZero() && !isLoopback(s.host) {
		return nil, errors.New("COINTILL_SMTP_URL: ?from= must be the e-mail address that receipts come from")
	}
	s.from = *from
	return s, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// refusal is an attempt that certainly did not bring the mail.
type refusal struct {
	sentence string
	final    bool // trying again is useless
	cause    error
}

func (r *refusal) Error() string { return r.sentence }
func (r *refusal) Unwrap() error { return r.cause }

// errNoAnswer is the one end that leaves open whether the mail arrived.
var errNoAnswer = errors.New("the mail server took the message but never answered")

// ledger is where the two moments that matter are recorded.
type ledger struct {
	// handing is called when everything is said but the end of the message.
	// When it fails the connection is dropped, and a server that has seen no
	// end of the message delivers nothing.
	handing func() error
	// accepted is called as soon as the server has taken the message, before
	// any courtesy.
	accepted func() error
}

// sendMail brings one mail to the server; answers to it go to replyTo, if there is one. The error is the one of accepted
// when the server took it, a *refusal when it certainly did not, errNoAnswer otherwise.
func (s *SMTP) sendMail(ctx context.Context, row models.Mail, replyTo string, at time.Time, l ledger) error {
	message, err := s.composeMessage(row, replyTo, at)
	if err != nil {
		return &refusal{sentence: "The mail could not be written.", final: true, cause: err}
	}
	client, err := s.dialServer(ctx)
	if err != nil {
		return newRefusal("The mail server could not be reached or refused the sign-in", err, false)
	}
	// On a failure no QUIT: within a message it would end the message too.
	defer client.Close()
	if err := client.Mail("<" + s.from.Address + ">"); err != nil {
		return newRefusal("The mail server refused the sender", err, false)
	}
	if err := client.Rcpt("<" + row.To + ">"); err != nil {
		return newRefusal("The mail server refused the recipient", err, true)
	}
	body, err := client.Data()
	if err != nil {
		return newRefusal("The mail server refused the message", err, true)
	}
	if _, err := body.Write(message); err != nil {
		return newRefusal("The connection to the mail server broke", err, false)
	}
	if err := l.handing(); err != nil {
		return newRefusal("The hand-over could not be recorded", err, false)
	}
	_ = client.UpdateDeadline(s.Timeout)
	if err := body.Close(); err != nil {
		if answer := new(textproto.Error); errors.As(err, &answer) {
			return newRefusal("The mail server refused the message", err, true)
		}
		return errNoAnswer
	}
	err = l.accepted()
	_ = client.UpdateDeadline(time.Second)
	_ = client.Quit()
	return err
}

// newRefusal describes a refusal. Only a 5xx answer about this very mail is final:
// anything else may be the server's or the operator's trouble and pass.
func newRefusal(what string, err error, aboutThisMail bool) *refusal {
	answer := new(textproto.Error)
	if errors.As(err, &answer) {
		sentence := fmt.Sprintf("%s: %d %s", what, answer.Code, oneLine(answer.Msg))
		return &refusal{sentence: shortenText(sentence), final: aboutThisMail && answer.Code/100 == 5, cause: err}
	}
	return &refusal{sentence: shortenText(what + ": " + oneLine(err.Error())), cause: err}
}

// shortenText bounds what strangers' servers say.
func shortenText(text string) string {
	if runes := []rune(text); len(runes) > 500 {
		return string(runes[:500]) + "…"
	}
	return text
}

// dialServer connects, secures and signs in.
func (s *SMTP) dialServer(ctx context.Context) (*smtp.Client, error) {
	options := []gomail.Option{gomail.WithPort(s.port), gomail.WithTimeout(s.Timeout),
		gomail.WithHELO(heloName(s.from.Address))}
	config := &tls.Config{}
	if s.TLS != nil {
		config = s.TLS.Clone()
	}
	config.ServerName, config.MinVersion = s.host, tls.VersionTLS12
	options = append(options, gomail.WithTLSConfig(config))
	switch {
	case s.implicit:
		options = append(options, gomail.WithSSL())
	case s.startTLS:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	}
	if s.user != "" {
		how := gomail.SMTPAuthAutoDiscover
		if !s.implicit && !s.startTLS {
			how = gomail.SMTPAuthPlainNoEnc // the operator asked for no TLS, or the server is this machine
		}
		options = append(options, gomail.WithSMTPAuth(how), gomail.WithUsername(s.user),
			gomail.WithPassword(s.password))
	}
	client, err := gomail.NewClient(s.host, options...)
	if err != nil {
		return nil, err
	}
	connected, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return nil, err
	}
	return connected, connected.UpdateDeadline(s.Timeout)
}

// heloName names us by the sender's domain, so that the machine's own name stays private.
func heloName(from string) string {
	for i := len(from) - 1; i >= 0; i-- {
		if from[i] == '@' {
			return from[i+1:]
		}
	}
	return "localhost"
}

// composeMessage writes the message: both forms, every header encoded, the
// Message-ID of the row.
func (s *SMTP) composeMessage(row models.Mail, replyTo string, at time.Time) ([]byte, error) {
	message := gomail.NewMsg()
	message.FromMailAddress(&mail.Address{Name: row.FromName, Address: s.from.Address})
	message.ToMailAddress(recipientOf(row))
	if replyTo != "" {
		message.ReplyToMailAddress(&mail.Address{Name: row.FromName, Address: replyTo})
	}
	message.Subject(oneLine(row.Subject))
	message.SetMessageIDWithValue(row.MessageID)
	message.SetDateWithValue(at)
	message.SetUserAgent("Cointill")
	message.SetGenHeader("Auto-Submitted", "auto-generated")
	message.SetBodyString(gomail.TypeTextPlain, row.Text)
	message.AddAlternativeString(gomail.TypeTextHTML, row.HTML)
	var text bytes.Buffer
	if _, err := message.WriteTo(&text); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}
