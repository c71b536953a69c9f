package simulation_test

import (
	"errors"
	"hash/fnv"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"cointill/core/webhook"
)

// endpoint is a webhook as its merchant knows it.
type endpoint struct {
	id     string
	url    string
	active bool
	since  time.Time // when it became so
	spans  []span    // before
}

type span struct {
	from, to time.Time
	active   bool
}

// at tells whether the endpoint was active at a time.
func (e *endpoint) at(when time.Time) bool {
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

// consumers are the merchants' servers. They fail often, and keep what they got.
type consumers struct {
	*world
	mu  sync.Mutex
	got map[string]*received // by URL and webhook-id
}

var errConsumer = errors.New("simulated: connection reset")

// client is the product's own, with the merchants' servers in place of its connections.
func (w *world) client() *http.Client {
	client := webhook.NewClient(webhook.GuardConfig{})
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
	if !c.calm && int(dice%16) > 8 && r.requests <= int(dice/16%4)+1 {
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
	} else {
		r.accepted++
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader("")), Request: request}, nil
}
