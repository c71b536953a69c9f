package bitcoin

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"

	"cointill/chain"
	"cointill/chain/node"
)

const (
	// newBytesLimit bounds the transactions that are held only because they are new.
	// oursBytes bounds those that concern the watch: more than the blocks of hours
	// hold, so that only a node that lies shows them.
	newBytesLimit, watchedBytesLimit = 32 << 20, 128 << 20
	// quickRestFactor is how many times as long as a listing takes nothing is listed
	// again; quickRest bounds that after a listing that takes at most quickListing,
	// and slowRest, or twice as long as it takes, after any other.
	quickRestFactor, quickListing             = 10, 200 * time.Millisecond
	maxQuickRest, minSlowRest, slowRestFactor = time.Second, 2 * time.Second, 2
)

// mempoolReader keeps a picture of the nodes' unconfirmed transactions. Each reading
// asks for the list of ids, fetches the transactions that it doesn't know, keeps
// those that concern the watch, and of all others 20 bytes.
//
// A picture is whole or isn't given at all: what a picture lacks is taken to be
// gone. So a first reading of a big mempool, which may take some steps, is a
// Problem that tells how far it got; each step goes on where the last one ended.
//
// No transaction escapes a watch that grows. An address is stored before it is
// shown, and a follower brings its watch up to date before each reading, so a
// transaction can be unknown to the watch only in the reading that first lists
// it: it was broadcast, and its address stored, after the update before. Such a
// transaction is held, and matched again at the readings of the next minute, two
// at least. One that is fetched in a later reading than the one that first
// listed it needs no second look. All that concern the watch are matched anew
// each time.
//
// So what earlier readings listed is fetched first, as much as time allows: none
// of it is held. Of what is new only youngBytes are; the rest is left to the next
// reading, to which it isn't new any more. And when much is held, a reading lets
// go at once of what an earlier one brought: it has the second look there, with
// the update before it, instead of a minute of them. A first reading of 300,000
// transactions thus holds the first 80,000, fetches the others at the next step,
// and is whole as soon as the node has answered.
//
// A big list takes a while, so it rests before it is read again: see restAfter.
// Meanwhile the last picture serves, as long as node and tip are the same: after
// a block or a reorganisation an old picture could lack what is unconfirmed now.
type mempoolReader struct {
	mu            sync.Mutex // one reading at a time; guards what follows
	seed          maphash.Seed
	known         map[uint64]knownTx // by hash of the id: nobody can make two ids that look the same
	held          map[chainhash.Hash]heldTx
	newBytes      int    // bytes of those held that don't concern the watch
	watchedBytes  int    // bytes of those that do
	maxNewBytes   int    // bound of young
	readingNumber uint32 // number of this reading

	lastListing struct { // the last complete listing
		node *server
		tip  string
		at   time.Time
		took time.Duration
	}
	urgentMu sync.Mutex
	urgent   bool
}

// knownTx is a transaction of the mempool.
type knownTx struct {
	firstReading uint32 // the reading that first listed it
	lastReading  uint32 // the last one that did
	fetched      bool
}

// heldTx is a transaction that concerns the watch, or may yet.
type heldTx struct {
	raw     []byte
	since   time.Time
	reading uint32
	watched bool // it concerned the watch when it was last matched
}

// reading is what one reading of the mempool needs.
type reading struct {
	*Source
	node  *server
	tip   string
	watch chain.Watch
}

// requestEarlyListing makes the next reading list early.
func (m *mempoolReader) requestEarlyListing() {
	m.urgentMu.Lock()
	defer m.urgentMu.Unlock()
	m.urgent = true
}

// isListingUrgent reports whether hurry was called, and forgets it with done.
func (m *mempoolReader) isListingUrgent(reset bool) bool {
	m.urgentMu.Lock()
	defer m.urgentMu.Unlock()
	was := m.urgent
	m.urgent = was && !reset
	return was
}

// readPending gives the picture of now.
func (m *mempoolReader) readPending(ctx context.Context, r reading) (chain.Pending, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.readingNumber++
	if m.known == nil {
		m.seed, m.known, m.held = maphash.MakeSeed(), map[uint64]knownTx{}, map[chainhash.Hash]heldTx{}
	}
	if m.canReuseListing(r) {
		return m.buildPending(r)
	}
	started := r.clock()
	m.isListingUrgent(true)
	m.lastListing.node = nil
	ids, err := r.node.listMempool(ctx)
	if err != nil {
		return chain.Pending{}, err
	}
	took := r.clock().Sub(started)
	old, fresh := m.updateKnown(ids)
	if err := m.releaseHeld(r); err != nil {
		return chain.Pending{}, err
	}
	if err := m.fetchTxs(ctx, r, append(old, fresh...)); err != nil {
		return chain.Pending{}, err
	}
	m.lastListing.node, m.lastListing.tip, m.lastListing.at, m.lastListing.took = r.node, r.tip, r.clock(), took
	return m.buildPending(r)
}

// canReuseListing reports whether the last listing still serves.
func (m *mempoolReader) canReuseListing(r reading) bool {
	rest := restAfterListing(m.lastListing.took)
	if m.isListingUrgent(false) {
		rest = min(rest, m.lastListing.took)
	}
	return m.lastListing.took >= r.timing.quickListing && m.lastListing.node == r.node && m.lastListing.tip == r.tip && r.clock().Sub(m.lastListing.at) < rest
}

// restAfterListing is how long nothing is listed again after a listing that took a
// while. After one of at most 200 ms a follower's next step lists again, so that a
// payment is seen within two seconds of its broadcast. Longer ones cost the node a
// third of its time at most: the payment is seen within three to five seconds, or,
// where a list takes longer than one, within four times as long and a second.
// When a node pushed a payment to us the rest is no longer than the listing was.
func restAfterListing(took time.Duration) time.Duration {
	if took <= quickListing {
		return min(quickRestFactor*took, maxQuickRest)
	}
	return max(minSlowRest, slowRestFactor*took)
}

// updateKnown notes what is listed, forgets what isn't any more, and gives what must be
// fetched: what an earlier reading listed first, and what is new.
func (m *mempoolReader) updateKnown(ids []chainhash.Hash) (old, fresh []chainhash.Hash) {
	listed := make(map[chainhash.Hash]bool, len(m.held))
	for _, id := range ids {
		key := maphash.Bytes(m.seed, id[:])
		tx, ok := m.known[key]
		if !ok {
			tx.firstReading = m.readingNumber
		}
		switch {
		case tx.fetched || tx.lastReading == m.readingNumber: // known, or listed twice
		case tx.firstReading == m.readingNumber:
			fresh = append(fresh, id)
		default:
			old = append(old, id)
		}
		tx.lastReading = m.readingNumber
		m.known[key] = tx
		if _, ok := m.held[id]; ok {
			listed[id] = true
		}
	}
	for key, tx := range m.known {
		if tx.lastReading != m.readingNumber {
			delete(m.known, key)
		}
	}
	for id := range m.held {
		if !listed[id] {
			m.dropTx(id)
		}
	}
	return old, fresh
}

// releaseHeld lets go of what an earlier reading held because it was new, when that
// is so much that it would leave no room: the watch was brought up to date since,
// so one more look is enough.
func (m *mempoolReader) releaseHeld(r reading) error {
	if m.newBytes <= m.maxNewBytes/2 {
		return nil
	}
	for id, held := range m.held {
		if held.watched || held.reading == m.readingNumber {
			continue
		}
		tx, err := m.matchHeld(r, id)
		if err != nil {
			return err
		}
		if !isWatched(tx) {
			m.dropTx(id)
		}
	}
	return nil
}

// fetchTxs fetches transactions in batches until all are there, or as many as one
// reading may.
func (m *mempoolReader) fetchTxs(ctx context.Context, r reading, ids []chainhash.Hash) error {
	within, cancel := context.WithTimeout(ctx, r.timing.maxFillTime)
	defer cancel()
	for len(ids) > 0 {
		some := ids[:min(len(ids), r.node.batchSize())]
		raws, err := r.node.fetchTxs(within, some)
		switch {
		case err != nil && ctx.Err() == nil && within.Err() != nil:
			return m.progressProblem(r.node, len(ids))
		case err != nil:
			return err
		}
		for i, raw := range raws {
			if raw == nil {
				continue // gone: the next list lacks it
			}
			if err := m.addFetched(r, some[i], raw); err != nil {
				return err
			}
		}
		ids = ids[len(raws):]
		if len(ids) > 0 && m.newBytes > m.maxNewBytes && m.isNew(ids[0]) {
			return m.progressProblem(r.node, len(ids))
		}
	}
	return ctx.Err()
}

// isNew reports whether this reading is the first that lists a transaction.
func (m *mempoolReader) isNew(id chainhash.Hash) bool {
	return m.known[maphash.Bytes(m.seed, id[:])].firstReading == m.readingNumber
}

// addFetched looks at a transaction and holds it if it may matter.
func (m *mempoolReader) addFetched(r reading, id chainhash.Hash, raw []byte) error {
	tx, err := ParseTx(raw, r.params, r.watch)
	if err == nil && tx.ID != id.String() {
		err = fmt.Errorf("transaction %s came for %s", tx.ID, id)
	}
	if err != nil {
		return node.Damaged("a transaction", err)
	}
	key := maphash.Bytes(m.seed, id[:])
	known := m.known[key]
	known.fetched = true
	m.known[key] = known
	if known.firstReading == m.readingNumber || isWatched(tx) {
		m.holdTx(id, heldTx{raw, r.clock(), m.readingNumber, isWatched(tx)})
	}
	if m.watchedBytes > watchedBytesLimit {
		return node.Troubled(fmt.Errorf("%d bytes of transactions", m.watchedBytes),
			"has more unconfirmed transactions that pay to this server than there can be. Check that it is a node of this network.")
	}
	return nil
}

// isWatched reports whether a watch asked for something in the transaction.
func isWatched(tx Tx) bool { return len(tx.Transfers) > 0 || len(tx.Spends) > 0 }

// holdTx holds a transaction, or notes what is new about one that is held.
func (m *mempoolReader) holdTx(id chainhash.Hash, tx heldTx) {
	m.dropTx(id)
	m.held[id] = tx
	*m.byteCounter(tx) += len(tx.raw)
}

func (m *mempoolReader) dropTx(id chainhash.Hash) {
	tx := m.held[id]
	*m.byteCounter(tx) -= len(tx.raw)
	delete(m.held, id)
}

// byteCounter is where the bytes of a held transaction are counted.
func (m *mempoolReader) byteCounter(tx heldTx) *int {
	if tx.watched {
		return &m.watchedBytes
	}
	return &m.newBytes
}

// matchHeld matches a held transaction against the watch as it is now.
func (m *mempoolReader) matchHeld(r reading, id chainhash.Hash) (Tx, error) {
	held := m.held[id]
	tx, err := ParseTx(held.raw, r.params, r.watch)
	if err != nil {
		return Tx{}, node.Damaged("a transaction", err)
	}
	if held.watched != isWatched(tx) {
		held.watched = isWatched(tx)
		m.holdTx(id, held)
	}
	return tx, nil
}

// progressProblem is the problem while a big mempool is not read to its end.
func (m *mempoolReader) progressProblem(n *server, left int) error {
	return n.Problem(node.Troubled(nil, "has a big mempool, of which %d of %d transactions are still to be read. Nothing needs to be done.",
		left, len(m.known)))
}

// buildPending matches what is held against the watch as it is now.
func (m *mempoolReader) buildPending(r reading) (chain.Pending, error) {
	var p chain.Pending
	now := r.clock()
	for id, held := range m.held {
		tx, err := m.matchHeld(r, id)
		if err != nil {
			return chain.Pending{}, err
		}
		p.Transfers, p.Spends = append(p.Transfers, tx.Transfers...), append(p.Spends, tx.Spends...)
		young := now.Sub(held.since) < r.timing.holdTime || m.readingNumber-held.reading < 2
		if !isWatched(tx) && !young {
			m.dropTx(id)
		}
	}
	return p, nil
}
