package sandbox

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"cointill/chain"
	"cointill/core/ident"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/place"
)

const (
	// glance is how long a state stays visible before the next change: some polls of
	// a follower.
	glance = 2500 * time.Millisecond
	// past is how far beyond a deadline a clock is moved.
	past = time.Minute
	// elsewhere is the unwatched address that a double spend sends the money to.
	elsewhere = "sandbox-elsewhere"
	// memory is how many blocks a mempool keeps a transaction that no block takes.
	memory = 30
	// maxReorg is how many blocks a reorganisation may undo.
	maxReorg = 1000
)

// act is a scenario being prepared for one payment: nothing has happened yet.
type act struct {
	view     payment.View
	chain    Chain
	moves    []chain.Move
	whenSeen bool // the clock moves when the transfer is seen, not at once
	done     Simulated
}

// amountOwed returns the unpaid amount, or the whole amount for a payment that has ended or is paid.
func amountOwed(v payment.View) money.Amount {
	rest := v.Rest()
	if rest.Sign() == 0 || phaseOf(v) == ended {
		return v.Payment.Due
	}
	return rest
}

// heldDepth returns how many of the last blocks hold the payment's money, and in which transactions.
func heldDepth(v payment.View) (depth int64, txids []string) {
	for _, t := range v.Transfers {
		if n := v.Confirmations(t); n > 0 && !slices.Contains(txids, t.TxID) {
			depth, txids = max(depth, n), append(txids, t.TxID)
		}
	}
	return depth, txids
}

// newOutput returns value to the payment's own destination.
func (a *act) newOutput(amount money.Amount) chain.Output {
	to := chain.Destination{Address: a.view.Payment.Address}
	if tag := a.view.Payment.Tag; tag != nil {
		number := uint32(*tag)
		to.Tag = &number
	}
	return chain.Output{Asset: string(a.view.Coin()), Destination: to, Amount: amount}
}

// newTransaction makes a transaction whose inputs no other one spends.
func newTransaction(output chain.Output) chain.Tx {
	return chain.Tx{Outputs: []chain.Output{output}, Spends: []string{"sandbox-" + ident.RandomText(26)}}
}

// sendLater broadcasts a transaction some blocks from now and notes it for the answer.
func (a *act) sendLater(tx chain.Tx, after int64, held bool, note string) (txid string) {
	txid = tx.ID(a.chain.Network())
	a.moves = append(a.moves, chain.Move{After: after, Kind: chain.MoveBroadcast, Tx: &tx, Held: held})
	output := tx.Outputs[0]
	shown := Transaction{Hash: txid, Amount: output.Amount.String(), Asset: output.Asset, Note: note}
	if coin := money.Coin(output.Asset); coin.Info().Coin != "" {
		shown.Amount = coin.Format(output.Amount)
	} else if info := a.view.Coin().Info(); info.Coin != "" {
		shown.Amount = output.Amount.Format(info.Unit, info.Display) // a fake token has the decimals of the real one
	}
	a.done.Transactions = append(a.done.Transactions, shown)
	return txid
}

// payNow sends an amount of the coin now, to be in the next block.
func (a *act) payNow(amount money.Amount) {
	a.sendLater(newTransaction(a.newOutput(amount)), 0, false, "Sent now; the next block takes it.")
}

// countBlocks returns how many blocks take at least a duration.
func (a *act) countBlocks(d time.Duration) int64 {
	return max(1, int64((d+a.chain.Interval()-1)/a.chain.Interval()))
}

// describeFinal returns the facts of how long it takes until a block that comes after some others is final.
func (a *act) describeFinal(before int64) []string {
	depth := int64(a.view.Payment.FinalDepth)
	if a.view.Payment.FinalByNetwork {
		depth++ // and the network's own word
	}
	wait := time.Duration(before+depth) * a.chain.Interval()
	return []string{"Depth", strconv.Itoa(a.view.Payment.FinalDepth),
		"Seconds", strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10)}
}

// describeOutcome sets the next step of a payment that succeeds, fails, or has ended. The money of one that waits is
// final with a block that comes after before others.
func (a *act) describeOutcome(code string, before int64) {
	switch {
	case phaseOf(a.view) == ended:
		a.done.Next = newNext("ended", "State", string(a.view.State()))
	case phaseOf(a.view) == abandoned:
		a.done.Next = newNext("abandoned", a.describeFinal(1)...)
	default:
		a.done.Next = newNext(code, a.describeFinal(before)...)
	}
}

func (a *act) payExact() error {
	a.payNow(amountOwed(a.view))
	code := Exact
	if a.view.Now.After(a.view.Payment.ExpiresAt) {
		code = a.chooseLate("exact.late_accepted", "exact.late_declined")
	}
	a.describeOutcome(code, 1)
	return nil
}

// chooseLate returns the code for how the business's policy ends a late payment.
func (a *act) chooseLate(accepted, declined string) string {
	if a.view.Payment.LatePayments == "decline" {
		return declined
	}
	return accepted
}

// payTooLittle also closes the window once the money was seen: until then the
// customer could pay the rest, and nothing would be decided.
func (a *act) payTooLittle() error {
	a.payNow(a.view.Payment.Due.MulDiv(90, 100))
	if phaseOf(a.view) != ended && !a.view.Now.After(a.view.Payment.ExpiresAt) {
		a.done.Advanced, a.whenSeen = a.view.Payment.ExpiresAt.Sub(a.view.Now)+past, true
	}
	a.describeOutcome(Underpay, 1)
	return nil
}

func (a *act) payTooMuch() error {
	due := a.view.Payment.Due
	amount := due.MulDiv(110, 100)
	if amount.Cmp(due) <= 0 {
		amount = due.Add(money.Units(1))
	}
	a.payNow(amount)
	a.describeOutcome(Overpay, 1)
	return nil
}

func (a *act) payTwoParts() error {
	all := amountOwed(a.view)
	first := all.MulDiv(60, 100)
	a.payNow(first)
	a.sendLater(newTransaction(a.newOutput(all.Sub(first))), 1, false,
		"Sent when the first part is in a block; the block after takes it.")
	a.describeOutcome(TwoParts, 2)
	return nil
}

func (a *act) paySurplus() error {
	a.payNow(amountOwed(a.view))
	a.sendLater(newTransaction(a.newOutput(a.view.Payment.Due.MulDiv(10, 100))), 0, false,
		"Sent now by someone else; the next block takes it.")
	a.describeOutcome(Surplus, 1)
	return nil
}

func (a *act) payLate() error {
	p := a.view.Payment
	if !a.view.Now.After(p.ExpiresAt) {
		a.done.Advanced = p.ExpiresAt.Sub(a.view.Now) + past
	}
	a.payNow(amountOwed(a.view))
	a.done.Next = newNext(a.chooseLate("late.accepted", "late.declined"), a.describeFinal(1)...)
	return nil
}

func (a *act) payAfterAbandoned() error {
	p := a.view.Payment
	if phaseOf(a.view) != abandoned && !a.view.Now.After(p.AbandonsAt) {
		a.done.Advanced = p.AbandonsAt.Sub(a.view.Now) + past
	}
	a.payNow(amountOwed(a.view))
	a.done.Next = newNext(AfterAbandoned, a.describeFinal(1)...)
	return nil
}

// doubleSpend holds the payment back until it was seen, then lets its rival in.
func (a *act) doubleSpend() error {
	tx := newTransaction(a.newOutput(amountOwed(a.view)))
	txid := a.sendLater(tx, 0, true, "Sent now; no block takes it.")
	rival := chain.Tx{Outputs: []chain.Output{{Asset: tx.Outputs[0].Asset,
		Destination: chain.Destination{Address: elsewhere}, Amount: tx.Outputs[0].Amount}}, Spends: tx.Spends}
	after := a.countBlocks(glance) + 1 // the first block may come at once
	a.moves = append(a.moves, chain.Move{After: after, Kind: chain.MoveDrop, TxIDs: []string{txid}})
	a.sendLater(rival, after, false, fmt.Sprintf("Spends the same money elsewhere, %d blocks from now.", after))
	a.done.Next = newNext(DoubleSpend, a.describeFinal(after+1)...)
	return nil
}

// reorganise takes the transaction out of the chain while it is confirmed but not final, keeps it
// out for a while, and puts it back. A final one stays out until the scenario is played again.
func (a *act) reorganise() error {
	switch {
	case a.done.Scenario.reversesFinal(a.view):
		return a.reverseFinal()
	case a.done.Scenario.restoresFinal(a.view):
		return a.restoreFinal()
	}
	room := int64(a.view.Payment.FinalDepth) - 1 // at least one
	tx := newTransaction(a.newOutput(amountOwed(a.view)))
	txid := a.sendLater(tx, 0, false,
		"Sent now; it confirms, leaves the chain with a reorganisation, and confirms again.")
	shown := min(a.countBlocks(glance), room)
	undone := 1 + shown // its own block, and those on it
	back := undone + a.countBlocks(glance)
	a.moves = append(a.moves,
		chain.Move{After: undone, Kind: chain.MoveReorg, Depth: int(undone), TxIDs: []string{txid}},
		chain.Move{After: undone, Kind: chain.MoveBroadcast, Tx: &tx, Held: true},
		chain.Move{After: back, Kind: chain.MoveRelease, TxIDs: []string{txid}})
	a.done.Next = newNext(Reorg, append(a.describeFinal(back+1), "Undone", strconv.FormatInt(undone, 10),
		"Back", strconv.FormatInt(back+1-undone, 10))...)
	return nil
}

// reverseFinal mines the blocks with the payment's money again without it. The other
// transactions of these blocks stay at their heights. The money waits in the mempool.
func (a *act) reverseFinal() error {
	depth, txids := heldDepth(a.view)
	a.moves = append(a.moves, chain.Move{Kind: chain.MoveReorg, Depth: int(depth), TxIDs: txids, Held: true})
	coin := a.view.Coin()
	for _, t := range a.view.Transfers {
		if slices.Contains(txids, t.TxID) {
			a.done.Transactions = append(a.done.Transactions, Transaction{Hash: t.TxID, Amount: coin.Format(t.Amount),
				Asset: t.Asset,
				Note:  fmt.Sprintf("Taken out of the chain; the last %d blocks are mined again without it.", depth)})
		}
	}
	a.done.Next = newNext("reorg.reversed")
	return nil
}

// restoreFinal puts money back on the chain that a reorganisation took from it: the next block holds it.
func (a *act) restoreFinal() error {
	coin := a.view.Coin()
	var txids []string
	for _, t := range heldTransfers(a.view) {
		txids = append(txids, t.TxID)
		a.done.Transactions = append(a.done.Transactions, Transaction{Hash: t.TxID, Amount: coin.Format(t.Amount),
			Asset: t.Asset, Note: "The next block takes it again."})
	}
	a.moves = append(a.moves, chain.Move{Kind: chain.MoveRelease, TxIDs: txids})
	a.done.Next = newNext("reorg.restored", a.describeFinal(1)...)
	return nil
}

// neverConfirms leaves the transaction in the mempool for a while.
func (a *act) neverConfirms() error {
	tx := newTransaction(a.newOutput(amountOwed(a.view)))
	if a.view.Coin() == money.XRP {
		a.sendLater(tx, 0, true, "Sent now; no ledger ever takes it.")
		a.done.Next = newNext("never_confirms.ledger")
		return nil
	}
	seconds := strconv.FormatInt(int64(memory*a.chain.Interval()/time.Second), 10)
	txid := a.sendLater(tx, 0, true, fmt.Sprintf("Sent now; no block ever takes it, and %d blocks from now, in about "+
		"%s s, the mempool forgets it.", memory, seconds))
	a.moves = append(a.moves, chain.Move{After: memory, Kind: chain.MoveDrop, TxIDs: []string{txid}})
	code := NeverConfirms
	if a.view.Payment.Paid.Sign() > 0 {
		code = "never_confirms.partly"
	}
	a.done.Next = newNext(code, "Blocks", strconv.Itoa(memory), "Seconds", seconds)
	return nil
}

func (a *act) payReverted() error {
	tx := newTransaction(a.newOutput(amountOwed(a.view)))
	tx.Reverted = true
	a.sendLater(tx, 0, false, "Sent now; the next block records it as failed.")
	a.done.Next = newNext(Revert, a.describeFinal(1)...)
	return nil
}

func (a *act) missingTag() error {
	output := a.newOutput(amountOwed(a.view))
	output.Tag = nil
	a.sendLater(newTransaction(output), 0, false, "Sent now without a destination tag; the next ledger takes it.")
	a.done.Next = newNext(MissingTag)
	return nil
}

func (a *act) wrongAsset() error {
	output := a.newOutput(amountOwed(a.view))
	output.Asset = "FAKE-" + string(a.view.Coin()) // a token, or an issued currency, that imitates the coin
	if a.view.Coin() == money.ETH {
		output.Asset, output.Amount = string(money.USDT), money.Units(25_000_000)
	}
	a.sendLater(newTransaction(output), 0, false, "Sent now; the next block takes it.")
	a.done.Next = newNext(WrongAsset)
	return nil
}

// wrongNetwork pays on the chain of another network, which has the same address.
func (a *act) wrongNetwork() error {
	output, name := a.newOutput(amountOwed(a.view)), place.NameNetwork(a.view.Coin(), string(a.chain.Network()))
	a.sendLater(newTransaction(output), 0, false, "Sent now on "+name+"; its next block takes it.")
	code := WrongNetwork
	if phaseOf(a.view) == abandoned {
		code = "wrong_network.abandoned"
	}
	a.done.Next = newNext(code, "Network", name)
	return nil
}
