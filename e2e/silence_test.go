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
	tunnel, address := harness.NewTunnel(t, i.ReadSetting("DATABASE_URL"))
	i.SetSetting("DATABASE_URL", address+"&statement_timeout=2000") // what workers asked is given up sooner than after a minute
	i.SetSetting("RATE_LIMIT", "1000000")
	i.CreateBusiness()
	i.Start()
	s := newSink(t)
	i.SendRequest("POST", "/v1/webhooks", harness.Fields{"type": "silence", "url": s.URL, "active": true}, 201)
	l := newLoad(t, i, nil)
	l.goesOn("the start")

	tunnel.Silence()
	harness.WaitFor(t, time.Minute, "readiness to tell", func() bool {
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
