package account_test

import (
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/scope"
	"cointill/models"
)

// TestInvitationMail: the list of invitations says what became of their mails;
// a new mail takes the place of one that failed.
func TestInvitationMail(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		made, err := b.Invite(ctx, sc, "bea@example.com", scope.Finance)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Invite(ctx, sc, "cyd@example.com", scope.Finance); err != nil {
			t.Fatal(err)
		}
		says := func(state, why string) {
			t.Helper()
			list, err := b.Invitations(ctx, sc)
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range list {
				if in.Email == "bea@example.com" && (in.Mail != state || in.MailWhy != why) ||
					in.Email != "bea@example.com" && (in.Mail != "kept" || in.MailWhy != "") {
					t.Errorf("%s: %q %q, want %q %q", in.Email, in.Mail, in.MailWhy, state, why)
				}
			}
		}
		set := func(columns map[string]any) {
			t.Helper()
			if err := b.DB.Exec(ctx).Model(&models.Mail{}).Where("to_address = ?",
				"bea@example.com").Updates(columns).Error; err != nil {
				t.Fatal(err)
			}
		}
		says("kept", "")
		set(map[string]any{"outcome": "", "done_at": nil, "last_error": "Not now."})
		says("pending", "Not now.")
		set(map[string]any{"outcome": "failed", "done_at": b.Clock.Now(), "last_error": "No such mailbox."})
		says("failed", "No such mailbox.")
		b.Clock.Advance(time.Minute)
		if _, err := b.ResendInvitation(ctx, sc, made.ID); err != nil {
			t.Fatal(err)
		}
		says("kept", "")
		if err := b.DB.Exec(ctx).Where("to_address = ?", "bea@example.com").Delete(&models.Mail{}).Error; err != nil {
			t.Fatal(err)
		}
		says("", "")
	})
}
