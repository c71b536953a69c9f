package e2e

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/e2e/harness"
)

var (
	stormPayments = flag.Int("storm.payments", 70, "how many payments TestStorm makes, each of three events or more")
	stormRate     = flag.Int("storm.rate", 9, "how many of them in a second")
	stormPayers   = flag.Int("storm.payers", 4, "how many of them are on their way at once")
	stormHooks    = flag.Int("storm.consumers", 5, "how many consumers each event goes to, two or more")
	stormPatience = flag.Duration("storm.patience", 3*time.Minute, "how long what is left may take once the consumers are well")
)

// killEvery is the time between the program being ready and its end.
const killEvery = 2 * time.Second

// TestStorm (WH-10, WH-11) has consumers fail in every way and the program killed again
// and again while payments run. When the consumers are well again, the merchant looks
// after what is still to be tried or was missed. Then every event that the API lists has
// come to every consumer, with the same id and bytes each time, and nothing else has.
func TestStorm(t *testing.T) {
	t.Parallel()
	harness.RunEach(t, databases, func(t *testing.T, _ string, postgres bool) { weather(t, postgres) })
}

// ordeal is a storm with what it is about.
type ordeal struct {
	*testing.T
	*harness.Instance
	*storm
	began     string
	consumers []*consumer
	order     resendOrder // of what was missed

	mu       sync.Mutex
	payments []string // references that were acknowledged

	kills, lookups, orders, redelivered int
}

func weather(t *testing.T, postgres bool) {
	o := &ordeal{T: t, Instance: harness.New(t, postgres), storm: newStorm(t), began: time.Now().UTC().Format(time.RFC3339)}
	for range *stormHooks {
		o.consumers = append(o.consumers, newConsumer(t, o.storm))
	}
	o.SetVariable("SSL_CERT_FILE", o.consumers[0].trust(t))
	o.SetSetting("RATE_LIMIT", "1000000")
	o.Start()
	o.CreateBusiness()
	for n, c := range o.consumers {
		var made struct{ ID, Secret string }
		o.SendRequest("POST", "/v1/webhooks", harness.Fields{"type": fmt.Sprint("consumer ", n), "url": c.URL, "active": true}, 201).DecodeData(t, &made)
		c.id, c.secret = made.ID, made.Secret
	}
	o.rage(o.pay())
	o.settle()
	o.compare()
}

// pay makes payments at a steady rate. The channel closes once each was
// acknowledged together with the customer's money.
func (o *ordeal) pay() (finished <-chan struct{}) {
	jobs := make(chan int, *stormPayments)
	go func() {
		defer close(jobs)
		beat := time.NewTicker(time.Second / time.Duration(*stormRate))
		defer beat.Stop()
		for n := range *stormPayments {
			<-beat.C
			jobs <- n
		}
	}()
	var workers sync.WaitGroup
	for range *stormPayers {
		workers.Go(func() {
			for n := range jobs {
				reference := o.payOnce(n)
				o.mu.Lock()
				o.payments = append(o.payments, reference)
				o.mu.Unlock()
			}
		})
	}
	done := make(chan struct{})
	go func() { workers.Wait(); close(done) }()
	return done
}

// payOnce repeats an initiation and its payment until both were answered. Money
// that comes twice makes other events, which have to arrive like any.
func (o *ordeal) payOnce(n int) (reference string) {
	request := harness.NewRequest([]string{"crypto_ripple", "crypto_tether"}[n%2])
	own := fmt.Sprintf("storm-%d", n)
	request["business_reference"] = own
	until(o.T, func() bool {
		answer, err := o.TryRequest("POST", "/v1/payment/initiate", request)
		return err == nil && (answer.Code == 201 || answer.Code == 409)
	})
	until(o.T, func() bool {
		answer, err := o.TryRequest("GET", "/v1/payment/verify/"+own, nil)
		if err == nil && answer.Code == 200 {
			var r harness.Record
			answer.DecodeData(o.T, &r)
			reference = r.Reference
		}
		return reference != ""
	})
	scenario := []string{"exact", "two_parts", "underpay", "exact", "overpay"}[n%5]
	until(o.T, func() bool {
		answer, err := o.TryRequest("POST", "/v1/sandbox/payments/"+reference+"/simulate", harness.Fields{"scenario": scenario})
		return err == nil && answer.Code < 500
	})
	return reference
}

// rage kills the program until the payments are made. In each round one
// consumer's name can't be looked up for a moment; for the second round one is
// switched off; what it missed is ordered in the third, and made while the kills go on.
func (o *ordeal) rage(finished <-chan struct{}) {
	for round := 0; ; round++ {
		kill := time.NewTimer(killEvery)
		switch round {
		case 1:
			o.change(o.last(), harness.Fields{"active": false})
		case 2:
			o.change(o.last(), harness.Fields{"active": true})
			o.order = o.resend(o.last(), o.began)
		}
		o.lose(o.consumers[round%(len(o.consumers)-1)], kill)
		o.Kill()
		o.kills++
		o.Start()
		select {
		case <-finished:
			if round < 2 {
				o.Errorf("the payments were over after %d rounds", round+1)
			}
			return
		default:
		}
	}
}

func (o *ordeal) change(c *consumer, what harness.Fields) {
	o.callPatiently("PATCH", "/v1/webhooks/"+c.id, what, 200)
}

// callPatiently is Call that repeats a request after a 503, as merchants do: the program may have no
// time for it in the storm.
func (o *ordeal) callPatiently(method, path string, body any, want int) (answer harness.Answer) {
	o.Helper()
	key := ""
	if method == "POST" {
		key = rand.Text()
	}
	until(o.T, func() bool {
		var err error
		if answer, err = o.TryOnce(method, path, key, body); err != nil {
			o.Fatal(err)
		}
		return answer.Code != 503
	})
	if answer.Code != want {
		o.Fatalf("%s %s: %d, want %d: %s", method, path, answer.Code, want, answer.Body)
	}
	return answer
}

// lose gives a consumer a name that no resolver is asked for, as its label is
// too long, until a delivery failed by that; then it waits for the kill.
func (o *ordeal) lose(c *consumer, kill *time.Timer) {
	o.change(c, harness.Fields{"url": "https://" + strings.Repeat("x", 64) + ".example/"})
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for lost := 0; lost == 0; {
		select {
		case <-kill.C:
			o.change(c, harness.Fields{"url": c.URL})
			return
		case <-look.C:
		}
		for _, d := range o.deliveries(c, "") {
			if d.LastError == "The host name is not known." {
				lost++
			}
		}
		o.lookups += lost
	}
	o.change(c, harness.Fields{"url": c.URL})
	<-kill.C
}

// listed is a delivery as a merchant reads it.
type listed struct {
	EventID   string `json:"event_id"`
	State     string
	LastError string     `json:"last_error"`
	NextAt    *time.Time `json:"next_at"`
	CreatedAt time.Time  `json:"created_at"`
}

// deliveries are a consumer's in a state, or the latest hundred in any.
func (o *ordeal) deliveries(c *consumer, state string) (found []listed) {
	query := url.Values{"limit": {"100"}}
	if state != "" {
		query.Set("state", state)
	}
	o.pages("/v1/webhooks/"+c.id+"/deliveries", query, func(page json.RawMessage) bool {
		var some []listed
		o.DecodeOutput(string(page), &some)
		found = append(found, some...)
		return state != ""
	})
	return found
}

// pages reads a list as far as each wants it.
func (o *ordeal) pages(path string, query url.Values, each func(page json.RawMessage) (more bool)) {
	o.Helper()
	for {
		var page struct {
			Data json.RawMessage
			Meta struct {
				Next *string `json:"next_cursor"`
			}
		}
		o.DecodeOutput(string(o.callPatiently("GET", path+"?"+query.Encode(), nil, 200).Body), &page)
		if !each(page.Data) || page.Meta.Next == nil {
			return
		}
		query.Set("cursor", *page.Meta.Next)
	}
}

// soon is a wait that a merchant doesn't cut short.
const soon = 2 * time.Second

// settle does what a merchant does after an outage: orders that what is to be
// tried in minutes or hours is sent at once, as long as there is any. What a kill
// cut off comes by itself when its lease ends. The consumers fail until little is left.
func (o *ordeal) settle() {
	before, calm := 0, sync.OnceFunc(func() { close(o.calm) })
	var lookAt time.Time // until then the program is left alone: who looks all the time is in the way
	harness.WaitFor(o.T, *stormPatience, "every delivery of every payment", func() bool {
		if time.Now().Before(lookAt) {
			return false
		}
		open, began := 0, time.Now()
		for _, c := range o.consumers {
			open += o.hasten(c)
		}
		lookAt = time.Now().Add(4 * time.Since(began))
		if before = max(before, open); o.rested() && open*5 <= before {
			calm()
		}
		return open == 0 && o.rested()
	})
	harness.WaitFor(o.T, *stormPatience, "the order of what was missed", func() bool {
		o.callPatiently("GET", "/v1/resends/"+o.order.ID, nil, 200).DecodeData(o.T, &o.order)
		return o.order.State == "done"
	})
	if o.order.Walked != o.order.Total {
		o.Errorf("the order looked at %d of %d events", o.order.Walked, o.order.Total)
	}
}

// hasten has sent at once what a consumer is to be sent later, and returns how
// much is open: the newest by itself, the others by an order.
func (o *ordeal) hasten(c *consumer) (open int) {
	list := o.deliveries(c, "pending")
	late := slices.DeleteFunc(slices.Clone(list), func(d listed) bool {
		return d.State != "pending" || d.NextAt == nil || time.Until(*d.NextAt) <= soon
	})
	if len(late) == 0 {
		return len(list)
	}
	again, err := o.TryRequest("POST", "/v1/events/"+late[0].EventID+"/redeliver", harness.Fields{"webhook_id": c.id})
	switch {
	case err == nil && again.Code == 200:
		o.redelivered++
	case err != nil || again.Code != 409 && again.Code != 503: // 409: the order before has it under way already
		o.Errorf("to send one again: %v %v", again, err)
	}
	if c.order.ID != "" {
		o.callPatiently("GET", "/v1/resends/"+c.order.ID, nil, 200).DecodeData(o.T, &c.order)
	}
	if c.order.ID == "" || c.order.State != "queueing" {
		o.orderAgain(c, late[len(late)-1].CreatedAt.Add(-time.Second))
	}
	return len(list)
}

// rested reports that every payment has come to its end, as one consumer or another was told.
func (o *ordeal) rested() bool {
	ended := map[string]bool{}
	for _, c := range o.consumers {
		c.mu.Lock()
		maps.Copy(ended, c.ended)
		c.mu.Unlock()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return !slices.ContainsFunc(o.payments, func(reference string) bool { return !ended[reference] })
}

// resendOrder is one to send again, as the API shows it.
type resendOrder struct {
	ID, State             string
	Total, Walked, Queued int
}

// resend has sent again what a consumer didn't get since a time.
func (o *ordeal) resend(c *consumer, since string) (order resendOrder) {
	o.callPatiently("POST", "/v1/webhooks/"+c.id+"/resend", missedSince(since), 201).DecodeData(o.T, &order)
	return order
}

// orderAgain is a resend that waits for the next look when as many orders as
// there may be are being queued: there are more consumers than that.
func (o *ordeal) orderAgain(c *consumer, since time.Time) {
	answer, err := o.TryRequest("POST", "/v1/webhooks/"+c.id+"/resend", missedSince(since.UTC().Format(time.RFC3339)))
	switch {
	case err == nil && answer.Code == 201:
		answer.DecodeData(o.T, &c.order)
		o.orders++
	case err != nil || answer.Code != 503 && answer.FaultCode() != "too_many_resends":
		o.Errorf("to send again what failed: %v %v", answer, err)
	}
}

func missedSince(since string) harness.Fields {
	return harness.Fields{"created_after": since, "failed_only": true}
}

// last is the consumer that is switched off for a round.
func (o *ordeal) last() *consumer { return o.consumers[len(o.consumers)-1] }

// compare holds what came against the list of events, and says how the run was.
func (o *ordeal) compare() {
	sums, ends := map[string][sha256.Size]byte{}, map[string]int{}
	o.pages("/v1/events", url.Values{"limit": {"100"}}, func(page json.RawMessage) bool {
		var events []json.RawMessage
		o.DecodeOutput(string(page), &events)
		for _, text := range events {
			var e struct {
				ID       string
				Sequence int
				Data     struct{ Reference string }
			}
			o.DecodeOutput(string(text), &e)
			sums[e.ID] = sha256.Sum256(text)
			ends[e.Data.Reference] = max(ends[e.Data.Reference], e.Sequence)
		}
		return true
	})
	for _, reference := range o.payments {
		if ends[reference] == 0 {
			o.Errorf("%s was acknowledged and has no event", reference)
		}
	}
	again := 0
	for n, c := range o.consumers {
		again += c.compare(o, fmt.Sprint("consumer ", n), sums, ends)
	}
	looked, err := o.node.verdict()
	if err != nil || looked != o.requests {
		o.Errorf("Node verified %d of %d requests: %v", looked, o.requests, err)
	}
	for _, fault := range faults {
		if o.faults[fault] == 0 {
			o.Errorf("nothing failed by %s", fault)
		}
	}
	if o.lookups == 0 || o.order.Queued == 0 || o.orders == 0 || o.redelivered == 0 || again == 0 {
		o.Error("a part of the storm was missing")
	}
	for _, wrong := range o.wrong {
		o.Error(wrong)
	}
	o.Logf("%d payments, %d events for %d consumers, %d requests of which %d again, %d kills, failed: %v, DNS %d; %d missed, %d orders, %d redelivered",
		len(o.payments), len(sums), len(o.consumers), o.requests, again, o.kills, o.faults, o.lookups, o.order.Queued, o.orders, o.redelivered)
}

// compare holds what came to one consumer against the events that there are.
func (c *consumer) compare(o *ordeal, name string, sums map[string][sha256.Size]byte, ends map[string]int) (again int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	missing, others, foreign := 0, 0, 0
	for id, sum := range sums {
		if !c.taken[id] {
			missing++
		} else if c.bodies[id] != sum {
			others++
		}
	}
	for id := range c.bodies {
		if _, known := sums[id]; !known {
			foreign++
		}
	}
	if missing+others+foreign > 0 {
		o.Errorf("%s: of %d events %d never came, %d came with other bytes than listed, %d came that are not listed",
			name, len(sums), missing, others, foreign)
	}
	for reference, end := range ends {
		for n := 1; n <= end; n++ {
			if !c.sequence[reference][n] {
				o.Errorf("%s: event %d of %d of %s never came", name, n, end, reference)
			}
		}
	}
	return c.again
}
