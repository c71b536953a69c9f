package payment_test

import (
	"flag"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/ethereum"
	"cointill/core/clock"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment/observe"
	"cointill/core/scope"
	"cointill/core/send/sendtest"
	"cointill/models"
	"cointill/models/modelstest"
)

var watched = flag.Int("watched", 50_000, "BenchmarkNetworks: addresses that followers watch")

// maxNetworksShare is how many times of one network's memory and time followers of six networks may take.
const maxNetworksShare = 1.5

// BenchmarkNetworks measures what followers of six networks that share their addresses hold in memory, and how long
// their start takes, and prints both as ratios to 1.5 times of what the follower of one network takes.
func BenchmarkNetworks(b *testing.B) {
	x := newBench(b, modelstest.Open(b, false, clock.Real()))
	x.unbooked = true
	codes := []money.Chain{money.Ethereum, money.BSC, money.Polygon, money.Arbitrum, money.Base, money.Celo}
	registry := x.service.Networks.(*networks.Registry)
	registry.Homes = map[chain.Network]chain.Network{}
	for _, code := range codes {
		registry.Domains[scope.Test][code] = chain.Sandbox(code)
		registry.Homes[chain.Sandbox(code)] = onEthereum
	}
	x.giveAddresses(*watched)
	for b.Loop() {
		var heaps, starts [2][]float64
		for range 3 {
			for i, on := range [][]money.Chain{codes[:1], codes} {
				heap, took := x.startFollowers(on)
				heaps[i], starts[i] = append(heaps[i], heap), append(starts[i], took)
			}
		}
		for name, list := range map[string][2][]float64{"memory": heaps, "start": starts} {
			one, six := slices.Sorted(slices.Values(list[0])), slices.Sorted(slices.Values(list[1]))
			b.ReportMetric(six[1]/one[1]/maxNetworksShare, name+"-of-limit")
		}
		b.ReportMetric(slices.Min(heaps[1])/(1<<20), "MB")
	}
	b.ReportMetric(0, "ns/op")
}

// giveAddresses writes addresses that were given out long ago.
func (b *bench) giveAddresses(count int) {
	const batch = 10_000
	for first := 0; first < count; first += batch {
		rows := make([]models.Destination, 0, batch)
		for i := first; i < min(count, first+batch); i++ {
			index := int64(i)
			rows = append(rows, models.Destination{Network: string(onEthereum), Address: fmt.Sprintf("0x%040x", i), Tag: -1,
				BusinessID: b.scope.BusinessID, Domain: string(scope.Test), Index: &index, CreatedAt: b.clock.Now().Add(-time.Hour)})
		}
		must(b.t, b.db.Exec(b.t.Context()).Create(&rows).Error)
	}
}

// startFollowers fills the sets of followers of networks, and returns what they hold, in bytes, and the seconds that it
// took.
func (b *bench) startFollowers(codes []money.Chain) (heap, took float64) {
	before, began := heapInUse(), time.Now()
	shared := observe.NewAddresses(&chain.WatchSet{Codec: ethereum.Codec()})
	sets := map[chain.Network]*observe.Observer{}
	for _, code := range codes {
		o := observe.NewSharing(b.service, sendtest.New(b.service), &chain.WatchSet{Codec: ethereum.Codec()}, shared)
		must(b.t, o.Load(b.t.Context(), chain.Sandbox(code)))
		sets[chain.Sandbox(code)] = o
	}
	took = time.Since(began).Seconds()
	heap = heapInUse() - before
	for name, o := range sets {
		if !o.Watching.Address("0x0000000000000000000000000000000000000001") {
			b.t.Fatalf("the follower of %s doesn't watch the addresses of its home network", name)
		}
	}
	return heap, took
}

// heapInUse returns the bytes in use after a garbage collection.
func heapInUse() float64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}
