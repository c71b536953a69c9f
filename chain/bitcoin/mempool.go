package bitcoin

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"

	"cointill/chain"
)

const (
	// heldBytes bounds the transactions that are held because they are new.
	heldBytes = 32 << 20
	// listingRest is how many times as long as a listing takes nothing is listed
	// again, and urgentRest the same when a node pushed a transaction that pays us.
	listingRest, urgentRest = 10, 2
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
// A big list takes a while, so it is read again only after ten times as long;
// meanwhile the last picture serves, as long as node and tip are the same: after
// a block or a reorganisation an old picture could lack what is unconfirmed now.
type mempool struct {
	mu      sync.Mutex // one reading at a time; guards what follows
	seed    maphash.Seed
	known   map[uint64]knownTx // by hash of the id: nobody can make two ids that look the same
	held    map[chainhash.Hash]heldTx
	bytes   int    // of held
	reading uint32 // number of this reading

	listed struct { // the last complete listing
		node *node
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
}

// reading is what one reading of the mempool needs.
type reading struct {
	*Source
	node  *node
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
	if err := m.fetch(ctx, r, m.news(ids)); err != nil {
		return chain.Pending{}, err
	}
	m.listed.node, m.listed.tip, m.listed.at, m.listed.took = r.node, r.tip, r.clock(), took
	return m.picture(r)
}

// recent reports whether the last listing still serves.
func (m *mempool) recent(r reading) bool {
	rest := listingRest * m.listed.took
	if m.hurried(false) {
		rest = urgentRest * m.listed.took
	}
	return m.listed.took >= r.pace.quick && m.listed.node == r.node && m.listed.tip == r.tip && r.clock().Sub(m.listed.at) < rest
}

// news notes what is listed, forgets what isn't any more, and gives what must be fetched.
func (m *mempool) news(ids []chainhash.Hash) (unknown []chainhash.Hash) {
	listed := make(map[chainhash.Hash]bool, len(m.held))
	for _, id := range ids {
		key := maphash.Bytes(m.seed, id[:])
		tx, ok := m.known[key]
		if !ok {
			tx.first = m.reading
		}
		if !tx.fetched && tx.last != m.reading {
			unknown = append(unknown, id)
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
	return unknown
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
		ids = ids[len(some):]
		if m.bytes > heldBytes && len(ids) > 0 {
			return m.progress(r.node, len(ids))
		}
	}
	return ctx.Err()
}

// take looks at a transaction and holds it if it may matter.
func (m *mempool) take(r reading, id chainhash.Hash, raw []byte) error {
	tx, err := ParseTx(raw, r.params, r.watch)
	if err == nil && tx.ID != id.String() {
		err = fmt.Errorf("transaction %s came for %s", tx.ID, id)
	}
	if err != nil {
		return damaged("a transaction", err)
	}
	key := maphash.Bytes(m.seed, id[:])
	known := m.known[key]
	known.fetched = true
	m.known[key] = known
	if known.first == m.reading || concerns(tx) {
		m.held[id] = heldTx{raw, r.clock(), m.reading}
		m.bytes += len(raw)
	}
	return nil
}

// concerns reports whether a watch asked for something in the transaction.
func concerns(tx Tx) bool { return len(tx.Transfers) > 0 || len(tx.Spends) > 0 }

func (m *mempool) drop(id chainhash.Hash) {
	m.bytes -= len(m.held[id].raw)
	delete(m.held, id)
}

// progress is the problem while a big mempool is not read to its end.
func (m *mempool) progress(n *node, left int) error {
	return n.problem(troubled(nil, "has a big mempool, of which %d of %d transactions are still to be read. Nothing needs to be done.",
		left, len(m.known)))
}

// picture matches what is held against the watch as it is now.
func (m *mempool) picture(r reading) (chain.Pending, error) {
	var p chain.Pending
	now := r.clock()
	for id, held := range m.held {
		tx, err := ParseTx(held.raw, r.params, r.watch)
		if err != nil {
			return chain.Pending{}, damaged("a transaction", err)
		}
		p.Transfers, p.Spends = append(p.Transfers, tx.Transfers...), append(p.Spends, tx.Spends...)
		young := now.Sub(held.since) < r.pace.fresh || m.reading-held.reading < 2
		if !concerns(tx) && !young {
			m.drop(id)
		}
	}
	return p, nil
}
