package apikey_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/account/apikey"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

// TestKeyAuthenticates (AP-4): a key is long, random and of its domain, and only its
// hash is stored.
func TestKeyAuthenticates(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		for _, domain := range []scope.Domain{scope.Test, scope.Live} {
			key, text, err := b.CreateKey(t.Context(), m.Scope(domain), "Shop server")
			if err != nil {
				t.Fatal(err)
			}
			if !regexp.MustCompile(`^sk_` + string(domain) + `_[0-9A-HJKMNP-TV-Z]{38}$`).MatchString(text) {
				t.Errorf("key %q", text)
			}
			if key.Hint != text[:8]+"…"+text[len(text)-4:] {
				t.Errorf("hint %q", key.Hint)
			}
			sc, info, err := b.Authenticate(t.Context(), "bearer "+text)
			if err != nil || sc.Domain != domain || sc.BusinessID != m.Business.ID || sc.Role != scope.API || info.Name != "Shop server" {
				t.Errorf("sc = %v, info = %v, err = %v", sc, info, err)
			}
			var stored int64
			b.db.Read(t.Context()).Model(&models.APIKey{}).Where("hash = ? OR hint = ?", text, text).Count(&stored)
			if stored != 0 {
				t.Error("the key itself is stored")
			}
		}
	})
}

// TestKeyRefusals (AP-4): whatever isn't a whole key of ours is refused in the same
// words.
func TestKeyRefusals(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		_, text, err := b.CreateKey(t.Context(), m.Scope(scope.Test), "a")
		if err != nil {
			t.Fatal(err)
		}
		other := setup(t, b.db)
		_, foreign, err := other.CreateKey(t.Context(), m.Scope(scope.Live), "b")
		if err != nil {
			t.Fatal(err)
		}
		b.db.Exec(t.Context()).Where("domain = 'live'").Delete(&models.APIKey{})
		wrong := "0"
		if text[20:21] == wrong {
			wrong = "1"
		}
		for header, words := range map[string]string{
			"": "Authorization: Bearer", text: "Authorization: Bearer", "Basic " + text: "Authorization: Bearer", "Bearer ": "Authorization: Bearer",
			"Bearer pk_test_x": "begin with sk_test_", "Bearer " + text[:40]: "wrong length", "Bearer " + text + "A": "wrong length",
			"Bearer " + text[:20] + wrong + text[21:]: "typing error", "Bearer " + strings.ToLower(text): "typing error",
			"Bearer sk_live_" + text[8:]: "made with the prefix sk_test_", "Bearer " + foreign: "does not know",
		} {
			_, _, err := b.Authenticate(t.Context(), header)
			if fault.KindOf(err) != fault.Unauthenticated || !strings.Contains(err.Error(), words) {
				t.Errorf("%q: %v, want %q", header, err, words)
			}
			if len(text) > 0 && err != nil && strings.Contains(err.Error(), text[9:]) {
				t.Errorf("%q: the answer repeats the key", header)
			}
		}
	})
}

// TestKeyRollAndRevoke (AP-4): a replaced key lives on for a day, a revoked one not at
// all.
func TestKeyRollAndRevoke(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		works := func(text string) bool { _, _, err := b.Authenticate(ctx, "Bearer "+text); return err == nil }
		old, oldText, err := b.CreateKey(ctx, sc, "Shop")
		if err != nil {
			t.Fatal(err)
		}
		next, nextText, err := b.RollKey(ctx, sc, old.ID)
		if err != nil || next.Name != "Shop" || !works(oldText) || !works(nextText) {
			t.Fatalf("next = %v, err = %v", next, err)
		}
		if _, _, err := b.RollKey(ctx, sc, old.ID); fault.KindOf(err) != fault.Conflict {
			t.Error(err)
		}
		b.clock.Advance(24 * time.Hour)
		if works(oldText) || !works(nextText) {
			t.Error("after the overlap only the new key works")
		}
		for range 2 {
			if err := b.RevokeKey(ctx, sc, next.ID); err != nil {
				t.Fatal(err)
			}
		}
		if works(nextText) {
			t.Error("a revoked key works")
		}
		live := m.Scope(scope.Live)
		if err := b.RevokeKey(ctx, live, next.ID); fault.KindOf(err) != fault.NotFound {
			t.Error("another domain's key was found", err)
		}
		keys, err := b.ListKeys(ctx, sc)
		if err != nil || len(keys) != 2 || keys[0].ID != next.ID || keys[0].RevokedAt == nil || keys[0].LastUsedAt == nil {
			t.Errorf("keys = %v, err = %v", keys, err)
		}
		if _, _, err := b.CreateKey(ctx, scope.Scope{BusinessID: 1, Domain: scope.Live, Role: scope.Developer}, "x"); fault.KindOf(err) != fault.Forbidden {
			t.Error(err)
		}
		if _, _, err := b.CreateKey(ctx, sc, " "); fault.KindOf(err) != fault.Invalid {
			t.Error(err)
		}
		var audits int64
		b.db.Read(ctx).Model(&models.Audit{}).Where("action LIKE 'key.%'").Count(&audits)
		if audits != 4 { // created, rolled, created, revoked
			t.Errorf("%d audit rows", audits)
		}
	})
}

func TestLastUseIsWrittenOnceAMinute(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		_, text, err := b.CreateKey(t.Context(), m.Scope(scope.Test), "a")
		if err != nil {
			t.Fatal(err)
		}
		used := func() time.Time {
			if _, _, err := b.Authenticate(t.Context(), "Bearer "+text); err != nil {
				t.Fatal(err)
			}
			keys, _ := b.ListKeys(t.Context(), m.Scope(scope.Test))
			return *keys[0].LastUsedAt
		}
		first := used()
		b.clock.Advance(59 * time.Second)
		if !used().Equal(first) {
			t.Error("written again within the minute")
		}
		b.clock.Advance(time.Second)
		if !used().Equal(first.Add(time.Minute)) {
			t.Error("not written after a minute")
		}
	})
}

// TestPermissionsAreChecked: a key may do what it has the permission for, and what needs none.
func TestPermissionsAreChecked(t *testing.T) {
	t.Parallel()
	key := apikey.KeyInfo{Permissions: []apikey.Permission{apikey.Links, apikey.ReadSends}}
	for permission, want := range map[apikey.Permission]string{apikey.Links: "", apikey.ReadSends: "", "": "",
		apikey.WriteSends: "permission_missing", "link": "permission_missing"} {
		var code string
		var refused *fault.Fault
		if err := key.CheckPermission(permission); errors.As(err, &refused) {
			code = refused.Code
			if !strings.Contains(refused.Sentence.String(), string(permission)) {
				t.Errorf("the refusal of %q doesn't name it: %s", permission, refused.Sentence)
			}
		}
		if code != want {
			t.Errorf("a key with links and sends:read asks for %q: the code is %q, want %q", permission, code, want)
		}
	}
}

// TestKeyMayDoWhatItsMakerChose (SD-12): a key has the permissions that were chosen, keeps them when it is
// rolled, and has no others; what decides about money is off in live unless it is chosen.
func TestKeyMayDoWhatItsMakerChose(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, live := t.Context(), m.Scope(scope.Live)
		permissions := func(text string) []apikey.Permission {
			_, info, err := b.Authenticate(ctx, "Bearer "+text)
			if err != nil {
				t.Fatal(err)
			}
			return info.Permissions
		}
		key, text, err := b.CreateRestrictedKey(ctx, live, "Refunds", []apikey.Permission{apikey.WriteSends, apikey.ReadPayments})
		if err != nil {
			t.Fatal(err)
		}
		want := []apikey.Permission{apikey.ReadPayments, apikey.WriteSends}
		if got := permissions(text); !slices.Equal(got, want) || !slices.Equal(key.Permissions, want) {
			t.Errorf("the key has %v, shown as %v, want %v", got, key.Permissions, want)
		}
		_, rolled, err := b.RollKey(ctx, live, key.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got := permissions(rolled); !slices.Equal(got, want) {
			t.Errorf("after a roll it has %v, want %v", got, want)
		}
		var created []models.Audit
		if err := b.db.Read(ctx).Where("action = 'key.created'").Find(&created).Error; err != nil || len(created) != 2 {
			t.Fatalf("%d rows of made keys in the audit log, %v, want 2", len(created), err)
		}
		for _, row := range created {
			if !strings.Contains(row.Detail, `"permissions":"payments:read sends:write"`) {
				t.Errorf("the audit log says %s, want the permissions", row.Detail)
			}
		}
		for _, domain := range []scope.Domain{scope.Test, scope.Live} {
			_, text, err := b.CreateKey(ctx, m.Scope(domain), "Usual")
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range apikey.ListPermissions() {
				off := domain == scope.Live && (p == apikey.WriteSends || p == apikey.ResolvePayments)
				if got := slices.Contains(permissions(text), p); got == off {
					t.Errorf("a usual key in %s has %s: %v, want %v", domain, p, got, !off)
				}
			}
		}
		for _, chosen := range [][]apikey.Permission{nil, {"everything"}, {apikey.Links, ""}, {"links webhooks"}} {
			if _, _, err := b.CreateRestrictedKey(ctx, live, "Wrong", chosen); fault.KindOf(err) != fault.Invalid {
				t.Errorf("a key with the permissions %q: %v, want it refused as invalid", chosen, err)
			}
		}
	})
}
