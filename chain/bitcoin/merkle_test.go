package bitcoin

import (
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"pgregory.net/rapid"
)

// textbookRoot computes a merkle root level by level, with the last node of an odd level doubled.
// It also reports whether two nodes of a pair are equal otherwise.
func textbookRoot(level []chainhash.Hash) (root chainhash.Hash, repeated bool) {
	level = append([]chainhash.Hash(nil), level...)
	for len(level) > 1 {
		for i := 0; i+1 < len(level); i += 2 {
			repeated = repeated || level[i] == level[i+1]
		}
		if len(level)%2 == 1 {
			level = append(level, level[len(level)-1])
		}
		for i := range len(level) / 2 {
			var both [2 * chainhash.HashSize]byte
			copy(both[:], level[2*i][:])
			copy(both[chainhash.HashSize:], level[2*i+1][:])
			level[i] = chainhash.DoubleHashH(both[:])
		}
		level = level[:len(level)/2]
	}
	return level[0], repeated
}

func streamedRoot(leaves []chainhash.Hash) (digest, bool) {
	var tree merkleTree
	for _, leaf := range leaves {
		tree.addLeaf(digest(leaf))
	}
	root := tree.computeRoot()
	return root, tree.repeated
}

func TestMerkleRootMatchesTheTextbook(t *testing.T) {
	t.Parallel()
	var leaves []chainhash.Hash
	for n := range 300 {
		leaves = append(leaves, chainhash.Hash{byte(n), byte(n >> 8), 1})
		root, repeated := streamedRoot(leaves)
		if want, _ := textbookRoot(leaves); root != digest(want) || repeated {
			t.Fatalf("%d different leaves: root %s, want %s; repeated %v", n+1, root, want, repeated)
		}
	}
}

// TestRepeatedMerkleNodesAreDetected: trees from three different leaves have equal nodes on every
// level.
func TestRepeatedMerkleNodesAreDetected(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		leaves := make([]chainhash.Hash, rapid.IntRange(1, 40).Draw(t, "leaves"))
		for i := range leaves {
			leaves[i][0] = rapid.ByteRange(0, 2).Draw(t, "leaf")
		}
		root, repeated := streamedRoot(leaves)
		if want, wantRepeated := textbookRoot(leaves); root != digest(want) || repeated != wantRepeated {
			t.Fatalf("root %s, want %s; repeated %v, want %v", root, want, repeated, wantRepeated)
		}
	})
}

// TestMutatedMerkleTreeIsDetected (BTC-11): in CVE-2012-2459 the end of a list is repeated, and the
// root stays the same.
func TestMutatedMerkleTreeIsDetected(t *testing.T) {
	t.Parallel()
	for honest := 1; honest < 50; honest++ {
		leaves := make([]chainhash.Hash, honest)
		for i := range leaves {
			leaves[i][0] = byte(i + 1)
		}
		root, _ := streamedRoot(leaves)
		for tail := 1; tail <= honest; tail++ {
			forged, repeated := streamedRoot(append(leaves[:honest:honest], leaves[honest-tail:]...))
			if forged == root && !repeated {
				t.Errorf("the last %d of %d leaves given twice pass", tail, honest)
			}
		}
	}
}
