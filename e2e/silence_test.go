package e2e

import (
	"net/http"
	"testing"
	"time"

	"cointill/e2e/harness"
)

// TestSilentDatabase (AP-16, AP-25): a database from which nothing comes back, not
// even that it refuses, costs no acknowledged payment. Requests are refused with
// 503 before their client gives up, and /readyz says why. When new connections
// work again, all goes on by itself, although those from before never say a word.
func TestSilentDatabase(t *testing.T) {
	t.Parallel()
	i := harness.New(t, true)
	tunnel, address := harness.NewTunnel(t, i.Setting("DATABASE_URL"))
	i.Set("DATABASE_URL", address+"&statement_timeout=2000") // what workers asked is given up sooner than after a minute
	i.Set("RATE_LIMIT", "1000000")
	i.Business()
	i.Start()
	s := newSink(t)
	i.Call("POST", "/v1/webhooks", harness.Fields{"type": "silence", "url": s.URL, "active": true}, 201)
	l := newLoad(t, i, nil)
	l.goesOn("the start")

	tunnel.Silence()
	harness.Eventually(t, time.Minute, "readiness to tell", func() bool {
		status, why := l.readiness()
		return status == http.StatusServiceUnavailable && why == "The database doesn't answer."
	})
	l.isRefused("a silent database")
	tunnel.Speak()
	l.goesOn("it spoke again")
	close(l.stop)
	l.all.Wait()
	l.check()

	s.pay(t, i, initiated(t, i, "crypto_ripple"))
}
