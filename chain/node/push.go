package node

import (
	"context"
	"sync"
	"time"

	"cointill/chain"
)

// maxRetryDelay bounds the delay between two attempts to open a push connection.
const maxRetryDelay = time.Minute

// Listener is one push connection. Listen returns when the connection ends, and calls up when it
// stands. It handles the messages itself.
type Listener struct {
	Host   string // for the log
	Kind   string // for the log
	Listen func(ctx context.Context, up func()) error
}

// PushConnections keeps push connections open, and wakes its subscribers when a node may have news.
type PushConnections struct {
	chain.Subscribers
	RetryDelay time.Duration // first delay before a connection is opened again; tests use less
	config     Config
	listeners  []Listener
}

// NewPushConnections makes a PushConnections without connections.
func NewPushConnections(c Config) *PushConnections {
	return &PushConnections{config: c, RetryDelay: time.Second}
}

// AddListener adds a connection. It is called before Run.
func (p *PushConnections) AddListener(l Listener) { p.listeners = append(p.listeners, l) }

// Run keeps the push connections open until the context ends, and then returns nil. Push
// connections only wake the subscribers, so a source works without Run, too: it learns of
// changes a little later.
func (p *PushConnections) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, l := range p.listeners {
		all.Go(func() { p.keepConnected(ctx, l) })
	}
	<-ctx.Done()
	all.Wait()
	return nil
}

// keepConnected opens a push connection again and again, with growing delays while it fails. Each
// time it stands the subscribers are woken, because messages may have been missed.
func (p *PushConnections) keepConnected(ctx context.Context, l Listener) {
	delay, failing := p.RetryDelay, false
	timer := time.NewTimer(0)
	defer timer.Stop()
	log := p.config.Log.With("network", p.config.Network, "host", l.Host, "kind", l.Kind)
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		opened := p.config.Clock()
		err := l.Listen(ctx, func() {
			if failing {
				log.Info("a push connection is back")
			}
			failing = false
			p.Wake()
		})
		if ctx.Err() != nil {
			return
		}
		if !failing {
			log.Warn("a push connection ended; the "+p.config.Kind+" is polled until it is back", "error", err)
		}
		failing = true
		if p.config.Clock().Sub(opened) > maxRetryDelay {
			delay = p.RetryDelay
		}
		timer.Reset(delay)
		delay = min(2*delay, maxRetryDelay)
	}
}
