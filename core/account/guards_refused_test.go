package account_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// TestOnlyPeopleHaveAccounts: what belongs to a user's own account is refused to API keys
// and to the system, and changes nothing.
func TestOnlyPeopleHaveAccounts(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		operations := map[string]func(sc scope.Scope) error{
			"Rename": func(sc scope.Scope) error { return w.Rename(ctx, sc, "Other") },
			"ChangePassword": func(sc scope.Scope) error {
				return w.ChangePassword(ctx, sc, proven, "another long phrase", "")
			},
			"AskEmail":           func(sc scope.Scope) error { return w.AskEmail(ctx, sc, "x@new.example", proven) },
			"BeginSecondFactor":  func(sc scope.Scope) error { _, err := w.BeginSecondFactor(ctx, sc, proven); return err },
			"ResumeSecondFactor": func(sc scope.Scope) error { _, err := w.ResumeSecondFactor(ctx, sc, w.bea.begun.Sealed); return err },
			"ConfirmSecondFactor": func(sc scope.Scope) error {
				_, err := w.ConfirmSecondFactor(ctx, sc, w.bea.begun.Sealed, "123456", "", "192.0.2.1")
				return err
			},
			"RemoveSecondFactor": func(sc scope.Scope) error { return w.RemoveSecondFactor(ctx, sc, proven, "") },
			"NewRecoveryCodes":   func(sc scope.Scope) error { _, err := w.NewRecoveryCodes(ctx, sc, proven); return err },
			"SecondFactor":       func(sc scope.Scope) error { _, err := w.SecondFactor(ctx, sc); return err },
			"Sessions":           func(sc scope.Scope) error { _, err := w.Sessions(ctx, sc); return err },
			"EndSession": func(sc scope.Scope) error {
				return w.EndSession(ctx, sc, account.SessionKey(w.bea.sessions[0].Token))
			},
			"EndOtherSessions": func(sc scope.Scope) error { return w.EndOtherSessions(ctx, sc, "") },
			"Passkeys":         func(sc scope.Scope) error { _, err := w.Passkeys(ctx, sc); return err },
			"Passkey":          func(sc scope.Scope) error { _, err := w.Passkey(ctx, sc, 1); return err },
			"BeginPasskey":     func(sc scope.Scope) error { _, err := w.BeginPasskey(ctx, sc, proven, "x", "s"); return err },
			"ConfirmPasskey":   func(sc scope.Scope) error { _, err := w.ConfirmPasskey(ctx, sc, "s", []byte("{}")); return err },
			"RenamePasskey":    func(sc scope.Scope) error { return w.RenamePasskey(ctx, sc, 1, "x") },
			"RemovePasskey":    func(sc scope.Scope) error { return w.RemovePasskey(ctx, sc, 1, proven, "") },
		}
		for name, operation := range operations {
			for _, actor := range []string{"key:1", "system", fmt.Sprint(w.bea.User.ID), "user:x", ""} {
				sc := w.bea.Scope(scope.Test)
				sc.Actor = actor
				before := w.readRows(t)
				err := operation(sc)
				if fault.KindOf(err) != fault.Forbidden || code(err) != "role_not_allowed" {
					t.Errorf("%s as %q: got %v, want role_not_allowed", name, actor, err)
				}
				if changed := w.compareRows(t, before, w.readRows(t)); changed != nil {
					t.Errorf("%s as %q changed %q, want nothing", name, actor, changed)
				}
			}
		}
	})
}

// TestRolesKeepTheTeam: members without the right to manage the business change no team and
// no method, and learn nothing of either.
func TestRolesKeepTheTeam(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		operations := map[string]func(sc scope.Scope) error{
			"Invite":           func(sc scope.Scope) error { _, err := w.Invite(ctx, sc, "n@guests.example", scope.Finance); return err },
			"ResendInvitation": func(sc scope.Scope) error { _, err := w.ResendInvitation(ctx, sc, w.cyd.invited[0].ID); return err },
			"RevokeInvitation": func(sc scope.Scope) error { return w.RevokeInvitation(ctx, sc, w.cyd.invited[0].ID) },
			"Invitations":      func(sc scope.Scope) error { _, err := w.Invitations(ctx, sc); return err },
			"Team":             func(sc scope.Scope) error { _, err := w.Team(ctx, sc); return err },
			"SetRole":          func(sc scope.Scope) error { return w.SetRole(ctx, sc, w.bea.User.ID, scope.Developer) },
			"RemoveMember":     func(sc scope.Scope) error { return w.RemoveMember(ctx, sc, w.bea.User.ID) },
			"SetMethod":        func(sc scope.Scope) error { return w.SetMethod(ctx, sc, money.CryptoBitcoin, false) },
		}
		for name, operation := range operations {
			for _, role := range []scope.Role{scope.Finance, ""} {
				sc := w.cyd.Scope(scope.Test)
				sc.Role = role
				before := w.readRows(t)
				if err := operation(sc); fault.KindOf(err) != fault.Forbidden {
					t.Errorf("%s as %q: got %v, want Forbidden", name, role, err)
				}
				if changed := w.compareRows(t, before, w.readRows(t)); changed != nil {
					t.Errorf("%s as %q changed %q, want nothing", name, role, changed)
				}
			}
		}
		none := w.cyd.Scope(scope.Test)
		none.Role = ""
		if _, err := w.Methods(ctx, none); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("Methods without a role: got %v, want Forbidden", err)
		}
	})
}

// TestInvitationsOfOthersDoNotCount: whether an address may be invited depends on this
// business's members and invitations alone.
func TestInvitationsOfOthersDoNotCount(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, owner, admin := t.Context(), w.bea.Scope(scope.Test), w.bea.Scope(scope.Test)
		admin.Role = scope.Admin
		invite := func(sc scope.Scope, email string, role scope.Role) error {
			_, err := w.Invite(ctx, sc, email, role)
			return err
		}
		for _, sc := range []scope.Scope{owner, w.ann.Scope(scope.Test)} {
			if err := invite(sc, "boss@guests.example", scope.Owner); err != nil {
				t.Fatal(err)
			}
		}
		if err := invite(admin, "boss@guests.example", scope.Finance); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("an admin replaces an owner's invitation: got %v, want Forbidden", err)
		}
		if err := invite(admin, "clerk@guests.example", scope.Finance); err != nil {
			t.Errorf("an admin invites another address: %v", err)
		}
		other := w.cyd.Scope(scope.Test)
		other.Role = scope.Admin
		if err := invite(other, "boss@guests.example", scope.Finance); err != nil {
			t.Errorf("an admin invites an address that another business invited as owner: %v", err)
		}
	})
}

// TestAHundredInvitationsAreOpen: the hundredth invitation of a business is made, the next
// is refused, and one of the hundred may be sent again; other businesses have their own.
func TestAHundredInvitationsAreOpen(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc := t.Context(), w.bea.Scope(scope.Test)
		open, err := w.Invitations(ctx, sc)
		if err != nil {
			t.Fatal(err)
		}
		for n := len(open); n < 99; n++ {
			row := models.Invitation{BusinessID: sc.BusinessID, Email: fmt.Sprintf("n%d@guests.example", n), Role: "finance",
				Hash: fmt.Sprint(n), CreatedAt: w.clock.Now(), SentAt: w.clock.Now(), ExpiresAt: w.clock.Now().Add(time.Hour)}
			if err := w.db.Exec(ctx).Create(&row).Error; err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct{ name, email, want string }{
			{"the hundredth", "last@guests.example", ""},
			{"one more", "over@guests.example", "too_many_invitations"},
			{"one of the hundred", "last@guests.example", ""},
		} {
			if _, err := w.Invite(ctx, sc, c.email, scope.Finance); code(err) != c.want {
				t.Errorf("%s: got %v, want %q", c.name, err, c.want)
			}
		}
		if _, err := w.Invite(ctx, w.ann.Scope(scope.Test), "over@guests.example", scope.Finance); err != nil {
			t.Errorf("another business invites: %v", err)
		}
	})
}

// TestTheLastOwnerStays: the owners of other businesses don't count.
func TestTheLastOwnerStays(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc := t.Context(), w.cyd.Scope(scope.Test)
		if err := w.SetRole(ctx, sc, w.cyd.User.ID, scope.Admin); code(err) != "last_owner" {
			t.Errorf("the last owner becomes an admin: got %v, want last_owner", err)
		}
		if err := w.RemoveMember(ctx, sc, w.cyd.User.ID); code(err) != "last_owner" {
			t.Errorf("the last owner leaves: got %v, want last_owner", err)
		}
		if err := w.SetRole(ctx, sc, w.cyd.User.ID, scope.Owner); err != nil {
			t.Errorf("the last owner gets the role that they have: %v", err)
		}
		if err := w.SetRole(ctx, sc, w.bea.User.ID, scope.Owner); err != nil {
			t.Fatal(err)
		}
		if err := w.SetRole(ctx, sc, w.cyd.User.ID, scope.Admin); err != nil {
			t.Errorf("one of two owners becomes an admin: %v", err)
		}
	})
}

// TestOperators: an operator is a user with one of the configured addresses and a second
// factor or a passkey; mails to operators go to those addresses only.
func TestOperators(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		plain := account.NewBusiness{BusinessName: "dee", Name: "dee", Email: "dee@example.com", Password: ada.Password}
		_, dee, err := w.CreateBusiness(ctx, plain)
		if err != nil {
			t.Fatal(err)
		}
		withKey := w.ann.User
		withKey.SecondFactor = false // she has passkeys
		w.Operators = []string{"ann@example.com", "dee@example.com"}
		for _, c := range []struct {
			name string
			user account.User
			want bool
		}{
			{"second factor", w.ann.User, true}, {"passkey", withKey, true}, {"password alone", dee, false},
			{"another address", w.bea.User, false},
		} {
			c.user.SecondFactor = c.name == "second factor" || c.name == "another address"
			if got, err := w.Operator(ctx, c.user); got != c.want || err != nil {
				t.Errorf("%s: operator %t, %v, want %t", c.name, got, err, c.want)
			}
		}
		names := func() string {
			users, err := w.OperatorUsers(w.db.Read(ctx))
			if err != nil {
				t.Fatal(err)
			}
			var list []string
			for _, user := range users {
				list = append(list, user.Name)
			}
			return strings.Join(list, " ")
		}
		if got := names(); got != "ann dee" {
			t.Errorf("operators: %q, want ann dee", got)
		}
		w.Operators = nil
		if got := names(); got != "" {
			t.Errorf("operators without any address: %q, want none", got)
		}
	})
}

// TestMethodsThatLackSomething: a method that lacks a network can be switched off, not on,
// and the log has each change once.
func TestMethodsThatLackSomething(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc := t.Context(), w.bea.Scope(scope.Test)
		set := func(enabled bool, wantCode string, want ...string) {
			t.Helper()
			w.clock.Advance(time.Second)
			before := w.readRows(t)
			if err := w.SetMethod(ctx, sc, money.CryptoBitcoin, enabled); code(err) != wantCode {
				t.Errorf("SetMethod to %t: got %v, want %q", enabled, err, wantCode)
			}
			got := w.compareRows(t, before, w.readRows(t))
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("SetMethod to %t changed %q, want %q", enabled, got, want)
			}
		}
		row := "~ methods bea test crypto_bitcoin: enabled updated_at"
		set(true, "")
		set(false, "", "+ audits bea method.disabled crypto_bitcoin", row)
		set(false, "")
		set(true, "", "+ audits bea method.enabled crypto_bitcoin", row)
		w.Missing = func(context.Context, scope.Scope, money.Method) (string, error) { return "No network.", nil }
		set(true, "method_unavailable")
		set(false, "", "+ audits bea method.disabled crypto_bitcoin", row)
		set(true, "method_unavailable")
		methods, err := w.Methods(ctx, sc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range methods {
			if m.Problem != "No network." {
				t.Errorf("%s: problem %q, want the one of Missing", m.Coin.Coin, m.Problem)
			}
		}
	})
}
