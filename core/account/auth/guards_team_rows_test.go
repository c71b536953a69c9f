package auth_test

import (
	"testing"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/account/auth/passkeytest"
	"cointill/core/scope"
	"cointill/models"
)

// TestPasskeysChangeAlone: an act on one passkey changes no other of the user or of others.
func TestPasskeysChangeAlone(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc, bea := t.Context(), w.bea.Scope(scope.Test), &w.bea
		list, err := w.Passkeys(ctx, sc)
		if err != nil {
			t.Fatal(err)
		}
		second := list[0] // the latest
		var options []byte
		w.runSteps(t, []step{
			{"BeginPasskey", func() (err error) {
				options, err = w.BeginPasskey(ctx, sc, w.prove(t, bea), "new", "mine bea")
				return err
			},
				"- attempts email of bea; ~ attempts address: blocked_to count updated_at; " +
					"~ passkey_challenges mine bea bea: data expires_at; ~ users bea: totp_step updated_at"},
			{"ConfirmPasskey", func() error {
				_, err := w.ConfirmPasskey(ctx, sc, "mine bea", passkeytest.New(origin).Make(t, options))
				return err
			},
				"+ audits bea user.passkey_added bea; + audits cyd user.passkey_added bea; " +
					"+ mails account_passkey_added bea; + passkeys new; - passkey_challenges mine bea bea"},
			{"AskPasskey", func() (err error) {
				options, err = w.AskPasskey(ctx, "visitor bea",
					"192.0.2.1")
				return err
			},
				"~ attempts address: count updated_at; " +
					"~ passkey_challenges visitor bea nobody: data expires_at"},
			{"EnterPasskey", func() error {
				_, err := w.EnterPasskey(ctx, "visitor bea", bea.passkeys[1].Answer(t, options), "192.0.2.1")
				return err
			},
				"+ audits bea user.passkey_used bea; + audits cyd user.passkey_used bea; " +
					"- passkey_challenges visitor bea nobody; ~ attempts address: count; " +
					"~ passkeys bea 1: sign_count used_at"},
			{"EnterPasskey with a copy", func() error {
				bea.passkeys[1].Count = 0
				return refuses(w.with(t, bea.passkeys[1]))("passkey_copied")
			},
				"+ audits bea user.passkey_copied bea; + audits cyd user.passkey_copied bea; " +
					"+ mails account_passkey_copied bea; ~ attempts address: count updated_at; " +
					"~ passkeys bea 1: copied_at"},
			{"EnterPasskey at another site", func() error {
				bea.passkeys[1].Origin = "https://evil.example"
				return refuses(w.with(t, bea.passkeys[1]))("passkey_refused")
			},
				"+ audits bea user.passkey_refused bea; + audits cyd user.passkey_refused bea; " +
					"~ attempts address: count updated_at"},
			{"RenamePasskey", func() error { return w.RenamePasskey(ctx, sc, second.ID, "bea's") },
				"+ audits bea user.passkey_renamed bea; + audits cyd user.passkey_renamed bea; ~ passkeys bea 1: name"},
			{"RemovePasskey", func() error {
				return w.RemovePasskey(ctx, sc, second.ID, w.prove(t, bea), auth.SessionKey(bea.sessions[1].Token))
			},
				"+ audits bea user.passkey_removed bea; + audits cyd user.passkey_removed bea; " +
					"+ mails account_passkey_removed bea; - passkeys bea's; - sessions bea 0; - sessions bea 2; " +
					"~ attempts address: blocked_to count updated_at; ~ users bea: totp_step updated_at"},
		})
	})
}

// TestTeamsChangeAlone: a change of one business's team changes no other's, and of its
// invitations only the one that is meant, or those of the member who may no longer send them.
func TestTeamsChangeAlone(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc, bea := t.Context(), w.bea.Scope(scope.Test), w.bea
		for _, name := range []string{"dan", "eve"} { // admins of Bea's, with an invitation each
			m := w.Hire(t, sc, name+"@example.com", scope.Admin)
			if _, err := w.Invite(ctx, m.Scope(scope.Test), name+"@guests.example", scope.Admin); err != nil {
				t.Fatal(err)
			}
		}
		var dan models.User
		if err := w.DB.Read(ctx).Where("name = 'New Person'").Order("id").First(&dan).Error; err != nil {
			t.Fatal(err)
		}
		w.runSteps(t, []step{
			{"Invite", func() error { _, err := w.Invite(ctx, sc, "new@guests.example", scope.Admin); return err },
				"+ audits bea member.invited new@guests.example; + invitations new@guests.example; " +
					"+ mails account_invitation new@guests.example"},
			{"Invite again", func() error {
				_, err := w.Invite(ctx, sc, "bea0@guests.example",
					scope.Admin)
				return err
			},
				"+ audits bea member.invited bea0@guests.example; + mails account_invitation bea0@guests.example; " +
					"~ invitations bea0@guests.example: expires_at hash mail role seed sent_at"},
			{"Invite of Ann's guest", func() error {
				_, err := w.Invite(ctx, sc, "ann0@guests.example", scope.Finance)
				return err
			},
				"+ audits bea member.invited ann0@guests.example; + invitations ann0@guests.example; " +
					"+ mails account_invitation ann0@guests.example"},
			{"ResendInvitation", func() error { _, err := w.ResendInvitation(ctx, sc, bea.invited[1].ID); return err },
				"+ audits bea invitation.resent bea1@guests.example; + mails account_invitation bea1@guests.example; " +
					"~ invitations bea1@guests.example: expires_at hash mail seed sent_at"},
			{"RevokeInvitation", func() error { return w.RevokeInvitation(ctx, sc, bea.invited[1].ID) },
				"+ audits bea invitation.revoked bea1@guests.example; - invitations bea1@guests.example"},
			{"AcceptAsNew", func() error {
				_, _, err := w.AcceptAsNew(ctx, linkToken(bea.invited[2]), account.Newcomer{Name: "fay",
					Password: another})
				return err
			},
				"+ audits bea member.joined bea2@guests.example; + members 6 bea; + users bea2@guests.example; " +
					"- invitations bea2@guests.example"},
			{"SetRole", func() error { return w.SetRole(ctx, sc, dan.ID, scope.Finance) },
				"+ audits bea member.role_changed dan; - invitations dan@guests.example; ~ members 4 bea: role role_since"},
			{"RemoveMember", func() error { return w.RemoveMember(ctx, sc, dan.ID) },
				"+ audits bea member.removed dan; - members 4 bea"},
		})
		in, err := w.Invite(ctx, sc, "ann@example.com", scope.Admin)
		if err != nil {
			t.Fatal(err)
		}
		w.runSteps(t, []step{
			{"Accept", func() error { _, err := w.Accept(ctx, linkToken(in), w.ann.User.ID); return err },
				"+ audits bea member.joined ann; + members ann bea; - invitations ann"},
			{"RemoveMember of who owns another business", func() error {
				return w.RemoveMember(ctx, w.cyd.Scope(scope.Test), bea.User.ID)
			},
				"+ audits cyd member.removed bea; - members bea cyd"},
		})
	})
}
