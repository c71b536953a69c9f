package payment

import (
	"cmp"
	"slices"
	"time"

	"cointill/core/money"
)

// Case is the payment as Decide sees it: its terms and its state. All times are on the
// payment's own clock.
type Case struct {
	State       State
	Reason      Reason
	Due         money.Amount
	Charged     int64        // Due in whole units of the payment's currency
	Paid        money.Amount // as recorded; what a settled payment was settled with
	Under, Over int          // tolerances in basis points of Due
	DeclineLate bool
	// Depth is how many confirmations are final on the payment's own network, at least 1.
	Depth       int
	NetworkSays bool // final needs the network's own finality too
	ExpiresAt   time.Time
	AbandonsAt  time.Time
	Abandoned   bool // it was Abandoned before
	Reversed    bool
	// EarlierReason is the reason before it was reversed.
	EarlierReason Reason
}

// Sighting is a transfer to the payment, as the chain shows it now.
type Sighting struct {
	Amount   money.Amount
	SeenAt   time.Time
	Height   int64 // 0 while unconfirmed
	Reverted bool
	Gone     Reason    // Replaced, Dropped or Reorged when it is on no chain and in no mempool; else ""
	GoneAt   time.Time // since when; zero when it isn't gone, or that isn't known
	Conflict int64     // height of a confirmed transaction that spent its money; 0 when there is none
	Maturity int64     // confirmations that the network itself demands before it can be spent
	// Elsewhere is the network of a transfer that isn't on the payment's own one; nil for others.
	Elsewhere *Elsewhere
}

// Elsewhere is a further network of a payment, and its rule of finality. Heights of one network mean nothing
// on another.
type Elsewhere struct {
	Network string
	Chain
	Depth       int
	NetworkSays bool
}

// Chain is how far a network is.
type Chain struct {
	Tip       int64 // height of the last applied block
	Finalized int64 // the network's own finality; -1 when it has none
	// Read is the time up to which the network was read, on the payment's clock: the
	// sightings hold every transfer up to then. Decide is given the earliest one of all networks
	// that the customer was shown.
	Read time.Time
}

// Outcome is what Decide says: at most one change of state, and when to ask again.
type Outcome struct {
	State    State
	Reason   Reason
	Paid     money.Amount
	Reversed bool
	// Surplus holds the indexes of the sightings that are not part of the payment, when it
	// ends as Successful or Declined.
	Surplus []int
	// Wake is the next time at which time alone may change the outcome; zero for none.
	// For a payment that was opened, Chain.Read must reach it.
	Wake time.Time
	// WakeHeight is the next height at which confirmations alone may; 0 when none. WakeElsewhere
	// is the same of further networks, by their names.
	WakeHeight    int64
	WakeElsewhere map[string]int64
}

// wakeAt asks for the heights at which the next sightings become final.
func (out *Outcome) wakeAt(t sightingSums) {
	out.WakeHeight, out.WakeElsewhere = t.nextHeight, t.nextElsewhere
}

// Decide returns a payment's state from its terms, the transfers that count, the network's
// progress and the time. It is pure: the same facts give the same outcome. It takes at most
// one edge of the table of states; callers ask again until nothing changes.
func Decide(c Case, sightings []Sighting, chain Chain, now time.Time) Outcome {
	out := Outcome{State: c.State, Reason: c.Reason, Paid: c.Paid, Reversed: c.Reversed}
	switch c.State {
	case Expired, Declined, Failed:
		return out
	case Pending:
		if now.After(c.ExpiresAt) {
			out.State = Expired
		} else {
			out.Wake = justAfter(c.ExpiresAt)
		}
		return out
	}
	// A deadline passes when the network was read up to it. Until then a transfer from
	// before the deadline may still be unknown.
	if chain.Read.Before(now) {
		now = chain.Read
	}
	sum := sumSightings(c, sightings, chain)
	if c.State == Successful {
		// A reorganisation deeper than final takes money back, but not the state.
		switch {
		case !c.Reversed && sum.confirmed.Cmp(c.Paid) < 0:
			out.Reversed, out.Reason = true, ReversedReason
		case c.Reversed && sum.final.Cmp(c.Paid) >= 0:
			out.Reversed, out.Reason = false, c.EarlierReason
		case c.Reversed:
			out.wakeAt(sum)
		}
		return out
	}
	out.Paid = sum.active
	switch {
	case sum.confirmed.Sign() > 0 && c.State != Processing:
		out.State, out.Reason = Processing, NoReason
		if least, _ := c.bounds(); c.Abandoned && paidAt(sum.confirmedSightings, least).After(c.AbandonsAt) {
			out.Reason = AfterAbandoned
		}
	case sum.confirmed.Sign() > 0:
		decideFinal(c, sum, now, &out)
	default:
		decideUnconfirmed(c, sum, now, &out)
	}
	return out
}

// sightingSums is the sum of the sightings by how sure they are.
type sightingSums struct {
	active, confirmed, final money.Amount
	finals, open             []indexedSighting // final ones; those that pay and aren't final yet
	missing                  []indexedSighting // those that don't pay now, and may be in a block again
	confirmedSightings       []indexedSighting
	waiting                  bool  // some are unconfirmed
	nextHeight               int64 // when the next one becomes final
	nextElsewhere            map[string]int64
	dead                     Reason // why none is left, when none can return
	gone                     Reason // why the last one left the mempool or the chain
	any                      bool
}

// indexedSighting is a sighting with its index in the list that Decide was given.
type indexedSighting struct {
	Sighting
	index int
}

func sumSightings(c Case, sightings []Sighting, chain Chain) (t sightingSums) {
	for i, s := range sightings {
		t.any = true
		switch {
		case s.isReverted():
			if t.noteMaturity(c, s, s.Height, 0, chain) {
				t.dead = Reverted
			} else {
				t.missing = append(t.missing, indexedSighting{s, i})
			}
		case s.Gone == NoReason && s.Height > 0:
			t.active, t.confirmed = t.active.Add(s.Amount), t.confirmed.Add(s.Amount)
			if t.noteMaturity(c, s, s.Height, s.Maturity, chain) {
				t.final, t.finals = t.final.Add(s.Amount), append(t.finals, indexedSighting{s, i})
			} else {
				t.open = append(t.open, indexedSighting{s, i})
			}
			t.confirmedSightings = append(t.confirmedSightings, indexedSighting{s, i})
		case s.Conflict > 0:
			if t.noteMaturity(c, s, s.Conflict, 0, chain) {
				t.dead = Replaced
			} else {
				t.missing = append(t.missing, indexedSighting{s, i})
			}
		case s.Gone != NoReason:
			t.gone, t.missing = s.Gone, append(t.missing, indexedSighting{s, i})
		default:
			t.active, t.waiting = t.active.Add(s.Amount), true
			t.open = append(t.open, indexedSighting{s, i})
		}
	}
	return t
}

// noteMaturity reports whether what a sighting's network shows at a height is final, and notes when it will be:
// at the depth that counts there, or later where the network demands more.
func (t *sightingSums) noteMaturity(c Case, s Sighting, height, least int64, own Chain) bool {
	on := Elsewhere{Chain: own, Depth: c.Depth, NetworkSays: c.NetworkSays}
	if s.Elsewhere != nil {
		on = *s.Elsewhere
	}
	at := height + max(int64(on.Depth), least) - 1
	if on.Tip >= at && (!on.NetworkSays || on.Finalized >= height) {
		return true
	}
	at = max(at, on.Tip+1) // the network's own finality is asked for at each block
	if s.Elsewhere == nil {
		t.nextHeight = lowerHeight(t.nextHeight, at)
		return false
	}
	if t.nextElsewhere == nil {
		t.nextElsewhere = map[string]int64{}
	}
	t.nextElsewhere[on.Network] = lowerHeight(t.nextElsewhere[on.Network], at)
	return false
}

// lowerHeight returns the lower of two heights. The first may be 0 for none.
func lowerHeight(known, at int64) int64 {
	if known == 0 {
		return at
	}
	return min(known, at)
}

// sortBySeen sorts sightings by when they were first seen, then by block, then by position.
func sortBySeen(sightings []indexedSighting) {
	slices.SortStableFunc(sightings, func(a, b indexedSighting) int {
		return cmp.Or(a.SeenAt.Compare(b.SeenAt), cmp.Compare(a.Height, b.Height))
	})
}

// paidAt returns when sightings, sorted by when they were seen, reached the least amount.
// Later ones make nothing late. When all are less, it is the time of the last one.
func paidAt(sightings []indexedSighting, least money.Amount) (at time.Time) {
	sortBySeen(sightings)
	var sum money.Amount
	for _, s := range sightings {
		if sum, at = sum.Add(s.Amount), s.SeenAt; sum.Cmp(least) >= 0 {
			break
		}
	}
	return at
}

// chooseTransfers returns the sightings that are the right amount (contract section 4,
// settling), or nil when no choice by its rules is. One that is right alone is preferred, the
// earliest of them. Otherwise they are added in the order in which they were seen until they
// are enough; those that aren't needed are left out, the smallest first; later ones are added
// where they still fit.
func (c Case) chooseTransfers(sightings []indexedSighting) []indexedSighting {
	least, most := c.bounds()
	sightings = slices.Clone(sightings)
	sortBySeen(sightings)
	var sum money.Amount
	enough := -1
	for i, s := range sightings {
		if c.isRight(s.Amount) {
			return []indexedSighting{s}
		}
		if sum.Cmp(least) < 0 {
			sum, enough = sum.Add(s.Amount), i
		}
	}
	if sum.Cmp(least) < 0 {
		return nil
	}
	chosen, later := sightings[:enough+1], sightings[enough+1:]
	bySize := slices.Clone(chosen)
	slices.SortStableFunc(bySize, func(a, b indexedSighting) int { return a.Amount.Cmp(b.Amount) })
	unneeded := map[int]bool{}
	for _, s := range bySize {
		if rest := sum.Sub(s.Amount); rest.Cmp(least) >= 0 {
			sum, unneeded[s.index] = rest, true
		}
	}
	if sum.Cmp(most) > 0 {
		return nil
	}
	chosen = slices.DeleteFunc(chosen, func(s indexedSighting) bool { return unneeded[s.index] })
	for _, s := range later {
		if with := sum.Add(s.Amount); with.Cmp(most) <= 0 {
			sum, chosen = with, append(chosen, s)
		}
	}
	return chosen
}

// isReverted reports whether a block holds the transaction, which failed there.
func (s Sighting) isReverted() bool { return s.Reverted && s.Height > 0 }

// maxAbsence is how long a transfer must be missing before a payment past its 24 hours fails
// for it. A node that was restarted has an empty mempool for a while; most of the transfers
// that waited in it are confirmed later.
const maxAbsence = 6 * time.Hour

// listAwaited lists the missing transfers that may be in a block again, and says when the first
// of them no longer may; zero when no time ends that. One that was reverted or double-spent may
// until that is final. Any other may for 24 hours, and for six hours after it went missing, as
// far as its network was read.
func (c Case) listAwaited(missing []indexedSighting, now time.Time) (awaited []indexedSighting, until time.Time) {
	for _, s := range missing {
		if !s.isReverted() && s.Conflict == 0 {
			limit, read := c.AbandonsAt, now
			if later := s.GoneAt.Add(maxAbsence); later.After(limit) {
				limit = later
			}
			if s.Elsewhere != nil && s.Elsewhere.Read.Before(read) {
				read = s.Elsewhere.Read
			}
			if read.After(limit) {
				continue
			}
			if until.IsZero() || limit.Before(until) {
				until = limit
			}
		}
		awaited = append(awaited, s)
	}
	return awaited, until
}

// listInTime lists the sightings that were seen in time: within the window where the business
// declines late payments, and otherwise within the 24 hours.
func (c Case) listInTime(sightings []indexedSighting) []indexedSighting {
	end := c.AbandonsAt
	if c.DeclineLate {
		end = c.ExpiresAt
	}
	return slices.DeleteFunc(slices.Clone(sightings), func(s indexedSighting) bool { return s.SeenAt.After(end) })
}

// mayBecomeRight reports whether transfers that aren't final yet could still make the amount
// right, and when that is asked again; zero when only a transfer or a block can change it.
func (c Case) mayBecomeRight(t sightingSums, now time.Time) (possible bool, again time.Time) {
	awaited, again := c.listAwaited(t.missing, now)
	coming, sum := c.listInTime(slices.Concat(t.open, awaited)), t.final
	for _, s := range coming {
		sum = sum.Add(s.Amount)
	}
	least, _ := c.bounds()
	enough := t.final.Cmp(least) < 0 && sum.Cmp(least) >= 0
	return enough || c.chooseTransfers(slices.Concat(c.listInTime(t.finals), coming)) != nil, again
}

// decideFinal ends a Processing payment as soon as its final transfers are the right amount,
// or nothing can make them so any more. Money that came in time goes before money that didn't.
func decideFinal(c Case, t sightingSums, now time.Time, out *Outcome) {
	out.wakeAt(t)
	if len(t.finals) == 0 {
		return
	}
	least, _ := c.bounds()
	short := t.final.Cmp(least) < 0
	chosen := c.chooseTransfers(c.listInTime(t.finals))
	if chosen == nil {
		if short && !now.After(c.ExpiresAt) { // the customer may still pay the rest
			out.Wake = justAfter(c.ExpiresAt)
			return
		}
		if possible, again := c.mayBecomeRight(t, now); possible {
			if !again.IsZero() {
				out.Wake = justAfter(again)
			}
			return
		}
		chosen = c.chooseTransfers(t.finals)
	}
	switch {
	case chosen != nil:
		out.State, out.Reason = Successful, NoReason
	case short:
		out.State, out.Reason, chosen = Declined, Underpaid, t.finals
	default:
		out.State, out.Reason, chosen = Declined, Overpaid, t.finals
	}
	out.wakeAt(sightingSums{})
	out.Paid = money.Amount{}
	part := map[int]bool{}
	for _, s := range chosen {
		out.Paid, part[s.index] = out.Paid.Add(s.Amount), true
	}
	for _, s := range slices.Concat(t.finals, t.open) {
		if !part[s.index] {
			out.Surplus = append(out.Surplus, s.index)
		}
	}
	slices.Sort(out.Surplus)
	paid := paidAt(chosen, least)
	switch {
	case paid.After(c.AbandonsAt): // it may have been taken for abandoned while no node could be read
		out.State, out.Reason = Declined, AfterAbandoned
	case out.State == Successful && paid.After(c.ExpiresAt):
		out.Reason = Late
		if c.DeclineLate {
			out.State = Declined
		}
	}
}

// decideUnconfirmed decides while no transfer is in a block.
func decideUnconfirmed(c Case, t sightingSums, now time.Time, out *Outcome) {
	out.wakeAt(t)
	lost := !t.waiting && t.dead != NoReason && len(t.missing) == 0
	awaited, until := c.listAwaited(t.missing, now)
	switch {
	case c.State == Abandoned:
		// Only a confirmation brings an abandoned payment back.
	case lost:
		out.State, out.Reason = Failed, t.dead
		out.wakeAt(sightingSums{})
	case c.State == Processing && c.Abandoned: // it is where it came from
		out.State, out.Reason = Abandoned, NoReason
		out.wakeAt(sightingSums{})
	case c.State == Processing:
		out.State, out.Reason = Initiated, Reorged
	case now.After(c.AbandonsAt) && !t.any:
		out.State, out.Reason = Abandoned, NoReason
	case !now.After(c.AbandonsAt):
		out.Wake = justAfter(c.AbandonsAt)
	case t.waiting:
	case len(awaited) == 0:
		out.State, out.Reason = Failed, t.gone
		out.wakeAt(sightingSums{})
	case !until.IsZero():
		out.Wake = justAfter(until)
	}
}

// bounds returns the least and the most that is the right amount: Due with its tolerances, and
// with the difference whose value rounds, half to even, to 0.00 in the payment's currency.
func (c Case) bounds() (least, most money.Amount) {
	var worthless money.Amount
	if c.Charged > 0 {
		worthless = c.Due.MulDiv(5, 1000*c.Charged)
	}
	least = c.Due.Sub(c.Due.MulDiv(int64(c.Under), 10_000)).Sub(worthless)
	return least, c.Due.Add(c.Due.MulDiv(int64(c.Over), 10_000)).Add(worthless)
}

// isRight reports whether an amount is within the bounds.
func (c Case) isRight(a money.Amount) bool {
	least, most := c.bounds()
	return a.Cmp(least) >= 0 && a.Cmp(most) <= 0
}

// justAfter is the first microsecond that is no longer inside a window.
func justAfter(t time.Time) time.Time { return t.Add(1000) }
