package bitcoin

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/core/money"
)

// auxParts are the parts of a proof of work by another chain. By default the tree of eight
// merge-mined chains has three levels and the parent's merkle tree two.
type auxParts struct {
	version          uint32
	branch, chains   []chainhash.Hash
	place, slot      uint32
	before, magic    []byte // bytes before the root in the parent's coinbase script
	size, nonce      uint32
	behind           []byte // bytes behind the numbers
	cut              int    // bytes that the end of the script lacks
	witness          bool   // the parent's coinbase comes with its witness
	parentVersion    uint32
	otherRoot, other bool // the coinbase holds another root; the parent another coinbase
	bits             uint32
}

// auxBlock builds a block by hand: a header, the serialized parts, and the transactions. change
// alters the parts first.
func auxBlock(change func(*auxParts)) []byte {
	a := auxParts{version: 0x00620104, nonce: 7, size: 8, parentVersion: 0x20000000, bits: 0x207fffff,
		branch: []chainhash.Hash{{1}, {2}}, chains: []chainhash.Hash{{3}, {4}, {5}}, before: []byte{3, 1, 2, 3},
		magic: []byte("\xfa\xbemm")}
	// By Python: ((7*1103515245+12345+98)*1103515245+12345) % 2**32 % 8; 0 with 8 for the nonce 7.
	a.slot = 7
	if change != nil {
		change(&a)
	}
	const huge = 9_000_000_000 * 1e8 // more than there are bitcoins
	block := blockOf(payTo(0, wire.NewTxOut(huge, numberedScript(1))), payTo(1, wire.NewTxOut(1, numberedScript(2))))
	block.Header.Version, block.Header.Bits, block.Header.MerkleRoot = int32(a.version), a.bits, wireRoot(block)
	raw := wireBytes(block)
	return slices.Concat(raw[:headerLen], a.buildProof(block.BlockHash()), raw[headerLen:])
}

func (a auxParts) buildProof(block chainhash.Hash) []byte {
	root := climbBranch(block, a.chains, a.slot)
	slices.Reverse(root[:])
	if a.otherRoot {
		root[5]++
	}
	script := slices.Concat(a.before, a.magic, root[:])
	script = append(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(script, a.size), a.nonce),
		a.behind...)
	script = script[:len(script)-a.cut]
	coinbase := coinbaseTx(0)
	coinbase.TxIn[0].SignatureScript = script
	coinbase.TxOut[0].Value = 1 << 62 // the amounts of the parent follow other rules
	if a.witness {
		coinbase.TxIn[0].Witness = wire.TxWitness{make([]byte, 32)}
	}
	parent := wire.BlockHeader{Version: int32(a.parentVersion),
		MerkleRoot: climbBranch(coinbase.TxHash(), a.branch, a.place), Timestamp: time.Unix(1_700_000_100, 0),
		Bits: 0x1d00ffff}
	if a.other {
		parent.MerkleRoot[0]++
	}
	var out bytes.Buffer
	out.Write(wireBytes(coinbase))
	out.Write(make([]byte, 32))
	for _, side := range []struct {
		hashes []chainhash.Hash
		place  uint32
	}{{a.branch, a.place}, {a.chains, a.slot}} {
		out.WriteByte(byte(len(side.hashes)))
		for _, hash := range side.hashes {
			out.Write(hash[:])
		}
		out.Write(binary.LittleEndian.AppendUint32(nil, side.place))
	}
	if err := parent.Serialize(&out); err != nil {
		panic(err) // a buffer takes everything
	}
	return out.Bytes()
}

// climbBranch computes a root from a branch by the textbook.
func climbBranch(leaf chainhash.Hash, branch []chainhash.Hash, place uint32) chainhash.Hash {
	for i, other := range branch {
		if place&(1<<i) != 0 {
			leaf, other = other, leaf
		}
		leaf = chainhash.DoubleHashH(slices.Concat(leaf[:], other[:]))
	}
	return leaf
}

// withoutAuxPow removes the proof of work by another chain from a block with the wire package. It
// returns nil if the proof is incomplete.
func withoutAuxPow(raw []byte) []byte {
	if len(raw) < headerLen || raw[1]&1 == 0 {
		return raw
	}
	rest := bytes.NewBuffer(raw[headerLen:])
	var coinbase wire.MsgTx
	if coinbase.Deserialize(rest) != nil || len(rest.Next(32)) < 32 {
		return nil
	}
	for range 2 {
		n, err := wire.ReadVarInt(rest, 0)
		if err != nil || n > uint64(rest.Len()) || len(rest.Next(int(n)*32+4)) < int(n)*32+4 {
			return nil
		}
	}
	if len(rest.Next(headerLen)) < headerLen {
		return nil
	}
	return slices.Concat(raw[:headerLen], rest.Bytes())
}

func TestMergeMinedBlocksAreRead(t *testing.T) {
	t.Parallel()
	p := paramsOf(t, money.Dogecoin, "regtest")
	watch := &chain.WatchSet{Codec: Codec(p)}
	watch.AddAddresses(p.Address(numberedScript(1)), p.Address(numberedScript(2)))
	for name, change := range map[string]func(*auxParts){
		"three levels":             nil,
		"with a witness":           func(a *auxParts) { a.witness = true },
		"one chain":                func(a *auxParts) { a.chains, a.size, a.slot = nil, 1, 0 },
		"coinbase only":            func(a *auxParts) { a.branch = nil },
		"an early root, no mark":   func(a *auxParts) { a.magic = nil },
		"more behind":              func(a *auxParts) { a.behind = []byte("a miner's name") },
		"other nonce, other place": func(a *auxParts) { a.nonce, a.slot = 8, 0 },
		"30 levels": func(a *auxParts) {
			a.chains, a.size = make([]chainhash.Hash, maxChainLevels), 1<<maxChainLevels
			a.slot = expectedChainIndex(dogecoinChainID, a.nonce, maxChainLevels)
		},
		"the root first, no mark":        func(a *auxParts) { a.before, a.magic = nil, nil },
		"the root after 20 bytes":        func(a *auxParts) { a.before, a.magic = make([]byte, 20), nil },
		"a late mark and root":           func(a *auxParts) { a.before = make([]byte, 30) },
		"another chain, in tests":        func(a *auxParts) { a.version, a.chains, a.size, a.slot = 0x00630104, nil, 1, 0 },
		"the same chain twice, in tests": func(a *auxParts) { a.parentVersion = a.version },
	} {
		raw := auxBlock(change)
		block, err := ParseBlock(raw, p, 9, watch)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := wireBlock(withoutAuxPow(raw), p, 9, watch); want == nil || block.Hash != want.Hash ||
			len(block.Transfers) != 2 || block.Transfers[0].Amount.Cmp(money.Units(9e17)) != 0 {
			t.Errorf("%s: %+v", name, block)
		}
		for end := range raw {
			if _, err := ParseBlock(raw[:end], p, 9, watch); err == nil {
				t.Fatalf("%s: %d of %d bytes are a block", name, end, len(raw))
			}
		}
	}
}

func TestFalseAuxPowIsRefused(t *testing.T) {
	t.Parallel()
	main, private := paramsOf(t, money.Dogecoin, "mainnet"), paramsOf(t, money.Dogecoin, "regtest")
	for name, c := range map[string]struct {
		p      params.Params
		change func(*auxParts)
		want   string
	}{
		"not the first transaction": {private, func(a *auxParts) { a.place = 1 }, "first transaction"},
		"not in the parent":         {private, func(a *auxParts) { a.other = true }, "no such transaction"},
		"another block's root":      {private, func(a *auxParts) { a.otherRoot = true }, "does not commit"},
		"two marks":                 {private, func(a *auxParts) { a.behind = a.magic }, "several blocks"},
		"a mark elsewhere": {private, func(a *auxParts) { a.before, a.magic = a.magic, []byte{1} },
			"several blocks"},
		"a late root without mark": {private, func(a *auxParts) { a.before, a.magic = make([]byte, 21), nil },
			"several blocks"},
		"two marks, the first at the start": {private, func(a *auxParts) { a.before, a.behind = nil, a.magic },
			"several blocks"},
		"a script without its last byte": {private, func(a *auxParts) { a.cut = 1 }, "another place"},
		"other number of chains":         {private, func(a *auxParts) { a.size = 4 }, "another place"},
		"other slot":                     {private, func(a *auxParts) { a.slot ^= 1 }, "another place"},
		"31 levels": {private, func(a *auxParts) { a.chains = make([]chainhash.Hash, 31) },
			"too many chains"},
		"another chain's block":    {main, func(a *auxParts) { a.version = 0x00630104 }, "another chain's block"},
		"the same chain as parent": {main, func(a *auxParts) { a.parentVersion = 0x00620104 }, "of the same chain"},
		"an easy difficulty":       {main, nil, "none of the network's"},
		"no work":                  {main, func(a *auxParts) { a.bits = 0x1b364184 }, "work was not done"},
	} {
		if _, err := ParseBlock(auxBlock(c.change), c.p, 9, emptyWatch{}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want one with %q", name, err, c.want)
		}
	}
	if _, err := ParseBlock(auxBlock(nil), paramsOf(t, money.Bitcoin, "regtest"), 9, emptyWatch{}); err == nil {
		t.Error("a chain without merged mining takes the block of one with it")
	}
}
