package auth_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

// app is the authenticator app of a user, with the codes on their card.
type app struct {
	key   string
	codes []string
}

func (a app) at(t *testing.T, at time.Time) string {
	t.Helper()
	code, err := totp.GenerateCode(a.key, at)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// factor sets a second factor up.
func (b bench) factor(t *testing.T, sc scope.Scope) app {
	t.Helper()
	made, err := b.BeginSecondFactor(t.Context(), sc, auth.Proof{Password: ada.Password, IP: "192.0.2.1"})
	if err != nil {
		t.Fatal(err)
	}
	a := app{key: made.Key}
	a.codes, err = b.ConfirmSecondFactor(t.Context(), sc, made.Sealed, a.at(t, b.Clock.Now()), "", "192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// enter signs in with password and code.
func (b bench) enter(t *testing.T, code string) (auth.User, int, error) {
	t.Helper()
	entry, err := b.SignIn(t.Context(), credentials("ada@example.com", ada.Password))
	if err != nil {
		t.Fatal(err)
	}
	if entry.Pending == "" {
		t.Fatal("the password alone is enough")
	}
	return b.EnterCode(t.Context(), entry.Pending, code, "192.0.2.1")
}

func TestSecondFactor(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		if _, err := b.BeginSecondFactor(ctx, sc, auth.Proof{Password: "not the phrase at all"}); fault.KindOf(err) != fault.Invalid {
			t.Error(err)
		}
		b.Clock.Advance(time.Minute)
		other, err := b.RotateSession(ctx, "", auth.Session{UserID: m.User.ID, Data: "{}"})
		if err != nil {
			t.Fatal(err)
		}
		a := b.factor(t, sc)
		if _, err := b.LoadSession(ctx, other.Token); fault.KindOf(err) != fault.NotFound {
			t.Error("a session from before the second factor works on", err)
		}
		var row models.User
		b.DB.Read(ctx).Take(&row)
		if strings.Contains(string(row.TOTPSecret), a.key) || len(row.TOTPSecret) == 20 {
			t.Error("the secret is not sealed")
		}
		now := b.Clock.Now()
		if _, _, err := b.enter(t, a.at(t, now)); code(err) != "code_refused" {
			t.Error("the code of the setup works again", err)
		}
		for _, c := range []struct {
			wait, off time.Duration // until the sign-in; of the app's clock
			ok        bool
		}{
			{time.Minute, -30 * time.Second, true}, {0, 0, true}, {0, 0, false}, {0, -30 * time.Second, false},
			{2 * time.Minute, 30 * time.Second, true}, {30 * time.Second, 0, false}, {time.Minute, -60 * time.Second,
				false}, {time.Minute, 60 * time.Second, false}, {time.Minute, 0, true},
		} {
			b.Clock.Advance(c.wait)
			user, left, err := b.enter(t, a.at(t, b.Clock.Now().Add(c.off)))
			if (err == nil) != c.ok || c.ok && (user.ID != m.User.ID || left != -1) || !c.ok &&
				code(err) != "code_refused" {
				t.Errorf("%+v: %v %d %v", c, user, left, err)
			}
			b.Clock.Advance(5 * time.Second) // wrong ones have to wait
		}
	})
}

func TestRecoveryCodes(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		a := b.factor(t, sc)
		if len(a.codes) != 10 || len(slices.Compact(slices.Sorted(slices.Values(a.codes)))) != 10 {
			t.Fatalf("a.codes = %v", a.codes)
		}
		var hashes []string
		b.DB.Read(ctx).Model(&models.RecoveryCode{}).Pluck("hash", &hashes)
		for _, hash := range hashes {
			if slices.ContainsFunc(a.codes, func(c string) bool { return strings.Contains(hash, c) }) {
				t.Error("a code is stored as it is")
			}
		}
		typed := " " + strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(a.codes[3], "-", " "), "0", "o")) + " "
		if user, left, err := b.enter(t, typed); err != nil || left != 9 || user.ID != m.User.ID {
			t.Fatalf("b.enter(t, typed): user = %v, left = %v, err = %v", user, left, err)
		}
		if _, _, err := b.enter(t, a.codes[3]); code(err) != "code_refused" {
			t.Error("a recovery code works twice", err)
		}
		b.Clock.Advance(time.Minute)
		if _, err := b.NewRecoveryCodes(ctx, sc, auth.Proof{Password: ada.Password}); fault.KindOf(err) != fault.Invalid {
			t.Error("no code was asked for", err)
		}
		fresh, err := b.NewRecoveryCodes(ctx, sc, auth.Proof{Password: ada.Password, Code: a.codes[4]})
		if err != nil || len(fresh) != 10 {
			t.Fatalf("fresh = %v, err = %v", fresh, err)
		}
		if _, _, err := b.enter(t, a.codes[5]); code(err) != "code_refused" {
			t.Error("an old code works", err)
		}
		b.Clock.Advance(time.Minute)
		if f, err := b.SecondFactor(ctx, sc); !f.On || f.Left != 10 || err != nil {
			t.Errorf("b.SecondFactor(ctx, sc): f = %v, err = %v", f, err)
		}
		b.Letters()
		if err := b.RemoveSecondFactor(ctx, sc, auth.Proof{Password: ada.Password, Code: fresh[0]}, ""); err != nil {
			t.Fatal(err)
		}
		if entry, err := b.SignIn(ctx, credentials("ada@example.com", ada.Password)); err != nil ||
			entry.Pending != "" {
			t.Errorf(`b.SignIn(ctx, credentials("ada@example.com", ada.Password)): entry = %v, err = %v`, entry, err)
		}
		if got := b.Letters(); !slices.Equal(got, []string{"second_factor_off to ada@example.com"}) {
			t.Errorf("b.Letters(): got = %v", got)
		}
		want := []string{"business.created", "user.second_factor_on", "user.recovery_code_used", "user.code_refused",
			"user.recovery_code_used",
			"user.recovery_codes_made", "user.code_refused", "user.recovery_code_used", "user.second_factor_off"}
		if got := b.Actions(t, m.Business.ID); !slices.Equal(got, want) {
			t.Errorf("b.Actions(t, m.Business.ID): got = %v", got)
		}
	})
}

// TestOneCodeAtOnce: of many at the same moment a code lets one in.
func TestOneCodeAtOnce(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		a := b.factor(t, m.Scope(scope.Test))
		b.Clock.Advance(time.Minute)
		entry, err := b.SignIn(t.Context(), credentials("ada@example.com", ada.Password))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []string{a.at(t, b.Clock.Now()), a.codes[0]} {
			var wg sync.WaitGroup
			results := make([]error, 12)
			for i := range results {
				wg.Go(func() { _, _, results[i] = b.EnterCode(t.Context(), entry.Pending, c, "192.0.2.1") })
			}
			wg.Wait()
			if n := slices.IndexFunc(results, func(err error) bool { return err == nil }); n < 0 ||
				slices.ContainsFunc(results[n+1:], func(err error) bool { return err == nil }) {
				t.Errorf("slices.IndexFunc(results, func(err error) bool { return err == nil }): results = %v", results)
			}
			b.Clock.Advance(2 * time.Minute)
		}
	})
}

// TestCodesAreThrottled (AP-12): codes are guessed no faster than passwords.
func TestCodesAreThrottled(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		a := b.factor(t, m.Scope(scope.Test))
		for _, wait := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
			if _, _, err := b.enter(t, "000000"); code(err) != "code_refused" {
				t.Fatal(err)
			}
			if _, _, err := b.enter(t, a.codes[0]); fault.KindOf(err) != fault.Limited {
				t.Fatal("a right password forgives wrong codes", err)
			}
			b.Clock.Advance(wait * time.Second)
		}
		for _, strange := range []string{"", strings.Repeat("1", 1<<16), "١٢٣٤٥٦", "\x00"} {
			if _, _, err := b.enter(t, strange); code(err) != "code_refused" {
				t.Errorf("%.20q: %v", strange, err)
			}
			b.Clock.Advance(time.Minute)
		}
		if _, _, err := b.enter(t, a.codes[0]); err != nil {
			t.Error(err)
		}
	})
}

// TestPendingSignIn: half a sign-in ends after ten minutes, and with the password.
func TestPendingSignIn(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		a := b.factor(t, sc)
		b.Clock.Advance(time.Minute)
		entry, err := b.SignIn(ctx, credentials("ada@example.com", ada.Password))
		if err != nil {
			t.Fatal(err)
		}
		later, ok := strings.CutPrefix(entry.Pending, "1.")
		for _, forged := range []string{"", "1", "..", "x.y.z", "2." + later, strings.Replace(entry.Pending, ".17",
			".18", 1), entry.Pending + "0"} {
			if _, _, err := b.EnterCode(ctx, forged, a.codes[0], ""); code(err) != "sign_in_expired" || !ok {
				t.Errorf(`b.EnterCode(ctx, forged, a.codes[0], ""): forged = %v, err = %v`, forged, err)
			}
		}
		b.Clock.Advance(10*time.Minute + time.Second)
		if _, _, err := b.EnterCode(ctx, entry.Pending, a.codes[0], ""); code(err) != "sign_in_expired" {
			t.Error(err)
		}
		if entry, err = b.SignIn(ctx, credentials("ada@example.com", ada.Password)); err != nil {
			t.Fatal(err)
		}
		if err := b.ChangePassword(ctx, sc, auth.Proof{Password: ada.Password}, "quite another long phrase",
			""); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.EnterCode(ctx, entry.Pending, a.codes[0], ""); code(err) != "sign_in_expired" {
			t.Error("half a sign-in outlives its password", err)
		}
	})
}

func TestSetupExpires(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		made, err := b.BeginSecondFactor(ctx, sc, auth.Proof{Password: ada.Password})
		if err != nil || !strings.HasPrefix(made.URL, "otpauth://totp/Cointill:ada@example.com?") {
			t.Fatalf("made = %v, err = %v", made, err)
		}
		a := app{key: made.Key}
		if _, err := b.ConfirmSecondFactor(ctx, sc, made.Sealed, "123", "", ""); fault.KindOf(err) != fault.Invalid {
			t.Error(err)
		}
		if again, err := b.ResumeSecondFactor(ctx, sc, made.Sealed); err != nil || again != made {
			t.Errorf("b.ResumeSecondFactor(ctx, sc, made.Sealed): again = %v, err = %v", again, err)
		}
		other := ada
		other.Email = "bea@example.com"
		_, bea, err := b.CreateBusiness(ctx, other)
		if err != nil {
			t.Fatal(err)
		}
		mb, err := b.Membership(ctx, bea.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.ResumeSecondFactor(ctx, mb.Scope(scope.Test), made.Sealed); code(err) != "setup_expired" {
			t.Error("another's setup opens", err)
		}
		b.Clock.Advance(time.Hour + time.Second)
		if _, err := b.ConfirmSecondFactor(ctx, sc, made.Sealed, a.at(t, b.Clock.Now()), "",
			""); code(err) != "setup_expired" {
			t.Error(err)
		}
		b.factor(t, sc)
		if _, err := b.BeginSecondFactor(ctx, sc, auth.Proof{Password: ada.Password}); code(err) != "second_factor_on" {
			t.Error(err)
		}
	})
}

// TestOperatorHelps: who lost the password, the app and the codes gets in again by who runs the server.
func TestOperatorHelps(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx := t.Context()
		b.factor(t, m.Scope(scope.Test))
		open := b.session(t, m.User.ID)
		if _, err := b.ResetPassword(ctx, "Ada@example.com", another); err != nil {
			t.Fatal(err)
		}
		if entry, err := b.SignIn(ctx, credentials("ada@example.com", another)); err != nil || entry.Pending == "" ||
			b.lives(t, open) {
			t.Error("the second factor went with the password, or a session stayed", err)
		}
		if err := b.ResetFactor(ctx, "ada@example.com"); err != nil {
			t.Fatal(err)
		}
		if entry, err := b.SignIn(ctx, credentials("ada@example.com", another)); err != nil || entry.Pending != "" {
			t.Errorf(`b.SignIn(ctx, credentials("ada@example.com", another)): entry = %v, err = %v`, entry, err)
		}
		if err := b.ResetFactor(ctx, "nobody@example.com"); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
		if got := b.Actions(t, m.Business.ID); !slices.Equal(got[2:], []string{"user.password_reset",
			"user.second_factor_reset"}) {
			t.Errorf("b.Actions(t, m.Business.ID): got = %v", got)
		}
	})
}

func TestReauthenticateAsksForTheCode(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Live)
		a := b.factor(t, sc)
		b.Clock.Advance(time.Minute)
		for _, c := range []struct {
			code string
			kind fault.Kind
		}{{"", fault.Invalid}, {"000000", fault.Invalid}, {a.codes[0], fault.Limited}} {
			if _, err := b.Reauthenticate(ctx, sc, auth.Proof{Password: ada.Password,
				Code: c.code}); fault.KindOf(err) != c.kind {
				t.Errorf("%q: %v", c.code, err)
			}
		}
		b.Clock.Advance(time.Minute)
		if user, err := b.Reauthenticate(ctx, sc, auth.Proof{Password: ada.Password, Code: a.at(t,
			b.Clock.Now())}); err != nil || user.ID != m.User.ID {
			t.Errorf("user = %v, err = %v", user, err)
		}
	})
}
