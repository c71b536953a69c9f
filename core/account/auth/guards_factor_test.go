package auth_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/account/auth"
	"cointill/core/account/auth/passkeytest"
	"cointill/core/scope"
	"cointill/models"
)

// TestSecondFactorThatIsOff: codes are neither made nor taken for it, and a setup of
// another user or a damaged one doesn't open.
func TestSecondFactorThatIsOff(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc, bea := t.Context(), w.bea.Scope(scope.Test), w.bea
		entry, err := w.SignIn(ctx, credentials(bea.User.Email, ada.Password))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.ResetFactor(ctx, bea.User.Email); err != nil {
			t.Fatal(err)
		}
		for _, typed := range []string{bea.app.at(t, w.Clock.Now()), bea.app.codes[0]} {
			if _, _, err := w.EnterCode(ctx, entry.Pending, typed, ""); code(err) != "code_refused" {
				t.Errorf("EnterCode after the factor was removed = %v, want code_refused", err)
			}
			w.Clock.Advance(time.Minute)
		}
		if _, err := w.NewRecoveryCodes(ctx, sc, proven); code(err) != "second_factor_off" {
			t.Errorf("NewRecoveryCodes = %v, want second_factor_off", err)
		}
		if f, err := w.SecondFactor(ctx, sc); err != nil || f != (auth.Factor{}) {
			t.Errorf("SecondFactor = %+v, %v, want none", f, err)
		}
		for _, sealed := range []string{"", "!", bea.begun.Sealed[1:], w.ann.begun.Sealed} {
			if _, err := w.ResumeSecondFactor(ctx, sc, sealed); code(err) != "setup_expired" {
				t.Errorf("ResumeSecondFactor of %q = %v, want setup_expired", sealed, err)
			}
		}
	})
}

// TestHalfSignInsEndOnTime: a setup lasts an hour, half a sign-in ten minutes, and a code
// may be typed with up to 64 characters.
func TestHalfSignInsEndOnTime(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc, bea := t.Context(), w.bea.Scope(scope.Test), w.bea
		entry, err := w.SignIn(ctx, credentials(bea.User.Email, ada.Password))
		if err != nil {
			t.Fatal(err)
		}
		padded := func(code string, length int) string { return code + strings.Repeat(" ", length-len(code)) }
		w.Clock.Advance(10 * time.Minute)
		codes := bea.app.codes
		for _, c := range []struct{ typed, want string }{
			{padded(codes[0], 64), ""}, {padded(codes[1], 65), "code_refused"},
		} {
			if _, _, err := w.EnterCode(ctx, entry.Pending, c.typed, ""); code(err) != c.want {
				t.Errorf("a code of %d characters after ten minutes = %v, want %q", len(c.typed), err, c.want)
			}
		}
		w.Clock.Advance(time.Second)
		if _, _, err := w.EnterCode(ctx, entry.Pending, codes[2], ""); code(err) != "sign_in_expired" {
			t.Errorf("EnterCode a second later = %v, want sign_in_expired", err)
		}
		if err := w.ResetFactor(ctx, bea.User.Email); err != nil {
			t.Fatal(err)
		}
		begun, err := w.BeginSecondFactor(ctx, sc, proven)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			wait time.Duration
			want string
		}{{time.Hour, ""}, {moment, "setup_expired"}} {
			w.Clock.Advance(c.wait)
			if _, err := w.ResumeSecondFactor(ctx, sc, begun.Sealed); code(err) != c.want {
				t.Errorf("ResumeSecondFactor %v later = %v, want %q", c.wait, err, c.want)
			}
		}
	})
}

// TestPasskeysAreTwentyWhenConfirmed: the twentieth passkey is added, one that was begun
// beside it isn't.
func TestPasskeysAreTwentyWhenConfirmed(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc := t.Context(), w.bea.Scope(scope.Test)
		for i := range 17 {
			row := models.Passkey{UserID: w.bea.User.ID, Name: "more", CreatedAt: w.Clock.Now(),
				Credential: fmt.Sprint("AAA", i), PublicKey: []byte{1}}
			if err := w.DB.Exec(ctx).Create(&row).Error; err != nil {
				t.Fatal(err)
			}
		}
		answers := map[string][]byte{}
		for _, session := range []string{"first", "second"} {
			options, err := w.BeginPasskey(ctx, sc, w.prove(t, &w.bea), session, session)
			if err != nil {
				t.Fatal(err)
			}
			checkTransports(t, options)
			answers[session] = passkeytest.New(origin).Make(t, options)
		}
		for _, c := range []struct{ session, want string }{{"first", ""}, {"second", "too_many_passkeys"}} {
			if _, err := w.ConfirmPasskey(ctx, sc, c.session, answers[c.session]); code(err) != c.want {
				t.Errorf("ConfirmPasskey of the %s one = %v, want %q", c.session, err, c.want)
			}
		}
	})
}

// checkTransports fails unless a browser is told how it reaches the two passkeys of world,
// and nothing about the other 17, which don't say.
func checkTransports(t *testing.T, options []byte) {
	t.Helper()
	var o struct {
		PublicKey struct {
			ExcludeCredentials []struct{ Transports []string }
		}
	}
	if err := json.Unmarshal(options, &o); err != nil {
		t.Fatal(err)
	}
	known := 0
	for _, c := range o.PublicKey.ExcludeCredentials {
		if slices.Equal(c.Transports, []string{"internal"}) {
			known++
		} else if len(c.Transports) > 0 {
			t.Errorf("a passkey is reached by %q, want internal or nothing", c.Transports)
		}
	}
	if known != 2 || len(o.PublicKey.ExcludeCredentials) != 19 {
		t.Errorf("%d of %d passkeys say how they are reached, want 2 of 19", known, len(o.PublicKey.ExcludeCredentials))
	}
}

// TestAnswersOfBrowsersHaveALimit: of what an authenticator answers 16 KiB are read.
func TestAnswersOfBrowsersHaveALimit(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		for size, want := range map[int]string{16 << 10: "", 16<<10 + 1: "passkey_refused"} {
			answer := w.bea.passkeys[0].Answer(t, w.ask(t, "visitor"))
			answer = append(answer, bytes.Repeat([]byte(" "), size-len(answer))...)
			if _, err := w.EnterPasskey(t.Context(), "visitor", answer, "192.0.2.1"); code(err) != want {
				t.Errorf("EnterPasskey with %d bytes = %v, want %q", size, err, want)
			}
		}
	})
}
