package e2e

import (
	"testing"
	"time"

	"cointill/e2e/harness"
	"cointill/e2e/nodes"
)

// timely is how long the first sighting of a payment may take on a busy
// machine. The promise is 2 s; the tests log what it took.
const timely = 5 * time.Second

// walk is one way that a payment goes on a real chain.
type walk struct {
	name  string
	drive func(tl *till)
}

// walks are gone one after the other, on one chain.
var walks = []walk{
	{"exact", payExact}, {"sightings", paySome}, {"under", payUnder}, {"over", payOver}, {"two parts", payInParts}, {"twice in one", payTwice}, {"crumbs", payCrumbs},
	{"late", payLate}, {"after abandoned", payAfterAbandoned}, {"several by one", payTogether}, {"again", payAgain},
	{"fee raised", raiseFee}, {"diverted", divert}, {"reorganised and back", reorgAndBack}, {"in both branches", reorgBoth},
	{"reorganised for good", reorgForGood}, {"reversed", reverse}, {"killed", killBetweenBlocks},
}

func (tl *till) walk(walks ...walk) {
	for _, w := range walks {
		passed := tl.t.Run(w.name, func(t *testing.T) {
			own := *tl
			own.t = t
			w.drive(&own)
			tl.opened = own.opened
		})
		if !passed {
			tl.t.FailNow() // the next would begin where this one should have ended
		}
	}
}

// firstSeen pays an order and takes the time from the broadcast until its open
// page shows the money.
func (tl *till) firstSeen(o order) (sent nodes.Sent, sights <-chan sight, took time.Duration) {
	tl.t.Helper()
	sights = tl.live(o)
	tl.shows(sights, "waiting")
	began := time.Now()
	sent = tl.node.PayOutputs(o.out(0))
	took = tl.shows(sights, "seen").Sub(began)
	if took > timely {
		tl.t.Errorf("the payment was seen after %s", took)
	}
	return sent, sights, took
}

// payExact follows the page through a payment.
func payExact(tl *till) {
	o := tl.order()
	sent, sights, _ := tl.firstSeen(o)
	tl.seen(o, sent.ID, 0)
	tl.node.Mine(1)
	tl.shows(sights, "processing")
	tl.seen(o, sent.ID, 1)
	tl.node.Mine(tl.final - 1)
	tl.shows(sights, "successful")
	tl.reach(o, "successful", "")
	tl.told(o, "initiated", "detected", "processing", "successful")
}

// paySome takes the time of several first sightings.
func paySome(tl *till) {
	var times []time.Duration
	for range 5 {
		_, _, took := tl.firstSeen(tl.order())
		times = append(times, took.Round(time.Millisecond))
	}
	tl.t.Logf("%s: open pages showed payments after %v", tl.chain, times)
	tl.node.Mine(1)
}

func payUnder(tl *till) {
	o := tl.order()
	tl.node.PayOutputs(o.out(-o.due / 100))
	tl.node.Mine(tl.final)
	tl.reach(o, "processing", "") // until the window is over the rest may come
	advance(tl.t, tl.Instance, o.Reference, 8*time.Minute)
	tl.reach(o, "declined", "underpaid")
}

func payOver(tl *till) {
	o := tl.order()
	tl.node.PayOutputs(o.out(o.due / 100))
	tl.node.Mine(tl.final)
	tl.reach(o, "declined", "overpaid")
}

func payInParts(tl *till) {
	o := tl.order()
	sights := tl.live(o)
	tl.shows(sights, "waiting")
	tl.node.PayOutputs(o.out(-o.due / 2))
	tl.shows(sights, "partial")
	tl.node.PayOutputs(o.out(o.due/2 - o.due))
	tl.shows(sights, "seen")
	tl.node.Mine(tl.final)
	tl.reach(o, "successful", "")
}

func payTwice(tl *till) {
	o := tl.order()
	sent := tl.node.PayOutputs(o.out(-o.due/2), o.out(o.due/2-o.due))
	tl.node.Mine(tl.final)
	tl.reach(o, "successful", "")
	if r := tl.VerifyPayment(o.Reference); len(r.Transfers) != 2 || r.Transfers[0].Hash != sent.ID || r.Transfers[1].Hash != sent.ID {
		tl.t.Errorf("two outputs of %s are %+v", sent.ID, r.Transfers)
	}
}

// payCrumbs has strangers send a part before the customer pays, a part after, and the whole
// amount again. What the payment doesn't need is listed under Unmatched.
func payCrumbs(tl *till) {
	o := tl.order()
	tl.node.PayOutputs(nodes.Output{Address: o.address, Amount: o.due / 50})
	tl.node.Mine(1)
	tl.reach(o, "processing", "")
	tl.node.PayOutputs(o.out(0))
	tl.node.Mine(tl.final - 1)
	tl.node.PayOutputs(nodes.Output{Address: o.address, Amount: o.due / 50})
	tl.node.PayOutputs(o.out(0))
	tl.node.Mine(1)
	tl.reach(o, "successful", "")
	if r := tl.VerifyPayment(o.Reference); len(r.CountingTransfers()) != 1 || r.Transaction.AmountPaid != r.Transaction.ChargedAmount {
		tl.t.Errorf("with crumbs it was paid by %+v, %s of %s", r.Transfers, r.Transaction.AmountPaid, r.Transaction.ChargedAmount)
	}
	tl.told(o, "initiated", "detected", "processing", "detected", "detected", "detected", "successful", "unexpected_transfer", "unexpected_transfer", "unexpected_transfer")
}

func payLate(tl *till) {
	o := tl.order()
	advance(tl.t, tl.Instance, o.Reference, 8*time.Minute)
	tl.node.PayOutputs(o.out(0))
	tl.node.Mine(tl.final)
	tl.reach(o, "successful", "late")
}

func payAfterAbandoned(tl *till) {
	o := tl.order()
	advance(tl.t, tl.Instance, o.Reference, 25*time.Hour)
	tl.reach(o, "abandoned", "")
	tl.node.PayOutputs(o.out(0))
	tl.node.Mine(tl.final)
	tl.reach(o, "declined", "after_abandoned")
}

// payTogether pays several payments by one transaction, and somebody else, too.
func payTogether(tl *till) {
	orders := []order{tl.order(), tl.order(), tl.order()}
	sent := tl.node.PayOutputs(orders[0].out(0), nodes.Output{Address: tl.node.UnknownAddress(), Amount: 5_000_000}, orders[1].out(orders[1].due/100), orders[2].out(0))
	tl.node.Mine(tl.final)
	tl.reach(orders[0], "successful", "")
	tl.reach(orders[1], "declined", "overpaid")
	tl.reach(orders[2], "successful", "")
	for _, o := range orders {
		if r := tl.VerifyPayment(o.Reference); len(r.Transfers) != 1 || r.Transfers[0].Hash != sent.ID {
			tl.t.Errorf("paid by %s: %+v", sent.ID, r.Transfers)
		}
	}
}

// payAgain pays a payment that is paid: it stays, and the merchant is told.
func payAgain(tl *till) {
	o := tl.order()
	tl.node.PayOutputs(o.out(0))
	tl.node.Mine(tl.final)
	tl.reach(o, "successful", "")
	tl.node.PayOutputs(o.out(0))
	tl.told(o, "initiated", "detected", "processing", "successful", "unexpected_transfer")
	tl.node.Mine(tl.final)
	tl.reach(o, "successful", "")
}

// raiseFee replaces the transaction by one that pays all the same: the payment moves to it.
func raiseFee(tl *till) {
	o := tl.order()
	first := tl.node.PayOutputs(o.out(0))
	tl.seen(o, first.ID, 0)
	second := tl.node.BumpFee(first)
	tl.seen(o, second.ID, 0)
	if r := tl.VerifyPayment(o.Reference).Transaction; r.AmountPaid != r.ChargedAmount {
		tl.t.Errorf("paid %s of %s", r.AmountPaid, r.ChargedAmount)
	}
	tl.node.Mine(tl.final)
	tl.reach(o, "successful", "")
	tl.seen(o, second.ID, tl.final)
	tl.told(o, "initiated", "detected", "detected", "processing", "successful")
	if wrong := tl.overstated(o); len(wrong) > 0 {
		tl.t.Errorf("the merchant was told of more than came: %v", wrong)
	}
}

// unpaid waits until a payment has nothing any more, in a state.
func (tl *till) unpaid(o order, state string) {
	tl.t.Helper()
	harness.WaitFor(tl.t, time.Minute, o.Reference+" to be unpaid again", func() bool {
		r := tl.VerifyPayment(o.Reference)
		return r.Status == state && r.Transaction.AmountPaid == "0.00"
	})
}

// divert takes the money back before a block: so is the detection, and when
// the rival is final, the payment has failed.
func divert(tl *till) {
	o := tl.order()
	sent := tl.node.PayOutputs(o.out(0))
	tl.seen(o, sent.ID, 0)
	tl.node.DivertPayment(sent)
	tl.unpaid(o, "initiated")
	tl.node.Mine(tl.final - 1)
	tl.unpaid(o, "initiated") // the rival may still be undone
	tl.node.Mine(1)
	tl.reach(o, "failed", "replaced")
	tl.told(o, "initiated", "detected", "failed")
}
