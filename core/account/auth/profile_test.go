package auth_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

const another = "quite another long phrase"

// session signs the user in somewhere.
func (b bench) session(t *testing.T, userID int64) auth.Session {
	t.Helper()
	s, err := b.RotateSession(t.Context(), "", auth.Session{UserID: userID, Data: "{}", UserAgent: "Firefox",
		IP: "192.0.2.7"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (b bench) lives(t *testing.T, s auth.Session) bool {
	t.Helper()
	_, err := b.LoadSession(t.Context(), s.Token)
	return err == nil
}

func TestReset(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx := t.Context()
		open := b.session(t, m.User.ID)
		if err := b.AskReset(ctx, "not an address", ""); fault.KindOf(err) != fault.Invalid {
			t.Error(err)
		}
		if err := b.AskReset(ctx, "nobody@example.com", "192.0.2.1"); err != nil || len(b.Letters()) != 0 {
			t.Error("an unknown address gets another answer, or a mail", err)
		}
		if err := b.AskReset(ctx, " ADA@example.com", "192.0.2.1"); err != nil {
			t.Fatal(err)
		}
		if err := b.AskReset(ctx, "ada@example.com", "192.0.2.1"); err != nil { // pressed twice
			t.Fatal(err)
		}
		if got := b.Letters(); !slices.Equal(got, []string{"password_reset to ada@example.com"}) {
			t.Errorf("b.Letters(): got = %v", got)
		}
		token := b.Link(t)
		var row models.Ticket
		b.DB.Read(ctx).Where("user_id > 0").Take(&row)
		if strings.Contains(row.Hash, token) || row.Data != "" {
			t.Error("the token stands in the database")
		}
		for _, wrong := range []string{"", token + "x", strings.ToLower(token), row.Hash} {
			if _, err := b.FindReset(ctx, wrong); fault.KindOf(err) != fault.Gone {
				t.Errorf("%q: %v", wrong, err)
			}
		}
		if user, err := b.FindReset(ctx, token); err != nil || user != m.User || !b.lives(t, open) {
			t.Error("looking at the link changes something", user, err)
		}
		if err := b.FinishReset(ctx, token, "short"); fault.KindOf(err) != fault.Invalid {
			t.Error(err)
		}
		if err := b.FinishReset(ctx, token, another); err != nil {
			t.Fatal(err)
		}
		if err := b.FinishReset(ctx, token, ada.Password); code(err) != "mail_link_over" {
			t.Error("the link works twice", err)
		}
		if b.lives(t, open) {
			t.Error("a session outlives its password")
		}
		if _, err := b.SignIn(ctx, credentials("ada@example.com", another)); err != nil {
			t.Error(err)
		}
		if got := b.Letters(); !slices.Equal(got, []string{"password_changed to ada@example.com"}) {
			t.Errorf("b.Letters(): got = %v", got)
		}
		if got := b.Actions(t, m.Business.ID); !slices.Equal(got, []string{"business.created",
			"user.password_reset_asked", "user.password_reset"}) {
			t.Errorf("b.Actions(t, m.Business.ID): got = %v", got)
		}
	})
}

func TestResetEnds(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx := t.Context()
		ask := func() string {
			t.Helper()
			if err := b.AskReset(ctx, "ada@example.com", "192.0.2.1"); err != nil {
				t.Fatal(err)
			}
			return b.Link(t)
		}
		first := ask()
		b.Clock.Advance(2 * time.Minute)
		second := ask()
		if _, err := b.FindReset(ctx, first); fault.KindOf(err) != fault.Gone || first == second {
			t.Error("an earlier link still works", err)
		}
		b.Clock.Advance(time.Hour - time.Second)
		if _, err := b.FindReset(ctx, second); err != nil {
			t.Error(err)
		}
		b.Clock.Advance(time.Second)
		if _, err := b.FindReset(ctx, second); fault.KindOf(err) != fault.Gone {
			t.Error("works after an hour", err)
		}
		third := ask()
		if err := b.ChangePassword(ctx, m.Scope(scope.Test), auth.Proof{Password: ada.Password}, another,
			""); err != nil {
			t.Fatal(err)
		}
		if _, err := b.FindReset(ctx, third); fault.KindOf(err) != fault.Gone {
			t.Error("a link outlives the password that it was asked for", err)
		}
		b.Clock.Advance(time.Minute)
		fourth := ask()
		var wg sync.WaitGroup
		results := make([]error, 6)
		for i := range results {
			wg.Go(func() { results[i] = b.FinishReset(ctx, fourth, another+string(rune('a'+i))) })
		}
		wg.Wait()
		done := 0
		for _, err := range results {
			if err == nil {
				done++
			} else if fault.KindOf(err) != fault.Gone && fault.KindOf(err) != fault.Unavailable {
				t.Error(err)
			}
		}
		if done != 1 {
			t.Errorf("one link changed the password %d times", done)
		}
		if err := b.Sweep(ctx); err != nil {
			t.Error(err)
		}
	})
}

func TestChangePassword(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Live)
		here, there := b.session(t, m.User.ID), b.session(t, m.User.ID)
		var f *fault.Fault
		if err := b.ChangePassword(ctx, sc, auth.Proof{}, "short", ""); !errors.As(err, &f) || len(f.Fields) != 2 {
			t.Error(err)
		}
		if err := b.ChangePassword(ctx, sc, auth.Proof{Password: ada.Password}, ada.Password, ""); !errors.As(err,
			&f) || !slices.Equal(f.Fields.InEnglish()["new_password"], []string{"Is already your password."}) {
			t.Errorf("the same password again: %v with %v, want that it is already the password", err, fields(err))
		}
		if err := b.ChangePassword(ctx, sc, auth.Proof{Password: "not the phrase at all"}, another,
			""); !errors.As(err, &f) || len(f.Fields["password"]) != 1 {
			t.Error(err)
		}
		b.Clock.Advance(time.Second)
		if err := b.ChangePassword(ctx, sc, auth.Proof{Password: ada.Password}, another,
			auth.SessionKey(here.Token)); err != nil {
			t.Fatal(err)
		}
		if !b.lives(t, here) || b.lives(t, there) {
			t.Error("the wrong session ended")
		}
		if got := b.Letters(); !slices.Equal(got, []string{"password_changed to ada@example.com"}) {
			t.Errorf("b.Letters(): got = %v", got)
		}
	})
}

func TestChangeEmail(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc, p := t.Context(), m.Scope(scope.Test), auth.Proof{Password: ada.Password}
		for email, kind := range map[string]fault.Kind{"x": fault.Invalid, "ada@example.com": fault.Invalid} {
			if err := b.AskEmail(ctx, sc, email, p); fault.KindOf(err) != kind {
				t.Errorf("b.AskEmail(ctx, sc, email, p): email = %v, err = %v", email, err)
			}
		}
		if err := b.AskEmail(ctx, sc, "new@example.com", auth.Proof{Password: "not the phrase at all"}); fault.KindOf(err) != fault.Invalid || len(b.Letters()) != 0 {
			t.Error(err)
		}
		b.Clock.Advance(time.Second)
		if err := b.AskEmail(ctx, sc, " New@example.com", p); err != nil {
			t.Fatal(err)
		}
		if got := b.Letters(); !slices.Equal(got, []string{"email_asked to ada@example.com",
			"email_confirm to new@example.com"}) {
			t.Errorf("b.Letters(): got = %v", got)
		}
		token := b.Link(t)
		if user, email, err := b.FindEmail(ctx, token); err != nil || email != "new@example.com" ||
			user.Email != "ada@example.com" {
			t.Errorf("b.FindEmail(ctx, token): user = %v, email = %v, err = %v", user, email, err)
		}
		if _, err := b.FindReset(ctx, token); fault.KindOf(err) != fault.Gone {
			t.Error("a link for the address changes the password", err)
		}
		for _, want := range []string{"", "mail_link_over"} {
			if err := b.ConfirmEmail(ctx, token); code(err) != want {
				t.Error(err)
			}
		}
		if got := b.Letters(); !slices.Equal(got, []string{"email_changed to ada@example.com"}) {
			t.Errorf("b.Letters(): got = %v", got)
		}
		if _, err := b.SignIn(ctx, credentials("new@example.com", ada.Password)); err != nil {
			t.Error(err)
		}
		if _, err := b.SignIn(ctx, credentials("ada@example.com", ada.Password)); code(err) != "sign_in_failed" {
			t.Error(err)
		}
	})
}

// TestEmailOfAnother (AP-13): an address that somebody has is neither taken nor told of.
func TestEmailOfAnother(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc, p := t.Context(), m.Scope(scope.Test), auth.Proof{Password: ada.Password}
		if err := b.AskEmail(ctx, sc, "bea@example.com", p); err != nil {
			t.Fatal(err)
		}
		token := b.Link(t)
		other := ada
		other.Email = "bea@example.com"
		if _, _, err := b.CreateBusiness(ctx, other); err != nil {
			t.Fatal(err)
		}
		if err := b.ConfirmEmail(ctx, token); code(err) != "mail_link_over" {
			t.Error("another's address is taken", err)
		}
		b.Letters()
		if err := b.AskEmail(ctx, sc, "bea@example.com", p); err != nil {
			t.Error("the answer tells that somebody has the address", err)
		}
		if got := b.Letters(); !slices.Equal(got, []string{"email_asked to ada@example.com"}) {
			t.Errorf("b.Letters(): got = %v", got)
		}
	})
}

func TestRename(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		for name, fine := range map[string]bool{"Ada Lovelace": true, "": false, "\u202eAda": false,
			strings.Repeat("x", 101): false} {
			if err := b.Rename(ctx, sc, name); (err == nil) != fine {
				t.Errorf("%q: %v", name, err)
			}
		}
		if now, err := b.Membership(ctx, m.User.ID, 0); err != nil || now.User.Name != "Ada Lovelace" {
			t.Errorf("b.Membership(ctx, m.User.ID, 0): now = %v, err = %v", now, err)
		}
		sc.Actor = "key:1"
		if err := b.Rename(ctx, sc, "Key"); fault.KindOf(err) != fault.Forbidden {
			t.Error(err)
		}
	})
}

func TestSeats(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		other := ada
		other.Email = "bea@example.com"
		_, bea, err := b.CreateBusiness(ctx, other)
		if err != nil {
			t.Fatal(err)
		}
		first, theirs := b.session(t, m.User.ID), b.session(t, bea.ID)
		b.Clock.Advance(time.Minute)
		second, third := b.session(t, m.User.ID), b.session(t, m.User.ID)
		list, err := b.Sessions(ctx, sc)
		if err != nil || len(list) != 3 || list[2].Key != auth.SessionKey(first.Token) ||
			list[0].UserAgent != "Firefox" || list[0].IP != "192.0.2.7" {
			t.Fatalf("list = %v, err = %v", list, err)
		}
		if err := b.EndSession(ctx, sc, auth.SessionKey(theirs.Token)); fault.KindOf(err) != fault.NotFound ||
			!b.lives(t, theirs) {
			t.Error("another's session ends", err)
		}
		for _, want := range []fault.Kind{fault.Internal, fault.NotFound} {
			if err := b.EndSession(ctx, sc, auth.SessionKey(second.Token)); err != nil && fault.KindOf(err) != want {
				t.Error(err)
			}
		}
		if b.lives(t, second) {
			t.Error("it did not end")
		}
		if err := b.EndOtherSessions(ctx, sc, auth.SessionKey(third.Token)); err != nil {
			t.Fatal(err)
		}
		if b.lives(t, first) || !b.lives(t, third) || !b.lives(t, theirs) {
			t.Error("the wrong ones ended")
		}
	})
}

// TestRotationKeepsTheLife: a new id is no new twelve hours, and brings no ended session back.
func TestRotationKeepsTheLife(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx := t.Context()
		began := b.Clock.Now()
		old := b.session(t, m.User.ID)
		for range 24 {
			b.Clock.Advance(auth.SessionIdle - time.Second)
			loaded, err := b.LoadSession(ctx, old.Token)
			if err != nil || !loaded.Expires.Equal(began.Add(auth.SessionLife)) {
				t.Fatalf("loaded = %v, err = %v", loaded, err)
			}
			loaded.Token = ""
			next, err := b.RotateSession(ctx, old.Token, loaded)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.RotateSession(ctx, old.Token, loaded); fault.KindOf(err) != fault.NotFound {
				t.Error("an ended session came back", err)
			}
			old = next
		}
		b.Clock.Advance(time.Minute)
		if b.lives(t, old) {
			t.Error("lives longer than twelve hours")
		}
	})
}

// TestDevices (AP-12): a browser that was never used is told of, once; a known one is
// counted by itself, so that who guesses elsewhere keeps nobody out.
func TestDevices(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx := t.Context()
		visit := auth.Visit{UserAgent: "Firefox", IP: "192.0.2.7"}
		arrive := func(expected bool) string {
			t.Helper()
			token, err := b.Arrive(ctx, m.User, visit, expected)
			if err != nil || len(token) != 43 {
				t.Fatalf("token = %v, err = %v", token, err)
			}
			return token
		}
		visit.Device = arrive(true)
		if got := b.Letters(); len(got) != 0 {
			t.Error("sign-up is told of", got)
		}
		if arrive(false) != visit.Device || len(b.Letters()) != 0 {
			t.Error("a known browser is told of")
		}
		known := visit.Device
		visit.Device = "made up"
		if arrive(false) == "made up" || !slices.Equal(b.Letters(), []string{"new_device to ada@example.com"}) {
			t.Error("a new browser is not told of")
		}
		guess := func(password, device string) error {
			_, err := b.SignIn(ctx, auth.Credentials{Email: "ada@example.com", Password: password, IP: "198.51.100.3",
				Device: device})
			return err
		}
		if err := guess("wrong wrong wrong", ""); code(err) != "sign_in_failed" {
			t.Fatal(err)
		}
		if err := guess(ada.Password, strings.Repeat("x", 43)); fault.KindOf(err) != fault.Limited {
			t.Error("an unknown browser goes past the guesses", err)
		}
		if err := guess(ada.Password, known); err != nil {
			t.Error("who guesses keeps the user out", err)
		}
		if err := guess("wrong wrong wrong", known); code(err) != "sign_in_failed" {
			t.Error(err)
		}
		if err := guess(ada.Password, known); fault.KindOf(err) != fault.Limited {
			t.Error("a known browser may guess at will", err)
		}
		b.Clock.Advance(auth.DeviceLife + time.Second)
		if err := b.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		visit.Device = known
		if arrive(false); len(b.Letters()) != 1 {
			t.Error("a browser is known for ever")
		}
	})
}
