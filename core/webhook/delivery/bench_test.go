package delivery_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/outbox"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/core/webhook/guard"
	"cointill/models"
	"cointill/models/modelstest"
)

// onEach runs a benchmark on every database.
func onEach(b *testing.B, run func(b *testing.B, db *models.DB)) {
	b.Run("sqlite", func(b *testing.B) { run(b, modelstest.Open(b, false, time.Now)) })
	if os.Getenv("COINTILL_TEST_DATABASE_URL") != "" {
		b.Run("postgres", func(b *testing.B) { run(b, modelstest.Open(b, true, time.Now)) })
	}
}

// alive is a service on the machine's clock, and a sender that may reach loopback.
func alive(b *testing.B, db *models.DB) (*webhook.Service, *delivery.Sender) {
	b.Helper()
	box, err := secret.NewBox(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		b.Fatal(err)
	}
	s := &webhook.Service{DB: db, Clock: clock.Real(), Secrets: box}
	return s, &delivery.Sender{DB: db, Clock: clock.Real(), Endpoints: s, Version: "1.2.3", Clients: map[scope.Domain]*http.Client{
		scope.Test: guard.NewClient(guard.Config{Domain: scope.Test, AllowLoopback: true}),
	}}
}

// sink counts deliveries and tells when enough have come.
type sink struct {
	*httptest.Server
	left atomic.Int64
	done chan struct{}
}

func newSink(b *testing.B, n int) *sink {
	s := &sink{done: make(chan struct{})}
	s.left.Store(int64(n))
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusNoContent)
		if s.left.Add(-1) == 0 {
			close(s.done)
		}
	}))
	listener, err := net.Listen("tcp4", "0.0.0.0:0") // every address of 127.0.0.0/8 is another host
	if err != nil {
		b.Fatal(err)
	}
	s.Listener = listener
	s.Start()
	s.URL = fmt.Sprintf("http://127.0.0.1:%d", listener.Addr().(*net.TCPAddr).Port)
	b.Cleanup(s.Close)
	return s
}

// sample is a body of a usual size: 1.5 kB.
var sample = map[string]string{"reference": "PAY_3K9V7QZ2M4X8N6B1C5D0F7G2HJ", "record": strings.Repeat("x", 1400)}

// queued writes events for businesses in turn.
func queued(b *testing.B, s *webhook.Service, businesses, n int) {
	b.Helper()
	for i := 0; i < n; i += 500 {
		err := s.DB.Write(b.Context(), func(tx *models.Tx) error {
			for j := i; j < min(i+500, n); j++ {
				e := webhook.Event{BusinessID: int64(j%businesses + 1), Domain: scope.Test, Type: webhook.PaymentSuccessful, Data: sample}
				if err := s.Emit(tx, e); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// bare posts the bytes of one delivery again and again with net/http, from one
// loop or several.
func bare(b *testing.B, url, body string, loops, n int) (perSecond float64) {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: loops}}
	began := time.Now()
	var all sync.WaitGroup
	for range loops {
		all.Go(func() {
			for range n / loops {
				request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, strings.NewReader(body))
				if err != nil {
					b.Error(err)
					return
				}
				request.Header = http.Header{
					"Content-Type": {"application/json"}, "User-Agent": {"Cointill/1.2.3"},
					"Webhook-Id": {"evt_3K9V7QZ2M4X8N6B1C5D0F7G2HJ"}, "Webhook-Timestamp": {"1772366400"},
					"Webhook-Signature": {"v1," + strings.Repeat("s", 44)},
				}
				response, err := client.Do(request)
				if err != nil {
					b.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
			}
		})
	}
	all.Wait()
	return float64(n) / time.Since(began).Seconds()
}

// BenchmarkDeliveries measures deliveries per second to a sink on this machine,
// with everything that is recorded of them, beside a bare loop that posts the
// same bytes, right before and right after: for one webhook, and for twenty.
func BenchmarkDeliveries(b *testing.B) {
	const n = 24_000
	for _, businesses := range []int{1, 20} {
		b.Run(fmt.Sprint("webhooks=", businesses), func(b *testing.B) {
			onEach(b, func(b *testing.B, db *models.DB) {
				for b.Loop() {
					deliverAll(b, db, businesses, n)
				}
			})
		})
	}
}

func deliverAll(b *testing.B, db *models.DB, businesses, n int) {
	s, sender := alive(b, db)
	to, spare := newSink(b, n), newSink(b, -1) // the spare one is for the bare loops, and never full
	for i := range businesses {
		sc := scope.Scope{BusinessID: int64(i + 1), Domain: scope.Test, Role: scope.Owner}
		url := strings.Replace(to.URL, "127.0.0.1", fmt.Sprint("127.0.0.", i+1), 1)
		if _, _, err := s.Create(b.Context(), sc, webhook.Create{Name: "sink", URL: url, Active: true}); err != nil {
			b.Fatal(err)
		}
	}
	queued(b, s, businesses, n)
	list, _, err := s.Events(b.Context(), scope.Scope{BusinessID: 1, Domain: scope.Test, Role: scope.Owner}, webhook.Filter{}, "", 1)
	if err != nil {
		b.Fatal(err)
	}
	bareRate := func(loops int) float64 { return bare(b, spare.URL, list[0].Body, loops, n/3) }
	one, eight := bareRate(1), bareRate(8)
	worker := sender.Worker(outbox.Options{Log: slog.New(slog.DiscardHandler)})
	ctx, stop := context.WithCancel(b.Context())
	ran := make(chan error, 1)
	began := time.Now()
	go func() { ran <- worker.Run(ctx) }()
	<-to.done
	stop()
	if err := <-ran; err != nil { // with everything settled
		b.Fatal(err)
	}
	rate := float64(n) / time.Since(began).Seconds()
	one, eight = (one+bareRate(1))/2, (eight+bareRate(8))/2 // before and after: machines change their pace
	b.ReportMetric(rate, "deliveries/s")
	b.ReportMetric(one, "bare/s")
	b.ReportMetric(rate/one, "ratio")
	b.ReportMetric(rate/eight, "ratio-to-8-loops")
	for i := range businesses { // the next round has its own
		db.Exec(b.Context()).Where("business_id = ?", i+1).Delete(&models.Endpoint{})
	}
}

// BenchmarkIsolation has 1,000 webhooks on as many hosts, of which 300 hold every
// request until its time is over and 200 hang, drip or answer without end, and 200
// events a second for some seconds, while 20,000 older deliveries wait for one of the
// 300. It prints how long after their commit events reached the other 500.
func BenchmarkIsolation(b *testing.B) {
	onEach(b, func(b *testing.B, db *models.DB) {
		for b.Loop() {
			isolation(b, db)
		}
	})
}

// arrivals notes when events were committed and came.
type arrivals struct {
	mu   sync.Mutex
	sent map[string]time.Time
	took []time.Duration
}

func isolation(b *testing.B, db *models.DB) {
	const endpoints, hanging, pits, perSecond, seconds = 1000, 300, 200, 200, 20
	listener, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		b.Fatal(err)
	}
	a := &arrivals{sent: map[string]time.Time{}}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/hang" {
			<-r.Context().Done()
			return
		}
		now := time.Now()
		w.WriteHeader(http.StatusNoContent)
		a.mu.Lock()
		defer a.mu.Unlock()
		if at, known := a.sent[r.URL.Query().Get("b")]; known {
			a.took = append(a.took, now.Sub(at))
		}
	}))
	server.Listener = listener
	server.Start()
	b.Cleanup(server.Close)
	s, sender := alive(b, db)
	fine, swamp := listener.Addr().(*net.TCPAddr).Port, newTarpits(b).port
	for i := range endpoints {
		path, port := "fine", fine
		switch {
		case i < hanging:
			path = "hang"
		case i < hanging+pits:
			port = swamp
		}
		sc := scope.Scope{BusinessID: int64(i + 1), Domain: scope.Test, Role: scope.Owner}
		url := fmt.Sprintf("http://127.1.%d.%d:%d/%s?b=%d", i/250, i%250+1, port, path, i)
		if _, _, err := s.Create(b.Context(), sc, webhook.Create{Name: "one", URL: url, Active: true}); err != nil {
			b.Fatal(err)
		}
	}
	queued(b, s, 1, 20_000)
	worker := sender.Worker(outbox.Options{Log: slog.New(slog.DiscardHandler), Grace: time.Millisecond})
	ctx, stop := context.WithCancel(b.Context())
	ran := make(chan error, 1)
	go func() { ran <- worker.Run(ctx) }()
	tick := time.NewTicker(time.Second / perSecond)
	for n := range perSecond * seconds {
		<-tick.C
		business := n*7%endpoints + 1
		err := s.DB.Write(ctx, func(tx *models.Tx) error {
			return s.Emit(tx, webhook.Event{BusinessID: int64(business), Domain: scope.Test, Type: webhook.PaymentSuccessful, Data: sample})
		})
		if err != nil {
			b.Fatal(err)
		}
		a.mu.Lock()
		a.sent[fmt.Sprint(business-1)] = time.Now()
		a.mu.Unlock()
		worker.Signal()
	}
	<-time.After(2 * time.Second)
	stop()
	<-ran
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.took) == 0 {
		b.Fatal("nothing came")
	}
	slices.Sort(a.took)
	b.ReportMetric(float64(len(a.took)), "arrived")
	b.ReportMetric(float64(a.took[len(a.took)/2].Milliseconds()), "p50-ms")
	p99 := float64(a.took[len(a.took)*99/100].Milliseconds())
	b.ReportMetric(p99, "p99-ms")
	b.ReportMetric(p99/1000, "p99-of-limit") // 1 s
	b.ReportMetric(float64(a.took[len(a.took)-1].Milliseconds()), "max-ms")
}
