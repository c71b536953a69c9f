package auth_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/fault"
	"cointill/core/mail"
	"cointill/core/scope"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestPasswordSentences: each password that isn't accepted is refused for its reason.
func TestPasswordSentences(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		for password, want := range map[string]string{
			"": "Is required.", strings.Repeat("\xff", 12): "Must be readable text.",
			"11 characte": "Must have at least 12 characters.", "12 character": "",
			strings.Repeat("ab", 64): "", strings.Repeat("ab", 64) + "c": "May have at most 128 characters.",
			"aaaaaaaaaaaa": "Is one of the first that an attacker tries. Choose another.",
		} {
			_, err := w.ResetPassword(t.Context(), "ann@example.com", password)
			if got := strings.Join(fields(err)["password"], " "); got != want || want == "" && err != nil {
				t.Errorf("ResetPassword to %q = %v with %q, want %q", password, err, got, want)
			}
		}
	})
}

// TestEachFieldIsRefusedByItself: a form with one wrong field says so of that field alone.
func TestEachFieldIsRefusedByItself(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc := t.Context(), w.bea.Scope(scope.Test)
		accept := func(name, password string) error {
			n := account.Newcomer{Name: name, Password: password}
			_, _, err := w.AcceptAsNew(ctx, linkToken(w.bea.invited[0]), n)
			return err
		}
		for _, c := range []struct {
			name string
			err  error
			want string
		}{
			{"Invite without an address", failed(w.Invite(ctx, sc, "x", scope.Admin)), "email"},
			{"Invite without a role", failed(w.Invite(ctx, sc, "x@example.com", "api")), "role"},
			{"Invite without either", failed(w.Invite(ctx, sc, "x", "api")), "email, role"},
			{"AcceptAsNew without a name", accept("", another), "name"},
			{"AcceptAsNew without a password", accept("Fay", ""), "password"},
			{"BeginPasskey without a name", failed(w.BeginPasskey(ctx, sc, proven, "", "mine")), "name"},
			{"ChangePassword without the present one", w.ChangePassword(ctx, sc, auth.Proof{}, another, ""),
				"password"},
			{"ChangePassword without another", w.ChangePassword(ctx, sc, proven, "", ""), "new_password"},
			{"FinishReset without a password", w.FinishReset(ctx, w.bea.reset, ""), "password"},
			{"Rename without a name", w.Rename(ctx, sc, ""), "name"},
			{"ChooseLanguage without a language", w.ChooseLanguage(ctx, sc, ""), "language"},
		} {
			var names []string
			for name := range fields(c.err) {
				names = append(names, name)
			}
			slices.Sort(names)
			if got := strings.Join(names, ", "); got != c.want {
				t.Errorf("%s = %v for the fields %q, want %q", c.name, c.err, got, c.want)
			}
		}
	})
}

// TestNewBrowsersAreRecorded: the audit log says of each sign-in whether its browser was
// new. A browser that another request recorded meanwhile causes no mail.
func TestNewBrowsersAreRecorded(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		fresh := auth.Visit{Device: strings.Repeat("n", 43), UserAgent: "Firefox"}
		w.Letters()
		arrive := func(v auth.Visit, isNew string) {
			t.Helper()
			if _, err := w.Arrive(t.Context(), w.bea.User, v, false); err != nil {
				t.Fatal(err)
			}
			var row models.Audit
			if err := w.DB.Read(t.Context()).Order("id DESC").Take(&row).Error; err != nil {
				t.Fatal(err)
			}
			if want := `{"new_browser":` + isNew + `}`; row.Detail != want {
				t.Errorf("%s says %s, want %s", row.Action, row.Detail, want)
			}
		}
		arrive(auth.Visit{Device: w.bea.devices[1], UserAgent: "Firefox"}, "false")
		done := w.meanwhile(t, "create", "devices",
			"INSERT INTO devices (user_id, hash, user_agent, ip, created_at, seen_at) "+
				"SELECT user_id, ?, user_agent, ip, created_at, seen_at FROM devices WHERE user_agent = 'bea 0'",
			auth.SessionKey(fresh.Device))
		arrive(fresh, "true")
		done()
		if got := w.Letters(); got != nil {
			t.Errorf("mails %q, want none of a browser that another request recorded", got)
		}
		arrive(auth.Visit{UserAgent: "Firefox"}, "true")
		if got := w.Letters(); !slices.Equal(got, []string{"new_device to bea@example.com"}) {
			t.Errorf("mails %q, want one of the new browser", got)
		}
	})
}

// TestResetsRestAMinute: a second mail to reset a password goes out a minute after the one
// before, and none before that.
func TestResetsRestAMinute(t *testing.T) {
	each(t, func(t *testing.T, b bench, _ account.Membership) {
		for _, c := range []struct {
			wait  time.Duration
			mails int
		}{{0, 1}, {time.Minute - moment, 0}, {moment, 1}} {
			b.Clock.Advance(c.wait)
			if err := b.AskReset(t.Context(), "ada@example.com", "192.0.2.1"); err != nil {
				t.Fatal(err)
			}
			if got := b.Letters(); len(got) != c.mails {
				t.Errorf("%v later, AskReset mails %q, want %d mails", c.wait, got, c.mails)
			}
		}
	})
}

// TestOnlyAUserHasSessions: an actor that isn't written as a user is none, also when it is
// a user's number.
func TestOnlyAUserHasSessions(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		for _, actor := range []string{"2", "key:2", "operator", "user:2x"} {
			sc := w.bea.Scope(scope.Test)
			sc.Actor = actor
			if _, err := w.Sessions(t.Context(), sc); fault.KindOf(err) != fault.Forbidden {
				t.Errorf("Sessions of the actor %q = %v, want Forbidden", actor, err)
			}
		}
	})
}

// TestAccountsWorkWithoutMail: where no mail can be written, all else is done.
func TestAccountsWorkWithoutMail(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		mails, render := w.Mails, w.Render
		for _, c := range []struct {
			name   string
			mails  mail.Notifier
			render func(auth.Letter) (subject, text, html string)
			reset  string
		}{{"no queue", nil, render, w.ann.reset}, {"no text", mails, nil, w.bea.reset}} {
			w.Mails, w.Render = c.mails, c.render
			changes := strings.Join(w.listChanges(t, func() error {
				return w.FinishReset(t.Context(), c.reset, another)
			}), "; ")
			if strings.Contains(changes, "mails") || !strings.Contains(changes, "password_hash") {
				t.Errorf("with %s, FinishReset changes %s, want the password and no mail", c.name, changes)
			}
		}
	})
}

// TestRefusalsCostNoHash (AP-12): what is refused for another reason than its password is
// refused at once, although no place to hash is free.
func TestRefusalsCostNoHash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{bench: setup(t, modelstest.Open(t, false, time.Now))}
		w.makeBusiness(t, &w.ann, "ann")
		w.makeBusiness(t, &w.bea, "bea")
		ctx, sc := t.Context(), w.bea.Scope(scope.Test)
		in, err := w.Invite(ctx, sc, "ann@example.com", scope.Admin)
		if err != nil {
			t.Fatal(err)
		}
		defer w.BlockLane(0)()
		signUp := func() error { _, _, err := w.SignUp(ctx, ada); return err }
		accept := func() error {
			_, _, err := w.AcceptAsNew(ctx, linkToken(in), account.Newcomer{Name: "Ann", Password: another})
			return err
		}
		checkRefusals(t, []refused{
			{"SignUp", signUp(), "sign_up_closed"}, {"AcceptAsNew", accept(), "sign_in_to_accept"},
			{"FinishReset", w.FinishReset(ctx, "no link", another), "mail_link_over"},
		})
		_, err = w.Reauthenticate(ctx, sc, proven)
		if code(err) != "busy" || strings.Contains(err.Error(), "enter your password") {
			t.Errorf("Reauthenticate, which hashes = %v, want that the server is busy", err)
		}
	})
}
