package chain_test

import (
	"encoding/hex"
	"fmt"
	"sync"
	"testing"

	"cointill/chain"
)

func TestWatchSetKeepsAddressesAndSpendsApart(t *testing.T) {
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

// hexCodec encodes texts as the bytes of their hexadecimal digits.
type hexCodec struct{}

func (hexCodec) Address(address string) []byte {
	raw, err := hex.DecodeString(address)
	if err != nil {
		return nil
	}
	return raw
}
func (c hexCodec) Spend(key string) []byte { return c.Address(key) }

func TestRawDeniesOnlyUnwatchedForms(t *testing.T) {
	t.Parallel()
	if w := new(chain.WatchSet); !w.Raw([]byte{1}) {
		t.Error("without a codec something is surely not watched")
	}
	w := &chain.WatchSet{Codec: hexCodec{}}
	if w.Raw([]byte{1}) {
		t.Error("the empty set may watch something")
	}
	w.AddAddresses("01", "no digits")
	w.AddSpends("02")
	if !w.Raw([]byte{1}) || !w.Raw([]byte{2}) || w.Raw([]byte{3}) || w.Raw(nil) {
		t.Error("Raw confuses watched and unwatched forms")
	}
	w.RemoveAddresses("01")
	w.RemoveSpends("02")
	if w.Raw([]byte{1}) || w.Raw([]byte{2}) {
		t.Error("what was removed may still be watched")
	}
}

func TestAdditionsAreSeenByTheNextCall(t *testing.T) {
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

// TestRawSeesConcurrentAdditions: while the set grows, Raw never denies a form that was added
// before the call.
func TestRawSeesConcurrentAdditions(t *testing.T) {
	t.Parallel()
	w := &chain.WatchSet{Codec: hexCodec{}}
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for j := range 2000 {
				form := []byte{byte(i), byte(j), byte(j >> 8)}
				w.AddAddresses(hex.EncodeToString(form))
				if !w.Raw(form) || !w.Raw([]byte{byte(i), 0, 0}) {
					t.Error("an addition is not seen by the next call")
				}
				if w.Raw([]byte{byte(i), byte(j), 200}) {
					t.Error("something else seems to be watched")
				}
			}
		})
	}
	all.Wait()
}
