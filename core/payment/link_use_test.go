package payment_test

import (
	"fmt"
	"testing"
	"time"

	"cointill/core/payment"
	"cointill/models"
)

// linkUses creates a payment link that was used, and returns it with a function that reads its uses.
func (b *bench) linkUses(used int64) (link models.Link, read func() int64) {
	b.t.Helper()
	var n int64
	b.count(&n, &models.Link{}, "1 = 1")
	link = models.Link{BusinessID: b.scope.BusinessID, Domain: "test", Code: fmt.Sprint("link-", n), Title: "Once",
		Currency: "NGN", Used: used, Active: true, CreatedAt: b.clock.Now(), UpdatedAt: b.clock.Now()}
	must(b.t, b.db.Exec(b.t.Context()).Create(&link).Error)
	return link, func() int64 {
		b.t.Helper()
		var row models.Link
		must(b.t, b.db.Read(b.t.Context()).Where("id = ?", link.ID).Take(&row).Error)
		return row.Used
	}
}

// byLink starts a payment by a payment link.
func (b *bench) byLink(link models.Link) payment.Started {
	b.t.Helper()
	r := request()
	r.LinkID = &link.ID
	started, err := b.service.Initiate(b.t.Context(), b.scope, r)
	must(b.t, err)
	return started
}

// TestEndsWithoutMoneyReleaseTheLinkUse checks that each end without money releases the use of the
// payment's link and of no other, never below none, and that an end with money keeps it.
func TestEndsWithoutMoneyReleaseTheLinkUse(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		_, others := b.linkUses(1)
		for _, c := range []struct {
			state      payment.State
			used, want int64
			end        func(v payment.View)
		}{
			{payment.Expired, 2, 1, nil},
			{payment.Expired, 0, 0, nil},
			{payment.Abandoned, 2, 1, func(payment.View) {}},
			{payment.Failed, 2, 1, func(v payment.View) { b.pool(nil, b.pay(v, "dropped", v.Payment.Due)); b.pool(nil) }},
			{payment.Declined, 2, 2, func(v payment.View) { b.mine(b.pay(v, "short", v.Payment.Due.MulDiv(1, 2))); b.mine() }},
		} {
			link, uses := b.linkUses(c.used)
			started := b.byLink(link)
			if c.end != nil {
				v, err := b.service.Open(t.Context(), started.AccessToken, "en", "")
				must(t, err)
				c.end(v)
			}
			b.clock.Advance(payment.Monitoring + time.Second)
			b.tick()
			b.clock.Advance(payment.Monitoring) // long after its transfer was last seen
			b.tick()
			if got := b.view(started.Reference); got.State() != c.state || uses() != c.want {
				t.Errorf("%d uses with a payment that is %s are %d, want %d with one that is %s", c.used, got.State(),
					uses(), c.want, c.state)
			}
		}
		if n := others(); n != 1 {
			t.Errorf("another link has %d uses, want 1", n)
		}
	})
}
