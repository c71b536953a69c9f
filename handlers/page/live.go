package page

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"cointill/views/layout"
)

// LivePath streams the changes of what a page shows.
const LivePath = "/dashboard/live"

// sinceHeader is sent by the script of an open page that asks for itself again: it names the newest row that the
// page's list had when it was opened.
const sinceHeader = "X-Live-Since"

// noRow is the sinceHeader of a list that was empty.
const noRow = "0"

// MakeLive keeps a page up to date while it is open. query names what it depends on, and is "" for all that
// happens in the domain. An answer to a form stays as it is.
func (c *Ctx) MakeLive(shell *layout.Page, query string) {
	if c.Method() == http.MethodGet && c.Offers(LivePath) {
		shell.Live = LivePath + query
	}
}

// LiveSince returns the newest row of a list when its page was opened, "" for none, and whether the page's
// script asks.
func (c *Ctx) LiveSince() (newest string, asked bool) {
	since := CleanText(strings.Clone(c.Get(sinceHeader)))
	return strings.TrimPrefix(since, noRow), since != ""
}

// eventChanged says that the page should be asked for again.
const eventChanged = "changed"

// StreamChanges sends an event at once, and one after each update. Ends as StreamEvents.
func (c *Ctx) StreamChanges(updates <-chan struct{}, leave func()) error {
	sent := 0
	return c.StreamEvents(updates, leave, func(context.Context) (Event, error) {
		sent++
		return Event{Name: eventChanged, Data: strconv.Itoa(sent)}, nil
	})
}
