package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"cointill/handlers/page"
	"cointill/models"
	"cointill/static"
	"cointill/web"
)

// listen serves on a real socket and returns its address and how to stop.
func (b *bench) listen(t *testing.T) (address string, stop func() error) {
	t.Helper()
	return b.listenBy(t, func(ln net.Listener) net.Listener { return ln })
}

// listenBy serves on what wrap makes of the socket.
func (b *bench) listenBy(t *testing.T, wrap func(net.Listener) net.Listener) (address string, stop func() error) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- b.Listen(wrap(ln)) }()
	stopped := false
	stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		if err := b.Shutdown(context.Background()); err != nil {
			return err
		}
		return <-done
	}
	t.Cleanup(func() { _ = stop() })
	return ln.Addr().String(), stop
}

// TestRawRequests (AP-18, AP-19, AP-23, AP-25) sends what no client library would. Each
// gets one clear answer and a closed connection, or silence: never two answers.
func TestRawRequests(t *testing.T) {
	b := setup(t, local)
	address, _ := b.listen(t)
	const host = "Host: a\r\n"
	post := "POST /v1/echo HTTP/1.1\r\n" + host + "Content-Type: application/json\r\n"
	chunk := "2\r\n{}\r\n0\r\n\r\n"
	cases := map[string]struct{ request, status string }{
		"two lengths":              {post + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", "400"},
		"length and chunks":        {post + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", "400"},
		"length and no chunks":     {post + "Content-Length: 38\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", "400"},
		"length and trailers":      {post + "Content-Length: 44\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", "400"},
		"chunks and length":        {post + "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n" + chunk, "400"},
		"unknown coding":           {post + "Transfer-Encoding: xchunked\r\n\r\n" + chunk, "400"},
		"two codings":              {post + "Transfer-Encoding: identity, chunked\r\n\r\n" + chunk, "400"},
		"coding twice":             {post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk, "400"},
		"chunks in HTTP/1.0":       {"POST /v1/echo HTTP/1.0\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n" + chunk, "400"},
		"no host":                  {"GET /healthz HTTP/1.1\r\n\r\n", "400"},
		"two hosts":                {"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"},
		"negative length":          {post + "Content-Length: -1\r\n\r\n", "400"},
		"signed length":            {post + "Content-Length: +2\r\n\r\n{}", "400"},
		"length in words":          {post + "Content-Length: two\r\n\r\n{}", "400"},
		"NUL in a value":           {"GET /healthz HTTP/1.1\r\n" + host + "X: a\x00b\r\n\r\n", "400"},
		"CR in a value":            {"GET /healthz HTTP/1.1\r\n" + host + "X: a\rb\r\n\r\n", "400"},
		"space before the colon":   {"GET /healthz HTTP/1.1\r\n" + host + "X : a\r\n\r\n", "400"},
		"no version":               {"GET /healthz\r\n\r\n", "400"},
		"no request":               {"\x16\x03\x01\x00\xa5\r\n\r\n", "400"},
		"plain chunks are fine":    {post + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + chunk, "200"},
		"a plain length is fine":   {post + "Content-Length: 2\r\nConnection: close\r\n\r\n{}", "200"},
		"body beyond the limit":    {post + "Content-Length: 65537\r\n\r\n" + strings.Repeat("x", 65537), "413"},
		"a file beyond its limit":  {"POST /dashboard/settings/logo HTTP/1.1\r\n" + host + "Content-Length: 700000\r\n\r\n", "303"},
		"a file somewhere else":    {"POST /dashboard/settings/mails HTTP/1.1\r\n" + host + "Content-Length: 65537\r\n\r\n", "413"},
		"headers beyond the limit": {post + "X: " + strings.Repeat("x", 9<<10) + "\r\n\r\n", "431"},
		"authorization not shown":  {"GET /v1/echo HTTP/1.1\r\nAuthorization: Bearer " + canary + "\r\nHost : x\r\n\r\n", "400"},
	}
	for name, c := range cases {
		got := exchange(t, address, c.request)
		if !strings.HasPrefix(got, "HTTP/1.1 "+c.status) || strings.Count(got, "HTTP/1.1 ") != 1 {
			t.Errorf("%s: %.300q", name, got)
		}
		if strings.Contains(got, canary) {
			t.Errorf("%s: an echo: %.900q", name, got)
		}
		answer, err := http.ReadResponse(bufio.NewReader(strings.NewReader(got)), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		answer.Body.Close()
		alwaysThere(t, answer)
		if strings.HasPrefix(c.request, "POST /v1") && c.status != "200" && !strings.Contains(got, `"status":false`) {
			t.Errorf("%s: no envelope: %.900q", name, got)
		}
	}
}

// exchange sends bytes and reads until the server closes.
func exchange(t *testing.T, address, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(3 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		return "write: " + err.Error()
	}
	all, err := io.ReadAll(conn)
	var slow net.Error
	if errors.As(err, &slow) && slow.Timeout() {
		return string(all) + "\n(left open)"
	}
	return string(all)
}

func TestStreamEndsAtShutdown(t *testing.T) {
	b := setup(t, local)
	address, stop := b.listen(t)
	answer, err := http.Get("http://" + address + "/pay/" + token + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.Header.Get("Content-Type") != "text/event-stream" || answer.Header.Get("Content-Encoding") != "" || answer.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("answer.Header = %v", answer.Header)
	}
	lines := bufio.NewReader(answer.Body)
	expect := func(want string) {
		t.Helper()
		if line, err := lines.ReadString('\n'); line != want+"\n" {
			t.Fatalf("%q, want %q: %v", line, want, err)
		}
	}
	expect(": open")
	expect("")
	b.paid <- struct{}{}
	for _, line := range []string{"event: status", "data: <p>paid", "data: ", "data: in full</p>", ""} {
		expect(line)
	}
	idle, err := net.Dial("tcp", address) // a connection that is kept alive holds nobody up
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = idle.Close() }()
	after, err := http.Get("http://" + address + "/healthz") // connections are accepted in turn, so the idle one was
	if err != nil {
		t.Fatal(err)
	}
	_ = after.Body.Close()
	start := time.Now()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("stopping took %v", took)
	}
	if rest, err := io.ReadAll(lines); err != nil || len(rest) != 0 {
		t.Errorf("%q %v", rest, err)
	}
	<-b.left
}

func TestHeadOfAStreamLeaves(t *testing.T) {
	b := setup(t, local)
	if answer, _ := b.do(t, "HEAD", "/pay/"+token+"/events", ""); answer.StatusCode != 200 {
		t.Errorf(`b.do(t, "HEAD", "/pay/"+token+"/events", ""): answer.StatusCode = %v`, answer.StatusCode)
	}
	<-b.left
}

// TestAddressesComeFromConfiguration (AP-10): whatever a request's headers claim, links
// are the configured ones, and the client's address is what a trusted proxy adds.
func TestAddressesComeFromConfiguration(t *testing.T) {
	direct := setup(t, local)
	_, body := direct.do(t, "GET", "/pay/"+token, "", "X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "https", "Host", "evil.example",
		"X-Forwarded-For", "203.0.113.9")
	if body != "pay at http://127.0.0.1:8080 from 0.0.0.0" {
		t.Errorf("body = %v", body)
	}
	behind := setup(t, web.Config{BaseURL: "https://pay.example.com", TrustedProxies: []string{"0.0.0.0", "10.0.0.0/8"}})
	for forwarded, want := range map[string]string{
		"203.0.113.9": "203.0.113.9", "198.51.100.1, 203.0.113.9": "203.0.113.9", "203.0.113.9, 10.1.2.3": "203.0.113.9",
		"evil, 203.0.113.9": "203.0.113.9", "203.0.113.9, evil": "0.0.0.0", "": "0.0.0.0", "2001:db8::1": "2001:db8::1",
		// With ports, as some balancers write it.
		"203.0.113.9:4711": "203.0.113.9", "[2001:db8::1]:4711": "2001:db8::1", "198.51.100.1:1, 203.0.113.9:4711, 10.1.2.3:80": "203.0.113.9",
		"[::ffff:203.0.113.9]:4711": "203.0.113.9", "203.0.113.9:": "0.0.0.0", "203.0.113.9:x": "0.0.0.0", "203.0.113.9:70000": "0.0.0.0",
		"[2001:db8::1]": "0.0.0.0", "[203.0.113.9]:4711": "0.0.0.0", ":4711": "0.0.0.0",
	} {
		if _, body := behind.do(t, "GET", "/pay/"+token, "", "X-Forwarded-For", forwarded); body != "pay at https://pay.example.com from "+want {
			t.Errorf("%q: %s", forwarded, body)
		}
	}
	// A proxy may add a line of its own after the client's.
	if _, body := behind.do(t, "GET", "/pay/"+token, "", "X-Forwarded-For", "198.51.100.1", "X-Forwarded-For", "203.0.113.9"); body != "pay at https://pay.example.com from 203.0.113.9" {
		t.Errorf("body = %v", body)
	}
	if answer, body := behind.do(t, "GET", "/v1/long", "", "X-Forwarded-Proto", "http"); answer.StatusCode != 403 || !strings.Contains(body, "https_required") {
		t.Errorf(`behind.do(t, "GET", "/v1/long", "", "X-Forwarded-Proto", "http"): answer.StatusCode = %v, body = %v`, answer.StatusCode, body)
	}
	if answer, _ := behind.do(t, "GET", "/v1/long", "", "X-Forwarded-Proto", "https"); answer.StatusCode != 200 {
		t.Errorf(`behind.do(t, "GET", "/v1/long", "", "X-Forwarded-Proto", "https"): answer.StatusCode = %v`, answer.StatusCode)
	}
}

// TestMissesAreToldToWait: after sixty payment pages that don't exist a client is told to
// wait a minute, all of a /64 of IPv6 as one, and still sees the pages that there are: a
// customer may share an address with who guesses.
func TestMissesAreToldToWait(t *testing.T) {
	b := setup(t, web.Config{BaseURL: "http://127.0.0.1:8080", TrustedProxies: []string{"0.0.0.0"}})
	from := func(host int) string { return fmt.Sprintf("2001:db8::%x", host) }
	for i := range 60 {
		if answer, _ := b.do(t, "GET", "/pay/guess", "", "X-Forwarded-For", from(i)); answer.StatusCode != 404 {
			t.Fatalf(`b.do(t, "GET", "/pay/guess", "", "X-Forwarded-For", from(i)): answer.StatusCode = %v`, answer.StatusCode)
		}
	}
	if answer, _ := b.do(t, "GET", "/pay/guess", "", "X-Forwarded-For", from(60)); answer.StatusCode != 429 || answer.Header.Get("Retry-After") == "" {
		t.Errorf(`b.do(t, "GET", "/pay/guess", "", "X-Forwarded-For", from(60)): answer.StatusCode = %v`, answer.StatusCode)
	}
	if answer, _ := b.do(t, "GET", "/pay/"+token, "", "X-Forwarded-For", from(61)); answer.StatusCode != 200 {
		t.Errorf(`b.do(t, "GET", "/pay/"+token, "", "X-Forwarded-For", from(61)): answer.StatusCode = %v`, answer.StatusCode)
	}
	if answer, _ := b.do(t, "GET", "/pay/guess", "", "X-Forwarded-For", "2001:db8:0:1::1"); answer.StatusCode != 404 {
		t.Errorf(`b.do(t, "GET", "/pay/guess", "", "X-Forwarded-For", "2001:db8:0:1::1"): answer.StatusCode = %v`, answer.StatusCode)
	}
	b.clock.Advance(time.Minute)
	answer, _ := b.do(t, "GET", "/pay/"+token, "")
	if answer.StatusCode != 200 || answer.Header.Get("Referrer-Policy") != "same-origin" || len(answer.Cookies()) != 0 {
		t.Errorf("answer.StatusCode = %v, answer.Header = %v", answer.StatusCode, answer.Header)
	}
}

// TestStartsOfANeighbourhood (BTC-14): all of a /64 of IPv6 together begin sixty payments a
// minute. (What begins one is in handlers/checkout.)
func TestStartsOfANeighbourhood(t *testing.T) {
	b := setup(t, web.Config{BaseURL: "http://127.0.0.1:8080", TrustedProxies: []string{"0.0.0.0"}})
	begin := func(from string) int {
		answer, _ := b.do(t, "POST", "/l/tea", "", "Origin", "http://127.0.0.1:8080", "X-Forwarded-For", from)
		return answer.StatusCode
	}
	for i := range 60 {
		if status := begin(fmt.Sprintf("2001:db8::%x", i)); status != 303 {
			t.Fatalf(`begin(fmt.Sprintf("2001:db8::%%x", i)): i = %v, status = %v`, i, status)
		}
	}
	if status := begin("2001:db8::ffff:60"); status != 429 {
		t.Errorf(`begin("2001:db8::ffff:60"): status = %v`, status)
	}
	if status := begin("2001:db8:0:1::1"); status != 303 {
		t.Errorf(`begin("2001:db8:0:1::1"): status = %v`, status)
	}
}

func TestAssetsArePackedAndKept(t *testing.T) {
	b := setup(t, local)
	path := static.URL("css/cointill.css")
	sizes := map[string]int{}
	for _, accept := range []string{"", "gzip", "gzip, br"} {
		answer, body := b.do(t, "GET", path, "", "Accept-Encoding", accept)
		if answer.StatusCode != 200 || answer.Header.Get("Cache-Control") != static.CacheControl || !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/css") {
			t.Errorf("answer.StatusCode = %v, answer.Header = %v", answer.StatusCode, answer.Header)
		}
		sizes[answer.Header.Get("Content-Encoding")] = len(body)
	}
	if len(sizes) != 3 || sizes["br"] == 0 {
		t.Errorf("sizes = %v", sizes)
	}
	if answer, _ := b.do(t, "GET", "/static/old/css/cointill.css", ""); answer.StatusCode != 200 || strings.Contains(answer.Header.Get("Cache-Control"), "immutable") {
		t.Errorf(`b.do(t, "GET", "/static/old/css/cointill.css", ""): answer.StatusCode = %v, answer.Header = %v`, answer.StatusCode, answer.Header)
	}
	w := b.signedIn(t)
	if answer, _ := b.do(t, "GET", "/dashboard", "", "Cookie", w.cookie, "Accept-Encoding", "gzip"); answer.Header.Get("Content-Encoding") != "gzip" || answer.Header.Get("Cache-Control") != "no-store" {
		t.Error("pages are packed and not kept:", answer.Header)
	}
	if answer, _ := b.do(t, "GET", "/v1/long", "", "Accept-Encoding", "br"); answer.Header.Get("Content-Encoding") != "br" {
		t.Errorf(`b.do(t, "GET", "/v1/long", "", "Accept-Encoding", "br"): answer.Header = %v`, answer.Header)
	}
}

func TestHealthReadinessAndMetrics(t *testing.T) {
	b := setup(t, local)
	if answer, body := b.do(t, "GET", "/healthz", ""); answer.StatusCode != 200 || body != `{"status":"ok"}` {
		t.Errorf(`b.do(t, "GET", "/healthz", ""): answer.StatusCode = %v, body = %v`, answer.StatusCode, body)
	}
	if answer, body := b.do(t, "GET", "/readyz", ""); answer.StatusCode != 200 || !strings.Contains(body, `"database":"ok"`) {
		t.Errorf(`b.do(t, "GET", "/readyz", ""): answer.StatusCode = %v, body = %v`, answer.StatusCode, body)
	}
	b.fail = errors.New(canary)
	answer, body := b.do(t, "GET", "/readyz", "")
	var said struct{ Checks map[string]string }
	if err := json.Unmarshal([]byte(body), &said); err != nil || answer.StatusCode != 503 || said.Checks["database"] != "failing" || strings.Contains(body, canary) {
		t.Errorf("json.Unmarshal([]byte(body), &said): answer.StatusCode = %v, body = %v, err = %v", answer.StatusCode, body, err)
	}
	for want, err := range map[string]error{
		"The database's disk is full.":   &models.Outage{Reason: "The database's disk is full.", Cause: errors.New(canary)},
		"Migrations are still to be run": page.Unready("Migrations are still to be run"),
		"No answer in time.":             fmt.Errorf(canary+": %w", context.DeadlineExceeded),
	} {
		b.fail = err
		if answer, body := b.do(t, "GET", "/readyz", ""); answer.StatusCode != 503 || !strings.Contains(body, `"database":"`+want+`"`) || strings.Contains(body, canary) {
			t.Errorf(`b.do(t, "GET", "/readyz", ""): answer.StatusCode = %v, body = %v`, answer.StatusCode, body)
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- b.ListenMetrics(ln) }()
	b.do(t, "GET", "/v1/nothing", "")
	all := scrape(t, ln)
	for _, want := range []string{`route="/readyz",status="503"`, `route="none",status="404"`, "cointill_open_streams 0"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
	if err := b.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestBaseURLs(t *testing.T) {
	deps := setup(t, local).Deps
	for text, fine := range map[string]bool{"https://pay.example.com": true, "http://[::1]:80": true, "http://pay.example.com": false, "http://10.0.0.1": false,
		"ftp://a": false, "": false, "pay.example.com": false, "https://a/b": false, "https://u:p@a": false, "https://a?x": false} {
		deps.Metrics = prometheus.NewRegistry()
		if _, err := web.New(web.Config{BaseURL: text}, deps); (err == nil) != fine {
			t.Errorf("%q: %v", text, err)
		}
	}
}
