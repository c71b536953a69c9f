package sse

import (
	"context"
	"sync"
	"time"

	"cointill/core/fault"
	"cointill/models"
)

const (
	maxLists    = 256 // watched at once in one process: a statement each, at each look
	maxEachList = 64  // open pages of one list
)

// List is the payments of a business in a domain.
type List struct {
	Business int64
	Domain   string
}

type watchedList struct {
	known  bool  // newest was read
	newest int64 // row of the newest payment
	pages  map[chan struct{}]struct{}
}

// SubscribeList watches for new payments in a list for one page. updates,
// leave and the error are as in Subscribe.
func (h *Hub) SubscribeList(list List) (updates <-chan struct{}, leave func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.lists[list]
	if h.over || h.pages >= h.Most || w == nil && len(h.lists) >= maxLists || w != nil && len(w.pages) >= maxEachList {
		return nil, nil, fault.Retry("too_many_streams",
			"Too many pages are open right now. Reload the page to see what is new.", 5*time.Second)
	}
	if w == nil {
		w = &watchedList{pages: map[chan struct{}]struct{}{}}
		h.lists[list] = w
	}
	page := make(chan struct{}, 1)
	page <- struct{}{}
	w.pages[page] = struct{}{}
	h.pages++
	return page, sync.OnceFunc(func() { h.leaveList(list, page) }), nil
}

func (h *Hub) leaveList(list List, page chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.lists[list]
	delete(w.pages, page)
	h.pages--
	if len(w.pages) == 0 {
		delete(h.lists, list)
	}
}

// lookAtLists reads the newest payment of each watched list and tells the pages of those that have a newer one.
func (h *Hub) lookAtLists(ctx context.Context) error {
	for _, list := range h.watchedLists() {
		var newest []int64
		err := h.db.Read(ctx).Model(&models.Payment{}).Where("business_id = ? AND domain = ?", list.Business,
			list.Domain).
			Order("created_at DESC, id DESC").Limit(1).Pluck("id", &newest).Error
		if err != nil {
			return err
		}
		h.tellList(list, append(newest, 0)[0])
	}
	return nil
}

func (h *Hub) watchedLists() []List {
	h.mu.Lock()
	defer h.mu.Unlock()
	lists := make([]List, 0, len(h.lists))
	for list := range h.lists {
		lists = append(lists, list)
	}
	return lists
}

func (h *Hub) tellList(list List, newest int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.lists[list]
	if w == nil || w.known && w.newest == newest {
		return
	}
	w.known, w.newest = true, newest
	for page := range w.pages {
		select {
		case page <- struct{}{}:
		default: // it has an update to read already
		}
	}
}
