package simulation_test

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/settings"
)

// What customers do.
var plots = []string{"exact", "too much", "bounds", "twice", "parts", "late", "after", "never", "unopened", "wrong asset", "tag", "wrong payment",
	"fee bump", "other bump", "double spend", "revert", "stuck", "much later", "unseen rest", "undone", "undone", "half undone",
	"strangers", "strangers", "attached first", "other network", "two networks", "two networks", "changes the network"}

// plotsOfNetworks are those of a coin that has several networks in the world.
var plotsOfNetworks = []string{"other network", "two networks", "changes the network"}

// customer is one customer with one payment.
type customer struct {
	*world
	number    int
	shop      *shop
	plot      string
	coin      money.CoinInfo
	named     money.Chain // the network that the request names; "" for none
	network   money.Chain // the one that the page shows
	amount    int64       // USD
	reference string
	tries     []try          // to initiate it, of which nobody knows whether they did
	key       string         // the Idempotency-Key of its initiation; "" when the merchant uses none
	rules     settings.Rules // those of the shop when it was initiated
	created   time.Time      // zero until it is
	opened    time.Time      // zero until it is
	early     bool           // they change the network before they open it
	chosen    bool           // they have
	perhaps   bool           // it was, and nobody knows
	gaveUp    bool
	due       *big.Int
	places    map[money.Chain]chain.Destination // by the network that has the addresses
	shown     map[money.Chain]time.Time         // the networks that the page showed, since when
	read      map[money.Chain]time.Time         // when those were last read to their end
	turns     []turn
	sent      []*coinTx
	accepted  bool // by a person of the business
	attached  bool // money was attached to it, or money that came to it elsewhere
	watched   bool // its success was looked at
	ended     bool // without any money, as it had to
}

// turn is one thing that a customer does, so long after the payment began.
type turn struct {
	after time.Duration
	do    func()
}

// arrive makes a customer who knows what they will do.
func (w *world) arrive() {
	c := &customer{world: w, number: len(w.customers), shop: w.shops[w.rng.IntN(len(w.shops))], plot: plots[w.rng.IntN(len(plots))],
		amount: 5 + w.rng.Int64N(90)}
	if w.rng.IntN(5) == 0 {
		c.amount = 110 + w.rng.Int64N(5000)
	}
	coins := money.Coins()
	if slices.Contains(plotsOfNetworks, c.plot) || w.rng.IntN(4) == 0 {
		coins = w.listSeveral()
	}
	c.coin = coins[w.rng.IntN(len(coins))]
	switch c.plot {
	case "wrong asset":
		c.coin = money.USDT.Info()
	case "revert":
		c.coin = []money.CoinInfo{money.ETH.Info(), money.USDT.Info()}[w.rng.IntN(2)]
	case "tag":
		c.coin = money.XRP.Info()
	case "other bump":
		c.coin = []money.CoinInfo{money.BTC.Info(), money.DOGE.Info(), money.ETH.Info(), money.USDT.Info()}[w.rng.IntN(4)]
	case "undone", "half undone":
		c.coin = []money.CoinInfo{money.BTC.Info(), money.DOGE.Info(), money.ETH.Info()}[w.rng.IntN(3)]
	}
	c.reference = fmt.Sprintf("order-%d", c.number)
	if w.rng.IntN(2) == 0 {
		c.key = "key of " + c.reference
	}
	c.network, c.places = c.coin.Chain, map[money.Chain]chain.Destination{}
	c.shown, c.read = map[money.Chain]time.Time{}, map[money.Chain]time.Time{}
	c.plan()
	c.planNetworks()
	w.customers = append(w.customers, c)
	w.count("customer: " + c.plot)
}

// part is a share of what is due, in permille, and a few units more.
func (c *customer) part(permille, units int64) money.Amount {
	n := new(big.Int).Mul(c.due, big.NewInt(permille))
	return money.FromBig(n.Quo(n, big.NewInt(1000)).Add(n, big.NewInt(units)))
}

// pay sends an amount to the payment's place, on the network that the page shows.
func (c *customer) pay(amount money.Amount, change func(tx *chain.Tx)) *coinTx {
	return c.payOn(c.nets[c.network], amount, change)
}

// payOn sends an amount to the payment's place on a network.
func (c *customer) payOn(n *network, amount money.Amount, change func(tx *chain.Tx)) *coinTx {
	out := chain.Output{Asset: string(c.coin.Coin), Destination: c.places[n.home], Amount: amount}
	tx := chain.Tx{Outputs: []chain.Output{out}, Spends: []string{n.coin()}}
	if change != nil {
		change(&tx)
	}
	t := n.broadcast(tx, false)
	c.sent = append(c.sent, t)
	c.say("customer %d sends %s of %s on %s", c.number, amount, c.due, n.kind)
	return t
}

// replace sends another transaction that spends the money of the last one, if
// that still waits.
func (c *customer) replace(amount money.Amount, change func(tx *chain.Tx)) {
	last := c.sent[len(c.sent)-1]
	if n := last.net; !n.isSpent(last) && n.hasMempool {
		c.payOn(n, amount, func(tx *chain.Tx) {
			tx.Spends = append([]string{n.coin()}, last.Spends...)
			change(tx)
		})
	}
}

func (c *customer) plan() {
	all := func() { c.pay(c.part(1000, 0), nil) }
	soon, minutes := time.Duration(0), func(n int) time.Duration { return time.Duration(n) * time.Minute }
	add := func(after time.Duration, do func()) { c.turns = append(c.turns, turn{after, do}) }
	switch c.plot {
	case "exact":
		add(soon, all)
	case "attached first":
		add(soon, c.attachOpen)
		add(minutes(c.rng.IntN(4)), all)
	case "too much":
		add(soon, func() { c.pay(c.part(1500, 0), nil) })
	case "bounds":
		add(soon, func() { c.pay(c.bound(), nil) })
	case "twice":
		add(soon, all)
		add(minutes(c.rng.IntN(60)), all)
	case "parts":
		add(soon, func() { c.pay(c.part(400, 0), nil) })
		add(minutes(c.rng.IntN(14)), func() { c.pay(c.findRemainder(), nil) })
	case "other network":
		add(soon, func() { c.payOn(c.pickAnother(), c.part(1000, 0), nil) })
	case "two networks":
		add(soon, c.chooseNetwork)
		add(soon, func() { c.pay(c.part(400, 0), nil) })
		add(minutes(c.rng.IntN(6)), func() { c.payOn(c.pickAnother(), c.findRemainder(), nil) })
	case "changes the network": // mostly just after what they paid was seen
		add(soon, func() {
			all()
			if c.rng.IntN(3) > 0 {
				c.world.follow(c.replicas[0], c.network)
				c.world.follow(c.replicas[1], c.network) // one of the two has the lease
				c.chooseNetwork()
			}
		})
		add(minutes(c.rng.IntN(4)), c.chooseNetwork)
		if c.rng.IntN(2) == 0 {
			add(minutes(c.rng.IntN(6)), all)
		}
	case "strangers": // others send crumbs, duplicates and surplus before, with and after the customer
		for range c.rng.IntN(3) {
			add(soon, func() { c.pay(c.part([]int64{0, 100, 400}[c.rng.IntN(3)], 1), nil) })
		}
		add(minutes(c.rng.IntN(3)), all)
		if c.rng.IntN(2) == 0 {
			add(soon, func() {
				crumb := c.pay(money.Units(1), nil)
				crumb.held = true
				add(minutes(60*30), func() { crumb.held = false })
			})
		}
		for range 1 + c.rng.IntN(3) {
			add(minutes(c.rng.IntN(40)), func() { c.pay(c.part([]int64{0, 600, 1000, 3000}[c.rng.IntN(4)], 1), nil) })
		}
	case "unseen rest":
		add(soon, c.unseen)
	case "undone":
		add(soon, all)
		add(minutes(c.rng.IntN(20)), c.undone)
	case "half undone":
		add(soon, func() { c.pay(c.part(400, 0), nil) })
		add(soon, func() {
			c.nets[c.network].mine(true)
			c.pay(c.findRemainder(), nil)
			c.undone()
		})
	case "late":
		add(minutes(8+c.rng.IntN(1000)), all)
	case "after":
		add(minutes(1441+c.rng.IntN([]int{55, 2000}[c.rng.IntN(2)])), all)
		if c.rng.IntN(2) == 0 {
			add(soon, c.undone)
		}
	case "much later":
		add(soon, all)
		add(minutes(60*30), all)
	case "wrong asset":
		add(soon, func() { c.pay(c.part(1000, 0), func(tx *chain.Tx) { tx.Outputs[0].Asset = "FAKE-USDT" }) })
	case "tag":
		add(soon, func() { c.pay(c.part(1000, 0), c.mistag) })
	case "wrong payment":
		add(soon, func() { c.pay(c.part(1000, 0), c.mistake) })
	case "fee bump":
		add(soon, all)
		add(minutes(c.rng.IntN(12)), func() { c.replace(c.part(1000, 0), func(*chain.Tx) {}) })
	case "other bump":
		add(soon, c.bump)
		add(minutes(6+c.rng.IntN(6)), func() { c.replace(c.part(1000, 0), func(*chain.Tx) {}) })
	case "double spend":
		add(soon, all)
		add(minutes(c.rng.IntN(12)), func() {
			c.replace(c.part(1000, 0), func(tx *chain.Tx) { tx.Outputs[0].Destination = chain.Destination{Address: "elsewhere"} })
		})
	case "revert":
		add(soon, func() { c.pay(c.part(1000, 0), func(tx *chain.Tx) { tx.Reverted = true }) })
		if c.rng.IntN(2) == 0 {
			add(minutes(c.rng.IntN(6)), all)
		}
	case "stuck": // a crumb of somebody else is mostly final first
		add(soon, func() { c.pay(c.part(1000, 0), nil).held = true })
		if c.rng.IntN(3) > 0 {
			add(minutes(c.rng.IntN(6)), func() { c.pay(money.Units(1), nil) })
		}
		stuck := func() *coinTx { return c.sent[0] }
		switch c.rng.IntN(4) {
		case 0:
			add(minutes(c.rng.IntN(3000)), func() { stuck().net.drop(stuck()) })
		case 1: // the network forgets it, and sees it again
			add(minutes(c.rng.IntN(600)), func() { stuck().net.drop(stuck()) })
			add(minutes(c.rng.IntN(1200)), func() {
				stuck().held = false
				stuck().net.revive(stuck())
			})
		default:
			add(minutes(c.rng.IntN(3000)), func() { stuck().held = false })
		}
	}
}

// bound is an amount at one of the edges of what is right.
func (c *customer) bound() money.Amount {
	least, most := c.bounds()
	n := []*big.Int{least, most}[c.rng.IntN(2)]
	return money.FromBig(n.Add(n, big.NewInt(c.rng.Int64N(3)-1)))
}

func (c *customer) mistag(tx *chain.Tx) {
	other := *tx.Outputs[0].Tag ^ 1<<31
	tx.Outputs[0].Tag = []*uint32{nil, &other}[c.rng.IntN(2)]
}

// unseen pays in two parts: the first is final and known when all nodes fall out, and
// the rest is in a block before they are back.
func (c *customer) unseen() {
	n := c.nets[c.network]
	c.pay(c.part(400, 0), nil)
	for range c.depth(n) + 1 {
		n.mine(true)
	}
	c.world.follow(c.replicas[0], n.kind)
	n.out = c.clock.Now().Add(time.Duration(10+c.rng.IntN(60)) * time.Minute)
	c.pay(c.findRemainder(), nil)
	n.mine(true)
}

// bump sends another amount than is right with so small a fee that no block takes it, and
// mostly somebody looks before the customer raises it.
func (c *customer) bump() {
	c.pay(c.part([]int64{0, 400, 1100}[c.rng.IntN(3)], 1), nil).held = true
	c.world.follow(c.replicas[0], c.network)
}

// undone has the network reorganised just below the last transaction, when it has its first
// confirmation or is final, and mostly nothing looks before the new branch is deep as well.
func (c *customer) undone() {
	n := c.sent[len(c.sent)-1].net
	n.mine(true)
	if c.rng.IntN(2) == 0 {
		for range c.depth(n) {
			n.mine(true)
		}
	}
	c.world.follow(c.replicas[0], n.kind)
	if b := n.where(c.sent[len(c.sent)-1]); b != nil {
		n.reorg(int(n.now.tip().Height-b.Height) + 1)
	}
	for range c.rng.Int64N(2 * c.depth(n)) {
		n.mine(false)
	}
}

// mistake sends the money to another payment of the coin.
func (c *customer) mistake(tx *chain.Tx) {
	for _, other := range c.customers {
		home := c.nets[c.network].home
		if place := other.places[home]; other != c && other.coin.Coin == c.coin.Coin && place.Address != "" {
			tx.Outputs[0].Destination = place
		}
	}
}

// visit lets a customer who has something to do take their turn.
func (w *world) visit(r *replica) {
	if len(w.customers) == 0 {
		return
	}
	at := w.rng.IntN(len(w.customers))
	for i := range w.customers {
		if c := w.customers[(at+i)%len(w.customers)]; c.visit(r) {
			return
		}
	}
}

// visit takes the customer's next turn, and reports whether there was one.
func (c *customer) visit(r *replica) bool {
	switch {
	case c.created.IsZero():
		c.initiate(r)
	case c.plot == "unopened" || c.gaveUp:
		return false
	case c.opened.IsZero():
		if c.early && !c.chosen {
			c.chosen = true
			c.chooseNetwork()
			return true
		}
		c.open(r)
	case len(c.turns) == 0 || c.clock.Now().Before(c.created.Add(c.turns[0].after)):
		return false
	default:
		next := c.turns[0]
		c.turns = c.turns[1:]
		next.do()
	}
	return true
}

// open is the customer reaching the page.
func (c *customer) open(r *replica) {
	if c.clock.Now().After(c.created.Add(7 * time.Minute)) {
		c.gaveUp = true
	}
	var v payment.View
	err := c.guarded(r, fmt.Sprintf("opens %d", c.number), func() (err error) {
		v, err = r.Payments.OpenByReference(c.t.Context(), c.shop.scope, c.reference)
		return err
	})
	if err != nil && c.unsure && !c.gaveUp {
		c.perhaps = true
	}
	if err != nil || v.Payment.Address == "" {
		c.gaveUp = c.gaveUp && err == nil // else they try once more
		return
	}
	if c.gaveUp && !c.perhaps {
		c.find("payment %d shows an address after its window", c.number)
	}
	c.gaveUp = false
	c.opened, c.due = c.clock.Now(), v.Payment.Due.Big()
	c.checkStart(v.Payment)
	c.readPage(v)
}

// findRemainder returns what is due besides a part of 400 permille.
func (c *customer) findRemainder() money.Amount {
	return money.FromBig(new(big.Int).Sub(c.due, c.part(400, 0).Big()))
}
