package bitcoin

import (
	"context"

	"github.com/btcsuite/btcd/chainhash/v2"

	"cointill/chain"
)

// backend asks one kind of server. Its answers are bounded and well-formed; the caller verifies
// their content. Errors about a server that can't be used are node.Failures.
type backend interface {
	// identifyServer returns the server's dialect, and its version as it reports it.
	identifyServer(ctx context.Context) (dialect, version string, err error)
	// readState returns the server's state.
	readState(ctx context.Context) (serverState, error)
	// fetchBlockHash returns the hash of the best chain's block at a height, or chain.ErrNoBlock
	// above its tip.
	fetchBlockHash(ctx context.Context, height int64) (string, error)
	// fetchHeader returns a block's header, with the bytes that the network may put behind it.
	fetchHeader(ctx context.Context, hash string) ([]byte, error)
	// fetchBlock returns a whole block.
	fetchBlock(ctx context.Context, hash string) ([]byte, error)
	// listMempool lists the unconfirmed transactions.
	listMempool(ctx context.Context) ([]chainhash.Hash, error)
	// fetchTxs returns unconfirmed transactions in the order of the ids, nil for those that left
	// the mempool. It returns as many of the first ones as fit into bounded memory, at least one.
	fetchTxs(ctx context.Context, ids []chainhash.Hash) ([][]byte, error)
	// batchSize returns how many ids fetchTxs should get at once.
	batchSize() int
	// fetchMinedTx returns a transaction that a block holds.
	fetchMinedTx(ctx context.Context, id, blockHash string) ([]byte, error)
	// locateTx returns where the server has a transaction.
	locateTx(ctx context.Context, id string) (txPlace, error)
	// fetchOutputStates returns the states of outputs, in their order.
	fetchOutputStates(ctx context.Context, outputs []chain.OwnOutput) ([]chain.OutputState, error)
	// estimateFee returns the fee rate for a confirmation within some blocks, in satoshi for 1,000
	// virtual bytes; 0 where the server has no estimate.
	estimateFee(ctx context.Context, blocks int) (int64, error)
	// fetchPaidRates returns fee rates that transactions of the blocks up to a height paid; none where the
	// server has no such statistics.
	fetchPaidRates(ctx context.Context, tip int64) []int64
	// broadcastTx gives a signed transaction in hexadecimal to the server. said is why the server
	// refused it, "" where it took it.
	broadcastTx(ctx context.Context, raw string) (said string, err error)
}

// serverState is the state that a server reports.
type serverState struct {
	network string // as the server names it; "" if it doesn't report it
	height  int64
	hash    string
	headers int64 // height of the best header that it knows; not below height
	syncing bool
}

// maxHeight is above the height of every chain, and fits into the integers of nodes.
const maxHeight = 1<<31 - 1
