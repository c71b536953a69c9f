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
	if refused.Policy() != `"default";q=3;w=60` || refused.Standing() != `"default";r=0;t=45` {
		t.Error(refused.Policy(), refused.Standing())
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
				if err := l.Exchange(t.Context()); err != nil {
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

func TestFailedExchangeLosesNothing(t *testing.T) {
	now := begin()
	db := modelstest.Open(t, false, now.Now)
	l := limit.New(db, now.Now)
	l.Take("key:1", 10)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Exchange(gone); err == nil {
		t.Fatal("no error")
	}
	if err := l.Exchange(t.Context()); err != nil {
		t.Fatal(err)
	}
	var row models.RateWindow
	if err := db.Read(t.Context()).Take(&row).Error; err != nil || row.Count != 1 {
		t.Error(row, err)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	now := begin()
	l := limit.New(modelstest.Open(t, false, now.Now), now.Now)
	var wg sync.WaitGroup
	for part := range 4 {
		wg.Go(func() {
			for i := range 12_500 {
				l.Take(fmt.Sprintf("ip:%d/%d", part, i), 60)
			}
		})
	}
	wg.Wait()
	for i := range 60 {
		if !l.Take(fmt.Sprintf("late:%d", i), 60).Allowed {
			t.Fatal(i)
		}
	}
	if l.Take("late:60", 60).Allowed {
		t.Error("callers beyond the bound are not counted together")
	}
}
