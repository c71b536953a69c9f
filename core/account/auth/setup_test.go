package auth_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cointill/core/account/auth"
	"cointill/core/fault"
	"cointill/models"
	"cointill/models/modelstest"
)

// eachNew runs a test on every database, on a server without a business that asks for the
// set-up token, with the token that was issued.
func eachNew(t *testing.T, test func(t *testing.T, b bench, token string)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		b := setup(t, db)
		b.AskSetupToken = true
		test(t, b, b.issue(t))
	})
}

func (b bench) issue(t *testing.T) string {
	t.Helper()
	token, err := b.IssueSetupToken(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// firstUp signs up with a token from an address.
func (b bench) firstUp(t *testing.T, token, ip string) error {
	t.Helper()
	n := ada
	n.SetupToken, n.IP = token, ip
	_, _, err := b.SignUp(t.Context(), n)
	return err
}

// fields are the sentences of an error by the field.
func fields(err error) map[string][]string {
	var f *fault.Fault
	if errors.As(err, &f) {
		return f.Fields.InEnglish()
	}
	return nil
}

// refusedToken fails unless an error says a sentence of the set-up token.
func refusedToken(t *testing.T, what string, err error, says string) {
	t.Helper()
	if sentences := fields(err)["setup_token"]; len(sentences) != 1 || !strings.Contains(sentences[0], says) {
		t.Errorf("%s: %v with %v, want that the token %q", what, err, fields(err), says)
	}
}

// stored are the values of the rows that hold a set-up token.
func (b bench) stored(t *testing.T) (values []string) {
	t.Helper()
	if err := b.DB.Read(t.Context()).Model(&models.Instance{}).Where("name = ?", "setup_token").Pluck("value",
		&values).Error; err != nil {
		t.Fatal(err)
	}
	return values
}

// TestFirstSignUpNeedsSetupToken (AP-12): the first sign-up goes by the token that was issued
// last, whichever replica issued it, and by nothing else; once there is a business none is kept.
func TestFirstSignUpNeedsSetupToken(t *testing.T) {
	eachNew(t, func(t *testing.T, b bench, first string) {
		replica := setup(t, b.DB)
		replica.AskSetupToken = true
		token := replica.issue(t)
		if stored := b.stored(t); len(stored) != 1 || strings.Contains(stored[0], token) ||
			strings.Contains(stored[0], token[6:]) {
			t.Errorf("the database keeps %q of %s, want one hash", stored, token)
		}
		refusedToken(t, "no token", b.firstUp(t, " ", "203.0.113.1"), "Is required")
		refusedToken(t, "the one before", b.firstUp(t, first, "203.0.113.1"),
			"not the one that the server printed last")
		refusedToken(t, "a beginning of it", b.firstUp(t, token[:len(token)-1], "203.0.113.1"), "not the one")
		refusedToken(t, "an endless one", b.firstUp(t, strings.Repeat("A", 10_000), "203.0.113.1"), "not the one")
		n := ada
		n.SetupToken, n.Password = token, "short"
		if _, _, err := b.SignUp(t.Context(), n); len(fields(err)["password"]) != 1 ||
			len(fields(err)["setup_token"]) != 0 {
			t.Errorf("the right token with a short password: %v", fields(err))
		}
		if err := b.firstUp(t, " "+token+" ", "203.0.113.1"); err != nil {
			t.Fatalf("the right token is refused: %v", err)
		}
		if stored := b.stored(t); len(stored) != 0 {
			t.Errorf("the database keeps %q, want nothing once there is a business", stored)
		}
		if err := b.firstUp(t, token, "203.0.113.1"); code(err) != "sign_up_closed" {
			t.Errorf("the token works again: %v", err)
		}
		if again := b.issue(t); again != "" || len(b.stored(t)) != 0 {
			t.Errorf("%q was issued although there is a business", again)
		}
	})
}

// TestSetupTokenEndsAfterADay: it works for 24 hours, and a new one after that.
func TestSetupTokenEndsAfterADay(t *testing.T) {
	eachNew(t, func(t *testing.T, b bench, token string) {
		b.Clock.Advance(auth.SetupTokenLife)
		refusedToken(t, "after 24 hours", b.firstUp(t, token, "203.0.113.1"), "more than 24 hours ago")
		token = b.issue(t)
		b.Clock.Advance(auth.SetupTokenLife - time.Second)
		if err := b.firstUp(t, token, "203.0.113.1"); err != nil {
			t.Errorf("a second before 24 hours are over: %v", err)
		}
	})
}

// TestSetupTokenGuessesAreLimited (AP-12): an address may guess twenty times a minute, on all
// replicas together; others are not kept from the right token.
func TestSetupTokenGuessesAreLimited(t *testing.T) {
	eachNew(t, func(t *testing.T, b bench, token string) {
		replica := setup(t, b.DB)
		replica.AskSetupToken = true
		for i := range 20 {
			guesser := []bench{b, replica}[i%2]
			refusedToken(t, fmt.Sprintf("guess %d", i), guesser.firstUp(t, fmt.Sprint("setup_", i), "203.0.113.9"),
				"not the one")
		}
		for _, guesser := range []bench{b, replica} {
			if err := guesser.firstUp(t, token, "203.0.113.9"); code(err) != "too_many_attempts" {
				t.Errorf("the 21st guess in a minute: %v, want too_many_attempts", err)
			}
		}
		for range 30 { // the right token with other fields wrong is no guess
			n := ada
			n.SetupToken, n.IP, n.Email = token, "203.0.113.10", "none"
			if _, _, err := b.SignUp(t.Context(), n); len(fields(err)["email"]) != 1 {
				t.Fatalf("the right token with a wrong address: %v", err)
			}
		}
		if err := b.firstUp(t, token, "203.0.113.10"); err != nil {
			t.Errorf("another address: %v", err)
		}
	})
}

// TestOperatorNeedsNoSetupToken: cointill business create makes a business without a token,
// which is gone then.
func TestOperatorNeedsNoSetupToken(t *testing.T) {
	eachNew(t, func(t *testing.T, b bench, token string) {
		if _, _, err := b.CreateBusiness(t.Context(), ada); err != nil {
			t.Fatal(err)
		}
		if stored := b.stored(t); len(stored) != 0 {
			t.Errorf("the database keeps %q, want nothing once there is a business", stored)
		}
		if err := b.firstUp(t, token, "203.0.113.1"); code(err) != "sign_up_closed" {
			t.Errorf("a stranger with the token: %v, want sign_up_closed", err)
		}
	})
}
