package tron

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/chain/tron/params"
	"cointill/core/money"
)

// testToken is the contract of USDT in tests, otherToken another contract.
var testToken, otherToken = account{0xa6, 0x14}, account{0xbb}

// testTime is the time in tests without a clock of their own.
func testTime() time.Time { return time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC) }

// testParams returns a network whose first block is the one of fake chains.
func testParams() params.Params {
	first := newFakeBlock(0, hash{}, nil, 0, testTime())
	return params.Params{TronNetwork: money.TronNetwork{Name: "private", Test: true, Genesis: first.id.String()},
		Token: params.Address(testToken), TokenDecimals: 6, TokenSymbols: []string{"USDT"}, Interval: time.Second}
}

// fakeTx is a transaction with its result. Fake nodes convert it to JSON.
type fakeTx struct {
	id       hash
	raw      []byte
	kind     string // of its contract
	value    map[string]any
	logs     []fakeLog
	result   string // of the receipt; "" for one that calls no contract
	blockRet string // as its block has it
}

type fakeLog struct {
	address account
	topics  []hash
	data    []byte
}

type fakeBlock struct {
	id  hash
	raw rawHeader
	txs []*fakeTx
}

// newFakeBlock makes a block. The branch makes its id another one.
func newFakeBlock(height int64, parent hash, txs []*fakeTx, branch int, at time.Time) *fakeBlock {
	b := &fakeBlock{txs: txs, raw: rawHeader{Number: height, Parent: parent, Time: at.UnixMilli(), Version: 34,
		Witness: append([]byte{0x41}, binary.BigEndian.AppendUint32(make([]byte, 16), uint32(branch))...),
		Root:    make([]byte, 32)}}
	if len(txs) > 0 {
		sum := sha256.New()
		for _, t := range txs {
			sum.Write(t.id[:])
		}
		b.raw.Root = sum.Sum(nil)
	}
	b.id = b.raw.computeID()
	return b
}

func (b *fakeBlock) blockID() chain.BlockID {
	return chain.BlockID{Height: b.raw.Number, Hash: b.id.String()}
}

// fakeChain is a chain with transactions that no block holds yet. Several fake nodes can show it.
type fakeChain struct {
	testing.TB
	mu       sync.Mutex
	blocks   []*fakeBlock
	pending  []*fakeTx
	sealed   map[hash]chain.BlockID
	serial   uint64
	branch   int
	solidity int           // blocks below the tip
	slot     time.Duration // between two blocks
}

func newFakeChain(t testing.TB) *fakeChain {
	c := &fakeChain{TB: t, sealed: map[hash]chain.BlockID{}, solidity: 19, slot: 3 * time.Second}
	c.sealBlock(nil)
	return c
}

// copyChain returns an independent copy with the same blocks.
func (c *fakeChain) copyChain() *fakeChain {
	c.mu.Lock()
	defer c.mu.Unlock()
	other := &fakeChain{TB: c.TB, sealed: map[hash]chain.BlockID{}, serial: c.serial + 1<<32, solidity: c.solidity,
		branch: c.branch + 1000, blocks: slices.Clone(c.blocks), pending: slices.Clone(c.pending), slot: c.slot}
	for id, at := range c.sealed {
		other.sealed[id] = at
	}
	return other
}

// newAccount returns an account that was not used before.
func (c *fakeChain) newAccount() account {
	c.serial++
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("account"), c.serial))
	return account(sum[:20])
}

func (c *fakeChain) newAddress() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.newAccount().String()
}

// sealBlock adds a block. The caller holds the lock.
func (c *fakeChain) sealBlock(txs []*fakeTx) {
	height := int64(len(c.blocks))
	var parent hash
	if height > 0 {
		parent = c.blocks[height-1].id
	}
	b := newFakeBlock(height, parent, txs, c.branch, testTime().Add(time.Duration(height)*c.slot))
	c.blocks = append(c.blocks, b)
	for _, t := range txs {
		c.sealed[t.id] = b.blockID()
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
			delete(c.sealed, t.id)
		}
	}
	c.blocks = c.blocks[:at]
	c.branch++
	for _, b := range old {
		txs := b.txs
		if !keep {
			txs = nil
		}
		c.sealBlock(txs)
	}
}

// sendTx adds a transaction for the next block.
func (c *fakeChain) sendTx(t *fakeTx) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.serial++
	t.raw = fmt.Appendf(nil, "transaction %d of branch %d", c.serial, c.branch)
	t.id = hash(sha256.Sum256(t.raw))
	if t.blockRet == "" {
		t.blockRet = resultSuccess
		if t.result != "" {
			t.blockRet = t.result
		}
	}
	c.pending = append(c.pending, t)
	return t.id.String()
}

// sendTokens sends USDT to each address in one transaction of the contract.
func (c *fakeChain) sendTokens(outputs ...chain.Output) string {
	return c.sendTx(c.tokenTx(testToken, outputs...))
}

// tokenTx makes a transaction in which a contract moves amounts.
func (c *fakeChain) tokenTx(contract account, outputs ...chain.Output) *fakeTx {
	c.mu.Lock()
	owner := c.newAccount()
	c.mu.Unlock()
	return c.tokenTxFrom(owner, contract, outputs...)
}

// tokenTxFrom is tokenTx of an account.
func (c *fakeChain) tokenTxFrom(owner, contract account, outputs ...chain.Output) *fakeTx {
	t := &fakeTx{kind: "TriggerSmartContract", result: resultSuccess,
		value: map[string]any{"owner_address": params.Address(owner).Hex(),
			"contract_address": params.Address(contract).Hex(),
			"data":             "a9059cbb"}}
	for _, o := range outputs {
		t.logs = append(t.logs, fakeLog{contract, []hash{transferEvent, accountTopic(owner),
			accountTopic(mustParseAccount(c, o.Address))},
			o.Amount.Big().FillBytes(make([]byte, 32))})
	}
	return t
}

// sendNative sends TRX.
func (c *fakeChain) sendNative(to string, sun int64, result string) string {
	c.mu.Lock()
	from := c.newAccount()
	c.mu.Unlock()
	return c.sendTx(&fakeTx{kind: transferContract, blockRet: result,
		value: map[string]any{"owner_address": params.Address(from).Hex(),
			"to_address": params.Address(mustParseAccount(c, to)).Hex(), "amount": sun}})
}

// accountTopic returns an account as a topic of a log.
func accountTopic(a account) (h hash) { copy(h[12:], a[:]); return h }

func mustParseAccount(t testing.TB, address string) account {
	a, err := params.ParseAddress(address)
	if err != nil {
		t.Fatalf("ParseAddress(%s): %v", address, err)
	}
	return account(a)
}

func (c *fakeChain) tipID() chain.BlockID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.blocks[len(c.blocks)-1].blockID()
}

// placeOf returns where a transaction is.
func (c *fakeChain) placeOf(txid string) chaintest.Place {
	c.mu.Lock()
	defer c.mu.Unlock()
	id, err := readHash(txid)
	if err != nil {
		c.Fatal(err)
	}
	at := c.sealed[id]
	return chaintest.Place{Pending: slices.ContainsFunc(c.pending, func(t *fakeTx) bool { return t.id == id }),
		Height: at.Height, Hash: at.Hash}
}

// headerJSON writes a block without its transactions.
func (b *fakeBlock) headerJSON() map[string]any {
	r := &b.raw
	raw := map[string]any{"number": r.Number, "txTrieRoot": hex.EncodeToString(r.Root),
		"witness_address": hex.EncodeToString(r.Witness),
		"parentHash":      r.Parent.String(), "version": r.Version, "timestamp": r.Time}
	return map[string]any{"blockID": b.id.String(), "block_header": map[string]any{"raw_data": raw,
		"witness_signature": "00"}}
}

// blockJSON writes a block with its transactions. An empty block has no list of them.
func (b *fakeBlock) blockJSON() map[string]any {
	out := b.headerJSON()
	var all []any
	for _, t := range b.txs {
		all = append(all, map[string]any{"txID": t.id.String(), "raw_data_hex": hex.EncodeToString(t.raw),
			"signature": []string{"00"},
			"ret":       []any{map[string]any{"contractRet": t.blockRet}},
			"raw_data": map[string]any{"contract": []any{map[string]any{
				"type": t.kind, "parameter": map[string]any{"value": t.value,
					"type_url": "type.googleapis.com/protocol." + t.kind}}}}})
	}
	if len(all) > 0 {
		out["transactions"] = all
	}
	return out
}

// infoJSON writes the result of a transaction of the block.
func (b *fakeBlock) infoJSON(t *fakeTx) map[string]any {
	out := map[string]any{"id": t.id.String(), "fee": 345000, "blockNumber": b.raw.Number, "blockTimeStamp": b.raw.Time,
		"contractResult": []string{""}}
	receipt := map[string]any{"net_usage": 345}
	if t.result != "" {
		receipt["result"] = t.result
	}
	if t.blockRet != resultSuccess {
		out["result"] = infoFailed
	}
	out["receipt"] = receipt
	var all []any
	for _, l := range t.logs {
		var topics []string
		for _, topic := range l.topics {
			topics = append(topics, topic.String())
		}
		all = append(all, map[string]any{"address": hex.EncodeToString(l.address[:]), "topics": topics,
			"data": hex.EncodeToString(l.data)})
	}
	if len(all) > 0 {
		out["log"] = all
	}
	return out
}

// infosJSON writes the results of all transactions.
func (b *fakeBlock) infosJSON() []any {
	all := []any{}
	for _, t := range b.txs {
		all = append(all, b.infoJSON(t))
	}
	return all
}

// abiText encodes a text as a contract's function returns it.
func abiText(text string) string {
	return fmt.Sprintf("%064x%064x%x", 32, len(text), append([]byte(text), make([]byte, 32-len(text)%32)...))
}

// abiNumber encodes a number as a contract's function returns it.
func abiNumber(n int64) string { return fmt.Sprintf("%064x", big.NewInt(n)) }
