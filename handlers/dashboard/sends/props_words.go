package sends

import (
	"cmp"
	"context"
	"encoding/json"

	"cointill/core/scope"
	"cointill/core/send"
	"cointill/models"
	"cointill/views/ui"
	"cointill/views/words"
)

// sentence says plainly what happened to a send.
func sentence(ctx context.Context, f sendFacts) string {
	v, row := f.View, f.View.Send
	if row.AnotherWayBy != "" && row.AnotherWayAt == nil {
		return words.T(ctx, "sends.said_marked", "Who", nameActor(ctx, row.AnotherWayBy, f.Names))
	}
	switch v.State() {
	case send.AwaitingDestination:
		return words.T(ctx, "sends.said_address")
	case send.AwaitingApproval:
		switch {
		case row.Reason == send.NewAddress && row.DueAt != nil:
			return words.T(ctx, "sends.said_new_address", "Until", ui.TimeText(ctx, row.DueAt.In(f.Zone)))
		case row.Reason == send.SentAgain:
			return words.T(ctx, "sends.said_approve_again")
		}
		return words.N(ctx, "sends.said_approval", max(1, row.Approvals-len(v.Approvals)))
	case send.Ready:
		if v.MayConfirm() {
			return words.T(ctx, "sends.said_ready_again")
		}
		return words.T(ctx, "sends.said_ready")
	case send.Processing:
		if row.Reason == send.SentAnyway {
			return words.T(ctx, "sends.said_sent_anyway")
		}
		return words.T(ctx, "sends.said_processing")
	case send.Successful:
		switch {
		case row.Reversed:
			return words.T(ctx, "sends.said_reversed")
		case row.PaidTwice && row.AnotherWayAt != nil:
			return words.T(ctx, "sends.said_another_way_twice")
		case row.PaidTwice:
			return words.T(ctx, "sends.said_paid_twice")
		case row.AnotherWayAt != nil:
			return words.T(ctx, "sends.said_another_way", "Who", nameActor(ctx, row.AnotherWayBy, f.Names))
		}
		return words.T(ctx, "sends.said_successful")
	case send.Failed:
		return failedWords(ctx, row.Reason)
	case send.Rejected:
		return words.T(ctx, "sends.said_rejected")
	case send.Cancelled:
		return words.T(ctx, "sends.said_cancelled")
	}
	if row.Reason == send.NotClaimed {
		return words.T(ctx, "sends.said_not_claimed")
	}
	return words.T(ctx, "sends.said_not_signed")
}

func failedWords(ctx context.Context, reason string) string {
	switch reason {
	case send.Reverted:
		return words.T(ctx, "sends.said_reverted")
	case send.Dropped:
		return words.T(ctx, "sends.said_dropped")
	}
	return words.T(ctx, "sends.said_replaced")
}

// nextStep says what a person may do about a send now; "" when there is nothing to do.
func nextStep(ctx context.Context, f sendFacts) string {
	v, row, approves := f.View, f.View.Send, f.Scope.Allows(scope.ApproveSends)
	switch marked := row.AnotherWayBy != "" && row.AnotherWayAt == nil; {
	case marked && approves:
		return words.T(ctx, "sends.next_marked")
	case marked:
		return words.T(ctx, "sends.next_marked_admin")
	}
	switch v.State() {
	case send.AwaitingDestination:
		return words.T(ctx, "sends.next_address")
	case send.AwaitingApproval:
		switch {
		case !approves:
			return words.T(ctx, "sends.next_approve_admin")
		case hasApproved(v, f.Scope.Actor):
			return words.T(ctx, "sends.next_approve_second")
		case f.Approver:
			return words.T(ctx, "sends.next_approve")
		}
		return words.T(ctx, "sends.next_approve_other")
	case send.Ready:
		if v.UsesSandboxWallet() && f.Scope.Allows(scope.DriveSandbox) {
			return words.T(ctx, "sends.next_sign_sandbox")
		}
		return words.T(ctx, "sends.next_sign_admin")
	case send.Processing:
		return words.T(ctx, "sends.next_processing")
	case send.Successful:
		switch {
		case row.Reversed:
			return words.T(ctx, "sends.next_reversed")
		case row.PaidTwice:
			return words.T(ctx, "sends.next_twice")
		}
	case send.Failed:
		switch {
		case v.MayConfirm() && approves:
			return words.T(ctx, "sends.next_dropped")
		case v.MayConfirm():
			return words.T(ctx, "sends.next_dropped_admin")
		case approves:
			return words.T(ctx, "sends.next_failed")
		}
		return words.T(ctx, "sends.next_failed_admin")
	}
	return ""
}

// timeline is what happened to a send, in order.
func timeline(ctx context.Context, f sendFacts) (list []ui.Step) {
	hash := ""
	for _, s := range f.Steps {
		step := ui.Step{At: s.At.In(f.Zone), Title: stepTitle(ctx, f.View.Send, s), Tone: stepTone(s), Icon: "ring"}
		if s.Actor != "system" {
			step.Text = words.T(ctx, "sends.step_by", "Who", nameActor(ctx, s.Actor, f.Names))
		}
		var about struct{ Hash, Note string }
		if json.Unmarshal([]byte(s.Detail), &about) != nil {
			about.Hash, about.Note = "", ""
		}
		if about.Note != "" {
			step.Text += ": " + about.Note
		}
		if about.Hash != "" && about.Hash != hash {
			step.Mono, step.MonoLabel, hash = about.Hash, words.T(ctx, "sends.hash_name"), about.Hash
		}
		list = append(list, step)
	}
	return list
}

func stepTone(s models.SendStep) ui.Tone {
	switch send.State(s.To) {
	case send.Successful:
		if s.Reason != "" {
			return ui.Bad
		}
		return ui.Good
	case send.Failed:
		return ui.Bad
	case send.Processing:
		return ui.Info
	}
	return ui.Mute
}

// stepTitles are the messages that name rows of the timeline, by their reason.
var stepTitles = map[string]string{
	"approved":            "sends.step_approved",
	"signing":             "sends.step_signing",
	"wallet_sent":         "sends.step_wallet_sent",
	"signed":              "sends.step_signed",
	"address_changed":     "sends.step_address_changed",
	send.SentAgain:        "sends.step_approve_again",
	send.StepMarked:       "sends.step_marked",
	send.StepUnmarked:     "sends.step_unmarked",
	send.SentInAnotherWay: "sends.another_way_title",
	send.PaidTwice:        "sends.paid_twice",
	send.ReversedCode:     "sends.reversed",
}

// stateTitles are the messages that name other rows, by the state that was reached.
var stateTitles = map[send.State]string{
	send.AwaitingApproval: "sends.step_address",
	send.Ready:            "sends.step_ready",
	send.Processing:       "sends.step_processing",
	send.Successful:       "sends.step_successful",
	send.Failed:           "sends.step_failed",
	send.Rejected:         "sends.step_rejected",
	send.Cancelled:        "sends.step_cancelled",
}

// stepTitle names a row of the timeline.
func stepTitle(ctx context.Context, row models.Send, s models.SendStep) string {
	if id, known := stepTitles[s.Reason]; known {
		return words.T(ctx, id)
	}
	switch {
	case s.From == "" && row.Kind == send.Payout:
		return words.T(ctx, "sends.step_asked_payout")
	case s.From == "":
		return words.T(ctx, "sends.step_asked_refund")
	case s.Kind == "transfer":
		return words.T(ctx, "sends.step_another")
	}
	return words.T(ctx, cmp.Or(stateTitles[send.State(s.To)], "sends.step_expired"))
}
