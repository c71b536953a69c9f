package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cointill/e2e/harness"
)

// load is merchants who initiate payments without a rest, each until it is
// acknowledged, with the same Idempotency-Key each time.
type load struct {
	*harness.Instance
	t       *testing.T
	stop    chan struct{}
	all     sync.WaitGroup
	next    atomic.Int64 // number of the next payment
	refused atomic.Int64 // answers 503

	borne   func(harness.Answer) bool // other failures that are no fault of what is tested; nil for none
	bearing atomic.Int64              // how many there were

	mu   sync.Mutex
	acks []acknowledged
}

// acknowledged is an initiation with what was answered to it.
type acknowledged struct {
	key, reference string
	request        harness.Fields
	body           []byte
}

func newLoad(t *testing.T, i *harness.Instance, borne func(harness.Answer) bool) *load {
	l := &load{Instance: i, t: t, stop: make(chan struct{}), borne: borne}
	for range 3 {
		l.all.Go(func() {
			for {
				select {
				case <-l.stop:
					return
				default:
					l.one(fmt.Sprint("load-", l.next.Add(1)))
				}
			}
		})
	}
	return l
}

// one makes a payment. The program lives all the time: whatever is wrong with the
// database, it answers, and says when to come again. The sandbox's networks are in the
// database too: one that can't be read is unavailable until it is read again.
func (l *load) one(key string) {
	request := harness.NewRequest("crypto_dogecoin")
	request["metadata"] = harness.Fields{"key": key, "text": strings.Repeat("x", 4000)} // a payment fills a page of a table soon
	for {
		answer, err := l.TryOnce("POST", "/v1/payment/initiate", key, request)
		switch {
		case err != nil:
			l.t.Errorf("%s: %v", key, err)
		case answer.Code == http.StatusCreated:
			var made struct{ Reference string }
			answer.DecodeData(l.t, &made)
			l.mu.Lock()
			defer l.mu.Unlock()
			l.acks = append(l.acks, acknowledged{key, made.Reference, request, answer.Body})
			return
		case l.borne != nil && l.borne(answer):
			l.bearing.Add(1)
		case answer.Code != http.StatusServiceUnavailable || answer.FaultCode() != "unavailable" && answer.FaultCode() != "chain_unavailable" || answer.Header.Get("Retry-After") == "" ||
			!bytes.Contains(answer.Body, []byte(`"request_id":"req_`)):
			l.t.Errorf("%s: %d %s, come again after %q", key, answer.Code, answer.Body, answer.Header.Get("Retry-After"))
		default:
			l.refused.Add(1)
		}
		select {
		case <-l.stop:
			return
		case <-time.After(50 * time.Millisecond): // far sooner than it was asked to
		}
	}
}

// goesOn waits until so many further payments were acknowledged.
func (l *load) goesOn(after string) {
	l.t.Helper()
	count := func() int { l.mu.Lock(); defer l.mu.Unlock(); return len(l.acks) }
	before := count()
	harness.WaitFor(l.t, time.Minute, "payments after "+after, func() bool { return count() >= before+10 })
}

// isRefused waits until requests are refused.
func (l *load) isRefused(why string) {
	l.t.Helper()
	before := l.refused.Load()
	harness.WaitFor(l.t, time.Minute, "requests to be refused by "+why, func() bool { return l.refused.Load() > before })
}

// readiness is what /readyz says of the database.
func (l *load) readiness() (status int, database string) {
	answer, err := http.Get(l.Base + "/readyz")
	if err != nil {
		l.t.Error(err)
		return 0, ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	var said struct{ Checks map[string]string }
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if err != nil {
		l.t.Error(err)
	}
	return answer.StatusCode, said.Checks["database"]
}

// TestDatabaseTrouble (WH-10, AP-16, AP-25): connections that are cut, a database
// that crashes and one whose disk is full cost no acknowledged payment. Meanwhile
// requests are refused with 503 and when to come again, and /readyz says why;
// afterwards all goes on by itself.
func TestDatabaseTrouble(t *testing.T) {
	t.Parallel()
	server := harness.NewPostgres(t, 40)
	i := harness.New(t, false)
	i.SetSetting("DATABASE_URL", server.URL)
	i.SetSetting("RATE_LIMIT", "1000000")
	i.SetSetting("METRICS_LISTEN", harness.FreeAddress(t))
	i.CreateBusiness()
	i.Start()
	s := newSink(t)
	i.SendRequest("POST", "/v1/webhooks", harness.Fields{"type": "trouble", "url": s.URL, "active": true}, 201)
	l := newLoad(t, i, nil)
	l.goesOn("the start")

	for range 3 {
		if server.CutConnections() == 0 {
			t.Error("there was nothing to cut")
		}
		l.goesOn("its connections were cut")
	}

	server.Stop()
	l.isRefused("a server that is down")
	harness.WaitFor(t, time.Minute, "readiness to tell", func() bool {
		status, why := l.readiness()
		return status == http.StatusServiceUnavailable && why == "The database can't be reached."
	})
	server.Start()
	l.goesOn("the server came back")

	free := server.FillDisk()
	l.isRefused("a full disk")
	harness.WaitFor(t, time.Minute, "readiness to tell", func() bool {
		status, why := l.readiness()
		return status == http.StatusServiceUnavailable && why == "The database's disk is full."
	})
	harness.WaitFor(t, time.Minute, "the alert", func() bool {
		return strings.Contains(bodyOf(t, "http://"+i.ReadSetting("METRICS_LISTEN")+"/metrics"), "\ncointill_database_up 0\n")
	})
	free()
	l.goesOn("there was room again")
	close(l.stop)
	l.all.Wait()
	harness.WaitFor(t, time.Minute, "readiness", func() bool { status, _ := l.readiness(); return status == http.StatusOK })
	l.check()

	s.pay(t, i, initiated(t, i, "crypto_ripple"))
	i.RunCommand("", "audit", "verify")
}

// check finds every acknowledged payment, once, and has each answer repeated.
func (l *load) check() {
	seen := map[string]bool{}
	for _, a := range l.acks {
		if seen[a.reference] {
			l.t.Errorf("%s was given to two", a.reference)
		}
		seen[a.reference] = true
		l.VerifyPayment(a.reference)
		again, err := l.TryOnce("POST", "/v1/payment/initiate", a.key, a.request)
		if err != nil || again.Header.Get("Idempotency-Replayed") != "true" || !bytes.Equal(again.Body, a.body) {
			l.t.Errorf("%s: %v %s, at first %s", a.key, err, again.Body, a.body)
		}
	}
	l.t.Logf("%d payments acknowledged and found again, %d requests refused meanwhile", len(l.acks), l.refused.Load())
}
