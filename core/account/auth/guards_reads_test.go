package auth_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/account/apikey"
	"cointill/core/account/auth"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// ownView is what NAME of world sees and opens; lines that differ are in differentViews.
const ownView = `membership: NAME in NAME
business: NAME
workplaces: NAME as owner
keys: NAME 2, NAME 1, NAME 0
sessions: NAME 0, NAME 1, NAME 2
passkeys: NAME 1, NAME 0
passkey: NAME 0
invitations: NAME2 by NAME (to NAME2), NAME1 by NAME (to NAME1), NAME0 by NAME (to NAME0)
team: NAME as owner
owners: NAME
factor: true, 10 codes, since its time: true
methods: 5, 5 enabled
session: NAME 1 of NAME
key: NAME 1 of NAME
reset: NAME
email: NAME, NAME@new.example
invitation: NAME by NAME to NAME1@guests.example
setup: NAME@example.com
sign-in: NAME
code: NAME, 9 left
passkey sign-in: NAME`

var differentViews = map[string][]string{
	"bea": {"workplaces: bea as owner", "workplaces: bea as owner, cyd as finance", "5 enabled", "4 enabled"},
	"cyd": {"team: cyd as owner", "team: cyd as owner, bea as finance"},
}

// TestEachSeesTheirOwn: what a user sees, and what their tokens, keys and codes open, is
// of their own business and account.
func TestEachSeesTheirOwn(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if err := w.SetMethod(t.Context(), w.bea.Scope(scope.Test), money.CryptoBitcoin, false); err != nil {
			t.Fatal(err)
		}
		w.markMails(t)
		for _, p := range []*person{&w.ann, &w.bea, &w.cyd} {
			want := strings.ReplaceAll(ownView, "NAME", p.User.Name)
			want = strings.NewReplacer(differentViews[p.User.Name]...).Replace(want)
			got := append(w.listed(t, p), w.opened(t, p)...)
			for i, line := range strings.Split(want, "\n") {
				if got[i] != line {
					t.Errorf("%s sees %q, want %q", p.User.Name, got[i], line)
				}
			}
		}
	})
}

// markMails gives the mails of invitations an error that names the address, and each of
// them a mail of another kind about the same.
func (w *world) markMails(t *testing.T) {
	t.Helper()
	var mails []models.Mail
	if err := w.DB.Read(t.Context()).Where("kind = 'account_invitation'").Find(&mails).Error; err != nil {
		t.Fatal(err)
	}
	for _, mail := range mails {
		mail.LastError = "to " + strings.TrimSuffix(mail.To, "@guests.example")
		if err := w.DB.Exec(t.Context()).Save(&mail).Error; err != nil {
			t.Fatal(err)
		}
		mail.ID, mail.Kind, mail.LastError = 0, "other", "of another kind"
		if err := w.DB.Exec(t.Context()).Create(&mail).Error; err != nil {
			t.Fatal(err)
		}
	}
}

// joinNames writes items by a name, with commas.
func joinNames[T any](items []T, name func(T) string) string {
	var names []string
	for _, item := range items {
		names = append(names, name(item))
	}
	return strings.Join(names, ", ")
}

// view collects lines, each with what it is of.
type view []string

// add adds a line, or the error that came in its place.
func (v *view) add(what, text string, err error) {
	if err != nil {
		text = err.Error()
	}
	*v = append(*v, what+": "+text)
}

// listed is what a person finds on their pages.
func (w *world) listed(t *testing.T, p *person) (v view) {
	t.Helper()
	ctx, sc := t.Context(), p.Scope(scope.Test)
	m, err := w.Membership(ctx, p.User.ID, 0)
	v.add("membership", m.User.Name+" in "+m.Business.Name, err)
	business, err := w.Business(ctx, p.Business.Code)
	v.add("business", business.Name, err)
	places, err := w.Workplaces(ctx, p.User.ID)
	v.add("workplaces", joinNames(places, func(w account.Workplace) string {
		return w.Name + " as " + string(w.Role)
	}), err)
	keys, err := w.ListKeys(ctx, sc)
	v.add("keys", joinNames(keys, func(k apikey.Key) string { return k.Name }), err)
	seats, err := w.Sessions(ctx, sc)
	slices.SortFunc(seats, func(a, b auth.Seat) int { return strings.Compare(a.UserAgent, b.UserAgent) })
	v.add("sessions", joinNames(seats, func(s auth.Seat) string { return s.UserAgent }), err)
	passkeys, err := w.Passkeys(ctx, sc)
	v.add("passkeys", joinNames(passkeys, func(k auth.Passkey) string { return k.Name }), err)
	passkey, err := w.Passkey(ctx, sc, passkeys[1].ID)
	v.add("passkey", passkey.Name, err)
	invitations, err := w.Invitations(ctx, sc)
	v.add("invitations", joinNames(invitations, func(i account.Invitation) string {
		return strings.TrimSuffix(i.Email, "@guests.example") + " by " + i.By + " (" + i.MailWhy + ")"
	}), err)
	team, err := w.Team(ctx, sc)
	v.add("team", joinNames(team, func(m account.Teammate) string { return m.User.Name + " as " + string(m.Role) }), err)
	owners, err := account.Owners(w.DB.Read(ctx), p.Business.ID)
	v.add("owners", joinNames(owners, func(u auth.User) string { return u.Name }), err)
	factor, err := w.SecondFactor(ctx, sc)
	since := factor.Since.Equal(p.since)
	v.add("factor", fmt.Sprintf("%v, %d codes, since its time: %v", factor.On, factor.Left, since), err)
	methods, err := w.Methods(ctx, sc)
	methods = slices.DeleteFunc(methods, func(m account.Method) bool { return !m.Enabled })
	on, err2 := account.Enabled(w.DB.Read(ctx), sc)
	if err2 != nil || len(on) != len(methods) {
		t.Errorf("Enabled of %s = %v, %v, want as many as the %d that Methods lists", p.User.Name, on, err2,
			len(methods))
	}
	v.add("methods", fmt.Sprintf("5, %d enabled", len(methods)), err)
	return v
}

// opened is what a person's tokens, keys and codes open.
func (w *world) opened(t *testing.T, p *person) (v view) {
	t.Helper()
	ctx := t.Context()
	names := map[int64]string{w.ann.User.ID: "ann", w.bea.User.ID: "bea", w.cyd.User.ID: "cyd"}
	session, err := w.LoadSession(ctx, p.sessions[1].Token)
	v.add("session", session.UserAgent+" of "+names[session.UserID], err)
	sc, key, err := w.Authenticate(ctx, "Bearer "+p.secrets[1])
	v.add("key", key.Name+" of "+names[sc.BusinessID], err) // businesses have their owners' numbers
	reset, err := w.FindReset(ctx, p.reset)
	v.add("reset", reset.Name, err)
	user, email, err := w.FindEmail(ctx, p.email)
	v.add("email", user.Name+", "+email, err)
	in, err := w.FindInvitation(ctx, linkToken(p.invited[1]))
	v.add("invitation", in.Business+" by "+in.By+" to "+in.Email, err)
	setup, err := w.ResumeSecondFactor(ctx, p.Scope(scope.Test), p.begun.Sealed)
	_, name, _ := strings.Cut(setup.URL, "Cointill:")
	name, _, _ = strings.Cut(name, "?")
	v.add("setup", name, err)
	entry, err := w.SignIn(ctx, credentials(p.User.Email, ada.Password))
	v.add("sign-in", entry.User.Name, err)
	entered, left, err := w.EnterCode(ctx, entry.Pending, p.app.codes[9], "192.0.2.1")
	v.add("code", fmt.Sprintf("%s, %d left", entered.Name, left), err)
	by, err := w.with(t, p.passkeys[1])
	v.add("passkey sign-in", by.Name, err)
	return v
}

// TestAnothersBrowserIsUnknown (AP-12): a browser is known to the user who signed in with
// it, and to nobody else.
func TestAnothersBrowserIsUnknown(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		try := func(device string) error {
			c := credentials(w.bea.User.Email, ada.Password)
			c.Device = device
			_, err := w.SignIn(t.Context(), c)
			return err
		}
		wrong := credentials(w.bea.User.Email, "not the phrase at all")
		if err := refuses(w.SignIn(t.Context(), wrong))("sign_in_failed"); err != nil {
			t.Fatal(err)
		}
		for name, device := range map[string]string{"Ann's": w.ann.devices[1], "a new": strings.Repeat("x", 43), "no": ""} {
			if err := try(device); fault.KindOf(err) != fault.Limited {
				t.Errorf("SignIn of Bea with %s browser after a wrong guess = %v, want Limited", name, err)
			}
		}
		if err := try(w.bea.devices[1]); err != nil {
			t.Errorf("SignIn of Bea with her browser after a wrong guess elsewhere = %v, want no error", err)
		}
	})
}

// TestLettersTellTheTimeOfTheirReader: times in a mail are in the time zone of the
// business that its reader came to first, and UTC for who works nowhere or in no known zone.
func TestLettersTellTheTimeOfTheirReader(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		for p, zone := range map[*person]string{&w.ann: "Asia/Tokyo", &w.bea: "Africa/Lagos", &w.cyd: "Nowhere"} {
			business := w.DB.Exec(ctx).Model(&models.Business{}).Where("id = ?", p.Business.ID)
			if err := business.Update("time_zone", zone).Error; err != nil {
				t.Fatal(err)
			}
		}
		w.Clock.Advance(time.Hour)
		for p, want := range map[*person]string{&w.ann: "Asia/Tokyo", &w.bea: "Africa/Lagos", &w.cyd: "UTC"} {
			w.Letters()
			if err := w.AskReset(ctx, p.User.Email, "192.0.2.1"); err != nil {
				t.Fatal(err)
			}
			l := (*w.Sent)[0]
			if at, until := l.At.Location().String(), l.Until.Location().String(); at != want || until != want {
				t.Errorf("the mail to %s is of the zones %s and %s, want %s", p.User.Name, at, until, want)
			}
		}
		w.Letters()
		if _, err := w.Arrive(ctx, w.ann.User, auth.Visit{UserAgent: "new"}, false); err != nil {
			t.Fatal(err)
		}
		if l := (*w.Sent)[0]; !l.Until.IsZero() {
			t.Errorf("a mail without a link ends at %v, want the zero time", l.Until)
		}
		w.Letters()
		in, err := w.Invite(ctx, w.ann.Scope(scope.Test), "new@guests.example", scope.Finance)
		if err != nil {
			t.Fatal(err)
		}
		if l := (*w.Sent)[0]; l.At.Location() != time.UTC || !l.Until.Equal(in.ExpiresAt) {
			t.Errorf("the mail to who has no account is of %v until %v, want UTC until %v", l.At, l.Until, in.ExpiresAt)
		}
	})
}
