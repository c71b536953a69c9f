package payment

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cointill/core/money"
)

// TestSettling: which transfers are the payment, and which are surplus (contract section 4).
// The payment is 1,000 units and needs three confirmations; the tip is 20.
func TestSettling(t *testing.T) {
	t.Parallel()
	const second, minute = time.Second, time.Minute
	tolerance := func(under, over int) Case { c := asked(Processing); c.Under, c.Over = under, over; return c }
	declining := asked(Processing)
	declining.DeclineLate = true
	worth := func(charged int64) Case { c := asked(Processing); c.Charged = charged; return c }
	gone := func(s Sighting) Sighting { s.Gone = Replaced; return s }
	cases := []struct {
		name    string
		c       Case
		seen    []Sighting
		after   time.Duration
		state   State
		reason  Reason
		paid    int64
		surplus []int
	}{
		{"exact then crumb", asked(Processing), []Sighting{sighting(1000, 9, second), sighting(1, 10, 2*second)}, minute, Successful, "", 1000, []int{1}},
		{"exact then a crumb that isn't final", asked(Processing), []Sighting{sighting(1000, 9, second), sighting(1, 20, 2*second)}, minute, Successful, "", 1000, []int{1}},
		{"exact then a crumb in the mempool", asked(Processing), []Sighting{sighting(1000, 9, second), sighting(1, 0, 2*second)}, minute, Successful, "", 1000, []int{1}},
		{"crumb then exact", asked(Processing), []Sighting{sighting(1, 9, second), sighting(1000, 9, 2*second)}, minute, Successful, "", 1000, []int{0}},
		{"a crumb is final, exact is not", asked(Processing), []Sighting{sighting(1, 9, second), sighting(1000, 20, 2*second)}, 2 * Window, Processing, "", 1001, nil},
		{"exact twice", asked(Processing), []Sighting{sighting(1000, 9, second), sighting(1000, 9, 2*second)}, minute, Successful, "", 1000, []int{1}},
		{"exact twice, the later one mined first", asked(Processing), []Sighting{sighting(1000, 9, 2*second), sighting(1000, 12, second)}, minute, Successful, "", 1000, []int{0}},
		{"60 + 60 %", asked(Processing), []Sighting{sighting(600, 9, second), sighting(600, 9, 2*second)}, minute, Declined, Overpaid, 1200, nil},
		{"60 + 60 %, and exact is on its way", asked(Processing), []Sighting{sighting(600, 9, second), sighting(600, 9, 2*second), sighting(1000, 0, 3*second)}, minute, Processing, "", 2200, nil},
		{"50 + 100 %", asked(Processing), []Sighting{sighting(500, 9, second), sighting(1000, 9, 2*second)}, minute, Successful, "", 1000, []int{0}},
		{"60 % + crumb + 40 %", asked(Processing), []Sighting{sighting(600, 9, second), sighting(1, 9, 2*second), sighting(400, 9, 3*second)}, minute, Successful, "", 1000, []int{1}},
		{"60 % + two crumbs + 40 %", asked(Processing), []Sighting{sighting(1, 9, 0), sighting(600, 9, second), sighting(2, 9, 2*second), sighting(400, 9, 3*second)}, minute, Successful, "", 1000, []int{0, 2}},
		{"60 + 60 %, and 40 % between them isn't final", asked(Processing), []Sighting{sighting(600, 9, second), sighting(400, 19, 2*second), sighting(600, 9, 3*second)}, minute, Processing, "", 1600, nil},
		{"60 + 40 + 60 %", asked(Processing), []Sighting{sighting(600, 9, second), sighting(400, 9, 2*second), sighting(600, 9, 3*second)}, minute, Successful, "", 1000, []int{2}},
		{"96 + 4 %, 5 % may lack", tolerance(500, 0), []Sighting{sighting(960, 9, second), sighting(40, 9, 2*second)}, minute, Successful, "", 960, []int{1}},
		{"50 + 46 + 4 %, 5 % may lack", tolerance(500, 0), []Sighting{sighting(500, 9, second), sighting(460, 9, 2*second), sighting(40, 9, 3*second)}, minute, Successful, "", 1000, nil},
		{"60 + 40 + 5 + 1 %, 5 % may be too much", tolerance(0, 500), []Sighting{sighting(600, 9, second), sighting(400, 9, 2*second), sighting(50, 9, 3*second), sighting(1, 9, 4*second)}, minute, Successful, "", 1050, []int{3}},
		{"60 % in time and 40 % late", asked(Processing), []Sighting{sighting(600, 9, second), sighting(400, 9, Window+minute)}, 2 * Window, Successful, Late, 1000, nil},
		{"60 % in time and 40 % late, on its way", asked(Processing), []Sighting{sighting(600, 9, second), sighting(400, 0, Window+minute)}, 2 * Window, Processing, "", 1000, nil},
		{"60 % in time and 40 % late, and late is declined", declining, []Sighting{sighting(600, 9, second), sighting(400, 0, Window+minute)}, 2 * Window, Declined, Underpaid, 600, []int{1}},
		{"60 % in time and 40 % in time, on its way, and late is declined", declining, []Sighting{sighting(600, 9, second), sighting(400, 0, Window)}, 2 * Window, Processing, "", 1000, nil},
		{"60 %, and a crumb on its way can't make it right", asked(Processing), []Sighting{sighting(600, 9, second), sighting(1, 0, 2*second)}, 2 * Window, Declined, Underpaid, 600, []int{1}},
		{"60 %, and 40 % that came after a day isn't waited for", asked(Processing), []Sighting{sighting(600, 9, second), sighting(400, 20, Monitoring+second)}, 2 * Monitoring, Declined, Underpaid, 600, []int{1}},
		{"short by one unit", asked(Processing), []Sighting{sighting(999, 9, second)}, 2 * Window, Declined, Underpaid, 999, nil},
		{"short by five units worth 0.005", worth(1), []Sighting{sighting(995, 9, second)}, minute, Successful, "", 995, nil},
		{"short by six units worth 0.006", worth(1), []Sighting{sighting(994, 9, second)}, 2 * Window, Declined, Underpaid, 994, nil},
		{"over by five units worth 0.005", worth(1), []Sighting{sighting(1005, 9, second)}, minute, Successful, "", 1005, nil},
		{"over by six units worth 0.006", worth(1), []Sighting{sighting(1006, 9, second)}, minute, Declined, Overpaid, 1006, nil},
		{"short by one unit worth 0.006", worth(6), []Sighting{sighting(999, 9, second)}, 2 * Window, Declined, Underpaid, 999, nil},
		{"a stranger's unconfirmed exact amount first", asked(Processing), []Sighting{sighting(1000, 0, 0), sighting(1000, 9, second)}, minute, Successful, "", 1000, []int{0}},
		{"what counted was replaced, surplus pays", asked(Processing), []Sighting{gone(sighting(1000, 0, 0)), sighting(1000, 9, second)}, minute, Successful, "", 1000, nil},
		{"exact in time, and more than the whole later", asked(Processing), []Sighting{sighting(1000, 9, second), sighting(5000, 9, 2*second)}, minute, Successful, "", 1000, []int{1}},
		{"more than the whole first, exact in time on its way", asked(Processing), []Sighting{sighting(5000, 9, 0), sighting(1000, 20, second)}, minute, Processing, "", 6000, nil},
		{"more than the whole, nothing on its way", asked(Processing), []Sighting{sighting(5000, 9, 0)}, minute, Declined, Overpaid, 5000, nil},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out := Decide(test.c, test.seen, at(20), start.Add(test.after))
			if out.State != test.state || out.Reason != test.reason || out.Paid.Cmp(money.Units(test.paid)) != 0 || !slices.Equal(out.Surplus, test.surplus) {
				t.Errorf("got %s %q with %s and surplus %v, want %s %q with %d and %v", out.State, out.Reason, out.Paid, out.Surplus, test.state, test.reason, test.paid, test.surplus)
			}
		})
	}
}

// TestStrangersSpoilNothing: whatever happens to the customer's transfer, which is right and was seen within the
// window, others' transfers of up to the whole amount end the payment in no other way and no earlier, unless as
// Successful (contract section 4).
func TestStrangersSpoilNothing(t *testing.T) {
	t.Parallel()
	const tip = 20
	draw := func(t *rapid.T, units int64, seen time.Duration, now int64) Sighting {
		s := sighting(units, 0, seen)
		moment := func(label string) time.Time {
			return start.Add(time.Duration(rapid.Int64Range(int64(seen), now).Draw(t, label)).Truncate(time.Microsecond))
		}
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0, 1:
			s.Height = rapid.Int64Range(1, tip).Draw(t, "height")
		case 2:
			s.Gone, s.GoneAt = rapid.SampledFrom([]Reason{Dropped, Replaced, Reorged}).Draw(t, "gone"), moment("since")
		case 3:
			s.Gone, s.GoneAt, s.Conflict = Replaced, moment("since"), rapid.Int64Range(1, tip).Draw(t, "conflict")
		case 4:
			s.Reverted, s.Height = true, rapid.Int64Range(1, tip).Draw(t, "height")
		}
		if rapid.Bool().Draw(t, "elsewhere") {
			s.Elsewhere = &Elsewhere{Network: "bsc", Chain: Chain{Tip: tip, Finalized: -1, Read: moment("read")}, Depth: 3}
		}
		return s
	}
	rapid.Check(t, func(t *rapid.T) {
		c := asked(Initiated)
		c.DeclineLate = rapid.Bool().Draw(t, "decline late")
		c.Under, c.Over = rapid.IntRange(0, 500).Draw(t, "under"), rapid.IntRange(0, 500).Draw(t, "over")
		now := rapid.Int64Range(int64(Window), int64(3*Monitoring)).Draw(t, "now")
		read := start.Add(time.Duration(rapid.Int64Range(0, now).Draw(t, "read")))
		customers := draw(t, 1000, Window, now)
		sightings := []Sighting{customers}
		for range rapid.IntRange(1, 3).Draw(t, "others") {
			units := rapid.SampledFrom([]int64{1, 400, 600, 999, 1000}).Draw(t, "units")
			sightings = append(sightings, draw(t, units, time.Duration(rapid.Int64Range(0, now).Draw(t, "seen")), now))
		}
		decide := func(sightings []Sighting) State {
			c := c
			for {
				out := Decide(c, sightings, Chain{Tip: tip, Finalized: -1, Read: read}, start.Add(time.Duration(now)))
				if out.State == c.State {
					return c.State
				}
				c.State, c.Reason, c.Paid = out.State, out.Reason, out.Paid
			}
		}
		alone, together := decide([]Sighting{customers}), decide(sightings)
		if together != Successful && (alone == Successful || !alone.Final() && together.Final()) {
			t.Fatalf("the payment is %s, and %s with others' transfers: %+v", alone, together, sightings)
		}
	})
}
