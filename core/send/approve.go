package send

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cointill/core/account/auth"
	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/models"
)

// Proof shows that the person at a session is its user.
type Proof = auth.Proof

func isPerson(actor string) bool { return strings.HasPrefix(actor, "user:") }

// describeContent writes everything of a send that an approval covers. An amount in fiat at today's
// price is converted at the last approval, so that its coin amount is not part of it.
func describeContent(row models.Send) string {
	tag, paid, transfer := int64(-1), int64(0), int64(0)
	if row.Tag != nil {
		tag = *row.Tag
	}
	if row.PaymentID != nil {
		paid = *row.PaymentID
	}
	if row.TransferID != nil {
		transfer = *row.TransferID
	}
	amount := row.Amount.String()
	if row.Rate == RateToday {
		amount = fmt.Sprint(row.Fiat, " ", row.Currency)
	}
	return fmt.Sprintf("%s %d %s %s %s %s %s %q %d %d %d", row.Reference, row.BusinessID, row.Domain, row.Kind,
		row.Coin, row.Network, amount, row.Address, tag, paid, transfer)
}

// sealApproval returns what an approval of a person stores: only this server can make it.
func (s *store) sealApproval(row models.Send, actor string) string {
	return s.Secrets.Hash("send approval", actor+" "+describeContent(row))
}

// sealReady returns what a ready send stores: it covers the coin amount, too.
func (s *store) sealReady(row models.Send) string {
	return s.Secrets.Hash("send ready", row.Amount.String()+" "+describeContent(row))
}

// listApprovals returns the approvals that hold: by people who may still approve, of the send as
// it is. The person who asked counts only where too few others may approve.
func (s *store) listApprovals(tx *models.Tx, row models.Send) ([]models.SendApproval, error) {
	var rows []models.SendApproval
	if err := tx.Where("send_id = ?", row.ID).Order("id").Find(&rows).Error; err != nil || len(rows) == 0 {
		return nil, err
	}
	approvers, err := s.listApprovers(tx, row)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(rows, func(a models.SendApproval) bool {
		return !slices.Contains(approvers, a.Actor) || a.Content != s.sealApproval(row, a.Actor)
	}), nil
}

// listApprovers returns who may approve a send now: owners and admins, in the live domain those
// who have been for a day, and not the person who asked for it where enough others may.
func (s *store) listApprovers(tx *models.Tx, row models.Send) ([]string, error) {
	var members []models.Member
	if err := tx.Where("business_id = ? AND role IN ?", row.BusinessID,
		[]string{string(scope.Owner), string(scope.Admin)}).Order("id").Find(&members).Error; err != nil {
		return nil, err
	}
	var approvers []string
	for i, m := range members {
		since := m.CreatedAt
		if m.RoleSince != nil {
			since = *m.RoleSince
		}
		first := i == 0 && m.RoleSince == nil // made the business
		if isLive(row) && !first && s.Clock().Before(since.Add(AddressCooldown)) {
			continue
		}
		approvers = append(approvers, fmt.Sprint("user:", m.UserID))
	}
	if len(approvers) > max(1, row.Approvals) {
		approvers = slices.DeleteFunc(approvers, func(actor string) bool { return actor == row.Actor })
	}
	return approvers, nil
}

// MayApprove reports whether the person of a scope may approve a send now.
func (s *Approvals) MayApprove(ctx context.Context, sc scope.Scope, v View) (bool, error) {
	if !sc.Allows(scope.ApproveSends) {
		return false, nil
	}
	approvers, err := s.listApprovers(s.DB.Read(ctx), v.Send)
	return slices.Contains(approvers, sc.Actor), err
}

// Approve records that a person agrees to a send as they saw it, and makes it ready when enough
// have. seen is the version of the send that the person saw: View.Version.
//
// Faults: Forbidden for a role that may not, for the person who asked and for new approvers;
// Invalid for the proof; NotFound; Conflict for a send that waits for no approval, that changed
// since it was seen, or that exceeds the limit of 24 hours; Unavailable when there is no rate.
func (s *Approvals) Approve(ctx context.Context, sc scope.Scope, reference, seen string, proof Proof) (View, error) {
	if err := sc.CheckAction(scope.ApproveSends); err != nil {
		return View{}, err
	}
	if _, err := s.Users.Reauthenticate(ctx, sc, proof); err != nil {
		return View{}, err
	}
	return s.approveSend(ctx, sc, reference, seen, func(tx *models.Tx, row models.Send) error {
		approvers, err := s.listApprovers(tx, row)
		if err == nil && !slices.Contains(approvers, sc.Actor) {
			err = errNotApprover
		}
		return err
	})
}

// ApproveInSandbox plays the approvers of a send in the test domain. Faults: as Approve.
func (s *Approvals) ApproveInSandbox(ctx context.Context, sc scope.Scope, reference string) (View, error) {
	if err := sc.CheckAction(scope.DriveSandbox); err != nil {
		return View{}, err
	}
	if sc.Domain != scope.Test {
		return View{}, fault.Missing("send")
	}
	return s.approveSend(ctx, sc, reference, "", nil)
}

// approveSend adds an approval; without a check it is the sandbox's, which stands for all.
func (s *Approvals) approveSend(ctx context.Context, sc scope.Scope, reference, seen string,
	check func(*models.Tx, models.Send) error) (View, error) {
	found, err := s.Find(ctx, sc, reference)
	if err != nil {
		return View{}, err
	}
	q, err := s.readPrices(ctx, sc, found.Send)
	if err != nil {
		return View{}, err
	}
	made, err := idempotency.Do(ctx, s.DB, func(tx *models.Tx) (View, error) {
		if err := lockBusiness(tx, sc); err != nil {
			return View{}, err
		}
		v, err := s.loadCurrent(tx, found.Send.ID)
		if err != nil {
			return View{}, err
		}
		if v.State() != AwaitingApproval {
			return View{}, fault.New(fault.Conflict, "not_awaiting_approval", "This send waits for no approval; it is "+
				describeState(v.State())+".")
		}
		if seen != "" && seen != v.Version() {
			return View{}, fault.New(fault.Conflict, "send_changed", "This send changed since you opened "+
				"it. Read it again before you approve it.")
		}
		if check != nil {
			if err := check(tx, v.Send); err != nil {
				return View{}, err
			}
			if err := s.addApproval(tx, v, sc.Actor); err != nil {
				return View{}, err
			}
		}
		if err := audit.Record(tx, sc, s.Clock(), "send.approved", v.Send.Reference,
			map[string]string{"amount": v.Amount() + " " + v.Send.Coin, "address": v.Send.Address}); err != nil {
			return View{}, err
		}
		if err := s.writeStep(tx, v, models.SendStep{Kind: stepNote, From: v.Send.Status, To: v.Send.Status,
			Reason: "approved", Actor: sc.Actor}); err != nil {
			return View{}, err
		}
		err = s.makeReady(tx, v, q, approval{sc.Actor, check == nil})
		return *v, err
	})
	if err == nil {
		s.Changed()
	}
	return made, err
}

// addApproval stores a person's approval. One of an earlier version of the send gives way.
func (s *Approvals) addApproval(tx *models.Tx, v *View, actor string) error {
	content := s.sealApproval(v.Send, actor)
	var before []models.SendApproval
	if err := tx.Where("send_id = ? AND actor = ?", v.Send.ID, actor).Find(&before).Error; err != nil {
		return err
	}
	if len(before) > 0 && before[0].Content == content {
		return fault.New(fault.Conflict, "already_approved", "You have approved this send already. "+
			"Another person must approve it, too.")
	}
	row := models.SendApproval{SendID: v.Send.ID, Actor: actor, Content: content, CreatedAt: s.Clock()}
	if len(before) > 0 {
		row.ID = before[0].ID
	}
	if err := tx.Save(&row).Error; err != nil {
		return err
	}
	var err error
	v.Approvals, err = s.listApprovals(tx, v.Send)
	return err
}

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
	waitsUntil, err := s.addressWaits(tx, *row)
	if err != nil {
		return err
	}
	rules, err := s.readRules(tx, scope.Scope{BusinessID: row.BusinessID, Domain: scope.Domain(row.Domain)})
	if err != nil {
		return err
	}
	row.Approvals = max(row.Approvals, rules.needed(*row))
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
	if err := s.fixAmount(tx, v, q); err != nil {
		return err
	}
	if err := s.checkDayLimit(tx, *row); err != nil {
		return err
	}
	return s.markReady(tx, v, by.actor)
}

// fixAmount checks at the moment of the last approval that the money of a refund is still there,
// and converts an amount at today's price for good.
func (s *store) fixAmount(tx *models.Tx, v *View, q prices) error {
	row := &v.Send
	from := source{}
	var left money.Amount
	if row.PaymentID != nil {
		view, err := s.Payments.LoadPayment(tx, *row.PaymentID)
		if err != nil {
			return err
		}
		from.view = view
	}
	if row.TransferID != nil {
		from.transfer = &models.Transfer{}
		if err := tx.Where("id = ?", *row.TransferID).Take(from.transfer).Error; err != nil {
			return err
		}
	}
	var err error
	if left, err = s.lockSource(tx, row, from); err != nil {
		return err
	}
	if row.Kind == Refund && left.Sign() < 0 {
		return fault.New(fault.Conflict, "nothing_to_refund", allRefunded)
	}
	if row.Rate != RateToday {
		return nil
	}
	if sentence := convertFiat(row, from, q, left.Add(row.Amount)); sentence != "" { // its own part is free for it
		return fault.New(fault.Conflict, "send_unavailable", sentence)
	}
	setValue(row, from, q)
	return nil
}

// checkDayLimit refuses a send that would exceed what may be approved in 24 hours.
func (s *store) checkDayLimit(tx *models.Tx, row models.Send) error {
	sc := scope.Scope{BusinessID: row.BusinessID, Domain: scope.Domain(row.Domain)}
	rules, err := s.readRules(tx, sc)
	if err != nil || rules.DayLimit == 0 {
		return err
	}
	var sum int64
	err = sc.Rows(tx.Model(&models.Send{})).Where("ready_at > ? AND id <> ?", s.Clock().Add(-24*time.Hour), row.ID).
		Select("COALESCE(SUM(value_usd), 0)").Scan(&sum).Error
	if err == nil && sum+row.ValueUSD > rules.DayLimit {
		err = fault.New(fault.Conflict, "day_limit", "With this send more would be approved in 24 hours "+
			"than your limit of "+
			money.FormatHundredths(rules.DayLimit)+" USD. Approve it later, or raise the limit in Sends.")
	}
	return err
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
	row.Status, row.Reason, row.ReadyAt, row.ReadyHeight = string(Ready), "", &now, &height
	row.Sealed = s.sealReady(*row)
	row.ExpiresAt = v.Now.Add(WaitForWallet)
	if row.Rate == RateToday {
		row.ExpiresAt = v.Now.Add(WaitForFiat)
	}
	wall := row.ExpiresAt.Add(-clockAdvance(*row))
	row.DueAt = &wall
	if err := watchAddress(tx, row.Network, row.Address, now); err != nil {
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
	if !isLive(row) || row.AddressBy == ByCustomer {
		return time.Time{}, nil
	}
	var known []models.PayoutAddress
	err := tx.Where("business_id = ? AND domain = ? AND network = ? AND address = ? AND tag = ?", row.BusinessID,
		row.Domain, row.Network, row.Address, tagNumber(row.Tag)).Find(&known).Error
	if err != nil || len(known) == 0 {
		return s.Clock().Add(AddressCooldown), err
	}
	return known[0].ReleasedAt, nil
}

// Reject refuses a send that waits for approval. note says why. Faults: Forbidden; NotFound;
// Conflict for another state; Invalid for the note.
func (s *Approvals) Reject(ctx context.Context, sc scope.Scope, reference, note string) (View, error) {
	if err := sc.CheckAction(scope.ApproveSends); err != nil {
		return View{}, err
	}
	return s.endSend(ctx, sc, reference, Rejected, NotAgreed, note, AwaitingDestination, AwaitingApproval)
}

// Cancel withdraws a send before a transaction that pays it was seen, or after it failed. Faults:
// Forbidden; NotFound; Conflict for another state.
func (s *Service) Cancel(ctx context.Context, sc scope.Scope, reference string) (View, error) {
	if _, err := s.Find(ctx, sc, reference); err != nil { // a send of another domain isn't there at all
		return View{}, err
	}
	if err := sc.CheckAction(scope.AskSends); err != nil {
		return View{}, err
	}
	return s.endSend(ctx, sc, reference, Cancelled, Withdrawn, "", AwaitingDestination, AwaitingApproval, Ready, Failed)
}

func (s *store) endSend(ctx context.Context, sc scope.Scope, reference string, state State, reason, note string,
	from ...State) (View, error) {
	fields := fault.Fields{}
	if payment.CheckNote(note, fields); len(fields) > 0 {
		return View{}, fault.Validation(fields)
	}
	found, err := s.Find(ctx, sc, reference)
	if err != nil {
		return View{}, err
	}
	made, err := idempotency.Do(ctx, s.DB, func(tx *models.Tx) (View, error) {
		v, err := s.loadCurrent(tx, found.Send.ID)
		if err != nil {
			return View{}, err
		}
		if !slices.Contains(from, v.State()) {
			return View{}, fault.New(fault.Conflict, "send_not_open", "This send is "+describeState(v.State())+
				", so it can't be "+ended[state]+" any more.")
		}
		if v.mayConfirm() {
			return View{}, fault.New(fault.Conflict, "may_confirm", "A transaction that pays this send "+
				"was dropped and may still confirm, so its money stays reserved. Try the send again, or "+
				"wait.")
		}
		if err := audit.Record(tx, sc, s.Clock(), "send."+string(state), v.Send.Reference,
			map[string]string{"amount": v.Amount() + " " + v.Send.Coin, "note": note}); err != nil {
			return View{}, err
		}
		err = s.writeTransition(tx, v, Outcome{State: state, Reason: reason, Main: -1}, sc.Actor, note)
		return *v, err
	})
	if err == nil {
		s.Changed()
	}
	return made, err
}

// Retry makes a failed send ready again once its transaction can't confirm any more. One that was
// only dropped may still confirm: two people must agree to it again.
//
// Faults: Forbidden; Invalid for the proof; NotFound; Conflict for another state.
func (s *Approvals) Retry(ctx context.Context, sc scope.Scope, reference string, proof Proof) (View, error) {
	if err := sc.CheckAction(scope.ApproveSends); err != nil {
		return View{}, err
	}
	if _, err := s.Users.Reauthenticate(ctx, sc, proof); err != nil {
		return View{}, err
	}
	found, err := s.Find(ctx, sc, reference)
	if err != nil {
		return View{}, err
	}
	made, err := idempotency.Do(ctx, s.DB, func(tx *models.Tx) (View, error) {
		v, err := s.loadCurrent(tx, found.Send.ID)
		if err != nil {
			return View{}, err
		}
		approvers, err := s.listApprovers(tx, v.Send)
		if err != nil {
			return View{}, err
		}
		if !slices.Contains(approvers, sc.Actor) {
			return View{}, errNotApprover
		}
		if v.Send.Sealed != s.sealReady(v.Send) {
			return View{}, errChanged
		}
		if v.State() != Failed {
			return View{}, fault.New(fault.Conflict, "send_not_failed", "Only a failed send can be tried "+
				"again; this one is "+
				describeState(v.State())+".")
		}
		if err := audit.Record(tx, sc, s.Clock(), "send.retried", v.Send.Reference, nil); err != nil {
			return View{}, err
		}
		if v.Send.Reason != Dropped {
			err = s.markReady(tx, v, sc.Actor)
			return *v, err
		}
		if err := tx.Where("send_id = ?", v.Send.ID).Delete(&models.SendApproval{}).Error; err != nil {
			return View{}, err
		}
		before := v.Send.Status
		v.Send.Approvals = 2
		if approvers, err = s.listApprovers(tx, v.Send); err != nil {
			return View{}, err
		}
		v.Send.Approvals = min(2, len(approvers)) // one person has no second approver
		v.Approvals, v.Send.Status, v.Send.Reason = nil, string(AwaitingApproval), SentAgain
		if err := s.writeStep(tx, v, models.SendStep{Kind: stepState, From: before, To: v.Send.Status,
			Reason: SentAgain, Actor: sc.Actor}); err != nil {
			return View{}, err
		}
		err = s.saveSend(tx, &v.Send)
		return *v, err
	})
	if err == nil {
		s.Changed()
	}
	return made, err
}

var (
	errNotApprover = fault.New(fault.Forbidden, "not_an_approver", "Another person must approve this send: you asked "+
		"for it, or have been an approver for less than a day.")
	errChanged = fault.New(fault.Conflict, "send_changed", "This send differs from what was approved, so it can't be "+
		"signed. Cancel it, ask for it again, and find out who changed it.")
)

// ended says in sentences what people end sends by.
var ended = map[State]string{Cancelled: "withdrawn", Rejected: "rejected"}

// mayConfirm reports that a transaction was only dropped: it may still pay the send.
func (v *View) mayConfirm() bool {
	return v.State() == Failed && v.Send.Reason == Dropped || v.Send.Reason == SentAgain
}

// checkReady refuses to hand out a send for signing that is not ready, or that was changed after it
// was approved.
func (s *store) checkReady(row models.Send) error {
	if State(row.Status) != Ready {
		return fault.New(fault.Conflict, "send_not_ready", "This send is "+describeState(State(row.Status))+
			"; only one that is ready can be signed.")
	}
	if row.Sealed != s.sealReady(row) {
		return errChanged
	}
	return nil
}

// StartSigning notes that a ready send is handed to a wallet, and returns it.
//
// Faults: Forbidden; NotFound; Conflict for a send that is not ready, or was changed.
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
		if err := s.checkReady(v.Send); err != nil || v.Send.SigningAt != nil {
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

// AdvanceClock moves the clock of a send of the test domain ahead. Faults: Forbidden; NotFound.
func (s *Service) AdvanceClock(ctx context.Context, sc scope.Scope, reference string, d time.Duration) error {
	if err := sc.CheckAction(scope.DriveSandbox); err != nil {
		return err
	}
	found, err := s.Find(ctx, sc, reference)
	if err != nil {
		return err
	}
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		v, err := s.loadSend(tx, found.Send.ID)
		if err != nil {
			return err
		}
		v.Send.Advanced += int64(d / time.Second)
		if v.Send.DueAt != nil { // its deadlines are nearer
			now := s.Clock()
			v.Send.DueAt = &now
		}
		return s.saveSend(tx, &v.Send)
	})
}
