package auth_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models/modelstest"
)

// step is an operation of Bea's and the rows that it may change.
type step struct {
	name      string
	operation func() error
	changes   string // as world.compareRows lists them, with semicolons
}

// runSteps fails for a step that changes other rows than its own.
func (w *world) runSteps(t *testing.T, steps []step) {
	t.Helper()
	for _, s := range steps {
		w.Clock.Advance(10 * time.Second) // so that a time that is written again changes
		if got := w.listChanges(t, s.operation); strings.Join(got, "; ") != s.changes {
			t.Errorf("%s changes\n\t%s\nwant\n\t%s", s.name, strings.Join(got, "\n\t"),
				strings.ReplaceAll(s.changes, "; ", "\n\t"))
		}
	}
}

// TestKeysAndSessionsChangeAlone: an act on one key, payment method or session of a user
// changes no other row of theirs or of others.
func TestKeysAndSessionsChangeAlone(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc, bea := t.Context(), w.bea.Scope(scope.Test), w.bea
		second := bea.sessions[1]
		second.Data = `{"domain":"live"}`
		w.runSteps(t, []step{
			{"Authenticate", func() error { _, _, err := w.Authenticate(ctx, "Bearer "+bea.secrets[1]); return err },
				"~ api_keys bea 1: last_used_at"},
			{"RollKey", func() error { _, _, err := w.RollKey(ctx, sc, bea.keys[1].ID); return err },
				"+ api_keys bea 1; + audits bea key.created key:10; + audits bea key.rolled key:5; " +
					"~ api_keys bea 1: expires_at"},
			{"RevokeKey", func() error { return w.RevokeKey(ctx, sc, bea.keys[1].ID) },
				"+ audits bea key.revoked key:5; ~ api_keys bea 1: revoked_at"},
			{"SetMethod", func() error { return w.SetMethod(ctx, sc, money.CryptoBitcoin, false) },
				"+ audits bea method.disabled crypto_bitcoin; ~ methods bea test crypto_bitcoin: enabled updated_at"},
			{"LoadSession", func() error { _, err := w.LoadSession(ctx, second.Token); return err },
				"~ sessions bea 1: seen_at"},
			{"SaveSession", func() error { return w.SaveSession(ctx, second) },
				"~ sessions bea 1: data"},
			{"SaveSession as another user", func() error {
				return w.SaveSession(ctx, auth.Session{Token: second.Token, UserID: w.ann.User.ID, Data: "1"})
			},
				""},
			{"SaveSession of a visitor", func() error {
				return w.SaveSession(ctx, auth.Session{Token: "visitor 1", Data: "1"})
			},
				"~ sessions visitor 1: created_at data expires_at seen_at"},
			{"RotateSession", func() (err error) {
				second, err = w.RotateSession(ctx, second.Token,
					second)
				return err
			},
				"+ sessions bea 1; - sessions bea 1"},
			{"EndSession", func() error { return w.EndSession(ctx, sc, auth.SessionKey(bea.sessions[0].Token)) },
				"+ audits bea user.session_ended bea; + audits cyd user.session_ended bea; - sessions bea 0"},
			{"EndOtherSessions", func() error { return w.EndOtherSessions(ctx, sc, auth.SessionKey(second.Token)) },
				"+ audits bea user.sessions_ended bea; + audits cyd user.sessions_ended bea; - sessions bea 2"},
			{"RevokeSession", func() error { return w.RevokeSession(ctx, second.Token) },
				"- sessions bea 1"},
			{"RevokeUser", func() error { return w.RevokeUser(ctx, w.cyd.User.ID) },
				"- sessions cyd 0; - sessions cyd 1; - sessions cyd 2"},
			{"RevokeUser of no user", func() error { return w.RevokeUser(ctx, 0) },
				""},
			{"Refused", func() error { return w.Refused(ctx, sc, "GET", "/dashboard/team") },
				"+ audits bea access.refused /dashboard/team"},
		})
	})
}

// TestSignInsChangeAlone: what a sign-in, right or wrong, leaves behind is of its user.
func TestSignInsChangeAlone(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, bea := t.Context(), w.bea
		in := auth.Credentials{Email: bea.User.Email, Password: ada.Password, IP: "192.0.2.1"}
		var entry auth.Entry
		w.runSteps(t, []step{
			{"SignIn", func() (err error) { entry, err = w.SignIn(ctx, in); return err },
				"- attempts email of bea; ~ attempts address: blocked_to count updated_at"},
			{"EnterCode", func() error {
				_, _, err := w.EnterCode(ctx, entry.Pending, w.prove(t, &bea).Code, in.IP)
				return err
			},
				"~ attempts address: blocked_to updated_at; ~ users bea: totp_step updated_at"},
			{"EnterCode with a recovery code", func() error {
				_, _, err := w.EnterCode(ctx, entry.Pending, bea.app.codes[3], in.IP)
				return err
			},
				"+ audits bea user.recovery_code_used bea; + audits cyd user.recovery_code_used bea; " +
					"~ attempts address: updated_at; ~ recovery_codes bea: used_at"},
			{"Arrive", func() error {
				_, err := w.Arrive(ctx, bea.User, auth.Visit{Device: bea.devices[1], UserAgent: "new name",
					IP: in.IP}, false)
				return err
			},
				"+ audits bea user.signed_in bea; + audits cyd user.signed_in bea; " +
					"~ devices bea 1: ip seen_at user_agent"},
			{"Arrive with another browser", func() error {
				_, err := w.Arrive(ctx, bea.User, auth.Visit{UserAgent: "other browser", IP: in.IP}, false)
				return err
			},
				"+ audits bea user.signed_in bea; + audits cyd user.signed_in bea; + devices other browser; " +
					"+ mails account_new_device bea"},
			{"Arrive with Ann's browser", func() error {
				_, err := w.Arrive(ctx, bea.User, auth.Visit{Device: w.ann.devices[1], UserAgent: "shared"}, false)
				return err
			},
				"+ audits bea user.signed_in bea; + audits cyd user.signed_in bea; + devices shared; " +
					"+ mails account_new_device bea"},
		})
	})
}

// TestRefusedSignInsChangeAlone: what a guess leaves behind is of the user who is guessed.
func TestRefusedSignInsChangeAlone(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, bea := t.Context(), w.bea
		in := auth.Credentials{Email: bea.User.Email, Password: ada.Password, IP: "192.0.2.1"}
		wrong := in
		wrong.Password = "not the phrase at all"
		var entry auth.Entry
		if _, err := w.SignIn(ctx, in); err != nil { // forgives the guess of world
			t.Fatal(err)
		}
		w.runSteps(t, []step{
			{"SignIn with a wrong password", func() error { return refuses(w.SignIn(ctx, wrong))("sign_in_failed") },
				"+ attempts email of bea; + audits bea user.sign_in_refused bea; " +
					"+ audits cyd user.sign_in_refused bea; ~ attempts address: count updated_at"},
		})
		w.Clock.Advance(time.Minute)
		for _, name := range []string{"ann", "bea", "cyd"} { // at the same moment, the second time for each
			if err := refuses(w.SignIn(ctx, credentials(name+"@example.com", another)))("sign_in_failed"); err != nil {
				t.Fatal(err)
			}
		}
		w.Cost.Iterations++
		w.runSteps(t, []step{
			{"SignIn with a wrong password again", func() error {
				return refuses(w.SignIn(ctx,
					wrong))("sign_in_failed")
			},
				"+ audits bea user.sign_in_refused bea; + audits cyd user.sign_in_refused bea; " +
					"~ attempts address: count updated_at; ~ attempts email of bea: blocked_to count updated_at"},
			{"SignIn after the cost of a hash was raised", func() (err error) {
				entry, err = w.SignIn(ctx,
					in)
				return err
			},
				"- attempts email of bea; ~ attempts address: updated_at; " +
					"~ users bea: password_hash updated_at"},
			{"EnterCode with a wrong code", func() error {
				_, _, err := w.EnterCode(ctx, entry.Pending, "000000", in.IP)
				return refuses(0, err)("code_refused")
			},
				"+ attempts code of bea; + audits bea user.code_refused bea; + audits cyd user.code_refused bea; " +
					"~ attempts address: count updated_at"},
		})
	})
}

// refuses is an error unless an operation was refused with a code, and with that alone.
func refuses[T any](_ T, err error) func(want string) error {
	return func(want string) error {
		if code(err) != want || errors.Is(err, modelstest.ErrStatement) || errors.Is(err, context.Canceled) {
			return errors.Join(fmt.Errorf("refused with %q, want %q", code(err), want), err)
		}
		return nil
	}
}

// TestAccountsChangeAlone: what a user changes about their account changes nobody else's,
// and ends their own sessions and links only.
func TestAccountsChangeAlone(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, sc, bea := t.Context(), w.bea.Scope(scope.Test), &w.bea
		here := auth.SessionKey(bea.sessions[1].Token)
		var setup auth.Setup
		w.runSteps(t, []step{
			{"Rename", func() error { return w.Rename(ctx, sc, "Beatrice") },
				"+ audits bea user.renamed bea; + audits cyd user.renamed bea; ~ users bea: name updated_at"},
			{"ChooseLanguage", func() error { return w.ChooseLanguage(ctx, sc, "fr") },
				"+ audits bea user.language_changed bea; + audits cyd user.language_changed bea; " +
					"~ users bea: language updated_at"},
			{"AskEmail", func() error { return w.AskEmail(ctx, sc, "bea@newer.example", w.prove(t, bea)) },
				"+ audits bea user.email_asked bea; + audits cyd user.email_asked bea; " +
					"+ mails account_email_asked bea; + mails account_email_confirm bea@newer.example; " +
					"+ tickets bea email; - attempts email of bea; - tickets bea email; " +
					"~ attempts address: blocked_to count updated_at; ~ users bea: totp_step updated_at"},
			{"NewRecoveryCodes", func() error { _, err := w.NewRecoveryCodes(ctx, sc, w.prove(t, bea)); return err },
				"+ audits bea user.recovery_codes_made bea; + audits cyd user.recovery_codes_made bea; " +
					"+ recovery_codes bea (10 rows); - recovery_codes bea (10 rows); " +
					"~ attempts address: blocked_to updated_at; ~ users bea: totp_step updated_at"},
			{"RemoveSecondFactor", func() error { return w.RemoveSecondFactor(ctx, sc, w.prove(t, bea), here) },
				"+ audits bea user.second_factor_off bea; + audits cyd user.second_factor_off bea; " +
					"+ mails account_second_factor_off bea; - recovery_codes bea (10 rows); - sessions bea 0; " +
					"- sessions bea 2; ~ attempts address: blocked_to updated_at; " +
					"~ users bea: totp_at totp_secret totp_step updated_at"},
			{"BeginSecondFactor", func() (err error) { setup, err = w.BeginSecondFactor(ctx, sc, proven); return err },
				"~ attempts address: updated_at"},
			{"ConfirmSecondFactor", func() error {
				_, err := w.ConfirmSecondFactor(ctx, sc, setup.Sealed, app{key: setup.Key}.at(t,
					w.Clock.Now()), here, "192.0.2.1")
				return err
			},
				"+ audits bea user.second_factor_on bea; + audits cyd user.second_factor_on bea; " +
					"+ mails account_second_factor_on bea; + recovery_codes bea (10 rows); " +
					"~ attempts address: updated_at; ~ users bea: totp_at totp_secret totp_step updated_at"},
			{"ChangePassword", func() error { return w.ChangePassword(ctx, sc, proven, another, here) },
				"+ audits bea user.password_changed bea; + audits cyd user.password_changed bea; " +
					"+ mails account_password_changed bea; - tickets bea email; - tickets bea reset; " +
					"~ attempts address: updated_at; ~ users bea: password_hash updated_at"},
			{"AskReset", func() error { return w.AskReset(ctx, bea.User.Email, "192.0.2.1") },
				"+ audits bea user.password_reset_asked bea; + audits cyd user.password_reset_asked bea; " +
					"+ mails account_password_reset bea; + tickets bea reset; " +
					"~ attempts address: count updated_at"},
			{"AskReset of an unknown address", func() error { return w.AskReset(ctx, "x@example.com", "192.0.2.1") },
				"+ tickets nobody reset; ~ attempts address: count updated_at"},
			{"AskReset of another one", func() error { return w.AskReset(ctx, "y@example.com", "192.0.2.1") },
				"+ tickets nobody reset; - tickets nobody reset; ~ attempts address: blocked_to count updated_at"},
			{"FinishReset", func() error { return w.FinishReset(ctx, w.Link(t), another) },
				"+ audits bea user.password_reset bea; + audits cyd user.password_reset bea; " +
					"+ mails account_password_changed bea; - devices bea 0; - devices bea 1; - devices bea 2; " +
					"- sessions bea 1; - tickets bea reset; ~ users bea: password_hash updated_at"},
			{"ConfirmEmail", func() error { return w.ConfirmEmail(ctx, w.cyd.email) },
				"+ audits cyd user.email_changed cyd@new.example; + mails account_email_changed cyd; - tickets cyd email; " +
					"- tickets cyd reset; ~ users cyd: email updated_at"},
		})
	})
}

// TestOperatorChangesOneAccount: what the operator resets is of the user who is named.
func TestOperatorChangesOneAccount(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.runSteps(t, []step{
			{"ResetPassword", func() error { _, err := w.ResetPassword(ctx, "bea@example.com", another); return err },
				"+ audits bea user.password_reset bea; - devices bea 0; - devices bea 1; - devices bea 2; " +
					"- sessions bea 0; - sessions bea 1; - sessions bea 2; - tickets bea email; " +
					"- tickets bea reset; ~ users bea: password_hash updated_at"},
			{"ResetFactor", func() error { return w.ResetFactor(ctx, "bea@example.com") },
				"+ audits bea user.second_factor_reset bea; + audits cyd user.second_factor_reset bea; " +
					"- passkeys bea 0; - passkeys bea 1; - recovery_codes bea (10 rows); " +
					"~ users bea: totp_at totp_secret updated_at"},
			{"CreateBusiness", func() error {
				dan := account.NewBusiness{BusinessName: "dan", Name: "dan", Email: "dan@example.com",
					Password: another}
				_, _, err := w.CreateBusiness(ctx, dan)
				return err
			},
				"+ audits 4 business.created BUS_…; + businesses dan; + members 4 4; " +
					"+ methods 4 live crypto_bitcoin; + methods 4 live crypto_dogecoin; " +
					"+ methods 4 live crypto_ethereum; + methods 4 live crypto_ripple; " +
					"+ methods 4 live crypto_tether; + methods 4 test crypto_bitcoin; " +
					"+ methods 4 test crypto_dogecoin; + methods 4 test crypto_ethereum; " +
					"+ methods 4 test crypto_ripple; + methods 4 test crypto_tether; + users dan"},
		})
	})
}
