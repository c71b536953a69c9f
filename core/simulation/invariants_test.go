package simulation_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"cointill/chain"
	"cointill/core/journal/journaltest"
	"cointill/core/money"
	"cointill/models"
)

// homeOfTransfer is the network that has the address of a transfer: that of Ethereum for all of its kind.
var homeOfTransfer = func() string {
	var codes []string
	for _, code := range money.ListNetworks() {
		if code.IsEVM() {
			codes = append(codes, fmt.Sprintf("'%s'", chain.Sandbox(code)))
		}
	}
	return fmt.Sprintf("CASE WHEN t.network IN (%s) THEN '%s' ELSE t.network END", strings.Join(codes, ", "),
		chain.Sandbox(money.Ethereum))
}()

// queries count what breaks an invariant; each must give 0 at the end of a run.
var queries = []struct{ invariant, sql string }{
	{"1 a transfer is stored once", "SELECT COUNT(*) FROM (SELECT 1 FROM transfers GROUP BY network, tx_id, idx HAVING COUNT(*) > 1) AS d"},
	{"2 a transfer is its destination's", `SELECT COUNT(*) FROM transfers t WHERE t.payment_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM destinations d
		WHERE d.payment_id = t.payment_id AND d.network = ` + homeOfTransfer + `
		AND d.address = t.address AND d.tag = COALESCE(t.tag, -1))
		AND NOT EXISTS (SELECT 1 FROM audits a WHERE a.action = 'transfer.attached' AND a.detail LIKE '%' || t.tx_id || '%')`},
	{"3 a destination is given out once", "SELECT COUNT(*) FROM (SELECT 1 FROM destinations GROUP BY network, address, tag HAVING COUNT(*) > 1) AS d"},
	{"5 one event of success", `SELECT COUNT(*) FROM payments p WHERE (CASE WHEN p.status = 'successful' THEN 1 ELSE 0 END) <>
		(SELECT COUNT(*) FROM events e WHERE e.payment_id = p.id AND e.type = 'payment.successful')`},
	{"6 declined says why", "SELECT COUNT(*) FROM payments WHERE status = 'declined' AND (remark = '-' OR reason = '')"},
	{"7 events have no gap", "SELECT COUNT(*) FROM (SELECT 1 FROM events WHERE payment_id IS NOT NULL GROUP BY payment_id HAVING COUNT(*) <> MAX(sequence) OR MIN(sequence) <> 1) AS d"},
	{"7 the timeline has no gap", "SELECT COUNT(*) FROM (SELECT 1 FROM steps GROUP BY payment_id HAVING COUNT(*) <> MAX(number) OR MIN(number) <> 1) AS d"},
	{"7 the last event's number", "SELECT COUNT(*) FROM payments p WHERE p.sequence <> COALESCE((SELECT MAX(sequence) FROM events e WHERE e.payment_id = p.id), 0)"},
	{"7 the last step is the state", `SELECT COUNT(*) FROM payments p WHERE p.status <> (SELECT s.to_status FROM steps s WHERE s.payment_id = p.id AND s.kind = 'state' ORDER BY s.number DESC LIMIT 1)`},
	{"10 every delivery ends", "SELECT COUNT(*) FROM deliveries WHERE done_at IS NULL OR outcome NOT IN ('delivered', 'exhausted', 'cancelled')"},
	{"12 one receipt for a success", `SELECT COUNT(*) FROM payments p WHERE (CASE WHEN p.status = 'successful' THEN 1 ELSE 0 END) <>
		(SELECT COUNT(*) FROM mails m WHERE m.kind = 'receipt' AND m.payment_id = p.id)`},
	{"13 a merchant's reference is used once", "SELECT COUNT(*) FROM (SELECT 1 FROM payments GROUP BY business_id, domain, business_reference HAVING COUNT(*) > 1) AS d"},
	{"13 a key is used once", "SELECT COUNT(*) FROM (SELECT 1 FROM idempotencies GROUP BY business_id, domain, key_hash HAVING COUNT(*) > 1) AS d"},
	{"13 a key has its answer", "SELECT COUNT(*) FROM idempotencies WHERE status <> 201"},
	{"14 one domain along the way", `SELECT COUNT(*) FROM payments p LEFT JOIN destinations d ON d.payment_id = p.id LEFT JOIN events e ON e.payment_id = p.id
		LEFT JOIN deliveries v ON v.event_id = e.id LEFT JOIN endpoints w ON w.id = v.endpoint_id
		WHERE d.domain <> p.domain OR e.domain <> p.domain OR v.domain <> p.domain OR w.domain <> p.domain`},
	{"15 amounts in bounds", "SELECT COUNT(*) FROM payments WHERE amount < 1 OR amount > 1000000"},
	{"16 every payment has its quote", "SELECT COUNT(*) FROM payments WHERE quote IN ('', '{}') OR price IN ('', '0')"},
	{"17 blocks are a chain", "SELECT COUNT(*) FROM chain_blocks b JOIN chain_blocks p ON p.network = b.network AND p.height = b.height - 1 WHERE b.parent <> p.hash"},
	{"17 blocks have no gap", "SELECT COUNT(*) FROM (SELECT 1 FROM chain_blocks GROUP BY network HAVING COUNT(*) <> MAX(height) - MIN(height) + 1) AS d"},
	{"17 the cursor is the last block", "SELECT COUNT(*) FROM chain_cursors c WHERE NOT EXISTS (SELECT 1 FROM chain_blocks b WHERE b.network = c.network AND b.height = c.height AND b.hash = c.hash)"},
	{"18 a transfer's block is on the chain", `SELECT COUNT(*) FROM transfers t WHERE t.height IS NOT NULL AND NOT EXISTS (SELECT 1 FROM chain_blocks b
		WHERE b.network = t.network AND b.height = t.height AND b.hash = t.block_hash)`},
	{"19 unmatched money is open, or was refunded",
		"SELECT COUNT(*) FROM transfers WHERE unmatched <> '' AND resolution = 'attached'"},
	{"20 nothing of another business", `SELECT COUNT(*) FROM payments p LEFT JOIN destinations d ON d.payment_id = p.id LEFT JOIN transfers t ON t.payment_id = p.id
		LEFT JOIN events e ON e.payment_id = p.id LEFT JOIN deliveries v ON v.event_id = e.id LEFT JOIN endpoints w ON w.id = v.endpoint_id
		WHERE d.business_id <> p.business_id OR t.business_id <> p.business_id OR e.business_id <> p.business_id OR v.business_id <> p.business_id OR w.business_id <> p.business_id`},
	{"23 times are in order", "SELECT COUNT(*) FROM payments WHERE opened_at < created_at OR first_seen_at < opened_at OR settled_at < created_at OR updated_at < settled_at"},
	{"24 expired was never opened", "SELECT COUNT(*) FROM payments WHERE status = 'expired' AND (opened_at IS NOT NULL OR address <> '' OR settled_at <= expires_at)"},
	{"24 abandoned after 24 hours, without money that was known", `SELECT COUNT(*) FROM payments p WHERE p.status = 'abandoned' AND (p.settled_at <= p.abandons_at OR
		EXISTS (SELECT 1 FROM transfers t WHERE t.payment_id = p.id AND t.unmatched = '' AND t.resolution = '' AND t.seen_at <= p.abandons_at AND (t.created_at < p.abandoned_at OR
		t.created_at = p.abandoned_at AND EXISTS (SELECT 1 FROM steps s JOIN steps e ON e.payment_id = s.payment_id AND e.number > s.number
		WHERE s.payment_id = p.id AND s.kind = 'transfer' AND s.created_at = t.created_at AND e.kind = 'state' AND e.to_status = 'abandoned'
		AND e.created_at = p.abandoned_at))))`},
	{"25 no write is of a later holder than there is", "SELECT COUNT(*) FROM chain_cursors c JOIN leases l ON 'follow ' || REPLACE(c.network, 'sandbox-', '') = l.name WHERE c.fence > l.fence"},
}

// table is the contract's: the changes of state that there may be.
var table = strings.Fields(`>pending pending>initiated pending>expired initiated>processing initiated>abandoned initiated>failed
	processing>successful processing>declined processing>initiated processing>abandoned processing>failed abandoned>processing declined>successful`)

// judge holds the end of a run against the invariants and the model.
func (w *world) judge() {
	ctx, db := w.t.Context(), w.replicas[1].DB
	for _, q := range queries {
		var n int64
		w.must(db.Read(ctx).Raw(q.sql).Scan(&n).Error)
		if n > 0 {
			w.find("invariant %s: broken %d times", q.invariant, n)
		}
	}
	differences, err := journaltest.Compare(ctx, db)
	w.must(err)
	for _, d := range differences {
		w.find("invariant 26: %s", d)
	}
	w.booksOfOwner(db)
	w.checkBooksOfNetworks(db)
	w.edges(db)
	for _, n := range w.chains {
		n.conserved(db)
	}
	for _, s := range w.shops {
		verdict, err := w.replicas[1].Audits.VerifyChain(ctx, s.id, 0)
		w.must(err)
		if verdict.Broken != "" {
			w.find("invariant 21: %s", verdict.Broken)
		}
	}
	var rows []models.Payment
	w.must(db.Read(ctx).Order("id").Find(&rows).Error)
	byReference := map[string]models.Payment{}
	for _, p := range rows {
		byReference[p.BusinessReference] = p
		if p.Due.Sign() <= 0 {
			w.find("invariant 15: payment %s is due %s", p.BusinessReference, p.Due)
		}
	}
	if len(rows) != len(w.customers) {
		w.find("%d payments of %d customers", len(rows), len(w.customers))
	}
	w.told(db, byReference)
	if w.size.sends > 0 {
		w.judgeOrders()
	}
	for _, c := range w.customers {
		c.compare(byReference[c.reference])
		c.checkRestored(db, byReference[c.reference])
		c.rest(db, byReference[c.reference])
		c.checkCredits(db, byReference[c.reference])
		w.say("%s: %s", c.reference, byReference[c.reference].Status)
	}
	w.counts["payments"] += len(rows)
}

// checkRestored finds a payment that is still reversed although all of its money is on the chain again.
func (c *customer) checkRestored(db *models.DB, p models.Payment) {
	if !p.Reversed {
		return
	}
	var counted []models.Transfer
	c.must(db.Read(c.t.Context()).Where("payment_id = ? AND unmatched = '' AND height IS NOT NULL AND NOT reverted AND NOT gone", p.ID).Find(&counted).Error)
	sum := new(big.Int)
	for _, t := range counted {
		sum.Add(sum, t.Amount.Big())
	}
	if sum.Cmp(p.Paid.Big()) >= 0 {
		c.find("payment %d is reversed, and %s of %s is on the chain again", c.number, sum, p.Paid)
	}
}

// edges holds every change of state against the contract's table (7, 8, 27).
func (w *world) edges(db *models.DB) {
	var steps []models.Step
	w.must(db.Read(w.t.Context()).Where("kind = 'state'").Order("payment_id, number").Find(&steps).Error)
	at, reversed := map[int64]string{}, map[int64]bool{}
	for _, s := range steps {
		edge := s.From + ">" + s.To
		flagged := edge == "successful>successful" && (s.Reason == "reversed") == !reversed[s.PaymentID]
		if s.From != at[s.PaymentID] || !slices.Contains(table, edge) && !flagged {
			w.find("invariant 7: %q (%s) after %q", edge, s.Reason, at[s.PaymentID])
		}
		reversed[s.PaymentID] = edge == "successful>successful" && s.Reason == "reversed"
		if edge == "declined>successful" && s.Actor == "system" {
			w.find("invariant 8: accepted by nobody")
		}
		at[s.PaymentID] = s.To
		w.count("edge " + edge)
	}
}

// conserved holds every transfer in the database against what is on the best
// chain for the addresses that were given out (19), with its block (18).
func (n *network) conserved(db *models.DB) {
	places := map[string]bool{}
	for _, c := range n.customers {
		if place := c.places[n.home]; place.Address != "" {
			places[place.Address] = true
		}
	}
	var want, got []string
	for _, b := range n.now.blocks {
		for _, t := range b.txs {
			for i, out := range t.Outputs {
				if places[out.Address] {
					want = append(want, fmt.Sprint(t.id, " ", i, " ", out.Asset, " ", out.Amount, " ", b.Height, " ", b.Hash, " ", t.Reverted))
				}
			}
		}
	}
	var rows []models.Transfer
	n.must(db.Read(n.t.Context()).Where("network = ? AND height IS NOT NULL AND send_id IS NULL", string(n.name)).Find(&rows).Error)
	for _, r := range rows {
		got = append(got, fmt.Sprint(r.TxID, " ", r.Index, " ", r.Asset, " ", r.Amount, " ", *r.Height, " ", r.BlockHash, " ", r.Reverted))
		if r.PaymentID == nil && r.Unmatched == "" {
			n.find("invariant 19: a transfer is nobody's and not listed")
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		n.find("invariant 19: %s has %d transfers to us, and the database %d: %s", n.kind, len(want), len(got), firstDifference(want, got))
	}
	n.counts["transfers"] += len(rows)
}

func firstDifference(want, got []string) string {
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || want[i] != got[i] {
			return fmt.Sprintf("at %d: want %v, got %v", i, want[min(i, len(want)):min(i+1, len(want))], got[min(i, len(got)):min(i+1, len(got))])
		}
	}
	return ""
}

// rest holds what came to a payment beyond what it was settled with: all of it
// is listed (4, 19).
func (c *customer) rest(db *models.DB, p models.Payment) {
	f := c.expect()
	if f.deep || c.opened.IsZero() || c.attached {
		return
	}
	var rows []models.Transfer
	c.must(db.Read(c.t.Context()).Where("payment_id = ? AND height IS NOT NULL AND NOT reverted AND asset = ?", p.ID, p.Coin).Find(&rows).Error)
	counted, listed := new(big.Int), new(big.Int)
	for _, r := range rows {
		if r.Unmatched == "" {
			counted.Add(counted, r.Amount.Big())
		} else {
			listed.Add(listed, r.Amount.Big())
		}
	}
	if counted.Cmp(p.Paid.Big()) != 0 {
		c.find("invariant 4: payment %d (%s): paid %s, and %s counts", c.number, p.Status, p.Paid, counted)
	}
	if counted.Add(counted, listed).Cmp(f.sum) != 0 {
		c.find("invariant 19: payment %d: %s came, and %s is credited or listed", c.number, f.sum, counted)
	}
}

// swept looks at a world whose deadlines were just swept: no payment is behind
// what is known of its money, unless it is about to be looked at again.
func (w *world) swept(r *replica) {
	var n int64
	w.must(r.DB.Read(w.t.Context()).Raw(`SELECT COUNT(*) FROM payments p WHERE p.status IN ('initiated', 'abandoned') AND (p.due_at IS NULL OR p.due_at > ?)
		AND EXISTS (SELECT 1 FROM transfers t WHERE t.payment_id = p.id AND t.unmatched = '' AND t.height IS NOT NULL AND NOT t.gone AND NOT t.reverted)`,
		w.clock.Now().Add(time.Minute)).Scan(&n).Error)
	if n > 0 {
		w.find("%d payments have confirmed money and are not processing", n)
	}
	w.must(r.DB.Read(w.t.Context()).Raw(`SELECT COUNT(*) FROM payments p WHERE p.status = 'processing' AND (p.due_at IS NULL OR p.due_at > ?)
		AND NOT EXISTS (SELECT 1 FROM transfers t WHERE t.payment_id = p.id AND t.unmatched = '' AND t.height IS NOT NULL AND NOT t.gone AND NOT t.reverted)`,
		w.clock.Now().Add(time.Minute)).Scan(&n).Error)
	if n > 0 {
		w.find("%d payments are processing without confirmed money", n)
	}
	w.must(r.DB.Read(w.t.Context()).Raw("SELECT COUNT(*) FROM payments WHERE status = 'pending' AND created_at < ? AND (due_at IS NULL OR due_at > ?)",
		w.clock.Now().Add(-7*time.Minute), w.clock.Now().Add(time.Minute)).Scan(&n).Error)
	if n > 0 {
		w.find("invariant 24: %d payments that nobody opened are older than 7 minutes and not expired", n)
	}
}

// looked looks at payments whose network was just read to its end: one that nothing was
// ever sent to, and whose 24 hours are over, is abandoned, unless it is about to be looked
// at again.
func (w *world) looked(n *network) {
	for _, c := range w.customers {
		_, shown := c.shown[n.kind]
		if !shown || !w.clock.Now().After(c.abandons()) || c.ended || c.attached || len(c.coming()) > 0 {
			continue
		}
		if c.read[n.kind] = w.clock.Now(); len(c.read) < len(c.shown) {
			continue // the others are waited for
		}
		var p models.Payment
		w.must(w.replicas[0].DB.Read(w.t.Context()).Select("id, status, due_at").Where("business_reference = ?", c.reference).Take(&p).Error)
		c.ended = p.Status == "abandoned"
		if !c.ended && (p.DueAt == nil || p.DueAt.After(w.clock.Now().Add(time.Minute))) {
			w.find("invariant 24: payment %d was opened, nothing came in 24 hours, its network was read after them, and it is %s", c.number, p.Status)
		}
	}
}

// watch looks at a running world after each step: a payment that has just
// succeeded has what it was asked for, as deep as the contract says (5), and no network is
// written by an older holder of its lease than before (25).
func (w *world) watch() {
	ctx, db := w.t.Context(), w.replicas[0].DB
	if w.ended != nil {
		w.looked(w.ended)
		w.ended = nil
	}
	var cursors []models.ChainCursor
	w.must(db.Read(ctx).Find(&cursors).Error)
	for _, c := range cursors {
		if c.Fence < w.fences[c.Network] {
			w.find("invariant 25: %s was written under fence %d after %d", c.Network, c.Fence, w.fences[c.Network])
		}
		w.fences[c.Network] = c.Fence
	}
	if len(w.orders) > 0 {
		w.watchSends(w.watched, cursors)
	}
	var rows []models.Payment
	w.must(db.Read(ctx).Select("id, business_reference, reason, network, coin").Where("status = 'successful' AND settled_at >= ?", w.watched).Find(&rows).Error)
	w.watched = w.clock.Now()
	for _, p := range rows {
		c := w.findCustomer(p.BusinessReference)
		if c.watched || c.accepted || p.Reason == "accepted_by_user" {
			continue
		}
		c.watched = true
		var transfers []models.Transfer
		w.must(db.Read(ctx).Where("payment_id = ? AND unmatched = '' AND NOT gone", p.ID).Find(&transfers).Error)
		sum := new(big.Int)
		for _, t := range transfers {
			n := w.nets[chain.Network(t.Network).Code()]
			at := cursors[slices.IndexFunc(cursors, func(c models.ChainCursor) bool { return c.Network == t.Network })]
			if t.Height == nil || t.Reverted || t.Asset != p.Coin {
				continue
			}
			// The network may say that a block is final before the blocks above it were read.
			if at.Height-*t.Height+1 >= c.depth(n) || *t.Height <= n.now.finalized {
				sum.Add(sum, t.Amount.Big())
			}
		}
		least, most := c.bounds()
		if sum.Cmp(least) < 0 || sum.Cmp(most) > 0 {
			text, _ := json.Marshal(transfers)
			w.find("invariant 5: payment %d (%s, %d USD) is successful with %s final of %s: %s, at %+v", c.number,
				c.coin.Coin, c.amount, sum, c.due, text, cursors)
		}
	}
}
