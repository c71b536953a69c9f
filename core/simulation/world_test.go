package simulation_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/clock"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/send/rules"
	"cointill/core/settings"
	"cointill/core/webhook"
	"cointill/models/modelstest"
)

// world is one run: everything that happens in it follows from its seed.
type world struct {
	t         *testing.T
	seed      uint64
	rng       *rand.Rand
	clock     *clock.Fake
	box       *secret.Box
	address   string // of PostgreSQL; "" for SQLite in dir
	dir       string
	replicas  []*replica
	nets      map[money.Chain]*network
	chains    []*network // in a fixed order
	shops     []*shop
	customers []*customer
	orders    []*order
	consumers *consumers
	hash      hash.Hash
	trace     []string
	counts    map[string]int
	fences    map[string]int64 // under which each network was written last
	held      map[money.Chain]held
	findings  []string
	size      size      // how much happens
	calm      bool      // no more faults
	unsure    bool      // the last step lost the answer of a commit
	watched   time.Time // until when successes were looked at
	steps     int       // of followers
	txs       int       // transactions so far
	ended     *network  // whose end was read in this step, by a healthy node
	sweptAt   time.Time // when sends were swept last
}

// size is how many payments customers make in a world, and how many sends merchants ask for.
type size struct{ payments, sends int }

// shop is a business with the rules that it has now.
type shop struct {
	id        int64
	scope     scope.Scope
	rules     settings.Rules
	endpoints []*endpoint
	people    []person
	key       person // an API key
	sendRules rules.Rules
	// networks are those of the coins that have several in this world.
	networks map[usage]*activity
}

// newWorld makes the databases, the networks, two businesses with webhooks, and two replicas.
func newWorld(t *testing.T, seed uint64, size size, postgres bool) *world {
	w := &world{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 0)), clock: clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)),
		nets: map[money.Chain]*network{}, hash: sha256.New(), counts: map[string]int{},
		fences: map[string]int64{}, held: map[money.Chain]held{}, size: size}
	w.consumers = &consumers{world: w, gone: map[string]time.Time{}, got: map[string]*received{}}
	var err error
	w.box, err = secret.NewBox(make([]byte, 32))
	w.must(err)
	if postgres {
		w.address = modelstest.MigratedURL(t)
	} else {
		first := modelstest.Open(t, false, w.clock.Now)
		var file struct{ File string }
		w.must(first.Read(t.Context()).Raw("SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&file).Error)
		w.dir = filepath.Dir(file.File)
		w.must(first.Close())
	}
	for _, c := range w.drawNetworks() {
		n := newNetwork(w, c)
		w.nets[c], w.chains = n, append(w.chains, n)
		n.mine(true)
	}
	w.replicas = append(w.replicas, w.start(0), w.start(1))
	t.Cleanup(func() {
		for _, r := range w.replicas {
			_ = r.DB.Close()
		}
	})
	for i := range 2 {
		w.open(i)
	}
	for _, n := range w.chains { // no network takes a payment before it was first read
		w.must(w.replicas[0].follow(n.kind, nodeHealthy, false))
	}
	return w
}

// open is a business that signs up.
func (w *world) open(i int) {
	r, ctx := w.replicas[0], w.t.Context()
	business, owner, err := r.Accounts.CreateBusiness(ctx, account.NewBusiness{
		BusinessName: "Ama's Shop", Name: "Ama Mensah", Email: fmt.Sprintf("ama%d@shop.example", i), Password: "a long enough passphrase",
	})
	w.must(err)
	s := &shop{id: business.ID, scope: scope.Scope{BusinessID: business.ID, Domain: scope.Test, Actor: "user:1", Role: scope.Owner}}
	s.rules = settings.Rules{LatePayments: []string{"accept", "decline"}[i], Currency: "USD", TimeZone: "Africa/Lagos", Under: 100 * i, Over: 200 * i}
	w.must(r.Settings.SetRules(ctx, s.scope, s.rules))
	for j := range 2 {
		url := fmt.Sprintf("https://shop%d-%d.example/hook", i, j)
		made, _, err := r.Webhooks.Create(ctx, s.scope, webhook.Create{Name: "orders", URL: url, Active: true})
		w.must(err)
		on := activity{active: true, since: w.clock.Now()}
		s.endpoints = append(s.endpoints, &endpoint{id: made.ID, url: url, activity: on})
	}
	w.setNetworks(r, s)
	if w.size.sends > 0 {
		w.hire(s, owner.ID)
	}
	w.shops = append(w.shops, s)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("seed %d: %v", w.seed, err)
	}
}

// count notes that something happened, for the figures.
func (w *world) count(what string) { w.counts[what]++ }

// say writes into the trace: two runs of a seed say the same.
func (w *world) say(format string, args ...any) {
	line := w.clock.Now().Format("02 15:04:05 ") + fmt.Sprintf(format, args...)
	fmt.Fprintln(w.hash, line)
	w.trace = append(w.trace, line)
}

func (w *world) sum() string { return hex.EncodeToString(w.hash.Sum(nil)) }

// find notes what should not be.
func (w *world) find(format string, args ...any) {
	w.findings = append(w.findings, fmt.Sprintf(format, args...))
}

// run lets everything happen, then lets it settle, then looks at what became of it.
func (w *world) run() {
	usual, office := 120+15*w.size.payments, 8*w.size.sends
	for range usual + office {
		if office > 0 && w.rng.IntN(usual+office) < office {
			w.office(w.replicas[w.rng.IntN(len(w.replicas))])
		} else {
			w.act()
		}
		if len(w.findings) > 0 {
			return
		}
	}
	w.settle()
	w.judge()
}

// act lets one actor take one step.
func (w *world) act() {
	replica := w.replicas[w.rng.IntN(len(w.replicas))]
	n := w.chains[w.rng.IntN(len(w.chains))]
	switch dice := w.rng.IntN(100); {
	case dice < 6:
		if len(w.customers) < w.size.payments {
			w.arrive()
		}
	case dice < 28:
		w.visit(replica)
	case dice < 40:
		n.mine(false)
		w.say("%s mines block %d", n.kind, n.now.tip().Height)
	case dice < 43:
		n, depth := w.undoes(n)
		n.reorg(depth)
		w.say("%s reorganised to block %d", n.kind, n.now.tip().Height)
	case dice < 70:
		w.follow(replica, n.kind)
	case dice < 78:
		if err := w.guarded(replica, "sweep", func() error { _, err := replica.Payments.Sweep(w.t.Context()); return err }); err == nil {
			w.swept(w.replicas[replica.number])
		}
		if w.size.sends > 0 {
			w.sweepSends(w.replicas[replica.number])
		}
		w.must(w.replicas[replica.number].Networks.Refresh(w.t.Context()))
	case dice < 84:
		w.deliver(replica)
	case dice < 86:
		w.count(restart)
		w.restart(replica)
		w.say("replica %d restarts", replica.number)
	case dice < 89:
		w.trade(replica)
	case dice < 91:
		w.aim(replica)
	case dice < 93:
		w.collect()
	case dice < 95:
		w.decide(replica, w.anyShop())
	default:
		w.clock.Advance(w.wait())
	}
}

// undoes is which network is reorganised, and how deep. Mostly nothing is in the last
// blocks, so that some customer's money is aimed at, also when it is final.
func (w *world) undoes(n *network) (*network, int) {
	depth := 1 + w.rng.IntN(2)
	if w.rng.IntN(5) == 0 {
		depth = 3 + w.rng.IntN(20)
	}
	if len(n.collected) > 0 && w.rng.IntN(2) == 0 {
		return w.below(n.collected[w.rng.IntN(len(n.collected))], depth)
	}
	if len(w.orders) > 0 && w.rng.IntN(3) == 0 {
		if o := w.orders[w.rng.IntN(len(w.orders))]; len(o.txs) > 0 {
			return w.below(o.txs[len(o.txs)-1], depth)
		}
	}
	if len(w.customers) == 0 || w.rng.IntN(3) == 0 {
		return n, depth
	}
	c := w.customers[w.rng.IntN(len(w.customers))]
	if i := slices.IndexFunc(w.customers, func(c *customer) bool { return c.watched && w.rng.IntN(2) == 0 }); i >= 0 {
		c = w.customers[i]
	}
	if len(c.sent) > 0 {
		if aimed, below := w.below(c.sent[len(c.sent)-1], 0); below > 0 {
			return aimed, below
		}
	}
	return n, depth
}

// below is how deep a network is reorganised to undo a transaction; otherwise when that is in none of its last blocks.
func (w *world) below(t *coinTx, otherwise int) (*network, int) {
	n := t.net
	if b := n.where(t); b != nil && n.now.tip().Height-b.Height < 30 {
		return n, int(n.now.tip().Height-b.Height) + 1 + w.rng.IntN(2)
	}
	return n, otherwise
}

// aim lets the time pass to about a deadline of some customer's payment, who may take a
// turn just then, before the network is looked at.
func (w *world) aim(r *replica) {
	if len(w.customers) == 0 {
		return
	}
	c := w.customers[w.rng.IntN(len(w.customers))]
	for _, window := range []time.Duration{7 * time.Minute, 24 * time.Hour} {
		left := c.created.Add(window).Sub(w.clock.Now())
		if c.created.IsZero() || left <= 0 {
			continue
		}
		off := []time.Duration{-time.Second, -time.Microsecond, 0, time.Microsecond, time.Second, time.Duration(w.rng.IntN(3000)) * time.Second}[w.rng.IntN(6)]
		w.clock.Advance(max(0, left+off))
		w.count("time stops at a deadline")
		if w.rng.IntN(2) == 0 {
			c.visit(r)
		}
		w.follow(w.replicas[r.number], c.network)
		return
	}
}

// wait is how long nothing happens.
func (w *world) wait() time.Duration {
	switch dice := w.rng.IntN(100); {
	case dice < 80:
		return time.Duration(w.rng.IntN(40_000_000)) * time.Microsecond
	case dice < 97:
		return time.Duration(w.rng.IntN(900)) * time.Second
	}
	return time.Duration(w.rng.IntN(9*3600)) * time.Second
}

// guarded runs a step of a replica, sometimes with a database call that fails,
// after which the process goes on, or as one that is killed there.
func (w *world) guarded(r *replica, what string, step func() error) (err error) {
	if dice := w.rng.IntN(36); !w.calm && dice < 4 {
		r.failer.arm(1+w.rng.IntN(25), w.rng.IntN(2) == 0)
	} else if !w.calm && dice < 9 {
		r.failer.armCommit(1+w.rng.IntN(3), w.rng.IntN(2) == 0)
	}
	err = step()
	dead := r.failer.dead
	fired, aimed := r.failer.disarm()
	if aimed {
		w.count(killedMoving)
	}
	broke := r.failer.mended()
	if w.unsure = broke == commitLost; broke != "" {
		w.count(broke + " of the " + areaOf(what))
	}
	w.say("replica %d %s: %v", r.number, what, outcome(err))
	if err != nil && strings.Contains(err.Error(), "panic: ") {
		w.find("replica %d %s: %v", r.number, what, err)
	}
	if fired && dead {
		w.count(crash)
		w.restart(r)
	} else if fired {
		w.count(callFails)
	}
	w.watch()
	return err
}

// areas are the parts of the product whose commits are to be lost.
var areas = []string{"core", "follower", "deliveries"}

// areaOf is the one that a step is of.
func areaOf(what string) string {
	switch {
	case strings.HasPrefix(what, "follows"), strings.HasPrefix(what, "takes over"):
		return areas[1]
	case what == "delivers":
		return areas[2]
	}
	return areas[0]
}

// outcome is what the trace says of an error.
func outcome(err error) string {
	if err == nil {
		return "done"
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

// follow lets a replica take a step along a network.
func (w *world) follow(r *replica, c money.Chain) {
	fault, paused := nodeHealthy, false
	if !w.calm {
		if w.rng.IntN(4) == 0 {
			fault = nodeFaults[w.rng.IntN(len(nodeFaults))]
		}
		paused = w.rng.IntN(12) == 0
		if w.clock.Now().Before(w.nets[c].out) {
			fault = nodeOut
		}
	}
	if f := r.follows[c]; paused && f != nil && w.rng.IntN(2) == 0 { // it sleeps until another has taken over
		w.clock.Advance(7 * time.Second)
		other := w.replicas[1-r.number]
		_ = w.guarded(other, "takes over "+string(c), func() error { return other.follow(c, nodeHealthy, false) })
		w.count(pausedHead)
		r = w.replicas[r.number]
	}
	if !w.calm && w.rng.IntN(8) == 0 {
		r.failer.aim(1 + w.rng.IntN(6))
	}
	_ = w.guarded(r, fmt.Sprintf("follows %s (%s, paused %v)", c, fault, paused), func() error { return r.follow(c, fault, paused) })
}

// settle ends all faults and lets the time pass that everything needs to come to its end.
func (w *world) settle() {
	w.calm = true
	for len(w.customers) < w.size.payments {
		w.arrive()
	}
	for len(w.orders) < w.size.sends {
		w.request()
	}
	for range 4 {
		for _, c := range w.customers {
			c.visit(w.replicas[0])
		}
		w.finishOrders()
		w.round(2)
	}
	for _, s := range w.shops {
		for _, e := range s.endpoints {
			w.toggle(w.replicas[0], s, e, true)
		}
	}
	for i := range 7 {
		for _, c := range w.customers {
			c.visit(w.replicas[0])
		}
		w.finishOrders()
		w.round(2)
		if w.rng.IntN(20) == 0 { // most payments are declined only now
			w.accept(w.replicas[0], w.anyShop())
		}
		if i == 0 {
			w.aim(w.replicas[0])
		} else {
			w.clock.Advance(11 * time.Hour)
		}
	}
	w.round(untilFinal)
	for range 2 {
		w.clock.Advance(7 * time.Hour)
		w.round(1)
	}
	for range 4 * attempts { // what is refused for good is tried for more than three days
		if w.deliver(w.replicas[0]); w.idle() {
			return
		}
		w.clock.Advance(3 * time.Hour)
	}
}

// untilFinal is as many blocks of a round as make everything final.
const untilFinal = 0

// round makes blocks on every chain, and lets a replica do all that is due.
func (w *world) round(blocks int) {
	for _, n := range w.chains {
		enough := blocks
		if blocks == untilFinal {
			enough = int(n.large) + 2
		}
		for range enough {
			n.mine(true)
			w.clock.Advance(time.Second)
		}
		w.clock.Advance(7 * time.Second) // whoever held a lease is gone
		for range 1 + enough/100 {       // a step reads no more blocks
			w.follow(w.replicas[0], n.kind)
		}
	}
	w.must(w.replicas[0].Networks.Refresh(w.t.Context()))
	_ = w.guarded(w.replicas[0], "sweep", func() error { _, err := w.replicas[0].Payments.Sweep(w.t.Context()); return err })
	if w.size.sends > 0 {
		w.sweepSends(w.replicas[0])
	}
	w.deliver(w.replicas[0])
}
