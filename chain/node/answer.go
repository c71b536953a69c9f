package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"
)

// Memory bounds the memory of the answers of all nodes together. An answer's memory is given back
// when the answer is collected as garbage.
type Memory interface {
	Most() int64
	Take(bytes int64) bool
	Wait(ctx context.Context, bytes int64) bool
	Give(bytes int64)
}

const (
	// smallAnswer is how long an answer may be without a place in memory, in bytes.
	smallAnswer = 1 << 20
	// copies is how many times a long answer is in memory at once: as bytes, and decoded.
	copies = 2
	// memoryWait is how long a long answer waits for the memory of earlier ones.
	memoryWait = time.Second
)

var (
	errNoMemory = errors.New("other answers have the memory for long ones")
	// errNoRoom is a reason of ErrTooLong: asking for less helps with both.
	errNoRoom = fmt.Errorf("this machine has no memory for it: %w", ErrTooLong)
)

// ReadAnswer reads an answer of at most limit bytes to its end. announced is its length where
// the node sent one, else 0 or less. The error is the one of the reader, or a Failure.
func (c *Client) ReadAnswer(ctx context.Context, from io.Reader, announced, limit int64) (answer []byte, err error) {
	var held int64
	defer func() {
		if err != nil {
			c.memory.Give(held)
		} else if held > 0 {
			runtime.AddCleanup(&answer[0], c.memory.Give, held)
		}
	}()
	for size := max(announced, 512) + 1; ; size = 2 * size { // one more, in which its end is found
		size = min(size, limit+1)
		if size > smallAnswer {
			if err := c.reserveMemory(ctx, copies*size, copies*size-held); err != nil {
				return nil, err
			}
			held = copies * size
		}
		longer := make([]byte, len(answer), size)
		copy(longer, answer)
		switch answer, err = fillBuffer(longer, from); {
		case int64(len(answer)) > limit:
			return nil, AnswerTooLongError()
		case err == nil:
			return answer, nil
		case !errors.Is(err, errBufferFull):
			return nil, err
		}
	}
}

var errBufferFull = errors.New("there is more")

// fillBuffer fills the unused capacity of piece until it is full or the reader ends.
func fillBuffer(piece []byte, from io.Reader) ([]byte, error) {
	for len(piece) < cap(piece) {
		n, err := from.Read(piece[len(piece):cap(piece)])
		piece = piece[:len(piece)+n]
		if errors.Is(err, io.EOF) {
			return piece, nil
		}
		if err != nil {
			return piece, err
		}
	}
	return piece, errBufferFull
}

// reserveMemory takes memory for a longer answer, of all bytes in sum. Where there is none, answers
// that were read before may be garbage.
func (c *Client) reserveMemory(ctx context.Context, all, more int64) error {
	if all > c.memory.Most() {
		return NewFailure(errNoRoom,
			"gives an answer that is too long for the memory of this machine. Give Cointill more memory.")
	}
	if c.memory.Take(more) {
		return nil
	}
	runtime.GC()
	ctx, cancel := context.WithTimeout(ctx, memoryWait)
	defer cancel()
	if !c.memory.Wait(ctx, more) {
		return newTransient(errNoMemory, "gives an answer that there is no memory for now. It is asked again.")
	}
	return nil
}

// unboundedMemory is the memory of a client that has no bound.
type unboundedMemory struct{}

func (unboundedMemory) Most() int64                      { return 1 << 62 }
func (unboundedMemory) Take(int64) bool                  { return true }
func (unboundedMemory) Wait(context.Context, int64) bool { return true }
func (unboundedMemory) Give(int64)                       {}
