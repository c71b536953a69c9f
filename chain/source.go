// Package chain is what a coin's network looks like to Cointill: the Source
// that each kind of node is adapted to, and the Follower that walks a Source
// block by block, through reorganisations and restarts, without leaving a gap.
// It knows no payments: it turns what happens on a network into facts.
package chain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cointill/core/money"
)

// Network names one followed network: "sandbox-bitcoin", "bitcoin-mainnet".
type Network string

// Sandbox is the simulated network of a chain.
func Sandbox(c money.Chain) Network { return Network("sandbox-" + string(c)) }

// BlockID is a block's place and name. The zero BlockID stands before the first block.
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

// Block is a header with what the watch set is concerned by.
type Block struct {
	Header
	Transfers []Transfer // value moved to watched destinations, and reverted attempts to
	Spends    []Spend    // watched spend keys that this block's transactions use up
}

// Transfer is one movement of value to one destination, as a network shows it.
// (Network, TxID, Index) names it for ever, before and after confirmation.
type Transfer struct {
	TxID  string
	Index int    // output, log or delivery index inside the transaction
	Asset string // a coin symbol ("BTC"), or the name of another asset ("FAKE-USDT") that credits nothing
	Destination
	Amount money.Amount
	// Spends are the keys that the transaction uses up (an outpoint, a
	// sender's nonce). Another transaction using one of them replaces or
	// double-spends this one. At most MaxSpends are kept.
	Spends []string
	// Maturity is how many confirmations the network itself demands before the
	// value can be spent, where that is more than one: what mining pays.
	Maturity int64
	// Reverted tells that the network recorded the transaction as failed: it moved nothing.
	Reverted bool
	// Via is how value came that no payment sent, or none that can be believed: the
	// kind of transaction ("EscrowFinish"), or what is wrong. Such a transfer
	// credits nothing, wherever it went. "" for payments.
	Via string
	// Unproved tells that Via is what is wrong: the amount is not certain, and
	// perhaps nothing came.
	Unproved bool
}

// MaxSpends bounds Transfer.Spends.
const MaxSpends = 64

// Key is the transfer's name inside its network.
func (t Transfer) Key() string { return fmt.Sprintf("%s/%d", t.TxID, t.Index) }

// Destination is where value is sent. Tag is meaningful on networks that share
// an address among payments (XRP); there nil (no tag) and 0 differ.
type Destination struct {
	Address string
	Tag     *uint32
}

// Spend tells that a transaction used up a spend key. Sources list a watched
// transfer's own transaction too: only another TxID is news.
type Spend struct {
	Key  string
	TxID string
}

// Tip is the end of a source's best chain.
type Tip struct {
	Header
	// Finalized is the height below and at which the network itself promises
	// that nothing changes; -1 where the network has no such notion.
	Finalized int64
}

// Watch is what a source is asked to look for. It is safe for concurrent use,
// and additions are seen by the next call.
type Watch interface {
	// Address reports whether transfers to the address are wanted, whatever the tag.
	Address(address string) bool
	// Spend reports whether the spend key belongs to a transfer that is not final
	// yet: also a confirmed one, as the branch that undoes it may hold its rival.
	Spend(key string) bool
	// Raw reports whether an address or spend key may be watched of which these
	// are the bytes that the network's blocks hold. True may be wrong, false is
	// not: it saves a source from making text of every output and input.
	Raw(form []byte) bool
}

// Source is one network as one or several nodes show it. Implementations are
// safe for concurrent use, bound every answer they read, verify what can be
// verified (a block must be the one asked for), and never sleep.
//
// A source may lag, jump back or change its mind between two calls; the
// Follower copes, as long as each single answer is consistent in itself.
//
// An error that is or wraps a Problem is shown to people; of all others they only
// read that the node can't be read, and the text goes to the log.
type Source interface {
	// Tip is the current end of the best chain. An error means that the source
	// can't be trusted now (down, syncing, wrong network); a Problem says what to do.
	Tip(ctx context.Context) (Tip, error)
	// Header is the header at a height of the best chain. ErrNoBlock above the tip.
	Header(ctx context.Context, height int64) (Header, error)
	// Block is the block at a height of the best chain, with exactly the
	// transfers and spends that concern the watch. ErrNoBlock above the tip.
	Block(ctx context.Context, height int64, watch Watch) (Block, error)
	// Pending lists the unconfirmed transactions that concern the watch: their
	// transfers, and the watched spend keys they use up. It is a whole picture,
	// not a difference. A network without a mempool returns an empty one.
	Pending(ctx context.Context, watch Watch) (Pending, error)
}

// Problem is an error whose text is a sentence for people: what is wrong with a
// network, and what to do. It holds no address and no credential.
type Problem string

// Error is the sentence.
func (p Problem) Error() string { return string(p) }

// Pending is a picture of the mempool. Nobody knows yet whether its transfers
// will be reverted: Reverted is false there.
type Pending struct {
	Transfers []Transfer
	Spends    []Spend
}

// ErrNoBlock is returned for a height that the source's best chain doesn't reach.
var ErrNoBlock = errors.New("chain: no block at that height")

// Batch is what the follower learnt in one step, in the order things happened.
// A Store applies it whole or not at all.
type Batch struct {
	Network Network
	// Fence is the number of the lease under which the batch was made; the
	// store refuses a batch of an older holder.
	Fence int64
	// From is the cursor that the batch continues from; the store refuses the
	// batch when its cursor is another (ErrStale).
	From BlockID
	// Ancestor is the last block of the old branch that stays, when the chain
	// was reorganised: every block above its height is undone first. Nil when
	// nothing is undone. What an undone block held is unconfirmed again, unless
	// Blocks hold it too; it is gone only when a Pending lacks it.
	Ancestor *BlockID
	// Blocks follow Ancestor, or From, without a gap. Those of the very first
	// batch (From is zero) begin a little below the source's tip.
	Blocks []Block
	// Pending is the mempool after the last block; nil when it wasn't read, which
	// says nothing about any transfer. A picture that shows what the last
	// applied one showed is not sent again while no block comes.
	Pending *Pending
	// Tip is the source's tip when the batch was made. The store's tip for
	// counting confirmations is the last applied block, never this; and its
	// Finalized may be that of a node which lags: it never takes finality back.
	Tip Tip
	// Read is the moment until which the network was read once the batch is applied:
	// when the source was asked for the tip that Blocks reach and Pending goes with.
	// Zero when they don't reach it, or the mempool could not be read.
	Read time.Time
}

// Cursor is where a store's following stands.
type Cursor struct {
	Block BlockID
	// Known is false before the first batch: the follower then starts at the source's tip.
	Known bool
}

// ErrForgotten is returned for what a node knows of recent blocks only, such as
// what addresses held after an old one.
var ErrForgotten = errors.New("chain: no node keeps that of so old a block")

// ErrStale refuses a batch that doesn't continue from the store's cursor, or
// whose lease was taken over.
var ErrStale = errors.New("chain: batch does not continue from the cursor")

// KeptBlocks is how far back a store keeps a network's blocks: the deepest reorganisation
// that can be followed.
const KeptBlocks = 2_000

// Store keeps what a follower learns.
type Store interface {
	// Cursor is the last applied block.
	Cursor(ctx context.Context, network Network) (Cursor, error)
	// Hash is the hash of an applied block; "" when it is too deep to be kept.
	Hash(ctx context.Context, network Network, height int64) (string, error)
	// Apply applies a batch, or refuses it with ErrStale.
	Apply(ctx context.Context, batch Batch) error
	// Looked takes a batch that brings nothing new but its Read, which is not zero.
	// What an older holder of the lease saw is ignored.
	Looked(ctx context.Context, batch Batch) error
	// Health records how the following goes: "" is healthy, else a sentence that
	// says what to do. What an older holder of the lease says is ignored.
	Health(ctx context.Context, network Network, fence int64, sentence string) error
}
