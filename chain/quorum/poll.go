package quorum

import (
	"context"
	"time"
)

const (
	// PollTimeout is the time that a second node gets to receive a block that the first one has already.
	PollTimeout = 3 * time.Second
	// pollInterval is how often it is asked meanwhile.
	pollInterval = 200 * time.Millisecond
	// maxPollLag is the number of blocks from which on a lagging node is not waited for.
	maxPollLag = 3
)

// IsAboutToHave reports whether a node that lacks a block of a height may receive it soon: its last tip is below
// it, by less than maxPollLag blocks.
func (n *Node) IsAboutToHave(height int64) bool { return arrivesSoon(height - n.LastView().Tip.Height) }

// arrivesSoon reports whether it is worth waiting for a node that lacks some blocks.
func arrivesSoon(lacks int64) bool { return lacks > 0 && lacks < maxPollLag }

// PollUntil calls ask every pollInterval until ask reports that there is no more to wait for, or
// until patience has passed.
func PollUntil(ctx context.Context, patience time.Duration, ask func() (more bool, err error)) error {
	end := time.NewTimer(patience)
	defer end.Stop()
	again := time.NewTicker(pollInterval)
	defer again.Stop()
	for {
		more, err := ask()
		if !more {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-end.C:
			return err
		case <-again.C:
		}
	}
}
