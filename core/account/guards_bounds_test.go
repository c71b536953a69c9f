package account_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// TestPasswordsAreRefusedInWords: each rule of passwords has its own sentence, at an
// operator's reset as in forms.
func TestPasswordsAreRefusedInWords(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		for password, want := range map[string]string{
			"": "Is required.", strings.Repeat("\xff", 12): "Must be readable text.", "ab cd ef gh": "Must have at least 12 characters.",
			strings.Repeat("ab ", 43): "May have at most 128 characters.", "a long enough phrase": "",
		} {
			_, err := w.ResetPassword(t.Context(), "bea@example.com", password)
			if got := strings.Join(fields(err)["password"], " "); got != want {
				t.Errorf("ResetPassword to %q: got %q (%v), want %q", password, got, err, want)
			}
		}
	})
}

// TestLongAnswersOfBrowsersAreRefused: an answer of 16 KiB is read, one byte more is not.
func TestLongAnswersOfBrowsersAreRefused(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		options, err := w.AskPasskey(t.Context(), "long", "192.0.2.1")
		if err != nil {
			t.Fatal(err)
		}
		answer := w.bea.passkeys[0].Answer(t, options)
		pad := func(length int) []byte { return append(answer, strings.Repeat(" ", length-len(answer))...) }
		if _, err := w.EnterPasskey(t.Context(), "long", pad(16<<10+1), "192.0.2.1"); err == nil {
			t.Error("an answer of 16 KiB and a byte signs in")
		}
		if options, err = w.AskPasskey(t.Context(), "long", "192.0.2.1"); err != nil {
			t.Fatal(err)
		}
		answer = w.bea.passkeys[0].Answer(t, options)
		if _, err := w.EnterPasskey(t.Context(), "long", pad(16<<10), "192.0.2.1"); err != nil {
			t.Errorf("an answer of 16 KiB: %v", err)
		}
	})
}

// TestTwentyPasskeys: a user has at most twenty passkeys, whatever was begun before.
func TestTwentyPasskeys(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc := t.Context(), w.bea.Scope(scope.Test)
		begin := func(name string) ([]byte, error) {
			return w.BeginPasskey(ctx, sc, w.prove(t, &w.bea), name, "here")
		}
		if _, err := begin(""); len(fields(err)["name"]) == 0 {
			t.Errorf("a passkey without a name: got %v, want a sentence about the name", err)
		}
		options, err := begin("mine")
		if err != nil {
			t.Fatal(err)
		}
		answer := w.bea.passkeys[0].Make(t, options)
		add := func(number int) {
			row := models.Passkey{UserID: w.bea.User.ID, Credential: fmt.Sprint("c", number), PublicKey: []byte{1}, Name: "x",
				CreatedAt: w.clock.Now()}
			if err := w.db.Exec(ctx).Create(&row).Error; err != nil {
				t.Fatal(err)
			}
		}
		for n := len(w.bea.passkeys); n < 20; n++ {
			add(n)
		}
		if _, err := w.ConfirmPasskey(ctx, sc, "here", answer); code(err) != "too_many_passkeys" {
			t.Errorf("the 21st passkey: got %v, want too_many_passkeys", err)
		}
		if _, err := begin("another"); code(err) != "too_many_passkeys" {
			t.Errorf("a 21st passkey is begun: got %v, want too_many_passkeys", err)
		}
	})
}

// TestUnchangedNamesChangeNothing: a form that gives the present name or role writes no row.
func TestUnchangedNamesChangeNothing(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc := t.Context(), w.bea.Scope(scope.Test)
		keys, err := w.Passkeys(ctx, sc)
		if err != nil {
			t.Fatal(err)
		}
		w.clock.Advance(time.Minute)
		for name, operation := range map[string]func() error{
			"Rename":        func() error { return w.Rename(ctx, sc, w.bea.User.Name) },
			"RenamePasskey": func() error { return w.RenamePasskey(ctx, sc, keys[0].ID, keys[0].Name) },
			"SetRole":       func() error { return w.SetRole(ctx, w.cyd.Scope(scope.Test), w.bea.User.ID, scope.Finance) },
		} {
			if changed := w.listChanges(t, operation); changed != nil {
				t.Errorf("%s to the present value changed %q, want nothing", name, changed)
			}
		}
	})
}

// TestLimitsOfTime: a pending sign-in lasts ten minutes and a begun second factor an hour,
// to the second.
func TestLimitsOfTime(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		for late, want := range map[time.Duration]string{0: "", time.Second: "sign_in_expired"} {
			w.clock.Advance(time.Hour - time.Duration(w.clock.Now().Nanosecond()))
			in := credentials(w.bea.User.Email, ada.Password)
			in.Device = w.bea.devices[0]
			entry, err := w.SignIn(ctx, in)
			if err != nil {
				t.Fatal(err)
			}
			w.clock.Advance(10*time.Minute + late)
			if _, _, err := w.EnterCode(ctx, entry.Pending, w.bea.app.at(t, w.clock.Now()), in.IP); code(err) != want {
				t.Errorf("a code %v after ten minutes: got %v, want %q", late, err, want)
			}
		}
		plain := account.NewBusiness{BusinessName: "dee", Name: "dee", Email: "dee@example.com", Password: ada.Password}
		if _, _, err := w.CreateBusiness(ctx, plain); err != nil {
			t.Fatal(err)
		}
		m, err := w.SignIn(ctx, credentials("dee@example.com", ada.Password))
		if err != nil {
			t.Fatal(err)
		}
		sc := w.bea.Scope(scope.Test)
		sc.Actor = fmt.Sprint("user:", m.User.ID)
		begun, err := w.BeginSecondFactor(ctx, sc, account.Proof{Password: ada.Password, IP: "192.0.2.1"})
		if err != nil {
			t.Fatal(err)
		}
		w.clock.Advance(time.Hour)
		if _, err := w.ResumeSecondFactor(ctx, sc, begun.Sealed); err != nil {
			t.Errorf("a setup after an hour: %v", err)
		}
		w.clock.Advance(time.Microsecond)
		if _, err := w.ResumeSecondFactor(ctx, sc, begun.Sealed); code(err) != "setup_expired" {
			t.Errorf("a setup after more than an hour: got %v, want setup_expired", err)
		}
		_, err = w.NewRecoveryCodes(ctx, sc, account.Proof{Password: ada.Password, IP: "192.0.2.1"})
		if code(err) != "second_factor_off" {
			t.Errorf("recovery codes without a second factor: got %v, want second_factor_off", err)
		}
	})
}

// TestRightsComeBeforeIDs: a member without the right learns nothing of whether an id exists.
func TestRightsComeBeforeIDs(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc := t.Context(), w.cyd.Scope(scope.Test)
		sc.Role = scope.Finance
		const unknown = 1 << 40
		_, resent := w.ResendInvitation(ctx, sc, unknown)
		_, invited := w.Invite(ctx, w.cyd.Scope(scope.Test), "no address", "boss")
		for name, err := range map[string]error{
			"ResendInvitation": resent, "RevokeInvitation": w.RevokeInvitation(ctx, sc, unknown),
			"RemoveMember": w.RemoveMember(ctx, sc, unknown),
		} {
			if fault.KindOf(err) != fault.Forbidden {
				t.Errorf("%s of an unknown id: got %v, want Forbidden", name, err)
			}
		}
		if got := fields(invited); len(got["email"]) == 0 || len(got["role"]) == 0 {
			t.Errorf("an invitation with a wrong address and role: got %v, want sentences about both", invited)
		}
	})
}

// TestUnknownReasonsKeepMethods: when it can't be read whether a method lacks something, it
// is neither listed nor switched.
func TestUnknownReasonsKeepMethods(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		broken := errors.New("the wallets can't be read")
		w.Missing = func(context.Context, scope.Scope, money.Method) (string, error) { return "", broken }
		if _, err := w.Methods(t.Context(), w.bea.Scope(scope.Test)); !errors.Is(err, broken) {
			t.Errorf("Methods: got %v, want the error", err)
		}
		before := w.readRows(t)
		if err := w.SetMethod(t.Context(), w.bea.Scope(scope.Test), money.CryptoBitcoin, false); !errors.Is(err, broken) {
			t.Errorf("SetMethod: got %v, want the error", err)
		}
		if changed := w.compareRows(t, before, w.readRows(t)); changed != nil {
			t.Errorf("SetMethod changed %q, want nothing", changed)
		}
	})
}

// TestAccountsWithoutMails: without a queue of mails, or without their texts, invitations
// are made and no mail is written.
func TestAccountsWithoutMails(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		for i, lack := range []func(){func() { w.Render = nil }, func() { w.Mails = nil }} {
			lack()
			changed := w.listChanges(t, func() error {
				_, err := w.Invite(t.Context(), w.bea.Scope(scope.Test), fmt.Sprintf("silent%d@guests.example", i), scope.Finance)
				return err
			})
			for _, line := range changed {
				if strings.HasPrefix(line, "+ mails") {
					t.Errorf("case %d wrote a mail: %s", i, line)
				}
			}
		}
	})
}
