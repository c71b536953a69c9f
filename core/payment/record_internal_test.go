package payment

import (
	"testing"

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
