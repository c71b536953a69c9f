package payment_test

import (
	"strings"
	"testing"

	"cointill/chain"
	"cointill/core/clock"
	"cointill/models/modelstest"
)

// TestFollowersReadInOrder: what a follower reads at its start and after each block is found in the order of its
// numbers, and not sorted among all that a network has.
func TestFollowersReadInOrder(t *testing.T) {
	b := newBench(t, modelstest.Open(t, false, clock.Real()))
	read := 0
	for _, p := range modelstest.ReadPlans(t, b.db, b.db.Read(t.Context()), func() {
		must(t, b.observer.Load(t.Context(), chain.Network("bitcoin-regtest")))
	}) {
		if !strings.Contains(p.Query, "ORDER BY") {
			continue
		}
		read++
		if plan := strings.Join(p.Lines, "; "); strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("plan = %s, want none that sorts: %s", plan, p.Query)
		}
	}
	if read != 3 {
		t.Errorf("%d lists were read, want those of addresses, of sends' addresses and of outputs", read)
	}
}
