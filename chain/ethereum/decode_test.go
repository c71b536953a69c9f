package ethereum

import (
	"encoding/json"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/chain/ethereum/params"
	"cointill/chain/ethereum/rpc"
	"cointill/chain/node"
)

// readBlockJSON reads a block and its receipts as nodes write them.
func readBlockJSON(block, receipts []byte, p params.Params, watch chain.Watch, height int64) ([]chain.Transfer, error) {
	b, err := decodeBlock(rpc.Response{Result: block}, height)
	if err != nil {
		return nil, err
	}
	all, err := decodeReceipts(rpc.Response{Result: receipts}, b, account(p.Token))
	if err != nil {
		return nil, err
	}
	r := &transferFinder{params: p, token: account(p.Token), watch: watch}
	r.addBlock(b, all)
	return r.transfers, nil
}

type fataler interface{ Fatal(...any) }

func mustReadBlock(t fataler, block, receipts any, p params.Params, watch chain.Watch) []chain.Transfer {
	b, err := json.Marshal(block)
	if err != nil {
		t.Fatal(err)
	}
	r, err := json.Marshal(receipts)
	if err != nil {
		t.Fatal(err)
	}
	found, err := readBlockJSON(b, r, p, watch, 1)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// seedBlock returns a block with receipts and traces that contain watched transfers.
func seedBlock(t testing.TB) (c *fakeChain, watch *chain.WatchSet, block, receipts, traces []byte) {
	c = newFakeChain(t)
	to := c.newAddress()
	watch = &chain.WatchSet{Codec: Codec()}
	watch.AddAddresses(to)
	c.sendEther(outputTo(to, 5), false)
	c.sendEther(outputTo(to, 6), true)
	c.sendTokens(outputTo(to, 7), outputTo(c.newAddress(), 8))
	c.withdrawn = []map[string]string{{"index": "0x1", "address": strings.ToLower(to), "amount": "0x5"}}
	c.mineBlocks(1)
	write := func(v any) []byte {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	return c, watch, write(blockJSON(&c.blocks[1], true)), write(receiptsJSON(&c.blocks[1])),
		write(tracesJSON(&c.blocks[1]))
}

// TestBlockPartsMustMatch (ETH-1, ETH-13) checks that nothing in a block counts unless all parts
// are present and name the block.
func TestBlockPartsMustMatch(t *testing.T) {
	t.Parallel()
	c, watch, block, receipts, _ := seedBlock(t)
	if found, err := readBlockJSON(block, receipts, c.params, watch, 1); err != nil || len(found) != 4 {
		t.Fatalf("found %v, error %v in the unchanged block, want 4 transfers", found, err)
	}
	first := c.blocks[1].txs[0].txID().String()
	for name, change := range map[string]func(block, receipts string) (string, string){
		"no receipts": func(b, _ string) (string, string) { return b, "[]" },
		"null":        func(b, _ string) (string, string) { return b, "null" },
		"another block": func(b, r string) (string, string) {
			return b, strings.ReplaceAll(r, c.blocks[1].Hash, c.blocks[0].Hash)
		},
		"another transaction": func(b, r string) (string, string) {
			return b, strings.Replace(r, first, hash{1}.String(), 1)
		},
		"a log of another": func(b, r string) (string, string) {
			return b, strings.Replace(r, `"transactionHash":"`+c.blocks[1].txs[2].txID().String(),
				`"transactionHash":"`+first, 1)
		},
		"no status": func(b, r string) (string, string) { return b, strings.Replace(r, `"status":"0x1",`, ``, 1) },
		"status null": func(b, r string) (string, string) {
			return b, strings.Replace(r, `"status":"0x1"`, `"status":null`, 1)
		},
		"status 2": func(b, r string) (string, string) {
			return b, strings.Replace(r, `"status":"0x1"`, `"status":"0x2"`, 1)
		},
		"status true": func(b, r string) (string, string) {
			return b, strings.Replace(r, `"status":"0x1"`, `"status":true`, 1)
		},
		"another height": func(b, r string) (string, string) {
			return strings.Replace(b, `"number":"0x1"`, `"number":"0x2"`, 1), r
		},
		"no hash": func(b, r string) (string, string) {
			return strings.Replace(b, `"hash":"`+c.blocks[1].Hash+`"`, `"hash":null`, 1), r
		},
		"a value of 257 bits": func(b, r string) (string, string) {
			return strings.Replace(b, `"value":"0x5"`, `"value":"0x1`+strings.Repeat("0", 64)+`"`, 1), r
		},
		"a value in decimal": func(b, r string) (string, string) {
			return strings.Replace(b, `"value":"0x5"`, `"value":5`, 1), r
		},
		"a transaction missing": func(b, r string) (string, string) {
			return strings.Replace(b, `"transactions":[`, `"others":[`, 1), r
		},
	} {
		b, r := change(string(block), string(receipts))
		if b == string(block) && r == string(receipts) {
			t.Errorf("%s: nothing was changed", name)
		}
		if found, err := readBlockJSON([]byte(b), []byte(r), c.params, watch, 1); err == nil {
			t.Errorf("%s: %+v was read", name, found)
		}
	}
}

// FuzzBlock checks that no block with receipts causes a panic, and that every transfer pays an
// amount above zero to a watched address.
//
//fuzz:inputs 15000
func FuzzBlock(f *testing.F) {
	c, watch, block, receipts, _ := seedBlock(f)
	f.Add(block, receipts)
	f.Add([]byte("null"), []byte("[]"))
	f.Fuzz(func(t *testing.T, block, receipts []byte) {
		found, err := readBlockJSON(block, receipts, c.params, watch, 1)
		if err != nil {
			return
		}
		for _, one := range found {
			if !watch.Address(one.Address) || one.Amount.Sign() <= 0 || one.TxID == "" {
				t.Errorf("transfer %+v, want an amount above zero to a watched address", one)
			}
		}
	})
}

// FuzzTraces does the same as FuzzBlock for internal transfers.
//
//fuzz:inputs 15000
func FuzzTraces(f *testing.F) {
	_, watch, block, _, traces := seedBlock(f)
	f.Add(traces)
	b, err := decodeBlock(rpc.Response{Result: block}, 1)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, traces []byte) {
		r := &transferFinder{params: testParams(), watch: watch}
		_ = r.addCallTraces(b, rpc.Response{Result: traces})
		for _, one := range r.transfers {
			if !watch.Address(one.Address) || one.Amount.Sign() <= 0 || one.Index <= indexInternal {
				t.Errorf("transfer %+v, want an internal amount above zero to a watched address", one)
			}
		}
	})
}

// FuzzReplies checks that no answer gives more responses than there were calls.
//
//fuzz:inputs 15000
func FuzzReplies(f *testing.F) {
	f.Add([]byte(`[{"jsonrpc":"2.0","id":1,"result":"0x1"},{"id":2,"error":{"code":-32005,"message":"limit"}}]`), 2)
	f.Fuzz(func(t *testing.T, body []byte, most int) {
		most &= 7
		all, err := node.ParseReplies[rpc.Response](body, most)
		if err == nil && len(all) > most {
			t.Errorf("%d answers to %d", len(all), most)
		}
	})
}

// FuzzKeys checks that every accepted spend key is the only spelling of its bytes.
//
//fuzz:inputs 20000
func FuzzKeys(f *testing.F) {
	f.Add("0x00112233445566778899aabbccddeeff00112233:17")
	f.Fuzz(func(t *testing.T, key string) {
		if form := (codec{}).Spend(key); form != nil && spendKey(form) != key {
			t.Errorf("%q is %x, which is %q", key, form, spendKey(form))
		}
		if form := (codec{}).Address(key); form != nil && account(form).String() != key {
			t.Errorf("%q is %x", key, form)
		}
	})
}
