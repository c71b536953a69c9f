package node

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"cointill/chain"
	"cointill/core/memory"
)

// bounded is a client with memory for long answers, and that memory.
func bounded(most int64) (*Client, *memory.Part) {
	part := memory.NewBudget(most).Part(most)
	return NewClient("http://node", nil, part), part
}

// whole reports whether all memory of a part is free.
func whole(part *memory.Part) bool {
	free := part.Take(part.Most())
	if free {
		part.Give(part.Most())
	}
	return free
}

// TestAnswersAreReadWhole: an answer comes whole, in whichever pieces, with or without its length
// announced, up to its limit and no further.
func TestAnswersAreReadWhole(t *testing.T) {
	for _, length := range []int{0, 1, 512, 513, 4 << 10, smallAnswer, 3 << 20} {
		for _, announced := range []int64{-1, int64(length)} {
			text := bytes.Repeat([]byte("a"), length)
			for name, from := range map[string]io.Reader{"at once": bytes.NewReader(text), "in halves": iotest.HalfReader(bytes.NewReader(text)),
				"with its end": iotest.DataErrReader(bytes.NewReader(text))} {
				c, _ := bounded(1 << 30)
				got, err := c.ReadAnswer(t.Context(), from, announced, int64(length))
				if err != nil || !bytes.Equal(got, text) {
					t.Errorf("an answer of %d bytes %s, announced as %d, gives %d bytes, %v", length, name, announced, len(got), err)
				}
			}
			if length == 0 {
				continue
			}
			c, part := bounded(1 << 30)
			if _, err := c.ReadAnswer(t.Context(), bytes.NewReader(text), -1, int64(length)-1); !errors.Is(err, ErrTooLong) || !whole(part) {
				t.Errorf("an answer of %d bytes, one too long, ends in %v; all memory given back: %t", length, err, whole(part))
			}
		}
	}
}

// TestLongAnswersShareMemory: a long answer takes memory, and gives it back once it is
// garbage, or at once when it breaks off. One that can't have it tells why, and short ones
// need none.
func TestLongAnswersShareMemory(t *testing.T) {
	const most, long = 16 << 20, 5 << 20
	c, part := bounded(most)
	read := func(length int) ([]byte, error) {
		return c.ReadAnswer(t.Context(), strings.NewReader(strings.Repeat("a", length)), int64(length), 64<<20)
	}
	answer, err := read(long)
	if err != nil || whole(part) {
		t.Fatalf("a long answer ends in %v; all memory is free: %t", err, whole(part))
	}
	_, err = read(long)
	expectFailure(t, err, "there is no memory for now")
	if !chain.IsTransient(err) || errors.Is(err, ErrTooLong) {
		t.Errorf("that the memory is used up doesn't pass: %v", err)
	}
	if _, err := read(smallAnswer / 2); err != nil {
		t.Errorf("a short answer beside it ends in %v", err)
	}
	runtime.KeepAlive(answer)
	c, part = bounded(most)
	_, err = c.ReadAnswer(t.Context(), strings.NewReader(strings.Repeat("a", most)), -1, 64<<20)
	expectFailure(t, err, "too long for the memory of this machine")
	if !errors.Is(err, ErrTooLong) || !whole(part) {
		t.Errorf("an answer longer than all memory is %v; all memory given back: %t", err, whole(part))
	}
	broken := io.MultiReader(strings.NewReader(strings.Repeat("a", 3<<20)), iotest.ErrReader(io.ErrUnexpectedEOF))
	if _, err := c.ReadAnswer(t.Context(), broken, -1, 64<<20); !errors.Is(err, io.ErrUnexpectedEOF) || !whole(part) {
		t.Errorf("a broken answer ends in %v; all memory given back: %t", err, whole(part))
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for i := range 5 { // each waits for the one before, which is garbage
		if _, err := c.ReadAnswer(t.Context(), strings.NewReader(strings.Repeat("a", long)), long, 64<<20); err != nil {
			t.Fatalf("answer %d after others that nobody holds: %v", i, err)
		}
	}
}

// TestQuestionsReportMemory: Send returns what ReadAnswer says of an answer without memory.
func TestQuestionsReportMemory(t *testing.T) {
	t.Parallel()
	_, s := startServer(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 64 {
			_, _ = fmt.Fprint(w, strings.Repeat("a", 1<<20))
		}
	})
	part := memory.NewBudget(8 << 20).Part(8 << 20)
	_, err := NewClient(s.URL, nil, part).Send(t.Context(), "", nil, nil, 64<<20)
	expectFailure(t, err, "too long for the memory of this machine")
	if !whole(part) {
		t.Error("the memory of a refused answer isn't given back")
	}
	part.Take(7 << 20)
	began := time.Now()
	_, err = NewClient(s.URL, nil, part).Send(t.Context(), "", nil, nil, 64<<20)
	expectFailure(t, err, "there is no memory for now")
	if waited := time.Since(began); waited < memoryWait {
		t.Errorf("it waits %s for memory, want %s", waited, memoryWait)
	}
}
