package web_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestFraming (AP-19) sends requests whose end, target or headers two servers could
// see in different places: each is refused and its connection closed, or has one
// meaning and as many answers as there are requests.
func TestFraming(t *testing.T) {
	b := setup(t, local)
	address, _ := b.listen(t)
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
		"a body on GET":            {get + closing + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(next)) + next, "200"},
	}
	for name, c := range cases {
		got := exchange(t, address, c.request)
		if !strings.HasPrefix(got, "HTTP/1.1 "+c.status) || strings.Count(got, "HTTP/1.1 ") != 1 || strings.HasSuffix(got, "(left open)") {
			t.Errorf("%s: %q", name, got)
		}
	}
	got := exchange(t, address, post+"Content-Length: 2\r\n\r\n{}GARBAGE\r\n\r\n") // a request, and what is none
	if first, second, _ := strings.Cut(got[1:], "HTTP/1.1 "); !strings.HasPrefix(first, "TTP/1.1 200") || !strings.HasPrefix(second, "400") || strings.Contains(second, "HTTP/1.1 ") {
		t.Errorf("bytes after the body: %q", got)
	}
}
