package auth_test

import (
	"fmt"
	"testing"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// TestHundredOpenInvitations: a business has at most 100 open invitations, of which each
// may be sent again. Those of others don't count.
func TestHundredOpenInvitations(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc := t.Context(), w.bea.Scope(scope.Test)
		add := func(name string) {
			t.Helper()
			row := models.Invitation{BusinessID: sc.BusinessID, Role: "finance", InvitedBy: w.bea.User.ID,
				Email: name + "@guests.example", Hash: name}
			if err := w.DB.Exec(ctx).Create(&row).Error; err != nil {
				t.Fatal(err)
			}
		}
		for i := len(w.bea.invited); i < 99; i++ {
			add(fmt.Sprint(i))
		}
		for _, c := range []struct {
			sc    scope.Scope
			email string
			want  string
		}{
			{sc, "hundredth@guests.example", ""}, {sc, "one.more@guests.example", "too_many_invitations"},
			{sc, "hundredth@guests.example", ""}, {w.ann.Scope(scope.Test), "one.more@guests.example", ""},
		} {
			if _, err := w.Invite(ctx, c.sc, c.email, scope.Admin); code(err) != c.want {
				t.Errorf("Invite of %s into business %d = %v, want %q", c.email, c.sc.BusinessID, err, c.want)
			}
		}
		add("101st") // as no operation does
		if _, err := w.Invite(ctx, sc, "hundredth@guests.example", scope.Admin); code(err) != "too_many_invitations" {
			t.Errorf("Invite again beside 100 others = %v, want too_many_invitations", err)
		}
	})
}

// TestAdminInvitesBesideOwners: an admin may not replace the invitation of an owner, but
// may invite others, also who is invited as an owner of another business.
func TestAdminInvitesBesideOwners(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc := t.Context(), w.bea.Scope(scope.Test)
		admin := w.Hire(t, sc, "dan@example.com", scope.Admin).Scope(scope.Test)
		for email, by := range map[string]scope.Scope{
			"own@guests.example": sc, "other@guests.example": w.ann.Scope(scope.Test),
		} {
			if _, err := w.Invite(ctx, by, email, scope.Owner); err != nil {
				t.Fatal(err)
			}
		}
		for email, want := range map[string]string{
			"own@guests.example": "owners_only", "other@guests.example": "", "new@guests.example": "",
		} {
			if _, err := w.Invite(ctx, admin, email, scope.Finance); code(err) != want {
				t.Errorf("Invite of %s by an admin = %v, want %q", email, err, want)
			}
		}
	})
}

// TestAcceptNeedsTheUser: an invitation of who has no account is accepted by no user, not
// even by the number 0; its page names who invited.
func TestAcceptNeedsTheUser(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, token := t.Context(), linkToken(w.bea.invited[0])
		for _, id := range []int64{0, w.bea.User.ID} {
			if _, err := w.Accept(ctx, token, id); code(err) != "other_user" {
				t.Errorf("Accept by the user %d = %v, want other_user", id, err)
			}
		}
		in, err := w.Invite(ctx, w.bea.Scope(scope.Test), "cyd@example.com", scope.Admin)
		if err != nil {
			t.Fatal(err)
		}
		got, err := w.FindInvitation(ctx, linkToken(in))
		want := account.Invited{Business: "bea", Email: "cyd@example.com", Role: scope.Admin, By: "bea",
			User: w.cyd.User.ID}
		if err != nil || got != want {
			t.Errorf("FindInvitation = %+v, %v, want %+v", got, err, want)
		}
	})
}

// TestInvitationNamesItsSender: the mail and the list name who invites and into what.
func TestInvitationNamesItsSender(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.Letters()
		in, err := w.Invite(t.Context(), w.bea.Scope(scope.Test), "new@guests.example", scope.Admin)
		if err != nil {
			t.Fatal(err)
		}
		l := (*w.Sent)[0]
		if in.By != "bea" || l.By.Name != "bea" || l.Business != "bea" || l.Role != scope.Admin ||
			l.To.Email != in.Email {
			t.Errorf("the invitation is by %q, its mail %+v, want both by bea into bea", in.By, l)
		}
	})
}

// TestMethodsAreSwitched: switching a method records what it was; one without a network is
// switched off, but not on; switching it to what it is changes nothing.
func TestMethodsAreSwitched(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		id, test, live := w.bea.Business.ID, w.bea.Scope(scope.Test), w.bea.Scope(scope.Live)
		row := w.DB.Exec(t.Context()).Model(&models.Method{}).Where("business_id = ? AND domain = 'live'", id)
		if err := row.Update("enabled", true).Error; err != nil {
			t.Fatal(err)
		}
		off, on := `method.disabled {"after":false,"before":true}`, `method.enabled {"after":true,"before":false}`
		for _, c := range []struct {
			sc            scope.Scope
			on            bool
			want, records string
		}{
			{test, true, "", ""}, {test, false, "", off}, {test, false, "", ""}, {test, true, "", on},
			{live, true, "method_unavailable", ""}, {live, false, "", off},
		} {
			before := w.Actions(t, id)
			if err := w.SetMethod(t.Context(), c.sc, money.CryptoTether, c.on); code(err) != c.want {
				t.Errorf("SetMethod in %s to %v = %v, want %q", c.sc.Domain, c.on, err, c.want)
			}
			var audits []models.Audit
			if err := w.DB.Read(t.Context()).Where("business_id = ?", id).Order("id").Find(&audits).Error; err != nil {
				t.Fatal(err)
			}
			got := joinNames(audits[len(before):], func(a models.Audit) string { return a.Action + " " + a.Detail })
			if got != c.records {
				t.Errorf("SetMethod in %s to %v records %q, want %q", c.sc.Domain, c.on, got, c.records)
			}
		}
	})
}

// TestNothingChangesWithoutAChange: who gives a thing the name or role that it has, changes
// nothing, and nothing is recorded.
func TestNothingChangesWithoutAChange(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc := t.Context(), w.bea.Scope(scope.Test)
		list, err := w.Passkeys(ctx, sc)
		if err != nil {
			t.Fatal(err)
		}
		dan := w.Hire(t, sc, "dan@example.com", scope.Admin)
		w.runSteps(t, []step{
			{"Rename", func() error { return w.Rename(ctx, sc, "bea") }, ""},
			{"ChooseLanguage", func() error { return w.ChooseLanguage(ctx, sc, "fr") },
				"+ audits bea user.language_changed bea; + audits cyd user.language_changed bea; " +
					"~ users bea: language updated_at"},
			{"ChooseLanguage again", func() error { return w.ChooseLanguage(ctx, sc, "fr") }, ""},
			{"RenamePasskey", func() error { return w.RenamePasskey(ctx, sc, list[0].ID, list[0].Name) }, ""},
			{"SetRole", func() error { return w.SetRole(ctx, sc, dan.User.ID, scope.Admin) }, ""},
		})
	})
}

// TestOperator: an operator is who has an operator's address and more than a password.
func TestOperator(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.Operators = []string{"bea@example.com", "cyd@example.com"}
		check := func(why string, p *person, want bool) {
			t.Helper()
			m, err := w.Membership(ctx, p.User.ID, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := w.Operator(ctx, m.User); err != nil || got != want {
				t.Errorf("%s: Operator(%s) = %v, %v, want %v", why, m.User.Name, got, err, want)
			}
		}
		check("without an operator's address", &w.ann, false)
		if err := w.DB.Exec(ctx).Where("user_id = ?", w.bea.User.ID).Delete(&models.Passkey{}).Error; err != nil {
			t.Fatal(err)
		}
		check("with a second factor, without a passkey", &w.bea, true)
		if err := w.ResetFactor(ctx, w.bea.User.Email); err != nil {
			t.Fatal(err)
		}
		check("with neither", &w.bea, false)
		w.passkey(t, w.bea.Scope(scope.Test), "one")
		check("with one passkey", &w.bea, true)
		for _, want := range []string{"bea, cyd", ""} {
			users, err := w.OperatorUsers(w.DB.Read(ctx))
			if got := joinNames(users, func(u auth.User) string { return u.Name }); err != nil || got != want {
				t.Errorf("OperatorUsers of %q = %s, %v, want %q", w.Operators, got, err, want)
			}
			w.Operators = nil
		}
	})
}

// TestOperatorAddressIsNotGivenAway: an operator's address isn't taken with an invitation's
// link. Who has it already signs in.
func TestOperatorAddressIsNotGivenAway(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.Operators = []string{"boss@example.com", "cyd@example.com"}
		for email, want := range map[string]string{
			"boss@example.com": "operator_address", "cyd@example.com": "sign_in_to_accept", "eve@example.com": "",
		} {
			in, err := w.Invite(t.Context(), w.ann.Scope(scope.Test), email, scope.Owner)
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = w.AcceptAsNew(t.Context(), linkToken(in), account.Newcomer{Name: "Boss", Password: another})
			if code(err) != want {
				t.Errorf("AcceptAsNew of %s = %v, want %q", email, err, want)
			}
		}
	})
}
