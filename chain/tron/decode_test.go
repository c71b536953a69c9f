package tron

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain/chaintest"
	"cointill/chain/node"
)

// FuzzBlock reads a block and the results of its transactions. Whatever a node answers, nothing panics, and what is
// accepted keeps the rules: the number in the id, one result for each transaction, amounts above zero.
//
//fuzz:inputs 15000
func FuzzBlock(f *testing.F) {
	r := readRecorded(f)
	f.Add([]byte(r.Block.Answer), []byte(r.Block.Infos))
	c := newFakeChain(f)
	c.sendTokens(outputTo(c.newAddress(), 5), outputTo(c.newAddress(), 6))
	c.sendNative(c.newAddress(), 7, "")
	c.mineBlocks(1)
	block, err := json.Marshal(c.blocks[1].blockJSON())
	if err != nil {
		f.Fatal(err)
	}
	results, err := json.Marshal(c.blocks[1].infosJSON())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(block, results)
	f.Add([]byte(`{"blockID":null,"transactions":[{}]}`), []byte(`[{"log":[{"topics":null}]}]`))
	f.Fuzz(func(t *testing.T, block, results []byte) {
		b, all := new(fullBlock), infos{}
		if json.Unmarshal(block, b, node.AllowDuplicateNames) != nil || json.Unmarshal(results, &all,
			node.AllowDuplicateNames) != nil {
			return
		}
		h, err := b.verifyHash()
		if err != nil {
			return
		}
		if h.Height != numberOf(b.ID) || h.Height < 0 {
			t.Errorf("block %s has the height %d", b.ID, h.Height)
		}
		ordered, err := matchInfos(b, all)
		if err != nil {
			return
		}
		moves, err := findMovements(b, ordered, testToken)
		if err != nil {
			return
		}
		for _, m := range moves {
			if m.amount == (word{}) || m.from == m.to {
				t.Errorf("the movement %+v is taken", m)
			}
		}
		for n := range ordered {
			if ordered[n].ID != b.Transactions[n].ID {
				t.Errorf("transaction %s has the result of %s", b.Transactions[n].ID, ordered[n].ID)
			}
		}
	})
}

// TestListsAreBounded: lists of more elements than a block can hold are refused before they take memory. It runs
// alone, because it measures memory.
func TestListsAreBounded(t *testing.T) {
	for name, one := range map[string]struct {
		begin, again, end string
		into              func() any
	}{
		"transactions": {`{"transactions":[`, `{},`, `{}]}`, func() any { return new(fullBlock) }},
		"results":      {`[`, `{},`, `{}]`, func() any { return new(infos) }},
		"topics": {`[{"log":[{"topics":[`, `"` + string(bytes.Repeat([]byte("0"), 64)) + `",`,
			`""]}]}]`, func() any { return new(infos) }},
		"values":                 {`{"constant_result":[`, `"",`, `""]}`, func() any { return new(constantResult) }},
		"parts of a transaction": {`{"transactions":[{"ret":[`, `{},`, `{}]}]}`, func() any { return new(fullBlock) }},
	} {
		answer := chaintest.FillBytes(1<<20, one.begin, one.again, one.end)
		if !jsontext.Value(answer).IsValid() {
			t.Fatalf("%s: not JSON", name)
		}
		var err error
		if took := chaintest.AllocatedBytes(func() {
			err = json.Unmarshal(answer, one.into(),
				node.AllowDuplicateNames)
		}); err == nil || took > 8<<20 {
			t.Errorf("%s: %v, after %d bytes, want an error after few", name, err, took)
		}
	}
}
