// Package sse notifies open pages of changes: payment pages of customers, and pages of the dashboard. It reads
// committed rows only: one poller per process asks the database for the versions of all that is watched,
// however many pages are open, so that a change made by any replica is noticed.
package sse

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"cointill/core/fault"
	"cointill/models"
)

const (
	every    = 500 * time.Millisecond // between two looks
	pause    = 50 * time.Millisecond  // at least, however many commits there are
	patience = 5 * time.Second        // for one look at the database
	maxPages = 2048                   // open at once in one process: a page takes 0.1 MB of memory
	maxEach  = 32                     // of customers, open at once for one payment
	chunk    = 500                    // payments asked for in one statement
)

// Topic is what a page depends on: a payment or a send with the network that it is paid on, or what happens in a
// domain of a business.
type Topic struct {
	Payment, Send int64
	Network       string

	Business int64
	Domain   string
	Sends    bool // also every step of the newest sends
}

// ofDomain reports that the topic is a domain of a business.
func (t Topic) ofDomain() bool { return t.Business != 0 }

// version is what a page of a topic depends on.
type version struct {
	steps   int
	height  int64
	problem string
	activity
}

type watched struct {
	known     bool // version was read
	version   version
	customers int // of the pages
	pages     map[chan struct{}]struct{}
}

// Hub knows the open pages. Make one with New, and Run it.
type Hub struct {
	// Problem is what keeps a network from being paid on now, as pages show it;
	// "" when nothing does. Nil stands for that. It is set before Run.
	Problem func(network string) string
	// Ended returns the viewers whose session ended, or whose member has another role. Nil ends none. It is set
	// before Run.
	Ended func(ctx context.Context, viewers []Viewer) ([]Viewer, error)
	// Most is how many pages may be open at once in this process. It is set before Run.
	Most int

	db     *models.DB
	signal chan struct{}
	closed chan struct{}

	rested *time.Timer // ends when the domains may be read again; only Run uses it

	mu      sync.Mutex
	topics  map[Topic]*watched
	domains int // of the topics
	members map[chan struct{}]memberPage
	opened  int // pages of members that were ever opened
	pages   int
	over    bool
}

// New makes a hub.
func New(db *models.DB) *Hub {
	return &Hub{Most: maxPages, db: db, signal: make(chan struct{}, 1), closed: make(chan struct{}),
		rested: time.NewTimer(0), topics: map[Topic]*watched{}, members: map[chan struct{}]memberPage{}}
}

// Subscribe watches a topic for one page of a customer. updates has something to read at
// once, so that a page which read before it subscribed misses nothing, and
// again after each change; several changes may come as one. leave must be
// called when the page has gone. Unavailable when too many pages are open:
// the page then asks again by itself.
func (h *Hub) Subscribe(topic Topic) (updates <-chan struct{}, leave func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w := h.topics[topic]; h.over || h.pages >= h.Most || w != nil && w.customers >= maxEach {
		return nil, nil, fault.Retry("too_many_streams", 5*time.Second,
			"Too many pages are open right now. This page tries again automatically.")
	}
	page := h.addPage(topic)
	h.topics[topic].customers++
	return page, sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.topics[topic].customers--
		h.removePage(topic, page)
	}), nil
}

// addPage adds a page to a topic. The lock is held.
func (h *Hub) addPage(topic Topic) chan struct{} {
	w := h.topics[topic]
	if w == nil {
		w = &watched{pages: map[chan struct{}]struct{}{}}
		h.topics[topic] = w
		if topic.ofDomain() {
			h.domains++
		}
	}
	page := make(chan struct{}, 1)
	page <- struct{}{}
	w.pages[page] = struct{}{}
	h.pages++
	h.Signal()
	return page
}

// removePage removes a page from a topic. The lock is held.
func (h *Hub) removePage(topic Topic, page chan struct{}) {
	w := h.topics[topic]
	delete(w.pages, page)
	h.pages--
	if len(w.pages) == 0 {
		delete(h.topics, topic)
		if topic.ofDomain() {
			h.domains--
		}
	}
}

// CountPages counts open pages, for the metrics.
func (h *Hub) CountPages() int { h.mu.Lock(); defer h.mu.Unlock(); return h.pages }

// Signal asks for a look at once. Call it after a commit that pages may show; it never waits.
func (h *Hub) Signal() {
	select {
	case h.signal <- struct{}{}:
	default: // one is asked for already
	}
}

// Closed is closed when the hub is: every stream ends then.
func (h *Hub) Closed() <-chan struct{} { return h.closed }

// Close ends all streams. Subscribe is refused afterwards. It may be called twice.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.over {
		h.over = true
		close(h.closed)
	}
}

// Run looks until ctx ends or the hub is closed.
func (h *Hub) Run(ctx context.Context) {
	tick, viewers := time.NewTicker(every), time.NewTicker(viewersEvery)
	defer tick.Stop()
	defer viewers.Stop()
	rest := time.NewTimer(0)
	defer rest.Stop()
	for {
		select { // a short rest, so that many commits cost few looks
		case <-ctx.Done():
			return
		case <-rest.C:
		}
		look := h.readChanges
		select {
		case <-ctx.Done():
			return
		case <-h.closed:
			return
		case <-tick.C:
		case <-h.signal:
		case <-viewers.C:
			look = h.endViewers
		}
		if err := look(ctx); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "open pages are not being updated", "error", err)
		}
		rest.Reset(pause)
	}
}

// readChanges reads what all open pages depend on and tells those that something changed for.
func (h *Hub) readChanges(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var of struct{ payments, sends, domains []Topic }
	for _, topic := range h.listTopics() {
		switch {
		case topic.ofDomain():
			of.domains = append(of.domains, topic)
		case topic.Send != 0:
			of.sends = append(of.sends, topic)
		default:
			of.payments = append(of.payments, topic)
		}
	}
	return errors.Join(h.lookAtRecords(ctx, of.payments, &models.Payment{}, func(t Topic) int64 { return t.Payment }),
		h.lookAtRecords(ctx, of.sends, &models.Send{}, func(t Topic) int64 { return t.Send }),
		h.pollDomains(ctx, of.domains))
}

func (h *Hub) listTopics() []Topic {
	h.mu.Lock()
	defer h.mu.Unlock()
	topics := make([]Topic, 0, len(h.topics))
	for topic := range h.topics {
		topics = append(topics, topic)
	}
	return topics
}

// lookAtRecords reads the versions of watched payments or sends and tells the pages of those that changed.
func (h *Hub) lookAtRecords(ctx context.Context, topics []Topic, table any, idOf func(Topic) int64) error {
	if len(topics) == 0 {
		return nil
	}
	heights, err := h.readHeights(ctx)
	if err != nil {
		return err
	}
	for len(topics) > 0 {
		n := min(chunk, len(topics))
		ids := make([]int64, n)
		for i, topic := range topics[:n] {
			ids[i] = idOf(topic)
		}
		steps, err := h.readSteps(ctx, table, ids)
		if err != nil {
			return err
		}
		versions := make([]version, n)
		for i, topic := range topics[:n] {
			versions[i] = version{steps: steps[ids[i]], height: heights[topic.Network]}
			if h.Problem != nil && topic.Network != "" {
				versions[i].problem = h.Problem(topic.Network)
			}
		}
		h.notifyPages(topics[:n], versions)
		topics = topics[n:]
	}
	return nil
}

func (h *Hub) readHeights(ctx context.Context) (map[string]int64, error) {
	var rows []models.ChainCursor // a handful
	err := h.db.Read(ctx).Select("network", "height").Find(&rows).Error
	heights := make(map[string]int64, len(rows))
	for _, row := range rows {
		heights[row.Network] = row.Height
	}
	return heights, err
}

func (h *Hub) readSteps(ctx context.Context, table any, ids []int64) (map[int64]int, error) {
	var rows []struct {
		ID    int64
		Steps int
	}
	err := h.db.Read(ctx).Model(table).Select("id", "steps").Where("id IN ?", ids).Find(&rows).Error
	steps := make(map[int64]int, len(rows))
	for _, row := range rows {
		steps[row.ID] = row.Steps
	}
	return steps, err
}

func (h *Hub) notifyPages(topics []Topic, versions []version) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, topic := range topics {
		w := h.topics[topic]
		if w == nil || w.known && w.version == versions[i] {
			continue
		}
		// A first look tells too: what the page showed may be older.
		w.known, w.version = true, versions[i]
		for page := range w.pages {
			select {
			case page <- struct{}{}:
			default: // it has an update to read already
			}
		}
	}
}
