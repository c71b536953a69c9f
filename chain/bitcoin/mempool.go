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
	// youngBytes bounds the transactions that are held only because they are new.
	// oursBytes bounds those that concern the watch: more than the blocks of hours
	// hold, so that only a node that lies shows them.
	youngBytes, oursBytes = 32 << 20, 128 << 20
	// listingRest is how many times as long as a listing takes nothing is listed
	// again; quickRest bounds that after a listing that takes at most quickListing,
	// and slowRest, or twice as long as it takes, after any other.
	listingRest, quickListing       = 10, 200 * time.Millisecond
	quickRest, slowRest, slowFactor = time.Second, 2 * time.Second, 2
)

// mempool keeps a picture of the nodes' unconfirmed transactions. Each reading
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
type mempool struct {
	mu      sync.Mutex // one reading at a time; guards what follows
	seed    maphash.Seed
	known   map[uint64]knownTx // by hash of the id: nobody can make two ids that look the same
	held    map[chainhash.Hash]heldTx
	young   int    // bytes of those held that don't concern the watch
	ours    int    // bytes of those that do
	most    int    // bound of young
	reading uint32 // number of this reading

	listed struct { // the last complete listing
		node *server
		tip  string
		at   time.Time
		took time.Duration
	}
	urgency sync.Mutex
	urgent  bool
}

// knownTx is a transaction of the mempool.
type knownTx struct {
	first   uint32 // the reading that first listed it
	last    uint32 // the last one that did
	fetched bool
}

// heldTx is a transaction that concerns the watch, or may yet.
type heldTx struct {
	raw     []byte
	since   time.Time
	reading uint32
	ours    bool // it concerned the watch when it was last matched
}

// reading is what one reading of the mempool needs.
type reading struct {
	*Source
	node  *server
	tip   string
	watch chain.Watch
}

// hurry makes the next reading list early.
func (m *mempool) hurry() {
	m.urgency.Lock()
	defer m.urgency.Unlock()
	m.urgent = true
}

// hurried reports whether hurry was called, and forgets it with done.
func (m *mempool) hurried(done bool) bool {
	m.urgency.Lock()
	defer m.urgency.Unlock()
	was := m.urgent
	m.urgent = was && !done
	return was
}

// read gives the picture of now.
func (m *mempool) read(ctx context.Context, r reading) (chain.Pending, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reading++
	if m.known == nil {
		m.seed, m.known, m.held = maphash.MakeSeed(), map[uint64]knownTx{}, map[chainhash.Hash]heldTx{}
	}
	if m.recent(r) {
		return m.picture(r)
	}
	started := r.clock()
	m.hurried(true)
	m.listed.node = nil
	ids, err := r.node.mempool(ctx)
	if err != nil {
		return chain.Pending{}, err
	}
	took := r.clock().Sub(started)
	old, fresh := m.news(ids)
	if err := m.relieve(r); err != nil {
		return chain.Pending{}, err
	}
	if err := m.fetch(ctx, r, append(old, fresh...)); err != nil {
		return chain.Pending{}, err
	}
	m.listed.node, m.listed.tip, m.listed.at, m.listed.took = r.node, r.tip, r.clock(), took
	return m.picture(r)
}

// recent reports whether the last listing still serves.
func (m *mempool) recent(r reading) bool {
	rest := restAfter(m.listed.took)
	if m.hurried(false) {
		rest = min(rest, m.listed.took)
	}
	return m.listed.took >= r.pace.quick && m.listed.node == r.node && m.listed.tip == r.tip && r.clock().Sub(m.listed.at) < rest
}

// restAfter is how long nothing is listed again after a listing that took a
// while. After one of at most 200 ms a follower's next step lists again, so that a
// payment is seen within two seconds of its broadcast. Longer ones cost the node a
// third of its time at most: the payment is seen within three to five seconds, or,
// where a list takes longer than one, within four times as long and a second.
// When a node pushed a payment to us the rest is no longer than the listing was.
func restAfter(took time.Duration) time.Duration {
	if took <= quickListing {
		return min(listingRest*took, quickRest)
	}
	return max(slowRest, slowFactor*took)
}

// news notes what is listed, forgets what isn't any more, and gives what must be
// fetched: what an earlier reading listed first, and what is new.
func (m *mempool) news(ids []chainhash.Hash) (old, fresh []chainhash.Hash) {
	listed := make(map[chainhash.Hash]bool, len(m.held))
	for _, id := range ids {
		key := maphash.Bytes(m.seed, id[:])
		tx, ok := m.known[key]
		if !ok {
			tx.first = m.reading
		}
		switch {
		case tx.fetched || tx.last == m.reading: // known, or listed twice
		case tx.first == m.reading:
			fresh = append(fresh, id)
		default:
			old = append(old, id)
		}
		tx.last = m.reading
		m.known[key] = tx
		if _, ok := m.held[id]; ok {
			listed[id] = true
		}
	}
	for key, tx := range m.known {
		if tx.last != m.reading {
			delete(m.known, key)
		}
	}
	for id := range m.held {
		if !listed[id] {
			m.drop(id)
		}
	}
	return old, fresh
}

// relieve lets go of what an earlier reading held because it was new, when that
// is so much that it would leave no room: the watch was brought up to date since,
// so one more look is enough.
func (m *mempool) relieve(r reading) error {
	if m.young <= m.most/2 {
		return nil
	}
	for id, held := range m.held {
		if held.ours || held.reading == m.reading {
			continue
		}
		tx, err := m.match(r, id)
		if err != nil {
			return err
		}
		if !concerns(tx) {
			m.drop(id)
		}
	}
	return nil
}

// fetch fetches transactions in batches until all are there, or as many as one
// reading may.
func (m *mempool) fetch(ctx context.Context, r reading, ids []chainhash.Hash) error {
	within, cancel := context.WithTimeout(ctx, r.pace.fill)
	defer cancel()
	for len(ids) > 0 {
		some := ids[:min(len(ids), r.node.batch())]
		raws, err := r.node.txs(within, some)
		switch {
		case err != nil && ctx.Err() == nil && within.Err() != nil:
			return m.progress(r.node, len(ids))
		case err != nil:
			return err
		}
		for i, raw := range raws {
			if raw == nil {
				continue // gone: the next list lacks it
			}
			if err := m.take(r, some[i], raw); err != nil {
				return err
			}
		}
		ids = ids[len(raws):]
		if len(ids) > 0 && m.young > m.most && m.new(ids[0]) {
			return m.progress(r.node, len(ids))
		}
	}
	return ctx.Err()
}

// new reports whether this reading is the first that lists a transaction.
func (m *mempool) new(id chainhash.Hash) bool {
	return m.known[maphash.Bytes(m.seed, id[:])].first == m.reading
}

// take looks at a transaction and holds it if it may matter.
func (m *mempool) take(r reading, id chainhash.Hash, raw []byte) error {
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
	if known.first == m.reading || concerns(tx) {
		m.hold(id, heldTx{raw, r.clock(), m.reading, concerns(tx)})
	}
	if m.ours > oursBytes {
		return node.Troubled(fmt.Errorf("%d bytes of transactions", m.ours),
			"has more unconfirmed transactions that pay to this server than there can be. Check that it is a node of this network.")
	}
	return nil
}

// concerns reports whether a watch asked for something in the transaction.
func concerns(tx Tx) bool { return len(tx.Transfers) > 0 || len(tx.Spends) > 0 }

// hold holds a transaction, or notes what is new about one that is held.
func (m *mempool) hold(id chainhash.Hash, tx heldTx) {
	m.drop(id)
	m.held[id] = tx
	*m.sum(tx) += len(tx.raw)
}

func (m *mempool) drop(id chainhash.Hash) {
	tx := m.held[id]
	*m.sum(tx) -= len(tx.raw)
	delete(m.held, id)
}

// sum is where the bytes of a held transaction are counted.
func (m *mempool) sum(tx heldTx) *int {
	if tx.ours {
		return &m.ours
	}
	return &m.young
}

// match matches a held transaction against the watch as it is now.
func (m *mempool) match(r reading, id chainhash.Hash) (Tx, error) {
	held := m.held[id]
	tx, err := ParseTx(held.raw, r.params, r.watch)
	if err != nil {
		return Tx{}, node.Damaged("a transaction", err)
	}
	if held.ours != concerns(tx) {
		held.ours = concerns(tx)
		m.hold(id, held)
	}
	return tx, nil
}

// progress is the problem while a big mempool is not read to its end.
func (m *mempool) progress(n *server, left int) error {
	return n.Problem(node.Troubled(nil, "has a big mempool, of which %d of %d transactions are still to be read. Nothing needs to be done.",
		left, len(m.known)))
}

// picture matches what is held against the watch as it is now.
func (m *mempool) picture(r reading) (chain.Pending, error) {
	var p chain.Pending
	now := r.clock()
	for id, held := range m.held {
		tx, err := m.match(r, id)
		if err != nil {
			return chain.Pending{}, err
		}
		p.Transfers, p.Spends = append(p.Transfers, tx.Transfers...), append(p.Spends, tx.Spends...)
		young := now.Sub(held.since) < r.pace.fresh || m.reading-held.reading < 2
		if !concerns(tx) && !young {
			m.drop(id)
		}
	}
	return p, nil
}
