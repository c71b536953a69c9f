package account

import (
	"context"

	"cointill/core/fault"
)

// line is where passwords wait to be hashed: Argon2 takes 64 MiB each, so there are two
// places. They are had in the order of asking. Strangers, who may be any number, wait
// before the door of the line, and one of them at a time stands in it: who is known has
// no more than that one ahead.
type line struct {
	places, door chan struct{}
}

func newLine() line {
	return line{places: make(chan struct{}, 2), door: make(chan struct{}, 1)}
}

// do runs work in a place. Unavailable when ctx ends before there is one.
func (l line) do(ctx context.Context, known bool, work func() error) error {
	leave, err := l.enter(ctx, known)
	if err != nil {
		return fault.Retry("busy", "The server is busy with other sign-ins. Try again in a moment.", retryBusy).Because(err)
	}
	defer leave()
	return work()
}

func (l line) enter(ctx context.Context, known bool) (leave func(), err error) {
	if !known {
		select {
		case l.door <- struct{}{}:
			defer func() { <-l.door }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	select {
	case l.places <- struct{}{}:
		return func() { <-l.places }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
