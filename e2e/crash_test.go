package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/e2e/harness"
)

var (
	crashLite     = flag.Int("crash.sqlite", 15, "how often TestCrash kills the program on SQLite")
	crashPostgres = flag.Int("crash.postgres", 15, "how often it does on PostgreSQL")
	crashPayments = flag.Int("crash.payments", 20, "how many payments run meanwhile, at least")
)

// sink is a merchant's endpoint that remembers what came.
type sink struct {
	*httptest.Server
	mu     sync.Mutex
	bodies map[string]string         // by webhook-id
	seen   map[string]map[int]string // payment → sequence → type
	copies int                       // deliveries of what was there already
	wrong  []string                  // what must never be
}

func newSink(t *testing.T) *sink {
	s := &sink{bodies: map[string]string{}, seen: map[string]map[int]string{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var e struct {
			ID, Type string
			Sequence int
			Data     struct{ Reference string }
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		id := r.Header.Get("Webhook-Id")
		if err := json.Unmarshal(body, &e); err != nil || e.ID != id {
			s.wrong = append(s.wrong, fmt.Sprintf("%s: %v", id, err))
		}
		if before, again := s.bodies[id]; again {
			s.copies++
			if before != string(body) {
				s.wrong = append(s.wrong, id+" came with two bodies")
			}
		}
		s.bodies[id] = string(body)
		if s.seen[e.Data.Reference] == nil {
			s.seen[e.Data.Reference] = map[int]string{}
		}
		s.seen[e.Data.Reference][e.Sequence] = e.Type
	}))
	t.Cleanup(s.Close)
	return s
}

// initiated is the reference of a payment that a merchant begins.
func initiated(t *testing.T, i *harness.Instance, method string) string {
	t.Helper()
	var made struct{ Reference string }
	i.SendRequest("POST", "/v1/payment/initiate", harness.NewRequest(method), 201).DecodeData(t, &made)
	return made.Reference
}

// pay has a customer pay, and waits until the sink was told the whole way of it.
func (s *sink) pay(t *testing.T, i *harness.Instance, reference string) {
	t.Helper()
	i.SendRequest("POST", "/v1/sandbox/payments/"+reference+"/simulate", harness.Fields{"scenario": "exact"}, 200)
	harness.WaitFor(t, time.Minute, "the events of "+reference, func() bool {
		types, whole := s.events(reference)
		return whole && len(types) > 0 && types[len(types)-1] == "successful"
	})
}

// events are a payment's events in order; ok is false while there is a gap.
func (s *sink) events(reference string) (types []string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.seen[reference]
	for i, n := range slices.Sorted(maps.Keys(got)) {
		if n != i+1 {
			return nil, false
		}
		types = append(types, strings.TrimPrefix(got[n], "payment."))
	}
	return types, true
}

// TestCrash (WH-10, WH-11, AP-16) kills the program again and again while payments
// run. Afterwards every payment that was acknowledged stands where it must, and its
// request is answered as at first; there is no other payment, told of or not; every event
// came at least once without a gap, who paid as they had to has one receipt and nobody
// else has any, and the audit log holds.
func TestCrash(t *testing.T) {
	t.Parallel()
	harness.RunEach(t, map[string]int{"sqlite": *crashLite, "postgres": *crashPostgres}, func(t *testing.T, name string, rounds int) {
		crash(t, name == "postgres", rounds)
	})
}

// ends are the scenarios of the run with the state that each comes to.
var ends = map[string]string{"exact": "successful", "two_parts": "successful", "underpay": "declined", "overpay": "declined", "after_abandoned": "declined"}

func crash(t *testing.T, postgres bool, rounds int) {
	i := harness.New(t, postgres)
	mail := newMailServer(t)
	i.SetSetting("SMTP_URL", mail.url)
	i.SetSetting("RATE_LIMIT", "1000000")
	i.Start()
	i.CreateBusiness()
	s := newSink(t)
	i.SendRequest("POST", "/v1/webhooks", harness.Fields{"type": "crash", "url": s.URL, "active": true}, 201)

	var mu sync.Mutex
	want := map[string]string{}   // reference → state
	wanted := map[string]string{} // business_reference → reference
	mails := map[string]int{}     // customer → receipts
	var acks []acknowledged
	var doubtful []func() // simulations whose answer was lost
	at := &aim{begun: make(chan struct{})}
	jobs, killed := make(chan int), make(chan struct{})
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for n := range jobs {
				ack := initiateOnce(t, i, at, n)
				if ack.reference == "" { // which failed the test
					continue
				}
				scenario := scenarioOf(n)
				again := simulateOnce(t, i, at, ack.reference, scenario)
				mu.Lock()
				want[ack.reference], wanted[ack.key] = ends[scenario], ack.reference
				if ends[scenario] == "successful" {
					mails[customer(n)] = 1
				}
				acks = append(acks, ack)
				if again != nil {
					doubtful = append(doubtful, again)
				}
				mu.Unlock()
			}
		})
	}
	go func() {
		defer close(jobs)
		beat := time.NewTicker(300 * time.Millisecond)
		defer beat.Stop()
		for n, over := 0, false; !over || n < *crashPayments; n++ {
			jobs <- n
			<-beat.C
			select {
			case <-killed:
				over = true
			default:
			}
		}
	}()
	for round := range rounds {
		<-time.After(momentOf(round))
		at.kill(i, round)
		i.Start()
	}
	close(killed)
	workers.Wait()
	t.Logf("killed %d times, in the middle of %d requests; %d payments were made, the answers to %d simulations were lost", rounds, at.hit.Load(), len(acks), len(doubtful))
	if rounds >= 3 && at.hit.Load() == 0 {
		t.Error("no request was under way when the program was killed: this shows nothing")
	}
	var asking sync.WaitGroup
	for _, again := range doubtful {
		asking.Go(again)
	}
	asking.Wait()

	found := load{Instance: i, t: t, acks: acks}
	found.check()
	for reference, state := range want {
		harness.WaitFor(t, 3*time.Minute, reference+" to be "+state, func() bool { return i.VerifyPayment(reference).Status == state })
	}
	paidOnce(t, i, wanted)
	if got := receipts(t, i); !maps.Equal(got, mails) {
		t.Errorf("receipts: %v, want %v", got, mails)
	}
	successes := 0
	for reference, state := range want {
		harness.WaitFor(t, 3*time.Minute, "the events of "+reference, func() bool {
			types, ok := s.events(reference)
			return ok && len(types) > 0 && types[len(types)-1] == state
		})
		if state == "successful" {
			successes++
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, wrong := range s.wrong {
		t.Errorf("wrong = %v", wrong)
	}
	for subject, n := range mail.counts() {
		if subject != "" && n > 1 {
			t.Errorf("%d receipts for %s", n, subject)
		}
	}
	i.RunCommand("", "audit", "verify")
	t.Logf("%d payments, %d successful, %d events, %d delivered again, %d receipts", len(want), successes, len(s.bodies), s.copies, len(mail.counts()))
}

// momentOf is when a round's crash comes after the program is ready: mostly soon,
// but every fourth time after the lease of the process before, so that payments go on.
func momentOf(round int) time.Duration {
	soon := time.Duration(200+rand.IntN(1000)) * time.Millisecond
	if round%4 == 3 {
		return 6*time.Second + soon
	}
	return soon
}

func scenarioOf(n int) string {
	scenarios := slices.Sorted(maps.Keys(ends))
	return scenarios[n%len(scenarios)]
}

// initiateOnce initiates until that is acknowledged; its Idempotency-Key makes it safe to repeat.
func initiateOnce(t *testing.T, i *harness.Instance, at *aim, n int) acknowledged {
	methods := []string{"crypto_bitcoin", "crypto_ripple", "crypto_tether"}
	ack := acknowledged{key: fmt.Sprintf("crash-%d", n), request: harness.NewRequest(methods[n%len(methods)])}
	ack.request["business_reference"], ack.request["email"] = ack.key, customer(n)
	until(t, func() bool {
		var answer harness.Answer
		var err error
		at.under(func() { answer, err = i.TryOnce("POST", "/v1/payment/initiate", ack.key, ack.request) })
		if err == nil && answer.FaultCode() == "duplicate_business_reference" {
			t.Errorf("%s made a payment before, and doesn't know it any more", ack.key)
			return true
		}
		if err != nil || answer.Code != 201 {
			return false
		}
		var made struct{ Reference string }
		answer.DecodeData(t, &made)
		ack.reference, ack.body = made.Reference, answer.Body
		return true
	})
	return ack
}

// simulateOnce has the customer pay. When the answer is lost it returns what looks
// later whether that took place, and has them pay if not.
func simulateOnce(t *testing.T, i *harness.Instance, at *aim, reference, scenario string) (again func()) {
	path, said := "/v1/sandbox/payments/"+reference+"/simulate", "nothing"
	pay := func() (paid bool) {
		at.under(func() {
			answer, err := i.TryRequest("POST", path, harness.Fields{"scenario": scenario})
			paid, said = err == nil && answer.Code < 300, fmt.Sprintf("%d %s %v", answer.Code, answer.Body, err)
		})
		return paid
	}
	for status := "pending"; status == "pending" && !t.Failed(); { // nobody has opened it yet, which it won't wait for long
		if pay() {
			return nil
		}
		until(t, func() bool {
			var v harness.Record
			answer, err := i.TryRequest("GET", "/v1/payment/verify/"+reference, nil)
			if err != nil || answer.Code != 200 {
				return false
			}
			answer.DecodeData(t, &v)
			status = v.Status
			return true
		})
	}
	return func() {
		t.Helper()
		until(t, func() bool { return paid(i, reference) || pay() })
		if t.Failed() {
			t.Logf("%s of %s was answered last with %s", scenario, reference, said)
		}
	}
}

// paid looks whether a simulation whose answer was lost took place: its money
// is seen within the takeover of the follower's lease.
func paid(i *harness.Instance, reference string) bool {
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	ask := time.NewTicker(200 * time.Millisecond)
	defer ask.Stop()
	for {
		answer, err := i.TryRequest("GET", "/v1/payments/"+reference+"/timeline", nil)
		if err == nil && strings.Contains(string(answer.Body), `"transfer"`) {
			return true
		}
		select {
		case <-deadline.C:
			return false
		case <-ask.C:
		}
	}
}

// until repeats what a killed program may not have answered.
func until(t *testing.T, done func() bool) {
	t.Helper()
	harness.WaitFor(t, 3*time.Minute, "an answer", done)
}
