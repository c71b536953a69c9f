package payment_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/issuer"
	"cointill/core/payment/place"
	"cointill/models"
)

// rowsOf returns all rows of a network as text, by table.
func (b *bench) rowsOf(at chain.Network) map[string][]string {
	b.t.Helper()
	all := map[string][]string{}
	for _, table := range []string{"payments", "destinations", "transfers", "spends", "network_holdings",
		"chain_cursors", "chain_blocks"} {
		var rows []map[string]any
		must(b.t, b.db.Read(b.t.Context()).Table(table).Where("network = ?", string(at)).Find(&rows).Error)
		for _, row := range rows {
			text, err := json.Marshal(row)
			must(b.t, err)
			all[table] = append(all[table], string(text))
		}
		slices.Sort(all[table])
	}
	return all
}

// fillNetwork brings payments of a coin into states that a block, a reorganisation or the mempool
// changes. It does the same at the same heights on each network.
func (b *bench) fillNetwork(coin money.Coin) (waiting, mined, gone payment.View) {
	b.t.Helper()
	waiting, mined, gone = b.on(coin), b.on(coin), b.on(coin)
	replaced, final := b.on(coin), b.on(coin)
	wait, drop := b.pay(waiting, "waiting", waiting.Payment.Due), b.pay(gone, "gone", gone.Payment.Due)
	b.mine(b.pay(final, "final", final.Payment.Due))
	b.pool(nil, wait, drop, b.pay(replaced, "replaced", replaced.Payment.Due))
	b.pool(nil, wait, b.pay(replaced, "replaced", replaced.Payment.Due))
	spent := b.pay(replaced, "replaced", replaced.Payment.Due)
	b.mine(b.pay(mined, "mined", mined.Payment.Due))
	block := b.block(int64(len(b.blocks)))
	block.Spends = []chain.Spend{{Key: spent.Spends[0], TxID: "double"}}
	b.apply(chain.Batch{Blocks: []chain.Block{block}, Pending: &chain.Pending{Transfers: []chain.Transfer{wait}}})
	return waiting, mined, gone
}

// TestOtherNetworksStay checks that nothing that happens on one network changes a row of another,
// where the same transactions, keys and heights stand.
func TestOtherNetworksStay(t *testing.T) {
	for _, coins := range [][]money.Coin{{money.BTC, money.DOGE}, {money.DOGE, money.BTC}} { // rows are read by number
		t.Run(string(coins[0]), func(t *testing.T) { testOtherNetworkStays(t, coins) })
	}
}

// testOtherNetworkStays fills networks in an order, and then changes Bitcoin's.
func testOtherNetworkStays(t *testing.T, coins []money.Coin) {
	each(t, func(t *testing.T, b *bench) {
		ctx, other := t.Context(), chain.Sandbox(money.DOGE.Info().Chain)
		p, reconciler := reconciles(b, true)
		b.service.Contracts[other] = place.Contract{}
		var minedThere, waiting, mined, gone payment.View
		for _, coin := range coins {
			if coin == money.DOGE {
				_, minedThere, _ = b.fillNetwork(coin)
			} else {
				waiting, mined, gone = b.fillNetwork(coin)
			}
		}
		b.on(money.BTC)
		must(t, b.db.Exec(ctx).Model(&models.Destination{}).Where("1 = 1").Update("wallet_id", 1).Error)
		must(t, b.db.Exec(ctx).Model(&models.ChainCursor{}).Where("1 = 1").Update("finalized", 3).Error)
		var shared string // an address may stand on several networks
		must(t, b.db.Read(ctx).Model(&models.Destination{}).Where("payment_id = ?", waiting.Payment.ID).Pluck("address", &shared).Error)
		must(t, b.db.Exec(ctx).Model(&models.Destination{}).Where("payment_id = ?", minedThere.Payment.ID).Update("address", shared).Error)
		var barred []string
		must(t, b.db.Read(ctx).Model(&models.Destination{}).Where("network = ?", string(network)).Pluck("address", &barred).Error)
		asks := &fakeIssuer{token: "Paused.", barred: map[string]bool{}}
		for _, address := range barred {
			asks.barred[address] = true
		}
		again := b.pay(gone, "gone", gone.Payment.Due)
		before := b.rowsOf(other)
		for _, table := range []string{"payments", "destinations", "transfers", "spends", "network_holdings",
			"chain_cursors", "chain_blocks"} {
			if len(before[table]) == 0 {
				t.Fatalf("%s has no row of %s, want some", table, other)
			}
		}
		for _, act := range []struct {
			name string
			do   func()
		}{
			{"a look", func() { b.clock.Advance(time.Second); b.look() }},
			{"a reorganisation", func() {
				b.reorg(2, &chain.Pending{Transfers: []chain.Transfer{b.pay(mined, "mined", mined.Payment.Due)}})
			}},
			{"a mempool", func() { b.pool([]chain.Spend{{Key: "coin-of-waiting", TxID: "double"}}, again) }},
			{"blocks", func() { b.mine(b.pay(mined, "mined", mined.Payment.Due), again); b.mine(); b.mine() }},
			{"a conflict in a block", func() {
				block := b.block(int64(len(b.blocks)))
				block.Spends = []chain.Spend{{Key: "coin-of-waiting", TxID: "double"}}
				b.apply(chain.Batch{Blocks: []chain.Block{block}, Pending: &chain.Pending{}})
			}},
			{"an empty look", func() { b.clock.Advance(time.Minute); b.look() }},
			{"a problem", func() { must(t, b.observer.Health(ctx, network, 0, "No node answers.")) }},
			{"a block that is read again", func() {
				block := chain.Block{Header: chain.Header{BlockID: b.blocks[1]}, Transfers: []chain.Transfer{b.pay(waiting, "missed", money.Units(5))}}
				_, err := b.observer.Reread(ctx, network, block)
				must(t, err)
			}},
			{"reconciling", func() { p.gain(waiting.Payment.Address, money.Units(9)); p.look(reconciler) }},
			{"the issuer", func() {
				must(t, (&issuer.Monitor{Service: b.service, Network: network, Token: money.BTC, Issuer: asks}).Step(ctx))
				for _, address := range asks.asked {
					if !asks.barred[address] {
						t.Errorf("the issuer is asked for %s, want only addresses of %s", address, network)
					}
				}
			}},
			{"a reset", func() {
				_, err := b.observer.ResetNetwork(ctx, network)
				must(t, err)
			}},
			{"a block that ends what is kept of an earlier one", func() {
				at := chain.BlockID{Height: *b.view(minedThere.Payment.Reference).Transfers[0].Height + network.KeptBlocks(), Hash: "far"}
				block := chain.Block{Header: chain.Header{BlockID: at, Time: b.clock.Now()}}
				must(t, b.observer.Apply(ctx, chain.Batch{Network: network, Blocks: []chain.Block{block}, Tip: chain.Tip{Header: block.Header}}))
			}},
			{"a block that is read again, whose header is not kept", func() {
				block := chain.Block{Header: chain.Header{BlockID: chain.BlockID{Height: 3, Hash: "old"}, Time: b.clock.Now()},
					Transfers: []chain.Transfer{b.pay(waiting, "old", money.Units(5))}}
				_, err := b.observer.Reread(ctx, network, block)
				must(t, err)
			}},
		} {
			mine := b.rowsOf(network)
			act.do()
			after := b.rowsOf(other)
			for table, rows := range before {
				if !slices.Equal(rows, after[table]) {
					t.Errorf("%s on %s changed %s of %s from\n%s\nto\n%s", act.name, network, table, other, rows, after[table])
				}
			}
			if !strings.HasSuffix(act.name, "look") && maps.EqualFunc(mine, b.rowsOf(network), slices.Equal) {
				t.Errorf("%s changed no row of %s, want some", act.name, network)
			}
			before = after
		}
	})
}
