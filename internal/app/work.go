package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"cointill/chain"
	simulated "cointill/chain/sandbox"
	"cointill/core/money"
	"cointill/core/payment/books"
	"cointill/core/payment/issuer"
	"cointill/core/payment/observe"
	"cointill/core/payment/reconcile"
	"cointill/core/webhook/delivery"
)

// sealAudit seals the audit logs once a minute.
func (p *Product) sealAudit(ctx context.Context) error {
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		broken, err := p.Audits.SealChains(ctx)
		if err != nil && ctx.Err() == nil {
			p.Log.Error("the audit logs are not sealed; it is tried again in a minute", "error", err)
		}
		if len(broken) > 0 {
			p.Log.Error("audit logs don't hold: cointill audit verify says where", "businesses", broken)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// runWork runs everything that goes on beside requests, until the context ends;
// it returns when all of it has stopped.
func (p *Product) runWork(ctx context.Context) {
	var all sync.WaitGroup
	run := func(name string, fn func(context.Context) error) {
		all.Go(func() {
			if err := fn(ctx); err != nil && ctx.Err() == nil {
				p.Log.Error("stopped unexpectedly", "work", name, "error", err)
			}
		})
	}
	// leased is run for work that one process does for all.
	leased := func(name string, fn func(context.Context) error) {
		run(name, func(ctx context.Context) error {
			return p.Leases.Run(ctx, name, func(ctx context.Context, _ int64) error { return fn(ctx) })
		})
	}
	if p.shared != nil {
		run("clock", p.shared.Run)
	}
	run("deliveries", p.DeliveryWorker.Run)
	run("resends", p.Resends.Run)
	run("mails", p.MailWorker.Run)
	run("deadlines", func(ctx context.Context) error { return p.Payments.RunSweeps(ctx, 500*time.Millisecond) })
	run("deadlines of sends", func(ctx context.Context) error { return p.Sends.Evaluator.RunSweeps(ctx, time.Second) })
	run("figures", func(ctx context.Context) error { return p.Figures.Run(ctx, 5*time.Second) })
	run("sums of the journal", func(ctx context.Context) error { return p.Books.RunSums(ctx, 5*time.Second) })
	run("health", p.Networks.Run)
	run("streams", func(ctx context.Context) error { p.Hub.Run(ctx); return nil })
	run("limits", func(ctx context.Context) error { p.Limiter.Run(ctx); return nil })
	run("miner", simulated.Miner{Chains: p.chains, Log: p.Log}.Run)
	for _, source := range p.nodes.sources {
		run("listen to "+string(source.Network()), source.Run)
	}
	if p.Rates != nil {
		run("board of rates", p.Rates.Board.Run)
		leased("rates", p.Rates.keeper.Run)
	}
	booked := make(chan struct{}) // a follower dates what it books by today
	run("books", func(ctx context.Context) error {
		p.prepareBooks(ctx)
		close(booked)
		return nil
	})
	for _, f := range p.Follows {
		run("follow "+string(f.Network()), func(ctx context.Context) error {
			<-booked
			return p.followNetwork(ctx, f)
		})
	}
	leased("alarms", p.newAlarms().Run)
	leased("mails about notifications", p.newNotificationMails().Run)
	leased("notifications in browsers", p.newPush().Run)
	run("housekeeping", p.keepHouse)
	run("address marks", p.Wallets.KeepMarks)
	run("sealing the audit log", p.sealAudit)
	run("log of API calls", p.Calls.Run)
	all.Wait()
}

// prepareBooks books what an earlier release recorded, and tries again until that is done.
func (p *Product) prepareBooks(ctx context.Context) {
	report := func(booked int) { p.Log.Info("booking what an earlier release recorded", "transfers", booked) }
	for {
		err := books.PrepareBooks(ctx, p.DB, p.Clock, report)
		if err == nil || ctx.Err() != nil {
			return
		}
		p.Log.Error("what an earlier release recorded can't be booked; it is tried again", "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(booksRetry):
		}
	}
}

// booksRetry is the time between two tries to book what an earlier release recorded.
const booksRetry = 5 * time.Second

// reconcileEvery is how often balances are compared, if a further block was finalized.
const reconcileEvery = 5 * time.Second

// followNetwork follows one network while this process holds its lease.
func (p *Product) followNetwork(ctx context.Context, f followed) error {
	network := f.Network()
	return p.Leases.Run(ctx, "follow "+string(network), func(ctx context.Context, fence int64) error {
		observer := p.newObserver(f)
		if err := observer.Load(ctx, network); err != nil {
			return err
		}
		follower := chain.NewFollower(chain.FollowerConfig{
			Network: network, Source: f, Store: observer, Watch: observer.Watching, Clock: p.Clock, Log: p.Log,
			Interval: f.interval, RestInterval: f.rest,
			Fence:   func() int64 { return fence },
			Refresh: func(ctx context.Context) error { return observer.Refresh(ctx, network) },
			Awaited: func(ctx context.Context) (bool, error) { return observer.IsAwaited(ctx, network) },
		})
		p.followers.Store(network, follower)
		defer p.followers.Delete(network)
		defer f.Notify(follower.Wake)()
		var beside sync.WaitGroup
		defer beside.Wait()
		if accounts, ok := f.NetworkSource.(reconcile.Accounts); ok && f.paysEther {
			reconciler := &reconcile.Reconciler{Observer: observe.New(p.Payments, p.Sends, observer.Watching),
				Network: network, Coin: money.ETH, Accounts: accounts, Fence: fence}
			beside.Go(func() { _ = reconciler.Run(ctx, reconcileEvery) })
		}
		if token, ok := f.NetworkSource.(issuer.Issuer); ok && f.hasIssuer {
			monitor := &issuer.Monitor{Service: p.Payments, Network: network, Token: money.USDT, Issuer: token,
				Fence: fence}
			beside.Go(func() { _ = monitor.Run(ctx, reconcileEvery) })
		}
		return follower.Run(ctx)
	})
}

// newObserver makes the observer of a network.
func (p *Product) newObserver(f followed) *observe.Observer {
	watching := &chain.WatchSet{Codec: f.codec}
	if f.addresses == nil {
		return observe.New(p.Payments, p.Sends, watching)
	}
	return observe.NewSharing(p.Payments, p.Sends, watching, f.addresses)
}

// keepHouse deletes expired rows, once an hour.
func (p *Product) keepHouse(ctx context.Context) error {
	ticker := time.NewTicker(time.Hour)
	defer ticker.Stop()
	for {
		if err := errors.Join(p.Sessions.Sweep(ctx), p.Accounts.Sweep(ctx), p.Answers.Sweep(ctx), p.pruneRows(ctx),
			p.Notices.ForgetFormerMembers(ctx), p.newPush().Prune(ctx), p.newMonthly().SendDue(ctx)); err != nil &&
			ctx.Err() == nil {
			p.Log.Error("housekeeping failed; it is tried again in an hour", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// pruneRows forgets old events and API calls, a small batch at a time with a rest between them:
// deliveries and payments come first.
func (p *Product) pruneRows(ctx context.Context) error {
	for {
		more, err := delivery.Prune(ctx, p.DB, p.Clock())
		if err != nil {
			return err
		}
		others, err := p.Calls.PruneCalls(ctx)
		if err != nil {
			return err
		}
		notices, err := p.Notices.Prune(ctx)
		if err != nil || !more && !others && !notices {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Serve serves on the listener until the context ends, then stops in order:
// streams, requests under way, workers, database.
func (p *Product) Serve(ctx context.Context, listener net.Listener) error {
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var workers, serving sync.WaitGroup
	workers.Go(func() { p.runWork(working) })
	failed := make(chan error, 1)
	serving.Go(func() { failed <- p.Server.Listen(listener) })
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
		if err != nil {
			err = fmt.Errorf("serve: %w", err)
		}
	}
	stop()
	err = errors.Join(err, p.Server.Shutdown(context.WithoutCancel(ctx)))
	workers.Wait()
	serving.Wait()
	p.closeTraces(context.WithoutCancel(ctx))
	return errors.Join(err, p.Close())
}
