package send

import (
	"context"
	"slices"

	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/payment/record"
	"cointill/core/payment/refund"
	"cointill/core/scope"
	"cointill/core/send/seal"
	"cointill/models"
)

// Reject refuses a send that waits for approval. note says why. One that was to be tried again while its first
// transaction may still confirm has failed again, and keeps its money. Faults: Forbidden; NotFound; Conflict for
// another state; Invalid for the note.
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
	if refund.CheckNote(note, fields); len(fields) > 0 {
		return View{}, fault.Validation(fields)
	}
	found, err := s.Find(ctx, sc, reference)
	if err != nil {
		return View{}, err
	}
	return s.changeSend(ctx, sc, found.Send.ID, func(tx *models.Tx, v *View) error {
		if !slices.Contains(from, v.State()) {
			return fault.New(fault.Conflict, "send_not_open", "This send is %s, so it can't be %s any more.",
				record.DescribeState(v.Send.Status), ended[state])
		}
		if v.Send.AnotherWayBy != "" {
			return errMarked
		}
		if at := v.Send.BroadcastAt; v.State() == Ready && at != nil && s.Clock().Before(at.Add(unseenFor)) {
			return fault.New(fault.Conflict, "may_confirm", "The network was given the signed transaction of "+
				"this send, so its money stays reserved. If the transaction isn't seen, withdraw the send six hours "+
				"after it was signed.")
		}
		to, why := state, reason // a conflict runs this a second time
		if v.State() == AwaitingApproval && v.Send.Reason == SentAgain && state == Rejected {
			to, why = Failed, Dropped
		} else if v.MayConfirm() {
			return fault.New(fault.Conflict, "may_confirm", "A transaction that pays this send "+
				"was dropped and may still confirm, so its money stays reserved. Try the send again, or "+
				"wait.")
		}
		if err := audit.Record(tx, sc, s.Clock(), "send."+string(to), v.Send.Reference,
			map[string]string{"amount": v.Amount() + " " + v.Send.Coin}); err != nil {
			return err
		}
		return s.writeTransition(tx, v, Outcome{State: to, Reason: why, Main: -1}, sc.Actor, note)
	})
}

// Retry makes a failed send ready again once none of its transactions can confirm any more, those that were only handed
// to a wallet included. Otherwise two people must agree to it again.
//
// Faults: Forbidden; Invalid for the proof; NotFound; Conflict for another state, and for a refund of money
// that is gone or that other sends took since.
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
	return s.changeSend(ctx, sc, found.Send.ID, func(tx *models.Tx, v *View) error {
		approvers, err := s.listApprovers(tx, v.Send)
		if err != nil {
			return err
		}
		if !slices.Contains(approvers, sc.Actor) {
			return errNotApprover
		}
		if v.Send.Sealed == "" { // its approval ended with it
			return fault.New(fault.Conflict, "send_not_failed", "This send was withdrawn before it was seen, "+
				"so nobody approves it any more. Ask for it again.")
		}
		if v.Send.Sealed != seal.SealReady(s.Secrets, v.Send) {
			return errChanged
		}
		if v.Send.AnotherWayBy != "" {
			return errMarked
		}
		if v.State() != Failed {
			return fault.New(fault.Conflict, "send_not_failed",
				"Only a failed send can be tried again; this one is %s.",
				record.DescribeState(v.Send.Status))
		}
		if err := audit.Record(tx, sc, s.Clock(), "send.retried", v.Send.Reference, nil); err != nil {
			return err
		}
		v.Send.EndedAt = nil
		if !v.MayConfirm() {
			// It can't confirm: another wallet may pay.
			v.Send.Account, v.Send.Terms, v.Send.SignedHash, v.Send.BatchID = "", "", "", nil
			v.Send.BroadcastAt, v.Send.Reason = nil, ""
			if err := s.fixAmount(tx, v, prices{}); err != nil {
				return err
			}
			return s.markReady(tx, v, sc.Actor)
		}
		if err := tx.Where("send_id = ?", v.Send.ID).Delete(&models.SendApproval{}).Error; err != nil {
			return err
		}
		before, requestSealed := v.Send.Status, seal.HasRequestSeal(s.Secrets, v.Send)
		v.Send.Approvals = 2
		if approvers, err = s.listApprovers(tx, v.Send); err != nil {
			return err
		}
		v.Send.Approvals = min(2, len(approvers)) // one person has no second approver
		if requestSealed {
			v.Send.RequestSeal = seal.SealRequest(s.Secrets, v.Send)
		}
		v.Approvals, v.Send.Status, v.Send.Reason = nil, string(AwaitingApproval), SentAgain
		if err := s.writeStep(tx, v, models.SendStep{Kind: stepState, From: before, To: v.Send.Status,
			Reason: SentAgain, Actor: sc.Actor}); err != nil {
			return err
		}
		return s.saveSend(tx, &v.Send)
	})
}

// ended says in sentences what people end sends by.
var ended = map[State]fault.Message{Cancelled: fault.NewMessage("withdrawn"), Rejected: fault.NewMessage("rejected")}

// MayConfirm reports that a transaction of a send that failed may still pay it, seen or only handed to a wallet, also
// since it is tried again.
func (v *View) MayConfirm() bool {
	return v.State() == Failed && v.Send.Reason == Dropped && !v.Lapsed ||
		v.Send.Reason == SentAgain && (v.State() != Ready || !v.Lapsed)
}
