package simulation_test

import (
	"fmt"
	"math/big"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/settings"
	"cointill/core/webhook"
)

// What customers do.
var plots = []string{"exact", "exact", "bounds", "twice", "parts", "late", "after", "never", "unopened", "wrong asset", "tag", "wrong payment",
	"fee bump", "double spend", "revert", "stuck", "much later", "unseen rest"}

// customer is one customer with one payment.
type customer struct {
	*world
	number    int
	shop      *shop
	plot      string
	coin      money.CoinInfo
	amount    int64 // USD
	reference string
	rules     settings.Rules // those of the shop when it was initiated
	created   time.Time      // zero until it is
	opened    time.Time      // zero until it is
	gaveUp    bool
	due       *big.Int
	place     chain.Destination
	turns     []turn
	sent      []*coinTx
	accepted  bool // by a person of the business
	watched   bool // its success was looked at
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
	c.coin = coins[w.rng.IntN(len(coins))]
	switch c.plot {
	case "wrong asset":
		c.coin = money.USDT.Info()
	case "revert":
		c.coin = []money.CoinInfo{money.ETH.Info(), money.USDT.Info()}[w.rng.IntN(2)]
	case "tag":
		c.coin = money.XRP.Info()
	}
	c.reference = fmt.Sprintf("order-%d", c.number)
	c.plan()
	w.customers = append(w.customers, c)
	w.count("customer: " + c.plot)
}

// part is a share of what is due, in permille, and a few units more.
func (c *customer) part(permille, units int64) money.Amount {
	n := new(big.Int).Mul(c.due, big.NewInt(permille))
	return money.FromBig(n.Quo(n, big.NewInt(1000)).Add(n, big.NewInt(units)))
}

// pay sends an amount to the payment's place.
func (c *customer) pay(amount money.Amount, change func(tx *chain.Tx)) *coinTx {
	n := c.nets[c.coin.Chain]
	tx := chain.Tx{Outputs: []chain.Output{{Asset: string(c.coin.Coin), Destination: c.place, Amount: amount}}, Spends: []string{n.coin()}}
	if change != nil {
		change(&tx)
	}
	t := n.broadcast(tx, false)
	c.sent = append(c.sent, t)
	c.say("customer %d sends %s of %s", c.number, amount, c.due)
	return t
}

// replace sends another transaction that spends the money of the last one, if
// that still waits.
func (c *customer) replace(change func(tx *chain.Tx)) {
	n, last := c.nets[c.coin.Chain], c.sent[len(c.sent)-1]
	if n.where(last) == nil && c.coin.Chain != money.XRPL {
		c.pay(last.Outputs[0].Amount, func(tx *chain.Tx) {
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
	case "bounds":
		add(soon, func() { c.pay(c.bound(), nil) })
	case "twice":
		add(soon, all)
		add(minutes(c.rng.IntN(60)), all)
	case "parts":
		add(soon, func() { c.pay(c.part(400, 0), nil) })
		add(minutes(c.rng.IntN(14)), func() { rest := c.part(400, 0).Big(); c.pay(money.FromBig(rest.Sub(c.due, rest)), nil) })
	case "unseen rest":
		add(soon, c.unseen)
	case "late":
		add(minutes(8+c.rng.IntN(1000)), all)
	case "after":
		add(minutes(1441+c.rng.IntN(2000)), all)
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
		add(minutes(c.rng.IntN(12)), func() { c.replace(func(*chain.Tx) {}) })
	case "double spend":
		add(soon, all)
		add(minutes(c.rng.IntN(12)), func() {
			c.replace(func(tx *chain.Tx) { tx.Outputs[0].Destination = chain.Destination{Address: "elsewhere"} })
		})
	case "revert":
		add(soon, func() { c.pay(c.part(1000, 0), func(tx *chain.Tx) { tx.Reverted = true }) })
		if c.rng.IntN(2) == 0 {
			add(minutes(c.rng.IntN(6)), all)
		}
	case "stuck":
		add(soon, func() { c.pay(c.part(1000, 0), nil).held = true })
		add(minutes(c.rng.IntN(3000)), func() {
			if last := c.sent[0]; c.rng.IntN(2) == 0 {
				c.nets[c.coin.Chain].drop(last)
			} else {
				last.held = false
			}
		})
	}
}

// bound is an amount at one of the edges of what is right.
func (c *customer) bound() money.Amount {
	least, most := c.bounds()
	n := []*big.Int{least, most}[c.rng.IntN(2)]
	return money.FromBig(n.Add(n, big.NewInt(c.rng.Int64N(3)-1)))
}

func (c *customer) mistag(tx *chain.Tx) {
	other := *c.place.Tag ^ 1<<31
	tx.Outputs[0].Tag = []*uint32{nil, &other}[c.rng.IntN(2)]
}

// unseen pays in two parts: the first is final and known when all nodes fall out, and
// the rest is in a block before they are back.
func (c *customer) unseen() {
	n := c.nets[c.coin.Chain]
	first := c.part(400, 0)
	c.pay(first, nil)
	for range c.depth() + 1 {
		n.mine(true)
	}
	c.world.follow(c.replicas[0], n.kind)
	n.out = c.clock.Now().Add(time.Duration(10+c.rng.IntN(60)) * time.Minute)
	c.pay(money.FromBig(new(big.Int).Sub(c.due, first.Big())), nil)
	n.mine(true)
}

// mistake sends the money to another payment of the coin.
func (c *customer) mistake(tx *chain.Tx) {
	for _, other := range c.customers {
		if other != c && other.coin.Coin == c.coin.Coin && other.place.Address != "" {
			tx.Outputs[0].Destination = other.place
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

// initiate is the merchant's server, which tries again until it knows.
func (c *customer) initiate(r *replica) {
	request := payment.Request{Currency: "USD", Amount: c.amount, FirstName: "Ngozi", LastName: "Okafor", Email: fmt.Sprintf("c%d@example.com", c.number%7),
		Method: string(c.coin.Method), BusinessReference: c.reference}
	now, rules := c.clock.Now(), c.shop.rules
	err := c.guarded(r, fmt.Sprintf("initiates %d: %s of %d USD in %s", c.number, c.plot, c.amount, c.coin.Coin), func() error {
		_, err := r.payments.Initiate(c.t.Context(), c.shop.scope, request)
		return err
	})
	if err != nil {
		return
	}
	c.created, c.rules = now, rules
	if !c.calm && c.rng.IntN(10) == 0 { // the merchant never hears of it, and asks again
		c.count(answerLost)
		again := c.replicas[1-r.number]
		if _, err := again.payments.Initiate(c.t.Context(), c.shop.scope, request); err == nil {
			c.find("payment %d was initiated twice with one reference", c.number)
		}
	}
}

// open is the customer reaching the page.
func (c *customer) open(r *replica) {
	if c.clock.Now().After(c.created.Add(7 * time.Minute)) {
		c.gaveUp = true
	}
	var v payment.View
	err := c.guarded(r, fmt.Sprintf("opens %d", c.number), func() (err error) {
		v, err = r.payments.OpenByReference(c.t.Context(), c.shop.scope, c.reference)
		return err
	})
	if err != nil || v.Payment.Address == "" {
		return
	}
	if c.gaveUp {
		c.find("payment %d shows an address after its window", c.number)
	}
	c.opened, c.due, c.place = c.clock.Now(), v.Payment.Due.Big(), chain.Destination{Address: v.Payment.Address}
	if v.Payment.Tag != nil {
		tag := uint32(*v.Payment.Tag)
		c.place.Tag = &tag
	}
}

// trade is a merchant who changes something, or accepts what was declined.
func (w *world) trade(r *replica) {
	s := w.shops[w.rng.IntN(len(w.shops))]
	switch w.rng.IntN(3) {
	case 0:
		e := s.endpoints[w.rng.IntN(len(s.endpoints))]
		w.toggle(r, s, e, !e.active)
	case 1:
		rules := s.rules
		rules.Under, rules.Over = w.rng.IntN(3)*150, w.rng.IntN(3)*150
		rules.LatePayments = []string{"accept", "decline"}[w.rng.IntN(2)]
		if err := w.guarded(r, fmt.Sprintf("sets rules %v", rules), func() error { return r.settings.SetRules(w.t.Context(), s.scope, rules) }); err == nil {
			s.rules = rules
			w.count("merchant changes rules")
		}
	default:
		if len(w.customers) == 0 {
			return
		}
		at := w.rng.IntN(len(w.customers))
		for i := range w.customers {
			if c := w.customers[(at+i)%len(w.customers)]; c.shop == s && !c.accepted && len(c.sent) > 0 {
				err := w.guarded(r, fmt.Sprintf("accepts %d", c.number), func() error { return r.payments.Resolve(w.t.Context(), s.scope, c.reference) })
				if err == nil {
					c.accepted = true
					w.count("merchant accepts")
				}
				return
			}
		}
	}
}

// toggle switches a webhook on or off.
func (w *world) toggle(r *replica, s *shop, e *endpoint, on bool) {
	w.clock.Advance(time.Millisecond) // what happens in one instant has no order to judge by
	err := w.guarded(r, fmt.Sprintf("switches a webhook: %v", on), func() error {
		_, err := r.hooks.Update(w.t.Context(), s.scope, e.id, webhook.Change{Active: &on})
		return err
	})
	if err == nil && e.active != on {
		e.spans = append(e.spans, span{e.since, w.clock.Now(), e.active})
		e.active, e.since = on, w.clock.Now()
		w.clock.Advance(time.Millisecond)
		w.count("merchant switches a webhook")
	}
}
