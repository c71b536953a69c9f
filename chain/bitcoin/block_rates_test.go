package bitcoin

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/core/money"
)

// mineFees adds a block whose transactions, of some virtual bytes, paid fees.
func (c *fakeChain) mineFees(fees int64, sizes ...int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reward = subsidyAt(c.params, int64(len(c.blocks))) + fees
	var ids []string
	for _, size := range sizes {
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(wire.NewTxIn(wire.NewOutPoint(&chainhash.Hash{7}, uint32(c.nextSerial())), nil, nil))
		tx.AddTxOut(wire.NewTxOut(1000, []byte{0x51}))
		tx.TxIn[0].SignatureScript = make([]byte, size-tx.SerializeSize()-2)
		if c.params.Segwit {
			tx.TxIn[0].Witness = wire.TxWitness{make([]byte, 4*20-4)} // 20 virtual bytes with its counts and the marker
			tx.TxIn[0].SignatureScript = tx.TxIn[0].SignatureScript[20:]
		}
		id := tx.TxID()
		c.txs[id] = tx
		ids = append(ids, id)
	}
	c.addBlock(ids)
	c.reward = 0
}

// TestRatesOfTheLastBlocks: without estimates the rates are what the transactions of the last blocks paid.
func TestRatesOfTheLastBlocks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		coin  money.Chain
		mine  func(*fakeChain)
		want  string // fast, usual, saving
		stats string // percentiles by Bitcoin Core; "" to compute them from the blocks
	}{
		{"empty blocks", money.Bitcoin, func(c *fakeChain) { c.mineFees(0); c.mineFees(0) }, "5000 2000 1000", ""},
		{"one block", money.Bitcoin, func(c *fakeChain) { c.mineFees(3000, 500, 500) }, "3000 3000 3000", ""},
		{"four blocks and an empty one", money.Bitcoin, func(c *fakeChain) {
			for _, fees := range []int64{4000, 1500, 2500, 3500} {
				c.mineFees(fees, 1000)
			}
			c.mineFees(0)
		}, "4000 3500 2500", ""},
		{"older blocks don't count", money.Bitcoin, func(c *fakeChain) {
			c.mineFees(90_000, 1000)
			for range rateBlocks {
				c.mineFees(2000, 1000)
			}
		}, "2000 2000 2000", ""},
		{"below the least", money.Bitcoin, func(c *fakeChain) { c.mineFees(100, 1000) }, "1000 1000 1000", ""},
		{"a miner that pays itself", money.Bitcoin, func(c *fakeChain) { c.mineFees(900_000_000, 1000) },
			"500000 500000 500000", ""},
		{"a reward below the subsidy", money.Bitcoin, func(c *fakeChain) { c.mineFees(-5, 1000) }, "5000 2000 1000", ""},
		{"Dogecoin's regtest", money.Dogecoin, func(c *fakeChain) { c.mineFees(3_000_000, 1000) },
			"5000000 2000000 1000000", ""},
		{"statistics", money.Bitcoin, func(c *fakeChain) { c.mineFees(90_000, 1000); c.mineFees(0) }, "20000 9000 3000",
			"[2,3,9,20,30]"},
		{"statistics of empty blocks", money.Bitcoin, func(c *fakeChain) { c.mineFees(0) }, "5000 2000 1000", "[0,0,0,0,0]"},
		{"statistics without numbers", money.Bitcoin, func(c *fakeChain) { c.mineFees(4000, 1000) }, "4000 4000 4000",
			`["x",-1,1e99,null,{}]`},
	} {
		for _, dialect := range dialects {
			if (c.coin == money.Dogecoin) != (dialect == "old") && c.coin == money.Dogecoin || c.stats != "" && dialect != "core" {
				continue
			}
			t.Run(c.name+" "+dialect, func(t *testing.T) {
				t.Parallel()
				s := &sendNode{dialect: dialect, stats: c.stats}
				blocks := newFakeChain(t, paramsOf(t, c.coin, "regtest"))
				c.mine(blocks)
				source, _ := s.openSource(t, blocks)
				if _, err := source.At(t.Context()); err != nil {
					t.Fatal(err)
				}
				rates, err := source.nodes.Members[0].fetchFeeRates(t.Context())
				got := fmt.Sprint(rates[chain.SpeedFast], rates[chain.SpeedUsual], rates[chain.SpeedSaving])
				if err != nil || got != c.want {
					t.Errorf("fetchFeeRates = %v, %v, want %s", rates, err, c.want)
				}
			})
		}
	}
}

// TestEstimatesComeBeforeBlocks: an estimate for one speed stays, and blocks tell the others.
func TestEstimatesComeBeforeBlocks(t *testing.T) {
	t.Parallel()
	s := &sendNode{dialect: "core", fees: map[int]string{3: "0.00012"}}
	blocks := newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest"))
	blocks.mineFees(4000, 1000)
	source, _ := s.openSource(t, blocks)
	if _, err := source.At(t.Context()); err != nil {
		t.Fatal(err)
	}
	rates, err := source.nodes.Members[0].fetchFeeRates(t.Context())
	if got := fmt.Sprint(rates[chain.SpeedFast], rates[chain.SpeedUsual], rates[chain.SpeedSaving]); err != nil ||
		got != "12000 4000 4000" {
		t.Errorf("fetchFeeRates = %v, %v, want 12000 4000 4000", rates, err)
	}
}

// TestBlocksThatCantBeReadAreFailures: a node that has neither estimates nor blocks can't be used.
func TestBlocksThatCantBeReadAreFailures(t *testing.T) {
	t.Parallel()
	for name, intercept := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"no block":     answerMethod(`"getblock"`, 500, ``),
		"no hash":      answerMethod(`"getblockhash"`, 500, ``),
		"half a block": answerMethod(`"getblock"`, 200, `{"id":ID1,"result":"`+strings.Repeat("00", 80)+"01"+strings.Repeat("00", 9)+`"}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &sendNode{dialect: "core"}
			blocks := newFakeChain(t, paramsOf(t, money.Bitcoin, "regtest"))
			blocks.mineFees(4000, 1000)
			source, n := s.openSource(t, blocks)
			if _, err := source.At(t.Context()); err != nil {
				t.Fatal(err)
			}
			n.update(func(n *fakeNode) { n.intercept = intercept })
			if rates, err := source.nodes.Members[0].fetchFeeRates(t.Context()); err == nil {
				t.Errorf("fetchFeeRates = %v, want a failure", rates)
			}
		})
	}
}

// TestSubsidies: what a block makes beside its fees, where the height tells it.
func TestSubsidies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		coin   money.Chain
		net    string
		height int64
		want   int64
	}{
		{money.Bitcoin, "mainnet", 0, 50e8}, {money.Bitcoin, "mainnet", 209_999, 50e8},
		{money.Bitcoin, "mainnet", 210_000, 25e8}, {money.Bitcoin, "mainnet", 840_000, 312_500_000},
		{money.Bitcoin, "mainnet", maxHeight, 0}, {money.Bitcoin, "regtest", 150, 25e8}, {money.Bitcoin, "testnet4", 5, 50e8},
		{money.Dogecoin, "mainnet", 599_999, 0}, {money.Dogecoin, "mainnet", 600_000, 10_000e8},
		{money.Dogecoin, "regtest", 5, 0},
	} {
		p, _ := params.Lookup(c.coin, c.net)
		if got := subsidyAt(p, c.height); got != c.want {
			t.Errorf("subsidyAt(%s, %d) = %d, want %d", p.Network(), c.height, got, c.want)
		}
	}
}

// answerStats answers getblockstats as Bitcoin Core does; other nodes don't have it.
func (s *sendNode) answerStats(c fakeCall) any {
	var height int64
	if s.stats == "" || len(c.Params) != 2 || json.Unmarshal(c.Params[0], &height) != nil || height <= 0 ||
		string(c.Params[1]) != `["feerate_percentiles"]` {
		return nil
	}
	return map[string]any{"feerate_percentiles": jsontext.Value(s.stats)}
}
