package xrpl

import (
	"context"
	"testing"
	"time"

	"cointill/chain/xrpl/ledgertest"
)

// TestNewLedgerWakesFollower checks that a new ledger wakes the follower over both kinds of URL,
// also after the stream broke.
func TestNewLedgerWakesFollower(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"ws://", "http://host:1?stream=ws://"} {
		l := ledgertest.New(testID, nil)
		s := ledgertest.NewServer(l, 2)
		source := openURLs(t, l, kind+s.Serve(t))
		woken := make(chan struct{}, 100)
		stop := source.Notify(func() { woken <- struct{}{} })
		defer stop()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- source.Run(ctx) }()
		wait := func(why string) {
			t.Helper()
			patience := time.NewTimer(time.Minute)
			defer patience.Stop()
			select {
			case <-woken:
			case <-patience.C:
				t.Fatalf("%s: nobody was woken", why)
			}
		}
		wait("the stream stands")
		l.CloseLedgers(1)
		wait("a ledger")
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
