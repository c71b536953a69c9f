// Package chain defines how Cointill sees the network of a coin. The Source is the interface that
// the adapters of all kinds of nodes implement, and the Follower walks a Source block by block,
// through reorganisations and restarts, without a gap. The package knows no payments: it turns the
// events of a network into facts.
package chain

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"cointill/core/money"
)

// Network names one followed network: "sandbox-bitcoin", "bitcoin-mainnet".
type Network string

// sandboxPrefix begins the names of simulated networks.
const sandboxPrefix = "sandbox-"

// Sandbox returns the simulated network of a chain.
func Sandbox(c money.Chain) Network { return Network(sandboxPrefix + string(c)) }

// IsSandbox reports a simulated network.
func (n Network) IsSandbox() bool { return strings.HasPrefix(string(n), sandboxPrefix) }

// Code returns the code of the network's chain, which settings and requests use: "bsc" of bsc-mainnet and of
// sandbox-bsc.
func (n Network) Code() money.Chain {
	name := strings.TrimPrefix(string(n), sandboxPrefix)
	code, _, _ := strings.Cut(name, "-")
	return money.Chain(code)
}

// BlockID is a block's height and hash. The zero BlockID stands before the first block.
type BlockID struct {
	Height int64
	Hash   string
}

// Header is a block without its transactions.
type Header struct {
	BlockID
	Parent string // hash of the block at Height-1; "" for the first block
	Time   time.Time
}

// Block is a header with the watched transfers and spends of the block.
type Block struct {
	Header
	Transfers []Transfer // amounts moved to watched destinations, and reverted attempts to move them
	Spends    []Spend    // watched spend keys that transactions of the block use up
	// Departures are amounts that transactions of the block took from watched addresses. There are none on networks
	// whose transactions spend outputs: there Spends name the outputs.
	Departures []Departure
}

// DropDisputed sets the fees and the departures to 0 that another node shows otherwise. No payment depends on them, so
// that they don't hold up the block.
func (b Block) DropDisputed(said Block) {
	fees, left := map[string]money.Amount{}, map[string]bool{}
	for _, t := range said.Transfers {
		fees[t.TxID] = t.Fee
	}
	for _, d := range said.Departures {
		left[fmt.Sprint(d)] = true
	}
	for i := range b.Transfers {
		t := &b.Transfers[i]
		if other, shown := fees[t.TxID]; shown && other.Cmp(t.Fee) != 0 {
			t.Fee = money.Amount{}
		}
	}
	for i := range b.Departures {
		if d := &b.Departures[i]; !left[fmt.Sprint(*d)] {
			d.Amount = money.Amount{}
		}
	}
}

// Departure is an amount of a coin that a transaction took from a watched address, with the fee where the address paid
// it in the same coin. One transaction may have several of an address.
type Departure struct {
	TxID    string
	Address string
	Asset   string       // a coin symbol, as in a Transfer
	Amount  money.Amount // 0 where two nodes show different ones
}

// Transfer is one movement of an amount to one destination, as a network shows it. (Network, TxID,
// Index) identifies it, before and after confirmation.
type Transfer struct {
	TxID  string
	Index int    // output, log or delivery index inside the transaction
	Asset string // a coin symbol ("BTC"), or the name of another asset ("FAKE-USDT") that credits nothing
	Destination
	Amount money.Amount
	// Spends are the keys that the transaction uses up (an outpoint, a sender's nonce). Another
	// transaction that uses one of them replaces or double-spends this one. At most MaxSpends are
	// kept.
	Spends []string
	// From is what the spend keys of the account begin with that the amount came from; "" where the
	// network doesn't show it. A contract's transfer comes from the contract, not from the sender of the transaction.
	From string
	// Fee is what the network took for the transaction, in the smallest unit of its own coin; 0 where
	// it isn't shown.
	Fee money.Amount
	// Invoice is the account that pays and the invoice that it names ("r…:InvoiceID"); "" for none,
	// and on networks whose transactions name no invoice.
	Invoice string
	// Maturity is the number of confirmations after which the network allows the amount to be
	// spent, if that is more than one: for mining rewards.
	Maturity int64
	// Reverted is true if the network recorded the transaction as failed; it moved nothing.
	Reverted bool
	// Via names the way in which an amount arrived that no payment sent, or that can't be verified:
	// the kind of transaction ("EscrowFinish"), or the reason. Such a transfer credits nothing,
	// wherever it went. It is "" for payments.
	Via string
	// Unproved is true if Via is a reason: the amount is not certain, and perhaps nothing arrived.
	Unproved bool
}

// MaxSpends bounds Transfer.Spends.
const MaxSpends = 64

// Key identifies the transfer inside its network.
func (t Transfer) Key() string { return fmt.Sprintf("%s/%d", t.TxID, t.Index) }

// Destination is the receiver of an amount. Tag is used on networks that share an address among
// payments (XRP); nil means no tag, which differs from 0.
type Destination struct {
	Address string
	Tag     *uint32
}

// Spend is the use of a spend key by a transaction. Sources list the own transaction of a watched
// transfer, too: only another TxID is a double-spend.
type Spend struct {
	Key  string
	TxID string
}

// Tip is the end of a source's best chain.
type Tip struct {
	Header
	// Finalized is the height up to which the network itself promises that nothing changes, or -1
	// if it gives no such promise.
	Finalized int64
}

// Watch is the set of addresses and spend keys that a source looks for. It is safe for concurrent
// use, and the next call sees an addition.
type Watch interface {
	// Address reports whether transfers to the address are wanted, with any tag.
	Address(address string) bool
	// Spend reports whether the spend key belongs to a transfer that is not final yet, or is an output of a business.
	// Confirmed transfers are included, because a branch that undoes one may hold its rival.
	Spend(key string) bool
	// Raw reports whether an address or spend key with these bytes in the network's blocks may be
	// watched. True may be wrong, false is always right. It saves a source from making a text of
	// every output and input.
	Raw(form []byte) bool
}

// Source is one network, read from one or several nodes. Implementations are safe for concurrent
// use, bound every answer that they read, verify it as far as possible (a block must be the one
// asked for), and never sleep.
//
// A source may lag, jump back or change its mind between two calls. The Follower copes, as long as
// each single answer is consistent in itself.
//
// The text of an error that is or wraps a Problem is shown to users. For any other error they read
// only that the node can't be read, and its text goes to the log.
type Source interface {
	// At returns the network as one node shows it now. An error means that no node can be trusted
	// now (down, syncing, wrong network); a Problem says what to do.
	At(ctx context.Context) (View, error)
}

// View is a network as one node shows it: the end of the best chain when the view was made, and
// what the node answers from then on.
type View struct {
	Tip Tip
	// NoMempool says that the node shows no unconfirmed transactions: Pending is empty, and needn't be asked.
	NoMempool bool
	Reader
}

// Reader reads the best chain of a node.
type Reader interface {
	// Header returns the header at a height of the best chain, or ErrNoBlock above the tip.
	Header(ctx context.Context, height int64) (Header, error)
	// Block returns the block at a height of the best chain, with exactly the transfers and spends
	// that are watched, or ErrNoBlock above the tip.
	Block(ctx context.Context, height int64, watch Watch) (Block, error)
	// Pending lists the unconfirmed transactions that are watched: their transfers, and the watched
	// spend keys that they use up. It is a whole snapshot, not a difference. It is empty for a
	// network without a mempool.
	Pending(ctx context.Context, watch Watch) (Pending, error)
}

// RangeReader is a Reader that reads several blocks by fewer questions than one after the other, and with fewer checks.
// The Follower uses it while nothing is awaited.
type RangeReader interface {
	// Blocks returns the blocks of the best chain from one height to another, as Reader.Block does, or at least the first
	// of them.
	Blocks(ctx context.Context, from, to int64, watch Watch) ([]Block, error)
}

// Problem is an error whose text is a sentence for users: the fault of a network, and what to do.
// It holds no address and no credential.
type Problem string

// Error returns the sentence.
func (p Problem) Error() string { return string(p) }

// Pending is a snapshot of the mempool. Reverted is false there, because the network has not
// executed the transactions yet.
type Pending struct {
	Transfers []Transfer
	Spends    []Spend
}

// ErrNoBlock is returned for a height that the source's best chain doesn't reach.
var ErrNoBlock = errors.New("chain: no block at that height")

// Batch holds the results of one step of the follower, in the order of the events. A Store applies
// it whole or not at all.
type Batch struct {
	Network Network
	// Fence is the number of the lease under which the batch was made. The store refuses a batch of
	// an older holder.
	Fence int64
	// From is the cursor that the batch continues from. The store refuses the batch with ErrStale
	// if its own cursor is another one.
	From BlockID
	// Ancestor is the last block of the old branch that stays after a reorganisation: every block
	// above its height is undone first. Nil if nothing is undone. The transactions of an undone
	// block are unconfirmed again, unless Blocks hold them, too. They are dropped only when a
	// Pending lacks them.
	Ancestor *BlockID
	// Blocks follow Ancestor, or From, without a gap. In the very first batch (From is zero) they
	// begin a little below the source's tip.
	Blocks []Block
	// Pending is the mempool after the last block. Nil if it wasn't read, which says nothing about
	// any transfer. A snapshot equal to the last applied one is not sent again while no block
	// comes.
	Pending *Pending
	// Tip is the source's tip when the batch was made. The store counts confirmations from the last
	// applied block, never from Tip. Its Finalized may come from a node that lags: it never takes
	// finality back.
	Tip Tip
	// Read is the moment until which the network is read once the batch is applied: when the source
	// was asked for the tip that Blocks reach and that Pending belongs to. Zero if Blocks don't
	// reach it, or the mempool could not be read.
	Read time.Time
}

// Cursor is the position up to which a store has followed a network.
type Cursor struct {
	Block BlockID
	// Known is false before the first batch. The follower then starts at the source's tip.
	Known bool
}

// ErrForgotten is returned for data that nodes keep for recent blocks only, such as the balances of
// addresses after a block.
var ErrForgotten = errors.New("chain: no node keeps that of so old a block")

// ErrStale refuses a batch that doesn't continue from the store's cursor, or whose lease was taken
// over.
var ErrStale = errors.New("chain: batch does not continue from the cursor")

const (
	minKeptBlocks = 2_000
	minKeptTime   = time.Hour
)

// KeptBlocks returns how many blocks of a network a store keeps: the deepest reorganisation that can be followed.
// There are 2,000, or all blocks of an hour where those are more: a block may take half an hour to become final.
func (n Network) KeptBlocks() int64 {
	facts, known := money.FindNetworkFacts(n.Code())
	if !known {
		return minKeptBlocks
	}
	return max(minKeptBlocks, int64(minKeptTime/facts.BlockTime))
}

// Store keeps the results of a follower.
type Store interface {
	// Cursor returns the last applied block.
	Cursor(ctx context.Context, network Network) (Cursor, error)
	// Hash returns the hash of an applied block, or "" if it is too deep to be kept.
	Hash(ctx context.Context, network Network, height int64) (string, error)
	// Apply applies a batch, or refuses it with ErrStale.
	Apply(ctx context.Context, batch Batch) error
	// Looked takes a batch in which only Read is new; Read is not zero. A batch of an older holder
	// of the lease is ignored.
	Looked(ctx context.Context, batch Batch) error
	// Health records the health of the network: "" when healthy, otherwise a sentence that says
	// what to do. The sentence of an older holder of the lease is ignored.
	Health(ctx context.Context, network Network, fence int64, sentence string) error
}
