package auth_test

import (
	"fmt"
	"testing"
	"time"

	"cointill/core/account/auth"
	"cointill/core/account/auth/passkeytest"
	"cointill/core/scope"
	"cointill/models/modelstest"
)

// TestSignInsOfAFailingDatabase: who is let in or refused stays as it was when a statement
// fails, and a password that can't be compared lets nobody in.
func TestSignInsOfAFailingDatabase(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, bea := t.Context(), &w.bea
		in := credentials(bea.User.Email, ada.Password)
		wrong := credentials(bea.User.Email, "not the phrase at all")
		known := in
		known.Device = bea.devices[1]
		signIn := func(c auth.Credentials) (auth.Entry, error) {
			w.Clock.Advance(time.Minute)
			return w.SignIn(ctx, c)
		}
		enter := func(code string) error {
			entry, err := signIn(in)
			if err == nil {
				_, _, err = w.EnterCode(ctx, entry.Pending, code, in.IP)
			}
			return err
		}
		codes := bea.app.codes
		w.failEach(t, []failing{
			{"SignIn", func() error { _, err := signIn(in); return err }},
			{"SignIn with a known browser", func() error { _, err := signIn(known); return err }},
			{"SignIn with a wrong password", func() error { return refuses(signIn(wrong))("sign_in_failed") }},
			{"SignIn of nobody", func() error {
				return refuses(signIn(credentials("x@example.com", another)))("sign_in_failed")
			}},
			{"EnterCode", func() error { return enter(bea.app.at(t, w.Clock.Now().Add(time.Minute))) }},
			{"EnterCode with a wrong code", func() error { return refuses(0, enter("000000"))("code_refused") }},
			{"EnterCode with a recovery code", func() error {
				err := enter(codes[0])
				if err == nil {
					codes = codes[1:]
				}
				return err
			}},
		})
		modelstest.FailStatements(t, w.DB, func() error {
			w.Cost.Iterations = 3 - w.Cost.Iterations // as of another release
			_, err := signIn(in)
			return err
		}, append(forgiving, "update users")...)
	})
}

// TestGuessIsTakenBackOrLogged: a sign-in that is refused before its password was looked at
// is refused as it is, also when its count can't be taken back.
func TestGuessIsTakenBackOrLogged(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		in := auth.Credentials{Email: w.bea.User.Email, Password: ada.Password, Device: w.bea.devices[1]}
		for i := range 30 {
			in.IP = fmt.Sprintf("192.0.2.%d", i)
			if _, err := w.SignIn(t.Context(), in); err != nil {
				t.Fatalf("sign-in %d in a minute: %v, want 30 that succeed", i+1, err)
			}
		}
		in.IP = "198.51.100.1"
		modelstest.FailStatements(t, w.DB, func() error {
			w.Clock.Advance(3 * time.Second) // longer than a guess that isn't taken back blocks others
			return refuses(w.SignIn(t.Context(), in))("too_many_attempts")
		}, forgiving...)
	})
}

// TestPasskeysOfAFailingDatabase: passkeys stay as they were when a statement fails, and
// let nobody in. Their user has no second factor.
func TestPasskeysOfAFailingDatabase(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc := t.Context(), w.bea.Scope(scope.Test)
		if err := w.ResetFactor(ctx, w.bea.User.Email); err != nil {
			t.Fatal(err)
		}
		w.passkey(t, sc, "first")
		w.passkey(t, sc, "second")
		key := w.passkey(t, sc, "third")
		list, err := w.Passkeys(ctx, sc)
		if err != nil {
			t.Fatal(err)
		}
		begin := func() ([]byte, error) {
			w.Clock.Advance(time.Minute)
			return w.BeginPasskey(ctx, sc, proven, "new", "mine")
		}
		enter := func() (auth.User, error) {
			w.Clock.Advance(time.Minute)
			options, err := w.AskPasskey(ctx, "visitor", "192.0.2.1")
			if err != nil {
				return auth.User{}, err
			}
			return w.EnterPasskey(ctx, "visitor", key.Answer(t, options), "192.0.2.1")
		}
		w.failEach(t, []failing{
			{"Passkeys", func() error { _, err := w.Passkeys(ctx, sc); return err }},
			{"Passkey", func() error { _, err := w.Passkey(ctx, sc, list[0].ID); return err }},
			{"RenamePasskey", func() error { return w.RenamePasskey(ctx, sc, list[0].ID, "renamed") }},
			{"BeginPasskey", func() error { _, err := begin(); return err }},
			{"ConfirmPasskey", func() error {
				options, err := begin()
				if err == nil {
					_, err = w.ConfirmPasskey(ctx, sc, "mine", passkeytest.New(origin).Make(t, options))
				}
				return err
			}},
			{"EnterPasskey", func() error { _, err := enter(); return err }},
			{"EnterPasskey with a copy", func() error {
				key.Count = 0
				return refuses(enter())("passkey_copied")
			}},
			{"EnterPasskey at another site", func() error {
				key.Origin = "https://evil.example"
				return refuses(enter())("passkey_refused")
			}},
			{"RemovePasskey", func() error { // the next one after it succeeded without forgiving
				w.Clock.Advance(time.Minute)
				err := w.RemovePasskey(ctx, sc, list[0].ID, proven, "")
				if err == nil {
					list = list[1:]
				}
				return err
			}},
		})
	})
}

// TestFirstSignUpOfAFailingDatabase: the first sign-up stays open, and its token valid,
// when a statement fails.
func TestFirstSignUpOfAFailingDatabase(t *testing.T) {
	eachNew(t, func(t *testing.T, b bench, token string) {
		modelstest.FailStatements(t, b.DB, func() error { _, err := b.IssueSetupToken(t.Context()); return err })
		token = b.issue(t)
		modelstest.FailStatements(t, b.DB, func() error {
			b.Clock.Advance(time.Minute)
			return b.firstUp(t, token, "192.0.2.1")
		})
		b.Operators = []string{"ada@example.com"}
		modelstest.FailStatements(t, b.DB, func() error { _, err := b.OperatorUsers(b.DB.Read(t.Context())); return err })
		ada := auth.User{ID: 1, Email: "ada@example.com"}
		modelstest.FailStatements(t, b.DB, func() error { _, err := b.Operator(t.Context(), ada); return err })
	})
}
