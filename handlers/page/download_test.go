package page

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

type cut struct{ closed atomic.Bool }

func (c *cut) Close() error { c.closed.Store(true); return nil }

// TestDownloadEnds: a file ends when it is made, and is cut when it can't be.
func TestDownloadEnds(t *testing.T) {
	no := errors.New("no")
	for name, c := range map[string]struct {
		write func(ctx context.Context, out io.Writer) error
		whole bool
	}{
		"whole": {func(_ context.Context, out io.Writer) error { _, err := io.WriteString(out, "text"); return err }, true},
		"fails": {func(context.Context, io.Writer) error { return no }, false},
		"panic": {func(context.Context, io.Writer) error { panic("odd") }, false},
	} {
		var out bytes.Buffer
		err := writeDownload(make(chan struct{}), bufio.NewWriter(&out), &cut{}, c.write)
		if (err == nil) != c.whole || c.whole && out.String() != "text" {
			t.Errorf("%s: %v, %q", name, err, out.String())
		}
	}
}

// TestDownloadIsCalledOff when the server stops, and cut when nobody takes it.
func TestDownloadIsCalledOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closing := make(chan struct{})
		go func() { <-time.After(time.Second); close(closing) }()
		err := writeDownload(closing, bufio.NewWriter(io.Discard), &cut{}, func(ctx context.Context, _ io.Writer) error { <-ctx.Done(); return ctx.Err() })
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		conn := &cut{}
		_ = writeDownload(nil, bufio.NewWriter(io.Discard), conn, func(_ context.Context, out io.Writer) error {
			for range 3 {
				<-time.After(stalled - time.Second)
				_, _ = io.WriteString(out, "some")
			}
			if conn.closed.Load() {
				t.Error("cut although it was taken")
			}
			<-time.After(stalled + time.Second)
			return nil
		})
		if !conn.closed.Load() {
			t.Error("a client that takes nothing keeps the file open")
		}
		err = writeDownload(nil, bufio.NewWriter(io.Discard), &cut{}, func(ctx context.Context, _ io.Writer) error { <-ctx.Done(); return ctx.Err() })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}
