package send_test

import (
	"fmt"
	"testing"
	"time"

	"cointill/core/payment"
	"cointill/core/send"
)

// TestDecide checks every transition of contract section 7 that evidence or time makes.
func TestDecide(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tip := payment.Chain{Tip: 100, Finalized: 95}
	pending, confirmed, final := send.Sighting{}, send.Sighting{Height: 100},
		send.Sighting{Height: 98}
	second := send.Sighting{Height: 97}
	dropped := func(ago time.Duration) send.Sighting {
		return send.Sighting{Gone: "dropped", GoneAt: now.Add(-ago)}
	}
	replaced := func(height int64) send.Sighting {
		return send.Sighting{Gone: "replaced", GoneAt: now, Conflict: height}
	}
	reverted := func(height int64) send.Sighting { return send.Sighting{Height: height, Reverted: true} }
	earlier := reverted(90)
	earlier.Earlier = true
	late, reorged, deepReverted := replaced(100), dropped(time.Hour), reverted(98)
	late.GoneAt = now.Add(-7 * time.Hour)
	reorged.Height = 98
	deepReverted.Gone, deepReverted.GoneAt = "reorged", now
	for _, c := range []struct {
		name  string
		state send.State
		seen  []send.Sighting
		want  string // state, reason, reversed, confirmed, main, extra
	}{
		{"nothing seen", send.Ready, nil, "ready  false false -1 []"},
		{"seen in the mempool", send.Ready, []send.Sighting{pending}, "processing  false false 0 []"},
		{"in a block", send.Ready, []send.Sighting{confirmed}, "processing  false true 0 []"},
		{"final", send.Processing, []send.Sighting{final}, "successful  false true 0 []"},
		{"final at once", send.Ready, []send.Sighting{final}, "successful  false true 0 []"},
		{"replaced by one that pays it, too", send.Processing, []send.Sighting{replaced(0), {}},
			"processing  false false 1 []"},
		{"replaced, not final", send.Processing, []send.Sighting{replaced(100)}, "processing  false false 0 []"},
		{"replaced for good", send.Processing, []send.Sighting{replaced(98)}, "failed replaced false false 0 []"},
		{"dropped for a moment", send.Processing, []send.Sighting{dropped(5 * time.Hour)},
			"processing  false false 0 []"},
		{"dropped for six hours", send.Processing, []send.Sighting{dropped(6 * time.Hour)},
			"failed dropped false false 0 []"},
		{"reverted, not final", send.Processing, []send.Sighting{reverted(100)}, "processing  false false 0 []"},
		{"reverted for good", send.Processing, []send.Sighting{reverted(98)}, "failed reverted false false 0 []"},
		{"reverted before it was seen alive", send.Ready, []send.Sighting{reverted(98)},
			"failed reverted false false 0 []"},
		{"ready again after a failure", send.Ready, []send.Sighting{earlier}, "ready  false false 0 []"},
		{"one replaced, one may still come", send.Processing, []send.Sighting{replaced(98), dropped(time.Hour)},
			"processing  false false 0 []"},
		{"seen again after it failed", send.Failed, []send.Sighting{pending}, "processing  false false 0 []"},
		{"seen after it was rejected", send.Rejected, []send.Sighting{pending},
			"processing sent_anyway false false 0 []"},
		{"seen after it expired", send.Expired, []send.Sighting{confirmed}, "processing sent_anyway false true 0 []"},
		{"paid twice", send.Successful, []send.Sighting{final, second}, "successful paid_twice false true 0 [1]"},
		{"the second in the mempool", send.Successful, []send.Sighting{final, {}},
			"successful  false true 0 []"},
		{"left the chain after it was final", send.Successful, []send.Sighting{dropped(time.Minute)},
			"successful reversed true false 0 []"},
		{"replaced after it was final", send.Successful, []send.Sighting{replaced(100)},
			"successful reversed true false 0 []"},
		{"replaced for good after it was final", send.Successful, []send.Sighting{replaced(98)},
			"successful replaced true false 0 []"},
		{"reverted for good after it was final", send.Successful, []send.Sighting{reverted(98)},
			"successful reverted true false 0 []"},
		{"dropped for long after it was final", send.Successful, []send.Sighting{dropped(60 * time.Hour)},
			"successful reversed true false 0 []"},
		{"one replaced for good, one may still come", send.Successful, []send.Sighting{replaced(98), dropped(time.Hour)},
			"successful reversed true false 0 []"},
		{"less deep after it was final", send.Successful, []send.Sighting{confirmed}, "successful  false true 0 []"},
		{"waits for approval", send.AwaitingApproval, nil, "awaiting_approval  false false -1 []"},
		{"replaced long ago, not final", send.Processing, []send.Sighting{late}, "processing  false false 0 []"},
		{"left a deep block", send.Processing, []send.Sighting{reorged}, "processing  false false 0 []"},
		{"a reverted one left a deep block", send.Processing, []send.Sighting{deepReverted},
			"processing  false false 0 []"},
		{"reverted before it was processing", send.Processing, []send.Sighting{earlier},
			"failed reverted false false 0 []"},
		{"failed, and reverted", send.Failed, []send.Sighting{reverted(98)}, "failed  false false 0 []"},
		{"cancelled, and dropped", send.Cancelled, []send.Sighting{dropped(7 * time.Hour)},
			"cancelled  false false 0 []"},
		{"dropped and reverted", send.Processing, []send.Sighting{dropped(7 * time.Hour), reverted(98)},
			"failed dropped false false 0 []"},
		{"reverted and dropped", send.Processing, []send.Sighting{reverted(98), dropped(7 * time.Hour)},
			"failed dropped false false 0 []"},
		{"reverted and replaced", send.Processing, []send.Sighting{reverted(98), replaced(98)},
			"failed reverted false false 0 []"},
		{"the final one counts", send.Processing, []send.Sighting{confirmed, second}, "successful  false true 1 []"},
		{"the confirmed one counts", send.Processing, []send.Sighting{pending, confirmed},
			"processing  false true 1 []"},
		{"the pending one counts", send.Processing, []send.Sighting{dropped(time.Hour), pending},
			"processing  false false 1 []"},
		{"the first of two counts", send.Processing, []send.Sighting{pending, pending}, "processing  false false 0 []"},
	} {
		out := send.Decide(send.Case{State: c.state, Depth: 3, ExpiresAt: now.Add(time.Hour)}, c.seen, tip, now)
		got := fmt.Sprint(out.State, " ", out.Reason, " ", out.Reversed, " ", out.Confirmed, " ", out.Main, " ",
			out.Extra)
		if got != c.want {
			t.Errorf("%s: Decide gives %q, want %q", c.name, got, c.want)
		}
	}
}

// TestDecideExpires checks the ends of the waits for an address and for a wallet, to the moment.
func TestDecideExpires(t *testing.T) {
	end := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		state, want send.State
		at          time.Time
		reason      string
	}{
		{send.AwaitingDestination, send.AwaitingDestination, end.Add(-1), ""},
		{send.AwaitingDestination, send.Expired, end, send.NotClaimed},
		{send.Ready, send.Ready, end.Add(-1), ""},
		{send.Ready, send.Expired, end, send.NotSigned},
		{send.AwaitingApproval, send.AwaitingApproval, end.Add(time.Hour), ""},
		{send.Cancelled, send.Cancelled, end.Add(time.Hour), ""},
	} {
		out := send.Decide(send.Case{State: c.state, Depth: 1, ExpiresAt: end}, nil, payment.Chain{}, c.at)
		if out.State != c.want || out.Reason != c.reason {
			t.Errorf("%s at %s: Decide gives %s (%s), want %s (%s)", c.state, c.at, out.State, out.Reason, c.want,
				c.reason)
		}
		waits := c.state == c.want && (c.state == send.Ready || c.state == send.AwaitingDestination)
		if waits != out.Wake.Equal(end) {
			t.Errorf("%s at %s wakes at %s; it waits: %t", c.state, c.at, out.Wake, waits)
		}
	}
}

// TestFinalityOfTheNetworkIsWaitedFor checks that a deep transaction is not final before the
// network says so.
func TestFinalityOfTheNetworkIsWaitedFor(t *testing.T) {
	c := send.Case{State: send.Processing, Depth: 3, NetworkSays: true}
	for finalized, want := range map[int64]send.State{97: send.Processing, 98: send.Successful} {
		out := send.Decide(c, []send.Sighting{{Height: 98}}, payment.Chain{Tip: 110, Finalized: finalized},
			time.Time{})
		if out.State != want {
			t.Errorf("with block %d finalized the send is %s, want %s", finalized, out.State, want)
		}
		if want == send.Processing && out.WakeHeight != 111 {
			t.Errorf("it is looked at again at height %d, want the next", out.WakeHeight)
		}
	}
}

// TestDecideKeepsReasons checks what becomes of the reason that a send has.
func TestDecideKeepsReasons(t *testing.T) {
	tip := payment.Chain{Tip: 100}
	for _, c := range []struct {
		before send.Case
		seen   send.Sighting
		want   string
	}{
		{send.Case{State: send.Processing, Reason: send.SentAnyway}, send.Sighting{}, "processing sent_anyway false"},
		{send.Case{State: send.Failed, Reason: send.Dropped}, send.Sighting{}, "processing  false"},
		{send.Case{State: send.Successful, Reason: send.ReversedCode, Reversed: true}, send.Sighting{Height: 90},
			"successful  false"},
		{send.Case{State: send.Successful, Reason: send.ReversedCode, Reversed: true}, send.Sighting{Height: 100},
			"successful reversed true"},
	} {
		c.before.Depth = 3
		out := send.Decide(c.before, []send.Sighting{c.seen}, tip, time.Time{})
		if got := fmt.Sprint(out.State, " ", out.Reason, " ", out.Reversed); got != c.want {
			t.Errorf("%+v with %+v becomes %q, want %q", c.before, c.seen, got, c.want)
		}
	}
}

// TestDecideWakes checks at which height and time a send is looked at again.
func TestDecideWakes(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(height int64) send.Sighting { return send.Sighting{Height: height} }
	gone := func(conflict int64) send.Sighting {
		return send.Sighting{Gone: "dropped", GoneAt: now.Add(-time.Hour), Conflict: conflict}
	}
	for _, c := range []struct {
		name   string
		state  send.State
		seen   []send.Sighting
		height int64
		in     time.Duration
	}{
		{"in the mempool", send.Processing, []send.Sighting{at(0)}, 0, 0},
		{"in the newest block", send.Processing, []send.Sighting{at(100)}, 102, 0},
		{"final", send.Processing, []send.Sighting{at(98)}, 0, 0},
		{"the older first", send.Processing, []send.Sighting{at(99), at(100)}, 101, 0},
		{"the newer first", send.Processing, []send.Sighting{at(100), at(99)}, 101, 0},
		{"dropped", send.Processing, []send.Sighting{gone(0)}, 0, 5 * time.Hour},
		{"replaced", send.Processing, []send.Sighting{gone(99)}, 101, 0},
		{"replaced for good", send.Processing, []send.Sighting{gone(98)}, 0, 0},
		{"reverted", send.Processing, []send.Sighting{{Height: 100, Reverted: true}}, 102, 0},
		{"nothing seen", send.Processing, nil, 0, 0},
		{"ready, and dropped", send.Ready, []send.Sighting{gone(0)}, 0, 5 * time.Hour},
	} {
		out := send.Decide(send.Case{State: c.state, Depth: 3, ExpiresAt: now.Add(time.Minute)}, c.seen,
			payment.Chain{Tip: 100}, now)
		want := time.Time{}
		if c.in > 0 {
			want = now.Add(c.in)
		}
		if out.WakeHeight != c.height || !out.Wake.Equal(want) {
			t.Errorf("%s: it is looked at again at height %d and %s, want %d and %s", c.name, out.WakeHeight, out.Wake,
				c.height, want)
		}
	}
}

// TestDecideIsStable checks that Decide changes nothing of its own outcome, for every state with none, one and two of
// the sightings that there are.
func TestDecideIsStable(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	long := now.Add(-7 * time.Hour)
	kinds := []send.Sighting{{}, {Height: 100}, {Height: 90}, {Height: 100, Reverted: true}, {Height: 90,
		Reverted: true},
		{Gone: "dropped", GoneAt: now}, {Gone: "dropped", GoneAt: long}, {Gone: "replaced", GoneAt: long,
			Conflict: 100},
		{Gone: "replaced", GoneAt: long, Conflict: 90}, {Gone: "dropped", GoneAt: long, Earlier: true}}
	lists := [][]send.Sighting{nil}
	for _, a := range kinds {
		lists = append(lists, []send.Sighting{a})
		for _, b := range kinds {
			lists = append(lists, []send.Sighting{a, b})
		}
	}
	for _, state := range send.States() {
		for _, expires := range []time.Time{now, now.Add(time.Hour)} {
			for _, seen := range lists {
				c := send.Case{State: state, Depth: 3, ExpiresAt: expires}
				first := send.Decide(c, seen, payment.Chain{Tip: 100}, now)
				c.State, c.Reason, c.Reversed = first.State, first.Reason, first.Reversed
				if again := send.Decide(c, seen, payment.Chain{Tip: 100}, now); fmt.Sprint(again) != fmt.Sprint(first) {
					t.Errorf("%s with %+v becomes %+v, and then %+v; want that it stays", state, seen, first, again)
				}
			}
		}
	}
}
