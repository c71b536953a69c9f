package ethereum

import (
	"encoding/json"
	"testing"
	"time"

	gojson "github.com/go-json-experiment/json"

	"cointill/chain"
	"cointill/chain/node"
	"cointill/core/clock"
	"cointill/core/money"
)

// plainBlock and plainReceipt are a block and a receipt for plain decoding: the same fields, as
// strings.
type plainBlock struct {
	Hash         string `json:"hash"`
	Parent       string `json:"parentHash"`
	Number       string `json:"number"`
	Time         string `json:"timestamp"`
	Bloom        string `json:"logsBloom"`
	Transactions []struct {
		Hash  string `json:"hash"`
		From  string `json:"from"`
		To    string `json:"to"`
		Value string `json:"value"`
		Nonce string `json:"nonce"`
	} `json:"transactions"`
}

type plainReceipt struct {
	Tx     string `json:"transactionHash"`
	Block  string `json:"blockHash"`
	Status string `json:"status"`
	Logs   []struct {
		Address string   `json:"address"`
		Topics  []string `json:"topics"`
		Data    string   `json:"data"`
		Tx      string   `json:"transactionHash"`
		Block   string   `json:"blockHash"`
		Removed bool     `json:"removed"`
	} `json:"logs"`
}

// makeBenchBlock makes a block of 200 transactions with some 500 logs as nodes write it. Two
// transactions pay one of 100,000 watched addresses.
func makeBenchBlock(b *testing.B) (block, receipts []byte, watch *chain.WatchSet, c *fakeChain) {
	c = newFakeChain(b)
	watch = &chain.WatchSet{Codec: Codec()}
	addresses := make([]string, 100_000)
	for i := range addresses {
		addresses[i] = c.newAccount().String()
	}
	watch.AddAddresses(addresses...)
	for i := range 200 {
		to := c.newAddress()
		switch {
		case i == 50:
			c.sendEther(chain.Output{Destination: chain.Destination{Address: addresses[7]},
				Amount: money.Units(5)}, false)
		case i == 51:
			c.sendTokens(chain.Output{Destination: chain.Destination{Address: addresses[8]}, Amount: money.Units(5)})
		case i%3 == 0:
			c.sendEther(chain.Output{Destination: chain.Destination{Address: to}, Amount: money.Units(1e18)}, i%9 == 0)
		default:
			c.sendTokens(outputTo(to, 5), outputTo(c.newAddress(), 6), outputTo(c.newAddress(), 7),
				outputTo(c.newAddress(), 8))
		}
	}
	c.mineBlocks(1)
	write := func(v any) []byte {
		text, err := json.Marshal(v)
		if err != nil {
			b.Fatal(err)
		}
		return text
	}
	return write(blockJSON(&c.blocks[1], true)), write(receiptsJSON(&c.blocks[1])), watch, c
}

// BenchmarkBlock reads a block and its receipts for 100,000 watched addresses, and decodes the
// same bytes into strings, in turns. The ratio is the time of reading divided by the time of plain
// decoding: 1 is as fast.
func BenchmarkBlock(b *testing.B) {
	block, receipts, watch, c := makeBenchBlock(b)
	var ours, bare time.Duration
	now := clock.Real()
	for b.Loop() {
		began := now()
		found, err := readBlockJSON(block, receipts, c.params, watch, 1)
		ours += now().Sub(began)
		if err != nil || len(found) != 2 {
			b.Fatalf("found %v, error %v, want 2 transfers", found, err)
		}
		began = now()
		var plain plainBlock
		var plains []plainReceipt
		if err := gojson.Unmarshal(block, &plain, node.AllowDuplicateNames); err != nil {
			b.Fatal(err)
		}
		if err := gojson.Unmarshal(receipts, &plains, node.AllowDuplicateNames); err != nil {
			b.Fatal(err)
		}
		bare += now().Sub(began)
		if len(plain.Transactions) != 200 || len(plains) != 200 || plain.Transactions[0].Hash == "" {
			b.Fatal("the block is not the one that was made")
		}
	}
	b.ReportMetric(float64(bare)/float64(ours), "ratio")
	b.ReportMetric(float64(len(block)+len(receipts))/1e3, "kB/block")
}
