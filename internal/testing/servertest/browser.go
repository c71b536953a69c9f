package servertest

import (
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
)

// Browser keeps cookies, and sends forms as a page of ours would.
type Browser struct {
	server  *Server
	cookies map[string]string
	// Header is sent with each request.
	Header map[string]string
}

// Answer is the answer to a request.
type Answer struct {
	Status   int
	Body     string
	Location string
	Header   http.Header
}

// VisibleText returns the body as people read it: without tags, entities resolved, spaces as one.
func (a Answer) VisibleText() string {
	var text strings.Builder
	for i, part := range strings.Split(a.Body, "<") {
		if _, after, ends := strings.Cut(part, ">"); i > 0 && ends {
			part = " " + after
		}
		text.WriteString(part)
	}
	return strings.Join(strings.Fields(html.UnescapeString(text.String())), " ")
}

var token = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// NewBrowser opens a browser without a sign-in.
func (s *Server) NewBrowser() *Browser {
	return &Browser{server: s, cookies: map[string]string{}, Header: map[string]string{}}
}

// SignIn opens a browser and signs in.
func (s *Server) SignIn(email string) *Browser {
	s.T.Helper()
	b := s.NewBrowser()
	if a := b.PostFrom("/sign-in", "/sign-in",
		url.Values{"email": {email}, "password": {Password}}); a.Status != http.StatusSeeOther {
		s.T.Fatalf("sign-in answered %d: %s", a.Status, a.VisibleText())
	}
	return b
}

// NewWindow returns another one of the same browser, which may be used at the same time.
func (b *Browser) NewWindow() *Browser {
	return &Browser{server: b.server, cookies: maps.Clone(b.cookies), Header: b.Header}
}

// Get asks for a page.
func (b *Browser) Get(path string) Answer {
	b.server.T.Helper()
	return b.doRequest(httptest.NewRequest(http.MethodGet, path, nil))
}

// Head asks for a page's header.
func (b *Browser) Head(path string) Answer {
	b.server.T.Helper()
	return b.doRequest(httptest.NewRequest(http.MethodHead, path, nil))
}

// Post sends a form that carries no form token, as the customer's pages do.
func (b *Browser) Post(path string, form url.Values) Answer {
	b.server.T.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Origin", Base)
	return b.doRequest(r)
}

// SendRequest sends a request of the test's own making, as a form of our pages would.
func (b *Browser) SendRequest(r *http.Request) Answer {
	b.server.T.Helper()
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Origin", Base)
	return b.doRequest(r)
}

// PostFrom sends a form with the token of the page that it stands on.
func (b *Browser) PostFrom(page, path string, form url.Values) Answer {
	b.server.T.Helper()
	found := token.FindStringSubmatch(b.Get(page).Body)
	if found == nil {
		b.server.T.Fatalf("%s has no form token", page)
	}
	sent := url.Values{"csrf": {found[1]}}
	for name, values := range form {
		sent[name] = values
	}
	return b.Post(path, sent)
}

func (b *Browser) doRequest(r *http.Request) Answer {
	b.server.T.Helper()
	r.Host = strings.TrimPrefix(Base, "http://")
	for name, value := range b.Header {
		r.Header.Set(name, value)
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	response, err := b.server.App.Test(r, -1)
	if err != nil {
		b.server.T.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		b.server.T.Fatal(err)
	}
	for _, cookie := range response.Cookies() {
		if b.cookies[cookie.Name] = cookie.Value; cookie.MaxAge < 0 {
			delete(b.cookies, cookie.Name)
		}
	}
	return Answer{Status: response.StatusCode, Body: string(body), Location: response.Header.Get("Location"),
		Header: response.Header}
}

// AddCookies gives a request of another client the browser's cookies.
func (b *Browser) AddCookies(r *http.Request) {
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
}
