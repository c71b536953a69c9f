package simulation_test

import (
	"cmp"
	"math/big"
	"slices"
	"time"

	"cointill/chain"
	"cointill/models"
)

// The model says where a payment must stand at the end of a run. It knows the
// contract's table, the truth about the networks and what customers did, and
// nothing of how the core decides. Where a deadline fell between what was true
// and when somebody could see it, it allows both ways.

// ending is a state with its reason and what was paid by then.
type ending struct {
	state, reason string
	paid          string
}

// fate is what the model says of a payment.
type fate struct {
	allowed []ending
	// deep is a payment whose money was undone after it was final: when exactly decides, and
	// only sums are judged.
	deep bool
	sum  *big.Int // of what is on the best chain for it at the end
	// counting is the part of it that may count: what came on a network that was off doesn't.
	counting *big.Int
}

// depth is the contract's section 4: confirmations on a network for up to 100 USD, and above.
func (c *customer) depth(n *network) int64 {
	if c.amount > 100 {
		return n.large
	}
	return n.small
}

// bounds are the least and the most that is the right amount: what differs from the tolerances
// by less than rounds to 0.01 is right.
func (c *customer) bounds() (least, most *big.Int) {
	share := func(points int) *big.Int {
		n := new(big.Int).Mul(c.due, big.NewInt(int64(points)))
		return n.Quo(n, big.NewInt(10_000))
	}
	worthless := new(big.Int).Div(c.due, big.NewInt(200*c.amount)) // up to 0.005 rounds to 0.00
	least, most = new(big.Int).Sub(c.due, share(c.rules.Under)), new(big.Int).Add(c.due, share(c.rules.Over))
	return least.Sub(least, worthless), most.Add(most, worthless)
}

// came is a transfer to a payment, as it truly was.
type came struct {
	tx     *coinTx
	amount *big.Int
	height int64 // on the best chain; 0 when it is on none, or moved nothing
	mined  time.Time
	step   int       // of the world, after which the block was mined
	lo, hi time.Time // when it may have been first seen
	// counts is that it counts for certain on its network, may that it may.
	counts, may bool
}

// coming lists the transfers that were ever sent to a payment's place in its coin.
func (c *customer) coming() (list []came) {
	if c.opened.IsZero() {
		return nil
	}
	for _, n := range c.listNetworks(c.coin) {
		for _, t := range n.all {
			for _, out := range t.Outputs {
				if !c.isMine(n, out) {
					continue
				}
				one := came{tx: t, amount: out.Amount.Big()}
				one.lo, one.hi = c.seen(t, one.amount)
				if b := n.where(t); b != nil && !t.Reverted {
					one.height, one.mined, one.step = b.Height, b.Time, b.step
				}
				one.counts, one.may = c.judgeCredit(t)
				list = append(list, one)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b came) int { return a.tx.order - b.tx.order })
	return list
}

// isMine reports whether an output of a network pays the customer's payment in its coin.
func (c *customer) isMine(n *network, out chain.Output) bool {
	place := c.places[n.home]
	if out.Asset != string(c.coin.Coin) || out.Address != place.Address || (out.Tag == nil) != (place.Tag == nil) {
		return false
	}
	return out.Tag == nil || *out.Tag == *place.Tag
}

// isPaidBy reports whether a transaction pays the customer's payment.
func (c *customer) isPaidBy(t *coinTx) bool {
	return slices.ContainsFunc(t.Outputs, func(out chain.Output) bool { return c.isMine(t.net, out) })
}

// seen is between when a transfer may have been first seen: one that replaces
// another of no less to the same payment has its time.
func (c *customer) seen(t *coinTx, amount *big.Int) (lo, hi time.Time) {
	lo, hi = t.born, t.shown
	for _, other := range t.instead {
		out := other.Outputs[0]
		if !c.isMine(t.net, out) || out.Amount.Big().Cmp(amount) < 0 {
			continue
		}
		before, known := c.seen(other, amount)
		if before.Before(lo) {
			lo = before
		}
		if !known.IsZero() && (hi.IsZero() || known.Before(hi)) {
			hi = known
		}
	}
	for _, other := range t.lost { // it depends on whether that was seen before it was lost
		out := other.Outputs[0]
		if c.isMine(t.net, out) && out.Amount.Big().Cmp(amount) >= 0 && other.born.Before(lo) {
			lo = other.born
		}
	}
	return lo, hi
}

// expect says how the payment must have ended.
func (c *customer) expect() fate {
	f := fate{sum: new(big.Int), counting: new(big.Int)}
	if c.opened.IsZero() {
		f.allowed = []ending{{"expired", "", "0"}}
		return f
	}
	counting := [][]came{nil} // each choice of those that may count, with all that do
	for _, one := range c.coming() {
		if one.height > 0 {
			f.sum.Add(f.sum, one.amount)
		}
		if !one.may {
			continue
		}
		f.deep = f.deep || one.tx.cut >= c.depth(one.tx.net)
		if one.height > 0 {
			f.counting.Add(f.counting, one.amount)
		}
		for i, chosen := range counting {
			counting[i] = append(slices.Clone(chosen), one)
			if !one.counts {
				counting = append(counting, chosen)
			}
		}
	}
	for _, chosen := range counting {
		f.allowed = append(f.allowed, c.listEnds(chosen)...)
	}
	return f
}

// listEnds lists how the payment may have ended when these transfers count.
func (c *customer) listEnds(all []came) (list []ending) {
	var there, gone []came
	for _, one := range all {
		if one.height > 0 {
			there = append(there, one)
		} else {
			gone = append(gone, one)
		}
	}
	if len(there) == 0 {
		return c.without(gone)
	}
	slices.SortStableFunc(there, func(a, b came) int {
		return cmp.Or(a.mined.Compare(b.mined), cmp.Compare(a.tx.net.kind, b.tx.net.kind),
			cmp.Compare(a.height, b.height))
	})
	for _, one := range gone { // it may have failed before the good one came, or was read
		unseen := !one.tx.known.IsZero() && one.tx.known.Before(there[0].tx.known) // the good one, as where no mempool is shown
		if one.tx.order < there[0].tx.order || one.tx.net != there[0].tx.net || unseen {
			list = append(list, c.failed(gone)...)
			break
		}
	}
	if c.mayBeLost(there[0]) {
		list = append(list, c.failed(slices.Concat(gone, there))...)
	}
	for _, with := range listFirst(there) {
		rest := slices.DeleteFunc(slices.Clone(there), func(one came) bool {
			return slices.ContainsFunc(with, func(other came) bool { return other.tx == one.tx })
		})
		if len(rest) == 0 || c.mayEnd(with, rest) {
			list = append(list, c.settled(with)...)
		}
	}
	return list
}

// listFirst lists which transfers may be final while others aren't: the first ones of each network. They are sorted
// by their blocks.
func listFirst(there []came) (choices [][]came) {
	by := map[*network][]came{}
	var nets []*network
	for _, one := range there {
		if by[one.tx.net] == nil {
			nets = append(nets, one.tx.net)
		}
		by[one.tx.net] = append(by[one.tx.net], one)
	}
	choices = [][]came{nil}
	for _, n := range nets {
		for _, with := range slices.Clone(choices) {
			for k := range by[n] {
				choices = append(choices, slices.Concat(with, by[n][:k+1]))
			}
		}
	}
	return choices[1:]
}

// failed is how a payment fails whose transactions are these: only by what became of one.
func (c *customer) failed(gone []came) (list []ending) {
	for _, reason := range []string{"replaced", "reverted", "dropped", "reorged"} {
		if slices.ContainsFunc(gone, func(one came) bool { return c.became(one.tx, reason) }) {
			list = append(list, ending{"failed", reason, "0"})
		}
	}
	return list
}

// became reports whether a reason may be said of a transaction that no block holds, or
// that moved nothing. One that left a block and isn't seen again is reorged; one that a
// node's mempool lacked for a while may have been taken for dropped.
func (c *customer) became(t *coinTx, reason string) bool {
	switch reason {
	case "reverted":
		return t.Reverted
	case "reorged":
		return t.cut > 0
	case "replaced":
		return slices.ContainsFunc(t.net.all, func(other *coinTx) bool { return other != t && shares(other, t) })
	}
	return true
}

// abandons is the end of the payment's 24 hours.
func (c *customer) abandons() time.Time { return c.created.Add(24 * time.Hour) }

// without is how a payment ends for which nothing is on the chain.
func (c *customer) without(gone []came) (list []ending) {
	known := false // in time, for certain, and before the network was looked at for it
	for _, one := range gone {
		known = known || !one.tx.shown.IsZero() && !one.tx.shown.After(c.abandons()) && !c.overlooked(one, c.abandons())
	}
	if !known {
		list = append(list, ending{"abandoned", "", "0"})
	}
	if len(gone) > 0 {
		list = append(list, c.failed(gone)...)
	}
	return list
}

// mayEnd reports whether a payment may have ended with some transfers before the next ones
// were final.
func (c *customer) mayEnd(with, next []came) bool {
	for _, one := range with {
		if slices.ContainsFunc(next, one.isBeside) {
			return false
		}
	}
	sum := new(big.Int)
	for _, one := range with {
		sum.Add(sum, one.amount)
	}
	least, _ := c.bounds()
	if sum.Cmp(least) >= 0 {
		return true
	}
	expires := c.created.Add(7 * time.Minute)
	for _, one := range next { // those that it certainly waited for
		// A node that lags may show it first, in its mempool, when a block of the window holds it already.
		lagged := func(l look) bool { return l.at.After(expires) && slices.Contains(l.late, one.tx) }
		late := one.hi.IsZero() || one.hi.After(expires) ||
			one.tx.known.After(expires) && slices.ContainsFunc(c.listLooks(one.tx), lagged)
		if !c.overlooked(one, expires) && !c.mayBeLost(one) &&
			!(late && c.rules.LatePayments == "decline") && !one.hi.After(c.abandons()) {
			sum.Add(sum, one.amount)
		}
	}
	return sum.Cmp(least) < 0
}

// mayBeLost reports whether a transfer may have been taken for lost before its block was seen: a node didn't show it,
// and was looked at after the 24 hours.
func (c *customer) mayBeLost(one came) bool {
	return one.tx.hidden && slices.ContainsFunc(c.listLooks(one.tx), func(l look) bool {
		before := l.at.Before(one.mined) || l.at.Equal(one.mined) && (l.net != one.tx.net || l.top < one.height)
		return l.at.After(c.abandons()) && (before || slices.Contains(l.late, one.tx))
	})
}

// isBeside reports whether another transfer is in the same block.
func (one came) isBeside(other came) bool {
	return one.tx.net == other.tx.net && one.height == other.height
}

// overlooked reports whether a payment's network was looked at after a deadline and
// before a transfer was known: without such a look the deadline ends nothing.
func (c *customer) overlooked(next came, deadline time.Time) bool {
	return slices.ContainsFunc(c.listLooks(next.tx), func(l look) bool {
		return l.at.After(deadline) && l.step < next.tx.step
	})
}

// listLooks lists the looks that may end a payment for want of a transfer: those at its network if the page showed that
// before the transfer was known, which is waited for, and otherwise those at the ones that it showed. A known transfer
// has its network shown.
func (c *customer) listLooks(t *coinTx) (looks []look) {
	if at, shown := c.shown[t.net.kind]; shown && (t.known.IsZero() || !at.After(t.known)) {
		return t.net.looks
	}
	for _, n := range c.listNetworks(c.coin) {
		if _, shown := c.shown[n.kind]; shown {
			looks = append(looks, n.looks...)
		}
	}
	return looks
}

// abandonedKnowing finds a payment that was taken for abandoned although it was paid in
// time, with nobody having looked in between (24): later it may have ended well.
func (c *customer) abandonedKnowing(p models.Payment) {
	if p.AbandonedAt == nil || c.attached {
		return
	}
	for _, one := range c.coming() {
		if one.height > 0 && one.counts && !one.mined.After(c.abandons()) && !c.overlooked(one, c.abandons()) {
			c.find("invariant 24: payment %d was abandoned before its network was looked at, and %s had come", c.number, one.amount)
		}
	}
}

// latest is the last time at which a transfer may be seen without making its payment Declined as late.
func (c *customer) latest() time.Time {
	if c.rules.LatePayments == "decline" {
		return c.created.Add(7 * time.Minute)
	}
	return c.abandons()
}

// settled is how a payment ends when these transfers are final. Those in time go before the others.
func (c *customer) settled(with []came) (list []ending) {
	late := func(one came) bool { return one.lo.After(c.latest()) }
	perhapsLate := func(one came) bool { return one.hi.IsZero() || one.hi.After(c.latest()) }
	for _, sorted := range orders(with) {
		for _, isLate := range []func(came) bool{late, perhapsLate} {
			part, right := c.choose(slices.DeleteFunc(slices.Clone(sorted), isLate))
			if !right {
				part, right = c.choose(sorted)
			}
			for _, one := range c.settledWith(part, right) {
				if !slices.Contains(list, one) {
					list = append(list, one)
				}
			}
		}
	}
	return list
}

// orders lists the orders in which transfers may have been first seen.
func orders(with []came) (list [][]came) {
	if len(with) == 0 {
		return [][]came{nil}
	}
	for i, first := range with {
		if slices.ContainsFunc(with, func(other came) bool { return !other.hi.IsZero() && other.hi.Before(first.lo) }) {
			continue
		}
		for _, rest := range orders(slices.Delete(slices.Clone(with), i, i+1)) {
			list = append(list, append([]came{first}, rest...))
		}
	}
	return list
}

// right reports whether an amount is right.
func (c *customer) right(n *big.Int) bool {
	least, most := c.bounds()
	return n.Cmp(least) >= 0 && n.Cmp(most) <= 0
}

// choose finds the transfers that are the right amount, in the order in which they were seen: the first that is alone,
// or together the earliest that are enough, without those that aren't needed, and with later ones that fit. Without
// such a choice it is all of them.
func (c *customer) choose(sorted []came) (chosen []came, right bool) {
	for _, one := range sorted {
		if c.right(one.amount) {
			return []came{one}, true
		}
	}
	least, _ := c.bounds()
	total := func(list []came) *big.Int {
		n := new(big.Int)
		for _, one := range list {
			n.Add(n, one.amount)
		}
		return n
	}
	n := min(1, len(sorted))
	for n < len(sorted) && total(sorted[:n]).Cmp(least) < 0 {
		n++
	}
	chosen = slices.Clone(sorted[:n])
	for {
		spare := -1 // the smallest that isn't needed
		for i, one := range chosen {
			if rest := new(big.Int).Sub(total(chosen), one.amount); rest.Cmp(least) >= 0 && (spare < 0 || one.amount.Cmp(chosen[spare].amount) < 0) {
				spare = i
			}
		}
		if spare < 0 {
			break
		}
		chosen = slices.Delete(chosen, spare, spare+1)
	}
	if !c.right(total(chosen)) {
		return sorted, false
	}
	for _, one := range sorted[n:] {
		if more := append(slices.Clone(chosen), one); c.right(total(more)) {
			chosen = more
		}
	}
	return chosen, true
}

// settledWith is how a payment ends whose transfers are these.
func (c *customer) settledWith(with []came, right bool) (list []ending) {
	sum := new(big.Int)
	for _, one := range with {
		sum.Add(sum, one.amount)
	}
	least, _ := c.bounds()
	earliest := paidAt(with, least, func(one came) time.Time { return one.lo })
	latest := paidAt(with, least, func(one came) time.Time { return one.hi })
	expires := c.created.Add(7 * time.Minute)
	add := func(state, reason string) { list = append(list, ending{state, reason, sum.String()}) }
	if latest.After(c.abandons()) {
		add("declined", "after_abandoned")
	}
	if earliest.After(c.abandons()) {
		return list
	}
	switch {
	case !right && sum.Cmp(least) >= 0:
		add("declined", "overpaid")
	case !right:
		add("declined", "underpaid")
	default:
		if !earliest.After(expires) {
			add("successful", "")
		}
		if latest.After(expires) && c.rules.LatePayments == "accept" {
			add("successful", "late")
		} else if latest.After(expires) {
			add("declined", "late")
		}
	}
	return list
}

// paidAt is when the transfers that make up the least amount had come.
func paidAt(with []came, least *big.Int, when func(came) time.Time) (at time.Time) {
	sorted := slices.Clone(with)
	slices.SortStableFunc(sorted, func(a, b came) int { return when(a).Compare(when(b)) })
	sum := new(big.Int)
	for _, one := range sorted {
		if sum.Add(sum, one.amount); true {
			at = when(one)
		}
		if sum.Cmp(least) >= 0 {
			break
		}
	}
	return at
}

// compare holds a payment's row against the model.
func (c *customer) compare(p models.Payment) {
	c.abandonedKnowing(p)
	f := c.expect()
	got := ending{p.Status, p.Reason, p.Paid.String()}
	switch {
	case c.accepted:
		if p.Status != "successful" || p.Reason != "accepted_by_user" && !p.Reversed {
			c.find("payment %d was accepted by a person and is %v", c.number, got)
		}
		c.count("judged: accepted by a person")
	case c.attached:
		c.count("judged: money was attached")
		c.judgeSums(p, f)
	case f.deep:
		c.judgeSums(p, f)
	case p.Reversed:
		c.find("payment %d (%s) is reversed, and nothing final was undone", c.number, c.plot)
	case !slices.Contains(f.allowed, got):
		c.find("payment %d (%s, %s, %d USD, %v) ended as %v; the model allows %v", c.number, c.plot, c.coin.Coin, c.amount, c.rules, got, f.allowed)
	default:
		c.delayed(p)
		c.count("judged exactly")
		if len(f.allowed) == 1 {
			c.count("judged exactly, with one way to end")
		}
		c.count("ended " + p.Status + " " + p.Reason)
	}
}

// delayed finds a payment that strangers held up (28): the transfer that paid it was final, five
// looks at its network were applied after, and it had not ended. Looks from before its block was
// mined saw another branch.
func (c *customer) delayed(p models.Payment) {
	if c.plot != "strangers" || p.Status != "successful" {
		return
	}
	for _, one := range c.coming() {
		if one.height == 0 || !one.counts || !c.right(one.amount) || one.hi.After(c.latest()) {
			continue
		}
		looks := 0
		for _, l := range one.tx.net.applied {
			final := l.top >= one.height+c.depth(one.tx.net)-1
			if final && l.step > one.step && !slices.Contains(l.late, one.tx) && l.at.Before(*p.SettledAt) {
				looks++
			}
		}
		if looks > 5 {
			c.find("invariant 28: payment %d is successful since %s, %d looks after %s was final", c.number, p.SettledAt, looks, one.amount)
		}
	}
}

// judgeSums judges by sums alone.
func (c *customer) judgeSums(p models.Payment, f fate) {
	c.count("judged by sums")
	least, most := c.bounds()
	paid := p.Paid.Big()
	switch {
	case slices.Contains([]string{"pending", "initiated", "processing"}, p.Status):
		c.find("payment %d is still %s", c.number, p.Status)
	case p.Reversed:
		c.count("ended reversed")
	case p.Status == "successful" && (paid.Cmp(least) < 0 || paid.Cmp(most) > 0):
		c.find("payment %d is successful with %s of %s", c.number, paid, c.due)
	case p.Status == "successful" && f.counting.Cmp(paid) < 0 && !c.attached:
		c.find("payment %d is successful with %s, and only %s is on the chain", c.number, paid, f.counting)
	}
}
