package send

import (
	"context"
	"slices"
	"strings"

	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/payment/record"
	"cointill/core/payment/refund"
	"cointill/core/scope"
	"cointill/core/send/letter"
	"cointill/core/send/seal"
	"cointill/models"
)

// The codes of timeline rows about sends that were sent in another way, beside SentInAnotherWay.
const (
	StepMarked   = "marked"   // a person said so, and another must agree
	StepUnmarked = "unmarked" // that was taken back
)

// MarkSent records that a person says that a ready or failed send was sent in another way than by a wallet that is
// followed here. note says how. Once as many people have said so as must approve the send it is successful, without
// a transaction: nothing is booked, and its money stays reserved.
//
// Faults: Forbidden for a role that may not, and for people without the right to approve the send; Invalid for the note and the
// proof; NotFound; Conflict for a send that is neither ready nor failed, or that changed since it was seen.
func (s *Approvals) MarkSent(ctx context.Context, sc scope.Scope, seen Seen, note string, proof Proof) (View, error) {
	fields := fault.Fields{}
	if refund.CheckNote(note, fields); strings.TrimSpace(note) == "" {
		fields.Add("note", "Must say how it was sent.")
	}
	if err := sc.CheckAction(scope.ApproveSends); err != nil {
		return View{}, err
	}
	if err := fault.Validation(fields); err != nil {
		return View{}, err
	}
	found, err := s.Find(ctx, sc, seen.Reference)
	if err != nil {
		return View{}, err
	}
	if err := s.checkPerson(ctx, sc, proof); err != nil {
		return View{}, err
	}
	return s.changeSend(ctx, sc, found.Send.ID, func(tx *models.Tx, v *View) error {
		approvers, err := s.checkMark(tx, v, sc.Actor, seen.Version)
		if err != nil {
			return err
		}
		if err := audit.Record(tx, sc, s.Clock(), "send."+SentInAnotherWay, v.Send.Reference,
			map[string]string{"amount": v.Amount() + " " + v.Send.Coin}); err != nil {
			return err
		}
		return s.addMark(tx, v, approvers, sc.Actor, note)
	})
}

// checkMark refuses a mark of a send that is not open, or by a person without the right to approve it. It returns the
// people with that right.
func (s *Approvals) checkMark(tx *models.Tx, v *View, actor, version string) (approvers []string, err error) {
	if approvers, err = s.listApprovers(tx, v.Send); err != nil {
		return nil, err
	}
	switch state := v.State(); {
	case state != Ready && state != Failed:
		return nil, fault.New(fault.Conflict, "send_not_open", "This send is %s. Only one that is ready or failed "+
			"can be marked as sent in another way.", record.DescribeState(string(state)))
	case version != v.Version():
		return nil, ErrSeenEarlier
	case !slices.Contains(approvers, actor):
		return nil, errNotApprover
	case s.isMarkedBy(v.Send, approvers) && v.Send.AnotherWayBy == actor:
		return nil, fault.New(fault.Conflict, "already_approved", "You have said already that this send was sent in "+
			"another way. Another person must agree.")
	}
	return approvers, nil
}

// addMark writes the mark of a person, and ends the send once enough people have marked it.
func (s *Approvals) addMark(tx *models.Tx, v *View, approvers []string, actor, note string) error {
	row := &v.Send
	rule, err := s.rules.ReadOf(tx, *row)
	if err != nil {
		return err
	}
	needed, given := max(rule.Needed(*row), row.Approvals), 1
	if s.isMarkedBy(*row, approvers) {
		given++
	}
	row.AnotherWayBy, row.AnotherWaySeal = actor, seal.SealMark(s.Secrets, *row, actor)
	if given < needed {
		if err := s.writeStep(tx, v, models.SendStep{Kind: stepNote, From: row.Status, To: row.Status, Reason: StepMarked,
			Actor: actor, Detail: encodeDetail(map[string]any{"note": note})}); err != nil {
			return err
		}
		row.DueAt = nil // it doesn't expire meanwhile
		others := slices.DeleteFunc(slices.Clone(approvers), func(other string) bool { return other == actor })
		if err := s.mailUsers(tx, v, letter.Letter{Kind: letter.Marked}, others); err != nil {
			return err
		}
		return s.saveSend(tx, row)
	}
	now := s.Clock()
	row.AnotherWayAt, row.Hash = &now, "" // a transaction that failed proves nothing
	return s.writeTransition(tx, v, Outcome{State: Successful, Reason: SentInAnotherWay, Main: -1}, actor, note)
}

// UnmarkSent takes back that a send was sent in another way, before enough people have said so.
//
// Faults: Forbidden; NotFound; Conflict for a send without such a mark.
func (s *Approvals) UnmarkSent(ctx context.Context, sc scope.Scope, reference string) (View, error) {
	if err := sc.CheckAction(scope.ApproveSends); err != nil {
		return View{}, err
	}
	found, err := s.Find(ctx, sc, reference)
	if err != nil {
		return View{}, err
	}
	return s.changeSend(ctx, sc, found.Send.ID, func(tx *models.Tx, v *View) error {
		if v.Send.AnotherWayBy == "" || v.Send.AnotherWayAt != nil {
			return fault.New(fault.Conflict, "send_not_open",
				"This send is not marked as sent in another way, "+
					"or enough people have agreed to that.")
		}
		if err := audit.Record(tx, sc, s.Clock(), "send.mark_taken_back", v.Send.Reference, nil); err != nil {
			return err
		}
		now := s.Clock() // its time to be signed may have ended meanwhile
		v.Send.AnotherWayBy, v.Send.AnotherWaySeal, v.Send.DueAt = "", "", &now
		if err := s.writeStep(tx, v, models.SendStep{Kind: stepNote, From: v.Send.Status, To: v.Send.Status,
			Reason: StepUnmarked, Actor: sc.Actor}); err != nil {
			return err
		}
		return s.saveSend(tx, &v.Send)
	})
}

// isMarkedBy reports that the mark of a send is of one of these people, as this server wrote it.
func (s *Approvals) isMarkedBy(row models.Send, people []string) bool {
	by := row.AnotherWayBy
	return slices.Contains(people, by) && row.AnotherWaySeal == seal.SealMark(s.Secrets, row, by)
}

// errMarked is returned about a send that may have been sent already.
var errMarked = fault.New(fault.Conflict, "send_not_ready", "A person says that this send was sent in another way. "+
	"Agree to that on its page, or take it back there first.")
