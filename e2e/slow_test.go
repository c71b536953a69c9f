package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cointill/e2e/harness"
)

// slowClients is how many connections are held; the server serves 4,096 at once.
const slowClients = 2000

// slow is what a client that holds a connection sends: a beginning, then one byte
// a second. The answer to it is "" where the server only closes.
type slow struct {
	name, begins string
	silent       bool // nothing follows
	answer       string
	from         net.Dialer // the address that it comes from; any by default
}

var slows = []slow{
	{name: "says nothing", silent: true},
	{name: "drips a header", begins: "GET /healthz HTTP/1.1\r\nHost: till.example\r\nX-Slow: a"},
	{name: "drips a request line", begins: "GET /healthz?a"},
	{name: "drips a body", begins: "POST /v1/payment/initiate HTTP/1.1\r\nHost: till.example\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{", answer: "HTTP/1.1 408 "},
}

// hold holds a connection until the server ends it or ctx ends, and gives what the
// server said.
func (s slow) hold(ctx context.Context, address string, open *atomic.Int64) (string, error) {
	conn, err := s.from.DialContext(ctx, "tcp", address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if _, err := io.WriteString(conn, s.begins); err != nil {
		return "", err
	}
	open.Add(1)
	defer open.Add(-1)
	read := make(chan struct{})
	var dripping sync.WaitGroup
	defer dripping.Wait()
	defer close(read)
	if !s.silent {
		dripping.Go(func() {
			each := time.NewTicker(time.Second)
			defer each.Stop()
			for {
				select {
				case <-read:
					return
				case <-each.C:
					_, _ = io.WriteString(conn, "a") // the end is noticed by reading
				}
			}
		})
	}
	said, err := io.ReadAll(conn)
	if strings.Contains(fmt.Sprint(err), "reset by peer") { // closed while a byte was on its way
		err = nil
	}
	return string(said), err
}

// opened counts the files and connections that a process has open.
func opened(t testing.TB, process int) int {
	t.Helper()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", process))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// readMemory returns the kB of memory that a process has used, at most (VmHWM:) or now (VmRSS:).
func readMemory(t testing.TB, process int, field string) (kB int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(process), "status"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), field)
	if _, err := fmt.Sscanf(after, "%d kB", &kB); err != nil {
		t.Fatal(err)
	}
	return kB
}

// TestSlowClients (AP-18) opens 2,000 connections that say nothing, or a byte a
// second: the program goes on to answer others, cuts every one of them, holds no more
// memory than it may, and has none of them left afterwards.
func TestSlowClients(t *testing.T) {
	t.Parallel() // it waits ten seconds
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	var started struct{ Reference string }
	i.SendRequest("POST", "/v1/payment/initiate", harness.NewRequest("crypto_bitcoin"), 201).DecodeData(t, &started)
	before := opened(t, i.ProcessID())
	address := strings.TrimPrefix(i.Base, "http://")
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second) // far beyond the ten seconds a request may take to arrive
	defer cancel()
	var open atomic.Int64
	var clients sync.WaitGroup
	for n := range slowClients {
		s := slows[n%len(slows)]
		clients.Go(func() {
			said, err := s.hold(ctx, address, &open)
			if err != nil || !strings.HasPrefix(said, s.answer) || strings.Contains(said, "HTTP/1.1 2") {
				t.Errorf("who %s is told %q, %v", s.name, said, err)
			}
		})
	}
	held := func() bool { return opened(t, i.ProcessID()) >= before+slowClients-20 } // its own files come and go
	harness.WaitFor(t, 8*time.Second, "2,000 slow connections", func() bool { return open.Load() == slowClients && held() })
	answered := 0
	for ; held() && answered < 200; answered++ {
		if r := i.VerifyPayment(started.Reference); r.Status != "pending" {
			t.Errorf("%+v", r)
		}
	}
	if answered < 10 {
		t.Errorf("%d requests were answered beside them", answered)
	}
	clients.Wait() // until each is cut
	harness.WaitFor(t, 5*time.Second, "the program to have let go of them", func() bool { return opened(t, i.ProcessID()) <= before+10 })
	if used := readMemory(t, i.ProcessID(), "VmHWM:") / 1024; used > 256 {
		t.Errorf("the program used %d MB", used)
	}
	if r := i.VerifyPayment(started.Reference); r.Status != "pending" {
		t.Errorf("%+v", r)
	}
}

// BenchmarkSlowClients prints how long a verification takes beside 2,000 slow
// connections, each of which comes back when it was cut, as a ratio to 300 ms.
func BenchmarkSlowClients(b *testing.B) {
	i := harness.New(b, false)
	i.SetSetting("RATE_LIMIT", "1000000")
	i.Start()
	i.CreateBusiness()
	var started struct{ Reference string }
	i.SendRequest("POST", "/v1/payment/initiate", harness.NewRequest("crypto_bitcoin"), 201).DecodeData(b, &started)
	ctx, stop := context.WithCancel(b.Context())
	var open atomic.Int64
	var clients sync.WaitGroup
	defer clients.Wait()
	defer stop()
	for n := range slowClients {
		clients.Go(func() {
			for ctx.Err() == nil {
				_, _ = slows[n%len(slows)].hold(ctx, strings.TrimPrefix(i.Base, "http://"), &open) // cut, as it should be
			}
		})
	}
	harness.WaitFor(b, 20*time.Second, "2,000 slow connections", func() bool { return open.Load() == slowClients })
	var took []time.Duration
	for b.Loop() {
		from := time.Now()
		i.VerifyPayment(started.Reference)
		took = append(took, time.Since(from))
	}
	slices.Sort(took)
	b.ReportMetric(ratioTo300(took, 50), "p50/300ms")
	b.ReportMetric(ratioTo300(took, 99), "p99/300ms")
	b.ReportMetric(float64(readMemory(b, i.ProcessID(), "VmHWM:")/1024), "MB")
}
