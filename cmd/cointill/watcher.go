package main

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"cointill/core/clock"
)

const (
	// overlap is how long after an event was first read older ones are still
	// looked for: the list is ordered by when an event was written, and one whose
	// transaction took longer appears below others.
	overlap = 30 * time.Second
	// maxPages bounds what one look reads: 10,000 events.
	maxPages = 100
)

// watcher reads the events that come after its start, each once.
type watcher struct {
	api   *apiClient
	clock clock.Clock
	seen  map[string]time.Time // the newest events, with when each was first read
	floor string               // the oldest that was read at the start; "" when there is none below it
	// skipped says that more came than one look reads, so that the oldest of them are missing.
	skipped bool
}

// startWatcher starts a watcher: what the API lists now is not new.
func startWatcher(ctx context.Context, api *apiClient, now clock.Clock) (*watcher, error) {
	w := &watcher{api: api, clock: now, seen: map[string]time.Time{}}
	page, next, err := w.readPage(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, e := range page {
		w.seen[e.ID] = now()
	}
	if next != "" && len(page) > 0 {
		w.floor = page[len(page)-1].ID
	}
	return w, nil
}

func (w *watcher) readPage(ctx context.Context, cursor string) (page []event, next string, err error) {
	path := "/v1/events?limit=100"
	if cursor != "" {
		path += "&cursor=" + url.QueryEscape(cursor)
	}
	next, err = w.api.callAPI(ctx, http.MethodGet, path, nil, &page)
	return page, next, err
}

// readNew returns the events since the last look, oldest first. After an error nothing counts as
// read, and the next look returns all of it.
func (w *watcher) readNew(ctx context.Context) ([]event, error) {
	var fresh []event
	met := map[string]time.Time{}
	floor, cursor := w.floor, ""
	now := w.clock()
	for pages, done := 0, false; !done; pages++ {
		if pages == maxPages {
			w.skipped, w.floor = true, floor
			break
		}
		page, next, err := w.readPage(ctx, cursor)
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			first, known := w.seen[e.ID]
			if !known {
				first, fresh = now, append(fresh, e)
			}
			met[e.ID] = first
			if done = e.ID == w.floor || known && now.Sub(first) > overlap; done {
				break
			}
			floor = e.ID
		}
		cursor, done = next, done || next == ""
	}
	w.seen = met
	slices.Reverse(fresh)
	return fresh, nil
}
