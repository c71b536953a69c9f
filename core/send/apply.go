package send

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"cointill/core/idempotency"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/departure"
	"cointill/core/scope"
	"cointill/core/send/letter"
	"cointill/core/send/payer"
	"cointill/core/send/validity"
	"cointill/core/webhook"
	"cointill/models"
)

// The kinds of timeline rows.
const (
	stepState    = "state"    // a change of state
	stepTransfer = "transfer" // a transaction that pays it was seen
	stepNote     = "note"     // something a person did
)

// loadSend reads a send with what decides about it, and locks its row.
func (s *store) loadSend(tx *models.Tx, id int64) (*View, error) {
	if models.IsPostgres(tx) {
		if err := tx.Exec("SELECT id FROM sends WHERE id = ? FOR NO KEY UPDATE", id).Error; err != nil {
			return nil, err
		}
	}
	var row models.Send
	if err := tx.Where("id = ?", id).Take(&row).Error; err != nil {
		return nil, err
	}
	views, err := s.readViews(tx, []models.Send{row})
	if err != nil {
		return nil, err
	}
	return &views[0], nil
}

// readViews reads what belongs to sends of one business.
func (s *store) readViews(tx *models.Tx, rows []models.Send) ([]View, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	var business models.Business
	if err := tx.Where("id = ?", rows[0].BusinessID).Take(&business).Error; err != nil {
		return nil, err
	}
	var cursors []models.ChainCursor // a handful
	if err := tx.Find(&cursors).Error; err != nil {
		return nil, err
	}
	ids, payments := make([]int64, len(rows)), []int64{}
	for i, row := range rows {
		ids[i] = row.ID
		if row.PaymentID != nil {
			payments = append(payments, *row.PaymentID)
		}
	}
	var transfers []models.Transfer
	var paid []models.Payment
	err := errors.Join(models.Among(tx, "send_id", ids).Order("id").Find(&transfers).Error,
		models.Among(tx.Select("id", "reference"), "id", payments).Find(&paid).Error)
	if err != nil {
		return nil, err
	}
	references := map[int64]string{}
	for _, p := range paid {
		references[p.ID] = p.Reference
	}
	views := make([]View, len(rows))
	for i, row := range rows {
		v := &views[i]
		*v = View{Send: row, Business: business, Now: s.Clock().Add(clockAdvance(row))}
		if row.PaymentID != nil {
			v.Payment = references[*row.PaymentID]
		}
		for _, t := range transfers {
			if *t.SendID == row.ID {
				v.Transfers = append(v.Transfers, t)
			}
		}
		for _, c := range cursors {
			if c.Network == row.Network {
				v.Chain = payment.Chain{Tip: c.Height, Finalized: c.Finalized}
			}
		}
		if v.Approvals, err = s.listApprovals(tx, row); err != nil {
			return nil, err
		}
		if err := s.readHanded(tx, v); err != nil {
			return nil, err
		}
	}
	return views, nil
}

// readHanded reads whether a transaction handed to a wallet may still confirm, where something depends on it: a
// transaction failed or was replaced, or the send failed for one that was only dropped.
func (s *store) readHanded(tx *models.Tx, v *View) error {
	failed, again := v.State() == Failed, v.State() == Ready && v.Send.Reason == SentAgain
	lost := slices.ContainsFunc(v.Transfers, func(t models.Transfer) bool {
		return t.ConflictHeight != nil || t.Reverted
	})
	if failed && v.Send.Reason != Dropped || !failed && !again && !lost {
		return nil
	}
	data, err := validity.Read(tx, s.Signers[v.Send.Network].Signer, v.Send, OrderOf(v.Send, v.Send.Account))
	if err != nil {
		return err
	}
	isDeep := func(height int64) bool { return v.decideCase().isDeep(height, v.Chain) }
	if failed {
		v.Lapsed = data.HasLapsed(v.Transfers, v.Chain.Tip, isDeep)
		return nil
	}
	outstanding, err := data.IsOutstanding(tx, v.Transfers, isDeep)
	v.Outstanding = outstanding && lost
	v.Lapsed = again && (data.HasLapsed(v.Transfers, v.Chain.Tip, isDeep) ||
		!outstanding && validity.AreOver(v.Transfers, isDeep))
	return err
}

// saveSend writes a send's row.
func (s *store) saveSend(tx *models.Tx, row *models.Send) error {
	row.UpdatedAt = s.Clock()
	return tx.Save(row).Error
}

// writeStep adds a row to a send's timeline, and numbers it.
func (s *store) writeStep(tx *models.Tx, v *View, step models.SendStep) error {
	v.Send.Steps++
	step.SendID, step.Number, step.At, step.CreatedAt = v.Send.ID, v.Send.Steps, v.Now, s.Clock()
	if step.Detail == "" {
		step.Detail = "{}"
	}
	if err := tx.Create(&step).Error; err != nil {
		return err
	}
	return tx.Model(&models.Send{}).Where("id = ?", v.Send.ID).UpdateColumn("steps", v.Send.Steps).Error
}

func encodeDetail(detail map[string]any) string {
	text, err := json.Marshal(detail)
	if err != nil {
		panic(err) // texts and numbers always marshal
	}
	return string(text)
}

// loadCurrent loads a send where the facts put it.
func (s *store) loadCurrent(tx *models.Tx, id int64) (*View, error) {
	v, err := s.loadSend(tx, id)
	if err != nil {
		return nil, err
	}
	// Once is enough: Decide says the same of its own outcome.
	out := Decide(v.decideCase(), v.listSightings(), v.Chain, v.Now)
	return v, s.writeTransition(tx, v, out, "system", "")
}

// changeSend has a person change a send where the facts put it, and returns it. Such changes of a business's sends
// wait for one another.
func (s *store) changeSend(ctx context.Context, sc scope.Scope, id int64,
	change func(tx *models.Tx, v *View) error) (View, error) {
	changed, err := idempotency.Do(ctx, s.DB, func(tx *models.Tx) (View, error) {
		if err := payer.LockBusiness(tx, sc); err != nil {
			return View{}, err
		}
		v, err := s.loadCurrent(tx, id)
		if err == nil {
			err = change(tx, v)
		}
		if err != nil {
			return View{}, err
		}
		return *v, nil
	})
	if err == nil {
		s.Changed()
	}
	return changed, err
}

// mainHash returns the hash of the transaction that pays the send, and the recorded one where none does.
func (v *View) mainHash(out Outcome) string {
	if out.Main < 0 {
		return v.Send.Hash
	}
	return v.Transfers[out.Main].TxID
}

// setDue sets when the send is to be looked at again.
func (v *View) setDue(out Outcome) {
	v.Send.DueAt, v.Send.DueHeight = nil, nil
	if !out.Wake.IsZero() {
		wall := out.Wake.Add(-clockAdvance(v.Send))
		v.Send.DueAt = &wall
	}
	if out.WakeHeight > 0 {
		v.Send.DueHeight = &out.WakeHeight
	}
}

func (v *View) decideCase() Case {
	row := v.Send
	c := Case{State: v.State(), Reason: row.Reason, Reversed: row.Reversed, Depth: row.FinalDepth,
		NetworkSays: row.FinalByNetwork && v.Chain.Finalized >= 0, ExpiresAt: row.ExpiresAt, Outstanding: v.Outstanding,
		MayConfirm: v.MayConfirm(), Marked: row.AnotherWayBy != "", AnotherWay: row.AnotherWayAt != nil}
	if row.BroadcastAt != nil {
		c.KeptUntil = row.BroadcastAt.Add(clockAdvance(row) + unseenFor)
	}
	return c
}

// listSightings returns the send's transfers for Decide.
func (v *View) listSightings() []Sighting {
	seen := make([]Sighting, len(v.Transfers))
	for i, t := range v.Transfers {
		seen[i] = Sighting{Reverted: t.Reverted,
			Earlier: v.Send.ReadyAt != nil && t.FirstSeenAt.Before(*v.Send.ReadyAt)}
		if t.Height != nil {
			seen[i].Height = *t.Height
		}
		if t.Gone {
			seen[i].Gone = t.GoneReason
			if t.GoneAt != nil {
				seen[i].GoneAt = *t.GoneAt
			}
		}
		if t.ConflictHeight != nil {
			seen[i].Conflict = *t.ConflictHeight
		}
	}
	return seen
}

// writeTransition writes an outcome: the row and, of what it changes, the timeline row, the events with
// their deliveries, the mails and the books. note is a person's.
func (s *store) writeTransition(tx *models.Tx, v *View, out Outcome, actor, note string) error {
	row, before := &v.Send, v.Send
	row.Status, row.Reason, row.Reversed, row.Hash = string(out.State), out.Reason, out.Reversed, v.mainHash(out)
	row.PaidTwice = len(out.Extra) > 0
	v.setDue(out)
	if ended := out.State == Successful || out.State == Failed || out.State.Released(); !ended {
		row.EndedAt = nil
	} else if before.Status != row.Status {
		row.EndedAt = &v.Now
	}
	if err := s.bookSend(tx, v, out); err != nil {
		return err
	}
	if err := s.writeChange(tx, v, before, actor, note); err != nil {
		return err
	}
	if err := s.followLoss(tx, *row, before); err != nil {
		return err
	}
	if out.Confirmed && row.ProcessedAt == nil {
		row.ProcessedAt = &v.Now
		if err := s.emitEvent(tx, v, webhook.SendProcessed, v.summarizeProcessing(before)); err != nil {
			return err
		}
	}
	if out.State.Released() { // its approval has ended, so no wallet signs it
		row.Sealed = ""
	}
	if before.Status != row.Status {
		if row.AnotherWayAt == nil { // what a person said was about an earlier state
			row.AnotherWayBy, row.AnotherWaySeal = "", ""
		}
		if err := s.writeEnd(tx, v, State(before.Status)); err != nil {
			return err
		}
	}
	if err := s.saveSend(tx, row); err != nil {
		return err
	}
	return departure.Resettle(tx, s.Clock(), *row, v.listTransactions())
}

// listTransactions lists the transactions of the send's transfers.
func (v *View) listTransactions() (ids []string) {
	for _, t := range v.Transfers {
		ids = append(ids, t.TxID)
	}
	return ids
}

// writeChange adds the row of a change to the timeline, with the event of the beginning.
func (s *store) writeChange(tx *models.Tx, v *View, before models.Send, actor, note string) error {
	row := &v.Send
	step := models.SendStep{Kind: stepTransfer, From: before.Status, To: row.Status, Reason: row.Reason, Actor: actor,
		Detail: encodeDetail(map[string]any{"hash": row.Hash, "note": note})}
	changed := before.Status != row.Status || before.Reason != row.Reason || before.Reversed != row.Reversed ||
		before.BookedTwice.Cmp(row.BookedTwice) != 0
	switch {
	case changed:
		step.Kind = stepState
	case before.Hash == row.Hash:
		return nil // only its confirmations changed
	}
	if err := s.writeStep(tx, v, step); err != nil {
		return err
	}
	began := row.Status == string(Processing) || row.Status == string(Successful) &&
		before.Status != string(Processing) && row.AnotherWayAt == nil
	if began && before.Status != row.Status {
		if err := s.emitEvent(tx, v, webhook.SendProcessing, v.summarizeProcessing(before)); err != nil {
			return err
		}
		if err := s.mailCustomer(tx, v, letter.OnItsWay); err != nil {
			return err
		}
	}
	return s.raiseAlarm(tx, v, before)
}

// writeEnd does what follows when a send reaches its end.
func (s *store) writeEnd(tx *models.Tx, v *View, from State) error {
	switch state := v.State(); {
	case state == Successful:
		if err := s.emitEvent(tx, v, webhook.SendSuccessful, v.Summary()); err != nil {
			return err
		}
		if err := s.finishRefund(tx, v); err != nil {
			return err
		}
		if v.Send.AnotherWayAt != nil {
			return s.mailCustomer(tx, v, letter.AnotherWay)
		}
		return s.mailCustomer(tx, v, letter.Done)
	case state == Failed && from != AwaitingApproval: // else it failed before it was to be tried again
		return s.emitEvent(tx, v, webhook.SendFailed, v.Summary())
	case state.Released():
		if from == Failed { // its end was announced
			return nil
		}
		return s.emitEvent(tx, v, webhook.SendCancelled, v.Summary())
	}
	return nil
}

// summarizeProcessing returns the send as the events before its end show it. A send that is final when it is first seen
// was processing before that, within the same change.
func (v *View) summarizeProcessing(before models.Send) Summary {
	data := v.Summary()
	if v.State() != Successful || before.Status == string(Successful) {
		return data
	}
	data.Status, data.Reason, data.PaidTwice = string(Processing), "", false
	switch {
	case before.Status == string(Processing):
		data.Reason = before.Reason
	case State(before.Status).Released():
		data.Reason = SentAnyway
	}
	return data
}

// emitEvent writes an event of the send, whose record was data then.
func (s *store) emitEvent(tx *models.Tx, v *View, kind string, data Summary) error {
	row := &v.Send
	row.Sequence = max(row.Sequence, s.Restored.Sequence) + 1 // events may have been sent since the backup was made
	return s.Events.Emit(tx, webhook.Event{BusinessID: row.BusinessID, Domain: scope.Domain(row.Domain),
		SendID: &row.ID, Payment: row.Reference, Sequence: row.Sequence, Type: kind, About: row.Hash, At: s.Clock(),
		Data: data})
}

// finishRefund notes a completed refund where its money came from.
func (s *store) finishRefund(tx *models.Tx, v *View) error {
	row := v.Send
	if row.TransferID != nil {
		return s.resolveTransfer(tx, row)
	}
	if row.PaymentID == nil {
		return nil
	}
	return s.Resolver.NoteSend(tx, *row.PaymentID, payment.SendNote{Reference: row.Reference,
		Amount: row.Amount, Coin: money.Coin(row.Coin), Hash: row.Hash, AnotherWay: row.AnotherWayAt != nil})
}

// isLost reports that a final send left the chain for good: its money can be refunded again.
func isLost(row models.Send) bool {
	return row.Reversed && (row.Reason == Replaced || row.Reason == Reverted)
}

// followLoss lists a transfer under Unmatched again when the send that refunded it is lost, and takes
// it from there if that send is final after all.
func (s *store) followLoss(tx *models.Tx, row, before models.Send) error {
	switch {
	case row.TransferID == nil || isLost(row) == isLost(before):
		return nil
	case !isLost(row):
		return s.resolveTransfer(tx, row)
	}
	done := tx.Where("transfer_id = ? AND send_id IS NOT NULL", *row.TransferID).Delete(&models.Resolution{})
	if done.Error != nil || done.RowsAffected == 0 { // a person decided about it, or a part of it is left
		return done.Error
	}
	return tx.Model(&models.Transfer{}).Where("id = ?", *row.TransferID).
		Updates(map[string]any{"resolution": "", "updated_at": s.Clock()}).Error
}

// resolveTransfer takes a transfer from the list of unmatched ones once all of it was sent back.
func (s *store) resolveTransfer(tx *models.Tx, row models.Send) error {
	var t models.Transfer
	if err := tx.Where("id = ?", *row.TransferID).Take(&t).Error; err != nil {
		return err
	}
	var sent []models.Send // completed before this one
	if err := tx.Select("amount").Where("transfer_id = ? AND status = ? AND NOT reversed", t.ID, Successful).
		Find(&sent).Error; err != nil {
		return err
	}
	left := t.Amount.Sub(row.Amount)
	for _, one := range sent {
		left = left.Sub(one.Amount)
	}
	if left.Sign() > 0 || t.Resolution != "" {
		return nil
	}
	now := s.Clock()
	if err := tx.Model(&models.Transfer{}).Where("id = ?", t.ID).
		Updates(map[string]any{"resolution": payment.Refunded, "updated_at": now}).Error; err != nil {
		return err
	}
	return tx.Create(&models.Resolution{BusinessID: row.BusinessID, Domain: row.Domain, Kind: payment.Refunded,
		TransferID: &t.ID, Reason: t.Unmatched, Asset: t.Asset, Amount: t.Amount, TxID: row.Hash, SendID: &row.ID,
		Actor: row.Actor, CreatedAt: now}).Error
}

// sweepBatch bounds how many due sends one sweep reads.
const sweepBatch = 200

// orderID returns the number that identifies a send.
func orderID(row models.Send) [32]byte { return sha256.Sum256([]byte(row.Reference)) }

// MarkDue has sends evaluated again.
func MarkDue(tx *models.Tx, ids []int64, now time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	return models.Among(tx.Model(&models.Send{}), "id", ids).UpdateColumn("due_at", now).Error
}
