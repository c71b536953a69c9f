package e2e

import (
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

// behindHTTPS starts an instance behind a proxy that speaks https, at a host name that is not
// loopback to Cointill, though browsers find it on this machine. It gives the link that serve
// printed for the first owner.
func behindHTTPS(t *testing.T, scheme string) (i *harness.Instance, link string) {
	t.Helper()
	i = harness.New(t, false)
	target, err := url.Parse(i.Base)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewTLSServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
		r.SetXForwarded()
		if r.Out.Header.Del("X-Forwarded-Proto"); scheme != "" {
			r.Out.Header.Set("X-Forwarded-Proto", scheme)
		}
	}})
	t.Cleanup(func() { front.CloseClientConnections(); front.Close() })
	base := "https://pay.localhost" + front.URL[strings.LastIndex(front.URL, ":"):]
	i.SetSetting("BASE_URL", base)
	i.Start()
	printed := regexp.MustCompile(regexp.QuoteMeta(base) + `/sign-up#token=setup_\w{26}\n`)
	harness.WaitFor(t, 10*time.Second, "serve to print a link for the first owner", func() bool {
		link = strings.TrimSpace(printed.FindString(i.ReadLog()))
		return link != ""
	})
	return i, link
}

// TestFirstOwnerByLink: the link that serve printed fills the token in and leaves the address,
// and its holder signs up; then the page says how businesses are made.
func TestFirstOwnerByLink(t *testing.T) {
	_, link := behindHTTPS(t, "https")
	address, token, _ := strings.Cut(link, "#token=")
	chromium := browser.StartShared(t)
	for name, view := range map[string]browser.View{"phone": browser.Phone, "phone-dark": browser.PhoneDark, "desktop": browser.Desktop, "desktop-dark": browser.DesktopDark} {
		page := chromium.OpenTab(t, view)
		page.TrustAnyCertificate()
		page.Open(link)
		page.WaitForExpression(`document.querySelector("input[name=setup_token]").value === "` + token + `" && location.href === "` + address + `"`)
		page.CheckPage()
		page.TakeShot("sign-up-token-" + name)
		page.FillField("input[name=setup_token]", "setup_MISTYPED")
		page.FillField("input[name=business_name]", "Ama's Shop")
		page.FillField("input[name=name]", "Ama Mensah")
		page.FillField("input[name=email]", harness.Email)
		page.FillField("input[name=password]", harness.Password)
		if status := page.FollowLink("main form button[type=submit]"); status != 422 || !strings.Contains(page.ReadText("main"), "not the one that the server printed last") {
			t.Errorf("%s, a mistyped token: %d %s", name, status, page.ReadText("main"))
		}
		page.TakeShot("sign-up-token-refused-" + name)
		page.WaitForExpression(`(location.hash = "token=setup_OPENED") !== ""`) // as opening the link in this tab does
		page.WaitForExpression(`document.querySelector("input[name=setup_token]").value === "setup_OPENED" && location.href === "` + address + `"`)
	}
	page := chromium.OpenTab(t, browser.Desktop)
	page.TrustAnyCertificate()
	page.Open(link)
	page.WaitForExpression(`document.querySelector("input[name=setup_token]").value === "` + token + `"`)
	page.FillField("input[name=business_name]", "Ama's Shop")
	page.FillField("input[name=name]", "Ama Mensah")
	page.FillField("input[name=email]", harness.Email)
	page.FillField("input[name=password]", harness.Password)
	page.FollowLink("main form button[type=submit]")
	if text := page.ReadText("main"); !strings.Contains(text, "Your business is ready") {
		t.Fatalf("after sign-up by the link: %s", text)
	}
	for name, view := range map[string]browser.View{"phone": browser.Phone, "phone-dark": browser.PhoneDark, "desktop": browser.Desktop, "desktop-dark": browser.DesktopDark} {
		closed := chromium.OpenTab(t, view)
		closed.TrustAnyCertificate()
		closed.Open(link)
		if text := closed.ReadText("main"); !strings.Contains(text, "Sign-up is closed") || !strings.Contains(text, "cointill business create") {
			t.Errorf("%s, the link once it was used: %s", name, text)
		}
		closed.CheckPage()
		closed.TakeShot("sign-up-closed-" + name)
	}
}

// TestFirstOwnerWithoutScript: without JavaScript the token is pasted, and a stranger without
// it makes no business.
func TestFirstOwnerWithoutScript(t *testing.T) {
	_, link := behindHTTPS(t, "https")
	_, token, _ := strings.Cut(link, "#token=")
	page := browser.StartShared(t).OpenTab(t, browser.Plain)
	page.TrustAnyCertificate()
	page.Open(link)
	for _, pasted := range []string{"setup_GUESSED", token} {
		page.FillField("input[name=setup_token]", pasted)
		page.FillField("input[name=business_name]", "Ama's Shop")
		page.FillField("input[name=name]", "Ama Mensah")
		page.FillField("input[name=email]", harness.Email)
		page.FillField("input[name=password]", harness.Password)
		status := page.FollowLink("main form button[type=submit]")
		if ready := strings.Contains(page.ReadText("main"), "Your business is ready"); ready != (pasted == token) {
			t.Fatalf("with the token %s: %d %s", pasted, status, page.ReadText("main"))
		}
	}
}

// TestAPIBehindProxies: calls are answered behind a proxy that says https, and refused by a
// sentence behind one that says nothing and on the listener itself.
func TestAPIBehindProxies(t *testing.T) {
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // of a certificate that the test made
	for scheme, want := range map[string]string{"https": "", "": "https_unknown", "http": "https_required"} {
		i, link := behindHTTPS(t, scheme)
		i.CreateBusiness()
		through := strings.Replace(strings.TrimSuffix(link, link[strings.Index(link, "/sign-up"):]), "pay.localhost", "127.0.0.1", 1)
		for base, want := range map[string]string{through: want, i.Base: "https_unknown"} {
			request, err := http.NewRequest(http.MethodGet, base+"/v1/payment-methods", nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Authorization", "Bearer "+i.Key)
			answer, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(answer.Body)
			if err = errors.Join(err, answer.Body.Close()); err != nil {
				t.Fatal(err)
			}
			var body struct{ Code, Message string }
			i.DecodeOutput(string(text), &body)
			if body.Code != want || (answer.StatusCode == 200) != (want == "") || want != "" && answer.StatusCode != 403 {
				t.Errorf("a proxy that says %q, call at %s: %d %q %q, want %q", scheme, base, answer.StatusCode, body.Code, body.Message, want)
			}
		}
	}
}
