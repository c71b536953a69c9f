package ethereum

import (
	"testing"

	"cointill/chain"
)

// watchedCase is a chain with one watched address, and a node that shows it.
type watchedCase struct {
	*fakeChain
	node    *fakeNode
	source  *Source
	watch   *chain.WatchSet
	address string
}

func newWatchedCase(t *testing.T) *watchedCase {
	c := newFakeChain(t)
	f := &watchedCase{fakeChain: c, node: newFakeNode(t, c), watch: &chain.WatchSet{Codec: Codec()},
		address: c.newAddress()}
	f.source = f.node.openSource(t)
	f.watch.AddAddresses(f.address)
	return f
}

// TestFeesAreReadFromReceipts (SD-14) checks what a transaction cost, of successful and of failed ones, and
// that numbers which can't be read count as none and hold up no block.
func TestFeesAreReadFromReceipts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields   map[string]any
		reverted bool
		want     string
	}{
		"gas and price": {map[string]any{"gasUsed": "0x5208", "effectiveGasPrice": "0x3b9aca00"}, false,
			"21000000000000"},
		"of a failed one": {map[string]any{"gasUsed": "0x5208", "effectiveGasPrice": "0x3b9aca00"}, true,
			"21000000000000"},
		"with a rollup's fee": {map[string]any{"gasUsed": "0x5208", "effectiveGasPrice": "0x1", "l1Fee": "0xa"}, false,
			"21010"},
		"a rollup's null": {map[string]any{"gasUsed": "0x5208", "effectiveGasPrice": "0x1", "l1Fee": nil}, false,
			"21000"},
		"no price":  {map[string]any{"gasUsed": "0x5208"}, false, "0"},
		"no number": {map[string]any{"gasUsed": 21000, "effectiveGasPrice": "ten"}, false, "0"},
		"too large": {map[string]any{"gasUsed": "0x8000000000000000", "effectiveGasPrice": "0x1"}, false, "0"},
		"the largest": {map[string]any{"gasUsed": "0x7fffffffffffffff", "effectiveGasPrice": "0x7fffffffffffffff"}, false,
			"85070591730234615847396907784232501249"},
	} {
		f := newWatchedCase(t)
		f.node.tamper = func(method string, result any) any {
			if all, ok := result.([]map[string]any); ok && method == "eth_getBlockReceipts" {
				for _, one := range all {
					for field, value := range c.fields {
						one[field] = value
					}
				}
			}
			return result
		}
		f.sendTx(&fakeTx{To: mustParseAccount(t, f.address), Value: "0x5", Reverted: c.reverted})
		f.mineBlocks(1)
		view, err := f.source.At(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		block, err := view.Block(t.Context(), 1, f.watch)
		if err != nil || len(block.Transfers) != 1 || block.Transfers[0].Fee.String() != c.want {
			t.Errorf("%s: Block = %+v, %v, want a fee of %s", name, block.Transfers, err, c.want)
		}
	}
}

// TestDisputedFeesCountAsNone (SD-14): a second node shows another fee, and the block is counted all the same.
func TestDisputedFeesCountAsNone(t *testing.T) {
	t.Parallel()
	for _, same := range []bool{true, false} {
		f := newWatchedCase(t)
		liar := newFakeNode(t, f.fakeChain)
		price := func(price string) func(string, any) any {
			return func(method string, result any) any {
				if all, ok := result.([]map[string]any); ok && method == "eth_getBlockReceipts" {
					all[0]["gasUsed"], all[0]["effectiveGasPrice"] = "0x5208", price
				}
				if one, ok := result.(map[string]any); ok && method == "eth_getTransactionReceipt" {
					one["gasUsed"], one["effectiveGasPrice"] = "0x5208", price
				}
				return result
			}
		}
		f.node.tamper, liar.tamper = price("0x2"), price(map[bool]string{true: "0x2", false: "0x3"}[same])
		f.sendTx(&fakeTx{To: mustParseAccount(t, f.address), Value: "0x5"})
		f.mineBlocks(1)
		source := f.node.openSource(t, liar)
		view, err := source.At(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		block, err := view.Block(t.Context(), 1, f.watch)
		want := map[bool]string{true: "42000", false: "0"}[same]
		if err != nil || len(block.Transfers) != 1 || block.Transfers[0].Fee.String() != want {
			t.Errorf("nodes agree on the fee: %t; Block = %+v, %v, want a fee of %s", same, block.Transfers, err, want)
		}
	}
}
