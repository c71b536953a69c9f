// Package simulation_test runs the real core, follower and deliveries through
// seeded worlds: a fake clock, simulated networks for all five coins and further ones for USDT and ether, customers
// and merchants who do what people do, and faults of nodes, of the database, of
// consumers and of processes. What becomes of every payment and every send is held
// against a model that knows only the contract, and against the invariants as SQL. A seed
// replays to the same trace. docs/simulation.md explains how to use it.
package simulation_test

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"cointill/core/money"
	"cointill/models"
	"cointill/models/modelstest"
)

var (
	seeds    = flag.Int("sim.seeds", usual, "how many seeds to run")
	from     = flag.Uint64("sim.from", 1, "the first seed")
	payments = flag.Int("sim.payments", usualPayments, "payments in each run")
	sends    = flag.Int("sim.sends", usualSends, "sends in each run")
	verbose  = flag.Bool("sim.trace", false, "print the trace of every run")
	first    = flag.Bool("sim.first", false, "end with the first seed that fails")
	figures  = flag.Bool("sim.figures", false, "print how often everything happened")
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // what is logged of planted faults is no news
	debug.SetGCPercent(400)                        // a world is small: a fifth of a run was collecting it
	os.Exit(m.Run())
}

// simulate runs one seed and returns its world. On SQLite all timers of the
// product run on a bubble's clock, so that no run waits for any.
func simulate(t *testing.T, seed uint64, postgres bool) (w *world) {
	t.Helper()
	run := func(t *testing.T) {
		w = newWorld(t, seed, size{*payments, *sends}, postgres)
		w.run()
	}
	t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
		cryptotest.SetGlobalRandom(t, seed)
		if postgres {
			run(t)
		} else {
			synctest.Test(t, func(t *testing.T) {
				defer func() { <-time.After(time.Minute) }() // of the bubble's clock: what still lingers comes to its end
				run(t)
			})
		}
		if *verbose {
			t.Log(strings.Join(w.trace, "\n"))
		}
		for _, found := range w.findings {
			t.Errorf("found = %v", found)
		}
		if t.Failed() {
			t.Logf("replay with: make sim SEEDS=1 FROM=%d PAYMENTS_EACH=%d SENDS_EACH=%d TRACE=1", seed, *payments, *sends)
		}
	})
	return w
}

// TestSimulation runs seeds on SQLite, and fails also when a kind of fault that
// is there to be survived never came.
func TestSimulation(t *testing.T) {
	var total map[string]int
	if *processes > 1 && *seeds > portion() && !*first && !*verbose {
		total = spread(t)
	} else if total = inTurn(t); t.Failed() {
		return
	}
	if *figures {
		printFigures(os.Stdout, total)
	}
	if *seeds < 100 || *countsTo != "" {
		return
	}
	all := expected()
	if *sends >= 25 {
		all = append(all, expectedOfSends()...)
	}
	for _, what := range all {
		if total[what] == 0 {
			t.Errorf("%q never happened", what)
		}
	}
}

// inTurn runs all seeds in this process, and returns how often everything happened.
func inTurn(t *testing.T) map[string]int {
	modelstest.Open(t, false, time.Now) // the copied file is made outside of any bubble
	total := map[string]int{}
	for i := range *seeds {
		w := simulate(t, *from+uint64(i), false)
		if w == nil || *first && t.Failed() {
			return total
		}
		for what, n := range w.counts {
			total[what] += n
		}
	}
	if err := writeCounts(total); err != nil {
		t.Error(err)
	}
	return total
}

// expected is everything that must have happened in many seeds.
func expected() []string {
	all := slices.Concat(nodeFaults, []string{nodeOut, killedMoving, callFails, crash, restart, pausedHead, takeover, answerLost,
		"reorganisation", "reorganised into the mempool", "reorganised away", "reorganised into another block", "double-spent in another branch",
		"replaced in the mempool", "consumer: no answer", "consumer: answer lost", "consumer: Internal Server Error", "consumer: Too Many Requests", "consumer: Found",
		"consumer: refuses for good", "a webhook is gone", "delivery exhausted", "delivery cancelled", "delivery delivered",
		"merchant changes rules", "merchant switches a network", "a request names a network",
		"a request for a network that is off is refused", "a customer changes the network", "a change of the network is refused",
		"a network that is off can't be chosen", "a customer pays on another network than the page shows", "money on another network that is on counts", "money on a network that is off is listed", "a payment is paid on two networks",
		"merchant switches a webhook", "merchant accepts", "a transfer is attached", "an attachment is refused", "a refund is recorded",
		"recording a refund is refused", "an unmatched transfer is marked as refunded", "judged: money was attached", "time stops at a deadline", "an initiation is answered again", "judged exactly", "judged by sums"})
	for _, end := range []string{"abandoned ", "declined after_abandoned", "declined late", "declined overpaid", "declined underpaid", "expired ",
		"failed dropped", "failed reorged", "failed replaced", "failed reverted", "reversed", "successful ", "successful late"} {
		all = append(all, "ended "+end)
	}
	for _, code := range money.ListNetworks() {
		if !slices.Contains(money.Chains(), code) {
			all = append(all, "the world has "+string(code), "money counts on "+string(code))
		}
	}
	for _, area := range areas {
		all = append(all, commitFails+" of the "+area, commitLost+" of the "+area)
	}
	for _, plot := range plots {
		all = append(all, "customer: "+plot)
	}
	for _, edge := range table {
		all = append(all, "edge "+edge)
	}
	return all
}

// expectedOfSends is everything that must have happened in many seeds with many sends.
func expectedOfSends() []string {
	all := []string{"sends: refunds", "sends: payouts", "sends: refunds on further networks",
		"sends: payouts on further networks", "sends judged with one way to end", "sends judged with their twins",
		"a request for a send is answered again", "a refund is refused", "an approval is refused", "signing is refused",
		"the limit of a day refuses", "an imitator pays", "a transaction pays several sends", "a forgotten transaction is seen again",
		"a send is tried again", "a dropped send is approved again", "a customer names an address",
		"merchant changes rules of sends", "time stops at a deadline of a send"}
	for _, plot := range sendPlots {
		all = append(all, "send: "+plot)
	}
	for _, end := range []string{"successful", "successful paid_twice", "failed dropped", "failed replaced", "failed reverted",
		"cancelled withdrawn", "rejected not_agreed", "expired not_signed", "ready", "awaiting_approval"} {
		all = append(all, "send ended "+end)
	}
	for _, edge := range []string{"awaiting_approval>ready", "ready>processing", "ready>successful", "ready>failed", "ready>cancelled",
		"ready>expired", "processing>successful", "processing>failed", "failed>processing", "failed>ready", "failed>awaiting_approval",
		"failed>cancelled", "cancelled>processing", "expired>processing"} {
		all = append(all, "send edge "+edge)
	}
	return all
}

func printFigures(to io.Writer, total map[string]int) {
	for _, what := range slices.Sorted(maps.Keys(total)) {
		fmt.Fprintf(to, "%9d  %s\n", total[what], what)
	}
}

// TestReplay runs seeds twice: the traces are the same to the last word.
func TestReplay(t *testing.T) {
	modelstest.Open(t, false, time.Now)
	for seed := range uint64(3) {
		first, second := simulate(t, seed+1, false), simulate(t, seed+1, false)
		if first.sum() == second.sum() {
			continue
		}
		for i := range min(len(first.trace), len(second.trace)) {
			if first.trace[i] != second.trace[i] {
				t.Fatalf("seed %d parts at line %d:\n%s\n%s", seed+1, i, first.trace[i], second.trace[i])
			}
		}
		t.Fatalf("seed %d: %d and %d lines", seed+1, len(first.trace), len(second.trace))
	}
}

// TestPostgres runs a few of the seeds on PostgreSQL, where there is one.
func TestPostgres(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		for seed := range uint64(3) {
			if db.Postgres() {
				simulate(t, seed+1, true)
			}
		}
	})
}
