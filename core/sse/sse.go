// Package sse notifies open payment pages of changes. It reads committed rows
// only: one poller per process asks the database for
// the versions of all watched payments at once, however many pages are open,
// so that a change made by any replica is noticed.
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
	maxPages = 1024                   // open at once in one process: a page takes 0.1 MB of memory
	maxEach  = 32                     // open at once for one payment
	chunk    = 500                    // payments asked for in one statement
)

// Topic is a payment that pages watch, and the network it is paid on.
type Topic struct {
	Payment int64
	Network string
}

// version is what a page of a topic depends on.
type version struct {
	steps   int
	height  int64
	problem string
}

type watched struct {
	known   bool // version was read
	version version
	pages   map[chan struct{}]struct{}
}

// Hub knows the open pages. Make one with New, and Run it.
type Hub struct {
	// Problem is what keeps a network from being paid on now, as pages show it;
	// "" when nothing does. Nil stands for that. It is set before Run.
	Problem func(network string) string
	// Most is how many pages may be open at once in this process. It is set before Run.
	Most int

	db     *models.DB
	signal chan struct{}
	closed chan struct{}

	mu     sync.Mutex
	topics map[Topic]*watched
	lists  map[List]*watchedList
	pages  int
	over   bool
}

// New makes a hub.
func New(db *models.DB) *Hub {
	return &Hub{Most: maxPages, db: db, signal: make(chan struct{}, 1), closed: make(chan struct{}),
		topics: map[Topic]*watched{}, lists: map[List]*watchedList{}}
}

// Subscribe watches a topic for one page. updates has something to read at
// once, so that a page which read before it subscribed misses nothing, and
// again after each change; several changes may come as one. leave must be
// called when the page has gone. Unavailable when too many pages are open:
// the page then asks again by itself.
func (h *Hub) Subscribe(topic Topic) (updates <-chan struct{}, leave func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.topics[topic]
	if h.over || h.pages >= h.Most || w != nil && len(w.pages) >= maxEach {
		return nil, nil, fault.Retry("too_many_streams",
			"Too many pages are open right now. This page tries again automatically.", 5*time.Second)
	}
	if w == nil {
		w = &watched{pages: map[chan struct{}]struct{}{}}
		h.topics[topic] = w
	}
	page := make(chan struct{}, 1)
	page <- struct{}{}
	w.pages[page] = struct{}{}
	h.pages++
	h.Signal()
	return page, sync.OnceFunc(func() { h.removePage(topic, page) }), nil
}

func (h *Hub) removePage(topic Topic, page chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.topics[topic]
	delete(w.pages, page)
	h.pages--
	if len(w.pages) == 0 {
		delete(h.topics, topic)
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
	tick := time.NewTicker(every)
	defer tick.Stop()
	rest := time.NewTimer(0)
	defer rest.Stop()
	for {
		select { // a short rest, so that many commits cost few looks
		case <-ctx.Done():
			return
		case <-rest.C:
		}
		select {
		case <-ctx.Done():
			return
		case <-h.closed:
			return
		case <-tick.C:
		case <-h.signal:
		}
		if err := h.readChanges(ctx); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "open pages are not being updated", "error", err)
		}
		rest.Reset(pause)
	}
}

// readChanges reads what all open pages depend on and tells those that something changed for.
func (h *Hub) readChanges(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return errors.Join(h.lookAtPayments(ctx), h.lookAtLists(ctx))
}

// lookAtPayments reads the versions of all watched payments and tells the pages of those that changed.
func (h *Hub) lookAtPayments(ctx context.Context) error {
	topics := h.listTopics()
	if len(topics) == 0 {
		return nil
	}
	heights, err := h.readHeights(ctx)
	if err != nil {
		return err
	}
	for len(topics) > 0 {
		n := min(chunk, len(topics))
		steps, err := h.readSteps(ctx, topics[:n])
		if err != nil {
			return err
		}
		h.notifyPages(topics[:n], steps, heights)
		topics = topics[n:]
	}
	return nil
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

func (h *Hub) readHeights(ctx context.Context) (map[string]int64, error) {
	var rows []models.ChainCursor // a handful
	err := h.db.Read(ctx).Select("network", "height").Find(&rows).Error
	heights := make(map[string]int64, len(rows))
	for _, row := range rows {
		heights[row.Network] = row.Height
	}
	return heights, err
}

func (h *Hub) readSteps(ctx context.Context, topics []Topic) (map[int64]int, error) {
	ids := make([]int64, len(topics))
	for i, topic := range topics {
		ids[i] = topic.Payment
	}
	var rows []models.Payment
	err := h.db.Read(ctx).Select("id", "steps").Where("id IN ?", ids).Find(&rows).Error
	steps := make(map[int64]int, len(rows))
	for _, row := range rows {
		steps[row.ID] = row.Steps
	}
	return steps, err
}

func (h *Hub) notifyPages(topics []Topic, steps map[int64]int, heights map[string]int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, topic := range topics {
		w := h.topics[topic]
		now := version{steps: steps[topic.Payment], height: heights[topic.Network]}
		if h.Problem != nil {
			now.problem = h.Problem(topic.Network)
		}
		if w == nil || w.known && w.version == now {
			continue
		}
		// A first look tells too: what the page showed may be older.
		w.known, w.version = true, now
		for page := range w.pages {
			select {
			case page <- struct{}{}:
			default: // it has an update to read already
			}
		}
	}
}
