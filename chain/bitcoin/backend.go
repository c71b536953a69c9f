package bitcoin

import (
	"context"

	"github.com/btcsuite/btcd/chainhash/v2"
)

// backend is how one kind of server is asked. Answers are bounded and of the
// right form; whether they are true is for the caller to check. Errors that tell
// why the server can't be used are troubles.
type backend interface {
	// identifyServer finds out what serves: its dialect, and its version in its own words.
	identifyServer(ctx context.Context) (dialect, version string, err error)
	// readState is where the server stands.
	readState(ctx context.Context) (serverState, error)
	// fetchBlockHash is the name of the best chain's block at a height; chain.ErrNoBlock above its tip.
	fetchBlockHash(ctx context.Context, height int64) (string, error)
	// fetchHeader is a block's header, with whatever the network puts behind it.
	fetchHeader(ctx context.Context, hash string) ([]byte, error)
	// fetchBlock is a whole block.
	fetchBlock(ctx context.Context, hash string) ([]byte, error)
	// listMempool lists the unconfirmed transactions.
	listMempool(ctx context.Context) ([]chainhash.Hash, error)
	// fetchTxs are unconfirmed transactions, in the order of the ids; nil for those that
	// are gone. They are as many of the first ones as fit into bounded memory, and
	// at least one.
	fetchTxs(ctx context.Context, ids []chainhash.Hash) ([][]byte, error)
	// batchSize is how many ids txs is best given at once.
	batchSize() int
}

// serverState is what a server says of itself.
type serverState struct {
	network string // as the server calls it; "" where it doesn't say
	height  int64
	hash    string
	headers int64 // height of the best header that it knows; not below height
	syncing bool
}

// maxHeight is above every height that a chain reaches, and what nodes can parse.
const maxHeight = 1<<31 - 1
