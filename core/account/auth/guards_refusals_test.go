package auth_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
	"cointill/models/modelstest"
)

// refused is an operation with the code that it is refused with.
type refused struct {
	name string
	err  error
	want string
}

// checkRefusals fails for an operation that was refused otherwise.
func checkRefusals(t *testing.T, operations []refused) {
	t.Helper()
	for _, r := range operations {
		if code(r.err) != r.want {
			t.Errorf("%s = %v, want %s", r.name, r.err, r.want)
		}
	}
}

// failed is an operation's error without its result.
func failed[T any](_ T, err error) error { return err }

// TestOnlyAPersonActs: a key, the operator or the system has no account, sessions or
// passkeys, and invites nobody.
func TestOnlyAPersonActs(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc := t.Context(), w.bea.Scope(scope.Test)
		sc.Actor = "operator"
		const no = "role_not_allowed"
		checkRefusals(t, []refused{
			{"Invite", failed(w.Invite(ctx, sc, "new@guests.example", scope.Admin)), no},
			{"ResendInvitation", failed(w.ResendInvitation(ctx, sc, w.bea.invited[0].ID)), no},
			{"Passkeys", failed(w.Passkeys(ctx, sc)), no},
			{"Passkey", failed(w.Passkey(ctx, sc, 1)), no},
			{"BeginPasskey", failed(w.BeginPasskey(ctx, sc, proven, "new", "mine")), no},
			{"ConfirmPasskey", failed(w.ConfirmPasskey(ctx, sc, "mine", nil)), no},
			{"RenamePasskey", w.RenamePasskey(ctx, sc, 1, "new"), no},
			{"RemovePasskey", w.RemovePasskey(ctx, sc, 1, proven, ""), no},
			{"Rename", w.Rename(ctx, sc, "new"), no},
			{"ChooseLanguage", w.ChooseLanguage(ctx, sc, "fr"), no},
			{"ChangePassword", w.ChangePassword(ctx, sc, proven, another, ""), no},
			{"AskEmail", w.AskEmail(ctx, sc, "new@example.com", proven), no},
			{"SecondFactor", failed(w.SecondFactor(ctx, sc)), no},
			{"BeginSecondFactor", failed(w.BeginSecondFactor(ctx, sc, proven)), no},
			{"ResumeSecondFactor", failed(w.ResumeSecondFactor(ctx, sc, w.bea.begun.Sealed)), no},
			{"ConfirmSecondFactor", failed(w.ConfirmSecondFactor(ctx, sc, w.bea.begun.Sealed, "1", "", "")), no},
			{"Sessions", failed(w.Sessions(ctx, sc)), no},
			{"EndSession", w.EndSession(ctx, sc, auth.SessionKey(w.bea.sessions[0].Token)), no},
			{"EndOtherSessions", w.EndOtherSessions(ctx, sc, ""), no},
		})
	})
}

// TestRolesComeFirst: who may not manage a business doesn't learn what there is in it.
func TestRolesComeFirst(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc := t.Context(), w.bea.Scope(scope.Test)
		sc.Role = scope.Finance
		visitor := sc
		visitor.Role = ""
		gone := w.bea.Scope(scope.Test)
		gone.BusinessID = 99
		const no = "role_not_allowed"
		checkRefusals(t, []refused{
			{"ResendInvitation", failed(w.ResendInvitation(ctx, sc, 999)), no},
			{"RevokeInvitation", w.RevokeInvitation(ctx, sc, 999), no},
			{"SetRole", w.SetRole(ctx, sc, 999, scope.Admin), no},
			{"RemoveMember", w.RemoveMember(ctx, sc, 999), no},
			{"Methods without a role", failed(w.Methods(ctx, visitor)), no},
			{"Invite into no business", failed(w.Invite(ctx, gone, "new@guests.example", scope.Admin)), "not_found"},
		})
		if got := account.Grantable(scope.System); len(got) != 5 || got[0] != scope.Owner {
			t.Errorf("Grantable(system) = %v, want every role, as the operator makes owners", got)
		}
	})
}

// TestLastOwnerOfEachBusinessStays: owners of other businesses don't count.
func TestLastOwnerOfEachBusinessStays(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc := t.Context(), w.bea.Scope(scope.Test)
		checkRefusals(t, []refused{
			{"SetRole", w.SetRole(ctx, sc, w.bea.User.ID, scope.Admin), "last_owner"},
			{"RemoveMember", w.RemoveMember(ctx, sc, w.bea.User.ID), "last_owner"},
		})
	})
}

// TestPasskeysNeedAName: where the server has no host name, each step of a passkey says
// so; an answer that is none makes no passkey.
func TestPasskeysNeedAName(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc := t.Context(), w.bea.Scope(scope.Test)
		checkRefusals(t, []refused{
			{"ConfirmPasskey of nothing", failed(w.ConfirmPasskey(ctx, sc, "mine bea", []byte("{"))),
				"passkey_not_made"},
		})
		w.Base = "https://192.0.2.1"
		const no = "passkeys_unavailable"
		checkRefusals(t, []refused{
			{"AskPasskey", failed(w.AskPasskey(ctx, "visitor", "192.0.2.1")), no},
			{"EnterPasskey", failed(w.EnterPasskey(ctx, "visitor", nil, "192.0.2.1")), no},
			{"BeginPasskey", failed(w.BeginPasskey(ctx, sc, proven, "new", "mine")), no},
			{"ConfirmPasskey", failed(w.ConfirmPasskey(ctx, sc, "mine", nil)), no},
		})
	})
}

// TestChallengesOfBothKindsStand: a session may be asked to add a passkey and to enter
// with one; each answer is to its own challenge.
func TestChallengesOfBothKindsStand(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		options, err := w.AskPasskey(ctx, "mine bea", "192.0.2.1") // which was asked to add one
		if err != nil {
			t.Fatal(err)
		}
		user, err := w.EnterPasskey(ctx, "mine bea", w.bea.passkeys[0].Answer(t, options), "192.0.2.1")
		if err != nil || user.ID != w.bea.User.ID {
			t.Errorf("EnterPasskey = %+v, %v, want Bea", user, err)
		}
	})
}

// TestProblemsOfMethodsAreReported: where it isn't known whether a method works, it is
// neither listed as working nor switched.
func TestProblemsOfMethodsAreReported(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		broken := errors.New("the wallet can't be read")
		w.Missing = func(_ context.Context, _ scope.Scope, _ money.Method) (fault.Message, error) {
			return fault.Message{}, broken
		}
		sc := w.bea.Scope(scope.Test)
		if _, err := w.Methods(t.Context(), sc); !errors.Is(err, broken) {
			t.Errorf("Methods = %v, want %v", err, broken)
		}
		changes := w.listChanges(t, func() error {
			if err := w.SetMethod(t.Context(), sc, money.CryptoBitcoin, false); !errors.Is(err, broken) {
				t.Errorf("SetMethod = %v, want %v", err, broken)
			}
			return nil
		})
		if len(changes) > 0 {
			t.Errorf("SetMethod changes %q, want nothing", changes)
		}
	})
}

// TestDamagedRowsLetNobodyIn: a second factor or a set-up token that can't be read is an
// error of the server's, no refusal and no entry.
func TestDamagedRowsLetNobodyIn(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		entry, err := w.SignIn(t.Context(), credentials(w.bea.User.Email, ada.Password))
		if err != nil {
			t.Fatal(err)
		}
		users := w.DB.Exec(t.Context()).Model(&models.User{}).Where("id = ?", w.bea.User.ID)
		if err := users.Update("totp_secret", []byte("damaged")).Error; err != nil {
			t.Fatal(err)
		}
		typed := w.bea.app.at(t, w.Clock.Now())
		if _, _, err := w.EnterCode(t.Context(), entry.Pending, typed, ""); err == nil || code(err) != "" {
			t.Errorf("EnterCode with a damaged second factor = %v, want an error that is no refusal", err)
		}
	})
}

// TestSetupTokenIsReadFromItsRow: a sign-up is refused without a token in the database,
// also beside other facts of the installation, and while its row is damaged.
func TestSetupTokenIsReadFromItsRow(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := setup(t, db)
		b.AskSetupToken = true
		if _, err := db.Once(t.Context(), "a fact", "{}"); err != nil {
			t.Fatal(err)
		}
		refusedToken(t, "before one was issued", b.firstUp(t, "setup_x", "192.0.2.1"), "Is not the one")
		token := b.issue(t)
		row := db.Exec(t.Context()).Model(&models.Instance{}).Where("name = 'setup_token'")
		var kept string
		if err := row.Pluck("value", &kept).Error; err != nil || !json.Valid([]byte(kept)) {
			t.Fatalf(`row.Pluck("value", &kept).Error: kept = %v, err = %v`, kept, err)
		}
		for _, value := range []string{"{", kept} {
			set := db.Exec(t.Context()).Model(&models.Instance{}).Where("name = 'setup_token'").Update("value", value)
			if set.Error != nil {
				t.Fatalf("set.Error = %v", set.Error)
			}
			err := b.firstUp(t, token, "192.0.2.1")
			if damaged := value == "{"; (err != nil) != damaged || fields(err) != nil {
				t.Errorf("sign-up with the row %s = %v, want an error that is no refusal: %v", value, err, damaged)
			}
		}
	})
}

// TestBusyServerChangesNothing: where no place to hash is free in time, a password stays as
// it was and nobody joins.
func TestBusyServerChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{bench: setup(t, modelstest.Open(t, false, time.Now))}
		ctx := t.Context()
		w.makeBusiness(t, &w.ann, "ann")
		w.makeBusiness(t, &w.bea, "bea")
		sc := w.bea.Scope(scope.Test)
		in, err := w.Invite(ctx, sc, "new@guests.example", scope.Admin)
		if err != nil {
			t.Fatal(err)
		}
		defer w.BlockLane(w.bea.User.ID)()
		before := w.readRows(t)
		changed := w.ChangePassword(ctx, sc, proven, another, "") // it is proven in the anonymous lane
		defer w.BlockLane(0)()
		checkRefusals(t, []refused{
			{"ChangePassword", changed, "busy"},
			{"ResetPassword", failed(w.ResetPassword(ctx, "bea@example.com", another)), "busy"},
			{"FinishReset", w.FinishReset(ctx, w.bea.reset, another), "busy"},
			{"CreateBusiness", func() error {
				n := account.NewBusiness{BusinessName: "new", Name: "new", Email: "new@example.com", Password: another}
				_, _, err := w.CreateBusiness(ctx, n)
				return err
			}(), "busy"},
			{"AcceptAsNew", func() error {
				_, _, err := w.AcceptAsNew(ctx, linkToken(in), account.Newcomer{Name: "new", Password: another})
				return err
			}(), "busy"},
		})
		for _, change := range w.compareRows(t, before, w.readRows(t)) {
			if !strings.Contains(change, " attempts ") {
				t.Errorf("a busy server changes %s, want nothing", change)
			}
		}
	})
}

// TestOldHashStaysWhenBusy: who signs in while their hash can't be replaced gets in, and
// the hash stays.
func TestOldHashStaysWhenBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, modelstest.Open(t, false, time.Now))
		_, user, err := b.SignUp(t.Context(), ada)
		if err != nil {
			t.Fatal(err)
		}
		hash := func() (h string) {
			row := b.DB.Read(t.Context()).Model(&models.User{}).Where("id = ?", user.ID)
			if err := row.Pluck("password_hash", &h).Error; err != nil {
				t.Fatal(err)
			}
			return h
		}
		before := hash()
		b.Cost.Iterations++
		open := func() {}
		b.AfterHash(func() { // of the comparison
			open = b.BlockLane(0)
			b.AfterHash(nil)
		})
		if _, err := b.SignIn(t.Context(), credentials("ada@example.com", ada.Password)); err != nil {
			t.Errorf("SignIn = %v, want no error", err)
		}
		open()
		if after := hash(); after != before {
			t.Errorf("the hash is %q, want %q as before", after, before)
		}
	})
}
