package demo

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"cointill/chain"
	"cointill/core/link"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/refund"
)

// scenario is what happens to a payment.
type scenario int

const (
	exact          scenario = iota // paid in time
	twoParts                       // paid in time by two transactions
	late                           // paid after the window
	underpaid                      // too little: declined
	overpaid                       // too much: declined
	expired                        // never opened
	abandoned                      // opened, never paid
	afterAbandoned                 // paid after a day: declined
	failed                         // the transaction fails, or another one spends the same money
	surplus                        // paid twice; the second transfer is unmatched
	unmatched                      // a transfer that can't count for it, then the payment
	unconfirmed                    // no block takes the transaction
	halfPaid                       // a part is paid, and no block takes the rest
	tooLittle                      // too little, and the owner has not decided yet
	tooMuch                        // too much, and a refund waits for its approval
	dropped                        // the mempool forgets the transaction: failed
	reorged                        // a reorganisation takes the only confirmation back
	reversed                       // a reorganisation takes the money back after it was final
)

// visit is a payment under way.
type visit struct {
	*shop
	order
	reference string // of the payment
	view      payment.View
	net       *network
	sent      int // transactions
}

// startPayment initiates a payment and plans what happens to it.
func (s *shop) startPayment(o order) error {
	started, err := s.initiatePayment(o)
	if err != nil {
		return err
	}
	s.ahead--
	if s.Report != nil {
		s.Report(s.planned-s.ahead, s.planned)
	}
	v := &visit{shop: s, order: o, reference: started.Reference, net: s.networks[o.network]}
	if o.scenario == expired {
		v.schedule(payment.Window+time.Second, v.sweepPayments)
		return nil
	}
	v.schedule(o.random.drawBetween(8*time.Second, 70*time.Second), v.openPage)
	return nil
}

// initiatePayment initiates a payment by the API, or by a link.
func (s *shop) initiatePayment(o order) (payment.Started, error) {
	if o.link > 0 {
		return s.Links.StartPayment(s.ctx, s.links[o.link-1], link.Form{Amount: o.amount, FirstName: o.first,
			LastName: o.last, Email: o.email, Method: string(o.method)})
	}
	metadata, err := json.Marshal(map[string]string{"order": o.reference, "branch": o.branch,
		"till": fmt.Sprint(o.till)})
	if err != nil {
		return payment.Started{}, err
	}
	return s.Payments.Initiate(s.ctx, s.TestScope, payment.Request{Currency: o.currency, Amount: o.amount,
		FirstName: o.first, LastName: o.last, Email: o.email, Method: string(o.method), Network: string(o.network),
		BusinessReference: o.reference, Metadata: metadata})
}

// schedule runs a function some time after the payment was initiated.
func (v *visit) schedule(d time.Duration, happen func() error) { v.line.add(v.order.at.Add(d), happen) }

func (v *visit) sweepPayments() error {
	_, err := v.Payments.Sweep(v.ctx)
	return err
}

func (v *visit) readOwnNetwork() error { return v.readNetwork(v.net) }

// openPage opens the payment's page and plans what its customer does.
func (v *visit) openPage() (err error) {
	if v.view, err = v.Payments.OpenByReference(v.ctx, v.TestScope, v.reference); err != nil {
		return err
	}
	due, d := v.view.Payment.Due, v.random
	soon := d.drawBetween(100*time.Second, 5*time.Minute)
	switch v.scenario {
	case exact:
		v.pay(soon, due)
	case twoParts:
		v.pay(soon, takePercent(due, 60))
		v.pay(soon+d.drawBetween(40*time.Second, 90*time.Second), due.Sub(takePercent(due, 60)))
	case late:
		v.pay(payment.Window+d.drawBetween(3*time.Minute, 40*time.Minute), due)
	case underpaid:
		v.pay(soon, takePercent(due, int64(88+d.drawBelow(9))))
		v.decideLater()
	case overpaid:
		v.pay(soon, takePercent(due, int64(104+d.drawBelow(14))))
		v.decideLater()
	case abandoned:
		v.schedule(payment.Monitoring+time.Second, v.readOwnNetwork)
	case afterAbandoned:
		v.schedule(payment.Monitoring+time.Second, v.readOwnNetwork)
		v.pay(payment.Monitoring+d.drawBetween(time.Hour, 9*time.Hour), due)
		v.decideLater()
	case failed:
		v.payInVain(soon)
	case surplus:
		v.pay(soon, due)
		v.paySurplus(d.drawBetween(3*time.Hour, 20*time.Hour))
	case unmatched:
		v.sendUnmatched(soon)
	case unconfirmed:
		v.schedule(soon, func() error { return v.hold(due) })
	case tooLittle:
		v.pay(soon, takePercent(due, 92))
		v.schedule(payment.Window+time.Second, v.readOwnNetwork)
	case tooMuch:
		v.pay(soon, takePercent(due, 110))
		v.schedule(20*time.Hour, func() error {
			_, err := v.askRefund()
			return err
		})
	case dropped:
		v.dropLater(soon)
	case reorged:
		v.payConfirmed(soon, due)
		v.schedule(soon+20*time.Second, v.undoBlocks)
	case reversed:
		v.pay(soon, due)
		v.schedule(3*time.Hour, v.undoBlocks)
	case halfPaid:
		v.payConfirmed(soon, takePercent(due, 60))
		v.schedule(soon+30*time.Second, func() error { return v.hold(due.Sub(takePercent(due, 60))) })
	}
	return nil
}

// takePercent returns a part of an amount in percent, rounded down.
func takePercent(amount money.Amount, percent int64) money.Amount { return amount.MulDiv(percent, 100) }

// pay sends an amount some time after the payment was initiated, and has it confirmed.
func (v *visit) pay(after time.Duration, amount money.Amount) {
	v.transfer(after, v.newTx(v.newOutput(amount)))
}

// newOutput returns an amount to the payment's own destination.
func (v *visit) newOutput(amount money.Amount) chain.Output {
	to := chain.Destination{Address: v.view.Payment.Address}
	if v.view.Payment.Tag != nil {
		tag := uint32(*v.view.Payment.Tag)
		to.Tag = &tag
	}
	return chain.Output{Asset: v.view.Payment.Coin, Destination: to, Amount: amount}
}

// newTx returns a transaction whose input no other one spends.
func (v *visit) newTx(output chain.Output) chain.Tx {
	v.sent++
	return chain.Tx{Outputs: []chain.Output{output}, Spends: []string{fmt.Sprintf("demo-%s-%d", v.reference, v.sent)}}
}

// pace is how a network confirms: the time to the first block that takes a transaction, and from
// there until the transaction is final.
type pace struct{ first, final [2]time.Duration }

var paces = map[money.Chain]pace{
	money.Bitcoin:  newPace(90*time.Second, 14*time.Minute, 10*time.Minute, 25*time.Minute),
	money.Ethereum: newPace(6*time.Second, 20*time.Second, 150*time.Second, 5*time.Minute),
	money.XRPL:     newPace(2*time.Second, 5*time.Second, 0, 0),
	money.Dogecoin: newPace(20*time.Second, 90*time.Second, 25*time.Minute, 45*time.Minute),
}

// findPace returns how a network confirms. Those without a pace of their own have fast blocks.
func findPace(code money.Chain) pace {
	if p, known := paces[code]; known {
		return p
	}
	facts, _ := money.FindNetworkFacts(code)
	usual := facts.UsualTime(false)
	return newPace(time.Second, 5*time.Second, usual, 2*usual)
}

// newPace makes a pace of the least and the most of both times.
func newPace(leastFirst, mostFirst, leastFinal, mostFinal time.Duration) pace {
	return pace{[2]time.Duration{leastFirst, mostFirst}, [2]time.Duration{leastFinal, mostFinal}}
}

// detailed is how long ago payments are followed by each step of the network: seen, confirmed,
// final. Older ones are mined soon, and read once, when they are final. That takes half of the time.
const detailed = 2 * 24 * time.Hour

// soonest is how long an older transaction waits at most for its first block: it must be within
// the window, because nothing else tells when it was seen.
const soonest = 90 * time.Second

// transfer broadcasts a transaction and has it confirmed.
func (v *visit) transfer(after time.Duration, tx chain.Tx) {
	p := findPace(v.network)
	each := v.until.Sub(v.order.at) < detailed
	wait := v.random.drawBetween(p.first[0], p.first[1])
	mined := after + wait
	final := mined + v.random.drawBetween(p.final[0], p.final[1])
	if !each {
		mined = after + min(wait, soonest)
	}
	v.schedule(after, func() error {
		if _, err := v.net.ApplyMoves(v.ctx, chain.Move{Kind: chain.MoveBroadcast, Tx: &tx}); err != nil || !each {
			return err
		}
		return v.readOwnNetwork()
	})
	rest := v.countBlocks() - 1
	v.schedule(mined, func() error {
		if !each && rest > 0 {
			_, err := v.net.Mine(v.ctx, 1)
			return err
		}
		return v.mineBlocks(v.net, 1)
	})
	if rest > 0 {
		v.schedule(final, func() error { return v.mineBlocks(v.net, rest) })
	}
}

// countBlocks returns how many blocks make a transaction of the payment final.
func (v *visit) countBlocks() int {
	blocks := v.view.Payment.FinalDepth
	if facts, known := money.FindNetworkFacts(v.network); known && v.view.Payment.FinalByNetwork {
		blocks = max(blocks, facts.Finality.Depth+1) // the simulated network finalizes a block that much later
	}
	return blocks
}

// payInVain sends a transaction that moves nothing in the end: it fails where the network records
// that, and otherwise another one spends the same money.
func (v *visit) payInVain(after time.Duration) {
	tx := v.newTx(v.newOutput(v.view.Payment.Due))
	if v.network != money.Bitcoin && v.network != money.Dogecoin {
		tx.Reverted = true
		v.transfer(after, tx)
		return
	}
	v.schedule(after, func() error { return v.broadcastHeld(tx) })
	rival := chain.Tx{Outputs: []chain.Output{{Asset: v.view.Payment.Coin,
		Destination: chain.Destination{Address: "demo-elsewhere"}, Amount: v.view.Payment.Due}}, Spends: tx.Spends}
	v.schedule(after+8*time.Minute, func() error {
		_, err := v.net.ApplyMoves(v.ctx, chain.Move{Kind: chain.MoveDrop, TxIDs: []string{tx.ID(v.net.Network.Network())}},
			chain.Move{Kind: chain.MoveBroadcast, Tx: &rival})
		if err != nil {
			return err
		}
		return v.mineBlocks(v.net, v.countBlocks())
	})
}

// hold sends an amount by a transaction that no block takes.
func (v *visit) hold(amount money.Amount) error { return v.broadcastHeld(v.newTx(v.newOutput(amount))) }

func (v *visit) broadcastHeld(tx chain.Tx) error {
	return v.applyMove(chain.Move{Kind: chain.MoveBroadcast, Tx: &tx, Held: true})
}

// dropLater sends a transaction that no block takes, and that the mempool forgets after some hours.
func (v *visit) dropLater(after time.Duration) {
	tx := v.newTx(v.newOutput(v.view.Payment.Due))
	v.schedule(after, func() error { return v.broadcastHeld(tx) })
	v.schedule(after+5*time.Hour, func() error {
		return v.applyMove(chain.Move{Kind: chain.MoveDrop, TxIDs: []string{tx.ID(v.net.Network.Network())}})
	})
	v.schedule(payment.Monitoring+time.Second, v.readOwnNetwork)
}

// payConfirmed sends an amount, and has a block take it at once.
func (v *visit) payConfirmed(after time.Duration, amount money.Amount) {
	tx := v.newTx(v.newOutput(amount))
	v.schedule(after, func() error {
		if _, err := v.net.ApplyMoves(v.ctx, chain.Move{Kind: chain.MoveBroadcast, Tx: &tx}); err != nil {
			return err
		}
		return v.mineBlocks(v.net, 1)
	})
}

// undoBlocks takes the payment's transactions out of their blocks. They wait in the mempool, and no block takes them.
func (v *visit) undoBlocks() error {
	now, err := v.Payments.Verify(v.ctx, v.TestScope, v.reference)
	if err != nil {
		return err
	}
	var txids []string
	for _, t := range now.Transfers {
		txids = append(txids, t.TxID)
	}
	return v.applyMove(chain.Move{Kind: chain.MoveReorg, Depth: 1, TxIDs: txids, Held: true}) // deeper where they are
}

// applyMove changes the payment's network and has it read.
func (v *visit) applyMove(move chain.Move) error {
	if _, err := v.net.ApplyMoves(v.ctx, move); err != nil {
		return err
	}
	return v.readOwnNetwork()
}

// paySurplus sends a tenth again after the payment was successful: it is unmatched.
func (v *visit) paySurplus(after time.Duration) {
	v.pay(after, takePercent(v.view.Payment.Due, 10))
	v.atWork(2, func() error { return v.returnUnmatched(1) })
}

// sendUnmatched sends a transfer that can't count for the payment, and then pays it: XRP without the tag,
// another asset to an address of Ethereum's kind or Tron's. Other coins are paid twice.
func (v *visit) sendUnmatched(after time.Duration) {
	output := v.newOutput(v.view.Payment.Due)
	switch money.Coin(v.view.Payment.Coin) {
	case money.XRP:
		output.Tag = nil
	case money.ETH, money.USDT:
		// It has as many decimals as USDT.
		output.Asset, output.Amount = "FAKE-USDT", money.Units(int64(1_000_000*(10+v.random.drawBelow(90))))
	default:
		v.pay(after, v.view.Payment.Due)
		v.paySurplus(v.random.drawBetween(time.Hour, 9*time.Hour))
		return
	}
	v.transfer(after, v.newTx(output))
	v.pay(payment.Window-20*time.Second, v.view.Payment.Due)
}

// decided is how long ago the shop has dealt with declined payments: newer ones wait.
const decided = 4 * 24 * time.Hour

// atWork has something happen in the owner's working hours, some days after the payment.
func (v *visit) atWork(days int, happen func() error) {
	midnight := v.order.at.AddDate(0, 0, days).Truncate(24 * time.Hour)
	v.line.add(midnight.Add(v.random.drawBetween(8*time.Hour, 15*time.Hour)), happen)
}

// decideLater has the owner decide about the payment on a later day: the amount is accepted, or
// sent back.
func (v *visit) decideLater() {
	v.schedule(payment.Window+time.Second, v.readOwnNetwork) // the end of the window decides about too little
	if v.until.Sub(v.order.at) < decided {
		return
	}
	v.atWork(3, v.decide)
}

// decide accepts the amount received, or sends it back: by a send that Cointill prepares, or by a
// refund that is only recorded.
func (v *visit) decide() error {
	now, err := v.Payments.Verify(v.ctx, v.TestScope, v.reference)
	if err != nil || now.State() != payment.Declined {
		return err
	}
	reason := payment.Reason(now.Payment.Reason)
	v.decisions[reason]++
	switch n := v.decisions[reason]; {
	case n%3 == 1 && reason == payment.Underpaid:
		return v.Resolver.Resolve(v.ctx, v.Owner, v.reference)
	case n%3 != 0:
		return v.refundBySend()
	}
	_, err = v.Resolver.RecordRefund(v.ctx, v.Owner, v.reference, refund.Report{
		Amount: now.Coin().Format(now.Payment.Paid), TxID: v.newHash()})
	return err
}

// newHash returns the hash of a transaction that is only named.
func (v *visit) newHash() string {
	v.sent++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", v.reference, v.sent))
	return hex.EncodeToString(sum[:])
}

// returnUnmatched records that transfers that came to the payment beside it were sent back.
func (v *visit) returnUnmatched(most int) error {
	if v.until.Sub(v.order.at) < decided {
		return nil
	}
	transfers, err := v.Resolver.ListUnmatchedOf(v.ctx, v.Owner, v.view.Payment.ID)
	for _, t := range transfers[:min(most, len(transfers))] {
		if t.Resolved == nil {
			err = cmp.Or(err, v.Resolver.MarkRefunded(v.ctx, v.Owner, t.ID, refund.Report{TxID: v.newHash()}))
		}
	}
	return err
}
