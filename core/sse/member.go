package sse

import (
	"context"
	"slices"
	"sync"
	"time"

	"cointill/core/fault"
)

const (
	viewersEvery  = 2 * time.Second // between two looks at who is still signed in
	maxOfSession  = 8               // pages of one browser; the stream of its oldest page ends for one more
	maxOfBusiness = 64              // pages of all members of a business
	memberShare   = 2               // members have at most one of so many pages of a process: customers have the rest
)

// Viewer is a signed-in browser with the rights that it had when its page was opened.
type Viewer struct {
	Session        string // the session's key
	User, Business int64
	Role           string
}

// memberPage is an open page of the dashboard.
type memberPage struct {
	viewer Viewer
	topic  Topic
	number int // pages that were opened before it, and it
}

// SubscribeMember watches a topic for one page of the dashboard. updates, leave and the error are as in
// Subscribe. updates is closed when the viewer's session ends, its member has another role, or the browser has opened
// too many other pages since: the streams of pages that a person left quickly are open for some time.
func (h *Hub) SubscribeMember(viewer Viewer, topic Topic) (updates <-chan struct{}, leave func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.endOldestPage(viewer.Session)
	ofBusiness := 0
	for _, page := range h.members {
		if page.viewer.Business == viewer.Business {
			ofBusiness++
		}
	}
	newDomain := topic.ofDomain() && h.topics[topic] == nil
	if h.over || h.pages >= h.Most || len(h.members) >= h.Most/memberShare || ofBusiness >= maxOfBusiness ||
		newDomain && h.domains >= maxDomains {
		return nil, nil, fault.Retry("too_many_streams", 5*time.Second,
			"Too many pages are open right now. This page looks for changes more slowly.")
	}
	page := h.addPage(topic)
	h.opened++
	h.members[page] = memberPage{viewer, topic, h.opened}
	return page, sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.removeMember(page)
	}), nil
}

// endOldestPage ends the stream of a session's oldest page when it has as many as one may have. The lock is held.
func (h *Hub) endOldestPage(session string) {
	var oldest chan struct{}
	pages := 0
	for page, of := range h.members {
		if of.viewer.Session != session {
			continue
		}
		if pages++; oldest == nil || of.number < h.members[oldest].number {
			oldest = page
		}
	}
	if pages >= maxOfSession {
		h.removeMember(oldest)
		close(oldest)
	}
}

// removeMember removes a page, unless it is gone already. The lock is held.
func (h *Hub) removeMember(page chan struct{}) {
	if of, open := h.members[page]; open {
		delete(h.members, page)
		h.removePage(of.topic, page)
	}
}

// endViewers ends the streams of members who are signed out or have another role.
func (h *Hub) endViewers(ctx context.Context) error {
	viewers := h.listViewers()
	if h.Ended == nil || len(viewers) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ended, err := h.Ended(ctx, viewers)
	h.mu.Lock()
	defer h.mu.Unlock()
	for page, of := range h.members {
		if slices.Contains(ended, of.viewer) {
			h.removeMember(page)
			close(page)
		}
	}
	return err
}

// listViewers lists the members with open pages, each once.
func (h *Hub) listViewers() (viewers []Viewer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := map[Viewer]bool{}
	for _, page := range h.members {
		if !known[page.viewer] {
			known[page.viewer] = true
			viewers = append(viewers, page.viewer)
		}
	}
	return viewers
}
