package web_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

// TestFraming (AP-19) sends requests whose end, target or headers two servers could
// see in different places: each is refused and its connection closed, or has one
// meaning and as many answers as there are requests. It is the same when they arrive
// byte by byte.
func TestFraming(t *testing.T) {
	for name, wrap := range map[string]func(net.Listener) net.Listener{
		"at once": func(ln net.Listener) net.Listener { return ln }, "byte by byte": func(ln net.Listener) net.Listener { return drips{ln} },
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, local)
			address, _ := b.listenBy(t, wrap)
			framing(t, address)
		})
	}
}

// drips is a listener whose connections are read byte by byte.
type drips struct{ net.Listener }

func (d drips) Accept() (net.Conn, error) {
	conn, err := d.Listener.Accept()
	return drip{conn}, err
}

type drip struct{ net.Conn }

func (d drip) Read(p []byte) (int, error) { return d.Conn.Read(p[:1]) }

func framing(t *testing.T, address string) {
	t.Helper()
	const host = "Host: a\r\n"
	get := "GET /healthz HTTP/1.1\r\n" + host
	post := "POST /v1/echo HTTP/1.1\r\n" + host + "Content-Type: application/json\r\n"
	chunked := post + "Transfer-Encoding: chunked\r\n\r\n"
	const closing = "Connection: close\r\n"
	const next = "GET /healthz HTTP/1.1\r\n" + host + closing + "\r\n"
	cases := map[string]struct{ request, status string }{
		"a folded header":          {get + "X: a\r\n b\r\n\r\n", "400"},
		"a folded first header":    {"GET /healthz HTTP/1.1\r\n " + host + "\r\n", "400"},
		"a folded coding":          {post + "Transfer-Encoding:\r\n chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "400"},
		"an absolute target":       {"GET http://evil.example/healthz HTTP/1.1\r\n" + host + closing + "\r\n", "200"},
		"a target of another host": {"GET //evil.example/healthz HTTP/1.1\r\n" + host + closing + "\r\n", "404"},
		"an asterisk":              {"OPTIONS * HTTP/1.1\r\n" + host + closing + "\r\n", "404"},
		"a tunnel":                 {"CONNECT a:443 HTTP/1.1\r\n" + host + closing + "\r\n", "404"},
		"the same length twice":    {post + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "400"},
		"a list of lengths":        {post + "Content-Length: 2, 2\r\n\r\n{}", "400"},
		"a hexadecimal length":     {post + "Content-Length: 0x2\r\n\r\n{}", "400"},
		"a length with a space":    {post + "Content-Length: 2 2\r\n\r\n{}", "400"},
		"an empty length":          {post + "Content-Length:\r\n\r\n", "400"},
		"a length beyond counting": {post + "Content-Length: 18446744073709551618\r\n\r\n{}", "400"},
		"a chunk of no size":       {chunked + "\r\n{}\r\n0\r\n\r\n", "400"},
		"a negative chunk":         {chunked + "-2\r\n{}\r\n0\r\n\r\n", "400"},
		"a prefixed chunk":         {chunked + "0x2\r\n{}\r\n0\r\n\r\n", "400"},
		"a chunk beyond counting":  {chunked + "10000000000000002\r\n{}\r\n0\r\n\r\n", "400"},
		"a chunk that goes on":     {chunked + "2\r\n{}xx\r\n0\r\n\r\n", "400"},
		"a chunk with a line feed": {chunked + "2\n{}\r\n0\r\n\r\n", "400"},
		"a chunk of CR alone":      {chunked + "2\r{}\r\n0\r\n\r\n", "400"},
		"a trailer":                {chunked + "2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n" + next, "400"},
		"a coding after a tab":     {post + closing + "Transfer-Encoding:\tchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "200"},
		"a coding with a VT":       {post + "Transfer-Encoding: \vchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "400"},
		"a quoted coding":          {post + "Transfer-Encoding: \"chunked\"\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "400"},
		"a coding in two places":   {post + "Transfer-Encoding: chunked\r\nX: a\r\nTransfer-Encoding: identity\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "400"},
		"an underscore":            {post + "Content_Length: 99\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", "200"},
		"a header without a colon": {get + "X\r\n\r\n", "400"},
		"a header without a name":  {get + ": a\r\n\r\n", "400"},
		"NUL in a name":            {get + "X\x00Y: a\r\n\r\n", "400"},
		"a target with a space":    {"GET /health z HTTP/1.1\r\n" + host + "\r\n", "400"},
		"two keys":                 {get + "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n", "400"},
		"two types":                {post + "content-type: text/plain\r\nContent-Length: 2\r\n\r\n{}", "400"},
		"two idempotency keys":     {post + "Idempotency-Key: a\r\nIdempotency-Key: b\r\nContent-Length: 2\r\n\r\n{}", "400"},
		"a version to come":        {"GET /healthz HTTP/3.0\r\n" + host + "\r\n", "200"},
		"LF within a value":        {get + "X: a\n\n" + next, "400"},
		"LF between headers":       {get + "X: a\nY: b\r\n\r\n" + next, "400"},
		"LF before the end":        {get + "X: a\n\r\n" + next, "400"},
		"LF at the end":            {get + "X: a\r\n\n" + next, "400"},
		"LF before a body":         {post + "Content-Length: 2\n\r\n{}" + next, "400"},
		"LF after the target":      {"GET /healthz HTTP/1.1\n" + host + "\r\n" + next, "400"},
		"LF everywhere":            {"GET /healthz HTTP/1.1\nHost: a\n\n" + next, "400"},
		"LF and no header":         {"GET /healthz HTTP/1.0\n\n" + next, "400"},
		"LF for all headers":       {"GET /healthz HTTP/1.0\r\n\n" + next, "400"},
		"LF within a trailer":      {chunked + "2\r\n{}\r\n0\r\nX: y\n\n" + next, "400"},
		"LF after a trailer":       {chunked + "2\r\n{}\r\n0\r\nX: y\n\r\n" + next, "400"},
		"LF between trailers":      {chunked + "2\r\n{}\r\n0\r\nX: y\nZ: z\r\n\r\n" + next, "400"},
		"LF for a trailer":         {chunked + "2\r\n{}\r\n0\r\n\n" + next, "400"},
		"LF after an extension":    {chunked + "2\r\n{}\r\n000;a=b\r\n\n" + next, "400"},
		"LF after a second nought": {chunked + "2\r\n{}\r\n0\r\n0\r\n\n" + next, "400"},
		"LF after an empty body":   {chunked + "0\r\nX: y\n\n" + next, "400"},
		"a folded trailer":         {chunked + "2\r\n{}\r\n0\r\nX: y\r\n z\r\n\r\n" + next, "400"},
		"a plain trailer":          {post + closing + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: y\r\nZ: z\r\n\r\n", "200"},
		"LF within chunks":         {post + closing + "Transfer-Encoding: chunked\r\n\r\n6\r\n{\n\n\r\n}\r\n0\r\n\r\n", "200"},
		"a chunk of 10":            {post + closing + "Transfer-Encoding: chunked\r\n\r\n0A\r\n[1,\n\n\n\n\n2]\r\n0\r\n\r\n", "200"},
		"LF after a nought":        {post + closing + "Content-Length: 8\r\n\r\n[\r\n0\r\n\n]", "200"},
		"the same, kept alive":     {post + "Content-Length: 8\r\n\r\n[\r\n0\r\n\n]", "200"}, // and not: the next request may have chunks
		"a body on GET":            {get + closing + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(next)) + next, "200"},
	}
	for name, c := range cases {
		got := exchange(t, address, c.request)
		if !strings.HasPrefix(got, "HTTP/1.1 "+c.status) || strings.Count(got, "HTTP/1.1 ") != 1 || strings.HasSuffix(got, "(left open)") {
			t.Errorf("%s: %q", name, got)
		}
	}
	for name, second := range map[string]string{"no request": "GARBAGE\r\n\r\n", "LF after the target": "GET /healthz HTTP/1.1\n" + host + "\r\n" + next} {
		got := exchange(t, address, post+"Content-Length: 2\r\n\r\n{}"+second) // a request, and what is none
		if first, second, _ := strings.Cut(got[1:], "HTTP/1.1 "); !strings.HasPrefix(first, "TTP/1.1 200") || !strings.HasPrefix(second, "400") || strings.Contains(second, "HTTP/1.1 ") {
			t.Errorf("%s after the body: %q", name, got)
		}
	}
}
