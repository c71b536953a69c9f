package sandbox_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/chain/sandbox"
	"cointill/core/clock"
	"cointill/core/ident"
	"cointill/core/money"
	"cointill/models"
	"cointill/models/modelstest"
)

// payTo returns a transaction that pays an amount to an address.
func payTo(address string, amount int64) chain.Tx {
	return chain.Tx{Outputs: []chain.Output{{Asset: "BTC", Destination: chain.Destination{Address: address},
		Amount: money.Units(amount)}},
		Spends: []string{ident.RandomText(20)}}
}

func (n *sandboxNet) playMoves(moves ...chain.Move) int64 {
	n.Helper()
	height, err := n.chain.ApplyMoves(n.Context(), moves...)
	n.failOn(err)
	return height
}

func (n *sandboxNet) readTip() chain.Tip {
	n.Helper()
	view, err := n.chain.At(n.Context())
	n.failOn(err)
	return view.Tip
}

func forEachDatabase(t *testing.T, kind money.Chain, test func(n *sandboxNet)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(newSandboxNet(t, db, kind)) })
}

func TestIDsAreContentHashes(t *testing.T) {
	t.Parallel()
	a := chain.Tx{Outputs: []chain.Output{{Asset: "BTC", Destination: chain.Destination{Address: "x"},
		Amount: money.Units(1)}}, Spends: []string{"k"}}
	b := a
	if a.ID("one") != b.ID("one") || a.ID("one") == a.ID("two") {
		t.Error("an id is not that of network and content")
	}
	for name, other := range map[string]chain.Tx{
		"amount": {Outputs: []chain.Output{{Asset: "BTC", Destination: chain.Destination{Address: "x"},
			Amount: money.Units(2)}}, Spends: []string{"k"}},
		"spends":   {Outputs: a.Outputs, Spends: []string{"l"}},
		"reverted": {Outputs: a.Outputs, Spends: a.Spends, Reverted: true},
	} {
		if other.ID("one") == a.ID("one") {
			t.Errorf("another %s, the same id", name)
		}
	}
}

// TestBlocksAreDeterministic applies the same moves to two chains and compares their blocks.
func TestBlocksAreDeterministic(t *testing.T) {
	t.Parallel()
	var tips []string
	for range 2 {
		n := newSandboxNet(t, modelstest.Open(t, false, time.Now), money.Bitcoin)
		a := chain.Tx{Outputs: []chain.Output{{Asset: "BTC", Destination: chain.Destination{Address: "x"},
			Amount: money.Units(1)}}, Spends: []string{"k"}}
		n.playMoves(chain.Move{Kind: chain.MoveBroadcast, Tx: &a})
		n.Mine(5)
		n.playMoves(chain.Move{Kind: chain.MoveReorg, Depth: 5})
		n.Mine(2)
		tips = append(tips, n.readTip().Hash)
	}
	if tips[0] != tips[1] {
		t.Errorf("the same moves made the blocks %v", tips)
	}
}

func TestPlansRunAtTheirHeight(t *testing.T) {
	t.Parallel()
	forEachDatabase(t, money.Bitcoin, func(n *sandboxNet) {
		n.Mine(3)
		a, b, held := payTo("a", 1), payTo("b", 2), payTo("held", 3)
		idA, idB, idHeld := a.ID(n.chain.Network()), b.ID(n.chain.Network()), held.ID(n.chain.Network())
		from := n.playMoves(
			chain.Move{Kind: chain.MoveBroadcast, Tx: &a},
			chain.Move{Kind: chain.MoveBroadcast, Tx: &held, Held: true},
			chain.Move{After: 2, Kind: chain.MoveBroadcast, Tx: &b},
			chain.Move{After: 3, Kind: chain.MoveReorg, Depth: 3, TxIDs: []string{idA}},
			chain.Move{After: 3, Kind: chain.MoveBroadcast, Tx: &a, Held: true},
			chain.Move{After: 4, Kind: chain.MoveRelease, TxIDs: []string{idA, idHeld}},
			chain.Move{After: 6, Kind: chain.MoveBroadcast, Tx: &b}) // already known: no effect
		want := []struct {
			a, b, held int64 // heights; 0 means pending, -1 unknown
		}{{from + 1, -1, 0}, {from + 1, 0, 0}, {0, from + 3, 0}, {0, from + 3, 0}, {from + 5, from + 3, from + 5},
			{from + 5, from + 3, from + 5}}
		for i, w := range want {
			n.Mine(1)
			for id, height := range map[string]int64{idA: w.a, idB: w.b, idHeld: w.held} {
				got := n.Where(id)
				if (height > 0 && got.Height != height) || (height == 0 && !got.Pending) ||
					(height < 0 && !got.Gone()) {
					n.Errorf("after %d blocks %s is at %+v, want %d", i+1, id[:6], got, height)
				}
			}
		}
	})
}

func TestBadMovesAreRefusedWhole(t *testing.T) {
	t.Parallel()
	n := newSandboxNet(t, modelstest.Open(t, false, time.Now), money.XRPL)
	good := payTo("a", 1)
	zero := payTo("a", 0)
	bare := chain.Tx{Outputs: good.Outputs}
	for name, move := range map[string]chain.Move{
		"no kind":       {},
		"no tx":         {Kind: chain.MoveBroadcast},
		"no amount":     {Kind: chain.MoveBroadcast, Tx: &zero},
		"no spends":     {Kind: chain.MoveBroadcast, Tx: &bare},
		"reorg of XRP":  {Kind: chain.MoveReorg, Depth: 1},
		"far ahead":     {Kind: chain.MoveBroadcast, Tx: &good, After: 1 << 40},
		"in the past":   {Kind: chain.MoveBroadcast, Tx: &good, After: -1},
		"drops nothing": {Kind: chain.MoveDrop},
	} {
		broadcast := chain.Move{Kind: chain.MoveBroadcast, Tx: &good}
		if _, err := n.chain.ApplyMoves(t.Context(), broadcast, move); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if !n.Where(good.ID(n.chain.Network())).Gone() {
		t.Error("a refused call did something")
	}
	for _, count := range []int{0, -1, 1_000_000} {
		if _, err := n.chain.Mine(t.Context(), count); err == nil {
			t.Errorf("mined %d blocks", count)
		}
	}
}

// TestPaymentsSettleWithin25Seconds runs every chain with a fake clock. A payment is pending first
// and reaches its deepest default depth within 25 s, also on an idle chain.
func TestPaymentsSettleWithin25Seconds(t *testing.T) {
	t.Parallel()
	depth := map[money.Chain]int64{money.Bitcoin: 3, money.Dogecoin: 40, money.XRPL: 1}
	for _, kind := range money.ListNetworks() {
		want := depth[kind]
		facts, hasFacts := money.FindNetworkFacts(kind)
		if hasFacts {
			want = int64(facts.Finality.Depth)
		}
		n := newSandboxNet(t, modelstest.Open(t, false, time.Now), kind)
		n.clock.Advance(10 * time.Minute)
		txid := n.Pay(chain.Output{Asset: "X", Destination: chain.Destination{Address: "a"}, Amount: money.Units(1)})
		start := n.clock.Now()
		if mined, wait, err := n.chain.MineIfDue(t.Context()); err != nil || mined || wait <= 0 {
			t.Errorf("%s: mined at once (%v, %v)", kind, wait, err)
		}
		for {
			_, wait, err := n.chain.MineIfDue(t.Context())
			n.failOn(err)
			tip, place := n.readTip(), n.Where(txid)
			final := place.Height > 0 && tip.Height-place.Height+1 >= want &&
				(!hasFacts || tip.Finalized >= place.Height)
			if final {
				break
			}
			n.clock.Advance(max(wait, time.Millisecond))
		}
		if took := n.clock.Now().Sub(start); took > 25*time.Second {
			t.Errorf("%s took %v", kind, took)
		}
	}
}

// TestIdleChainMinesRarely counts the blocks of an idle hour.
func TestIdleChainMinesRarely(t *testing.T) {
	t.Parallel()
	n := newSandboxNet(t, modelstest.Open(t, false, time.Now), money.Dogecoin)
	held := payTo("never", 1)
	n.playMoves(chain.Move{Kind: chain.MoveBroadcast, Tx: &held, Held: true})
	end := n.clock.Now().Add(time.Hour)
	for n.clock.Now().Before(end) {
		_, wait, err := n.chain.MineIfDue(t.Context())
		n.failOn(err)
		if wait > time.Minute || wait <= 0 {
			t.Fatalf("waits %v", wait)
		}
		n.clock.Advance(wait)
	}
	if height := n.readTip().Height; height < 58 || height > 61 {
		t.Errorf("%d blocks in a quiet hour", height)
	}
}

func TestOldEmptyBlocksArePruned(t *testing.T) {
	t.Parallel()
	n := newSandboxNet(t, modelstest.Open(t, false, time.Now), money.Bitcoin)
	paid := n.Pay(chain.Output{Asset: "BTC", Destination: chain.Destination{Address: "a"}, Amount: money.Units(1)})
	for range 5 {
		n.Mine(1000)
	}
	count := func() (rows int64) {
		n.failOn(n.db.Read(t.Context()).Model(&models.SandboxBlock{}).Count(&rows).Error)
		return rows
	}
	if rows := count(); rows != 2000+3 { // the kept blocks, the tip, the first block and the block with the payment
		t.Errorf("%d blocks stay", rows)
	}
	if place := n.Where(paid); place.Height != 1 {
		t.Errorf("the payment is at %+v", place)
	}
	if _, err := n.chain.Header(t.Context(), 5); err == nil || strings.Contains(err.Error(), chain.ErrNoBlock.Error()) {
		t.Errorf("a pruned block: %v", err)
	}
	// Blocks that a follower has not read yet are kept.
	n.failOn(n.db.Exec(t.Context()).Create(&models.ChainCursor{Network: string(n.chain.Network()), Height: 4000,
		Hash: "x", UpdatedAt: n.clock.Now()}).Error)
	for range 5 {
		n.Mine(1000)
	}
	if _, err := n.chain.Header(t.Context(), 4001); err != nil {
		t.Errorf("a block that is still to be read: %v", err)
	}
	held := payTo("held", 1)
	n.playMoves(chain.Move{Kind: chain.MoveBroadcast, Tx: &held, Held: true})
	n.clock.Advance(15 * 24 * time.Hour)
	n.Mine(500)
	if !n.Where(held.ID(n.chain.Network())).Gone() {
		t.Error("a transaction is held for ever")
	}
}

// TestManyProcessesShareOneChain has several processes use one chain at once. No transaction is
// lost or mined twice, and the blocks form a chain.
func TestManyProcessesShareOneChain(t *testing.T) {
	t.Parallel()
	forEachDatabase(t, money.Bitcoin, func(n *sandboxNet) {
		const processes, rounds = 4, 12
		done := make(chan error)
		for p := range processes {
			c, err := sandbox.Open(n.Context(), n.db, n.kind, n.clock.Now)
			n.failOn(err)
			go func() { done <- useChainRandomly(n.Context(), c, rand.New(rand.NewPCG(uint64(p), 1)), rounds) }()
		}
		for range processes {
			if err := <-done; err != nil {
				n.Error(err)
			}
		}
		n.Mine(1)
		var blocks []models.SandboxBlock
		n.failOn(n.db.Read(n.Context()).Order("height").Find(&blocks).Error)
		for i, b := range blocks[1:] {
			if b.Height != int64(i)+1 || b.Parent != blocks[i].Hash {
				n.Errorf("block %d does not follow block %d", b.Height, blocks[i].Height)
			}
		}
		var mined int64
		n.failOn(n.db.Read(n.Context()).Model(&models.SandboxTx{}).Where("height IS NOT NULL").Count(&mined).Error)
		if mined != processes*rounds {
			n.Errorf("%d transactions are in blocks, %d were sent", mined, processes*rounds)
		}
	})
}

// useChainRandomly broadcasts, mines and reorganises.
func useChainRandomly(ctx context.Context, c *sandbox.Chain, rand *rand.Rand, rounds int) error {
	for range rounds {
		if _, err := c.Broadcast(ctx, payTo("a", 1)); err != nil {
			return err
		}
		if _, err := c.Mine(ctx, 1+rand.IntN(3)); err != nil {
			return err
		}
		if _, err := c.ApplyMoves(ctx, chain.Move{Kind: chain.MoveReorg, Depth: 1}); err != nil {
			return err
		}
		if _, _, err := c.MineIfDue(ctx); err != nil {
			return err
		}
	}
	return nil
}

// TestOneBlockForManyMiners has several processes tick a chain on which one block is due. Only one
// of them mines.
func TestOneBlockForManyMiners(t *testing.T) {
	t.Parallel()
	forEachDatabase(t, money.Dogecoin, func(n *sandboxNet) {
		n.Pay(chain.Output{Asset: "DOGE", Destination: chain.Destination{Address: "a"}, Amount: money.Units(1)})
		n.clock.Advance(time.Minute)
		results := make(chan bool)
		for range 6 {
			c, err := sandbox.Open(n.Context(), n.db, n.kind, n.clock.Now)
			n.failOn(err)
			go func() {
				mined, _, err := c.MineIfDue(n.Context())
				results <- mined && err == nil
			}()
		}
		blocks := 0
		for range 6 {
			if <-results {
				blocks++
			}
		}
		if blocks != 1 || n.readTip().Height != 1 {
			n.Errorf("%d miners mined, the height is %d", blocks, n.readTip().Height)
		}
	})
}

// TestMinerMinesUntilContextEnds runs the miner by the real clock until a payment is in a block,
// and then cancels its context.
func TestMinerMinesUntilContextEnds(t *testing.T) {
	t.Parallel()
	c, err := sandbox.Open(t.Context(), modelstest.Open(t, false, time.Now), money.Dogecoin, clock.Real())
	if err != nil {
		t.Fatal(err)
	}
	blocks := make(chan struct{}, 100)
	stop := c.Notify(func() { blocks <- struct{}{} })
	never := c.Notify(func() { t.Error("called after stop") })
	never()
	defer stop()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- sandbox.Miner{Chains: []*sandbox.Chain{c}, Log: slog.New(slog.DiscardHandler)}.Run(ctx)
	}()
	if _, err := c.Broadcast(t.Context(), payTo("a", 1)); err != nil {
		t.Fatal(err)
	}
	<-blocks // the broadcast
	select {
	case <-blocks:
	case <-time.After(10 * time.Second):
		t.Error("no block came")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestFollowerKeepsUpWithRandomMoves follows a chain through seeded random moves on both
// databases.
func TestFollowerKeepsUpWithRandomMoves(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		for seed := range uint64(4) {
			n := newSandboxNet(t, db, money.Bitcoin)
			chaintest.WalkRandomly(t, n, rand.New(rand.NewPCG(seed, 7)).IntN, 100)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	})
}

// TestFollowerKeepsUpWithDrawnMoves does the same with moves that rapid draws and shrinks.
func TestFollowerKeepsUpWithDrawnMoves(t *testing.T) {
	t.Parallel()
	db := modelstest.Open(t, false, time.Now)
	rapid.Check(t, func(r *rapid.T) {
		both := rapidTB{TB: t, r: r}
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(r, "pick") }
		chaintest.WalkRandomly(both, newSandboxNet(both, db, money.Bitcoin), pick,
			rapid.IntRange(1, 30).Draw(r, "steps"))
	})
}

// rapidTB is a testing.TB that reports failures to rapid, so that rapid can shrink them.
type rapidTB struct {
	testing.TB
	r *rapid.T
}

func (t rapidTB) Helper()                           {}
func (t rapidTB) Logf(format string, args ...any)   { t.r.Logf(format, args...) }
func (t rapidTB) Error(args ...any)                 { t.r.Error(args...) }
func (t rapidTB) Errorf(format string, args ...any) { t.r.Errorf(format, args...) }
func (t rapidTB) Fatal(args ...any)                 { t.r.Fatal(args...) }
func (t rapidTB) Fatalf(format string, args ...any) { t.r.Fatalf(format, args...) }
func (t rapidTB) Failed() bool                      { return t.r.Failed() }

// TestBlocksAreReadTogether compares the blocks of a range with each of them alone.
func TestBlocksAreReadTogether(t *testing.T) {
	t.Parallel()
	forEachDatabase(t, money.Bitcoin, func(n *sandboxNet) {
		var watch chain.WatchSet
		begin := n.readTip().Height
		for i := range 4 {
			to := n.Destination()
			watch.AddAddresses(to.Address)
			for range i % 3 { // also a block with none, and one with two
				n.Pay(chain.Output{Asset: "BTC", Destination: to, Amount: money.Units(int64(i))})
			}
			n.Mine(1)
		}
		blocks, err := n.chain.Blocks(n.Context(), begin+1, begin+4, &watch)
		n.failOn(err)
		if len(blocks) != 4 {
			t.Fatalf("%d blocks were read, want 4", len(blocks))
		}
		for i, block := range blocks {
			alone, err := n.chain.Block(n.Context(), begin+1+int64(i), &watch)
			n.failOn(err)
			if !reflect.DeepEqual(block, alone) || len(block.Transfers) != i%3 {
				t.Errorf("block %d in a range is %+v, want %+v with %d transfers", i, block, alone, i%3)
			}
		}
		if _, err := n.chain.Blocks(n.Context(), begin+5, begin+9, &watch); !errors.Is(err, chain.ErrNoBlock) {
			t.Errorf("blocks above the tip are read with the error %v, want %v", err, chain.ErrNoBlock)
		}
	})
}
