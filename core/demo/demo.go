// Package demo gives a new business of the test domain a past: 90 days of payments as a shop has
// them. A clock goes through these days, and at each moment the services do their work of that
// moment: payments are initiated and opened, transactions are mined on the simulated networks and
// read by followers, deadlines pass, webhooks are delivered, and people decide. So journal, figures
// and lists are made by the code that makes them in use.
package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cointill/chain"
	"cointill/core/clock"
	"cointill/core/link"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/observe"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/stats"
	"cointill/core/webhook"
)

// Days is how many days the demo's past has.
const Days = 90

// Network is a simulated network.
type Network interface {
	chain.Source
	sandbox.Chain
}

// Services are what the past is made with. All of them go by Clock.
type Services struct {
	Clock     *clock.Fake
	Payments  *payment.Service
	Resolver  *payment.Resolver
	Sends     *send.Service
	Sandbox   *sandbox.Service
	Links     *link.Service
	Webhooks  *webhook.Service
	Figures   *stats.Service
	Networks  map[money.Chain]Network
	Accepted  map[money.Method][]money.Chain // networks that the business takes each method on
	Deliver   func(context.Context) error    // makes the deliveries that are due
	Report    func(done, all int)            // is called after each payment; may be nil
	TestScope scope.Scope                    // of Cointill itself, in the business's test domain
	Owner     scope.Scope                    // of its owner, there
}

// shop makes the past of one business.
type shop struct {
	Services
	ctx      context.Context
	days     int
	until    time.Time
	line     timeline
	networks map[money.Chain]*network
	links    []string             // codes of the payment links
	webhook  string               // id of the webhook; "" before it is registered
	ahead    int                  // payments that are still to be initiated
	planned  int                  // payments in all
	turns    map[money.Method]int // payments that had a network chosen
	// decisions counts the declined payments that the owner has dealt with, by reason.
	decisions map[payment.Reason]int
}

// network is a simulated network with the follower that reads it.
type network struct {
	Network
	follower *chain.Follower
	awaited  bool // the next step reads the mempool, too
}

// Fill makes the past of some days up to a time, and returns the number of its payments. The same time gives the
// same customers, amounts and scenarios.
//
// SQLite's driver starts a goroutine for each statement that can be cancelled. The statements here
// can't be, so ctx is looked at between them.
func Fill(ctx context.Context, services Services, days int, until time.Time) (payments int, err error) {
	s := &shop{Services: services, ctx: context.WithoutCancel(ctx), days: days, until: clock.Trim(until),
		networks: map[money.Chain]*network{}, turns: map[money.Method]int{}, decisions: map[payment.Reason]int{}}
	if err := s.openNetworks(); err != nil {
		return 0, err
	}
	s.planShop()
	for {
		next, found := s.line.next(s.until)
		if !found {
			break
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		s.moveClock(next.at)
		if err := s.runEvent(next); err != nil {
			return 0, fmt.Errorf("demo at %s: %w", clock.Format(next.at), err)
		}
	}
	s.moveClock(s.until)
	return s.planned, s.endPast()
}

// endPast switches the webhook off, as its server does not exist, and counts the figures.
func (s *shop) endPast() error {
	_, err := s.Webhooks.Update(s.ctx, s.Owner, s.webhook, webhook.Change{Active: new(false)})
	for folded := 1; err == nil && folded > 0; {
		folded, err = s.Figures.FoldChanges(s.ctx)
	}
	return err
}

// runEvent runs an event, and the deliveries that are due then.
func (s *shop) runEvent(next event) error {
	if err := next.happen(); err != nil || s.webhook == "" {
		return err
	}
	return s.Deliver(s.ctx)
}

// moveClock moves the clock to a time; it never goes back.
func (s *shop) moveClock(to time.Time) { s.Clock.Advance(max(0, to.Sub(s.Clock.Now()))) }

// openNetworks begins to follow each network.
func (s *shop) openNetworks() error {
	var errs []error
	for kind, one := range s.Networks {
		observer := observe.New(s.Payments, s.Sends, &chain.WatchSet{})
		errs = append(errs, observer.Load(s.ctx, one.Network()))
		at := &network{Network: one}
		at.follower = chain.NewFollower(chain.FollowerConfig{Network: one.Network(), Source: one, Store: observer,
			Watch: observer.Watching, Clock: s.Clock.Now, RestInterval: time.Hour,
			Awaited: func(context.Context) (bool, error) { return at.awaited, nil },
			Refresh: func(ctx context.Context) error { return observer.Refresh(ctx, one.Network()) }})
		s.networks[kind] = at
		errs = append(errs, s.readNetwork(s.networks[kind]))
	}
	return errors.Join(errs...)
}

// readNetwork has a network read, with the deadlines that pass by it.
func (s *shop) readNetwork(at *network) error {
	at.awaited = true
	_, err := at.follower.Step(s.ctx)
	return err
}

// mineBlocks adds blocks to a network and has them read, without the mempool where that is long ago.
func (s *shop) mineBlocks(at *network, blocks int) error {
	if _, err := at.Mine(s.ctx, blocks); err != nil {
		return err
	}
	at.awaited = s.until.Sub(s.Clock.Now()) < detailed
	_, err := at.follower.Step(s.ctx)
	return err
}
