package delivery_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"cointill/core/webhook"
	"cointill/models"
)

// TestHostOfOld: an endpoint of a version before hosts were kept gets its own with
// its first delivery.
func TestHostOfOld(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		e, _ := b.create(owner, newMerchant(t, nil).URL)
		b.must(b.DB.Exec(t.Context()).Model(&models.Endpoint{}).Where("id = ?", e.ID).UpdateColumn("host", "").Error)
		b.emit(1)
		b.step()
		var host string
		b.must(b.DB.Read(t.Context()).Model(&models.Endpoint{}).Where("id = ?", e.ID).Pluck("host", &host).Error)
		if d := b.only(e.ID); host != "127.0.0.1" || d.State != webhook.Delivered {
			t.Errorf("%q %+v", host, d)
		}
	})
}

// TestHostShare has more endpoints on one host than requests may be under way
// there: when the first of them comes, no more than that are claimed.
func TestHostShare(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		var once sync.Once
		var claimed atomic.Int64
		shop := newMerchant(t, func(w http.ResponseWriter, _ *http.Request) {
			once.Do(func() {
				var n int64
				b.must(b.DB.Read(t.Context()).Model(&models.Delivery{}).Where("attempt > 0").Count(&n).Error)
				claimed.Store(n)
			})
			w.WriteHeader(http.StatusNoContent)
		})
		for range 40 {
			b.create(owner, shop.URL)
		}
		b.emit(1)
		if n := b.step(); n != 40 || claimed.Load() < 1 || claimed.Load() > 32 {
			t.Errorf("%d delivered, %d claimed at once", n, claimed.Load())
		}
	})
}

// TestMutedMail switches off without a mail when owners want none, and notes it all the same.
func TestMutedMail(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		told := b.owners()
		b.must(b.DB.Exec(t.Context()).Model(&models.Business{}).Where("id = 1").UpdateColumn("muted", "webhook_off").Error)
		e, _ := b.create(owner, newMerchant(t, status(410)).URL)
		b.emit(1)
		b.step()
		if found, err := b.Find(t.Context(), owner, e.ID); err != nil || found.Active || len(told()) != 0 {
			t.Errorf("%+v %v, mails %q", found, err, told())
		}
		var noted int64
		b.must(b.DB.Read(t.Context()).Model(&models.Audit{}).Where("action = 'webhook.switched_off'").Count(&noted).Error)
		if noted != 1 {
			t.Errorf("noted %d times", noted)
		}
	})
}

// TestCookiesAreNotKept: of an answer's headers those that may let somebody in aren't.
func TestCookiesAreNotKept(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		e, _ := b.create(owner, newMerchant(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Add("Set-Cookie", "session=letmein; HttpOnly")
			w.Header().Add("set-cookie", "other=letmein")
			w.Header().Set("X-Answer", "yes")
		}).URL)
		b.emit(1)
		b.step()
		if a := b.attempts(e.ID)[0]; !strings.Contains(a.Header, "X-Answer: yes") || strings.Contains(a.Header, "letmein") || strings.Contains(a.Header, "Cookie") {
			t.Errorf("%q", a.Header)
		}
	})
}

// TestTestEventSkipsNobody: a test event is for one endpoint, and no other missed it by being off.
func TestTestEventSkipsNobody(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		e, _ := b.create(owner, newMerchant(t, nil).URL)
		off, _ := b.create(owner, "https://example.com/")
		b.toggle(off.ID, false)
		id, err := b.deliveries.SendTest(t.Context(), owner, e.ID)
		b.must(err)
		list, err := b.deliveries.DeliveriesOfEvent(t.Context(), owner, id)
		if err != nil || len(list) != 1 || list[0].EndpointID != e.ID {
			t.Errorf("%+v %v", list, err)
		}
		list, err = b.deliveries.DeliveriesOfEvent(t.Context(), owner, b.emit(1)) // of which the other does
		if err != nil || len(list) != 2 || list[1].EndpointID != off.ID || list[1].State != webhook.Skipped {
			t.Errorf("%+v %v", list, err)
		}
	})
}
