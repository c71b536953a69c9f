package simulation_test

import (
	"fmt"
	"path"
	"slices"
	"time"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/choice"
	"cointill/models"
)

// furtherNetworks is how many networks a world has beside the first one of each coin.
const furtherNetworks = 2

// drawNetworks returns the first network of each coin, and some further ones of the registry that the seed draws.
func (w *world) drawNetworks() []money.Chain {
	further := slices.DeleteFunc(money.ListNetworks(), func(code money.Chain) bool {
		return slices.Contains(money.Chains(), code)
	})
	w.rng.Shuffle(len(further), func(i, j int) { further[i], further[j] = further[j], further[i] })
	further = further[:furtherNetworks]
	for _, code := range further {
		w.count("the world has " + string(code))
	}
	return append(money.Chains(), further...)
}

// listNetworks lists the networks of a coin in this world, its first one first.
func (w *world) listNetworks(coin money.CoinInfo) (list []*network) {
	for _, code := range coin.Chains() {
		if n := w.nets[code]; n != nil {
			list = append(list, n)
		}
	}
	return list
}

// listSeveral lists the coins that have several networks in this world.
func (w *world) listSeveral() []money.CoinInfo {
	return slices.DeleteFunc(money.Coins(), func(c money.CoinInfo) bool { return len(w.listNetworks(c)) < 2 })
}

// usage is a network of a coin.
type usage struct {
	coin money.Coin
	code money.Chain
}

// findActivity is whether a business takes a coin on a network.
func (s *shop) findActivity(coin money.Coin, code money.Chain) *activity {
	return s.networks[usage{coin, code}]
}

// setNetworks has a business that signs up switch some further networks on, and preselect some.
func (w *world) setNetworks(r *replica, s *shop) {
	s.networks = map[usage]*activity{}
	for _, coin := range money.Coins() {
		for _, n := range w.listNetworks(coin) {
			on := n.kind == coin.Chain
			if !on && w.rng.IntN(3) > 0 {
				on = true
				w.must(r.Accounts.SetNetwork(w.t.Context(), s.scope, coin.Method, n.kind, true))
			}
			if on && w.rng.IntN(2) == 0 { // mostly a further one
				w.must(r.Accounts.PreselectNetwork(w.t.Context(), s.scope, coin.Method, n.kind))
			}
			s.networks[usage{coin.Coin, n.kind}] = &activity{active: on, since: w.clock.Now()}
		}
	}
}

// switchNetwork is a merchant who switches a network of a coin on or off.
func (w *world) switchNetwork(r *replica, s *shop) {
	coins := w.listSeveral()
	coin := coins[w.rng.IntN(len(coins))]
	list := w.listNetworks(coin)
	code, others := list[w.rng.IntN(len(list))].kind, 0
	for _, n := range list {
		if n.kind != code && s.findActivity(coin.Coin, n.kind).active {
			others++
		}
	}
	this := s.findActivity(coin.Coin, code)
	on := !this.active
	w.clock.Advance(time.Millisecond) // what happens in one instant has no order to judge by
	err := w.surely(r, fmt.Sprintf("switches %s of %s: %v", code, coin.Coin, on), func(r *replica) error {
		return r.Accounts.SetNetwork(w.t.Context(), s.scope, coin.Method, code, on)
	})
	switch {
	case err == nil && !on && others == 0:
		w.find("business %d has no network of %s on", s.id, coin.Coin)
	case err == nil:
		this.turns(on, w.clock.Now())
		w.clock.Advance(time.Millisecond)
		w.count("merchant switches a network")
	case fault.KindOf(err) == fault.Conflict && (on || others > 0):
		w.find("business %d can't switch %s of %s to %v: %v", s.id, code, coin.Coin, on, err)
	}
}

// planNetworks adds what the customer of a coin with several networks does about them.
func (c *customer) planNetworks() {
	there := c.listNetworks(c.coin)
	if len(there) < 2 {
		return
	}
	if c.rng.IntN(4) == 0 {
		c.named = there[c.rng.IntN(len(there))].kind
		c.count("a request names a network")
	}
	if c.rng.IntN(3) == 0 {
		c.turns = append([]turn{{0, c.chooseNetwork}}, c.turns...)
	}
	c.early = c.rng.IntN(8) == 0
}

// pickAnother returns a network of the coin where the customer has an address, and that the page doesn't show; the one that it
// shows when there is none.
func (c *customer) pickAnother() *network {
	list := slices.DeleteFunc(c.listNetworks(c.coin), func(n *network) bool {
		return n.kind == c.network || c.places[n.home].Address == ""
	})
	if len(list) == 0 {
		return c.nets[c.network]
	}
	c.count("a customer pays on another network than the page shows")
	return list[c.rng.IntN(len(list))]
}

// readPage is the customer who looks at the page.
func (c *customer) readPage(v payment.View) {
	n := c.nets[chain.Network(v.Payment.Network).Code()]
	place := chain.Destination{Address: v.Payment.Address}
	if v.Payment.Tag != nil {
		tag := uint32(*v.Payment.Tag)
		place.Tag = &tag
	}
	switch before, known := c.places[n.home]; {
	case known && before.Address != place.Address:
		c.find("payment %d has the address %s on %s after %s", c.number, place.Address, n.kind, before.Address)
	case !known:
		c.places[n.home] = place
	}
	if v.Payment.Due.Big().Cmp(c.due) != 0 {
		c.find("payment %d asks for %s after %s", c.number, v.Payment.Due, c.due)
	}
	c.network = n.kind
	if _, known := c.shown[n.kind]; !known {
		c.shown[n.kind] = c.clock.Now()
	}
}

// chooseNetwork is the customer who changes the network on the page, mostly to another one that is on.
func (c *customer) chooseNetwork() {
	list := c.listNetworks(c.coin)
	to := list[c.rng.IntN(len(list))].kind
	others := slices.DeleteFunc(list, func(n *network) bool {
		return n.kind == c.network || !c.shop.findActivity(c.coin.Coin, n.kind).active
	})
	if len(others) > 0 && c.rng.IntN(3) > 0 {
		to = others[c.rng.IntN(len(others))].kind
	}
	r := c.replicas[c.rng.IntN(len(c.replicas))]
	before := c.readPayment(r)
	token := path.Base(r.Payments.PageURL(before.Payment))
	err := c.guarded(r, fmt.Sprintf("customer %d chooses %s", c.number, to), func() error {
		_, err := (&choice.Service{Payments: r.Payments}).Choose(c.t.Context(), token, string(to))
		return err
	})
	after := c.readPayment(c.replicas[r.number])
	asked := string(c.nets[to].name)
	switch kind := fault.KindOf(err); {
	case after.Payment.Network != before.Payment.Network:
		c.checkChange(after, to)
	case err == nil && before.Payment.Network != asked:
		c.find("payment %d stays on %s, and its customer was told that it moved to %s", c.number,
			before.Payment.Network, asked)
	case kind == fault.Conflict || kind == fault.Invalid:
		c.checkRefusal(to, err)
	}
	if !c.opened.IsZero() {
		c.readPage(after)
	}
}

// readPayment reads the payment.
func (c *customer) readPayment(r *replica) payment.View {
	v, err := r.Payments.Verify(c.t.Context(), c.shop.scope, c.reference)
	c.must(err)
	return v
}

// checkChange holds a change of the network against what the customer may change.
func (c *customer) checkChange(v payment.View, to money.Chain) {
	now := c.clock.Now()
	wrong := func(why string) {
		c.find("payment %d was moved to %s, and %s", c.number, v.Payment.Network, why)
	}
	switch {
	case chain.Network(v.Payment.Network).Code() != to:
		wrong("its customer chose " + string(to))
	case c.named != "":
		wrong("its request named " + string(c.named))
	case !c.shop.findActivity(c.coin.Coin, to).at(now):
		wrong("that network is off")
	case now.After(c.created.Add(7 * time.Minute)):
		wrong("its window is over")
	case c.wasSeen():
		wrong("a transfer was seen before")
	}
	c.count("a customer changes the network")
}

// wasSeen reports whether a transfer that counts was seen for certain.
func (c *customer) wasSeen() bool {
	return slices.ContainsFunc(c.coming(), func(one came) bool { return one.counts && !one.tx.known.IsZero() })
}

// checkRefusal holds the refusal of a change against what the customer may change.
func (c *customer) checkRefusal(to money.Chain, err error) {
	now := c.clock.Now()
	off := !c.shop.findActivity(c.coin.Coin, to).at(now)
	switch {
	case off:
		c.count("a network that is off can't be chosen")
	case c.named == "" && len(c.coming()) == 0 && !c.attached && !now.After(c.created.Add(7*time.Minute)):
		c.find("payment %d can't be moved to %s: %v", c.number, to, err)
	default:
		c.count("a change of the network is refused")
	}
}

// dropNetwork is a merchant whose request names a network that is off, and who asks for any from then on.
func (c *customer) dropNetwork(err error) {
	switch {
	case fault.KindOf(err) != fault.Invalid || c.named == "":
	case c.shop.findActivity(c.coin.Coin, c.named).at(c.clock.Now()):
		c.find("payment %d can't be made on %s, which is on: %v", c.number, c.named, err)
	default:
		c.count("a request for a network that is off is refused")
		c.named = ""
	}
}

// checkStart holds the network of a payment that was just opened, or chosen before, against what its business takes.
func (c *customer) checkStart(p models.Payment) {
	code := chain.Network(p.Network).Code()
	switch {
	case c.attached: // the network of the attached money may be shown
	case c.named != "" && code != c.named:
		c.find("payment %d is on %s, and its request named %s", c.number, code, c.named)
	case !c.early && !c.shop.findActivity(c.coin.Coin, code).at(c.created):
		c.find("payment %d is made on %s, which was off", c.number, code)
	}
}

// judgeCredit tells whether a transfer to the customer's payment counts, by what was on and shown when it was first seen.
// Where that changed before it was seen for certain, it may count.
func (c *customer) judgeCredit(t *coinTx) (counts, may bool) {
	from, to := t.born, t.known
	if to.IsZero() {
		to = c.clock.Now()
	}
	takes := c.shop.findActivity(c.coin.Coin, t.net.kind)
	shown, was := c.shown[t.net.kind]
	if was && !shown.After(from) {
		return true, true
	}
	always, ever := takes.during(from, to)
	if was && shown.Before(to) {
		always, _ = takes.during(from, shown)
		ever = true
	}
	earlier := func(other *coinTx) bool { return other.order < t.order && c.isPaidBy(other) }
	if !ever && slices.ContainsFunc(t.net.all, earlier) {
		_, ever = takes.during(c.opened, to) // the first one may have made the network the payment's own
	}
	return always, ever
}

// checkCredits holds what was credited and listed of each transfer against the networks that were on (12.4).
func (c *customer) checkCredits(db *models.DB, p models.Payment) {
	if len(c.listNetworks(c.coin)) < 2 || c.opened.IsZero() || c.attached {
		return
	}
	var rows []models.Transfer
	c.must(db.Read(c.t.Context()).Where("payment_id = ? AND asset = ?", p.ID, p.Coin).Find(&rows).Error)
	paid := map[money.Chain]bool{}
	for _, one := range c.coming() {
		for _, row := range rows {
			if row.TxID != one.tx.id {
				continue
			}
			off := row.Unmatched == payment.NetworkOff
			if off && one.counts || !off && !one.may {
				c.find("payment %d: %s on %s is listed as %q; that it counts is %v, that it may is %v", c.number,
					one.amount, one.tx.net.kind, row.Unmatched, one.counts, one.may)
			}
			_, shown := c.shown[one.tx.net.kind]
			switch {
			case one.height == 0:
			case off:
				c.count("money on a network that is off is listed")
			case !shown:
				c.count("money on another network that is on counts")
			}
			if one.may && !one.counts {
				c.count("a network is switched before money there is seen")
			}
			if row.Unmatched == "" && one.height > 0 {
				c.count("money counts on " + string(one.tx.net.kind))
				paid[one.tx.net.kind] = true
			}
		}
	}
	if len(paid) > 1 {
		c.count("a payment is paid on two networks")
	}
}

// heldOn is money of a business in a coin on a network.
type heldOn struct {
	shop int64
	coin string
	code money.Chain
}

// checkBooksOfNetworks holds what the books say that transfers brought into wallets, by network, against what is on the
// chains for the addresses that were given out (26).
func (w *world) checkBooksOfNetworks(db *models.DB) {
	want, got := map[heldOn]money.Amount{}, map[heldOn]money.Amount{}
	for _, n := range w.chains {
		owners := map[string]int64{}
		for _, c := range w.customers {
			owners[c.places[n.home].Address] = c.shop.id
		}
		delete(owners, "")
		for _, b := range n.now.blocks {
			for _, t := range b.txs {
				for _, out := range t.Outputs {
					if shop, given := owners[out.Address]; given && !t.Reverted {
						key := heldOn{shop, out.Asset, n.kind}
						want[key] = want[key].Add(out.Amount)
					}
				}
			}
		}
	}
	var entries []models.JournalEntry
	w.must(db.Read(w.t.Context()).Where("transfer_id IS NOT NULL AND send_id IS NULL").
		Where("kind <> ?", journal.Refunded).Find(&entries).Error)
	for _, e := range entries {
		key := heldOn{e.BusinessID, e.Coin, chain.Network(e.Network).Code()}
		if e.Debit == string(journal.Wallet) {
			got[key] = got[key].Add(e.Amount)
		}
		if e.Credit == string(journal.Wallet) {
			got[key] = got[key].Sub(e.Amount)
		}
	}
	for _, s := range w.shops {
		for _, coin := range money.Coins() {
			for _, n := range w.listNetworks(coin) {
				key := heldOn{s.id, string(coin.Coin), n.kind}
				if got[key].Cmp(want[key]) != 0 {
					w.find("invariant 26: business %d got %s %s on %s by the books, %s on the chain", s.id, got[key],
						coin.Coin, n.kind, want[key])
				}
			}
		}
	}
}
