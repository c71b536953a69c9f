package simulation_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cointill/core/money"
	"cointill/core/send"
	"cointill/models"
)

// sendQueries count what breaks an invariant of sends; each must give 0 at the end of a run.
var sendQueries = []struct{ invariant, sql string }{
	{"29 a transfer pays its send exactly", `SELECT COUNT(*) FROM transfers t JOIN sends s ON s.id = t.send_id
		WHERE t.network <> s.network OR t.asset <> s.coin OR t.amount <> s.amount OR t.address <> s.address
		OR COALESCE(t.tag, -1) <> COALESCE(s.tag, -1)`},
	{"31 paid by a transfer", `SELECT COUNT(*) FROM sends s WHERE s.status IN ('processing', 'successful', 'failed')
		AND NOT EXISTS (SELECT 1 FROM transfers t WHERE t.send_id = s.id)`},
	{"31 successful on the chain", `SELECT COUNT(*) FROM sends s WHERE s.status = 'successful' AND NOT s.reversed
		AND NOT EXISTS (SELECT 1 FROM transfers t WHERE t.send_id = s.id AND t.tx_id = s.hash
		AND t.height IS NOT NULL AND NOT t.gone AND NOT t.reverted)`},
	{"31 not paid where a transaction lives", `SELECT COUNT(*) FROM sends s WHERE s.status NOT IN ('processing', 'successful')
		AND EXISTS (SELECT 1 FROM transfers t WHERE t.send_id = s.id AND NOT t.gone AND NOT t.reverted)`},
	{"31 signed before it was approved", `SELECT COUNT(*) FROM sends s WHERE s.ready_at IS NULL
		AND (s.signing_at IS NOT NULL OR s.hash <> '')`},
	{"33 events of sends have no gap", `SELECT COUNT(*) FROM (SELECT 1 FROM events WHERE send_id IS NOT NULL
		GROUP BY send_id HAVING COUNT(*) <> MAX(sequence) OR MIN(sequence) <> 1) AS d`},
	{"33 a send's last event has its number", `SELECT COUNT(*) FROM sends s
		WHERE s.sequence <> COALESCE((SELECT MAX(sequence) FROM events e WHERE e.send_id = s.id), 0)`},
	{"33 one event of success of a send", `SELECT COUNT(*) FROM sends s
		WHERE (CASE WHEN s.status = 'successful' THEN 1 ELSE 0 END) <>
		(SELECT COUNT(*) FROM events e WHERE e.send_id = s.id AND e.type = 'send.successful')`},
	{"33 a send's timeline has no gap", `SELECT COUNT(*) FROM sends s
		WHERE s.steps <> (SELECT COUNT(*) FROM send_steps p WHERE p.send_id = s.id)
		OR s.steps <> (SELECT MAX(number) FROM send_steps p WHERE p.send_id = s.id)`},
	{"33 a send's last step is its state", `SELECT COUNT(*) FROM sends s
		WHERE s.status <> (SELECT p.to_status FROM send_steps p WHERE p.send_id = s.id ORDER BY p.number DESC LIMIT 1)`},
	{"14 one domain along the way of a send", `SELECT COUNT(*) FROM sends s LEFT JOIN events e ON e.send_id = s.id
		LEFT JOIN deliveries v ON v.event_id = e.id LEFT JOIN endpoints w ON w.id = v.endpoint_id
		WHERE e.domain <> s.domain OR v.domain <> s.domain OR w.domain <> s.domain`},
	{"20 nothing of another business in a send", `SELECT COUNT(*) FROM sends s LEFT JOIN payments p ON p.id = s.payment_id
		LEFT JOIN events e ON e.send_id = s.id LEFT JOIN deliveries v ON v.event_id = e.id
		LEFT JOIN endpoints w ON w.id = v.endpoint_id
		WHERE p.business_id <> s.business_id OR e.business_id <> s.business_id OR v.business_id <> s.business_id
		OR w.business_id <> s.business_id`},
}

// sendTable is the contract's section 7: the changes of a send's state that there may be.
var sendTable = strings.Fields(`>awaiting_destination >awaiting_approval
	awaiting_destination>awaiting_approval awaiting_destination>expired awaiting_destination>rejected
	awaiting_destination>cancelled
	awaiting_approval>ready awaiting_approval>rejected awaiting_approval>cancelled awaiting_approval>processing
	awaiting_approval>successful
	ready>processing ready>successful ready>failed ready>cancelled ready>expired
	processing>successful processing>failed failed>processing failed>successful failed>ready
	failed>awaiting_approval failed>cancelled
	cancelled>processing cancelled>successful expired>processing expired>successful`)

// judgeOrders holds the sends of a run against the invariants and the model.
func (w *world) judgeOrders() {
	ctx, db := w.t.Context(), w.replicas[1].DB
	for _, q := range sendQueries {
		var n int64
		w.must(db.Read(ctx).Raw(q.sql).Scan(&n).Error)
		if n > 0 {
			w.find("invariant %s: broken %d times", q.invariant, n)
		}
	}
	var rows []models.Send
	var transfers []models.Transfer
	w.must(db.Read(ctx).Order("id").Find(&rows).Error)
	w.must(db.Read(ctx).Where("send_id IS NOT NULL").Order("id").Find(&transfers).Error)
	of := map[int64][]models.Transfer{}
	for _, t := range transfers {
		of[*t.SendID] = append(of[*t.SendID], t)
	}
	if len(rows) != len(w.orders) {
		w.find("%d sends, and merchants asked for %d", len(rows), len(w.orders))
	}
	for _, row := range rows {
		o := w.orderOf(row)
		w.heldTo(row, of[row.ID])
		o.judgeOrder(row)
		w.say("%s: %s %s", row.BusinessReference, row.Status, row.Reason)
		w.count("sends: " + row.Kind + "s")
		if !slices.Contains(money.Chains(), o.coin.Chain) {
			w.count("sends: " + row.Kind + "s on further networks")
		}
	}
	w.booked(rows, of)
	w.counts["sends"] += len(rows)
	w.counts["transfers of sends"] += len(transfers)
}

// orderOf is what the merchant asked for with a row.
func (w *world) orderOf(row models.Send) *order {
	var number int
	_, err := fmt.Sscanf(row.BusinessReference, "send-%d", &number)
	w.must(err)
	return w.orders[number]
}

// heldTo holds the transactions that are credited to a send against those on the chain that pay it (29): of the
// business's own wallet, and each in the block that holds it.
func (w *world) heldTo(row models.Send, credited []models.Transfer) {
	o := w.orderOf(row)
	n := w.nets[o.coin.Chain]
	if row.Network != string(n.name) {
		w.find("send %d is of %s on %s, and is stored on %s", o.number, row.Coin, n.name, row.Network)
	}
	var own []*coinTx
	for _, one := range o.twins() {
		own = append(own, one.paying()...)
	}
	for _, t := range credited {
		tx := n.byID[t.TxID]
		switch b := n.where(tx); {
		case !slices.Contains(own, tx):
			w.find("invariant 29: send %d is paid by %s, which its wallet never sent", o.number, t.TxID)
		case (b == nil) != (t.Height == nil) || b != nil && (b.Height != *t.Height || b.Hash != t.BlockHash):
			w.find("invariant 29: send %d is paid by %s in block %v, which isn't its place on the chain", o.number, t.TxID,
				t.Height)
		}
	}
}

// watchSends looks at the sends that were changed since a time, after each step.
func (w *world) watchSends(since time.Time, cursors []models.ChainCursor) {
	var rows []models.Send
	ctx, db := w.t.Context(), w.replicas[0].DB
	w.must(db.Read(ctx).Where("updated_at >= ?", since).Order("id").Find(&rows).Error)
	for _, row := range rows {
		o := w.orderOf(row)
		if o.id == 0 {
			o.id, o.code, o.base, o.content, o.value = row.ID, row.Reference, row.Status, describeSend(row), row.ValueUSD
			o.need = o.needs()
			w.checkReserved(row)
		}
		if row.ReadyAt != nil && !row.ReadyAt.Equal(o.readyAt) {
			o.becomesReady(row)
		}
		state := row.Status + " " + row.Reason
		if state == o.state || row.DueAt != nil && !row.DueAt.After(w.clock.Now().Add(time.Minute)) {
			continue // it is about to be evaluated
		}
		o.state = state
		var transfers []models.Transfer
		w.must(db.Read(ctx).Where("send_id = ?", row.ID).Order("id").Find(&transfers).Error)
		for _, c := range cursors {
			if c.Network == row.Network {
				o.checkEvidence(row, transfers, c)
			}
		}
	}
}

// becomesReady looks at a send that was just approved for the last time, or tried again (30, 32).
func (o *order) becomesReady(row models.Send) {
	content := describeSend(row)
	if n, need := o.agreeing(content), max(o.need, o.needs()); n < need && !o.retrying {
		o.find("invariant 32: send %d is ready as %q, to which %d people agreed, want %d", o.number, content, n, need)
	}
	o.readyAt, o.ready, o.base = *row.ReadyAt, content+" "+row.Amount.String(), string(send.Ready)
	o.checkReserved(row)
	if rules := o.shop.sendRules; rules.DayLimit > 0 && !o.retrying {
		var sum int64
		o.must(o.replicas[0].DB.Read(o.t.Context()).Model(&models.Send{}).
			Where("business_id = ? AND ready_at > ?", o.shop.id, row.ReadyAt.Add(-24*time.Hour)).
			Select("COALESCE(SUM(value_usd), 0)").Scan(&sum).Error)
		if sum > rules.DayLimit {
			o.find("invariant 32: with send %d %d cents were approved in 24 hours, of %d", o.number, sum, rules.DayLimit)
		}
	}
}

// checkReserved sums up the refunds of the money that a send is of, which was just asked for or approved (30).
func (w *world) checkReserved(row models.Send) {
	ctx, db := w.t.Context(), w.replicas[0].DB
	var most money.Amount
	query := db.Read(ctx).Where("status NOT IN ('rejected', 'cancelled', 'expired')").
		Where("NOT (reversed AND reason IN ('replaced', 'reverted'))")
	switch {
	case row.TransferID != nil:
		var t models.Transfer
		w.must(db.Read(ctx).Where("id = ?", *row.TransferID).Take(&t).Error)
		most, query = t.Amount, query.Where("transfer_id = ?", t.ID)
	case row.PaymentID != nil:
		var p models.Payment
		w.must(db.Read(ctx).Where("id = ?", *row.PaymentID).Take(&p).Error)
		most, query = p.Paid, query.Where("payment_id = ? AND transfer_id IS NULL", p.ID)
	default:
		return
	}
	var open []models.Send
	w.must(query.Find(&open).Error)
	sum := money.Amount{}
	for _, one := range open {
		sum = sum.Add(one.Amount)
	}
	if sum.Cmp(most) > 0 {
		w.find("invariant 30: with send %s (%s) %s of %s is refunded", row.BusinessReference, row.Status, sum, most)
	}
}

// checkEvidence finds a state that no evidence is there for (31).
func (o *order) checkEvidence(row models.Send, transfers []models.Transfer, cursor models.ChainCursor) {
	now := o.clock.Now().Add(time.Duration(row.Advanced) * time.Second)
	deep := func(height *int64) bool {
		return height != nil && cursor.Height-*height+1 >= int64(row.FinalDepth) &&
			(!row.FinalByNetwork || *height <= cursor.Finalized)
	}
	lives := slices.ContainsFunc(transfers, func(t models.Transfer) bool { return !t.Gone && !t.Reverted })
	broken := func(why string) {
		o.find("invariant 31: send %d is %s (%s) at block %d, and %s: %s", o.number, row.Status, row.Reason,
			cursor.Height, why, describeEvidence(transfers))
	}
	switch row.Status {
	case "processing":
		if len(transfers) == 0 {
			broken("no transaction pays it")
		}
	case "successful": // where a final block was undone, a block of the new branch is enough
		undone := slices.ContainsFunc(o.txs, func(t *coinTx) bool { return t.cut >= o.depth })
		final := slices.ContainsFunc(transfers, func(t models.Transfer) bool {
			return (deep(t.Height) || undone && t.Height != nil) && !t.Gone && !t.Reverted
		})
		if !row.Reversed && !final {
			broken("none is final")
		}
	case "failed":
		why := map[string]bool{}
		for _, t := range transfers {
			why[send.Reverted] = why[send.Reverted] || t.Reverted && !t.Gone && deep(t.Height)
			why[send.Replaced] = why[send.Replaced] || t.Gone && deep(t.ConflictHeight)
			why[send.Dropped] = why[send.Dropped] ||
				t.Gone && t.GoneAt != nil && !now.Before(t.GoneAt.Add(droppedAfter))
		}
		if lives || !why[row.Reason] {
			broken("its transactions say otherwise")
		}
	case "ready", "awaiting_approval", "awaiting_destination", "rejected", "cancelled", "expired":
		if lives {
			broken("a transaction pays it")
		}
		if row.Status == "expired" && now.Before(row.ExpiresAt) {
			broken("its time isn't over")
		}
	}
}

// describeEvidence writes where the chain has the transactions of a send.
func describeEvidence(transfers []models.Transfer) string {
	texts := make([]string, len(transfers))
	for i, t := range transfers {
		texts[i] = t.TxID
		if t.Height != nil {
			texts[i] += fmt.Sprintf(", in block %d", *t.Height)
		}
		if t.Reverted {
			texts[i] += ", reverted"
		}
		if t.Gone {
			texts[i] += fmt.Sprintf(", gone (%s) at %s", t.GoneReason, t.GoneAt)
		}
		if t.ConflictHeight != nil {
			texts[i] += fmt.Sprintf(", its money is spent in block %d", *t.ConflictHeight)
		}
	}
	return strings.Join(texts, "; ")
}

// sendsSwept looks at a world whose sends were just swept: none is behind its deadline, unless it is about to be
// looked at again.
func (w *world) sendsSwept(r *replica) {
	w.sweptAt = w.clock.Now()
	var n int64
	w.must(r.DB.Read(w.t.Context()).Raw(`SELECT COUNT(*) FROM sends s
		WHERE s.status IN ('ready', 'awaiting_destination') AND s.advanced = 0 AND s.expires_at <= ?
		AND (s.due_at IS NULL OR s.due_at > ?) AND NOT EXISTS (SELECT 1 FROM transfers t WHERE t.send_id = s.id)`,
		w.clock.Now(), w.clock.Now().Add(time.Minute)).Scan(&n).Error)
	if n > 0 {
		w.find("invariant 31: %d sends are older than they may be, and not expired", n)
	}
}
