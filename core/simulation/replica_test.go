package simulation_test

import (
	"context"
	"database/sql"
	"log/slog"
	"net/http"
	"time"

	"gorm.io/gorm"

	"cointill/chain"
	"cointill/core/account/accounttest"
	"cointill/core/lease"
	"cointill/core/mail"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/outbox"
	"cointill/core/payment/observe"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/core/send/letter"
	"cointill/internal/app/services"
	"cointill/models"
)

// replica is one process of the product with the services of the program, without
// its HTTP server. All that it has in memory is gone when it restarts.
type replica struct {
	*world
	*services.Services
	number  int
	failer  *failer
	shared  *observe.Addresses // of the networks of Ethereum's kind
	follows map[money.Chain]*following
}

// following is a network that the replica holds, or held, the lease of.
type following struct {
	fence    int64
	renewed  time.Time
	node     *node
	observer *observe.Observer
	follower *chain.Follower
}

// start opens the database and wires a process.
func (w *world) start(number int) *replica {
	w.t.Helper()
	db, err := models.Open(w.address, w.dir, w.clock.Now)
	w.must(err)
	if !db.Postgres() { // nobody pulls the plug here, and waiting for the disk is most of what a run takes
		w.must(db.Exec(w.t.Context()).Exec("PRAGMA synchronous = OFF").Error)
	}
	r := &replica{world: w, number: number, failer: &failer{}, follows: map[money.Chain]*following{},
		shared: observe.NewAddresses(&chain.WatchSet{})}
	w.must(r.failer.watch(db))
	db.Through(func(pool gorm.ConnPool) gorm.ConnPool { return &breaking{pool.(*sql.DB), r.failer} })
	now := w.clock.Now
	registry := &networks.Registry{DB: db, Domains: map[scope.Domain]map[money.Chain]chain.Network{scope.Test: {}},
		Homes: map[chain.Network]chain.Network{}}
	for _, n := range w.chains {
		registry.Domains[scope.Test][n.kind] = n.name
		if n.kind.IsEVM() {
			registry.Homes[n.name] = chain.Sandbox(money.Ethereum)
		}
	}
	w.must(registry.Refresh(w.t.Context()))
	r.Services = services.New(services.Config{DB: db, Clock: now, Secrets: w.box, Base: "http://localhost",
		Users: accounttest.NewUsers(db, now, w.box), Networks: registry,
		Quotes: &quote.Service{DB: db, Clock: now, Sources: map[scope.Domain]quote.Source{scope.Test: quote.Fixed{Clock: now}}},
		Render: services.MailRenderers{
			Receipt: func(r mail.Receipt) (string, string, string) { return r.Reference, "text", "html" },
			Send:    func(l letter.Letter) (string, string, string) { return string(l.Kind), l.URL, "" }},
		Clients: map[scope.Domain]*http.Client{scope.Test: w.client()}, Version: "sim",
		// One delivery at a time, so that a seed replays: for a slow key no rows wait in a queue, whose
		// results would be written together or not, as it happens.
		DeliveryOptions: outbox.Options{Pool: 1, Share: 1, Slow: 1, Log: slog.New(slog.DiscardHandler)}})
	r.Sends.Users = trusting{r.Sends.Users}
	r.Sends.Rules.Users = r.Sends.Users
	return r
}

// restart drops the process and starts it anew on the same database.
func (w *world) restart(r *replica) {
	w.must(r.DB.Close())
	w.replicas[r.number] = w.start(r.number)
}

// follow takes one step along a network if the replica holds its lease. A paused
// one doesn't ask whether it still does.
func (r *replica) follow(c money.Chain, fault string, paused bool) error {
	ctx, f := r.t.Context(), r.follows[c]
	if f == nil || !paused && !r.clock.Now().Before(f.renewed.Add(2*time.Second)) {
		taken, err := r.Leases.Take(ctx, "follow "+string(c), lease.Hold)
		if err != nil || !taken.Held {
			return err
		}
		r.tookOver(c, taken)
		if f == nil || f.fence != taken.Fence {
			if taken.Fence > 1 {
				r.count(takeover)
			}
			if f, err = r.lead(c, taken.Fence); err != nil {
				return err
			}
		}
		f.renewed = r.clock.Now()
	}
	f.node.begin(fault)
	looks := len(f.node.looks)
	_, err := f.follower.Step(ctx)
	if err == nil && r.failer.intact() {
		f.node.noteApplied(f.follower.Status().Applied.Height)
		if f.node.fault == nodeHealthy && !paused && len(f.node.looks) > looks {
			r.ended = f.node.network
		}
	}
	return err
}

// held is who has a lease, as was last heard.
type held struct {
	by *lease.Leases
	lease.Lease
}

// tookOver looks at who had a lease before (25): only one that has run out is taken over,
// and under a higher fence.
func (r *replica) tookOver(c money.Chain, taken lease.Lease) {
	before := r.held[c]
	if before.by != nil && before.by != r.Leases && (r.clock.Now().Before(before.Until) || taken.Fence <= before.Fence) {
		r.find("invariant 25: %s was taken over under fence %d, and is another's until %s under fence %d", c, taken.Fence, before.Until, before.Fence)
	}
	r.world.held[c] = held{r.Leases, taken}
}

// lead begins to follow under a fence.
func (r *replica) lead(c money.Chain, fence int64) (*following, error) {
	network := chain.Sandbox(c)
	f := &following{fence: fence, node: &node{network: r.nets[c]}}
	if f.observer = observe.New(r.Payments, r.Sends, &chain.WatchSet{}); c.IsEVM() {
		f.observer = observe.NewSharing(r.Payments, r.Sends, &chain.WatchSet{}, r.shared)
	}
	if err := f.observer.Load(r.t.Context(), network); err != nil {
		return nil, err
	}
	observer := f.observer
	f.follower = chain.NewFollower(chain.FollowerConfig{
		Network: network, Source: f.node, Store: observer, Watch: observer.Watching, Clock: r.clock.Now, Interval: time.Second,
		Fence:   func() int64 { return fence },
		Refresh: func(ctx context.Context) error { return observer.Refresh(ctx, network) },
		// A step reads no mempool while nothing is awaited.
		RestInterval: time.Minute,
		Awaited:      func(ctx context.Context) (bool, error) { return observer.IsAwaited(ctx, network) },
	})
	r.follows[c] = f
	return f, nil
}
