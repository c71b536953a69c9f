package ethereum

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
	missing, other := fmt.Errorf("%w: null", errMissingBlock), errors.New("broken")
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
		"never":             {[]error{missing}, 1, time.Hour, errMissingBlock, 15, defaultConfirmTimeout},
		"far behind":        {[]error{missing}, maxLag, time.Hour, errMissingBlock, 1, 0},
		"it has the height": {[]error{missing}, 0, time.Hour, errMissingBlock, 1, 0},
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
				err := pollUntil(ctx, defaultConfirmTimeout, func() (bool, error) {
					err := c.answers[min(asked, len(c.answers)-1)]
					asked++
					return arrivesSoon(err, c.lacks), err
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

// TestLateSecondNodeStillConfirms checks that a second node that receives the block a moment later
// still confirms it.
func TestLateSecondNodeStillConfirms(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	first, second := newFakeNode(t, c), newFakeNode(t, c)
	b := newFixture(t, c, first.openSource(t, second))
	b.source.confirmTimeout = time.Minute
	b.followToTip()
	to := b.watchNewAddress()
	c.sendEther(outputTo(c.newAddress(), 5), false)
	c.mineBlocks(1)
	first.setBehaviour(redirectPayments(to))
	second.setBehaviour(func(n *fakeNode) {
		n.hidden = 1
		n.tamper = func(method string, result any) any {
			if method == "eth_getBlockByHash" {
				n.setBehaviour(func(n *fakeNode) { n.hidden = 0 }) // from the next request on
			}
			return result
		}
	})
	b.expectStopped("Nodes 1 and 2 of 2 disagree about what block 1 holds")
	if asked := second.countRequests("eth_getBlockByHash"); asked < 2 {
		t.Errorf("the second node was asked %d times", asked)
	}
}
