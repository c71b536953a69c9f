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
	// watchedBytesLimit bounds the watched ones: more than the blocks of hours hold, so that only a
	// dishonest node exceeds it.
	newBytesLimit, watchedBytesLimit = 32 << 20, 128 << 20
	// The rest after a listing is quickRestFactor times its duration, at most maxQuickRest, if the
	// listing takes at most quickListing. Otherwise it is slowRestFactor times its duration, at
	// least minSlowRest.
	quickRestFactor, quickListing             = 10, 200 * time.Millisecond
	maxQuickRest, minSlowRest, slowRestFactor = time.Second, 2 * time.Second, 2
)

// mempoolReader keeps a snapshot of the nodes' unconfirmed transactions. Each reading asks for the
// list of ids, fetches the unknown transactions, and keeps the watched ones, and 20 bytes of each
// other one.
//
// A snapshot is given whole or not at all, because a transaction that a snapshot lacks counts as
// dropped. So a first reading of a big mempool, which may take several steps, returns a Problem
// that shows its progress. Each step continues where the last one ended.
//
// A transaction is found even if its address is watched later. An address is stored before it is
// shown, and a follower updates its watch before each reading, so the watch can lack an address
// only in the reading that first lists the transaction: the transaction was broadcast, and its
// address stored, after the last update. Such a transaction is held, and matched again at the
// readings of the next minute, at least two. A transaction that is fetched in a later reading than
// the one that first listed it needs no second match. All watched transactions are matched again
// each time.
//
// So the transactions that earlier readings listed are fetched first, as many as time allows; none
// of them is held. Only newBytesLimit bytes of new transactions are held. The rest is left to the
// next reading, which no longer counts them as new. If much is held, a reading also releases the
// transactions that an earlier one held: they are matched there once more, after an update of the
// watch, instead of during a minute. A first reading of 300,000 transactions thus holds the first
// 80,000, fetches the others in the next step, and is complete as soon as the node has answered.
//
// A big list takes a while, so it is not read again at once; see restAfterListing. Meanwhile the
// last snapshot is used while node and tip stay the same: after a block or a reorganisation an old
// snapshot could lack transactions that are unconfirmed now.
type mempoolReader struct {
	mu            sync.Mutex // one reading at a time; guards the fields up to lastListing
	seed          maphash.Seed
	known         map[uint64]knownTx // by a seeded hash of the id, so that an attacker can't make two ids that collide
	held          map[chainhash.Hash]heldTx
	newBytes      int    // bytes of held transactions that are not watched
	watchedBytes  int    // bytes of held transactions that are watched
	maxNewBytes   int    // bound of newBytes
	readingNumber uint32 // number of the current reading

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
	lastReading  uint32 // the last reading that listed it
	fetched      bool
}

// heldTx is a transaction that is watched, or may be watched soon.
type heldTx struct {
	raw     []byte
	since   time.Time
	reading uint32
	watched bool // it was watched when it was last matched
}

// reading holds the parameters of one reading of the mempool.
type reading struct {
	*view
	watch chain.Watch
}

// requestEarlyListing shortens the rest before the next listing.
func (m *mempoolReader) requestEarlyListing() {
	m.urgentMu.Lock()
	defer m.urgentMu.Unlock()
	m.urgent = true
}

// isListingUrgent reports whether requestEarlyListing was called, and with reset forgets it.
func (m *mempoolReader) isListingUrgent(reset bool) bool {
	m.urgentMu.Lock()
	defer m.urgentMu.Unlock()
	was := m.urgent
	m.urgent = was && !reset
	return was
}

// readPending returns the current snapshot.
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

// canReuseListing reports whether the last listing is recent enough.
func (m *mempoolReader) canReuseListing(r reading) bool {
	rest := restAfterListing(m.lastListing.took)
	if m.isListingUrgent(false) {
		rest = min(rest, m.lastListing.took)
	}
	return m.lastListing.took >= r.timing.quickListing && m.lastListing.node == r.node &&
		m.lastListing.tip == r.tip && r.clock().Sub(m.lastListing.at) < rest
}

// restAfterListing returns how long the mempool is not listed again after a listing that took a
// while. After a listing of at most 200 ms a follower's next step lists again, so that a payment is
// seen within two seconds of its broadcast. Longer listings cost the node at most a third of its
// time: the payment is seen within three to five seconds or, if a listing takes longer than a
// second, within four times its duration and a second. After a node pushed a payment to a watched
// address the rest is at most the duration of the listing.
func restAfterListing(took time.Duration) time.Duration {
	if took <= quickListing {
		return min(quickRestFactor*took, maxQuickRest)
	}
	return max(minSlowRest, slowRestFactor*took)
}

// updateKnown records the listed transactions and forgets the others. It returns the ids to fetch:
// old ones that an earlier reading listed first, and fresh ones.
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

// releaseHeld releases new transactions that an earlier reading held, if they would leave no room.
// The watch was updated since, so one more match is enough.
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

// fetchTxs fetches transactions in batches until all are there, or as many as one reading may.
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
				continue // it left the mempool, and the next list lacks it
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

// addFetched matches a transaction and holds it if it is watched or new.
func (m *mempoolReader) addFetched(r reading, id chainhash.Hash, raw []byte) error {
	tx, err := ParseTx(raw, r.params, r.watch)
	if err == nil && tx.ID != id.String() {
		err = fmt.Errorf("transaction %s came for %s", tx.ID, id)
	}
	if err != nil {
		return node.DamagedDataError("a transaction", err)
	}
	key := maphash.Bytes(m.seed, id[:])
	known := m.known[key]
	known.fetched = true
	m.known[key] = known
	if known.firstReading == m.readingNumber || isWatched(tx) {
		m.holdTx(id, heldTx{raw, r.clock(), m.readingNumber, isWatched(tx)})
	}
	if m.watchedBytes > watchedBytesLimit {
		return node.NewFailure(fmt.Errorf("%d bytes of transactions", m.watchedBytes),
			"has more unconfirmed transactions that pay to this server than there can be. Check that it is a node "+
				"of this network.")
	}
	return nil
}

// isWatched reports whether a transaction has a watched transfer or spend.
func isWatched(tx Tx) bool { return len(tx.Transfers) > 0 || len(tx.Spends) > 0 }

// holdTx holds a transaction, or updates a held one.
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

// byteCounter returns the counter for the bytes of a held transaction.
func (m *mempoolReader) byteCounter(tx heldTx) *int {
	if tx.watched {
		return &m.watchedBytes
	}
	return &m.newBytes
}

// matchHeld matches a held transaction against the current watch.
func (m *mempoolReader) matchHeld(r reading, id chainhash.Hash) (Tx, error) {
	held := m.held[id]
	tx, err := ParseTx(held.raw, r.params, r.watch)
	if err != nil {
		return Tx{}, node.DamagedDataError("a transaction", err)
	}
	if held.watched != isWatched(tx) {
		held.watched = isWatched(tx)
		m.holdTx(id, held)
	}
	return tx, nil
}

// progressProblem is the problem while a big mempool is not completely read.
func (m *mempoolReader) progressProblem(n *server, left int) error {
	return n.WrapProblem(node.NewFailure(nil,
		"has a big mempool, of which %d of %d transactions are still to be read. Nothing needs to be done.",
		left, len(m.known)))
}

// buildPending matches the held transactions against the current watch.
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
