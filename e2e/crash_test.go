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
	crashRounds   = flag.Int("crash.rounds", 2, "how often TestCrash kills the program")
	crashPayments = flag.Int("crash.payments", 40, "how many payments run meanwhile")
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

// TestCrash (WH-10, WH-11) kills the program again and again while payments run.
// Afterwards every payment that was acknowledged stands where it must, every event came
// at least once without a gap, and no customer has two receipts.
func TestCrash(t *testing.T) {
	for _, postgres := range []bool{false, true} {
		t.Run(map[bool]string{false: "sqlite", true: "postgres"}[postgres], func(t *testing.T) { crash(t, postgres) })
	}
}

// ends are the scenarios of the run with the state that each comes to.
var ends = map[string]string{"exact": "successful", "two_parts": "successful", "underpay": "declined", "overpay": "declined", "after_abandoned": "declined"}

func crash(t *testing.T, postgres bool) {
	i := harness.New(t, postgres)
	mail := newMailServer(t)
	i.Set("SMTP_URL", mail.url)
	i.Start()
	i.Business()
	s := newSink(t)
	i.Call("POST", "/v1/webhooks", harness.Fields{"type": "crash", "url": s.URL, "active": true}, 201)

	var mu sync.Mutex
	want := map[string]string{} // reference → state
	jobs := make(chan int)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for n := range jobs {
				reference, state := payOnce(t, i, n)
				mu.Lock()
				want[reference] = state
				mu.Unlock()
			}
		})
	}
	go func() {
		defer close(jobs)
		for n := range *crashPayments {
			jobs <- n
		}
	}()
	finished := make(chan struct{})
	go func() { workers.Wait(); close(finished) }()
	for round := range *crashRounds {
		wait := time.NewTimer(time.Duration(500+rand.IntN(2500)) * time.Millisecond)
		select {
		case <-finished:
		case <-wait.C:
		}
		i.Kill()
		i.Start()
		t.Logf("killed %d times", round+1)
	}
	<-finished

	for reference, state := range want {
		harness.Eventually(t, 3*time.Minute, reference+" to be "+state, func() bool { return i.Verify(reference).Status == state })
	}
	successes := 0
	for reference, state := range want {
		harness.Eventually(t, 3*time.Minute, "the events of "+reference, func() bool {
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
		t.Error(wrong)
	}
	for subject, n := range mail.counts() {
		if n > 1 {
			t.Errorf("%d receipts for %s", n, subject)
		}
	}
	t.Logf("%d payments, %d successful, %d events, %d delivered again, %d receipts", len(want), successes, len(s.bodies), s.copies, len(mail.counts()))
}

// payOnce initiates and simulates until both were acknowledged. The
// business_reference makes the first safe to repeat; a simulation whose answer
// was lost is looked at before it is repeated.
func payOnce(t *testing.T, i *harness.Instance, n int) (reference, state string) {
	scenarios := slices.Sorted(maps.Keys(ends))
	scenario := scenarios[n%len(scenarios)]
	methods := []string{"crypto_bitcoin", "crypto_ripple", "crypto_tether"}
	request := harness.Request(methods[n%len(methods)])
	request["business_reference"] = fmt.Sprintf("crash-%d", n)
	path := "/v1/payment/verify/" + request["business_reference"].(string)
	until(t, func() bool {
		answer, err := i.Try("POST", "/v1/payment/initiate", request)
		return err == nil && (answer.Code == 201 || answer.Code == 409)
	})
	until(t, func() bool {
		answer, err := i.Try("GET", path, nil)
		if err == nil && answer.Code == 200 {
			var r harness.Record
			answer.Data(t, &r)
			reference = r.Reference
		}
		return reference != ""
	})
	simulate := "/v1/sandbox/payments/" + reference + "/simulate"
	until(t, func() bool {
		answer, err := i.Try("POST", simulate, harness.Fields{"scenario": scenario})
		return err == nil && answer.Code < 300 || paid(i, reference)
	})
	return reference, ends[scenario]
}

// paid looks whether a simulation whose answer was lost took place: its money
// is seen within a restart and the takeover of the follower's lease.
func paid(i *harness.Instance, reference string) bool {
	deadline := time.NewTimer(15 * time.Second)
	defer deadline.Stop()
	ask := time.NewTicker(200 * time.Millisecond)
	defer ask.Stop()
	for {
		answer, err := i.Try("GET", "/v1/payments/"+reference+"/timeline", nil)
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
	harness.Eventually(t, 3*time.Minute, "an answer", done)
}
