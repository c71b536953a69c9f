package send

import (
	"cmp"
	"slices"
	"time"

	"cointill/core/payment"
)

// Case is a send as Decide sees it. All times are on the send's own clock.
type Case struct {
	State       State
	Reason      string
	Reversed    bool
	Depth       int  // confirmations that are final, at least 1
	NetworkSays bool // final needs the network's own finality too
	ExpiresAt   time.Time
	// KeptUntil is until when the network may show a transaction that it was given; zero for none.
	KeptUntil time.Time
	// Outstanding says that a transaction that was handed to a wallet may still confirm when those that were seen can't
	// any more: it has another number, spends other outputs, or is the order of a contract wallet.
	Outstanding bool
	// MayConfirm says that the send is tried again while its first transaction may still confirm.
	MayConfirm bool
	// Marked says that a person says that it was sent in another way, AnotherWay that enough people do.
	Marked, AnotherWay bool
}

// Sighting is a transfer that pays the send, as the chain shows it now.
type Sighting struct {
	Height   int64 // 0 while unconfirmed
	Reverted bool
	Gone     string    // why it is on no chain and in no mempool; "" otherwise
	GoneAt   time.Time // since when
	Conflict int64     // height of a confirmed transaction that spent its money; 0 for none
	Earlier  bool      // it was seen before the send was ready for the last time
}

// Outcome is what Decide says.
type Outcome struct {
	State     State
	Reason    string
	Reversed  bool
	Confirmed bool // a block holds the transaction that pays it
	// Main is the index of the sighting that pays the send, and -1 where none was seen. Extra are
	// those that pay it again, in a block or final, by their depth.
	Main  int
	Extra []int
	// Wake is the next time at which time alone may change the outcome; zero for none. WakeHeight
	// is the next such height; 0 for none.
	Wake       time.Time
	WakeHeight int64
}

// Decide returns a send's state from the transactions that pay it, the network's progress and the
// time. It is pure: the same facts give the same outcome. Only people move a send before it is
// ready, and only evidence afterwards.
func Decide(c Case, seen []Sighting, chain payment.Chain, now time.Time) Outcome {
	out := Outcome{State: c.State, Reason: c.Reason, Reversed: c.Reversed, Main: c.chooseMain(seen, chain)}
	if c.AnotherWay {
		return c.decideAnotherWay(out, seen, chain)
	}
	if out.Main < 0 {
		return c.decideUnseen(out, now)
	}
	main := seen[out.Main]
	out.Confirmed = main.confirmed()
	for i, s := range seen {
		if i != out.Main && c.isFinal(s, chain) {
			out.Extra = append(out.Extra, i)
		}
	}
	out.WakeHeight = c.nextHeight(seen, chain)
	switch {
	case c.isFinal(main, chain):
		out.State, out.Reason, out.Reversed = Successful, "", false
		if len(out.Extra) > 0 {
			out.Reason = PaidTwice
		}
	case c.State == Successful:
		if !main.confirmed() {
			out.Reversed = true
		}
		if out.Reversed {
			out.Reason = cmp.Or(c.findLoss(seen, chain, now), ReversedCode)
		}
	case main.lives():
		if c.State != Processing {
			out.Reason = ""
			if c.State.Released() {
				out.Reason = SentAnyway
			}
		}
		out.State = Processing
	default:
		return c.decideGone(out, seen, chain, now)
	}
	return out
}

// decideAnotherWay handles a send that was sent in another way, by the word of people. A transaction that pays it all
// the same is a second one, and counts once it is final.
func (c Case) decideAnotherWay(out Outcome, seen []Sighting, chain payment.Chain) Outcome {
	out.State, out.Reason, out.Reversed, out.Main = Successful, SentInAnotherWay, false, -1
	for i, s := range seen {
		if c.isFinal(s, chain) {
			out.Extra, out.Reason = append(out.Extra, i), PaidTwice
		}
	}
	out.WakeHeight = c.nextHeight(seen, chain)
	return out
}

// decideUnseen handles a send that no transaction pays.
func (c Case) decideUnseen(out Outcome, now time.Time) Outcome {
	switch {
	case c.State == AwaitingDestination, c.State == Ready && !c.Marked:
		if c.MayConfirm { // its money stays reserved
			out.Wake = now.Add(unseenFor)
			break
		}
		out.Wake = slices.MaxFunc([]time.Time{c.ExpiresAt, c.KeptUntil}, time.Time.Compare)
		if !now.Before(out.Wake) {
			out.State, out.Reason, out.Wake = Expired, NotSigned, time.Time{}
			if c.State == AwaitingDestination {
				out.Reason = NotClaimed
			}
		}
	}
	return out
}

// decideGone handles a send whose transactions are all gone or reverted.
func (c Case) decideGone(out Outcome, seen []Sighting, chain payment.Chain, now time.Time) Outcome {
	if c.State == Ready { // what failed before it was tried again says nothing
		seen = slices.DeleteFunc(slices.Clone(seen), func(s Sighting) bool { return s.Earlier })
	}
	if c.State != Processing && c.State != Ready || len(seen) == 0 {
		return c.decideUnseen(out, now)
	}
	failed := "" // the weakest reason: each of them must have failed
	for _, s := range seen {
		why := c.failure(s, chain, now)
		if why == "" {
			if s.Gone != "" && s.Conflict == 0 {
				out.Wake = s.GoneAt.Add(unseenFor)
			}
			return out
		}
		if failed == "" || why == Dropped {
			failed = why
		}
	}
	out.State, out.Reason, out.WakeHeight = Failed, failed, 0
	return out
}

// findLoss returns why no transaction can pay the send any more; "" while one still may, as one that
// was only dropped.
func (c Case) findLoss(seen []Sighting, chain payment.Chain, now time.Time) (why string) {
	for _, s := range seen {
		if why = c.failure(s, chain, now); why == "" || why == Dropped {
			return ""
		}
	}
	return why
}

// failure returns why a transaction pays nothing any more; "" while it still may.
func (c Case) failure(s Sighting, chain payment.Chain, now time.Time) string {
	switch {
	case c.Outstanding && (s.Gone == "" && s.Reverted && c.isDeep(s.Height, chain) || c.isDeep(s.Conflict, chain)):
		return Dropped
	case s.Gone == "" && s.Reverted && c.isDeep(s.Height, chain):
		return Reverted
	case c.isDeep(s.Conflict, chain):
		return Replaced
	case s.Gone != "" && s.Conflict == 0 && !now.Before(s.GoneAt.Add(unseenFor)):
		return Dropped
	}
	return ""
}

// chooseMain returns the sighting that pays the send: a final one before a confirmed one, that
// before a pending one, that before one that is gone; of equal ones the first.
func (c Case) chooseMain(seen []Sighting, chain payment.Chain) int {
	main, best := -1, -1
	for i, s := range seen {
		rank := 0
		switch {
		case c.isFinal(s, chain):
			rank = 3
		case s.confirmed():
			rank = 2
		case s.lives():
			rank = 1
		}
		if rank > best {
			main, best = i, rank
		}
	}
	return main
}

func (s Sighting) lives() bool     { return s.Gone == "" && !s.Reverted }
func (s Sighting) confirmed() bool { return s.lives() && s.Height > 0 }

func (c Case) isFinal(s Sighting, chain payment.Chain) bool {
	return s.confirmed() && c.isDeep(s.Height, chain)
}

// isDeep reports that nothing changes at a height any more.
func (c Case) isDeep(height int64, chain payment.Chain) bool {
	return height > 0 && chain.Tip-height+1 >= int64(c.Depth) && (!c.NetworkSays || height <= chain.Finalized)
}

// nextHeight returns the next height at which a transaction, or one that replaced it, becomes
// final; 0 for none.
func (c Case) nextHeight(seen []Sighting, chain payment.Chain) (next int64) {
	for _, s := range seen {
		for _, height := range []int64{s.Height, s.Conflict} {
			if height == 0 || c.isDeep(height, chain) {
				continue
			}
			due := max(height+int64(c.Depth)-1, chain.Tip+1)
			if next == 0 || due < next {
				next = due
			}
		}
	}
	return next
}
