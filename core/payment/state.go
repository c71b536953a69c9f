// Package payment is the life of a payment: Initiate, Open, Decide, Verify, Resolve. Decide
// is the pure function through which every state changes. Its outcome is applied in one
// transaction with the timeline row, the event and the work that follows. The packages in
// it observe networks (observe, reconcile, issuer) and read lists (list).
package payment

import "slices"

// State is a transaction state of interface section 3, as answers spell it.
type State string

// The eight states.
const (
	Pending    State = "pending"    // initiated by the merchant; the page was not opened yet
	Initiated  State = "initiated"  // the customer has seen the payment details
	Processing State = "processing" // a transfer has its first confirmation
	Successful State = "successful" // final, and the right amount
	Declined   State = "declined"   // final, but the wrong amount, or too late
	Failed     State = "failed"     // the money was taken back on the chain
	Abandoned  State = "abandoned"  // opened, and nothing came for 24 hours
	Expired    State = "expired"    // never opened within 7 minutes
)

// States lists the eight states in the order of a payment's life.
func States() []State {
	return []State{Pending, Initiated, Processing, Successful, Declined, Failed, Abandoned, Expired}
}

// Final reports whether the state is an end: it changes no more, but for
// Abandoned when money comes all the same, and Declined when a user accepts it.
func (s State) Final() bool {
	switch s {
	case Successful, Declined, Failed, Abandoned, Expired:
		return true
	}
	return false
}

// Known reports whether s is one of the eight.
func (s State) Known() bool { return slices.Contains(States(), s) }

// Reason says by a code why a payment stands where it stands; "" when there is nothing to explain.
type Reason string

// The reason codes of contract section 4.
const (
	NoReason       Reason = ""
	Underpaid      Reason = "underpaid"        // less than asked came
	Overpaid       Reason = "overpaid"         // more than asked came
	Late           Reason = "late"             // first seen after the 7-minute window
	AfterAbandoned Reason = "after_abandoned"  // first seen after 24 hours
	Replaced       Reason = "replaced"         // another transaction spent the same money elsewhere
	Reverted       Reason = "reverted"         // the network recorded the transaction as failed
	Dropped        Reason = "dropped"          // the transaction left the mempool and never came back
	Reorged        Reason = "reorged"          // the block with the transaction left the chain
	ReversedReason Reason = "reversed"         // taken back on the chain after it was final
	AcceptedByUser Reason = "accepted_by_user" // a person accepted a declined payment
)

// Reasons lists every code.
func Reasons() []Reason {
	return []Reason{Underpaid, Overpaid, Late, AfterAbandoned, Replaced, Reverted, Dropped, Reorged, ReversedReason,
		AcceptedByUser}
}

// Edge is one allowed change of state.
type Edge struct{ From, To State }

// edges are the table of contract section 4, and the user's acceptance of a declined payment.
var edges = []Edge{
	{Pending, Initiated}, {Pending, Expired},
	{Initiated, Processing}, {Initiated, Abandoned}, {Initiated, Failed},
	{Processing, Successful}, {Processing, Declined}, {Processing, Initiated}, {Processing, Abandoned},
	{Processing, Failed},
	{Abandoned, Processing},
	{Declined, Successful},
}

func isEdge(from, to State) bool { return slices.Contains(edges, Edge{from, to}) }

// TakesNoTransfers reports whether a payment takes no more transfers.
func TakesNoTransfers(v *View) bool { return v.State().Final() && v.State() != Abandoned }
