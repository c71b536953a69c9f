package ethereum

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/abi"
	"cointill/chain/chaintest"
	"cointill/chain/ethereum/hexjson"
	"cointill/chain/ethereum/params"
	"cointill/core/money"
)

// testChainID is the chain id of the tests' networks.
const testChainID = 21337

func testParams() params.Params {
	p, err := params.Lookup(money.Ethereum, "chain-21337", "0xdAC17F958D2ee523a2206206994597C13D831ec7")
	if err == nil {
		p, err = p.AddTokens(map[string]string{"USDC": otherToken + "/6"})
	}
	if err != nil {
		panic(err)
	}
	return p
}

// otherToken is the contract of a token that pays nothing.
const otherToken = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"

// testTime is the time in tests without a clock of their own.
func testTime() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// fakeTx is a transaction with its result. Fake nodes convert it to JSON.
type fakeTx struct {
	From     account
	To       *account
	Nonce    uint64
	Value    string // hexadecimal, with 0x
	Input    []byte // calldata
	Logs     []fakeLog
	Calls    []any // of its trace
	Reverted bool
	name     hash
}

type fakeLog struct {
	Address account
	Topics  []hash
	Data    []byte
	Removed bool
}

// txID returns the transaction's hash.
func (t *fakeTx) txID() hash { return t.name }

type fakeBlock struct {
	chain.Header
	txs         []*fakeTx
	withdrawals []map[string]string
}

// fakeChain is a chain and a mempool. Several fake nodes can show it.
type fakeChain struct {
	testing.TB
	params params.Params

	mu        sync.Mutex
	blocks    []fakeBlock
	pending   []*fakeTx
	sealed    map[hash]chain.BlockID
	serial    uint64
	branch    int
	finalized int64 // blocks below the tip; -1 means none
	now       func() time.Time
	balances  func(account, int64) string
	code      string              // of every account; "" means none
	withdrawn []map[string]string // of the next block
}

func newFakeChain(t testing.TB) *fakeChain {
	c := &fakeChain{TB: t, params: testParams(), sealed: map[hash]chain.BlockID{}, finalized: 3, now: testTime}
	c.sealBlock(nil)
	return c
}

// copyChain returns an independent copy with the same blocks and mempool.
func (c *fakeChain) copyChain() *fakeChain {
	c.mu.Lock()
	defer c.mu.Unlock()
	other := &fakeChain{TB: c.TB, params: c.params, sealed: map[hash]chain.BlockID{}, serial: c.serial + 1<<32,
		finalized: c.finalized, now: c.now, branch: c.branch + 1000}
	other.blocks, other.pending = slices.Clone(c.blocks), slices.Clone(c.pending)
	for id, at := range c.sealed {
		other.sealed[id] = at
	}
	return other
}

// nextNumber returns a number that was not used before.
func (c *fakeChain) nextNumber() uint64 { c.serial++; return c.serial }

// newAccount returns an account that was not used before.
func (c *fakeChain) newAccount() account {
	sum := abi.Keccak(binary.BigEndian.AppendUint64([]byte("account"), c.nextNumber()))
	return account(sum[12:])
}

func (c *fakeChain) newAddress() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.newAccount().String()
}

// sealBlock adds a block.
func (c *fakeChain) sealBlock(txs []*fakeTx) {
	height := int64(len(c.blocks))
	parent := hash{}.String()
	if height > 0 {
		parent = c.blocks[height-1].Hash
	}
	name := abi.Keccak(fmt.Appendf(nil, "%d %s %d %d", height, parent, c.branch, len(txs)))
	header := chain.Header{BlockID: chain.BlockID{Height: height, Hash: hash(name).String()}, Parent: parent,
		Time: c.now()}
	c.blocks = append(c.blocks, fakeBlock{header, txs, c.withdrawn})
	c.withdrawn = nil
	for _, t := range txs {
		c.sealed[t.txID()] = header.BlockID
	}
}

// mineBlocks adds blocks. The first one takes the pending transactions.
func (c *fakeChain) mineBlocks(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range n {
		c.sealBlock(c.pending)
		c.pending = nil
	}
}

// replaceBlocks replaces the last blocks by as many others.
func (c *fakeChain) replaceBlocks(depth int, keep bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := len(c.blocks) - depth
	old := slices.Clone(c.blocks[at:])
	for _, b := range old {
		for _, t := range b.txs {
			delete(c.sealed, t.txID())
		}
	}
	c.blocks = c.blocks[:at]
	c.branch++
	for _, b := range old {
		if !keep {
			b.txs = nil
		}
		c.sealBlock(b.txs)
	}
}

// replaceWithPending replaces the last blocks by as many others, the first of which has the pending transactions alone.
func (c *fakeChain) replaceWithPending(depth int) {
	c.replaceBlocks(depth, false)
	c.mu.Lock()
	defer c.mu.Unlock()
	at := len(c.blocks) - depth
	c.blocks = c.blocks[:at]
	c.branch++
	for range depth {
		c.sealBlock(c.pending)
		c.pending = nil
	}
}

// sendTx adds a transaction to the mempool.
func (c *fakeChain) sendTx(t *fakeTx) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.name = abi.Keccak(binary.BigEndian.AppendUint64([]byte("transaction"), c.nextNumber()))
	if t.From == (account{}) {
		t.From, t.Nonce = c.newAccount(), c.serial%7
	}
	if t.Value == "" {
		t.Value = "0x0"
	}
	c.pending = append(c.pending, t)
	return t.txID().String()
}

// sendEther sends ether to an address.
func (c *fakeChain) sendEther(o chain.Output, reverted bool) string {
	return c.sendTx(&fakeTx{To: mustParseAccount(c, o.Address), Value: fmt.Sprintf("0x%x", o.Amount.Big()),
		Reverted: reverted})
}

// sendTokens sends tokens to each address in one transaction of the token's contract.
func (c *fakeChain) sendTokens(outputs ...chain.Output) string {
	t := &fakeTx{To: (*account)(&c.params.Token)}
	for _, o := range outputs {
		t.Logs = append(t.Logs, tokenLog(account(c.params.Token), c.newAccount(), *mustParseAccount(c, o.Address),
			o.Amount.Big().FillBytes(make([]byte, 32))))
	}
	return c.sendTx(t)
}

// sendOtherToken sends an amount of the token that pays nothing.
func (c *fakeChain) sendOtherToken(to string, amount byte) string {
	contract := mustParseAccount(c, otherToken)
	data := make([]byte, 32)
	data[31] = amount
	return c.sendTx(&fakeTx{To: contract, Logs: []fakeLog{tokenLog(*contract, c.newAccount(), *mustParseAccount(c, to),
		data)}})
}

func tokenLog(contract, from, to account, data []byte) fakeLog {
	return fakeLog{Address: contract, Topics: []hash{transferEvent, accountTopic(from), accountTopic(to)}, Data: data}
}

// accountTopic returns an account as a topic of a log.
func accountTopic(a account) (h hash) { copy(h[12:], a[:]); return h }

func mustParseAccount(t testing.TB, address string) *account {
	a, err := params.ParseAddress(address)
	if err != nil {
		t.Fatalf("ParseAddress(%s): %v", address, err)
	}
	return (*account)(&a)
}

func (c *fakeChain) tipID() chain.BlockID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.blocks[len(c.blocks)-1].BlockID
}

// placeOf returns where a transaction is.
func (c *fakeChain) placeOf(txid string) chaintest.Place {
	c.mu.Lock()
	defer c.mu.Unlock()
	id, err := hexjson.ReadHash(txid)
	if err != nil {
		c.Fatal(err)
	}
	at := c.sealed[id]
	return chaintest.Place{Pending: slices.ContainsFunc(c.pending, func(t *fakeTx) bool { return t.txID() == id }),
		Height: at.Height, Hash: at.Hash}
}

// replaceTx replaces a pending transaction by another one with the same nonce.
func (c *fakeChain) replaceTx(txid string) string {
	c.mu.Lock()
	i := slices.IndexFunc(c.pending, func(t *fakeTx) bool { return t.txID().String() == txid })
	old, nobody := c.pending[i], c.newAccount()
	c.pending = slices.Delete(c.pending, i, i+1)
	c.mu.Unlock()
	return c.sendTx(&fakeTx{From: old.From, Nonce: old.Nonce, To: &nobody, Value: "0x1"})
}
