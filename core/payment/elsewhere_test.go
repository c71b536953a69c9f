package payment

import (
	"maps"
	"testing"
	"time"
)

// TestDecideWeighsEachTransferByItsNetwork: a transfer is final by the tip, the finality and the depth of the
// network that it is on, whatever the heights of the payment's own are.
func TestDecideWeighsEachTransferByItsNetwork(t *testing.T) {
	t.Parallel()
	on := func(s Sighting, e Elsewhere) Sighting { e.Network = "bsc-mainnet"; s.Elsewhere = &e; return s }
	deep := Elsewhere{Chain: Chain{Tip: 1000, Finalized: -1}, Depth: 40}
	tagged := Elsewhere{Chain: Chain{Tip: 1000, Finalized: 900}, Depth: 40, NetworkSays: true}
	shallow := Elsewhere{Chain: Chain{Tip: 9, Finalized: -1}, Depth: 3}
	at1001 := map[string]int64{"bsc-mainnet": 1001}
	for name, c := range map[string]struct {
		seen      []Sighting
		state     State
		own       int64
		elsewhere map[string]int64
	}{
		"one block short of its depth": {[]Sighting{on(sighting(1000, 962, 0), deep)}, Processing, 0, at1001},
		"at its depth":                 {[]Sighting{on(sighting(1000, 961, 0), deep)}, Successful, 0, nil},
		"final by the own network's tip alone": {[]Sighting{on(sighting(1000, 9, 0), shallow)}, Processing, 0,
			map[string]int64{"bsc-mainnet": 11}},
		"its own finality is awaited": {[]Sighting{on(sighting(1000, 901, 0), tagged)}, Processing, 0, at1001},
		"its own finality is there":   {[]Sighting{on(sighting(1000, 900, 0), tagged)}, Successful, 0, nil},
		"half on each, the further one not final": {[]Sighting{sighting(500, 9, 0), on(sighting(500, 990, 0), deep)},
			Processing, 0, map[string]int64{"bsc-mainnet": 1029}},
		"half on each, the own one not final": {[]Sighting{sighting(500, 20, 0), on(sighting(500, 900, 0), deep)},
			Processing, 22, nil},
		"half on each, both final": {[]Sighting{sighting(500, 9, 0), on(sighting(500, 900, 0), deep)}, Successful, 0, nil},
	} {
		out := Decide(asked(Processing), c.seen, at(20), start)
		if out.State != c.state || out.WakeHeight != c.own || !maps.Equal(out.WakeElsewhere, c.elsewhere) {
			t.Errorf("%s: %s, decided next at %d and %v, want %s, %d and %v", name, out.State, out.WakeHeight,
				out.WakeElsewhere, c.state, c.own, c.elsewhere)
		}
	}
	gone := on(sighting(1000, 0, 0), deep)
	gone.Gone, gone.Conflict = Replaced, 962
	if out := Decide(asked(Initiated), []Sighting{gone}, at(2000), start.Add(time.Second)); out.State != Initiated {
		t.Errorf("a conflict elsewhere that isn't final there: %s, want %s", out.State, Initiated)
	}
}
