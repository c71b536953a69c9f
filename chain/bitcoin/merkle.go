package bitcoin

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// digest is a double SHA-256 in the byte order of the wire; it is displayed reversed.
type digest [32]byte

// doubleSHA256 hashes twice, as all hashes of these chains are made.
func doubleSHA256(data []byte) digest {
	once := sha256.Sum256(data)
	return sha256.Sum256(once[:])
}

// merklePair returns the node above two nodes.
func merklePair(left, right *digest) digest {
	var both [64]byte
	copy(both[:32], left[:])
	copy(both[32:], right[:])
	return doubleSHA256(both[:])
}

// merkleTree computes the root over transaction ids that arrive one by one, in the memory of one
// branch.
type merkleTree struct {
	// roots[i] is the root over 2^i leaves, if count has bit i.
	roots [32]digest
	count uint32
	// repeated is true if two neighbours are equal. The last node of an odd level is paired with
	// itself, so a block that names its last transactions twice has the root of the honest block
	// (CVE-2012-2459). No honest block has equal neighbours.
	repeated bool
}

func (t *merkleTree) addLeaf(leaf digest) {
	level := 0
	for ; t.count>>level&1 == 1; level++ {
		leaf = t.joinLevel(level, leaf)
	}
	t.roots[level] = leaf
	t.count++
}

func (t *merkleTree) joinLevel(level int, right digest) digest {
	t.repeated = t.repeated || t.roots[level] == right
	return merklePair(&t.roots[level], &right)
}

// computeRoot returns the root over at least one leaf. It ends the use of the tree.
func (t *merkleTree) computeRoot() digest {
	level := bits.TrailingZeros32(t.count)
	last := t.roots[level]
	for nodes := t.count >> level; nodes > 1; nodes, level = (nodes+1)/2, level+1 {
		if nodes%2 == 1 {
			last = merklePair(&last, &last)
		} else {
			last = t.joinLevel(level, last)
		}
	}
	return last
}

// branchRoot computes the root from a leaf and its branch (whole hashes, one after the other). The
// bits of place give the side of the leaf at each level.
func branchRoot(leaf digest, branch []byte, place uint32) digest {
	for ; len(branch) >= len(leaf); branch, place = branch[len(leaf):], place>>1 {
		other := digest(branch[:len(leaf)])
		if place&1 == 1 {
			leaf = merklePair(&other, &leaf)
		} else {
			leaf = merklePair(&leaf, &other)
		}
	}
	return leaf
}

// appendHex appends a hash in hexadecimal as it is displayed: reversed.
func appendHex(text []byte, h []byte) []byte {
	const digits = "0123456789abcdef"
	for i := len(h) - 1; i >= 0; i-- {
		text = append(text, digits[h[i]>>4], digits[h[i]&15])
	}
	return text
}

func (h digest) String() string {
	var text [64]byte
	return string(appendHex(text[:0], h[:]))
}

// nullIndex is the index of an outpoint that spends no output.
const nullIndex = 0xffffffff

// outpointLen is the length of an outpoint: the id of a transaction and the index of its output.
const outpointLen = 36

// spendsNothing reports whether an outpoint is the one of a coinbase.
func spendsNothing(outpoint []byte) bool {
	return binary.LittleEndian.Uint32(outpoint[32:]) == nullIndex && digest(outpoint[:32]) == digest{}
}
