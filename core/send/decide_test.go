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
	pending, confirmed, final := send.Sighting{TxID: "a"}, send.Sighting{TxID: "a", Height: 100},
		send.Sighting{TxID: "a", Height: 98}
	second := send.Sighting{TxID: "b", Height: 97}
	dropped := func(ago time.Duration) send.Sighting {
		return send.Sighting{TxID: "a", Gone: "dropped", GoneAt: now.Add(-ago)}
	}
	replaced := func(height int64) send.Sighting {
		return send.Sighting{TxID: "a", Gone: "replaced", GoneAt: now, Conflict: height}
	}
	reverted := func(height int64) send.Sighting { return send.Sighting{TxID: "a", Height: height, Reverted: true} }
	earlier := reverted(90)
	earlier.Earlier = true
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
		{"replaced by one that pays it, too", send.Processing, []send.Sighting{replaced(0), {TxID: "b"}},
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
		{"the second in the mempool", send.Successful, []send.Sighting{final, {TxID: "b"}},
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
		out := send.Decide(c, []send.Sighting{{TxID: "a", Height: 98}}, payment.Chain{Tip: 110, Finalized: finalized},
			time.Time{})
		if out.State != want {
			t.Errorf("with block %d finalized the send is %s, want %s", finalized, out.State, want)
		}
		if want == send.Processing && out.WakeHeight != 111 {
			t.Errorf("it is looked at again at height %d, want the next", out.WakeHeight)
		}
	}
}
