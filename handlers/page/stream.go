package page

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"cointill/views/words"
)

const (
	beatEvery    = 12 * time.Second // a lost browser shows only when something is written to it
	streamLife   = 10 * time.Minute // then the page connects again
	renderWithin = 5 * time.Second
)

// Event is one server-sent event. Nothing is sent when Data equals the Data of the
// event before. Last ends the stream after it.
type Event struct {
	Name, Data string
	Last       bool
}

// StreamEvents keeps the answer open and sends the result of render, at each update,
// until the browser leaves, the server stops, ten minutes have passed, updates is closed or
// render fails; leave is called then. render runs after the handler has
// returned: it must not touch the Ctx, only values copied from it.
func (c *Ctx) StreamEvents(updates <-chan struct{}, leave func(), render func(ctx context.Context) (Event, error)) error {
	c.Set("Content-Type", "text/event-stream")
	c.Set("Cache-Control", "no-store")
	c.Set("X-Accel-Buffering", "no") // nginx would keep events back
	if c.Method() == http.MethodHead {
		leave()
		return nil
	}
	closing, id := c.Closing, strings.Clone(c.RequestID)
	language := words.LanguageOf(c.UserContext())
	inLanguage := func(ctx context.Context) (Event, error) { return render(words.WithLanguage(ctx, language)) }
	c.writeLater(func(w *bufio.Writer) {
		defer leave()
		defer func() { // outside of any handler, so no other code recovers
			if p := recover(); p != nil {
				slog.Error("stream panicked", "request_id", id, "panic", p)
			}
		}()
		if err := writeEvents(w, updates, closing, inLanguage); err != nil {
			slog.Warn("stream ended", "request_id", id, "error", err)
		}
	})
	return nil
}

// writeLater has the answer's body written after the handler has returned. HTTP/1.0 knows no
// chunks, which fasthttp would send all the same: there the body ends with the connection.
func (c *Ctx) writeLater(write func(w *bufio.Writer)) {
	r := c.Context()
	if r.Request.Header.IsHTTP11() {
		r.SetBodyStreamWriter(write)
		return
	}
	r.SetConnectionClose()
	r.HijackSetNoResponse(true)
	r.Hijack(func(conn net.Conn) {
		w := bufio.NewWriter(conn)
		if r.Response.StatusCode() == http.StatusOK {
			_, _ = r.Response.Header.WriteTo(w) // the next write fails too
		} else { // something failed after the handler: write finds the connection closed
			_, _ = r.Response.WriteTo(conn)
			_ = r.Conn().Close()
		}
		write(w)
		_ = w.Flush() // the client may have disconnected
	})
}

// writeEvents writes events until one of the ends comes. A browser that left is no error.
func writeEvents(w *bufio.Writer, updates, closing <-chan struct{}, render func(ctx context.Context) (Event, error)) error {
	beat, end := time.NewTicker(beatEvery), time.NewTimer(streamLife)
	defer beat.Stop()
	defer end.Stop()
	sent := Event{}
	for text := ": open\n\n"; ; { // headers leave with the first flush
		if _, err := io.WriteString(w, text); err != nil || w.Flush() != nil || sent.Last {
			return nil
		}
		text = ""
		select {
		case <-closing:
			return nil
		case <-end.C:
			return nil
		case <-beat.C:
			text = ": beat\n\n"
		case _, open := <-updates:
			if !open {
				return nil
			}
			ctx, cancel := context.WithTimeout(context.Background(), renderWithin)
			next, err := render(ctx)
			cancel()
			if err != nil {
				return err
			}
			if next != sent {
				sent, text = next, next.formatEvent()
			}
		}
	}
}

// formatEvent formats the event on the wire: each line of data has its own prefix.
func (e Event) formatEvent() string {
	data := strings.NewReplacer("\r\n", "\ndata: ", "\n", "\ndata: ", "\r", "\ndata: ").Replace(e.Data)
	return fmt.Sprintf("event: %s\ndata: %s\n\n", e.Name, data)
}
