package auth_test

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alexedwards/argon2id"

	"cointill/core/account/auth"
	"cointill/core/fault"
	"cointill/core/memory"
	"cointill/models/modelstest"
)

// TestHashesLeaveNoGarbage: where memory is small, the 64 MiB of a hash are free before the
// next one begins, although the runtime wouldn't collect them yet.
func TestHashesLeaveNoGarbage(t *testing.T) {
	b := setup(t, modelstest.Open(t, false, time.Now))
	b.Cost.Memory = memory.Hash >> 10
	b.LimitHashing(memory.Plan{Hashes: 1, Collect: true})
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for i := range 3 {
		if _, err := b.SignIn(t.Context(), credentials(fmt.Sprintf("%d@example.com", i),
			"wrong wrong wrong")); code(err) != "sign_in_failed" {
			t.Fatalf("sign-in %d is answered with %v, want sign_in_failed", i, err)
		}
		var heap runtime.MemStats
		runtime.ReadMemStats(&heap)
		if heap.HeapAlloc > memory.Hash {
			t.Errorf("after sign-in %d the heap has %d MiB, want less than one hash takes", i, heap.HeapAlloc>>20)
		}
	}
}

// TestHashesAreCollectedWhereAsked: where memory is plenty, no hash waits for a collection.
func TestHashesAreCollectedWhereAsked(t *testing.T) {
	b := setup(t, modelstest.Open(t, false, time.Now))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, collect := range []bool{false, true} {
		b.LimitHashing(memory.Plan{Hashes: 1, Collect: collect})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := refuses(b.SignIn(t.Context(), credentials("x@example.com", another)))("sign_in_failed"); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if got := after.NumGC > before.NumGC; got != collect {
			t.Errorf("with a plan that collects %v, a hash collects %v", collect, got)
		}
		b.Clock.Advance(time.Minute)
	}
}

// TestHashesFollowMemory: as many passwords are hashed at once as the plan has memory for.
// One more waits, and is told to come back without having taken any.
func TestHashesFollowMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, slots := range []int{1, 2} {
			do, _ := auth.NewHashQueue(slots)
			hashing, end := 0, make(chan struct{})
			for range slots {
				go func() {
					_ = do(t.Context(), 0, func() error { hashing++; <-end; return nil })
				}()
				synctest.Wait()
			}
			err := do(t.Context(), 7, func() error { hashing++; return nil })
			if fault.KindOf(err) != fault.Unavailable || hashing != slots {
				t.Errorf("with %d slots %d hash, and the next one is told %v", slots, hashing, err)
			}
			close(end)
			synctest.Wait()
			if err := do(context.Background(), 7, func() error { return nil }); err != nil {
				t.Errorf("with %d slots free again the next one is told %v", slots, err)
			}
		}
	})
}

// TestDummyHash: it costs as much to compare as the hash of a user does.
func TestDummyHash(t *testing.T) {
	s := auth.New(nil, nil, nil)
	params, salt, key, err := argon2id.DecodeHash(s.DummyHash())
	if err != nil || *params != s.Cost || len(salt) != int(s.Cost.SaltLength) || len(key) != int(s.Cost.KeyLength) {
		t.Errorf("the dummy hash has parameters %+v (%v), want %+v", params, err, s.Cost)
	}
}
