package send

import (
	"context"
	"fmt"
	"slices"
	"time"

	"cointill/core/account/auth"
	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/payment/record"
	"cointill/core/scope"
	"cointill/core/send/seal"
	"cointill/models"
)

// Proof shows that the person at a session is its user.
type Proof = auth.Proof

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
		return !slices.Contains(approvers, a.Actor) || a.Content != seal.SealApproval(s.Secrets, row, a.Actor)
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
	if err := s.checkPerson(ctx, sc, proof); err != nil {
		return View{}, err
	}
	return s.approveSend(ctx, sc, Seen{reference, seen}, false)
}

// Seen is a send as a person saw it, by its View.Version.
type Seen struct{ Reference, Version string }

// ApproveEach is Approve for several sends with one proof. Each is decided by itself: refused has the fault of
// each send, nil for one that was approved.
func (s *Approvals) ApproveEach(ctx context.Context, sc scope.Scope, seen []Seen, proof Proof) (refused []error,
	err error) {
	if err := s.checkPerson(ctx, sc, proof); err != nil {
		return nil, err
	}
	for _, one := range seen {
		_, err := s.approveSend(ctx, sc, one, false)
		refused = append(refused, err)
	}
	return refused, nil
}

// checkPerson checks that the person of a scope is there, and that their role may approve.
func (s *Approvals) checkPerson(ctx context.Context, sc scope.Scope, proof Proof) error {
	if err := sc.CheckAction(scope.ApproveSends); err != nil {
		return err
	}
	_, err := s.Users.Reauthenticate(ctx, sc, proof)
	return err
}

// ApproveInSandbox plays the approvers of a send in the test domain. Faults: as Approve.
func (s *Approvals) ApproveInSandbox(ctx context.Context, sc scope.Scope, reference string) (View, error) {
	if err := sc.CheckAction(scope.DriveSandbox); err != nil {
		return View{}, err
	}
	return s.approveSend(ctx, sc, Seen{Reference: reference}, true)
}

// approveSend adds the approval of a person, or the sandbox's, which stands for all and has seen no version.
func (s *Approvals) approveSend(ctx context.Context, sc scope.Scope, seen Seen, sandbox bool) (View, error) {
	found, err := s.Find(ctx, sc, seen.Reference)
	if err != nil {
		return View{}, err
	}
	q, err := s.readPrices(ctx, sc, found.Send)
	if err != nil {
		return View{}, err
	}
	return s.changeSend(ctx, sc, found.Send.ID, func(tx *models.Tx, v *View) error {
		if v.State() != AwaitingApproval {
			return fault.New(fault.Conflict, "not_awaiting_approval",
				"This send waits for no approval; it is %s.",
				record.DescribeState(v.Send.Status))
		}
		if !sandbox && seen.Version != v.Version() {
			return fault.New(fault.Conflict, "send_changed", "This send changed since you opened "+
				"it. Read it again before you approve it.")
		}
		if !sandbox {
			if err := s.addApproval(tx, v, sc.Actor); err != nil {
				return err
			}
		}
		if err := audit.Record(tx, sc, s.Clock(), "send.approved", v.Send.Reference,
			map[string]string{"amount": v.Amount() + " " + v.Send.Coin, "address": v.Send.Address}); err != nil {
			return err
		}
		if err := s.writeStep(tx, v, models.SendStep{Kind: stepNote, From: v.Send.Status, To: v.Send.Status,
			Reason: "approved", Actor: sc.Actor}); err != nil {
			return err
		}
		return s.makeReady(tx, v, q, approval{sc.Actor, sandbox})
	})
}

// addApproval stores the approval of a person who may. One of an earlier version of the send gives way.
func (s *Approvals) addApproval(tx *models.Tx, v *View, actor string) error {
	approvers, err := s.listApprovers(tx, v.Send)
	if err == nil && !slices.Contains(approvers, actor) {
		err = errNotApprover
	}
	if err != nil {
		return err
	}
	content := seal.SealApproval(s.Secrets, v.Send, actor)
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
	v.Approvals, err = s.listApprovals(tx, v.Send)
	return err
}

var (
	errNotApprover = fault.New(fault.Forbidden, "not_an_approver", "Another person must approve this send: you asked "+
		"for it, or have been an approver for less than a day.")
	errChanged = fault.New(fault.Conflict, "send_changed", "This send differs from what was approved, so it can't be "+
		"signed. Cancel it, ask for it again, and find out who changed it.")
)

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
