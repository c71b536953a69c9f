package send

import (
	"context"
	"time"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment/record"
	"cointill/core/scope"
	"cointill/core/send/addressbook"
	"cointill/core/send/destination"
	"cointill/core/send/seal"
	"cointill/models"
)

// approval is what makes a send ready: an act of a person, or of time. whole counts as all
// approvals.
type approval struct {
	actor string
	whole bool
}

// makeReady makes a send ready if enough people approved it, by the rules of now, and its address
// need not wait.
func (s *store) makeReady(tx *models.Tx, v *View, q prices, by approval) error {
	row := &v.Send
	if row.ReadyAt != nil && row.Sealed != seal.SealReady(s.Secrets, *row) { // approvals don't cover an amount in fiat
		return errChanged
	}
	waitsUntil, err := s.addressWaits(tx, *row)
	if err != nil {
		return err
	}
	rule, err := s.rules.ReadOf(tx, *row)
	if err != nil {
		return err
	}
	if err := s.fixAmount(tx, v, q); err != nil {
		return err
	}
	if err := s.raiseApprovals(tx, v, rule.Needed(*row)); err != nil {
		return err
	}
	count := len(v.Approvals)
	row.DueAt = nil
	if row.Reason != SentAgain { // which others must read before they approve
		row.Reason = ""
	}
	switch {
	case by.whole:
	case count < row.Approvals:
		return s.saveSend(tx, row)
	case s.Clock().Before(waitsUntil) && count < 2:
		row.Reason, row.DueAt = NewAddress, &waitsUntil
		return s.saveSend(tx, row)
	}
	if err := rule.CheckDayLimit(tx, *row, s.Clock()); err != nil {
		return err
	}
	return s.markReady(tx, v, by.actor)
}

// raiseApprovals has a send approved by as many people as its value needs now.
func (s *store) raiseApprovals(tx *models.Tx, v *View, needed int) error {
	row := &v.Send
	requestSealed, before := seal.HasRequestSeal(s.Secrets, *row), row.Approvals
	if !requestSealed {
		needed = max(needed, 1)
	}
	if needed <= before {
		return nil
	}
	row.Approvals = needed
	if requestSealed {
		row.RequestSeal = seal.SealRequest(s.Secrets, *row)
	}
	if before > 0 || len(v.Approvals) >= needed {
		return nil
	}
	return s.mailApprovers(tx, *v) // no approver had a mail about it before
}

// fixAmount checks at an approval that the money of a refund is still there, values the send at the prices of now, and
// converts an amount at today's price, at the last approval for good: a send that is tried again keeps its amount, as
// its first transaction may still confirm.
func (s *store) fixAmount(tx *models.Tx, v *View, q prices) error {
	row := &v.Send
	from, left, err := s.lockMoney(tx, *row)
	if err != nil {
		return err
	}
	if row.ReadyAt != nil {
		return nil
	}
	if row.Rate == RateToday {
		convertFiat(row, from, q, left.Add(row.Amount)) // its own part is free for it
	}
	setValue(row, from, q)
	return nil
}

// lockMoney locks the money that a refund is of, and refuses a refund of money that is gone or that other sends took,
// as a withdrawn one does that a wallet sent all the same. left is what no send takes.
func (s *store) lockMoney(tx *models.Tx, row models.Send) (from source, left money.Amount, err error) {
	if row.PaymentID != nil {
		if from.view, err = s.Payments.LoadPayment(tx, *row.PaymentID); err != nil {
			return from, left, err
		}
	}
	if row.TransferID != nil {
		from.transfer = &models.Transfer{ID: *row.TransferID}
	}
	if left, err = s.lockSource(tx, from); err == nil && left.Sign() < 0 {
		err = errAllRefunded
	}
	return from, left, err
}

// markReady writes that a send is ready for the wallet.
func (s *store) markReady(tx *models.Tx, v *View, actor string) error {
	row, now := &v.Send, s.Clock()
	before := row.Status
	var cursors []models.ChainCursor
	if err := tx.Where("network = ?", row.Network).Find(&cursors).Error; err != nil {
		return err
	}
	height := int64(0)
	for _, c := range cursors { // blocks that aren't read yet are earlier, too
		height = max(c.Height, c.SourceTip)
	}
	row.Status, row.ReadyAt, row.ReadyHeight = string(Ready), &now, &height
	if row.Reason != SentAgain { // its first transaction may still confirm
		row.Reason = ""
	}
	row.Sealed = seal.SealReady(s.Secrets, *row)
	row.ExpiresAt = v.Now.Add(WaitForWallet)
	if row.Rate == RateToday {
		row.ExpiresAt = v.Now.Add(WaitForFiat)
	}
	wall := row.ExpiresAt.Add(-clockAdvance(*row))
	row.DueAt = &wall
	if err := destination.WatchAddress(tx, row.Network, row.Address, now); err != nil {
		return err
	}
	if err := s.writeStep(tx, v, models.SendStep{Kind: stepState, From: before, To: row.Status,
		Actor: actor}); err != nil {
		return err
	}
	return s.saveSend(tx, row)
}

// addressWaits returns until when a send's address must wait: a day after the business first named
// it. An address that the customer confirmed by mail need not wait, nor one in the test domain.
func (s *store) addressWaits(tx *models.Tx, row models.Send) (time.Time, error) {
	if !isLive(row) || row.AddressBy == ByCustomer && seal.HasRequestSeal(s.Secrets, row) {
		return time.Time{}, nil
	}
	known, err := addressbook.Find(tx, row)
	if err != nil || len(known) == 0 {
		return s.Clock().Add(addressbook.Cooldown), err
	}
	return known[0].ReleasedAt, nil
}

// checkReady refuses to hand out a send for signing that is not ready, or that was changed after it
// was approved.
func (s *store) checkReady(row models.Send) error {
	if State(row.Status) != Ready {
		return fault.New(fault.Conflict, "send_not_ready", "This send is %s; only one that is ready can be signed.",
			record.DescribeState(row.Status))
	}
	if row.AnotherWayBy != "" {
		return errMarked
	}
	if row.Sealed != seal.SealReady(s.Secrets, row) {
		return errChanged
	}
	return nil
}

// StartSigning notes that a ready send is handed to a wallet, and returns it.
//
// Faults: Forbidden; NotFound; Conflict for a send that is not ready, or was changed, and for a refund of money that is
// gone or that other sends took.
func (s *Approvals) StartSigning(ctx context.Context, sc scope.Scope, reference string) (View, error) {
	action := scope.ApproveSends
	if sc.Domain == scope.Test {
		action = scope.DriveSandbox
	}
	if err := sc.CheckAction(action); err != nil {
		return View{}, err
	}
	found, err := s.Find(ctx, sc, reference)
	if err != nil {
		return View{}, err
	}
	var v *View
	err = s.DB.Write(ctx, func(tx *models.Tx) (err error) {
		if v, err = s.loadCurrent(tx, found.Send.ID); err != nil {
			return err
		}
		if err := s.checkReady(v.Send); err != nil {
			return err
		}
		if _, _, err := s.lockMoney(tx, v.Send); err != nil || v.Send.SigningAt != nil {
			return err
		}
		now := s.Clock()
		v.Send.SigningAt = &now
		if err := s.writeStep(tx, v, models.SendStep{Kind: stepNote, From: v.Send.Status, To: v.Send.Status,
			Reason: "signing", Actor: sc.Actor}); err != nil {
			return err
		}
		return s.saveSend(tx, &v.Send)
	})
	if err != nil {
		return View{}, err
	}
	return *v, nil
}
