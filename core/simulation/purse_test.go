package simulation_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"cointill/chain"
	bitcoin "cointill/chain/bitcoin/params"
	ethereum "cointill/chain/ethereum/params"
	tron "cointill/chain/tron/params"
	xrpl "cointill/chain/xrpl/params"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/send"
	"cointill/core/send/payer"
)

// address is a fresh one of the network, that belongs to no business here.
func (n *network) address() string {
	n.addresses++
	sum := sha256.Sum256(fmt.Append(nil, n.seed, n.kind, n.addresses))
	hash := sum[:20]
	switch n.home {
	case money.Ethereum:
		return ethereum.Address(hash).String()
	case money.Tron:
		return tron.Address(hash).String()
	case money.XRPL:
		return xrpl.Account(hash).String()
	}
	net, _ := bitcoin.Lookup(n.kind, "regtest")
	if n.kind == money.Bitcoin {
		return net.Address(append([]byte{0, 20}, hash...))
	}
	return net.Address(slices.Concat([]byte{0x76, 0xa9, 20}, hash, []byte{0x88, 0xac}))
}

// plan is what happens after the send was asked for.
func (o *order) plan() {
	add := func(after time.Duration, do func(r *replica) bool) { o.acts = append(o.acts, act{after, do}) }
	does := func(after time.Duration, do func()) { add(after, func(*replica) bool { do(); return true }) }
	minutes := func(n int) time.Duration { return time.Duration(o.rng.IntN(n)) * time.Minute }
	switch o.plot {
	case "unapproved":
		return
	case "rejected":
		add(0, o.reject)
		return
	case "claimed":
		if o.request.Address == "" {
			add(0, o.claim)
		}
	case "tampered":
		o.planTampered()
		return
	}
	add(0, o.agree)
	add(0, o.hand)
	switch o.plot {
	case "never":
		return
	case "late":
		add(0, o.expire)
	case "withdrawn":
		add(0, o.withdraw)
		if o.rng.IntN(3) == 0 {
			return
		}
	case "imitated":
		if o.rng.IntN(2) == 0 {
			does(0, o.imitate)
		}
	case "imitated only":
		does(0, o.imitate)
		does(minutes(60), o.imitate)
		return
	case "wrong amount":
		does(0, o.signWrong)
		if o.rng.IntN(2) == 0 {
			return
		}
	}
	add(minutes(10), o.sign)
	later := 7*time.Hour + minutes(600)
	switch o.plot {
	case "twice":
		add(minutes(90), o.sign)
	case "imitated":
		does(minutes(30), o.imitate)
	case "fee bump":
		does(0, o.hold)
		does(minutes(20), func() { o.replace(o.output(o.amount)) })
	case "other bump":
		does(0, o.hold)
		does(minutes(20), func() { o.replace(o.output(o.amount.MulDiv(9, 10))) })
		add(later, o.look)
	case "double spend":
		does(minutes(10), func() {
			out := o.output(o.amount)
			out.Destination = chain.Destination{Address: "elsewhere"}
			o.replace(out)
		})
		add(later, o.look)
	case "revert":
		add(later, o.look)
	case "stuck":
		does(0, o.hold)
		does(minutes(900), func() { o.release(o.rng.IntN(2) == 0) })
		add(later, o.look)
	case "returns":
		does(0, o.hold)
		does(minutes(60), func() { o.release(true) })
		if o.rng.IntN(2) == 0 {
			add(later, o.look)
		}
		does(minutes(600), o.rebroadcast)
	case "undone":
		does(minutes(20), o.undo)
		add(later, o.look)
	}
}

// planTampered is an intruder with access to the database, who changes a send before or after it is approved, and
// may put it back.
func (o *order) planTampered() {
	add := func(do func(r *replica) bool) { o.acts = append(o.acts, act{0, do}) }
	restore := func(*replica) {}
	tamper := func(r *replica) bool { restore = o.tamper(r); return true }
	if o.rng.IntN(2) == 0 { // one has agreed at least, where one must
		add(func(r *replica) bool {
			return o.read(r).State() != send.AwaitingApproval || o.agree(r) || len(o.agreed) > 0
		})
		add(tamper)
	}
	add(o.agree)
	if len(o.acts) == 1 {
		add(tamper)
	}
	add(o.hand)
	if o.rng.IntN(2) == 0 {
		add(func(r *replica) bool {
			if o.place.Address == "" { // otherwise people agreed to what the intruder made of it
				restore(r)
			}
			return true
		})
		add(o.hand)
	}
	add(o.sign)
}

// hand asks for what the wallet is to sign.
func (o *order) hand(r *replica) bool {
	var v send.View
	err := o.guarded(r, fmt.Sprintf("hands send %d to the wallet", o.number), func() (err error) {
		v, err = r.Sends.Approvals.StartSigning(o.t.Context(), o.shop.people[0].Scope, o.code)
		return err
	})
	switch {
	case fault.KindOf(err) == fault.Conflict:
		if o.count("signing is refused"); codeOf(err) == "send_changed" && !o.tampered {
			o.find("invariant 32: send %d counts as changed, and nobody changed it", o.number)
		}
		o.acts = slices.DeleteFunc(o.acts, func(act) bool { return !o.tampered }) // the intruder may put it back
		return true
	case err != nil:
		return false
	}
	told := describeSend(v.Send) + " " + v.Send.Amount.String()
	if told != o.ready {
		o.find("invariant 32: send %d is to be signed as %q, and was approved as %q", o.number, told, o.ready)
	}
	if n := o.agreeing(describeSend(v.Send)); n < o.need || o.need == 0 && describeSend(v.Send) != o.content {
		o.find("invariant 32: send %d is to be signed as %q, to which %d of %d people agreed", o.number, told, n,
			o.need)
	}
	o.place, o.amount, o.depth = chain.Destination{Address: v.Send.Address}, v.Send.Amount, int64(v.Send.FinalDepth)
	if v.Send.FinalByNetwork {
		o.depth = o.nets[o.coin.Chain].large
	}
	if v.Send.Tag != nil {
		tag := uint32(*v.Send.Tag)
		o.place.Tag = &tag
	}
	return true
}

// output is an amount to the send's destination.
func (o *order) output(amount money.Amount) chain.Output {
	return chain.Output{Asset: string(o.coin.Coin), Destination: o.place, Amount: amount}
}

// spendKey is fresh money of the business's own wallet.
func (o *order) spendKey() string {
	return payer.SandboxAccount(o.shop.id, "test") + ":" + o.nets[o.coin.Chain].coin()
}

// broadcast sends a transaction of the business's wallet.
func (o *order) broadcast(tx chain.Tx) *coinTx {
	t := o.nets[o.coin.Chain].broadcast(tx, false)
	o.txs = append(o.txs, t)
	o.say("the wallet of send %d sends %s of %s", o.number, tx.Outputs[0].Amount, o.amount)
	return t
}

// sign is the wallet that signs and sends its transaction, sometimes together with another send.
func (o *order) sign(*replica) bool {
	if o.place.Address == "" {
		return true // it was given nothing
	}
	tx := chain.Tx{Outputs: []chain.Output{o.output(o.amount)}, Spends: []string{o.spendKey()}}
	tx.Reverted = o.plot == "revert" && len(o.txs) == 0
	if o.plot == "twice at once" {
		tx.Outputs = append(tx.Outputs, tx.Outputs[0])
	}
	var also *order
	if o.rng.IntN(3) == 0 {
		also = o.together()
	}
	if also != nil {
		tx.Outputs = append(tx.Outputs, also.output(also.amount))
		o.count("a transaction pays several sends")
	}
	var left []chain.Departure
	if o.rng.IntN(3) == 0 {
		left = o.fund()
	}
	t := o.broadcast(tx)
	t.left = left
	if also != nil {
		also.txs, also.acts = append(also.txs, t), nil
	}
	return true
}

// together is another send that the same wallet has to sign.
func (o *order) together() *order {
	for _, other := range o.orders {
		if other != o && other.shop == o.shop && other.coin.Chain == o.coin.Chain && other.plot == "exact" &&
			other.place.Address != "" && len(other.txs) == 0 && len(other.acts) > 0 {
			return other
		}
	}
	return nil
}

// signWrong is a wallet that sends another amount, or to another tag.
func (o *order) signWrong() {
	if o.place.Address == "" {
		return
	}
	out := o.output(o.amount)
	switch dice := o.rng.IntN(4); {
	case dice == 0 && o.coin.Coin == money.XRP:
		tag := uint32(7)
		if out.Tag != nil {
			tag = *out.Tag ^ 1
		}
		out.Tag = &tag
	case dice == 1:
		out.Amount = o.amount.Add(money.Units(1))
	case dice == 2:
		out.Amount = o.amount.MulDiv(99, 100)
	default:
		out.Amount = o.amount.Sub(money.Units(1))
	}
	o.broadcast(chain.Tx{Outputs: []chain.Output{out}, Spends: []string{o.spendKey()}})
}

// hold keeps the wallet's last transaction out of blocks, if none has it yet.
func (o *order) hold() {
	if len(o.txs) == 0 {
		return
	}
	last := o.txs[len(o.txs)-1]
	last.held = len(last.Outputs) == 1 && o.nets[o.coin.Chain].where(last) == nil // others' money waits for nothing
}

// release lets blocks take the wallet's last transaction, or has the network forget it.
func (o *order) release(drop bool) {
	if len(o.txs) == 0 {
		return
	}
	last := o.txs[len(o.txs)-1]
	if last.held = false; drop {
		o.nets[o.coin.Chain].drop(last)
	}
}

// rebroadcast sends the wallet's first transaction again, which the network had forgotten.
func (o *order) rebroadcast() {
	if len(o.txs) > 0 && o.nets[o.coin.Chain].revive(o.txs[0]) {
		o.count("a forgotten transaction is seen again")
		o.say("the wallet of send %d sends its transaction again", o.number)
	}
}

// replace sends another transaction with the money of the last one, if that still waits.
func (o *order) replace(out chain.Output) {
	if len(o.txs) == 0 {
		return
	}
	n, last := o.nets[o.coin.Chain], o.txs[len(o.txs)-1]
	if !n.isSpent(last) && len(last.Outputs) == 1 {
		o.broadcast(chain.Tx{Outputs: []chain.Output{out}, Spends: append([]string{o.spendKey()}, last.Spends...)})
	}
}

// undo has the network reorganised just below the wallet's last transaction.
func (o *order) undo() {
	n := o.nets[o.coin.Chain]
	if len(o.txs) == 0 {
		return
	}
	n.mine(true)
	if o.rng.IntN(2) == 0 {
		for range o.depth {
			n.mine(true)
		}
	}
	if o.rng.IntN(4) > 0 {
		o.world.follow(o.replicas[0], n.kind)
	}
	if b := n.where(o.txs[len(o.txs)-1]); b != nil {
		n.reorg(int(n.now.tip().Height-b.Height) + 1)
	}
	for range o.rng.Int64N(2 * o.depth) {
		n.mine(false)
	}
}

// imitate is a stranger who pays the same amount to the same destination.
func (o *order) imitate() {
	n := o.nets[o.coin.Chain]
	if o.place.Address == "" {
		return
	}
	from := n.coin()
	if o.rng.IntN(2) == 0 { // the other business, which has no such send
		for _, s := range o.shops {
			if s != o.shop {
				from = payer.SandboxAccount(s.id, "test") + ":" + from
			}
		}
	}
	n.broadcast(chain.Tx{Outputs: []chain.Output{o.output(o.amount)}, Spends: []string{from}}, false)
	o.count("an imitator pays")
	o.say("an imitator pays send %d", o.number)
}

// expire lets the time to sign pass: of a send in fiat by waiting, of another one by its own clock.
func (o *order) expire(r *replica) bool {
	v := o.read(r)
	if v.State() != send.Ready {
		return true
	}
	if !v.Now.Before(v.Send.ExpiresAt) {
		o.sweepSends(o.replicas[r.number])
		return o.read(r).State() != send.Ready
	}
	if v.Send.Rate == send.RateToday {
		o.acts = append([]act{{v.Send.ExpiresAt.Sub(v.Now), o.expire}}, o.acts...)
		return true
	}
	_ = o.guarded(r, fmt.Sprintf("moves the clock of send %d", o.number), func() error {
		return r.Sends.AdvanceClock(o.t.Context(), o.shop.people[0].Scope, o.code,
			v.Send.ExpiresAt.Sub(v.Now)+time.Second)
	})
	return false // the next look says whether it was moved
}
