package e2e

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"cointill/e2e/harness"
)

// plainBrowser is a browser without scripts.
type plainBrowser struct {
	*http.Client
	t    *testing.T
	base string
}

func newPlainBrowser(t *testing.T, base string) *plainBrowser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &plainBrowser{&http.Client{Jar: jar, Timeout: 30 * time.Second}, t, base}
}

// ask sends a request that must go well, and gives the page that it led to.
func (v *plainBrowser) ask(method, path string, form url.Values) (*http.Response, string) {
	v.t.Helper()
	return v.answered(http.StatusOK, method, path, form)
}

// answered is ask for another status.
func (v *plainBrowser) answered(status int, method, path string, form url.Values) (*http.Response, string) {
	v.t.Helper()
	request, err := http.NewRequest(method, v.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		v.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", v.base)
	answer, err := v.Do(request)
	if err != nil {
		v.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != status {
		v.t.Fatalf("%s %s: %d, want %d, %v", method, path, answer.StatusCode, status, err)
	}
	return answer, string(body)
}

// token is what forms of a page carry.
func (v *plainBrowser) token(page string) string {
	v.t.Helper()
	found := tokenField.FindStringSubmatch(page)
	if found == nil {
		v.t.Fatalf("no form in %s", page)
	}
	return found[1]
}

// signIn signs the owner in.
func (v *plainBrowser) signIn() {
	v.t.Helper()
	_, page := v.ask("GET", "/sign-in", nil)
	v.ask("POST", "/sign-in", url.Values{"csrf": {v.token(page)}, "email": {harness.Email}, "password": {harness.Password}})
}
