package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cointill/core/clock"
)

// answer is what the server of a test says.
type answer func(w http.ResponseWriter, r *http.Request)

// says answers with a status, a type and a body.
func says(status int, media, body string) answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		w.WriteHeader(status)
		io.WriteString(w, body) // the client may have gone
	}
}

const table = `{"code":"200000","data":{"BTC":"67011.9"}}`

// bench is a client, and KuCoin played by a server.
type bench struct {
	client *Client
	clock  *clock.Fake
	source Source
}

func setup(t *testing.T, a answer) *bench {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(a))
	t.Cleanup(server.Close)
	s := newKucoin()
	s.Origin = server.URL
	fake := clock.NewFake(noon)
	b := &bench{NewClient(fake.Now), fake, s}
	t.Cleanup(b.client.http.CloseIdleConnections)
	return b
}

func (b *bench) fetch(t *testing.T) ([]Price, error) {
	t.Helper()
	return b.client.Fetch(t.Context(), b.source, b.source.Documents[0])
}

// check fetches and compares with what is told, or with the phrase of the error.
func (b *bench) check(t *testing.T, want string) error {
	t.Helper()
	prices, err := b.fetch(t)
	got := told(prices)
	if err != nil {
		got = err.Error()
	}
	if got != want {
		t.Errorf("%s (%v), want %s", got, errors.Unwrap(err), want)
	}
	return err
}

const atNoon = "BTC/USD 67011.9 at 2026-03-01 12:00:00"

func TestFetch(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer answer
		want   string
	}{
		"json":              {says(200, "application/json", table), atNoon},
		"with a charset":    {says(200, "application/json; charset=utf-8", table), atNoon},
		"capitals":          {says(200, "Application/JSON;charset=UTF-8", table), atNoon},
		"text/json":         {says(200, "text/json", table), atNoon},
		"hal+json":          {says(200, "application/hal+json", table), atNoon},
		"a bad parameter":   {says(200, "application/json; charset", table), atNoon},
		"html":              {says(200, "text/html; charset=utf-8", "<html></html>"), webPage},
		"json as html":      {says(200, "text/html", table), webPage},
		"html as json":      {says(200, "application/json", "<!DOCTYPE html><p>Just a moment"), webPage},
		"plain text":        {says(200, "text/plain", table), notJSON},
		"a sequence":        {says(200, "application/x-ndjson", table), notJSON},
		"text/x+json":       {says(200, "text/x+json", table), notJSON},
		"no type":           {says(200, "", table), notJSON},
		"a broken type":     {says(200, ";;", table), notJSON},
		"own error":         {says(200, "application/json", `{"code":"429000"}`), ownError},
		"no price":          {says(200, "application/json", `{"code":"200000","data":{}}`), priceless},
		"bad gateway":       {says(502, "text/html", "<html>"), "answers 502"},
		"not found":         {says(404, "application/json", table), "answers 404"},
		"created":           {says(201, "application/json", table), "answers 201"},
		"no content":        {says(204, "application/json", ""), "answers 204"},
		"partial":           {says(206, "application/json", table), "answers 206"},
		"teapot":            {says(418, "application/json", table), "answers 418"},
		"too many requests": {says(429, "application/json", table), "answers 429"},
		"304 unasked":       {says(304, "application/json", ""), "answers 304"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			setup(t, test.answer).check(t, test.want)
		})
	}
}

// TestRequest: what a source sees of us.
func TestRequest(t *testing.T) {
	t.Parallel()
	b := setup(t, func(w http.ResponseWriter, r *http.Request) {
		for name, want := range map[string]string{"User-Agent": userAgent, "Accept": "application/json", "Accept-Encoding": "gzip", "If-None-Match": "", "If-Modified-Since": "", "Cookie": ""} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if r.Method != http.MethodGet || r.URL.String() != "/api/v1/prices?base=USD&currencies=BTC,ETH,USDT,XRP,DOGE" {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		if user, password, _ := r.BasicAuth(); user != "mirror" || password != "canary" {
			t.Error("the mirror's password isn't sent")
		}
		says(200, "application/json", table)(w, r)
	})
	b.source.Origin = strings.Replace(b.source.Origin, "http://", "http://mirror:canary@", 1) + "/"
	b.check(t, atNoon)
}

// TestRedirect: nobody is sent elsewhere, not even to a good answer.
func TestRedirect(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()
			var visits atomic.Int32
			b := setup(t, func(w http.ResponseWriter, r *http.Request) {
				if visits.Add(1) > 1 {
					says(200, "application/json", table)(w, r)
					return
				}
				http.Redirect(w, r, "/elsewhere", status)
			})
			b.check(t, "answers "+strconv.Itoa(status))
			if visits.Load() != 1 {
				t.Error("the redirect was followed")
			}
		})
	}
}

// TestSlow: a source that keeps us waiting, before its answer or in the middle.
func TestSlow(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]bool{"before the header": false, "in the body": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, func(w http.ResponseWriter, r *http.Request) {
				if begin {
					says(200, "application/json", table[:10])(w, r)
					w.(http.Flusher).Flush()
				}
				<-r.Context().Done()
			})
			b.client.timeout = 50 * time.Millisecond
			b.check(t, tooSlow)
		})
	}
}

// TestInterrupted: the caller's own end is no fault of the source's.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	b := setup(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	_, err := b.client.Fetch(ctx, b.source, b.source.Documents[0])
	if !errors.Is(err, context.Canceled) || err.Error() != interrupted {
		t.Errorf("%v", err)
	}
}

// counted counts what a handler could write.
type counted struct {
	w io.Writer
	n atomic.Int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n.Add(int64(n))
	return n, err
}

// TestLong: an answer is read up to its bound and no further, however it is packed.
func TestLong(t *testing.T) {
	t.Parallel()
	padded := func(size int) string { return table + strings.Repeat(" ", size-len(table)) }
	setup(t, says(200, "application/json", padded(maxBody))).check(t, atNoon)
	setup(t, says(200, "application/json", padded(maxBody+1))).check(t, tooLong)

	written := make(chan int64, 1)
	setup(t, func(w http.ResponseWriter, _ *http.Request) { // without end
		w.Header().Set("Content-Type", "application/json")
		c := &counted{w: w}
		io.WriteString(c, table)
		for chunk := bytes.Repeat([]byte(" "), 64<<10); c.n.Load() < 1<<30; {
			if _, err := c.Write(chunk); err != nil {
				break // the client has gone
			}
		}
		written <- c.n.Load()
	}).check(t, tooLong)
	if n := <-written; n > 64<<20 {
		t.Errorf("%d bytes were taken", n)
	}
}

// zipped packs text.
func zipped(t *testing.T, text string) string {
	t.Helper()
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}

// TestPacked: gzip is understood within the same bound; nothing else is.
func TestPacked(t *testing.T) {
	t.Parallel()
	as := func(encoding, body string) answer {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", encoding)
			says(200, "application/json", body)(w, r)
		}
	}
	bomb := zipped(t, table+strings.Repeat(" ", 16<<20))
	if len(bomb) > maxBody {
		t.Fatalf("the bomb has %d bytes", len(bomb))
	}
	small := zipped(t, table)
	for name, test := range map[string]struct {
		answer answer
		want   string
	}{
		"gzip":         {as("gzip", small), atNoon},
		"identity":     {as("identity", table), atNoon},
		"a bomb":       {as("gzip", bomb), tooLong},
		"two layers":   {as("gzip, gzip", zipped(t, small)), packed},
		"brotli":       {as("br", table), packed},
		"not packed":   {as("gzip", table), brokenOff},
		"cut":          {as("gzip", small[:len(small)-6]), brokenOff},
		"bad checksum": {as("gzip", small[:len(small)-8]+"\x00\x00\x00\x00"+small[len(small)-4:]), brokenOff},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			setup(t, test.answer).check(t, test.want)
		})
	}
}

// TestBroken: connections that end too early, or never begin.
func TestBroken(t *testing.T) {
	t.Parallel()
	setup(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(table)+1))
		says(200, "application/json", table)(w, r) // a whole document, but not the whole answer
	}).check(t, brokenOff)
	setup(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }).check(t, brokenOff)
	setup(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Padding", strings.Repeat("x", 64<<10))
		says(200, "application/json", table)(w, r)
	}).check(t, brokenOff)

	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	b := setup(t, says(200, "application/json", table))
	b.source.Origin = strings.Replace(gone.URL, "http://", "http://user:canary@", 1)
	if err := b.check(t, unreachable); errors.Unwrap(err) == nil {
		t.Error("the cause is lost")
	}
	b.source.Origin = "http://user:canary@%zz"
	b.check(t, unreachable)

	secure := httptest.NewTLSServer(http.HandlerFunc(says(200, "application/json", table)))
	t.Cleanup(secure.Close)
	b.source.Origin = secure.URL
	b.check(t, untrusted)
}

// TestSecrets: a mirror's password and address are in no error, nor in its causes.
func TestSecrets(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]answer{
		"refused": nil, "no address": nil, "error": says(500, "text/plain", "canary"), "page": says(200, "text/html", "canary"),
		"broken off": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		b := setup(t, a)
		b.source.Origin = strings.Replace(b.source.Origin, "http://", "http://canary:canary@", 1)
		b.source.Documents[0].Path = "/?key=canary"
		switch name {
		case "refused":
			b.source.Origin = "http://canary:canary@127.0.0.1:1"
		case "no address":
			b.source.Origin = "http://canary:canary@%zz"
		}
		_, err := b.fetch(t)
		if err == nil || strings.ContainsAny(err.Error(), ":/<>\"") || strings.Contains(err.Error(), "127") {
			t.Errorf("%s: %v", name, err)
		}
		for ; err != nil; err = errors.Unwrap(err) {
			if strings.Contains(fmt.Sprintf("%v %+v", err, err), "canary") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestBusy: who asks for a pause gets one, up to an hour.
func TestBusy(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		header string
		want   time.Duration // -1 means that none is named
	}{
		"seconds":         {429, "120", 2 * time.Minute},
		"unavailable":     {503, "5", 5 * time.Second},
		"banned":          {418, "600", 10 * time.Minute},
		"at once":         {429, "0", 0},
		"a date":          {503, noon.Add(90 * time.Second).Format(http.TimeFormat), 90 * time.Second},
		"a date gone by":  {429, noon.Add(-time.Hour).Format(http.TimeFormat), 0},
		"a day":           {429, "86400", time.Hour},
		"a far date":      {429, noon.AddDate(1, 0, 0).Format(http.TimeFormat), time.Hour},
		"for ever":        {429, "99999999999999999999999", time.Hour},
		"just under 2^64": {429, "18446744073709551615", time.Hour},
		"negative":        {429, "-1", -1},
		"text":            {429, "soon", -1},
		"none":            {429, "", -1},
		"another status":  {500, "120", -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", test.header)
				says(test.status, "application/json", table)(w, r)
			})
			err := b.check(t, "answers "+strconv.Itoa(test.status))
			var busy Busy
			switch named := errors.As(err, &busy); {
			case named != (test.want >= 0):
				t.Errorf("busy: %v", named)
			case named && busy.After != test.want:
				t.Errorf("busy for %s, want %s", busy.After, test.want)
			}
		})
	}
}
