package e2e

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

// letters is a real SMTP server that keeps the texts of mails.
type letters struct {
	url string

	mu  sync.Mutex
	all []string // recipient, subject and text
}

func newLetters(t *testing.T) *letters {
	t.Helper()
	l := &letters{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return letterSession{letters: l}, nil }))
	server.Domain = "mail.test"
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	l.url = "smtp://" + listener.Addr().String() + "?from=till@example.com"
	return l
}

type letterSession struct {
	mailSession
	letters *letters
}

func (s letterSession) Data(r io.Reader) error {
	message, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	text, err := plainPart(message)
	if err != nil {
		return err
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(message.Header.Get("Subject"))
	s.letters.mu.Lock()
	defer s.letters.mu.Unlock()
	s.letters.all = append(s.letters.all, message.Header.Get("To")+"\n"+subject+"\n"+text)
	return err
}

// plainPart is the text of a mail in two forms.
func plainPart(message *mail.Message) (string, error) {
	_, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		return "", err
	}
	parts := multipart.NewReader(message.Body, parameters["boundary"])
	for {
		part, err := parts.NextRawPart()
		if err != nil {
			return "", err
		}
		if !strings.HasPrefix(part.Header.Get("Content-Type"), "text/plain") {
			continue
		}
		var text bytes.Buffer
		var body io.Reader = part
		if strings.EqualFold(part.Header.Get("Content-Transfer-Encoding"), "quoted-printable") {
			body = quotedprintable.NewReader(part)
		}
		_, err = text.ReadFrom(body)
		return text.String(), err
	}
}

// await waits for a mail that has every text, and gives it.
func (l *letters) await(t *testing.T, texts ...string) (found string) {
	t.Helper()
	harness.WaitFor(t, time.Minute, fmt.Sprintf("a mail with %q", texts), func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, one := range l.all {
			has := true
			for _, text := range texts {
				has = has && strings.Contains(one, text)
			}
			if has {
				found = one
			}
		}
		return found != ""
	})
	return found
}

// link is the address in a mail that leads to a path.
func link(t *testing.T, mail, path string) string {
	t.Helper()
	found := regexp.MustCompile(`http://\S+` + path + `[\w-]{43}`).FindString(mail)
	if found == "" {
		t.Fatalf("no %s in %s", path, mail)
	}
	return found
}

// authenticator is RFC 6238 as the RFC writes it down, beside the library that the program uses.
func authenticator(t *testing.T, key string, at time.Time) string {
	t.Helper()
	secret, err := base32.StdEncoding.DecodeString(key)
	if err != nil {
		t.Fatal(err)
	}
	sum := hmac.New(sha1.New, secret)
	_ = binary.Write(sum, binary.BigEndian, at.Unix()/30)
	digest := sum.Sum(nil)
	offset := digest[19] & 15
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(digest[offset:])&0x7fffffff%1_000_000)
}

var keyShown = regexp.MustCompile(`[A-Z2-7]{32}`)

// TestPeople drives with JavaScript off, and with mails from a real server, all
// that is about accounts: a forgotten password, a second factor, an invitation;
// and looks at each page of it in every view.
func TestPeople(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	post := newLetters(t)
	i.SetSetting("SMTP_URL", post.url)
	i.Start()
	i.CreateBusiness()
	chromium := browser.StartShared(t)
	page := chromium.OpenTab(t, browser.Plain)

	page.Open(i.Base + "/sign-in")
	page.FollowLink("a[href='/forgot']")
	page.FillField("input[name=email]", harness.Email)
	page.FollowLink("main form button")
	page.Open(link(t, post.await(t, "Choose a new password", harness.Email), "/reset/"))
	page.TakeShot("reset")
	page.FillField("input[name=password]", harness.Password)
	page.ClickElement("main form button")
	page.WaitForElement("form[action='/sign-in']")
	enter(page, i)
	post.await(t, "New sign-in to your account", "Chrome on Linux")

	page.Open(i.Base + "/dashboard/account/second-factor")
	page.FillField("input[name=password]", harness.Password)
	page.ClickElement("main form button")
	page.WaitForElement("input[name=setup]")
	key := keyShown.FindString(page.ReadText("main"))
	for name, view := range chooseViews() { // the same page, seen by another session of the same user
		t.Run("setup-"+name, func(t *testing.T) {
			other := chromium.OpenTab(t, view)
			enter(other, i)
			other.Open(i.Base + "/dashboard/account/second-factor")
			other.FillField("input[name=password]", harness.Password)
			other.ClickElement("main form button")
			other.WaitForElement("input[name=setup]")
			other.TakeShot("second-factor-setup-" + name)
			for _, fault := range other.ListFaults() {
				t.Errorf("fault = %v", fault)
			}
		})
	}
	page.FillField("input[name=code]", authenticator(t, key, time.Now()))
	page.ClickElement("main form button[type=submit]")
	page.WaitForElement(".panel-once")
	page.TakeShot("recovery-codes")
	recovery := regexp.MustCompile(`[0-9A-Z]{5}-[0-9A-Z]{5}`).FindAllString(page.ReadText("main"), -1)
	if len(recovery) < 10 {
		t.Fatalf("recovery = %v", recovery)
	}
	post.await(t, "Two-factor authentication is on")

	page.Open(i.Base + "/dashboard/team")
	page.FillField("input[name=email]", "bayo@shop.example")
	page.ClickElement("form[action='/dashboard/team/invitations'] button")
	page.WaitForElement("form[action$='/revoke']")
	invitation := link(t, post.await(t, "bayo@shop.example", "invites you to Ama's Shop"), "/invitation/")

	for name, view := range chooseViews() {
		t.Run(name, func(t *testing.T) { lookAtPeople(t, i, chromium.OpenTab(t, view), name, invitation, &recovery) })
	}

	guest := chromium.OpenTab(t, browser.Plain)
	guest.Open(invitation)
	guest.FillField("input[name=name]", "Bayo Ade")
	guest.FillField("input[name=password]", harness.Password)
	guest.ClickElement("main form button")
	guest.WaitForElement("form[action='/sign-out']")
	page.Open(i.Base + "/dashboard/team")
	if text := page.ReadText("main"); !strings.Contains(text, "Bayo Ade") {
		t.Errorf(`page.Text("main"): text = %v`, text)
	}
}

// lookAtPeople signs in with a recovery code and looks at the pages.
func lookAtPeople(t *testing.T, i *harness.Instance, page *browser.Page, view, invitation string, recovery *[]string) {
	t.Helper()
	for title, address := range map[string]string{"invitation": invitation, "forgot": i.Base + "/forgot"} {
		page.Open(address)
		page.TakeShot(title + "-" + view)
		for _, fault := range page.ListFaults() {
			t.Errorf("%s: %s", title, fault)
		}
	}
	page.Open(i.Base + "/sign-in")
	page.FillField("input[name=email]", harness.Email)
	page.FillField("input[name=password]", harness.Password)
	page.ClickElement("main form button[type=submit]")
	page.WaitForElement("form[action='/sign-in/code']")
	page.TakeShot("sign-in-code-" + view)
	for _, fault := range page.ListFaults() {
		t.Errorf("sign-in code: %s", fault)
	}
	page.FillField("input[name=code]", (*recovery)[0])
	*recovery = (*recovery)[1:]
	page.ClickElement("main form button[type=submit]")
	page.WaitForElement("form[action='/sign-out']")
	for _, path := range []string{"/dashboard/account", "/dashboard/account/password", "/dashboard/account/email", "/dashboard/account/second-factor", "/dashboard/team"} {
		look(t, page, i.Base, path, view)
	}
}
