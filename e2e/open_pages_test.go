package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cointill/e2e/harness"
)

// How many pages BenchmarkOpenPages opens: each business has one browser with as many pages as one may have.
const (
	openBusinesses = 125
	openPerBrowser = 8
	openPages      = openBusinesses * openPerBrowser // of merchants, and as many of customers
)

// openShop is a business with a browser that is signed in, and its open payments.
type openShop struct {
	key     string
	browser *browserless
	links   []string // of the customers' pages
	codes   []string // of the payments
}

// BenchmarkOpenPages prints how long a verification takes, beside 1,000 open overviews and 1,000 open payment pages
// while a payment is paid every second, as a ratio to 300 ms; and how much memory each page takes. The overviews ask
// again after each change, as the page's script does.
func BenchmarkOpenPages(b *testing.B) {
	i := harness.New(b, true)
	i.SetSetting("RATE_LIMIT", "1000000")
	i.SetSetting("METRICS_LISTEN", harness.FreeAddress(b))
	i.Start()
	i.CreateBusiness()
	shops := make([]*openShop, openBusinesses)
	for n := range shops {
		shops[n] = openNewShop(b, i, n)
	}
	var started struct{ Reference string }
	i.SendRequest("POST", "/v1/payment/initiate", harness.NewRequest("crypto_bitcoin"), 201).DecodeData(b, &started)
	var quiet, beside []time.Duration
	for range 500 {
		quiet = append(quiet, timeVerification(i, started.Reference))
	}
	before := readNeededMemory(b, i)

	ctx, stop := context.WithCancel(b.Context())
	var pages sync.WaitGroup
	defer pages.Wait()
	defer stop()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	var open, changes, asked atomic.Int64
	for k, s := range shops {
		for n := range openPerBrowser {
			pages.Go(func() {
				_ = readStream(ctx, client, s.links[n]+"/events", "", &open, func() { changes.Add(1) })
			})
			pages.Go(func() {
				_ = readStream(ctx, client, i.Base+"/dashboard/live", s.browser.cookies(), &open, func() {
					changes.Add(1)
					_ = ask(ctx, client, i.Base+"/dashboard", s.browser.cookies())
					asked.Add(1)
				})
			})
		}
		harness.WaitFor(b, time.Minute, "the overviews of a business to have asked", func() bool {
			return asked.Load() >= int64((k+1)*openPerBrowser)
		})
	}
	harness.WaitFor(b, time.Minute, "2,000 open pages", func() bool { return open.Load() == 2*openPages })
	pages.Go(func() { payEverySecond(ctx, i, shops) })
	needed := readNeededMemory(b, i)
	for b.Loop() {
		beside = append(beside, timeVerification(i, started.Reference))
		if len(beside)%100 == 0 { // each cycle of the collector also counts what is being answered just then
			needed = min(needed, readNeededMemory(b, i))
		}
	}
	for name, times := range map[string][]time.Duration{"quiet": quiet, "beside": beside} {
		slices.Sort(times)
		b.ReportMetric(ratioTo300(times, 50), name+"-p50/300ms")
		b.ReportMetric(ratioTo300(times, 99), name+"-p99/300ms")
	}
	b.ReportMetric((needed-before)/1024/(2*openPages), "KB/page")
	b.ReportMetric(float64(readMemory(b, i.ProcessID(), "VmHWM:")/1024), "MB")
	b.ReportMetric(float64(open.Load()), "open")
	b.ReportMetric(float64(changes.Load()), "changes")
}

// readNeededMemory returns the bytes that the process needs after its last garbage collection: what is in use, and as
// much again, which the collector lets it use before the next one, with the stacks. What the process holds (VmRSS)
// depends on when the system was last given memory back.
func readNeededMemory(b *testing.B, i *harness.Instance) (bytes float64) {
	b.Helper()
	text := bodyOf(b, "http://"+i.ReadSetting("METRICS_LISTEN")+"/metrics")
	for _, name := range []string{"go_memstats_next_gc_bytes", "go_memstats_stack_inuse_bytes"} {
		var value float64
		_, after, _ := strings.Cut(text, "\n"+name+" ")
		if _, err := fmt.Sscan(after, &value); err != nil {
			b.Fatalf("the metrics have no %s: %v", name, err)
		}
		bytes += value
	}
	return bytes
}

// openNewShop makes a business, signs its owner in and starts payments.
func openNewShop(b *testing.B, i *harness.Instance, n int) *openShop {
	b.Helper()
	email := fmt.Sprintf("owner%d@shop.example", n)
	var made struct{ Code, Key string }
	i.DecodeOutput(i.RunCommand(harness.Password, "business", "create", "--name", fmt.Sprint("Shop ", n), "--email", email,
		"--password-stdin", "--json"), &made)
	i.DecodeOutput(i.RunCommand("", "key", "create", "--business", made.Code, "--domain", "test", "--name", "tests",
		"--json"), &made)
	s := &openShop{key: made.Key, browser: signInAs(b, i, email, harness.Password)}
	of := *i
	of.Key = made.Key
	for range openPerBrowser {
		var started struct {
			Reference string
			URL       string `json:"payment_url"`
		}
		of.SendRequest("POST", "/v1/payment/initiate", harness.NewRequest("crypto_ripple"), 201).DecodeData(b, &started)
		s.codes, s.links = append(s.codes, started.Reference), append(s.links, started.URL)
	}
	return s
}

// payEverySecond has a customer pay in one business after the other.
func payEverySecond(ctx context.Context, i *harness.Instance, shops []*openShop) {
	each := time.NewTicker(time.Second)
	defer each.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-each.C:
			s := shops[n%len(shops)]
			of := *i
			of.Key = s.key
			path := "/v1/sandbox/payments/" + s.codes[n/len(shops)%openPerBrowser] + "/simulate"
			_, _ = of.TryRequest("POST", path, harness.Fields{"scenario": "exact"}) // only load
		}
	}
}

// readStream reads the events of a stream until ctx ends, and calls changed for each.
func readStream(ctx context.Context, client *http.Client, address, cookies string, open *atomic.Int64, changed func()) error {
	answer, err := get(ctx, client, address, cookies)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", address, answer.Status)
	}
	open.Add(1)
	defer open.Add(-1)
	lines := bufio.NewReader(answer.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return err
		}
		if strings.HasPrefix(line, "event: ") {
			changed()
		}
	}
}

// ask asks for a page as its script does, and reads all of it.
func ask(ctx context.Context, client *http.Client, address, cookies string) error {
	answer, err := get(ctx, client, address, cookies)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

func get(ctx context.Context, client *http.Client, address, cookies string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, "GET", address, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Cookie", cookies)
	return client.Do(request)
}

// timeVerification verifies a payment and returns how long that took.
func timeVerification(i *harness.Instance, reference string) time.Duration {
	from := time.Now()
	i.VerifyPayment(reference)
	return time.Since(from)
}

// ratioTo300 returns a percentile of sorted times as a ratio to 300 ms.
func ratioTo300(sorted []time.Duration, percent int) float64 {
	return float64(sorted[(len(sorted)-1)*percent/100]) / float64(300*time.Millisecond)
}
