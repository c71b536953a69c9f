package page

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	downloadLife = 2 * time.Hour
	stalled      = time.Minute // without anything made; what isn't taken is cut by web, sooner
)

// SendDownload sends a file as it is made by write, which runs after the handler
// has returned: it must not touch the Ctx, only values copied from it. done is
// called at the end. The connection is cut when write fails, when nothing is written
// or read for a minute, when the server stops and after two hours: the browser then
// says that the file is not whole.
func (c *Ctx) SendDownload(name, contentType string, done func(),
	write func(ctx context.Context, out io.Writer) error) error {
	c.Set("Content-Type", contentType)
	c.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s"`, name))
	c.Set("X-Accel-Buffering", "no")
	if c.Method() == http.MethodHead {
		done()
		return nil
	}
	conn, closing, id := c.Context().Conn(), c.Closing, strings.Clone(c.RequestID)
	c.writeLater(func(w *bufio.Writer) {
		defer done()
		if err := writeDownload(closing, w, conn, write); err != nil {
			slog.Warn("download was cut", "request_id", id, "error", err)
			breakOff(conn)
		}
	})
	return nil
}

// SendFile answers with a short file to be saved.
func (c *Ctx) SendFile(name, contentType string, content []byte) error {
	c.Set("Content-Type", contentType)
	c.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s"`, name))
	return c.Send(content)
}

// writeDownload runs write until it ends or is called off.
func writeDownload(closing <-chan struct{}, w *bufio.Writer, conn io.Closer,
	write func(ctx context.Context, out io.Writer) error) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), downloadLife)
	defer cancel()
	defer func() { // outside of any handler, so no other code recovers
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-closing:
			cancel()
		case <-stop:
		}
	}()
	watch := time.AfterFunc(stalled, func() { breakOff(conn) })
	defer watch.Stop()
	if err := write(ctx, watched{w, watch}); err != nil {
		return err
	}
	return w.Flush()
}

// breakOff resets a connection, so that a client doesn't take a part for the whole file:
// without a length, as with HTTP/1.0, an orderly end looks like the end of the file.
func breakOff(conn io.Closer) {
	if c, ok := conn.(interface{ Cut() error }); ok {
		_ = c.Cut() // it is over either way
		return
	}
	_ = conn.Close()
}

// watched puts off the end with every piece that was taken.
type watched struct {
	out   io.Writer
	watch *time.Timer
}

// Piece is how much is waited for at a time, in bytes: half a minute's on the slowest line.
const Piece = 4 << 10

// Write writes.
func (w watched) Write(p []byte) (n int, err error) {
	for part := range slices.Chunk(p, Piece) {
		taken, err := w.out.Write(part)
		n += taken
		w.watch.Reset(stalled)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
