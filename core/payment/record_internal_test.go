package payment

import (
	"testing"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/models"
)

// TestMainTransfer: the hash of a payment is that of the transfer that is least sure.
func TestMainTransfer(t *testing.T) {
	t.Parallel()
	at := func(id, height int64) models.Transfer {
		row := models.Transfer{ID: id}
		if height > 0 {
			row.Height = &height
		}
		return row
	}
	gone, reverted := at(9, 0), at(8, 12)
	gone.Gone, reverted.Reverted = true, true
	for name, c := range map[string]struct {
		rows []models.Transfer
		want int64
	}{
		"one":                              {[]models.Transfer{at(1, 10)}, 1},
		"the younger block":                {[]models.Transfer{at(1, 12), at(2, 10)}, 1},
		"unconfirmed":                      {[]models.Transfer{at(1, 0), at(2, 10)}, 1},
		"the same block":                   {[]models.Transfer{at(1, 10), at(2, 10)}, 2},
		"one that is gone does not pay":    {[]models.Transfer{at(1, 10), gone}, 1},
		"one that failed does not pay":     {[]models.Transfer{at(1, 10), reverted}, 1},
		"before it one that is gone":       {[]models.Transfer{gone, at(1, 10)}, 1},
		"none pays":                        {[]models.Transfer{reverted, gone}, 9},
		"none pays, and the last reverted": {[]models.Transfer{gone, reverted}, 8},
	} {
		v := View{Transfers: c.rows, Chain: Chain{Tip: 20}}
		if got := v.mainTransfer(); got == nil || got.ID != c.want {
			t.Errorf("%s: transfer %+v, want %d", name, got, c.want)
		}
	}
}

// TestRemarks checks the sentence of each outcome, with its exact difference.
func TestRemarks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason Reason
		state  State
		paid   int64
		want   string
	}{
		{NoReason, Successful, 1_000, "-"},
		{Underpaid, Declined, 900, "Underpaid by 0.00000100 BTC ($5.00)."},
		{Underpaid, Declined, 1_000, "Underpaid when it ended; what was attached since makes up the rest."},
		{Underpaid, Declined, 1_100, "Underpaid when it ended; what was attached since makes up the rest. Overpaid by 0.00000100 BTC ($5.00)."},
		{Overpaid, Declined, 1_100, "Overpaid by 0.00000100 BTC ($5.00)."},
		{Late, Successful, 1_000, "Paid after the 7-minute window, and accepted."},
		{Late, Declined, 1_000, "Paid after the 7-minute window."},
		{AfterAbandoned, Declined, 1_000, "Paid after the payment was abandoned."},
		{AfterAbandoned, Declined, 900, "Paid after the payment was abandoned. Underpaid by 0.00000100 BTC ($5.00)."},
		{Replaced, Failed, 0, "The transaction was replaced: another one spent the same money elsewhere."},
		{Reverted, Failed, 0, "The network recorded the transaction as failed; no money moved."},
		{Dropped, Failed, 0, "The transaction was dropped by the network and never confirmed."},
		{Reorged, Initiated, 0, "The block with the transaction left the chain; waiting for it to be confirmed again."},
		{ReversedReason, Successful, 1_000, "The money was taken back on the chain after it was final."},
		{AcceptedByUser, Successful, 1_100, "Accepted by a person of the business. Overpaid by 0.00000100 BTC ($5.00)."},
		{AcceptedByUser, Successful, 900, "Accepted by a person of the business. Underpaid by 0.00000100 BTC ($5.00)."},
	} {
		v := View{Payment: models.Payment{Coin: "BTC", Currency: "USD", Amount: 50, Due: money.Units(1_000), Paid: money.Units(c.paid),
			Reason: string(c.reason), Status: string(c.state)}}
		if got := v.describeOutcome(); got != c.want {
			t.Errorf("%s (%s) with %d paid is %q, want %q", c.state, c.reason, c.paid, got, c.want)
		}
	}
}

// TestRecordOfTransfers checks how a record shows each transfer, and when it was seen.
func TestRecordOfTransfers(t *testing.T) {
	t.Parallel()
	height, first, seen := int64(10), start, start.Add(Window)
	for name, c := range map[string]struct {
		row    models.Transfer
		status string
		counts bool
		depth  int64
	}{
		"unconfirmed":          {models.Transfer{}, "pending", true, 0},
		"confirmed":            {models.Transfer{Height: &height}, "confirmed", true, 3},
		"newer than the tip":   {models.Transfer{Height: new(int64(99))}, "confirmed", true, 1},
		"gone":                 {models.Transfer{Gone: true, GoneReason: "dropped"}, "dropped", false, 0},
		"failed":               {models.Transfer{Height: &height, Reverted: true}, "reverted", false, 0},
		"seen on its clock":    {models.Transfer{SeenAt: &seen}, "pending", true, 0},
		"not of the payment":   {models.Transfer{Height: &height, Unmatched: Surplus}, "confirmed", false, 3},
		"gone with its height": {models.Transfer{Height: &height, Gone: true, GoneReason: "reorged"}, "reorged", false, 0},
	} {
		c.row.FirstSeenAt = first
		at := first
		if c.row.SeenAt != nil {
			at = seen
		}
		got := View{Payment: models.Payment{Coin: "BTC"}, Transfers: []models.Transfer{c.row}, Chain: Chain{Tip: 12}}.
			Record().Transfers[0]
		if got.Status != c.status || got.Counts != c.counts || got.Surplus != (c.row.Unmatched != "") ||
			got.Confirmations != c.depth || got.FirstSeenAt != clock.Format(at) {
			t.Errorf("%s is shown as %+v, want %s, counts %v, %d confirmations, seen at %s", name, got, c.status,
				c.counts, c.depth, clock.Format(at))
		}
	}
}

// TestEndsOfStates checks which states are ends, and which have a time of completion in a record.
func TestEndsOfStates(t *testing.T) {
	t.Parallel()
	for _, state := range States() {
		final := state != Pending && state != Initiated && state != Processing
		if state.Final() != final || !state.Known() {
			t.Errorf("%s is an end: %v, want %v", state, state.Final(), final)
		}
		completed := state == Successful || state == Declined
		at := start
		if got := CompletedAt(models.Payment{Status: string(state), SettledAt: &at}); (got != nil) != completed {
			t.Errorf("a payment that is %s was completed at %v, want that it has a time: %v", state, got, completed)
		}
	}
	if State("odd").Known() || State("odd").Final() {
		t.Error("an unknown state is known or an end, want neither")
	}
	text := `{"order":7}`
	for _, metadata := range []*string{nil, &text} {
		want := "null"
		if metadata != nil {
			want = text
		}
		if got := (View{Payment: models.Payment{Coin: "BTC", Metadata: metadata}}).Record().Transaction.Metadata; string(got) != want {
			t.Errorf("the metadata of a record are %s, want %s", got, want)
		}
	}
}

// TestCountedTransfersAreNoUnmatchedOnes checks that a transfer that credits a payment can't be decided about.
func TestCountedTransfersAreNoUnmatchedOnes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		row  models.Transfer
		want fault.Kind
	}{{models.Transfer{}, fault.NotFound}, {models.Transfer{Resolution: Attached}, fault.Conflict},
		{models.Transfer{Resolution: Refunded, Unmatched: Surplus}, fault.Conflict}} {
		if err := checkUnresolved(c.row); fault.KindOf(err) != c.want {
			t.Errorf("a decision about %+v returns %v, want the kind %v", c.row, err, c.want)
		}
	}
	if err := checkUnresolved(models.Transfer{Unmatched: Surplus}); err != nil {
		t.Errorf("a decision about surplus returns %v, want no error", err)
	}
}
