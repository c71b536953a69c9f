package auth_test

import (
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/internal/testing/speed"
	"cointill/models"
)

func credentials(email, password string) auth.Credentials {
	return auth.Credentials{Email: email, Password: password, IP: "192.0.2.1"}
}

// TestSignInSaysTheSameToEveryFailure (AP-13): a wrong password, an unknown address and
// a huge one sound alike.
func TestSignInSaysTheSameToEveryFailure(t *testing.T) {
	each(t, func(t *testing.T, b bench, _ account.Membership) {
		entry, err := b.SignIn(t.Context(), credentials(" ADA@example.com", ada.Password))
		if err != nil || entry.User.Name != "Ada Obi" || entry.Pending != "" {
			t.Fatalf("entry = %v, err = %v", entry, err)
		}
		_, wrong := b.SignIn(t.Context(), credentials("ada@example.com", "another long phrase"))
		_, unknown := b.SignIn(t.Context(), credentials("bea@example.com", ada.Password))
		_, long := b.SignIn(t.Context(), credentials("cid@example.com", strings.Repeat("x", 1<<16)))
		for _, err := range []error{wrong, unknown, long} {
			if fault.KindOf(err) != fault.Unauthenticated || err.Error() != wrong.Error() {
				t.Error(err)
			}
		}
	})
}

// TestNobodysPasswordIsHashed (AP-13): a refused sign-in asks for one hash, of an address
// that nobody has as of one that somebody has. What a hash is made in is counted: it is all
// of Argon2's memory, once.
func TestNobodysPasswordIsHashed(t *testing.T) {
	each(t, func(t *testing.T, b bench, _ account.Membership) {
		b.Cost.Memory = 16 << 10 // KiB
		// Her hash is replaced; the dummy that unknown addresses are compared with is made.
		for _, ready := range []auth.Credentials{credentials("ada@example.com", ada.Password),
			credentials("bea@example.com", ada.Password)} {
			_, _ = b.SignIn(t.Context(), ready)
		}
		for _, c := range []auth.Credentials{credentials("ada@example.com", "another long phrase"),
			credentials("cid@example.com", "another long phrase"),
			credentials("ada@example.com", strings.Repeat("x", 1<<16)), credentials("cid@example.com",
				strings.Repeat("x", 1<<16))} {
			b.Clock.Advance(time.Minute)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := b.SignIn(t.Context(), c)
			runtime.ReadMemStats(&after)
			if hashes := float64(after.TotalAlloc-before.TotalAlloc) / float64(b.Cost.Memory<<10); code(err) != "sign_in_failed" || hashes < 1 || hashes > 1.5 {
				t.Errorf("%s, %d characters: %.2f hashes, %v", c.Email, len(c.Password), hashes, err)
			}
		}
	})
}

// TestGuessesOfAnEmailWaitLongerAndLonger (AP-12): the wait doubles up to a minute, from
// wherever it is guessed.
func TestGuessesOfAnEmailWaitLongerAndLonger(t *testing.T) {
	each(t, func(t *testing.T, b bench, _ account.Membership) {
		for _, wait := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
			if _, err := b.SignIn(t.Context(), credentials("ada@example.com",
				"wrong wrong wrong")); code(err) != "sign_in_failed" {
				t.Fatal(err)
			}
			_, err := b.SignIn(t.Context(), auth.Credentials{Email: "ada@example.com", Password: ada.Password,
				IP: "198.51.100.7"})
			var f *fault.Fault
			if !errors.As(err, &f) || f.Kind != fault.Limited || f.RetryAfter != wait*time.Second {
				t.Fatalf("want a wait of %d s: %+v", wait, err)
			}
			b.Clock.Advance(wait * time.Second)
		}
		if _, err := b.SignIn(t.Context(), credentials("ada@example.com", ada.Password)); err != nil {
			t.Fatal(err)
		}
		// A success forgets the guesses.
		if _, err := b.SignIn(t.Context(), credentials("ada@example.com", ada.Password)); err != nil {
			t.Fatal(err)
		}
	})
}

// TestAnAddressGuessesTwentyTimesAMinute (AP-12): whichever e-mail addresses it tries.
func TestAnAddressGuessesTwentyTimesAMinute(t *testing.T) {
	each(t, func(t *testing.T, b bench, _ account.Membership) {
		guess := func(n int) error {
			_, err := b.SignIn(t.Context(), auth.Credentials{Email: strings.Repeat("x", n+1) + "@example.com",
				Password: "guess guess guess", IP: "2001:db8::" + string(rune('a'+n%6))})
			return err
		}
		for n := range 20 {
			if code(guess(n)) != "sign_in_failed" {
				t.Fatalf("n = %v, guess(n) = %v", n, guess(n))
			}
		}
		if fault.KindOf(guess(20)) != fault.Limited {
			t.Error("the 21st guess went through")
		}
		b.Clock.Advance(time.Minute)
		if code(guess(21)) != "sign_in_failed" {
			t.Error("still blocked after a minute")
		}
	})
}

// TestGuessesAtOnceCountAsMany (AP-12): thirty guesses in one moment get one password
// looked at.
func TestGuessesAtOnceCountAsMany(t *testing.T) {
	each(t, func(t *testing.T, b bench, _ account.Membership) {
		var wg sync.WaitGroup
		results := make([]error, 30)
		for i := range results {
			wg.Go(func() { _, results[i] = b.SignIn(t.Context(), credentials("ada@example.com", "guess guess guess")) })
		}
		wg.Wait()
		verified := 0
		for _, err := range results {
			if code(err) == "sign_in_failed" {
				verified++
			} else if fault.KindOf(err) != fault.Limited {
				t.Error(err)
			}
		}
		if verified != 1 {
			t.Errorf("%d of 30 guesses at the same moment were verified", verified)
		}
	})
}

var guesses = flag.Int("guesses", speed.Pick(200, 1000), "TestGuessesOfAnHour: so many in the hour; 10000 takes a minute")

// TestGuessesOfAnHour (AP-12): of a thousand guesses in an hour, or of as many as -guesses
// says, each from an address of its own, about one in a minute is looked at, however many
// they are. The owner gets in meanwhile, by a browser that they used before.
func TestGuessesOfAnHour(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		device, err := b.Arrive(t.Context(), m.User, auth.Visit{UserAgent: "Firefox", IP: "192.0.2.7"}, true)
		if err != nil {
			t.Fatal(err)
		}
		verified := 0
		for n := range *guesses {
			b.Clock.Advance(time.Hour / time.Duration(*guesses))
			_, err := b.SignIn(t.Context(), auth.Credentials{Email: "ada@example.com", Password: "guess guess guess",
				IP: fmt.Sprintf("198.%d.%d.1", n/250, n%250)})
			if code(err) == "sign_in_failed" {
				verified++
			} else if fault.KindOf(err) != fault.Limited {
				t.Fatal(err)
			}
		}
		if verified < 10 || verified > 70 {
			t.Errorf("%d of %d guesses were verified", verified, *guesses)
		}
		if _, err := b.SignIn(t.Context(), auth.Credentials{Email: "ada@example.com", Password: ada.Password,
			IP: "198.51.100.3", Device: device}); err != nil {
			t.Error("the owner is kept out:", err)
		}
	})
}

func TestOldHashIsMadeAnew(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		hash := func() (h string) {
			b.DB.Read(t.Context()).Model(&models.User{}).Where("id = ?", m.User.ID).Pluck("password_hash", &h)
			return h
		}
		before := hash()
		b.Cost.Iterations++ // as of a later release
		for range 2 {
			if _, err := b.SignIn(t.Context(), credentials("ada@example.com", ada.Password)); err != nil {
				t.Fatal(err)
			}
		}
		if after := hash(); after == before || !strings.Contains(after, "t=2") {
			t.Errorf("hash(): after = %v", after)
		}
	})
}

// TestSignInGoesOnAfterAnOldHash: a user with a second factor, whose hash was replaced as
// they signed in, goes on with the code.
func TestSignInGoesOnAfterAnOldHash(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		a := b.factor(t, m.Scope(scope.Test))
		b.Cost.Iterations++ // as of a later release
		if user, _, err := b.enter(t, a.codes[0]); err != nil || user.ID != m.User.ID {
			t.Errorf("EnterCode after the hash was replaced = user %d, %v, want user %d", user.ID, err, m.User.ID)
		}
	})
}

func TestSessions(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx := t.Context()
		if err := b.SaveSession(ctx, auth.Session{Token: "visitor", Data: `{"flash":"x"}`}); err != nil {
			t.Fatal(err)
		}
		session, err := b.RotateSession(ctx, "visitor", auth.Session{UserID: m.User.ID, Data: "{}",
			UserAgent: "\xff\x00" + strings.Repeat("é", 999)})
		if err != nil || len(session.Token) != 43 {
			t.Fatalf("session = %v, err = %v", session, err)
		}
		if _, err := b.LoadSession(ctx, "visitor"); fault.KindOf(err) != fault.NotFound {
			t.Error("the token from before sign-in still works", err)
		}
		session.Data = `{"domain":"live"}`
		if err := b.SaveSession(ctx, session); err != nil {
			t.Fatal(err)
		}
		if err := b.SaveSession(ctx, auth.Session{Token: session.Token, Data: "{}"}); err != nil { // a visitor can't take it over
			t.Fatal(err)
		}
		got, err := b.LoadSession(ctx, session.Token)
		if err != nil || got.UserID != m.User.ID || got.Data != session.Data {
			t.Fatalf("got = %v, err = %v", got, err)
		}
		if err := b.RevokeUser(ctx, m.User.ID); err != nil {
			t.Fatal(err)
		}
		if err := b.SaveSession(ctx, session); err != nil { // a request that was under way
			t.Fatal(err)
		}
		if _, err := b.LoadSession(ctx, session.Token); fault.KindOf(err) != fault.NotFound {
			t.Error("a revoked session came back", err)
		}
	})
}

func TestSessionsEnd(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx := t.Context()
		session, err := b.RotateSession(ctx, "", auth.Session{UserID: m.User.ID, Data: "{}"})
		if err != nil {
			t.Fatal(err)
		}
		for range 24 { // twelve hours of a request every 29 minutes and 59 seconds, less a little
			b.Clock.Advance(auth.SessionIdle - time.Second)
			if _, err := b.LoadSession(ctx, session.Token); err != nil {
				t.Fatal(err)
			}
		}
		b.Clock.Advance(time.Minute)
		if _, err := b.LoadSession(ctx, session.Token); fault.KindOf(err) != fault.NotFound {
			t.Error("lives longer than twelve hours", err)
		}
		idle, err := b.RotateSession(ctx, "", auth.Session{UserID: m.User.ID, Data: "{}"})
		if err != nil {
			t.Fatal(err)
		}
		b.Clock.Advance(auth.SessionIdle)
		if _, err := b.LoadSession(ctx, idle.Token); fault.KindOf(err) != fault.NotFound {
			t.Error("lives although idle", err)
		}
		if err := b.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		var left int64
		b.DB.Read(ctx).Model(&models.Session{}).Count(&left)
		if left != 0 {
			t.Errorf("%d sessions left", left)
		}
	})
}

func TestRoleIsReadFresh(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		if err := b.DB.Exec(t.Context()).Model(&models.Member{}).Where("user_id = ?", m.User.ID).Update("role",
			"finance").Error; err != nil {
			t.Fatal(err)
		}
		now, err := b.Membership(t.Context(), m.User.ID, 0)
		if err != nil || now.Role != scope.Finance || now.Scope(scope.Test).Allows(scope.ToggleMethods) {
			t.Errorf("now = %v, err = %v", now, err)
		}
		if _, err := b.Membership(t.Context(), 999, 0); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
	})
}
