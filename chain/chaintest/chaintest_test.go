package chaintest_test

import (
	"testing"

	"cointill/chain/chaintest"
)

// TestMemoryPassesTheSuite runs the suite on the smallest network. It tests the follower, too.
func TestMemoryPassesTheSuite(t *testing.T) {
	t.Parallel()
	chaintest.Run(t, func(*testing.T) chaintest.Net { return chaintest.NewMemory() })
}
