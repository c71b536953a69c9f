package payment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"cointill/chain"
	"cointill/core/clock"
	"cointill/core/idempotency"
	"cointill/core/journal"
	"cointill/core/mail"
	"cointill/core/money"
	"cointill/core/notification"
	"cointill/core/payment/place"
	"cointill/core/payment/timeline"
	"cointill/core/scope"
	"cointill/core/settings"
	"cointill/core/stats"
	"cointill/core/webhook"
	"cointill/models"
)

// noRemark is what the interface gives when there is no remark.
const noRemark = "-"

// ReadRemark returns the remark of a payment; "" when there is none.
func ReadRemark(p models.Payment) string {
	if p.Remark == noRemark {
		return ""
	}
	return p.Remark
}

// The kinds of timeline rows.
const (
	StepState    = "state"    // a change of state
	StepTransfer = "transfer" // a transfer was first seen, or came back after the end
	StepNote     = "note"     // something a person or the sandbox did
)

// LoadPayment reads a payment with its business, customer, transfers and network, and locks
// its row until the transaction ends. On PostgreSQL the lock is a statement of its own and
// comes first: the rows of one statement are as old as its start, before it waited for the
// lock.
func (s *Service) LoadPayment(tx *models.Tx, id int64) (*View, error) {
	views, err := s.loadPayments(tx, []int64{id})
	if err != nil {
		return nil, err
	}
	return views[0], nil
}

// loadPayments is LoadPayment for several payments. It locks their rows in the order of their ids.
func (s *Service) loadPayments(tx *models.Tx, ids []int64) ([]*View, error) {
	if models.IsPostgres(tx) {
		if err := tx.Exec("SELECT id FROM payments WHERE id IN ? ORDER BY id FOR NO KEY UPDATE", ids).Error; err != nil {
			return nil, err
		}
	}
	views, err := s.readViews(tx.Where("payments.id IN ?", ids).Order("payments.id"))
	if err == nil && len(views) < len(ids) {
		err = gorm.ErrRecordNotFound
	}
	return views, err
}

// ChangePayment loads a payment and changes it in one transaction, and returns its reference. Each request changes it
// at most once, see package idempotency.
func (s *Service) ChangePayment(ctx context.Context, p models.Payment,
	change func(tx *models.Tx, v *View) error) (reference string, err error) {
	reference, err = idempotency.Do(ctx, s.DB, func(tx *models.Tx) (string, error) {
		v, err := s.LoadPayment(tx, p.ID)
		if err == nil {
			err = change(tx, v)
		}
		return p.Reference, err
	})
	if err == nil {
		s.SignalChange()
	}
	return reference, err
}

// readViews reads the views of the payments that a query selects: one round trip for the four
// rows that every view needs, one more for transfers when any has an address.
func (s *Service) readViews(query *models.Tx) ([]*View, error) {
	var v View
	var read *time.Time
	p := &v.Payment
	columns, into, err := models.Columns(query, p)
	if err != nil {
		return nil, err
	}
	query = models.Select(query.Model(p),
		columns+`, businesses.code, businesses.name, businesses.time_zone, businesses.receipts_enabled,
		businesses.contact_email, businesses.support_url, businesses.logo_hash,
		customers.code, COALESCE(chain_cursors.height, 0), COALESCE(chain_cursors.finalized, 0), chain_cursors.read_until,
		EXISTS (SELECT 1 FROM payment_networks WHERE payment_id = payments.id), `+extraColumns).
		Joins(`JOIN businesses ON businesses.id = payments.business_id JOIN customers ON customers.id = payments.customer_id
			LEFT JOIN chain_cursors ON chain_cursors.network = payments.network`)
	var views []*View
	var opened []int64
	byID, further := map[int64]*View{}, map[int64]*View{}
	err = models.ScanRows(query, func() {
		v.Business.ID, v.Customer.ID = p.BusinessID, p.CustomerID
		v.Now, v.contract = s.Clock().Add(ClockAdvance(*p)), s.Contracts[chain.Network(p.Network)]
		v.Chain.Read = s.readUntil(v, p.Network, read)
		one := v
		views = append(views, &one)
		if p.Address != "" {
			opened, byID[p.ID] = append(opened, p.ID), &one
		}
		if v.hasFurther {
			further[p.ID] = &one
		}
	}, append(into, &v.Business.Code, &v.Business.Name, &v.Business.TimeZone, &v.Business.ReceiptsEnabled,
		&v.Business.ContactEmail, &v.Business.SupportURL, &v.Business.LogoHash,
		&v.Customer.Code, &v.Chain.Tip, &v.Chain.Finalized, &read, &v.hasFurther, &v.hasSurplus, &v.hasRefunds,
		&v.hasSends)...)
	if err == nil {
		err = s.readFurther(query.Session(&gorm.Session{NewDB: true}), further)
	}
	if err != nil {
		return nil, err
	}
	if len(opened) == 0 {
		return views, nil
	}
	var t models.Transfer
	columns, into, err = models.Columns(query, &t)
	if err != nil {
		return nil, err
	}
	of := models.Among(query.Session(&gorm.Session{NewDB: true}).Model(&t), "payment_id", opened).
		Where("unmatched = ''").Order("id")
	err = models.ScanRows(models.Select(of, columns), func() {
		byID[*t.PaymentID].Transfers = append(byID[*t.PaymentID].Transfers, t)
	}, into...)
	return views, err
}

// ClockAdvance returns how far a payment's own clock is ahead: the sandbox may move it.
func ClockAdvance(p models.Payment) time.Duration { return time.Duration(p.Advanced) * time.Second }

// decidePayments applies Decide to payments until it changes nothing, and books what that changes.
func (s *Service) decidePayments(tx *models.Tx, views ...*View) error {
	moves := make([]journal.Move, 0, len(views)) // mostly one each
	for _, v := range views {
		last, err := decideUntilStable(tx, s, v)
		if err != nil {
			return err
		}
		moves = append(moves, last...)
	}
	return journal.MoveTransfers(tx, s.Clock(), moves)
}

// decideUntilStable applies Decide to one payment. It returns the moves of the last transition,
// which the caller posts.
func decideUntilStable(tx *models.Tx, s *Service, v *View) (moves []journal.Move, err error) {
	if err := v.readEarlierReason(tx); err != nil {
		return nil, err
	}
	for range len(edges) + 1 {
		out := Decide(v.decideCase(), v.listSightings(), v.decideChain(), v.Now)
		before := v.Payment
		surplus := v.takeSurplus(out)
		v.applyOutcome(out)
		if State(before.Status) == out.State && out.Reversed == before.Reversed {
			return moves, s.SavePayment(tx, v)
		}
		if State(before.Status) != out.State && !isEdge(State(before.Status), out.State) {
			return nil, fmt.Errorf("payment %s: Decide gave %s → %s, which is no edge", before.Reference, before.Status,
				out.State)
		}
		if err := errors.Join(journal.MoveTransfers(tx, s.Clock(), moves),
			markSurplus(tx, s.Clock(), v, surplus)); err != nil {
			return nil, err
		}
		if err := s.writeTransition(tx, v, before, "system"); err != nil {
			return nil, err
		}
		if err := s.writeSurplus(tx, v, surplus); err != nil {
			return nil, err
		}
		moves = v.listMoves(slices.Concat(v.Transfers, surplus))
	}
	return nil, errors.New("payment: Decide doesn't reach a stable state for " + v.Payment.Reference)
}

// readEarlierReason reads from the timeline which reason a reversed payment had before.
func (v *View) readEarlierReason(tx *models.Tx) error {
	if !v.Payment.Reversed {
		return nil
	}
	return tx.Model(&models.Step{}).Select("reason").
		Where("payment_id = ? AND kind = ? AND reason <> ?", v.Payment.ID, StepState, string(ReversedReason)).
		Order("number DESC").Limit(1).Scan(&v.earlierReason).Error
}

// decideCase returns the payment's terms and state for Decide.
func (v *View) decideCase() Case {
	p := v.Payment
	return Case{
		State: State(p.Status), Reason: Reason(p.Reason), Due: p.Due, Charged: p.Amount, Paid: p.Paid,
		Under: p.UnderTolerance, Over: p.OverTolerance, DeclineLate: p.LatePayments == "decline",
		Depth: p.FinalDepth, NetworkSays: p.FinalByNetwork && v.Chain.Finalized >= 0,
		ExpiresAt: p.ExpiresAt, AbandonsAt: p.AbandonsAt, Abandoned: p.AbandonedAt != nil, Reversed: p.Reversed,
		EarlierReason: v.earlierReason,
	}
}

// listSightings returns the payment's transfers for Decide.
func (v *View) listSightings() []Sighting {
	sightings := make([]Sighting, 0, len(v.Transfers))
	for _, t := range v.Transfers {
		g := Sighting{Amount: t.Amount, SeenAt: seenAt(t), Reverted: t.Reverted, Maturity: t.Maturity,
			Elsewhere: v.findElsewhere(t.Network)}
		if t.Height != nil {
			g.Height = *t.Height
		}
		if t.Gone {
			g.Gone = Reason(t.GoneReason)
			if t.GoneAt != nil {
				g.GoneAt = *t.GoneAt
			}
		}
		if t.ConflictHeight != nil {
			g.Conflict = *t.ConflictHeight
		}
		sightings = append(sightings, g)
	}
	return sightings
}

// applyOutcome sets the payment's state, times and remark from an outcome.
func (v *View) applyOutcome(out Outcome) {
	p, now := &v.Payment, v.Now
	changed, reversed := State(p.Status) != out.State, out.Reversed && !p.Reversed
	p.Status, p.Reason, p.Paid, p.Reversed = string(out.State), string(out.Reason), out.Paid, out.Reversed
	wall := out.Wake.Add(-ClockAdvance(*p))
	p.DueAt, p.DueHeight, p.DueRead = nil, nil, v.scheduleFurther(out, wall)
	if !out.Wake.IsZero() && out.State == Pending {
		p.DueAt = &wall
	}
	if out.WakeHeight > 0 {
		p.DueHeight = &out.WakeHeight
	}
	if reversed {
		p.ResolvedAt = nil // an earlier decision of a person is void
	}
	if changed {
		switch {
		case out.State == Abandoned:
			p.SettledAt = &now
			if p.AbandonedAt == nil {
				p.AbandonedAt = &now
			}
		case out.State.Final():
			p.SettledAt = &now
		default:
			p.SettledAt = nil
		}
	}
	p.Remark = v.describeOutcome()
}

// writeTransition writes a transition: the timeline row, the event with its deliveries, the
// receipt and the figures of the overview. The caller saves the payment's row.
func (s *Service) writeTransition(tx *models.Tx, v *View, before models.Payment, actor string) error {
	p, from := &v.Payment, State(before.Status)
	began := s.Clock()
	if err := stats.NoteChange(tx, stats.StandingOf(before), *p); err != nil {
		return err
	}
	kind, remark, detail := "payment."+p.Status, "", "{}"
	if p.Reason != "" {
		detail = timeline.WriteDetail("", map[string]any{"paid": p.Paid, "due": p.Due, "asset": p.Coin})
	}
	switch {
	case p.Reversed:
		kind = webhook.PaymentReversed
	case before.Reversed:
		kind, remark, detail = webhook.PaymentRestored, "The money is on the chain again, and final.", "{}"
	}
	if err := s.appendStep(tx, v, models.Step{Kind: StepState, From: string(from), To: p.Status, Reason: p.Reason,
		Remark: remark, Detail: detail, Actor: actor}); err != nil {
		return err
	}
	if err := s.EmitEvent(tx, v, kind, ""); err != nil {
		return err
	}
	if err := errors.Join(releaseLinkUse(tx, v, from),
		notification.NotePayment(tx, before.Status, *p, began)); err != nil {
		return err
	}
	if State(p.Status) == Successful && from != Successful && v.Business.ReceiptsEnabled {
		receipt, err := v.customerReceipt(tx)
		if err == nil {
			err = s.Receipts.QueueReceipt(tx, receipt)
		}
		if err != nil {
			return err
		}
	}
	if p.Status != before.Status {
		s.reportReached(tx, *p, from, began)
	}
	return nil
}

// releaseLinkUse frees a use of the payment link when a payment ends without any money, and
// takes it again when money arrives later.
func releaseLinkUse(tx *models.Tx, v *View, from State) error {
	by := 0
	switch state := State(v.Payment.Status); {
	case state == Expired || state == Abandoned || state == Failed:
		by = -1
	case from == Abandoned:
		by = 1
	}
	if by == 0 || v.Payment.LinkID == nil {
		return nil
	}
	return tx.Model(&models.Link{}).Where("id = ? AND used + ? >= 0", *v.Payment.LinkID, by).
		Update("used", gorm.Expr("used + ?", by)).Error
}

// appendStep adds a row to the payment's timeline.
func (s *Service) appendStep(tx *models.Tx, v *View, row models.Step) error {
	row = s.NumberStep(v, row)
	return tx.Create(&row).Error
}

// NumberStep completes a row as the next one of a payment's timeline.
func (s *Service) NumberStep(v *View, row models.Step) models.Step {
	v.Payment.Steps++
	row.PaymentID, row.Number = v.Payment.ID, v.Payment.Steps
	row.At, row.CreatedAt = v.Now, s.Clock()
	if row.Remark == "" {
		row.Remark = v.Payment.Remark
	}
	if row.Detail == "" {
		row.Detail = "{}"
	}
	if row.Actor == "" {
		row.Actor = "system"
	}
	return row
}

// EmitEvent sends an event with the payment's record to the merchant's webhooks. about names
// the transfers that it reports; "" for a change of state.
func (s *Service) EmitEvent(tx *models.Tx, v *View, kind, about string) error {
	p := &v.Payment
	if kind == webhook.PaymentUnexpectedTransfer && !v.hasSurplus {
		v.hasSurplus, v.extrasRead = true, false
	}
	if err := readExtras(tx, v); err != nil {
		return err
	}
	if p.ID <= s.Restored.Last { // events may have been sent since the backup was made
		p.Sequence = max(p.Sequence, s.Restored.Sequence)
	}
	p.Sequence++
	return s.Events.Emit(tx, webhook.Event{
		BusinessID: p.BusinessID, Domain: scope.Domain(p.Domain), PaymentID: &p.ID,
		Payment: p.Reference, Sequence: p.Sequence, Type: kind, About: about, At: s.Clock(), Data: v.Record(),
	})
}

// SavePayment writes the payment's row. LoadPayment has locked it (on SQLite the transaction
// holds the only writer), so no other transaction changes it in between.
func (s *Service) SavePayment(tx *models.Tx, v *View) error {
	p := &v.Payment
	p.UpdatedAt = s.Clock()
	if err := saveFurther(tx, v); err != nil {
		return err
	}
	return tx.Select("Due", "ExactAmount", "Status", "Reason", "Remark", "Reversed", "Paid", "Address", "Tag",
		"Language", "OpenedAt", "FirstSeenAt", "SettledAt", "AbandonedAt", "ResolvedAt", "Sequence", "Steps",
		"Advanced", "AdvanceOnSeen", "DueAt", "DueHeight", "DueRead", "UpdatedAt").Where("id = ?", p.ID).Updates(p).Error
}

// describeOutcome returns the remark for people: the reason, and the exact difference.
func (v *View) describeOutcome() string {
	p := v.Payment
	coin := v.Coin()
	difference := p.Paid.Sub(p.Due)
	exact := fmt.Sprintf("%s %s (%s)", coin.Format(difference.Abs()), coin,
		money.Currency(p.Currency).FormatForPeople(v.PaidFiat().Sub(v.Charged()).Abs()))
	switch Reason(p.Reason) {
	case Underpaid:
		if difference.Sign() >= 0 {
			return "Underpaid when it ended; what was attached since makes up the rest." + appendDifference(difference,
				exact)
		}
		return "Underpaid by " + exact + "."
	case Overpaid:
		return "Overpaid by " + exact + "."
	case Late:
		if State(p.Status) == Successful {
			return "Paid after the 7-minute window, and accepted."
		}
		return "Paid after the 7-minute window."
	case AfterAbandoned:
		return "Paid after the payment was abandoned." + appendDifference(difference, exact)
	case Replaced:
		return "The transaction was replaced: another one spent the same money elsewhere."
	case Reverted:
		return "The network recorded the transaction as failed; no money moved."
	case Dropped:
		return "The transaction was dropped by the network and never confirmed."
	case Reorged:
		return "The block with the transaction left the chain; waiting for it to be confirmed again."
	case ReversedReason:
		return "The money was taken back on the chain after it was final."
	case AcceptedByUser:
		return "Accepted by a person of the business." + appendDifference(difference, exact)
	}
	return noRemark
}

// appendDifference adds the difference to a remark when there is one.
func appendDifference(difference money.Amount, exact string) string {
	switch difference.Sign() {
	case -1:
		return " Underpaid by " + exact + "."
	case 1:
		return " Overpaid by " + exact + "."
	}
	return ""
}

// customerReceipt returns what the customer's receipt says.
func (v *View) customerReceipt(tx *models.Tx) (mail.Receipt, error) {
	r := mail.Receipt{
		BusinessID: v.Payment.BusinessID, Domain: scope.Domain(v.Payment.Domain), PaymentID: v.Payment.ID,
		BusinessName: v.Business.Name, CustomerName: v.Payment.CustomerName, CustomerEmail: v.Payment.CustomerEmail,
		Language: v.Payment.Language, Reference: v.Payment.Reference, BusinessReference: v.Payment.BusinessReference,
		Price: v.Payment.Price, Currency: v.Payment.Currency, Amount: money.FormatFiat(v.Charged()),
		Coin: v.Payment.Coin, CoinAmount: v.Coin().Format(v.Payment.Paid), Network: place.NameNetwork(v.Coin(),
			v.Payment.Network),
		PaidAt:  v.Now.In(clock.LoadZone(v.Business.TimeZone)),
		Contact: v.Business.ContactEmail, Logo: settings.LogoPath(v.Business),
	}
	if t := v.mainTransfer(); t != nil {
		r.TxHash, r.ExplorerURL = t.TxID, place.ExplorerURL(t.Network, t.TxID)
	}
	if v.Payment.LinkID == nil {
		return r, nil
	}
	var titles []string
	err := tx.Model(&models.Link{}).Where("id = ?", *v.Payment.LinkID).Pluck("title", &titles).Error
	if len(titles) > 0 { // a link that was deleted names nothing
		r.Item = titles[0]
	}
	return r, err
}

// Evaluate brings payments to where the facts put them now, in one transaction.
func (s *Service) Evaluate(ctx context.Context, ids ...int64) error {
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		views, err := s.loadPayments(tx, ids)
		if err != nil {
			return err
		}
		return s.decidePayments(tx, views...)
	})
}
