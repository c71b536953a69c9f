package node

import (
	"context"
	"sync"
	"time"
)

// maxRetryDelay bounds the rest between two attempts to open a push connection.
const maxRetryDelay = time.Minute

// Listener is one push connection. Listen returns when it ends, and calls up when
// it stands; what comes is its own business.
type Listener struct {
	Host   string // for the log
	Kind   string // for the log
	Listen func(ctx context.Context, up func()) error
}

// Push keeps push connections and wakes whoever wants to know that there may be
// something new.
type Push struct {
	Retry     time.Duration // first rest before a connection is opened again; tests have less time
	config    Config
	listeners []Listener

	mu         sync.Mutex
	wakes      map[int]func() // by number
	lastNumber int            // number of the last one
}

// NewPush makes one without connections.
func NewPush(c Config) *Push { return &Push{config: c, Retry: time.Second, wakes: map[int]func(){}} }

// Add adds a connection, before Run.
func (p *Push) Add(l Listener) { p.listeners = append(p.listeners, l) }

// Notify has a function called whenever a node pushes something, until stop is
// called: a follower's Wake. It must not block.
func (p *Push) Notify(wake func()) (stop func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastNumber++
	number := p.lastNumber
	p.wakes[number] = wake
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.wakes, number)
	}
}

// Wake calls what Notify was given.
func (p *Push) Wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, wake := range p.wakes {
		wake()
	}
}

// Run keeps the push connections until the context ends, and then returns nil.
// They only call what Notify was given, so a source works without Run, too: it
// learns things a little later.
func (p *Push) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, l := range p.listeners {
		all.Go(func() { p.keepConnected(ctx, l) })
	}
	<-ctx.Done()
	all.Wait()
	return nil
}

// keepConnected opens a push connection again and again, with growing rests while it
// doesn't last. Each time it stands everybody is woken: something may have been
// missed.
func (p *Push) keepConnected(ctx context.Context, l Listener) {
	delay, failing := p.Retry, false
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
			delay = p.Retry
		}
		timer.Reset(delay)
		delay = min(2*delay, maxRetryDelay)
	}
}
