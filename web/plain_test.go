package web_test

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOldClientsGetNoChunks: what has no length ends with the connection for a client, or a
// proxy, that speaks HTTP/1.0, which knows no chunks.
func TestOldClientsGetNoChunks(t *testing.T) {
	for what, c := range map[string]struct{ path, status, body string }{
		"a stream":                    {"/events", "200 OK", ": open\n\nevent: status\ndata: <p>paid\ndata: \ndata: in full</p>\n\n"},
		"a file":                      {"/file", "200 OK", "a,b\n"},
		"what failed after its start": {"/torn", "500 Internal Server Error", ""},
	} {
		for _, keep := range []string{"", "Connection: keep-alive\r\n"} {
			b := setup(t, local)
			address, stop := b.listen(t)
			b.paid <- struct{}{}
			conn := dial(t, address)
			_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
			if _, err := io.WriteString(conn, "GET /pay/"+token+c.path+" HTTP/1.0\r\nHost: a\r\n"+keep+"\r\n"); err != nil {
				t.Fatal(err)
			}
			said := make([]byte, len(c.body))
			head := untilBlank(t, conn)
			if _, err := io.ReadFull(conn, said); err != nil || string(said) != c.body {
				t.Errorf("%s: %v, %q", what, err, said)
			}
			if !strings.HasPrefix(head, "HTTP/1.1 "+c.status) || !strings.Contains(head, "Connection: close\r\n") || strings.Contains(head, "Transfer-Encoding") ||
				!strings.Contains(head, "nosniff") || strings.Contains(head, "Content-Length") != (c.body == "") {
				t.Errorf("%s: %s", what, head)
			}
			if what == "a stream" { // others end by themselves
				if err := stop(); err != nil {
					t.Error(err)
				}
			}
			if rest, err := io.ReadAll(conn); err != nil || c.body != "" && len(rest) != 0 {
				t.Fatalf("%s doesn't end: %q, %v", what, rest, err)
			}
			<-b.left
		}
	}
}

// TestPartIsNoWhole: a file that breaks off doesn't end like a whole one, whichever HTTP is
// spoken.
func TestPartIsNoWhole(t *testing.T) {
	for _, version := range []string{"1.0", "1.1"} {
		b := setup(t, local)
		address, _ := b.listen(t)
		conn := dial(t, address)
		_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
		if _, err := io.WriteString(conn, "GET /pay/"+token+"/part HTTP/"+version+"\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(conn); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("HTTP/%s: %d bytes, %v", version, len(got), err)
		}
		<-b.left
	}
}

// untilBlank reads the head of an answer, byte by byte.
func untilBlank(t *testing.T, from io.Reader) string {
	t.Helper()
	var head strings.Builder
	for one := make([]byte, 1); !strings.HasSuffix(head.String(), "\r\n\r\n"); head.Write(one) {
		if _, err := from.Read(one); err != nil {
			t.Fatalf("%v after %q", err, head.String())
		}
	}
	return head.String()
}
