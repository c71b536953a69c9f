package auth_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/account/auth/passkeytest"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

const origin = "https://till.example"

var proven = auth.Proof{Password: ada.Password, IP: "192.0.2.1"}

// passkey adds one to the user of a scope, made at an authenticator of its own.
func (b bench) passkey(t *testing.T, sc scope.Scope, name string) *passkeytest.Authenticator {
	t.Helper()
	a := passkeytest.New(origin)
	options, err := b.BeginPasskey(t.Context(), sc, proven, name, "mine")
	if err != nil {
		t.Fatal(err)
	}
	made, err := b.ConfirmPasskey(t.Context(), sc, "mine", a.Make(t, options))
	if err != nil || made.Name != name {
		t.Fatalf("made = %v, err = %v", made, err)
	}
	return a
}

// ask has a session asked for a passkey.
func (b bench) ask(t *testing.T, session string) []byte {
	t.Helper()
	options, err := b.AskPasskey(t.Context(), session, "192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	return options
}

// with signs in by an authenticator.
func (b bench) with(t *testing.T, a *passkeytest.Authenticator) (auth.User, error) {
	t.Helper()
	return b.EnterPasskey(t.Context(), "visitor", a.Answer(t, b.ask(t, "visitor")), "192.0.2.1")
}

// acts are the actions in the audit log that begin with a text, in their order.
func (b bench) acts(t *testing.T, beginning string) (list []string) {
	t.Helper()
	if err := b.DB.Read(t.Context()).Model(&models.Audit{}).Where("action LIKE ?",
		beginning+"%").Order("id").Pluck("action", &list).Error; err != nil {
		t.Fatal(err)
	}
	return list
}

func TestPasskeys(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		b.factor(t, sc) // a passkey stands for both
		b.Letters()
		if _, err := b.BeginPasskey(ctx, sc, auth.Proof{Password: ada.Password}, "Phone",
			"mine"); fault.KindOf(err) != fault.Invalid {
			t.Error("without the code:", err)
		}
		if err := b.DB.Exec(ctx).Model(&models.User{}).Where("id = ?", m.User.ID).Update("totp_secret",
			nil).Error; err != nil {
			t.Fatal(err)
		}
		phone := b.passkey(t, sc, "Phone")
		key := b.passkey(t, sc, "Blue key")
		key.Count = 7
		b.Clock.Advance(time.Hour)
		for range 3 {
			if user, err := b.with(t, key); err != nil || user.ID != m.User.ID {
				t.Fatalf("b.with(t, key): user = %v, err = %v", user, err)
			}
		}
		list, err := b.Passkeys(ctx, sc)
		if err != nil || len(list) != 2 || list[0].Name != "Blue key" || list[0].Used == nil ||
			!list[0].Used.Equal(b.Clock.Now()) || list[1].Used != nil || list[1].Synced {
			t.Fatalf("list = %v, err = %v", list, err)
		}
		if got := b.Letters(); !slices.Equal(got, []string{"passkey_added to ada@example.com",
			"passkey_added to ada@example.com"}) {
			t.Errorf("b.Letters(): got = %v", got)
		}

		if err := b.RenamePasskey(ctx, sc, list[1].ID, "Ada’s phone"); err != nil {
			t.Error(err)
		}
		for _, bad := range []string{"", "a\u202eb", strings.Repeat("n", 101)} {
			if err := b.RenamePasskey(ctx, sc, list[1].ID, bad); fault.KindOf(err) != fault.Invalid {
				t.Errorf("%q: %v", bad, err)
			}
		}
		other, err := b.RotateSession(ctx, "", auth.Session{UserID: m.User.ID, Data: "{}"})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.RemovePasskey(ctx, sc, list[1].ID, auth.Proof{Password: "not the phrase at all"},
			""); fault.KindOf(err) != fault.Invalid {
			t.Error(err)
		}
		b.Clock.Advance(time.Minute)
		if err := b.RemovePasskey(ctx, sc, list[1].ID, proven, ""); err != nil {
			t.Error(err)
		}
		if _, err := b.LoadSession(ctx, other.Token); fault.KindOf(err) != fault.NotFound {
			t.Error("another session outlives the passkey", err)
		}
		if _, err := b.with(t, phone); code(err) != "passkey_refused" {
			t.Error("a removed passkey:", err)
		}
		if err := b.RemovePasskey(ctx, sc, list[1].ID, proven, ""); fault.KindOf(err) != fault.NotFound {
			t.Error(err)
		}
		want := []string{"user.passkey_added", "user.passkey_added", "user.passkey_used", "user.passkey_used",
			"user.passkey_used", "user.passkey_renamed", "user.passkey_removed"}
		if got := b.acts(t, "user.passkey"); !slices.Equal(got, want) {
			t.Errorf(`b.acts(t, "user.passkey"): got = %v`, got)
		}
		if got := b.Letters(); !slices.Equal(got, []string{"passkey_removed to ada@example.com"}) {
			t.Errorf("b.Letters(): got = %v", got)
		}
	})
}

// TestPasskeyChallenges: what a browser is asked is answered once, by the session
// that was asked, within five minutes.
func TestPasskeyChallenges(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		a := b.passkey(t, sc, "Phone")
		enter := func(session string, answer []byte) string {
			_, err := b.EnterPasskey(ctx, session, answer, "192.0.2.1")
			return code(err)
		}
		answer := a.Answer(t, b.ask(t, "visitor"))
		if got := enter("another", answer); got != "passkey_over" {
			t.Error("in another session:", got)
		}
		if got := enter("visitor", answer); got != "" {
			t.Errorf(`enter("visitor", answer): got = %v`, got)
		}
		if got := enter("visitor", answer); got != "passkey_over" {
			t.Error("once more:", got)
		}
		b.ask(t, "visitor")
		if got := enter("visitor", answer); got != "passkey_refused" {
			t.Error("to another challenge:", got)
		}
		if got := enter("visitor", a.Answer(t, b.ask(t, "another"))); got != "passkey_over" {
			t.Error("a refused answer leaves its challenge:", got)
		}
		first := b.ask(t, "visitor")
		b.ask(t, "visitor")
		if got := enter("visitor", a.Answer(t, first)); got != "passkey_refused" {
			t.Error("to a challenge that was replaced:", got)
		}
		late := a.Answer(t, b.ask(t, "visitor"))
		b.Clock.Advance(5 * time.Minute)
		if got := enter("visitor", late); got != "passkey_over" {
			t.Error("after five minutes:", got)
		}

		begin := func() []byte {
			options, err := b.BeginPasskey(ctx, sc, proven, "Key", "mine")
			if err != nil {
				t.Fatal(err)
			}
			return options
		}
		confirm := func(session string, answer []byte) string {
			_, err := b.ConfirmPasskey(ctx, sc, session, answer)
			return code(err)
		}
		fresh := passkeytest.New(origin)
		made := fresh.Make(t, begin())
		if got := confirm("another", made); got != "passkey_over" {
			t.Errorf(`confirm("another", made): got = %v`, got)
		}
		if got := confirm("mine", made); got != "" {
			t.Errorf(`confirm("mine", made): got = %v`, got)
		}
		if got := confirm("mine", made); got != "passkey_over" {
			t.Errorf(`confirm("mine", made): got = %v`, got)
		}
		late = passkeytest.New(origin).Make(t, begin())
		b.Clock.Advance(5 * time.Minute)
		if got := confirm("mine", late); got != "passkey_over" {
			t.Errorf(`confirm("mine", late): got = %v`, got)
		}
		if got := confirm("visitor", a.Answer(t, b.ask(t, "visitor"))); got != "passkey_over" { // asked to sign in, not to add
			t.Errorf(`confirm("visitor", a.Answer(t, b.ask(t, "visitor"))): got = %v`, got)
		}
		b.Clock.Advance(time.Hour)
		if err := b.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		var left int64
		if b.DB.Read(ctx).Model(&models.PasskeyChallenge{}).Count(&left); left != 0 {
			t.Errorf("%d challenges are kept", left)
		}
	})
}

// TestPasskeyBent: an answer that is wrong in one point signs nobody in, and
// makes no passkey.
func TestPasskeyBent(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		bent := map[string]func(a *passkeytest.Authenticator){
			"another origin": func(a *passkeytest.Authenticator) { a.Origin = "https://till.example.evil.example" },
			"plain http":     func(a *passkeytest.Authenticator) { a.Origin = "http://till.example" },
			"another port":   func(a *passkeytest.Authenticator) { a.Origin = "https://till.example:8443" },
			"another site":   func(a *passkeytest.Authenticator) { a.RPID = "evil.example" },
			"unverified":     func(a *passkeytest.Authenticator) { a.Unverified = true },
		}
		for name, bend := range bent {
			b.Clock.Advance(time.Minute)
			options, err := b.BeginPasskey(ctx, sc, proven, "Phone", "mine")
			if err != nil {
				t.Fatal(err)
			}
			a := passkeytest.New(origin)
			bend(a)
			if _, err := b.ConfirmPasskey(ctx, sc, "mine", a.Make(t, options)); code(err) != "passkey_not_made" {
				t.Errorf("made with %s: %v", name, err)
			}
			a = b.passkey(t, sc, name)
			bend(a)
			if _, err := b.with(t, a); code(err) != "passkey_refused" {
				t.Errorf("answered with %s: %v", name, err)
			}
			a.Origin, a.RPID, a.Unverified = origin, "", false
			if _, err := b.with(t, a); err != nil {
				t.Errorf("straight again after %s: %v", name, err)
			}
		}
		for _, answer := range [][]byte{nil, []byte("{}"), []byte("null"), []byte(`{"id":"x"}`),
			bytes.Repeat([]byte(" "), 17<<10)} {
			b.ask(t, "visitor")
			if _, err := b.EnterPasskey(ctx, "visitor", answer, "192.0.2.1"); code(err) != "passkey_refused" {
				t.Errorf("%.20q: %v", answer, err)
			}
			b.Clock.Advance(time.Minute)
		}
		if n := len(b.acts(t, "user.passkey_refused")); n != len(bent) {
			t.Errorf("%d refusals in the audit log", n)
		}
	})
}

// TestPasskeyOfAnother: nobody comes into an account by another's passkey.
func TestPasskeyOfAnother(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		bea := ada
		bea.Email = "bea@example.com"
		_, user, err := b.CreateBusiness(ctx, bea)
		if err != nil {
			t.Fatal(err)
		}
		n, err := b.Membership(ctx, user.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		hers, mine := b.passkey(t, n.Scope(scope.Test), "Bea's"), b.passkey(t, sc, "Ada's")
		if got, err := b.with(t, hers); err != nil || got.ID != user.ID {
			t.Fatalf("b.with(t, hers): got = %v, err = %v", got, err)
		}
		own := hers.Handle
		hers.Handle = mine.Handle
		if got, err := b.with(t, hers); code(err) != "passkey_refused" {
			t.Error("her key, my handle:", got, err)
		}
		hers.Handle, hers.ID, mine.ID = own, mine.ID, hers.ID
		if got, err := b.with(t, hers); code(err) != "passkey_refused" {
			t.Error("her key, my passkey's id:", got, err)
		}
		hers.Handle = nil
		if got, err := b.with(t, hers); code(err) != "passkey_refused" {
			t.Error("no handle:", got, err)
		}

		options, err := b.BeginPasskey(ctx, sc, proven, "Phone", "mine")
		if err != nil {
			t.Fatal(err)
		}
		twin := passkeytest.New(origin)
		twin.ID = mine.ID // hers, by now
		made := twin.Make(t, options)
		if _, err := b.ConfirmPasskey(ctx, n.Scope(scope.Test), "mine", made); code(err) != "passkey_over" {
			t.Error("her scope, my challenge:", err)
		}
		if options, err = b.BeginPasskey(ctx, sc, proven, "Phone", "mine"); err != nil {
			t.Fatal(err)
		}
		if _, err := b.ConfirmPasskey(ctx, sc, "mine", twin.Make(t, options)); code(err) != "passkey_known" {
			t.Error("an id that is hers:", err)
		}
		list, err := b.Passkeys(ctx, n.Scope(scope.Test))
		if err != nil || len(list) != 1 {
			t.Fatalf("list = %v, err = %v", list, err)
		}
		for what, act := range map[string]func() error{
			"seen":    func() error { _, err := b.Passkey(ctx, sc, list[0].ID); return err },
			"renamed": func() error { return b.RenamePasskey(ctx, sc, list[0].ID, "Mine") },
			"removed": func() error { return b.RemovePasskey(ctx, sc, list[0].ID, proven, "") },
		} {
			if err := act(); fault.KindOf(err) != fault.NotFound {
				t.Errorf("another's passkey %s: %v", what, err)
			}
		}
	})
}

// TestPasskeyCopied: a count of uses that doesn't rise is refused and told of.
func TestPasskeyCopied(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		sc := m.Scope(scope.Test)
		a := b.passkey(t, sc, "Phone")
		a.Count = 10
		if _, err := b.with(t, a); err != nil {
			t.Fatal(err)
		}
		b.Letters()
		for _, count := range []int{11, 3} { // the same again, and less
			a.Count = count - 1 // Answer adds one
			if _, err := b.with(t, a); code(err) != "passkey_copied" {
				t.Errorf("count %d: %v", count, err)
			}
		}
		if got := b.Letters(); !slices.Equal(got, []string{"passkey_copied to ada@example.com",
			"passkey_copied to ada@example.com"}) {
			t.Errorf("b.Letters(): got = %v", got)
		}
		if n := len(b.acts(t, "user.passkey_copied")); n != 2 {
			t.Errorf("%d in the audit log", n)
		}
		list, err := b.Passkeys(t.Context(), sc)
		if err != nil || list[0].Copied == nil {
			t.Errorf("list = %v, err = %v", list, err)
		}
		a.Count = 50
		if _, err := b.with(t, a); err != nil {
			t.Error("the one that counts on:", err)
		}
		silent := b.passkey(t, sc, "Password manager")
		silent.Count = -1
		for range 3 {
			if _, err := b.with(t, silent); err != nil {
				t.Error("one that doesn't count:", err)
			}
		}
	})
}

// TestPasskeyLimits: asking counts as a try to sign in, and there are 20 at most.
func TestPasskeyLimits(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		a := b.passkey(t, sc, "Phone")
		for range 30 { // who signs in is not counted
			if _, err := b.with(t, a); err != nil {
				t.Fatal(err)
			}
		}
		for range 20 {
			b.ask(t, "visitor")
		}
		if _, err := b.AskPasskey(ctx, "visitor", "192.0.2.1"); fault.KindOf(err) != fault.Limited {
			t.Error(err)
		}
		if _, err := b.SignIn(ctx, credentials("ada@example.com", ada.Password)); fault.KindOf(err) != fault.Limited {
			t.Error("passwords are counted apart:", err)
		}
		b.Clock.Advance(time.Minute)
		for range 19 {
			b.passkey(t, sc, "Another")
		}
		if _, err := b.BeginPasskey(ctx, sc, proven, "One more", "mine"); code(err) != "too_many_passkeys" {
			t.Error(err)
		}
		if err := b.ResetFactor(ctx, "ada@example.com"); err != nil {
			t.Fatal(err)
		}
		if list, err := b.Passkeys(ctx, sc); err != nil || len(list) != 0 {
			t.Error("the operator's reset leaves passkeys:", list, err)
		}
	})
}

// TestPasskeyOrigin: passkeys belong to a name, and this machine's is localhost.
func TestPasskeyOrigin(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://till.example": "https://till.example", "https://Till.Example:443": "https://till.example", "https://till.example:8443": "https://till.example:8443",
		"http://127.0.0.1:8080": "http://localhost:8080", "http://[::1]:80": "http://localhost", "http://localhost:9": "http://localhost:9",
		"http://till.example:443": "http://till.example:443", "https://till.example:80": "https://till.example:80",
		"https://192.0.2.1": "", "https://[2001:db8::1]": "", "": "", "://": "",
	} {
		s := auth.NewPasskeys(&auth.Service{Base: base})
		if got := s.PasskeyOrigin(); got != want {
			t.Errorf("%q: %q, want %q", base, got, want)
		}
		if want == "" {
			if _, err := s.AskPasskey(t.Context(), "visitor", "192.0.2.1"); code(err) != "passkeys_unavailable" {
				t.Error(err)
			}
		}
	}
}
