package auth_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models/modelstest"
)

// failing is an operation that is run with each of its statements failing in turn.
type failing struct {
	name      string
	operation func() error
}

// forgiving are the statements that forget counted attempts: who got in gets in although
// they fail.
var forgiving = []string{"raw UPDATE attempts SET", "delete attempts"}

// failEach checks of each operation that a statement's failure is the operation's, that
// nothing but counted attempts, used codes and answered challenges is left of it, and
// that no mail is sent of what didn't happen.
func (w *world) failEach(t *testing.T, operations []failing) {
	t.Helper()
	woken := false
	w.WakeMails = func() { woken = true }
	for _, f := range operations {
		t.Run(f.name, func(t *testing.T) {
			before := w.readRows(t)
			modelstest.FailStatements(t, w.DB, func() error {
				woken = false
				err := f.operation()
				after := w.readRows(t)
				left := slices.DeleteFunc(w.compareRows(t, before, after), func(change string) bool {
					return strings.Contains(change, " attempts ") || strings.Contains(change, " passkey_challenges ") ||
						strings.HasSuffix(change, ": totp_step updated_at")
				})
				if err != nil && (len(left) > 0 || woken) {
					t.Errorf("after %v, mails are sent: %v, and rows are left: %q, want neither", err, woken, left)
				}
				if err == nil && strings.Contains(strings.Join(left, "\n"), "+ mails") && !woken {
					t.Errorf("nothing sends the mails of %q", left)
				}
				before = after
				return err
			}, forgiving...)
		})
	}
}

// TestTeamsOfAFailingDatabase: a business's team, invitations and payment methods stay as
// they were when a statement fails.
func TestTeamsOfAFailingDatabase(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc, bea := t.Context(), w.bea.Scope(scope.Test), w.bea
		dan := w.Hire(t, sc, "dan@example.com", scope.Admin).User
		in, err := w.Invite(ctx, sc, "ann@example.com", scope.Admin)
		if err != nil {
			t.Fatal(err)
		}
		w.failEach(t, []failing{
			{"CreateBusiness", func() error {
				n := account.NewBusiness{BusinessName: "eve", Name: "eve", Email: "eve@example.com", Password: another}
				_, _, err := w.CreateBusiness(ctx, n)
				return err
			}},
			{"Empty", func() error { _, err := w.Empty(ctx); return err }},
			{"Membership", func() error { _, err := w.Membership(ctx, bea.User.ID, 0); return err }},
			{"Workplaces", func() error { _, err := w.Workplaces(ctx, bea.User.ID); return err }},
			{"Business", func() error { _, err := w.Business(ctx, bea.Business.Code); return err }},
			{"Owners", func() error { _, err := account.Owners(w.DB.Read(ctx), bea.Business.ID); return err }},
			{"Methods", func() error { _, err := w.Methods(ctx, sc); return err }},
			{"Enabled", func() error { _, err := account.Enabled(w.DB.Read(ctx), sc); return err }},
			{"SetMethod", func() error { return w.SetMethod(ctx, sc, money.CryptoBitcoin, false) }},
			{"Team", func() error { _, err := w.Team(ctx, sc); return err }},
			{"Invitations", func() error { _, err := w.Invitations(ctx, sc); return err }},
			{"Invite", func() error { _, err := w.Invite(ctx, sc, "new@guests.example", scope.Admin); return err }},
			{"ResendInvitation", func() error { _, err := w.ResendInvitation(ctx, sc, bea.invited[0].ID); return err }},
			{"RevokeInvitation", func() error { return w.RevokeInvitation(ctx, sc, bea.invited[0].ID) }},
			{"FindInvitation", func() error { _, err := w.FindInvitation(ctx, linkToken(in)); return err }},
			{"Accept", func() error { _, err := w.Accept(ctx, linkToken(in), w.ann.User.ID); return err }},
			{"AcceptAsNew", func() error {
				_, _, err := w.AcceptAsNew(ctx, linkToken(bea.invited[1]), account.Newcomer{Name: "fay",
					Password: another})
				return err
			}},
			{"SetRole", func() error { return w.SetRole(ctx, sc, dan.ID, scope.Owner) }},
			{"SetRole of an owner", func() error { return w.SetRole(ctx, sc, dan.ID, scope.Finance) }},
			{"RemoveMember", func() error { return w.RemoveMember(ctx, sc, dan.ID) }},
			{"Refused", func() error { return w.Refused(ctx, sc, "GET", "/dashboard/team") }},
		})
	})
}

// TestSessionsOfAFailingDatabase: sessions stay as they were when a statement fails.
func TestSessionsOfAFailingDatabase(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc, bea := t.Context(), w.bea.Scope(scope.Test), w.bea
		key := auth.SessionKey(bea.sessions[0].Token)
		rotated := bea.sessions[1]
		w.failEach(t, []failing{
			{"LoadSession", func() error { _, err := w.LoadSession(ctx, bea.sessions[0].Token); return err }},
			{"SaveSession", func() error { return w.SaveSession(ctx, bea.sessions[0]) }},
			{"SaveSession of a visitor", func() error { return w.SaveSession(ctx, auth.Session{Token: "visitor 2"}) }},
			{"RotateSession", func() error { _, err := w.RotateSession(ctx, rotated.Token, rotated); return err }},
			{"Sessions", func() error { _, err := w.Sessions(ctx, sc); return err }},
			{"EndSession", func() error { return w.EndSession(ctx, sc, auth.SessionKey(bea.sessions[2].Token)) }},
			{"EndOtherSessions", func() error { return w.EndOtherSessions(ctx, sc, key) }},
			{"RevokeSession", func() error { return w.RevokeSession(ctx, bea.sessions[0].Token) }},
			{"RevokeUser", func() error { return w.RevokeUser(ctx, bea.User.ID) }},
			{"Arrive", func() error {
				_, err := w.Arrive(ctx, bea.User, auth.Visit{Device: bea.devices[0], UserAgent: "again"}, false)
				return err
			}},
			{"Arrive with another browser", func() error {
				_, err := w.Arrive(ctx, bea.User, auth.Visit{UserAgent: "new"}, false)
				return err
			}},
		})
		w.Clock.Advance(time.Hour)
		modelstest.FailStatements(t, w.DB, func() error { return w.Sweep(ctx) })
	})
}

// TestAccountsOfAFailingDatabase: an account stays as it was when a statement fails.
func TestAccountsOfAFailingDatabase(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc, bea := t.Context(), w.bea.Scope(scope.Test), &w.bea
		here := auth.SessionKey(bea.sessions[1].Token)
		now, next := ada.Password, another
		wrong := auth.Proof{Password: "not the phrase at all", IP: "192.0.2.1"}
		w.failEach(t, []failing{
			{"Rename", func() error { return w.Rename(ctx, sc, "Beatrice") }},
			{"ChooseLanguage", func() error { return w.ChooseLanguage(ctx, sc, "fr") }},
			{"Reauthenticate", func() error { _, err := w.Reauthenticate(ctx, sc, w.prove(t, bea)); return err }},
			{"Reauthenticate with a wrong password", func() error {
				w.Clock.Advance(time.Minute)
				return refuses(w.Reauthenticate(ctx, sc, wrong))("validation_failed")
			}},
			{"AskEmail", func() error { return w.AskEmail(ctx, sc, "bea@newer.example", w.prove(t, bea)) }},
			{"SecondFactor", func() error { _, err := w.SecondFactor(ctx, sc); return err }},
			{"NewRecoveryCodes", func() error { _, err := w.NewRecoveryCodes(ctx, sc, w.prove(t, bea)); return err }},
			{"FindEmail", func() error { _, _, err := w.FindEmail(ctx, w.cyd.email); return err }},
			{"ConfirmEmail", func() error { return w.ConfirmEmail(ctx, w.cyd.email) }},
			{"ChangePassword", func() error {
				w.Clock.Advance(time.Minute)
				err := w.ChangePassword(ctx, sc, auth.Proof{Password: now}, next, here)
				if err == nil {
					now, next = next, now
				}
				return err
			}},
		})
	})
}

// TestResetsOfAFailingDatabase: a password stays as it was when a statement fails.
func TestResetsOfAFailingDatabase(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.failEach(t, []failing{
			{"FindReset", func() error { _, err := w.FindReset(ctx, w.ann.reset); return err }},
			{"FinishReset", func() error { return w.FinishReset(ctx, w.ann.reset, another) }},
			{"AskReset", func() error {
				w.Clock.Advance(time.Minute)
				return w.AskReset(ctx, w.ann.User.Email, "192.0.2.1")
			}},
			{"AskReset of an unknown address", func() error { return w.AskReset(ctx, "x@example.com", "192.0.2.2") }},
			{"ResetPassword", func() error { _, err := w.ResetPassword(ctx, "bea@example.com", another); return err }},
			{"ResetFactor", func() error { return w.ResetFactor(ctx, "bea@example.com") }},
		})
	})
}

// TestFactorsOfAFailingDatabase: a second factor and passkeys stay as they were when a
// statement fails. The users have none at first: a password is all that they prove.
func TestFactorsOfAFailingDatabase(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc, people := t.Context(), w.bea.Scope(scope.Test), []*person{&w.ann, &w.bea, &w.cyd}
		for _, p := range people {
			if err := w.ResetFactor(ctx, p.User.Email); err != nil {
				t.Fatal(err)
			}
		}
		here := auth.SessionKey(w.bea.sessions[1].Token)
		w.failEach(t, []failing{
			{"BeginSecondFactor", func() error {
				w.Clock.Advance(time.Minute)
				_, err := w.BeginSecondFactor(ctx, sc, proven)
				return err
			}},
			{"ResumeSecondFactor", func() error {
				_, err := w.ResumeSecondFactor(ctx, sc,
					w.bea.begun.Sealed)
				return err
			}},
			{"ConfirmSecondFactor", func() error { // of the next one after it succeeded without forgiving
				w.Clock.Advance(time.Minute)
				p := people[0]
				code := app{key: p.begun.Key}.at(t, w.Clock.Now())
				_, err := w.ConfirmSecondFactor(ctx, p.Scope(scope.Test), p.begun.Sealed, code, here, "192.0.2.1")
				if err == nil {
					people = people[1:]
				}
				return err
			}},
		})
		if err := w.ResetFactor(ctx, w.bea.User.Email); err != nil {
			t.Fatal(err)
		}
		w.failEach(t, []failing{
			{"RemoveSecondFactor", func() error {
				w.Clock.Advance(time.Minute)
				return w.RemoveSecondFactor(ctx, sc, proven, here)
			}},
		})
	})
}
