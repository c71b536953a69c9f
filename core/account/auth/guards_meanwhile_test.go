package auth_test

import (
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

// meanwhile runs statements just before the first statement of a kind that changes a
// table, as if another replica had run them since the operation read. They take part in
// its transaction.
func (w *world) meanwhile(t *testing.T, kind, table, statement string, values ...any) (done func()) {
	t.Helper()
	ran := false
	run := func(tx *gorm.DB) {
		if ran || tx.Statement.Table != table {
			return
		}
		ran = true
		_ = tx.AddError(tx.Session(&gorm.Session{NewDB: true}).Exec(statement, values...).Error)
	}
	const name = "test:meanwhile"
	callbacks := w.DB.Exec(t.Context()).Callback()
	var err error
	switch kind {
	case "create":
		err = callbacks.Create().Before("*").Register(name, run)
	case "update":
		err = callbacks.Update().Before("*").Register(name, run)
	case "delete":
		err = callbacks.Delete().Before("*").Register(name, run)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		_ = callbacks.Create().Remove(name)
		_ = callbacks.Update().Remove(name)
		_ = callbacks.Delete().Remove(name)
		if !ran {
			t.Errorf("nothing was to %s %s", kind, table)
		}
	}
}

// race is an operation of which another replica did a part meanwhile.
type race struct {
	name                   string
	kind, table, statement string
	operation              func() error
	want                   string // the code of the refusal
}

// loseEach checks that each operation is refused and changes nothing.
func (w *world) loseEach(t *testing.T, races []race) {
	t.Helper()
	for _, r := range races {
		before := w.readRows(t)
		done := w.meanwhile(t, r.kind, r.table, r.statement)
		if err := r.operation(); code(err) != r.want {
			t.Errorf("%s = %v, want %s", r.name, err, r.want)
		}
		done()
		for _, change := range w.compareRows(t, before, w.readRows(t)) {
			if !strings.Contains(change, " attempts ") && !strings.Contains(change, " passkey_challenges ") {
				t.Errorf("%s changes %s, want nothing", r.name, change)
			}
		}
	}
}

// TestOneOfTwoReplicasTakesALink: of two that use the same link at the same moment, or
// take the same address, the second is refused, and changes nothing.
func TestOneOfTwoReplicasTakesALink(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, bea := t.Context(), w.bea
		fay := account.Newcomer{Name: "fay", Password: another}
		accept := func() error { _, _, err := w.AcceptAsNew(ctx, linkToken(bea.invited[0]), fay); return err }
		finish := func() error { return w.FinishReset(ctx, bea.reset, another) }
		confirm := func() error { return w.ConfirmEmail(ctx, bea.email) }
		w.loseEach(t, []race{
			{"AcceptAsNew, when the invitation was accepted",
				"delete", "invitations", "DELETE FROM invitations", accept, "invitation_over"},
			{"AcceptAsNew, when it was sent again",
				"delete", "invitations", "UPDATE invitations SET hash = seed", accept, "invitation_over"},
			{"AcceptAsNew, when the address was taken", "create", "users",
				"INSERT INTO users (email, name, password_hash, totp_step, created_at, updated_at) SELECT " +
					"'bea0@guests.example', name, '', 0, created_at, updated_at FROM users WHERE id = 1",
				accept, "sign_in_to_accept"},
			{"FinishReset, when the link was used", "delete", "tickets", "DELETE FROM tickets", finish,
				"mail_link_over"},
			{"ConfirmEmail, when the link was used", "delete", "tickets", "DELETE FROM tickets", confirm,
				"mail_link_over"},
			{"ConfirmEmail, when the address was taken",
				"update", "users", "UPDATE users SET email = 'bea@new.example' WHERE id = 1", confirm,
				"mail_link_over"},
		})
	})
}

// TestOneOfTwoReplicasEnters: of two that use the same passkey, challenge, key or setup at
// the same moment, or end the same session, the second is refused, and changes nothing.
func TestOneOfTwoReplicasEnters(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc, bea := t.Context(), w.bea.Scope(scope.Test), w.bea
		enter := func() error { _, err := w.with(t, bea.passkeys[1]); return err }
		w.loseEach(t, []race{
			{"EnterPasskey, when the challenge was answered",
				"delete", "passkey_challenges", "DELETE FROM passkey_challenges", enter, "passkey_over"},
			{"EnterPasskey, when another was asked",
				"delete", "passkey_challenges", "UPDATE passkey_challenges SET data = '{}'", enter, "passkey_over"},
			{"EnterPasskey, when it was used",
				"update", "passkeys", "UPDATE passkeys SET sign_count = sign_count + 1", enter, "passkey_refused"},
			{"EnterPasskey, when it was removed", "update", "passkeys", "DELETE FROM passkeys", enter,
				"passkey_refused"},
			{"EndSession, when it ended", "delete", "sessions", "DELETE FROM sessions",
				func() error { return w.EndSession(ctx, sc, auth.SessionKey(bea.sessions[0].Token)) }, "not_found"},
			{"RollKey, when it was rolled", "update", "api_keys", "UPDATE api_keys SET expires_at = created_at",
				func() error { _, _, err := w.RollKey(ctx, sc, bea.keys[0].ID); return err }, "key_not_active"},
			{"ConfirmSecondFactor, when one is on", "update", "users", "UPDATE users SET totp_step = totp_step",
				func() error {
					w.Clock.Advance(time.Minute)
					code := app{key: bea.begun.Key}.at(t, w.Clock.Now())
					_, err := w.ConfirmSecondFactor(ctx, sc, bea.begun.Sealed, code, "", "")
					return err
				}, "second_factor_on"},
		})
	})
}

// TestMembershipIsMadeOnce: who became a member meanwhile accepts without an error, and
// isn't recorded as joining again.
func TestMembershipIsMadeOnce(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, ann := t.Context(), w.ann
		in, err := w.Invite(ctx, w.bea.Scope(scope.Test), ann.User.Email, scope.Finance)
		if err != nil {
			t.Fatal(err)
		}
		done := w.meanwhile(t, "create", "members",
			"INSERT INTO members (business_id, user_id, role, created_at) VALUES (?, ?, 'admin', ?)",
			w.bea.Business.ID, ann.User.ID, w.Clock.Now())
		defer done()
		changes := strings.Join(w.listChanges(t, func() error {
			_, err := w.Accept(ctx, linkToken(in), ann.User.ID)
			return err
		}), "; ")
		if want := "+ members ann bea; - invitations ann"; changes != want {
			t.Errorf("Accept of who is a member changes %s, want %s", changes, want)
		}
	})
}

// TestLatestUseOfASessionStays: of two requests of a session at the same time, the one
// that read it earlier doesn't turn its last use back.
func TestLatestUseOfASessionStays(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		later := w.Clock.Now().Add(time.Hour)
		done := w.meanwhile(t, "update", "sessions", "UPDATE sessions SET seen_at = ?", later)
		defer done()
		if _, err := w.LoadSession(t.Context(), w.bea.sessions[0].Token); err != nil {
			t.Fatal(err)
		}
		seats, err := w.Sessions(t.Context(), w.bea.Scope(scope.Test))
		if err != nil || len(seats) != 3 || !seats[0].Seen.Equal(later) || !seats[2].Seen.Equal(later) {
			t.Errorf("Sessions = %+v, %v, want three of which each was used at %v", seats, err, later)
		}
	})
}

// TestOneOfTwoGuessesIsLookedAt (AP-12): of two guesses of an address that read the same
// count, one is let through, also where the count or the time of the guess before is the same.
func TestOneOfTwoGuessesIsLookedAt(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		in := credentials(w.bea.User.Email, ada.Password) // one guess is counted
		w.Clock.Advance(25 * time.Hour)
		for _, c := range []struct {
			name, set string
			values    []any
		}{
			{"a day later, when both count 1", "updated_at = ?", []any{w.Clock.Now()}},
			{"when the guess at this time was undone", "count = count + 1", nil},
			{"when both have changed, as they always do", "count = count + 1, updated_at = ?", []any{w.Clock.Now()}},
		} {
			done := w.meanwhile(t, "update", "attempts", "UPDATE attempts SET "+c.set, c.values...)
			if _, err := w.SignIn(t.Context(), in); fault.KindOf(err) != fault.Limited {
				t.Errorf("%s: the second guess = %v, want Limited", c.name, err)
			}
			done()
		}
		if err := w.DB.Exec(t.Context()).Where("1 = 1").Delete(&models.Attempt{}).Error; err != nil {
			t.Fatal(err)
		}
		done := w.meanwhile(t, "create", "attempts",
			"INSERT INTO attempts (key, count, blocked_to, updated_at) VALUES (?, 1, ?, ?)",
			attemptKey(t, "email:"+in.Email), w.Clock.Now().Add(time.Second), w.Clock.Now())
		if _, err := w.SignIn(t.Context(), in); fault.KindOf(err) != fault.Limited {
			t.Errorf("the second of two first guesses = %v, want Limited", err)
		}
		done()
		w.Clock.Advance(time.Second)
		if _, err := w.SignIn(t.Context(), in); err != nil {
			t.Errorf("a guess by itself = %v, want no error", err)
		}
	})
}
