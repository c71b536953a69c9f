package delivery_test

import (
	"net/http"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"gorm.io/gorm"

	"cointill/core/webhook"
	"cointill/core/webhook/delivery"
	"cointill/models"
	"cointill/models/modelstest"
)

// meanwhile has another transaction change rows and commit at the moment when act
// waits for them. SQLite, which has one writer, does one after the other.
func (b *bundle) meanwhile(act func(), statement string, values ...any) {
	b.t.Helper()
	changed, release, committed, done := make(chan struct{}), make(chan struct{}), make(chan error, 1), make(chan struct{})
	go func() {
		committed <- b.DB.Write(b.t.Context(), func(tx *models.Tx) error {
			if err := tx.Exec(statement, values...).Error; err != nil {
				return err
			}
			close(changed)
			if b.DB.Postgres() {
				<-release
			}
			return nil
		})
	}()
	<-changed
	if !b.DB.Postgres() {
		if err := <-committed; err != nil {
			b.t.Fatal(err)
		}
		act()
		return
	}
	go func() { defer close(done); act() }()
	modelstest.AwaitLock(b.t, b.DB)
	close(release)
	if err := <-committed; err != nil {
		b.t.Fatal(err)
	}
	<-done
}

// TestGoneWhileForgiven: an answer 410 that is settled while failures are forgiven
// switches the endpoint off all the same, since that moment.
func TestGoneWhileForgiven(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		shop := newMerchant(t, status(500))
		e, _ := b.create(owner, shop.URL)
		b.emit(1)
		b.step()
		shop.answer(status(410))
		b.clock.Advance(10 * time.Second)
		b.meanwhile(func() { b.step() }, "UPDATE endpoints SET failing_since = NULL WHERE id = ?", e.ID)
		found, err := b.Find(t.Context(), owner, e.ID)
		if err != nil || found.Active || found.FailingSince == nil || !found.FailingSince.Equal(b.clock.Now()) {
			t.Errorf("%+v %v", found, err)
		}
	})
}

// TestOffWhileClaimed: what is claimed while the endpoint is switched off is under
// way, and isn't called cancelled.
func TestOffWhileClaimed(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		e, _ := b.create(owner, "https://example.com/")
		b.emit(1)
		now := b.clock.Now()
		b.meanwhile(func() { b.toggle(e.ID, false) }, "UPDATE deliveries SET claimed_at = ?, due_at = ?, attempt = 1 WHERE endpoint_id = ?", now, now.Add(40*time.Second), e.ID)
		if d := b.only(e.ID); d.State != webhook.Sending {
			t.Errorf("%+v", d)
		}
	})
}

// TestOrderWhileDelivered: an order for what failed leaves what arrives meanwhile.
func TestOrderWhileDelivered(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		e, _ := b.create(owner, newMerchant(t, status(500)).URL)
		b.emit(1)
		b.step()
		order, err := b.resends.Create(t.Context(), owner, delivery.Order{EndpointID: e.ID, From: start, Failed: true})
		if err != nil {
			t.Fatal(err)
		}
		b.meanwhile(func() {
			if _, err := b.resends.Step(t.Context()); err != nil {
				t.Error(err)
			}
		}, "UPDATE deliveries SET outcome = 'delivered', done_at = ? WHERE endpoint_id = ?", b.clock.Now(), e.ID)
		order, err = b.resends.Find(t.Context(), owner, order.ID)
		if d := b.only(e.ID); d.State != webhook.Delivered || order.Made != 0 || err != nil {
			t.Errorf("%+v %+v %v", d, order, err)
		}
	})
}

// TestOffReachesTheLine (WH-12): once it is committed that an endpoint is off, elsewhere
// or gone, no attempt begins of what waits in its line; where another process did that,
// none a quarter of a second later.
func TestOffReachesTheLine(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		other := setup(t, b.DB)
		for name, change := range map[string]func(id string){
			"off":        func(id string) { b.toggle(id, false) },
			"off, there": func(id string) { other.toggle(id, false); b.clock.Advance(250 * time.Millisecond) },
			"deleted":    func(id string) { b.must(b.Delete(t.Context(), owner, id)) },
			"elsewhere": func(id string) {
				there := "https://127.0.0.1:1/" // refused by the guard: a port below 1024
				_, err := b.Update(t.Context(), owner, id, webhook.Change{URL: &there})
				if err == nil {
					t.Error("the port is taken")
				}
				there = newMerchant(t, nil).URL
				_, err = b.Update(t.Context(), owner, id, webhook.Change{URL: &there})
				b.must(err)
			},
		} {
			var n atomic.Int32
			var id string
			changed := make(chan struct{})
			shop := newMerchant(t, func(w http.ResponseWriter, _ *http.Request) {
				switch n.Add(1) {
				case 1: // makes the endpoint a quick one
				case 2:
					change(id)
					close(changed)
				default:
					<-changed
				}
				w.WriteHeader(http.StatusNoContent)
			})
			e, _ := b.create(owner, shop.URL)
			id = e.ID
			b.typed(webhook.PaymentDeclined, 1)
			b.step()
			b.typed(webhook.PaymentDeclined, 40)
			b.step()
			if got := n.Load(); got > 1+4 { // those that had begun
				t.Errorf("%s: %d requests", name, got)
			}
			if name != "deleted" { // or the next would be sent its events, too
				b.must(b.Delete(t.Context(), owner, id))
			}
		}
	})
}

// TestOffWhileRead (WH-12): an endpoint that is switched off between being read and what is
// made of it gets no attempt but the one that read it.
func TestOffWhileRead(t *testing.T) {
	for name, c := range map[string]struct {
		read *regexp.Regexp
		most int32 // requests
	}{
		"for a claim":    {regexp.MustCompile(`FROM .endpoints. WHERE id IN \(`), 0},
		"for an attempt": {regexp.MustCompile(`FROM .endpoints. WHERE id = \S+$`), 1 + 4 + 1}, // and those that had begun
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, b *bundle) {
				var n atomic.Int32
				done := make(chan struct{})
				shop := newMerchant(t, func(w http.ResponseWriter, _ *http.Request) {
					switch n.Add(1) {
					case 1: // is claimed alone
					case 2:
						b.clock.Advance(250 * time.Millisecond) // so that those in the line read it anew
					default:
						<-done
					}
					w.WriteHeader(http.StatusNoContent)
				})
				e, _ := b.create(owner, shop.URL)
				b.typed(webhook.PaymentDeclined, 40)
				var off atomic.Bool
				b.must(b.DB.Read(t.Context()).Callback().Query().After("gorm:query").Register("off", func(tx *gorm.DB) {
					if c.read.MatchString(tx.Statement.SQL.String()) && off.CompareAndSwap(false, true) {
						b.toggle(e.ID, false)
						close(done)
					}
				}))
				b.step()
				if got := n.Load(); got > c.most || !off.Load() {
					t.Errorf("%d requests; switched off: %v", got, off.Load())
				}
			})
		})
	}
}

// TestGoneReachesTheLine (WH-12): once an answer 410 is settled, no attempt begins of what
// waits in that endpoint's line.
func TestGoneReachesTheLine(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		var n atomic.Int32
		settled := make(chan struct{})
		b.WakeMails = sync.OnceFunc(func() { close(settled) })
		shop := newMerchant(t, func(w http.ResponseWriter, _ *http.Request) {
			switch n.Add(1) {
			case 1: // makes the endpoint a quick one
			case 2:
				w.WriteHeader(http.StatusGone)
			default:
				<-settled
			}
		})
		b.create(owner, shop.URL)
		b.typed(webhook.PaymentDeclined, 1)
		b.step()
		b.typed(webhook.PaymentDeclined, 40)
		b.step()
		if got := n.Load(); got > 1+4+1 { // those that had begun, and the one after the 410
			t.Errorf("%d requests", got)
		}
	})
}

// TestRotationReachesTheLine (WH-2, WH-12): once a secret is rotated, no attempt begins that
// the new one doesn't sign, of what waits in its line either.
func TestRotationReachesTheLine(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		var n atomic.Int32
		var secret string
		e, rotated := webhook.Endpoint{}, make(chan struct{})
		shop := newMerchant(t, func(w http.ResponseWriter, _ *http.Request) {
			switch n.Add(1) {
			case 1: // makes the endpoint a quick one
			case 2:
				defer close(rotated)
				var err error
				_, secret, err = b.RotateSecret(t.Context(), owner, e.ID)
				b.must(err)
			default:
				<-rotated
			}
			w.WriteHeader(http.StatusNoContent)
		})
		e, _ = b.create(owner, shop.URL)
		b.typed(webhook.PaymentDeclined, 1)
		b.step()
		b.typed(webhook.PaymentDeclined, 40)
		b.step()
		by, err := standardwebhooks.NewWebhook(secret)
		b.must(err)
		former := 0
		for _, got := range shop.requests() {
			if by.VerifyIgnoringTimestamp([]byte(got.body), got.header) != nil {
				former++
			}
		}
		if all := len(shop.requests()); all != 41 || former > 1+4 { // those that had begun
			t.Errorf("%d of %d requests are not signed by the new secret", former, all)
		}
	})
}

func (b *bundle) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Error(err)
	}
}

// TestOldAddress: what an address answers that the endpoint had before says nothing
// of the one that it has.
func TestOldAddress(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		there, id := newMerchant(t, nil).URL, ""
		shop := newMerchant(t, func(w http.ResponseWriter, _ *http.Request) {
			_, err := b.Update(t.Context(), owner, id, webhook.Change{URL: &there})
			b.must(err)
			w.WriteHeader(http.StatusGone)
		})
		e, _ := b.create(owner, shop.URL)
		id = e.ID
		b.emit(1)
		b.step()
		if found, err := b.Find(t.Context(), owner, id); err != nil || !found.Active || found.FailingSince != nil {
			t.Errorf("%+v %v", found, err)
		}
	})
}

// TestSwitchingProtocols: an answer 101 ends with its header, though the connection stays.
func TestSwitchingProtocols(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ended := make(chan struct{})
		defer close(ended)
		shop := newMerchant(t, func(w http.ResponseWriter, _ *http.Request) {
			connection, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = connection.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"))
			go func() { <-ended; connection.Close() }()
		})
		e, _ := b.create(owner, shop.URL)
		b.emit(1)
		b.step()
		if a := b.attempts(e.ID)[0]; a.Status != 101 || a.Error == "" {
			t.Errorf("%+v", a)
		}
	})
}

// TestTakenOver: what a later order sends again is counted there, and said to be.
func TestTakenOver(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		good, _ := b.create(owner, newMerchant(t, nil).URL)
		b.create(owner, newMerchant(t, status(500)).URL)
		b.typed(webhook.PaymentDeclined, 6)
		b.step()
		counts := func(id string) [4]int {
			for range 3 {
				b.clock.Advance(2 * time.Second)
				b.work()
			}
			o, err := b.resends.Find(t.Context(), owner, id)
			b.must(err)
			return [4]int{o.Made, o.Delivered, o.Failures, o.Superseded}
		}
		order := func(endpoint string) string {
			o, err := b.resends.Create(t.Context(), owner, delivery.Order{EndpointID: endpoint, From: start})
			b.must(err)
			return o.ID
		}
		a := order("")
		if got := counts(a); got != [4]int{12, 6, 0, 0} {
			t.Errorf("at first: %v", got)
		}
		later := order(good.ID)
		if got := counts(later); got != [4]int{6, 6, 0, 0} {
			t.Errorf("the later one: %v", got)
		}
		b.clock.Advance(time.Minute)
		if got := counts(a); got != [4]int{12, 0, 0, 6} {
			t.Errorf("the earlier one: %v", got)
		}
	})
}
