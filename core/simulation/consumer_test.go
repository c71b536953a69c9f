package simulation_test

import (
	"errors"
	"hash/fnv"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"cointill/core/webhook/guard"
	"cointill/models"
)

// endpoint is a webhook as its merchant knows it.
type endpoint struct {
	id  string
	url string
	activity
}

// activity is whether something is on, now and before.
type activity struct {
	active bool
	since  time.Time // when it became so
	spans  []span    // before
}

type span struct {
	from, to time.Time
	active   bool
}

// at tells whether it was on at a time.
func (e *activity) at(when time.Time) bool {
	for _, s := range e.spans {
		if !when.Before(s.from) && when.Before(s.to) {
			return s.active
		}
	}
	return e.active
}

// received is what came of one event to one endpoint.
type received struct {
	body     string
	requests int
	accepted int
}

// during tells whether it was on all the time from a time to another, and whether it ever was.
func (e *activity) during(from, to time.Time) (always, ever bool) {
	always = true
	for _, s := range append(slices.Clone(e.spans), span{e.since, to.Add(1), e.active}) {
		if !s.to.After(from) || s.from.After(to) {
			continue
		}
		always, ever = always && s.active, ever || s.active
	}
	return always, ever
}

// turns is that it is on or off from now on.
func (e *activity) turns(on bool, now time.Time) {
	e.spans = append(e.spans, span{e.since, now, e.active})
	e.active, e.since = on, now
}

// consumers are the merchants' servers. They fail often, and keep what they got.
type consumers struct {
	*world
	mu   sync.Mutex
	got  map[string]*received // by URL and webhook-id
	gone map[string]time.Time // the URLs that answered 410 in this step, and when
}

var errConsumer = errors.New("simulated: connection reset")

// client is the product's own, with the merchants' servers in place of its connections.
func (w *world) client() *http.Client {
	client := guard.NewClient(guard.Config{})
	client.Transport = w.consumers
	return client
}

// RoundTrip answers a delivery: for some events the first attempts fail.
func (c *consumers) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock.Advance(time.Microsecond) // the worker takes every key for a slow one
	id := request.Header.Get("webhook-id")
	key := request.URL.String() + " " + id
	r := c.got[key]
	if r == nil {
		r = &received{body: string(body)}
		c.got[key] = r
	}
	if r.body != string(body) {
		c.find("invariant 11: %s came with two bodies", id)
	}
	if !strings.Contains(r.body, `"id":"`+id+`"`) {
		c.find("invariant 11: the body of %s has another id", id)
	}
	r.requests++
	sum := fnv.New32()
	_, _ = sum.Write([]byte(key))
	dice := sum.Sum32() >> 8 // a 32-bit sum's low bits follow the text's last letter
	status, header := http.StatusNoContent, http.Header{}
	switch {
	case dice%89 == 0 && (!c.calm || r.requests > 1): // this one it never takes
		c.count("consumer: refuses for good")
		status = http.StatusBadRequest
	case dice%97 == 0 && !c.calm: // it asks for no more events at all
		c.count("consumer: Gone")
		if _, before := c.gone[request.URL.String()]; !before {
			c.gone[request.URL.String()] = c.clock.Now()
		}
		status = http.StatusGone
	case !c.calm && int(dice%16) > 8 && r.requests <= int(dice/16%4)+1:
		switch dice / 64 % 5 {
		case 0:
			c.count("consumer: no answer")
			return nil, errConsumer
		case 1:
			c.count("consumer: answer lost")
			r.accepted++ // it took it, and nobody knows
			return nil, errConsumer
		case 2:
			status = http.StatusInternalServerError
		case 3:
			status = http.StatusTooManyRequests
			header.Set("Retry-After", "120")
		default:
			status = http.StatusFound
			header.Set("Location", "https://elsewhere.example")
		}
		c.count("consumer: " + http.StatusText(status))
	default:
		r.accepted++
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader("")), Request: request}, nil
}

// deliver lets a replica make the deliveries that are due. A webhook that answered 410
// is off after that, unless the answer got lost.
func (w *world) deliver(r *replica) {
	w.clock.Advance(time.Millisecond) // what happens in one instant has no order to judge by
	lost := false
	_ = w.guarded(r, "delivers", func() error {
		n, err := r.DeliveryWorker.Step(w.t.Context())
		w.counts["deliveries made"] += n
		lost = err != nil || !r.failer.intact()
		return err
	})
	for _, s := range w.shops {
		for _, e := range s.endpoints {
			at, gone := w.consumers.gone[e.url]
			if e.active && gone && !w.on(e) {
				e.turns(false, at)
				w.count("a webhook is gone")
			} else if e.active && gone && !lost {
				w.find("a webhook answered 410, and is still on")
			}
		}
	}
	clear(w.consumers.gone)
	w.clock.Advance(time.Millisecond)
}

// on reads whether a webhook is on.
func (w *world) on(e *endpoint) (active bool) {
	w.must(w.replicas[0].DB.Read(w.t.Context()).Model(&models.Endpoint{}).Where("id = ?", e.id).Pluck("active", &active).Error)
	return active
}

// idle reports that no delivery waits.
func (w *world) idle() bool {
	var n int64
	w.must(w.replicas[0].DB.Read(w.t.Context()).Model(&models.Delivery{}).Where("done_at IS NULL").Count(&n).Error)
	return n == 0
}
