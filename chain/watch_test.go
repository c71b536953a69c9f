package chain_test

import (
	"fmt"
	"sync"
	"testing"

	"cointill/chain"
)

func TestWatchSet(t *testing.T) {
	t.Parallel()
	var w chain.WatchSet
	if w.Address("a") || w.Spend("a") {
		t.Fatal("the empty set watches something")
	}
	w.AddAddresses("a", "b", "a")
	w.AddSpends("s")
	if !w.Address("a") || !w.Address("b") || w.Address("s") || !w.Spend("s") || w.Spend("a") {
		t.Error("addresses and spend keys are mixed up")
	}
	if addresses, spends := w.Len(); addresses != 2 || spends != 1 {
		t.Errorf("%d addresses and %d spend keys, want 2 and 1", addresses, spends)
	}
	w.RemoveAddresses("a", "nobody")
	w.RemoveSpends("s")
	if w.Address("a") || w.Spend("s") || !w.Address("b") {
		t.Error("removing removed the wrong thing")
	}
}

func TestWatchSetConcurrently(t *testing.T) {
	t.Parallel()
	var w chain.WatchSet
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 200 {
				name := fmt.Sprint(i, "-", j)
				w.AddAddresses(name)
				w.AddSpends(name)
				if !w.Address(name) || !w.Spend(name) {
					t.Error("an addition is not seen by the next call")
				}
			}
		})
	}
	all.Wait()
	if addresses, _ := w.Len(); addresses != 1600 {
		t.Errorf("%d addresses", addresses)
	}
}
