package auth_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

// moment is the least time that the database tells apart.
const moment = time.Microsecond

// TestSweepTakesWhatIsOver: Sweep deletes what ends at this moment, and keeps what ends a
// moment later.
func TestSweepTakesWhatIsOver(t *testing.T) {
	each(t, func(t *testing.T, b bench, _ account.Membership) {
		now, day := b.Clock.Now(), 24*time.Hour
		var rows []any
		for name, late := range map[string]time.Duration{"over": 0, "lasts": moment} {
			ends := func(life time.Duration) time.Time { return now.Add(late - life) }
			rows = append(rows,
				&models.Session{ID: name + " life", SeenAt: now, ExpiresAt: ends(0)},
				&models.Session{ID: name + " idle", SeenAt: ends(auth.SessionIdle), ExpiresAt: now.Add(day)},
				&models.Attempt{Key: name, UpdatedAt: ends(day)},
				&models.Ticket{Hash: name, ExpiresAt: ends(0)},
				&models.PasskeyChallenge{Session: name, ExpiresAt: ends(0)},
				&models.Invitation{Email: name, Hash: name, ExpiresAt: ends(30 * day)},
				&models.Device{Hash: name, SeenAt: ends(auth.DeviceLife)})
		}
		for _, row := range rows {
			if err := b.DB.Exec(t.Context()).Create(row).Error; err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		for table, column := range map[string]string{"sessions": "id", "attempts": "key", "tickets": "hash",
			"passkey_challenges": "session", "invitations": "hash", "devices": "hash"} {
			var left []string
			if err := b.DB.Read(t.Context()).Table(table).Order(column).Pluck(column, &left).Error; err != nil {
				t.Fatal(err)
			}
			want := "lasts"
			if table == "sessions" {
				want = "lasts idle, lasts life"
			}
			if got := strings.Join(left, ", "); got != want {
				t.Errorf("of %s, Sweep leaves %q, want %q", table, got, want)
			}
		}
	})
}

// TestSessionsEndOnTime: a session works, and is listed, until the moment at which its
// life or its idle time ends.
func TestSessionsEndOnTime(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, now := t.Context(), b.Clock.Now()
		want := map[string]bool{"life over": false, "life lasts": true, "idle over": false, "idle lasts": true}
		for name, late := range map[string]time.Duration{"over": 0, "lasts": moment} {
			for _, row := range []models.Session{
				{UserAgent: "life " + name, SeenAt: now, ExpiresAt: now.Add(late)},
				{UserAgent: "idle " + name, SeenAt: now.Add(late - auth.SessionIdle), ExpiresAt: now.Add(time.Hour)},
			} {
				row.ID, row.UserID = auth.SessionKey(row.UserAgent), m.User.ID
				if err := b.DB.Exec(ctx).Create(&row).Error; err != nil {
					t.Fatal(err)
				}
			}
		}
		list, err := b.Sessions(ctx, m.Scope(scope.Test))
		if err != nil {
			t.Fatal(err)
		}
		listed := map[string]bool{}
		for _, seat := range list {
			listed[seat.UserAgent] = true
		}
		for name, works := range want {
			if got := b.lives(t, auth.Session{Token: name}); got != works || listed[name] != works {
				t.Errorf("%s: works %v, listed %v, want %v", name, got, listed[name], works)
			}
		}
	})
}

// TestUseOfASessionIsWrittenOnceAMinute: requests within a minute write nothing.
func TestUseOfASessionIsWrittenOnceAMinute(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		session := w.session(t, w.bea.User.ID)
		use := func() string {
			return strings.Join(w.listChanges(t, func() error {
				_, err := w.LoadSession(t.Context(), session.Token)
				return err
			}), "; ")
		}
		w.Clock.Advance(time.Minute - moment)
		if got := use(); got != "" {
			t.Errorf("a moment before a minute is over, LoadSession changes %s, want nothing", got)
		}
		w.Clock.Advance(moment)
		if got, want := use(), "~ sessions Firefox: seen_at"; got != want {
			t.Errorf("after a minute, LoadSession changes %q, want %q", got, want)
		}
	})
}

// TestRotatedSessionHasAnotherToken: the token from before is never that of the new
// session; one that the caller made is.
func TestRotatedSessionHasAnotherToken(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		for _, next := range []string{"", "same", "made by the caller"} {
			old := w.session(t, w.bea.User.ID)
			session := auth.Session{Token: next, UserID: w.bea.User.ID, Data: "{}"}
			if next == "same" {
				session.Token = old.Token
			}
			got, err := w.RotateSession(t.Context(), old.Token, session)
			if err != nil || !w.lives(t, got) || w.lives(t, old) {
				t.Errorf("RotateSession to the token %q: %v, want that it works and the former doesn't", next, err)
			}
			if kept := got.Token == next; kept != (next == "made by the caller") || got.Token == "" {
				t.Errorf("RotateSession to the token %q gives %q", next, got.Token)
			}
		}
	})
}

// TestNamesOfBrowsersAreCut: of a browser's name 300 characters are kept.
func TestNamesOfBrowsersAreCut(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		for given, want := range map[int]int{299: 299, 300: 300, 301: 300} {
			name := strings.Repeat("é", given-1) + "x"
			s, err := b.RotateSession(t.Context(), "", auth.Session{UserID: m.User.ID, Data: "{}", UserAgent: name})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := b.LoadSession(t.Context(), s.Token); err != nil ||
				got.UserAgent != string([]rune(name)[:want]) {
				t.Errorf("of %d characters %d are kept (%v), want %d", given, len([]rune(got.UserAgent)), err, want)
			}
		}
	})
}

// TestBrowserIsKnownFor400Days: a browser is known until 400 days after its last sign-in.
func TestBrowserIsKnownFor400Days(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		var devices []string
		for range 2 {
			device, err := b.Arrive(t.Context(), m.User, auth.Visit{UserAgent: "Firefox"}, true)
			if err != nil {
				t.Fatal(err)
			}
			devices = append(devices, device)
			b.Clock.Advance(moment)
		}
		b.Clock.Advance(auth.DeviceLife - 2*moment)
		wrong := credentials("ada@example.com", "not the phrase at all")
		if err := refuses(b.SignIn(t.Context(), wrong))("sign_in_failed"); err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{"too_many_attempts", ""} {
			in := credentials("ada@example.com", ada.Password)
			in.Device = devices[i]
			if _, err := b.SignIn(t.Context(), in); code(err) != want {
				t.Errorf("SignIn by browser %d right after a wrong guess = %v, want %q", i, err, want)
			}
		}
	})
}

// retryAfter is how long an error says to wait, 0 for another error.
func retryAfter(err error) time.Duration {
	var f *fault.Fault
	if errors.As(err, &f) && f.Kind == fault.Limited {
		return f.RetryAfter
	}
	return 0
}

// TestMinuteOfAnAddressEndsOnTime (AP-12): a new minute begins at the moment at which the
// one before ends, with none of its guesses; who is refused hears how long it still takes.
func TestMinuteOfAnAddressEndsOnTime(t *testing.T) {
	each(t, func(t *testing.T, b bench, _ account.Membership) {
		n := 0
		guess := func(ip string) error {
			n++
			in := auth.Credentials{Email: fmt.Sprintf("%d@example.com", n), Password: another, IP: ip}
			_, err := b.SignIn(t.Context(), in)
			return err
		}
		_ = guess("198.51.100.1") // has a minute of its own
		b.Clock.Advance(30 * time.Second)
		for range 10 {
			_ = guess("192.0.2.1")
		}
		b.Clock.Advance(time.Minute)
		for i := range 20 {
			if err := guess("192.0.2.1"); code(err) != "sign_in_failed" {
				t.Fatalf("guess %d of the second minute = %v, want that it is looked at", i+1, err)
			}
		}
		b.Clock.Advance(20 * time.Second)
		if err := guess("192.0.2.1"); retryAfter(err) != 40*time.Second {
			t.Errorf("guess 21 of the second minute = %v with a wait of %v, want 40 s", err, retryAfter(err))
		}
		b.Clock.Advance(40*time.Second - moment)
		if err := guess("192.0.2.1"); retryAfter(err) != time.Second {
			t.Errorf("a moment before its end = %v with a wait of %v, want the least, 1 s", err, retryAfter(err))
		}
	})
}

// TestNothingIsForgivenTwice (AP-12): a sign-in takes back its own count. One that wasn't
// counted in the present minute gives no guess more.
func TestNothingIsForgivenTwice(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		key := b.passkey(t, m.Scope(scope.Test), "Phone")
		answer := key.Answer(t, b.ask(t, "visitor")) // counted in this minute
		b.Clock.Advance(time.Minute)
		if _, err := b.SignIn(t.Context(), credentials("ada@example.com", ada.Password)); err != nil {
			t.Fatal(err)
		}
		if _, err := b.EnterPasskey(t.Context(), "visitor", answer, "192.0.2.1"); err != nil {
			t.Fatal(err)
		}
		for i := range 21 {
			_, err := b.SignIn(t.Context(), credentials(fmt.Sprintf("%d@example.com", i), another))
			if want := map[bool]string{false: "sign_in_failed", true: "too_many_attempts"}[i == 20]; code(err) != want {
				t.Errorf("guess %d in the minute = %v, want %s", i+1, err, want)
			}
		}
	})
}

// TestGuessesAreForgottenAfterADay (AP-12): a guess a day after the one before counts as
// one more, and as the first a moment later.
func TestGuessesAreForgottenAfterADay(t *testing.T) {
	each(t, func(t *testing.T, b bench, _ account.Membership) {
		for _, c := range []struct{ since, wait time.Duration }{
			{0, time.Second}, {24 * time.Hour, 2 * time.Second}, {24*time.Hour + moment, time.Second},
		} {
			b.Clock.Advance(c.since)
			wrong := credentials("ada@example.com", "not the phrase at all")
			if err := refuses(b.SignIn(t.Context(), wrong))("sign_in_failed"); err != nil {
				t.Fatal(err)
			}
			if _, err := b.SignIn(t.Context(), wrong); retryAfter(err) != c.wait {
				t.Errorf("after a guess %v after another: %v with a wait of %v, want %v", c.since, err,
					retryAfter(err), c.wait)
			}
		}
	})
}

// TestPasswordsHaveAtMost128Characters: the longest password, of four bytes each, signs
// in. A longer one never does, not even where its hash is stored.
func TestPasswordsHaveAtMost128Characters(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		longest := strings.Repeat("𝄞", 127) + "🜁"
		if _, err := b.ResetPassword(t.Context(), "ada@example.com", longest); err != nil {
			t.Fatal(err)
		}
		if _, err := b.SignIn(t.Context(), credentials("ada@example.com", longest)); err != nil {
			t.Errorf("SignIn with 128 characters of four bytes = %v, want no error", err)
		}
		hash, err := argon2id.CreateHash(longest+"x", &b.Cost)
		if err != nil {
			t.Fatal(err)
		}
		user := b.DB.Exec(t.Context()).Model(&models.User{}).Where("id = ?", m.User.ID)
		if err := user.Update("password_hash", hash).Error; err != nil {
			t.Fatal(err)
		}
		if err := refuses(b.SignIn(t.Context(), credentials("ada@example.com",
			longest+"x")))("sign_in_failed"); err != nil {
			t.Error(err)
		}
	})
}
