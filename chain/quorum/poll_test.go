package quorum

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"cointill/core/clock"
)

// TestPollEndsByTimeoutOrContext checks that a node is polled every 200 ms while there is
// something to wait for, for at most three seconds, and not after the context ended.
func TestPollEndsByTimeoutOrContext(t *testing.T) {
	t.Parallel()
	errMissing := errors.New("the block is missing")
	missing, other := fmt.Errorf("%w: null", errMissing), errors.New("broken")
	for name, c := range map[string]struct {
		answers  []error // in order; the last one repeats
		lacks    int64
		canceled time.Duration
		err      error
		asked    int
		after    time.Duration // in the bubble's time
	}{
		"at once":           {[]error{nil}, 1, time.Hour, nil, 1, 0},
		"a little later":    {[]error{missing, missing, nil}, 1, time.Hour, nil, 3, 2 * pollInterval},
		"two blocks behind": {[]error{missing, nil}, 2, time.Hour, nil, 2, pollInterval},
		"never":             {[]error{missing}, 1, time.Hour, errMissing, 15, PollTimeout},
		"far behind":        {[]error{missing}, maxPollLag, time.Hour, errMissing, 1, 0},
		"it has the height": {[]error{missing}, 0, time.Hour, errMissing, 1, 0},
		"it fails":          {[]error{other}, 1, time.Hour, other, 1, 0},
		"it fails then":     {[]error{missing, other}, 1, time.Hour, other, 2, pollInterval},
		"the end": {[]error{missing}, 1, pollInterval + pollInterval/2, context.DeadlineExceeded, 2,
			pollInterval + pollInterval/2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.canceled)
				defer cancel()
				now, asked := clock.Real(), 0
				began := now()
				err := PollUntil(ctx, PollTimeout, func() (bool, error) {
					err := c.answers[min(asked, len(c.answers)-1)]
					asked++
					return errors.Is(err, errMissing) && arrivesSoon(c.lacks), err
				})
				took := now().Sub(began)
				late := name == "never" && asked == c.asked+1 // the last tick and the timeout happen at the same time
				if !errors.Is(err, c.err) || asked != c.asked && !late || took != c.after {
					t.Errorf("%v after %s, asked %d times", err, took, asked)
				}
			})
		})
	}
}
