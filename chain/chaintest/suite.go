package chaintest

import (
	"testing"
)

// Case is one rule that every Source must keep.
type Case struct {
	Name  string
	needs func(Features) bool // nil if every network can run it
	run   func(*bench)
}

// Try runs the case on a new network, and reports whether the network has the features that it
// needs.
func (c Case) Try(t testing.TB, net Net) bool {
	t.Helper()
	if c.needs != nil && !c.needs(net.Features()) {
		return false
	}
	c.run(newBench(t, net))
	return true
}

// Run runs every case that the network can run, each on a network of its own.
func Run(t *testing.T, open func(t *testing.T) Net) {
	t.Helper()
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) { c.Try(t, open(t)) })
	}
}

// Cases lists the suite.
func Cases() []Case {
	return []Case{
		{"headers_link_and_end", nil, checkHeadersLink},
		{"empty_watch_sees_nothing", nil, checkEmptyWatch},
		{"confirmations_count_up", nil, checkConfirmations},
		{"pending_before_confirmed", hasMempool, checkPendingFirst},
		{"several_transfers_to_one_address", nil, checkSeveralToOneAddress},
		{"one_transaction_to_several_addresses", func(f Features) bool { return f.MultiOutput },
			checkOneToSeveralAddresses},
		{"departures_name_their_account", func(f Features) bool { return f.Payers }, checkDepartures},
		{"long_absence_is_caught_up", nil, checkLongAbsence},
		{"watch_set_grows_while_scanning", nil, checkGrowingWatch},
		{"watch_set_grows_under_a_running_follower", nil, checkGrowingWatchWhileRunning},
		{"nothing_is_counted_twice", nil, checkNoDuplicates},
		{"reverted_transactions_are_marked", func(f Features) bool { return f.Reverts }, checkReverted},
		{"replaced_while_pending", func(f Features) bool { return f.Mempool && f.Replace }, checkReplaced},
		{"double_spend_wins_in_a_block", func(f Features) bool { return f.Replace }, checkDoubleSpend},
		{"reorg_keeps_transactions", canReorg, checkReorgKeeps},
		{"reorg_drops_transactions", canReorg, checkReorgDrops},
		{"reorg_during_a_restart", canReorg, checkReorgAcrossRestart},
		{"reorg_right_after_the_first_start", canReorg, checkReorgAtStart},
		{"reorg_deeper_than_kept_stops", func(f Features) bool { return f.MaxReorg >= 8 }, checkReorgTooDeep},
		{"lagging_source_holds", nil, checkLaggingSource},
		{"source_jumping_back_holds", nil, checkJumpingSource},
		{"lying_source_is_read_again", nil, checkFalseAnswers},
		{"failing_source_resumes", nil, checkFailures},
		{"cancelled_context_returns", nil, checkCanceledContext},
		{"random_walk", nil, randomWalk},
	}
}

func hasMempool(f Features) bool { return f.Mempool }
func canReorg(f Features) bool   { return f.MaxReorg > 0 }
