package xrpl

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/chain/node"
	"cointill/chain/quorum"
	"cointill/chain/xrpl/ledgertest"
)

// speedup is the factor by which these tests shorten all timeouts.
const speedup = 5

// shortenTimeouts divides the real timeouts of a source and its follower by speedup.
func shortenTimeouts(s *Source) (timeout time.Duration) {
	for _, n := range s.nodes.Members {
		switch asking := n.transport.(type) {
		case *httpTransport:
			asking.client.SilenceTimeout = node.MaxSilence / speedup
		case *socketTransport:
			asking.client.SilenceTimeout = node.MaxSilence / speedup
		}
	}
	usual := quorum.DefaultTiming
	s.nodes.Timing = quorum.Timing{HealthyAge: 0, UnhealthyAge: usual.UnhealthyAge / speedup,
		Grace: usual.Grace / speedup, CheckTimeout: usual.CheckTimeout / speedup}
	return chain.NewFollower(chain.FollowerConfig{}).Timeout / speedup
}

// TestSilentServerIsLeftOut checks that a server that does not answer, or answers one byte at a
// time, is left out, from the start or after it was in use. The follower continues with the other
// server within a few steps.
func TestSilentServerIsLeftOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, scheme string
		drips, later bool
		steps        int // that may fail
	}{
		{"http", "http", false, false, 0},
		{"ws", "ws", false, false, 0},
		{"dripping", "http", true, false, 0},
		{"http, once chosen", "http", false, true, 1},
		{"ws, once chosen", "ws", false, true, 1},
		{"dripping, once chosen", "http", true, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := ledgertest.New(testID, nil)
			bad, good := ledgertest.NewServer(l, 2), ledgertest.NewServer(l, 2)
			ended := make(chan struct{})
			var mute atomic.Bool
			mute.Store(!c.later)
			if c.drips {
				bad.Hijack(func(w http.ResponseWriter,
					_ *http.Request) bool {
					return mute.Load() && dripBytes(w, ended)
				})
			} else {
				bad.Tamper(func(string, int, ledgertest.Fields) {
					if mute.Load() {
						<-ended
					}
				})
			}
			source := openURLs(t, l, c.scheme+"://"+bad.Serve(t), c.scheme+"://"+good.Serve(t))
			endHangingRequests(t, source, ended)
			book := chaintest.NewLedger(new(chain.WatchSet), 10_000)
			follower := chain.NewFollower(chain.FollowerConfig{Network: "till", Source: source, Store: book,
				Watch: new(chain.WatchSet), Timeout: shortenTimeouts(source)})
			if !c.drips { // MaxSilence has to end the check, on a busy machine too
				source.nodes.Timing.CheckTimeout = quorum.DefaultTiming.CheckTimeout
			}
			step := func() bool {
				_, err := follower.Step(t.Context())
				if err != nil {
					t.Log(err)
				}
				at, _ := l.Tip()
				return err == nil && book.Tip().Height == at
			}
			if c.later {
				if !step() || source.nodes.Chosen != source.nodes.Members[0].Node {
					t.Fatal("it isn't chosen while it is well")
				}
				mute.Store(true)
				l.CloseLedgers(1)
			}
			failed := 0
			for ; !step(); failed++ {
				if failed == c.steps {
					t.Fatalf("%d steps failed", failed+1)
				}
			}
			l.CloseLedgers(1)
			if !step() || source.nodes.Members[0].LastView().Healthy() || source.nodes.Chosen != source.nodes.Members[1].Node {
				t.Errorf("it is asked again: %+v", source.nodes.Members[0].LastView())
			}
			after := node.MaxSilence
			if c.drips {
				after = quorum.DefaultTiming.CheckTimeout
			}
			if v := source.nodes.Members[0].LastView(); v.Err == nil ||
				!strings.Contains(v.Err.Error(), "says nothing for "+(after/speedup).String()) {
				t.Errorf("%v, and it was given up after %s", v.Err, after/speedup)
			}
		})
	}
}

// TestDrippingServerIsAskedLast checks that a server whose slow answer used up the timeout is
// asked last afterwards, whether it was asked first or had to confirm a ledger.
func TestDrippingServerIsAskedLast(t *testing.T) {
	t.Parallel()
	l := ledgertest.New(testID, nil)
	bad, good := ledgertest.NewServer(l, 2), ledgertest.NewServer(l, 2)
	ended := make(chan struct{})
	bad.Hijack(func(w http.ResponseWriter, r *http.Request) bool {
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		return err == nil && bytes.Contains(body, []byte("transactions")) && dripBytes(w, ended)
	})
	source := openURLs(t, l, "http://"+bad.Serve(t), "http://"+good.Serve(t))
	endHangingRequests(t, source, ended)
	patience := shortenTimeouts(source)
	asked := func(n *server) error {
		t.Helper()
		expectTip(t, source, l)
		if source.nodes.Chosen != n.Node {
			t.Fatalf("server %d is asked", source.nodes.Chosen.Number)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		at, _ := l.Tip()
		_, err := chaintest.ReadBlock(ctx, source, at, new(chain.WatchSet))
		if source.nodes.Members[0].DemotedUntil().IsZero() || !source.nodes.Members[1].DemotedUntil().IsZero() {
			t.Errorf("the wrong one is asked last from now on: %v", err)
		}
		return err
	}
	if err := asked(source.nodes.Members[0]); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	var unconfirmed *quorum.Problem
	if err := asked(source.nodes.Members[1]); !errors.As(err, &unconfirmed) ||
		source.nodes.Members[0].ConfirmFailure() == nil {
		t.Error(err)
	}
}

// endHangingRequests ends hanging requests at the end of a test, and waits for handshakes that
// still run.
func endHangingRequests(t *testing.T, s *Source, ended chan struct{}) {
	t.Cleanup(func() { // before the servers wait for their answers
		close(ended)
		s.nodes.CheckAll(context.WithoutCancel(t.Context()))
	})
}

// dripBytes sends one byte after the other without end.
func dripBytes(w http.ResponseWriter, ended <-chan struct{}) bool {
	next := time.NewTicker(node.MaxSilence / speedup / 5)
	defer next.Stop()
	for {
		select {
		case <-ended:
			return true
		case <-next.C:
			if _, err := w.Write([]byte(" ")); err != nil {
				return true
			}
			_ = http.NewResponseController(w).Flush()
		}
	}
}
