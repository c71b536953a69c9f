package models_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"cointill/models"
	"cointill/models/modelstest"
)

// TestReachTellsWhatPasses: a server that is down, starts, says nothing or is full may be reached
// later, and the reason says so; a wrong password or name stays wrong.
func TestReachTellsWhatPasses(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(net.Conn) // nil: nothing listens
		reason string         // "" for an error that stays
		says   string
	}{
		"nothing listens":      {nil, "The database can't be reached.", "connection refused"},
		"it hangs up":          {func(c net.Conn) { _ = c.Close() }, "The database can't be reached.", ""},
		"it says nothing":      {func(net.Conn) {}, "The database doesn't answer.", ""},
		"it is starting":       {refuseStart("57P03", "the database system is starting up"), "The database is starting or stopping.", "starting up"},
		"too many connections": {refuseStart("53300", "sorry, too many clients already"), "The database takes no more connections.", "too many"},
		"a wrong password":     {refuseStart("28P01", "password authentication failed"), "", "password authentication failed"},
		"no such database":     {refuseStart("3D000", "database does not exist"), "", "does not exist"},
		"a word of no server":  {func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n"); _ = c.Close() }, "", ""},
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if c.answer == nil {
			_ = listener.Close()
		} else {
			t.Cleanup(func() { _ = listener.Close() })
			go serveEach(listener, c.answer)
		}
		err = models.Reach(t.Context(), "postgres://till:s3cret@"+listener.Addr().String()+"/till?sslmode=disable&connect_timeout=1")
		var down *models.Outage
		if err == nil || errors.As(err, &down) != (c.reason != "") || down != nil && down.Reason != c.reason {
			t.Errorf("%s: %v, want %q", name, err, c.reason)
			continue
		}
		if text := err.Error(); !strings.Contains(text, c.says) || !strings.Contains(text, "PostgreSQL at 127.0.0.1:") || strings.Contains(text, "s3cret") {
			t.Errorf("%s: the error is %q, want the address and %q", name, text, c.says)
		}
	}
	if err := models.Reach(t.Context(), "postgres://till:s3cret@[::1/till"); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("what is no address is told %v", err)
	}
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		if !db.Postgres() {
			return
		}
		if err := models.Reach(t.Context(), modelstest.URL(t)); err != nil {
			t.Errorf("a server that is there is told %v", err)
		}
	})
}

// serveEach answers each connection as a server does.
func serveEach(listener net.Listener, answer func(net.Conn)) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go answer(conn)
	}
}

// refuseStart answers a start of a session with an error of PostgreSQL's.
func refuseStart(code, message string) func(net.Conn) {
	return func(c net.Conn) {
		defer func() { _ = c.Close() }()
		if _, err := c.Read(make([]byte, 1024)); err != nil {
			return
		}
		fields := "SFATAL\x00VFATAL\x00C" + code + "\x00M" + message + "\x00\x00"
		length := len(fields) + 4
		_, _ = c.Write(append([]byte{'E', 0, 0, byte(length >> 8), byte(length)}, fields...))
	}
}
