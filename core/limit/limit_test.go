package limit_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/limit"
	"cointill/models"
	"cointill/models/modelstest"
)

func begin() *clock.Fake { return clock.NewFake(time.Date(2026, 3, 1, 12, 0, 15, 0, time.UTC)) }

func TestTake(t *testing.T) {
	now := begin()
	l := limit.New(modelstest.Open(t, false, now.Now), now.Now)
	for left := int64(2); left >= 0; left-- {
		got := l.Take("key:1", 3)
		if !got.Allowed || got.Remaining != left || got.Reset != 45*time.Second || got.Err() != nil {
			t.Errorf("%+v", got)
		}
	}
	refused := l.Take("key:1", 3)
	var f *fault.Fault
	if !errors.As(refused.Err(), &f) || f.Kind != fault.Limited || f.RetryAfter != 45*time.Second {
		t.Errorf("%+v", refused)
	}
	if refused.PolicyHeader() != `"default";q=3;w=60` || refused.StandingHeader() != `"default";r=0;t=45` {
		t.Errorf("refused.Policy() = %v, refused.Standing() = %v", refused.PolicyHeader(), refused.StandingHeader())
	}
	if got := l.Take("key:2", 3); !got.Allowed || got.Remaining != 2 {
		t.Error("another caller's were counted")
	}
	now.Advance(45 * time.Second)
	if got := l.Take("key:1", 3); !got.Allowed || got.Remaining != 2 {
		t.Errorf("%+v", got)
	}
}

func TestReplicasShare(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := begin()
		a, b := limit.New(db, now.Now), limit.New(db, now.Now)
		exchange := func(ls ...*limit.Limiter) {
			for _, l := range ls {
				if err := l.ExchangeCounts(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 4 {
			a.Take("key:1", 10)
			b.Take("key:1", 10)
		}
		exchange(a, b) // b now knows both parts
		if got := b.Take("key:1", 10); got.Remaining != 1 {
			t.Errorf("%+v", got)
		}
		a.Take("key:1", 10)
		exchange(b, a)
		if a.Take("key:1", 10).Allowed {
			t.Error("the eleventh request was let in")
		}
		now.Advance(2 * limit.Window)
		a.Take("key:1", 10)
		exchange(a)
		var rows int64
		db.Read(t.Context()).Model(&models.RateWindow{}).Count(&rows)
		if rows != 1 {
			t.Errorf("%d rows: old windows stay", rows)
		}
	})
}

// TestExchangeGoesInPieces: no transaction writes more than some hundred callers, others
// get in between, and what one that fails held back is added once, later.
func TestExchangeGoesInPieces(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := begin()
		l := limit.New(db, now.Now)
		for window := range 3 { // the last takes away the rows of the first
			for i := range 1_201 {
				l.Take(fmt.Sprintf("key:%d", i), 10)
			}
			ctx, cancel := context.WithCancel(t.Context())
			pieces := 0
			through(db, func() {
				if pieces++; pieces == 2 && window == 0 {
					cancel()
				}
			})
			if err := l.ExchangeCounts(ctx); (err != nil) != (window == 0) || window > 0 && pieces != 3 {
				t.Fatalf("l.Exchange(ctx): window = %v, pieces = %v, err = %v", window, pieces, err)
			}
			if err := l.ExchangeCounts(t.Context()); err != nil {
				t.Fatal(err)
			}
			cancel()
			now.Advance(limit.Window)
		}
		var rows, counts, oldest int64
		db.Read(t.Context()).Model(&models.RateWindow{}).Select("count(*), sum(count), count(*) FILTER (WHERE starts_at < ?)", begin().Now()).
			Row().Scan(&rows, &counts, &oldest)
		if rows != 2*1_201 || counts != rows || oldest != 0 {
			t.Errorf("%d rows, %d counted, %d of a window that is over", rows, counts, oldest)
		}
	})
}

// left is how many of 60 requests a client has after one more.
func left(l *limit.Limiter, kind, ip string) int64 {
	if got := l.TakeFrom(kind, ip, 60); got.Allowed {
		return got.Remaining
	}
	return -1
}

// TestOneNetworkTakesNoPlaces (BTC-14): who has a site's or a provider's addresses can't have
// others refused, however many of them they ask from; those next to them are counted together.
func TestOneNetworkTakesNoPlaces(t *testing.T) {
	for name, c := range map[string]struct {
		address func(i int) string
		beside  []string // outside the network, inside the one around it
	}{
		"a /48":         {func(i int) string { return fmt.Sprintf("2001:db8:1:%x::1", i) }, []string{"2001:db8:2::1", "2001:db8:2:1::1"}},
		"a /32":         {func(i int) string { return fmt.Sprintf("2001:db8:%x::1", i) }, []string{"2001:db9::1", "2001:db9:1::1"}},
		"sites of one":  {func(i int) string { return fmt.Sprintf("2001:db8:%x:%x::1", i%20, i/20) }, []string{"2001:db9::1", "2001:db9:1::1"}},
		"a /16 of IPv4": {func(i int) string { return fmt.Sprintf("203.0.%d.%d", i>>8, i&255) }, []string{"203.1.0.1", "203.1.0.2"}},
	} {
		t.Run(name, func(t *testing.T) {
			now := begin()
			l := limit.New(modelstest.Open(t, false, now.Now), now.Now)
			for i := range 60_000 {
				l.TakeFrom("stranger", c.address(i), 300)
			}
			for _, customer := range append(c.beside, "198.51.100.7", "2a00::1", c.address(0)) {
				if got := left(l, "starts", customer); got != 59 {
					t.Errorf("%s has %d left", customer, got)
				}
			}
			if got := l.Take("key:1", 60); got.Remaining != 59 {
				t.Errorf("a key: %+v", got)
			}
			refused := 0
			for i := range 100 {
				if left(l, "misses", c.address(60_000+i)) < 0 {
					refused++
				}
			}
			if refused != 40 {
				t.Errorf("%d of 100 new ones of the network were refused", refused)
			}
		})
	}
}

// TestNeighboursAreNoCrowd (BTC-14): thousands of customers of one provider are counted apart, on
// an idle server and beside one who asks from every address of a site, their provider's or
// another's, or of a provider's sites.
func TestNeighboursAreNoCrowd(t *testing.T) {
	for name, address := range map[string]func(i int) string{
		"IPv4":              func(i int) string { return fmt.Sprintf("203.0.%d.%d", i>>8, i&255) },
		"IPv6, few in each": func(i int) string { return fmt.Sprintf("2001:db8:%x:%x::1", i>>6, i) },
		"IPv6, one in each": func(i int) string { return fmt.Sprintf("2001:db8:%x::1", i) },
		"IPv6, all in one":  func(i int) string { return fmt.Sprintf("2001:db8:1:%x::1", i) },
	} {
		for strangers, stranger := range map[string]func(i int) string{
			"no":            nil,
			"a site's":      func(i int) string { return fmt.Sprintf("2a00:1:1:%x::1", i) },
			"a neighbour's": func(i int) string { return fmt.Sprintf("2001:db8:ffff:%x::1", i) },
			"a provider's":  func(i int) string { return fmt.Sprintf("2a00:1:%x:%x::1", i%20, i/20) },
		} {
			now := begin()
			l := limit.New(modelstest.Open(t, false, now.Now), now.Now)
			for i := 0; stranger != nil && i < 60_000; i++ {
				l.TakeFrom("stranger", stranger(i), 300)
			}
			for i := range 2_000 {
				if got := left(l, "starts", address(i)); got != 59 {
					t.Fatalf("%s, %s strangers: customer %d has %d left", name, strangers, i, got)
				}
			}
		}
	}
}

// TestProvidersLeavePlaces (BTC-14): whatever some providers' customers take, there are places left.
func TestProvidersLeavePlaces(t *testing.T) {
	now := begin()
	l := limit.New(modelstest.Open(t, false, now.Now), now.Now)
	for provider := range 12 {
		for i := range 15_000 {
			l.TakeFrom("stranger", fmt.Sprintf("2a%02x:1:%x:%x::1", provider, i%20, i/20), 300)
		}
	}
	for _, customer := range []string{"2001:db8::1", "198.51.100.7"} {
		if got := left(l, "starts", customer); got != 59 {
			t.Errorf("%s has %d left", customer, got)
		}
	}
}

// TestAFullSiteLeavesItsProvider (BTC-14): who took what a site may have takes nothing of what
// others of the same provider have when there is little room.
func TestAFullSiteLeavesItsProvider(t *testing.T) {
	now := begin()
	l := limit.New(modelstest.Open(t, false, now.Now), now.Now)
	for i := range 60_000 {
		l.TakeFrom("stranger", fmt.Sprintf("2001:db8:1:%x::1", i), 300)
	}
	for i := range 25_000 {
		l.TakeFrom("stranger", fmt.Sprintf("2a%02x:%x::1", i>>8, i), 300)
	}
	for i := range 700 {
		if got := left(l, "starts", fmt.Sprintf("2001:db8:%x::1", 2+i)); got != 59 {
			t.Fatalf("customer %d has %d left", i, got)
		}
	}
}

// TestMemoryIsBounded: with addresses from everywhere there are no more counts than places,
// whoever is beyond them shares one with nobody of another kind, and keys have their own.
func TestMemoryIsBounded(t *testing.T) {
	now := begin()
	l := limit.New(modelstest.Open(t, false, now.Now), now.Now)
	var wg sync.WaitGroup
	for part := range 4 {
		wg.Go(func() {
			for i := range 16_000 {
				l.TakeFrom("stranger", fmt.Sprintf("2%x%02x:%x::1", part, i>>8, i&255), 60)
			}
		})
	}
	wg.Wait()
	for i := range 60 {
		if got := left(l, "starts", fmt.Sprintf("198.51.100.%d", i)); got != int64(59-i) {
			t.Fatalf(`left(l, "starts", fmt.Sprintf("198.51.100.%%d", i)): i = %v, got = %v`, i, got)
		}
	}
	if left(l, "starts", "198.51.100.60") != -1 || left(l, "stranger", "198.51.100.61") != -1 {
		t.Error("addresses beyond the bound are not counted together")
	}
	if got := l.Take("key:1", 60); got.Remaining != 59 {
		t.Errorf("a key: %+v", got)
	}
	if callers, networks := l.Held(); callers != 50_003 || networks != 100_001 { // two networks around each
		t.Error(callers, "callers and", networks, "networks are held")
	}
}

// TestCountedMeanwhile: what is counted while an exchange is under way is not lost.
func TestCountedMeanwhile(t *testing.T) {
	now := begin()
	db := modelstest.Open(t, false, now.Now)
	l := limit.New(db, now.Now)
	l.Take("key:1", 10)
	during := func() { l.Take("key:1", 10) }
	through(db, func() { during() })
	if err := l.ExchangeCounts(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := l.Take("key:1", 10); got.Remaining != 7 {
		t.Errorf("%+v", got)
	}
	during = func() {}
	if err := l.ExchangeCounts(t.Context()); err != nil {
		t.Fatal(err)
	}
	var row models.RateWindow
	if err := db.Read(t.Context()).Take(&row).Error; err != nil || row.Count != 3 {
		t.Errorf("db.Read(t.Context()).Take(&row).Error: row = %v, err = %v", row, err)
	}
}

func TestFailedExchangeLosesNothing(t *testing.T) {
	now := begin()
	db := modelstest.Open(t, false, now.Now)
	l := limit.New(db, now.Now)
	l.Take("key:1", 10)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.ExchangeCounts(gone); err == nil {
		t.Fatal("no error")
	}
	if err := l.ExchangeCounts(t.Context()); err != nil {
		t.Fatal(err)
	}
	var row models.RateWindow
	if err := db.Read(t.Context()).Take(&row).Error; err != nil || row.Count != 1 {
		t.Errorf("db.Read(t.Context()).Take(&row).Error: row = %v, err = %v", row, err)
	}
}
