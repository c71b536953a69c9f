package chain

import (
	"testing"

	"cointill/core/money"
)

// TestDropDisputed: what two nodes show otherwise is 0, everything else stays.
func TestDropDisputed(t *testing.T) {
	t.Parallel()
	left := func(asset string, units int64) Departure {
		return Departure{TxID: "tx", Address: "a", Asset: asset, Amount: money.Units(units)}
	}
	fee := func(id string, units int64) Transfer { return Transfer{TxID: id, Fee: money.Units(units)} }
	block := Block{Transfers: []Transfer{fee("same", 3), fee("other", 3), fee("unseen", 3)},
		Departures: []Departure{left("ETH", 5), left("USDT", 5)}}
	block.DropDisputed(Block{Transfers: []Transfer{fee("same", 3), fee("other", 4)},
		Departures: []Departure{left("USDT", 6), left("ETH", 5)}})
	for i, want := range []int64{3, 0, 3} {
		if got := block.Transfers[i].Fee; got.Cmp(money.Units(want)) != 0 {
			t.Errorf("fee of %s = %s, want %d", block.Transfers[i].TxID, got, want)
		}
	}
	for i, want := range []int64{5, 0} {
		if got := block.Departures[i].Amount; got.Cmp(money.Units(want)) != 0 {
			t.Errorf("departure of %s = %s, want %d", block.Departures[i].Asset, got, want)
		}
	}
}
