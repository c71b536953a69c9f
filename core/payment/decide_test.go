package payment

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cointill/core/money"
)

const sixHours = 6 * time.Hour // contract section 4: after that a dropped transfer counts as gone for good

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// asked is a payment of 1,000 units that needs three confirmations.
func asked(state State) Case {
	return Case{State: state, Due: money.Units(1000), Depth: 3, ExpiresAt: start.Add(Window), AbandonsAt: start.Add(Monitoring)}
}

func sighting(units, height int64, after time.Duration) Sighting {
	return Sighting{Amount: money.Units(units), Height: height, SeenAt: start.Add(after)}
}

// at is a chain whose tip has the height, read to beyond every deadline.
func at(tip int64) Chain { return Chain{Tip: tip, Finalized: -1, Read: start.Add(9 * Monitoring)} }

// TestDecide (BTC-1, BTC-2, BTC-3, T-1, T-3, AP-24): a row for each case: what the
// payment is, what was seen, when, and what it comes to.
func TestDecide(t *testing.T) {
	t.Parallel()
	const second = time.Second
	with := func(c Case, change func(*Case)) Case { change(&c); return c }
	gone := func(s Sighting, why Reason) Sighting { s.Gone = why; return s }
	since := func(s Sighting, after time.Duration) Sighting { s.GoneAt = start.Add(after); return s }
	reverted := func(s Sighting) Sighting { s.Reverted = true; return s }
	mined := func(s Sighting) Sighting { s.Maturity = 100; return s }
	conflicted := func(s Sighting, height int64) Sighting { s.Gone, s.Conflict = Replaced, height; return s }
	elsewhere := func(s Sighting, read time.Duration) Sighting {
		s.Elsewhere = &Elsewhere{Network: "bsc", Chain: Chain{Tip: 20, Finalized: -1, Read: start.Add(read)}, Depth: 3}
		return s
	}
	unread := func(until time.Duration) Chain { c := at(20); c.Read = start.Add(until); return c }
	cases := []struct {
		name   string
		c      Case
		seen   []Sighting
		chain  Chain
		after  time.Duration
		state  State
		reason Reason
	}{
		{"pending inside the window", asked(Pending), nil, at(10), Window, Pending, ""},
		{"pending after the window", asked(Pending), nil, at(10), Window + time.Microsecond, Expired, ""},
		{"expired stays", asked(Expired), nil, at(10), Monitoring * 2, Expired, ""},
		{"opened, nothing came", asked(Initiated), nil, at(10), Monitoring, Initiated, ""},
		{"opened, nothing came for a day", asked(Initiated), nil, at(10), Monitoring + time.Microsecond, Abandoned, ""},
		{"seen in the mempool", asked(Initiated), []Sighting{sighting(1000, 0, second)}, at(10), second, Initiated, ""},
		{"still in the mempool after a day", asked(Initiated), []Sighting{sighting(1000, 0, second)}, at(10), Monitoring * 2, Initiated, ""},
		{"first confirmation", asked(Initiated), []Sighting{sighting(1000, 10, second)}, at(10), second, Processing, ""},
		{"first confirmation of a part", asked(Initiated), []Sighting{sighting(1, 10, second)}, at(10), second, Processing, ""},
		{"not final yet", asked(Processing), []Sighting{sighting(1000, 10, second)}, at(11), second, Processing, ""},
		{"final by depth, but mined and not mature", asked(Processing), []Sighting{mined(sighting(1000, 10, second))}, at(108), second, Processing, ""},
		{"enough in time, a crumb late", with(asked(Processing), func(c *Case) { c.Over, c.DeclineLate = 500, true }),
			[]Sighting{sighting(1000, 9, second), sighting(1, 9, Window+second)}, at(20), Window * 2, Successful, ""},
		{"enough in time, a crumb after a day", with(asked(Processing), func(c *Case) { c.Over = 500 }),
			[]Sighting{sighting(1, 9, Monitoring+second), sighting(1000, 9, second)}, at(20), Monitoring * 2, Successful, ""},
		{"enough only with what came late", with(asked(Processing), func(c *Case) { c.DeclineLate = true }),
			[]Sighting{sighting(999, 9, second), sighting(1, 9, Window+second)}, at(20), Window * 2, Declined, Late},
		{"mined and mature", asked(Processing), []Sighting{mined(sighting(1000, 10, second))}, at(109), second, Successful, ""},
		{"final", asked(Processing), []Sighting{sighting(1000, 10, second)}, at(12), second, Successful, ""},
		{"two parts", asked(Processing), []Sighting{sighting(400, 9, second), sighting(600, 10, second)}, at(12), second, Successful, ""},
		{"the second part is not final", asked(Processing), []Sighting{sighting(400, 9, second), sighting(600, 11, second)}, at(12), second, Processing, ""},
		{"a part, and the window is open", asked(Processing), []Sighting{sighting(400, 9, second)}, at(20), Window, Processing, ""},
		{"a part, and the window is over", asked(Processing), []Sighting{sighting(400, 9, second)}, at(20), Window + time.Microsecond, Declined, Underpaid},
		{"a part, the rest still in the mempool after a day", asked(Processing), []Sighting{sighting(400, 9, second), sighting(600, 0, second)}, at(20), 2 * Monitoring, Processing, ""},
		{"a part, the block of the rest left the chain", asked(Processing), []Sighting{sighting(400, 9, second), since(gone(sighting(600, 0, second), Reorged), Window)}, at(20), Monitoring, Processing, ""},
		{"a part, the block of the rest left the chain for good", asked(Processing), []Sighting{sighting(400, 9, second), since(gone(sighting(600, 0, second), Reorged), Window)}, at(20), Monitoring + time.Microsecond, Declined, Underpaid},
		{"a part, the rest left the chain, and its height is known", asked(Processing), []Sighting{sighting(400, 9, second), since(gone(sighting(600, 9, second), Reorged), Window)}, at(20), Monitoring + time.Microsecond, Declined, Underpaid},
		{"a part, the block of too little left the chain", asked(Processing), []Sighting{sighting(400, 9, second), since(gone(sighting(599, 0, second), Reorged), Window)}, at(20), Window + second, Declined, Underpaid},
		{"a part, the block of late money left the chain", with(asked(Processing), func(c *Case) { c.DeclineLate = true }),
			[]Sighting{sighting(400, 9, second), since(gone(sighting(600, 0, Window+second), Reorged), Window*2)}, at(20), Window * 3, Declined, Underpaid},
		{"a part, the rest was dropped", asked(Processing), []Sighting{sighting(400, 9, second), since(gone(sighting(600, 0, second), Dropped), Window)}, at(20), Monitoring, Processing, ""},
		{"a part, the rest was dropped for good", asked(Processing), []Sighting{sighting(400, 9, second), since(gone(sighting(600, 0, second), Dropped), Window)}, at(20), Monitoring + time.Microsecond, Declined, Underpaid},
		{"a part, the rest was dropped after a day", asked(Processing), []Sighting{sighting(400, 9, second), since(gone(sighting(600, 0, second), Dropped), 2*Monitoring)}, at(20), 2*Monitoring + sixHours, Processing, ""},
		{"a part, the rest was dropped after a day, for good", asked(Processing), []Sighting{sighting(400, 9, second), since(gone(sighting(600, 0, second), Dropped), 2*Monitoring)}, at(20), 2*Monitoring + sixHours + time.Microsecond, Declined, Underpaid},
		{"a part, the rest was replaced in the mempool", asked(Processing), []Sighting{sighting(400, 9, second), gone(sighting(600, 0, second), Replaced)}, at(20), Monitoring, Processing, ""},
		{"a part, a double spend of the rest isn't final", asked(Processing), []Sighting{sighting(400, 9, second), conflicted(sighting(600, 0, second), 19)}, at(20), 2 * Monitoring, Processing, ""},
		{"a part, a double spend of the rest is final", asked(Processing), []Sighting{sighting(400, 9, second), conflicted(sighting(600, 0, second), 18)}, at(20), Window * 2, Declined, Underpaid},
		{"a part, the rest was reverted, and isn't final", asked(Processing), []Sighting{sighting(400, 9, second), reverted(sighting(600, 19, second))}, at(20), 2 * Monitoring, Processing, ""},
		{"a part, the rest was reverted for good", asked(Processing), []Sighting{sighting(400, 9, second), reverted(sighting(600, 18, second))}, at(20), Window * 2, Declined, Underpaid},
		{"reverted, and not final after a day", asked(Initiated), []Sighting{reverted(sighting(1000, 19, second))}, at(20), 2 * Monitoring, Initiated, ""},
		{"dropped on another network that wasn't read", asked(Initiated), []Sighting{elsewhere(gone(sighting(1000, 0, second), Dropped), Monitoring)}, at(20), 2 * Monitoring, Initiated, ""},
		{"dropped on another network that was read", asked(Initiated), []Sighting{elsewhere(gone(sighting(1000, 0, second), Dropped), Monitoring+time.Microsecond)}, at(20), 2 * Monitoring, Failed, Dropped},
		{"late money is final, exact in time is on its way", with(asked(Processing), func(c *Case) { c.DeclineLate = true }),
			[]Sighting{sighting(1000, 9, Window+second), sighting(1000, 20, second)}, at(20), Window * 2, Processing, ""},
		{"a part late is final, the rest in time is on its way", with(asked(Processing), func(c *Case) { c.DeclineLate = true }),
			[]Sighting{sighting(600, 9, Window+second), sighting(400, 20, second)}, at(20), Window * 2, Processing, ""},
		{"late money alone is right, parts in time are", with(asked(Processing), func(c *Case) { c.DeclineLate = true }),
			[]Sighting{sighting(1000, 9, Window+second), sighting(600, 9, second), sighting(400, 9, second)}, at(20), Window * 2, Successful, ""},
		{"late money is final, too little in time is on its way", with(asked(Processing), func(c *Case) { c.DeclineLate = true }),
			[]Sighting{sighting(1000, 9, Window+second), sighting(999, 20, second)}, at(20), Window * 2, Declined, Late},
		{"one unit too much", asked(Processing), []Sighting{sighting(1001, 9, second)}, at(20), second, Declined, Overpaid},
		{"over, within tolerance", with(asked(Processing), func(c *Case) { c.Over = 100 }), []Sighting{sighting(1010, 9, second)}, at(20), second, Successful, ""},
		{"over the tolerance", with(asked(Processing), func(c *Case) { c.Over = 100 }), []Sighting{sighting(1011, 9, second)}, at(20), second, Declined, Overpaid},
		{"under, within tolerance", with(asked(Processing), func(c *Case) { c.Under = 100 }), []Sighting{sighting(990, 9, second)}, at(20), second, Successful, ""},
		{"under the tolerance", with(asked(Processing), func(c *Case) { c.Under = 100 }), []Sighting{sighting(989, 9, second)}, at(20), Window * 2, Declined, Underpaid},
		{"seen at the last microsecond", asked(Processing), []Sighting{sighting(1000, 9, Window)}, at(20), Window * 2, Successful, ""},
		{"seen a microsecond late", asked(Processing), []Sighting{sighting(1000, 9, Window+time.Microsecond)}, at(20), Window * 2, Successful, Late},
		{"late money that never confirmed counts for nothing", asked(Processing), []Sighting{sighting(1000, 9, second), sighting(5, 0, Window*2)}, at(20), Window * 3, Successful, ""},
		{"late is declined by policy", with(asked(Processing), func(c *Case) { c.DeclineLate = true }), []Sighting{sighting(1000, 9, Window+time.Microsecond)}, at(20), Window * 2, Declined, Late},
		{"confirmed late, seen in time", asked(Processing), []Sighting{sighting(1000, 9, second)}, at(20), Monitoring * 3, Successful, ""},
		{"money after abandoned", with(asked(Abandoned), func(c *Case) { c.Abandoned = true }), []Sighting{sighting(1000, 9, Monitoring*2)}, at(9), Monitoring * 2, Processing, AfterAbandoned},
		{"money of the day's last microsecond after abandoned", with(asked(Abandoned), func(c *Case) { c.Abandoned = true }), []Sighting{sighting(1000, 9, Monitoring)}, at(9), Monitoring * 2, Processing, ""},
		{"money after a day, never abandoned", asked(Initiated), []Sighting{sighting(1000, 9, Monitoring*2)}, at(9), Monitoring * 2, Processing, ""},
		{"enough in time in two parts, a crumb late", with(asked(Processing), func(c *Case) { c.Over, c.DeclineLate = 500, true }),
			[]Sighting{sighting(600, 9, second), sighting(400, 9, 2*second), sighting(1, 9, Window+second)}, at(20), Window * 2, Successful, ""},
		{"unconfirmed money after abandoned", with(asked(Abandoned), func(c *Case) { c.Abandoned = true }), []Sighting{sighting(1000, 0, Monitoring*2)}, at(9), Monitoring * 2, Abandoned, ""},
		{"money after abandoned is final", with(asked(Processing), func(c *Case) { c.Abandoned = true }), []Sighting{sighting(1000, 9, Monitoring*2)}, at(20), Monitoring * 2, Declined, AfterAbandoned},
		{"a reorg took the confirmation of money after abandoned", with(asked(Processing), func(c *Case) { c.Abandoned = true }),
			[]Sighting{gone(sighting(1000, 0, Monitoring*2), Reorged)}, at(20), Monitoring * 3, Abandoned, ""},
		{"a reorg took the confirmation", asked(Processing), []Sighting{gone(sighting(1000, 0, second), Reorged)}, at(20), second, Initiated, Reorged},
		{"a reorg, back in the mempool", asked(Processing), []Sighting{sighting(1000, 0, second)}, at(20), second, Initiated, Reorged},
		{"reorged out for good", asked(Initiated), []Sighting{gone(sighting(1000, 0, second), Reorged)}, at(20), Monitoring + time.Microsecond, Failed, Reorged},
		{"dropped, may come back", asked(Initiated), []Sighting{gone(sighting(1000, 0, second), Dropped)}, at(20), Monitoring, Initiated, ""},
		{"dropped for good", asked(Initiated), []Sighting{gone(sighting(1000, 0, second), Dropped)}, at(20), Monitoring + time.Microsecond, Failed, Dropped},
		{"dropped after a day, may come back", asked(Initiated), []Sighting{since(gone(sighting(1000, 0, second), Dropped), 2*Monitoring)}, at(20), 2*Monitoring + sixHours, Initiated, ""},
		{"dropped after a day, for good", asked(Initiated), []Sighting{since(gone(sighting(1000, 0, second), Dropped), 2*Monitoring)}, at(20), 2*Monitoring + sixHours + time.Microsecond, Failed, Dropped},
		{"dropped shortly before a day is over", asked(Initiated), []Sighting{since(gone(sighting(1000, 0, second), Dropped), Monitoring-second)}, at(20), Monitoring + second, Initiated, ""},
		{"replaced in the mempool", asked(Initiated), []Sighting{gone(sighting(1000, 0, second), Replaced)}, at(20), second, Initiated, ""},
		{"replaced by one that pays us", asked(Initiated), []Sighting{gone(sighting(1000, 0, second), Replaced), sighting(1000, 20, second)}, at(20), second, Processing, ""},
		{"two dropped, and the first of them last", asked(Initiated), []Sighting{since(gone(sighting(500, 0, second), Dropped), 2*Monitoring), since(gone(sighting(500, 0, second), Dropped), Monitoring)}, at(20), 2*Monitoring + sixHours, Initiated, ""},
		{"gone, although a height is known", asked(Initiated), []Sighting{gone(sighting(1000, 9, second), Reorged)}, at(20), second, Initiated, ""},
		{"double spend final, another waits", asked(Initiated), []Sighting{conflicted(sighting(1000, 0, second), 10), sighting(1000, 0, second)}, at(12), second, Initiated, ""},
		{"double spend final, another may come back", asked(Initiated), []Sighting{conflicted(sighting(1000, 0, second), 10), gone(sighting(1000, 0, second), Dropped)}, at(12), second, Initiated, ""},
		{"a part, and too much on its way", asked(Processing), []Sighting{sighting(400, 9, second), sighting(700, 20, second)}, at(20), Window * 2, Processing, ""},
		{"one unit too much, late", asked(Processing), []Sighting{sighting(1001, 9, Window+second)}, at(20), Window * 2, Declined, Overpaid},
		{"seen at the day's last microsecond", asked(Processing), []Sighting{sighting(1000, 9, Monitoring)}, at(20), Monitoring * 2, Successful, Late},
		{"double spend confirmed", asked(Initiated), []Sighting{conflicted(sighting(1000, 0, second), 10)}, at(11), second, Initiated, ""},
		{"double spend final", asked(Initiated), []Sighting{conflicted(sighting(1000, 0, second), 10)}, at(12), second, Failed, Replaced},
		{"double spend of what was confirmed", asked(Processing), []Sighting{conflicted(sighting(1000, 0, second), 10)}, at(12), second, Failed, Replaced},
		{"reverted", asked(Initiated), []Sighting{reverted(sighting(1000, 10, second))}, at(11), second, Initiated, ""},
		{"reverted for good", asked(Initiated), []Sighting{reverted(sighting(1000, 10, second))}, at(12), second, Failed, Reverted},
		{"reverted, and its block is gone", asked(Initiated), []Sighting{gone(reverted(sighting(1000, 0, second)), Reorged)}, at(20), second, Initiated, ""},
		{"reverted, and its block is gone for good", asked(Initiated), []Sighting{gone(reverted(sighting(1000, 0, second)), Reorged)}, at(20), Monitoring + second, Failed, Reorged},
		{"one reverted, one pays", asked(Processing), []Sighting{reverted(sighting(1000, 10, second)), sighting(1000, 10, second)}, at(12), second, Successful, ""},
		{"the network's finality is awaited", with(asked(Processing), func(c *Case) { c.NetworkSays = true }), []Sighting{sighting(1000, 10, second)}, Chain{Tip: 50, Finalized: 9}, second, Processing, ""},
		{"the network's finality is there", with(asked(Processing), func(c *Case) { c.NetworkSays = true }), []Sighting{sighting(1000, 10, second)}, Chain{Tip: 50, Finalized: 10}, second, Successful, ""},
		{"pending, and its network was never read", asked(Pending), nil, unread(0), Window + time.Microsecond, Expired, ""},
		{"a part, read to the window's end", asked(Processing), []Sighting{sighting(400, 9, second)}, unread(Window), Monitoring * 9, Processing, ""},
		{"a part, read beyond the window's end", asked(Processing), []Sighting{sighting(400, 9, second)}, unread(Window + time.Microsecond), Monitoring * 9, Declined, Underpaid},
		{"nothing came, read to the day's end", asked(Initiated), nil, unread(Monitoring), Monitoring * 9, Initiated, ""},
		{"nothing came, read beyond the day's end", asked(Initiated), nil, unread(Monitoring + time.Microsecond), Monitoring * 9, Abandoned, ""},
		{"the rest in the mempool, read to the day's end", asked(Processing), []Sighting{sighting(400, 9, second), sighting(600, 0, second)}, unread(Monitoring), Monitoring * 9, Processing, ""},
		{"dropped after a day, read to its six hours", asked(Initiated), []Sighting{since(gone(sighting(1000, 0, second), Dropped), 2*Monitoring)}, unread(2*Monitoring + sixHours), Monitoring * 9, Initiated, ""},
		{"enough, and nothing was read since", asked(Processing), []Sighting{sighting(1000, 9, second)}, unread(second), Monitoring * 9, Successful, ""},
		{"too much, and nothing was read since", asked(Processing), []Sighting{sighting(1001, 9, second)}, unread(second), Monitoring * 9, Declined, Overpaid},
		{"failed stays", asked(Failed), []Sighting{sighting(1000, 10, second)}, at(50), second, Failed, ""},
		{"declined stays", asked(Declined), []Sighting{sighting(1000, 10, second)}, at(50), second, Declined, ""},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out := Decide(test.c, test.seen, test.chain, start.Add(test.after))
			if out.State != test.state || out.Reason != test.reason {
				t.Errorf("got %s %q, want %s %q", out.State, out.Reason, test.state, test.reason)
			}
		})
	}
}

// TestDecideReversed (BTC-4): a reorg beyond the final depth takes money back, but not
// the state, and is told once.
func TestDecideReversed(t *testing.T) {
	t.Parallel()
	c := asked(Successful)
	c.Paid = c.Due
	lost := []Sighting{{Amount: c.Due, SeenAt: start, Gone: Reorged}}
	out := Decide(c, lost, at(50), start)
	if out.State != Successful || !out.Reversed || out.Reason != ReversedReason || out.Paid.Cmp(c.Due) != 0 {
		t.Errorf("got %+v", out)
	}
	if out := Decide(c, []Sighting{sighting(1000, 10, 0)}, at(50), start); out.Reversed {
		t.Error("reversed although the money is there")
	}
	part := []Sighting{{Amount: money.Units(1), SeenAt: start, Gone: Reorged}, sighting(999, 10, 0)}
	if out := Decide(c, part, at(50), start); out.State != Successful || !out.Reversed || out.Reason != ReversedReason || out.Paid.Cmp(c.Due) != 0 {
		t.Errorf("a part was taken back: got %+v", out)
	}
}

// TestWakeHeights checks at which height a payment is decided next: where the first of its transfers
// becomes final, and not at all once it has ended and nothing is missing.
func TestWakeHeights(t *testing.T) {
	t.Parallel()
	reversed := asked(Successful)
	reversed.Paid, reversed.Reversed = reversed.Due, true
	ended := reversed
	ended.Reversed = false
	for name, c := range map[string]struct {
		c    Case
		seen []Sighting
		want int64
	}{
		"the older first":             {asked(Processing), []Sighting{sighting(400, 11, 0), sighting(600, 12, 0)}, 13},
		"the younger first":           {asked(Processing), []Sighting{sighting(600, 12, 0), sighting(400, 11, 0)}, 13},
		"reversed, a part is back":    {reversed, []Sighting{sighting(400, 11, 0)}, 13},
		"reversed, the whole is back": {reversed, []Sighting{sighting(1000, 12, 0)}, 14},
		"ended":                       {ended, []Sighting{sighting(1000, 12, 0)}, 0},
	} {
		if got := Decide(c.c, c.seen, at(12), start).WakeHeight; got != c.want {
			t.Errorf("%s: the payment is decided next at height %d, want %d", name, got, c.want)
		}
	}
}

// TestWakeTimes checks when a payment is decided next without a new block.
func TestWakeTimes(t *testing.T) {
	t.Parallel()
	gone := func(since time.Duration) Sighting {
		return Sighting{Amount: money.Units(1000), SeenAt: start, Gone: Dropped, GoneAt: start.Add(since)}
	}
	const never = -time.Microsecond
	for name, c := range map[string]struct {
		state State
		seen  []Sighting
		after time.Duration
		want  time.Duration // after the start, a microsecond before it is decided; never for no time
	}{
		"nothing came":                     {Initiated, nil, 0, Monitoring},
		"nothing came until the last time": {Initiated, nil, Monitoring, Monitoring},
		"one is gone":                      {Initiated, []Sighting{gone(0)}, 0, Monitoring},
		"one is gone until the last time":  {Initiated, []Sighting{gone(Monitoring)}, Monitoring, Monitoring},
		"one is gone after a day":          {Initiated, []Sighting{gone(Monitoring)}, Monitoring + time.Hour, Monitoring + sixHours},
		"one is gone, and one waits":       {Initiated, []Sighting{gone(Monitoring), sighting(1000, 0, 0)}, Monitoring + time.Hour, never},
		"a part":                           {Processing, []Sighting{sighting(400, 9, 0)}, 0, Window},
		"a part, the rest waits":           {Processing, []Sighting{sighting(400, 9, 0), sighting(600, 0, 0)}, Window * 2, never},
		"a part, the rest is gone":         {Processing, []Sighting{sighting(400, 9, 0), gone(0)}, Window * 2, Monitoring},
		"a part, the rest isn't final":     {Processing, []Sighting{sighting(400, 9, 0), sighting(600, 20, 0)}, Window * 2, never},
		"a part, two are gone":             {Processing, []Sighting{sighting(400, 9, 0), gone(2 * Monitoring), gone(Monitoring)}, Monitoring, Monitoring + sixHours},
	} {
		want := time.Time{}
		if c.want != never {
			want = justAfter(start.Add(c.want))
		}
		if got := Decide(asked(c.state), c.seen, at(20), start.Add(c.after)).Wake; !got.Equal(want) {
			t.Errorf("%s: the payment is decided next at %v, want %v", name, got, want)
		}
	}
}

// TestDecideProperties checks what must hold for all facts. A check takes microseconds,
// and the right amounts are rare: it runs 500 times as often as usual.
func TestDecideProperties(t *testing.T) {
	t.Parallel()
	for range 500 {
		rapid.Check(t, checkDecision)
	}
}

func checkDecision(t *rapid.T) {
	c := asked(rapid.SampledFrom(States()).Draw(t, "state"))
	c.Abandoned = c.State == Abandoned || rapid.Bool().Draw(t, "was abandoned")
	c.DeclineLate = rapid.Bool().Draw(t, "decline late")
	c.Under, c.Over = rapid.IntRange(0, 500).Draw(t, "under"), rapid.IntRange(0, 500).Draw(t, "over")
	c.NetworkSays = rapid.Bool().Draw(t, "network says")
	c.Charged = rapid.SampledFrom([]int64{0, 1, 3, 1000}).Draw(t, "charged")
	tip := rapid.Int64Range(1, 30).Draw(t, "tip")
	chain := Chain{Tip: tip, Finalized: rapid.Int64Range(0, tip).Draw(t, "finalized")}
	sightings := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Sighting {
		s := sighting(rapid.Int64Range(1, 1200).Draw(t, "units"), 0, time.Duration(rapid.Int64Range(0, int64(2*Monitoring)).Draw(t, "seen")).Truncate(time.Microsecond))
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
		case 1:
			s.Height = rapid.Int64Range(1, tip).Draw(t, "height")
		case 2:
			s.Gone = rapid.SampledFrom([]Reason{Dropped, Replaced, Reorged}).Draw(t, "gone")
		case 3:
			s.Gone, s.Conflict = Replaced, rapid.Int64Range(1, tip).Draw(t, "conflict")
		case 4:
			s.Reverted, s.Height = true, rapid.Int64Range(1, tip).Draw(t, "height")
		}
		return s
	}), 0, 4).Draw(t, "sightings")
	if c.State == Pending || c.State == Expired {
		sightings = nil // no address was ever given
	}
	moment := func(label string) time.Time {
		return start.Add(time.Duration(rapid.Int64Range(0, int64(3*Monitoring)).Draw(t, label)).Truncate(time.Microsecond))
	}
	now := moment("now")
	chain.Read = moment("read")

	out := Decide(c, sightings, chain, now)
	again := Decide(c, sightings, chain, now)
	if out.State != again.State || out.Reason != again.Reason || out.Paid.Cmp(again.Paid) != 0 {
		t.Fatal("not a function of its arguments")
	}
	if out.State != c.State && !isEdge(c.State, out.State) {
		t.Fatalf("%s → %s is no edge", c.State, out.State)
	}
	least, most := c.bounds()
	settled := out.State != c.State && (out.State == Successful || out.State == Declined)
	// paid is part of the payment; early of it was seen before the payment could be abandoned,
	// inTime before its window ended.
	var paid, early, inTime money.Amount
	alone, open := false, false // one that is right was seen in time: a final one; one that isn't final yet
	for i, s := range sightings {
		isFinal := s.Height > 0 && !s.Reverted && tip-s.Height+1 >= int64(c.Depth) && (!c.NetworkSays || chain.Finalized >= s.Height)
		pays := !s.Reverted && s.Gone == NoReason
		if right := s.Amount.Cmp(least) >= 0 && s.Amount.Cmp(most) <= 0 && !s.SeenAt.After(c.ExpiresAt); right && pays {
			alone, open = alone || isFinal, open || !isFinal && s.Height > 0
		}
		surplus := slices.Contains(out.Surplus, i)
		if surplus && (!settled || !pays) {
			t.Fatalf("sighting %d is surplus of a payment that is %s", i, out.State)
		}
		if !settled || surplus || !pays {
			continue
		}
		if !isFinal {
			t.Fatalf("sighting %d is part of the payment and not final", i)
		}
		paid = paid.Add(s.Amount)
		if !s.SeenAt.After(c.AbandonsAt) {
			early = early.Add(s.Amount)
		}
		if !s.SeenAt.After(c.ExpiresAt) {
			inTime = inTime.Add(s.Amount)
		}
	}
	if settled && paid.Cmp(out.Paid) != 0 {
		t.Fatalf("paid %s, and the transfers of the payment are %s", out.Paid, paid)
	}
	if alone && c.State == Processing && (out.State != Successful || out.Reason != NoReason) {
		t.Fatalf("one transfer is the right amount, in time and final; the payment is %s %q", out.State, out.Reason)
	}
	if open && c.State == Processing && out.State == Declined {
		t.Fatalf("Declined %q before a transfer of the right amount is final", out.Reason)
	}
	if out.State == Successful && c.State != Successful {
		if paid.Cmp(least) < 0 || paid.Cmp(most) > 0 || early.Cmp(least) < 0 {
			t.Fatalf("Successful with %s of %s, of which %s in time", paid, c.Due, early)
		}
		if late := inTime.Cmp(least) < 0; late != (out.Reason == Late) {
			t.Fatalf("Successful with %s of %s seen in the window: reason %q", inTime, c.Due, out.Reason)
		}
	}
	if out.State == Declined && c.State != Declined && (out.Reason == NoReason || paid.Sign() == 0) {
		t.Fatalf("Declined with reason %q and %s final", out.Reason, paid)
	}
	if out.State == Failed && c.State != Failed && out.Reason == NoReason {
		t.Fatal("Failed without a reason")
	}
	known := now
	if c.State != Pending && chain.Read.Before(now) {
		known = chain.Read
	}
	if !out.Wake.IsZero() && !out.Wake.After(known) {
		t.Fatalf("asks to be woken in the past: %s at %s", out.Wake, known)
	}
	if c.State != Pending { // time that nobody read through changes nothing
		unread := chain
		unread.Read = known
		if later := Decide(c, sightings, unread, now.Add(Monitoring)); later.State != out.State || later.Reason != out.Reason || later.Wake != out.Wake {
			t.Fatalf("%s %q became %s %q by time alone", out.State, out.Reason, later.State, later.Reason)
		}
	}
	if out.WakeHeight != 0 && out.WakeHeight <= tip && out.State == c.State {
		t.Fatalf("asks to be woken at height %d of %d", out.WakeHeight, tip)
	}
}
