package apikey_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"cointill/core/account"
	"cointill/core/account/apikey"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
	"cointill/models/modelstest"
)

// refusal is the sentence that a key is refused with, "" when it works.
func (b bench) refusal(t *testing.T, text string) string {
	t.Helper()
	if _, _, err := b.Authenticate(t.Context(), "Bearer "+text); err != nil {
		return err.Error()
	}
	return ""
}

// TestKeyChangesAreOfOneKey (AP-4): rolling and revoking end the one key that is named, of
// several of the same business, and use is written to the one that was used.
func TestKeyChangesAreOfOneKey(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		var texts []string
		var ids []int64
		for i := range 4 {
			key, text, err := b.CreateKey(ctx, sc, fmt.Sprint("key ", i))
			if err != nil {
				t.Fatal(err)
			}
			ids, texts = append(ids, key.ID), append(texts, text)
		}
		next, _, err := b.RollKey(ctx, sc, ids[1])
		if err != nil || next.Name != "key 1" {
			t.Fatalf("RollKey of key 1 = %+v, %v, want a key of its name", next, err)
		}
		if err := b.RevokeKey(ctx, sc, ids[2]); err != nil {
			t.Fatal(err)
		}
		var row models.Audit
		if err := b.db.Read(ctx).Where("action = 'key.revoked'").Take(&row).Error; err != nil || !strings.Contains(row.Detail, "key 2") {
			t.Errorf("the audit log says %q, %v, want that key 2 was revoked", row.Detail, err)
		}
		b.refusal(t, texts[3])
		keys, err := b.ListKeys(ctx, sc)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			if (key.ExpiresAt != nil) != (key.ID == ids[1]) || (key.RevokedAt != nil) != (key.ID == ids[2]) || (key.LastUsedAt != nil) != (key.ID == ids[3]) {
				t.Errorf("%s: expires %v, revoked %v, used %v, want only key 1 to expire, key 2 revoked and key 3 used",
					key.Name, key.ExpiresAt, key.RevokedAt, key.LastUsedAt)
			}
		}
	})
}

// TestEndedKeyIsToldWhy (AP-4): a revoked key and one that was replaced are refused in
// their own words, at once and from the end of the overlap on.
func TestEndedKeyIsToldWhy(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		key, text, err := b.CreateKey(ctx, sc, "Shop")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.RollKey(ctx, sc, key.ID); err != nil {
			t.Fatal(err)
		}
		b.clock.Advance(24*time.Hour - time.Microsecond)
		if got := b.refusal(t, text); got != "" {
			t.Errorf("a microsecond before the overlap ends: %q, want that the key works", got)
		}
		b.clock.Advance(time.Microsecond)
		if got := b.refusal(t, text); !strings.Contains(got, "was replaced") {
			t.Errorf("when the overlap ends: %q, want that the key was replaced", got)
		}
		if err := b.RevokeKey(ctx, sc, key.ID); err != nil {
			t.Fatal(err)
		}
		if got := b.refusal(t, text); !strings.Contains(got, "was revoked") {
			t.Errorf("a revoked key: %q, want that it was revoked", got)
		}
		revoked := b.clock.Now()
		b.clock.Advance(time.Hour)
		if err := b.RevokeKey(ctx, sc, key.ID); err != nil {
			t.Fatal(err)
		}
		keys, err := b.ListKeys(ctx, sc)
		if err != nil || keys[1].RevokedAt == nil || !keys[1].RevokedAt.Equal(revoked) {
			t.Errorf("revoked again: %+v, %v, want the time of the first", keys[1].RevokedAt, err)
		}
	})
}

// TestRevokedKeyIsNotRolled (AP-4): no new key takes the place of a revoked one.
func TestRevokedKeyIsNotRolled(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		key, _, err := b.CreateKey(ctx, sc, "Shop")
		if err != nil {
			t.Fatal(err)
		}
		if err := b.RevokeKey(ctx, sc, key.ID); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.RollKey(ctx, sc, key.ID); code(err) != "key_not_active" {
			t.Errorf("RollKey of a revoked key = %v, want key_not_active", err)
		}
		keys, err := b.ListKeys(ctx, sc)
		if err != nil || len(keys) != 1 || keys[0].ExpiresAt != nil {
			t.Errorf("keys %+v, %v, want the revoked one only, without a time at which it expires", keys, err)
		}
	})
}

// TestHundredKeys: a business has at most 100 keys that are neither revoked nor replaced
// in each domain.
func TestHundredKeys(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		create := func(sc scope.Scope) (apikey.Key, string) {
			key, _, err := b.CreateKey(ctx, sc, "a")
			return key, code(err)
		}
		var first, second apikey.Key
		for i := range 100 {
			key, problem := create(sc)
			if problem != "" {
				t.Fatalf("key %d: %s, want 100 keys", i+1, problem)
			}
			first, second = second, key
		}
		if _, problem := create(sc); problem != "too_many_keys" {
			t.Errorf("key 101: %q, want too_many_keys", problem)
		}
		if _, problem := create(m.Scope(scope.Live)); problem != "" {
			t.Errorf("the first key of the other domain: %s, want none of this domain's to count", problem)
		}
		if err := b.RevokeKey(ctx, sc, first.ID); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.RollKey(ctx, sc, second.ID); err != nil {
			t.Fatal(err)
		}
		if _, problem := create(sc); problem != "" {
			t.Errorf("after one was revoked and one replaced: %s, want a place for another", problem)
		}
		if _, problem := create(sc); problem != "too_many_keys" {
			t.Errorf("after that: %q, want too_many_keys", problem)
		}
	})
}

// TestWorks: a key works until it is revoked, and until the time at which it expires.
func TestWorks(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	later := now.Add(time.Microsecond)
	for name, c := range map[string]struct {
		key  apikey.Key
		want bool
	}{
		"neither": {apikey.Key{}, true}, "expires later": {apikey.Key{ExpiresAt: &later}, true}, "expires now": {apikey.Key{ExpiresAt: &now}, false},
		"revoked": {apikey.Key{RevokedAt: &now}, false}, "revoked, expires later": {apikey.Key{RevokedAt: &now, ExpiresAt: &later}, false},
	} {
		if got := c.key.Works(now); got != c.want {
			t.Errorf("Works of a key that is %s = %v, want %v", name, got, c.want)
		}
	}
}

// TestKeysNeedTheRole: who may not manage keys may not list, roll or revoke them.
func TestKeysNeedTheRole(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		key, text, err := b.CreateKey(ctx, sc, "Shop")
		if err != nil {
			t.Fatal(err)
		}
		finance := sc
		finance.Role = scope.Finance
		_, _, rolled := b.RollKey(ctx, finance, key.ID)
		_, listed := b.ListKeys(ctx, finance)
		for name, err := range map[string]error{"RollKey": rolled, "ListKeys": listed, "RevokeKey": b.RevokeKey(ctx, finance, key.ID)} {
			if fault.KindOf(err) != fault.Forbidden {
				t.Errorf("%s by the role finance = %v, want Forbidden", name, err)
			}
		}
		if got := b.refusal(t, text); got != "" {
			t.Errorf("the key is refused after that: %q, want that it works", got)
		}
		if _, _, err := b.RollKey(ctx, sc, key.ID+1); fault.KindOf(err) != fault.NotFound {
			t.Errorf("RollKey of a key that doesn't exist = %v, want NotFound", err)
		}
		if got := b.refusal(t, ""); !strings.Contains(got, "Authorization: Bearer") {
			t.Errorf("the header without a key: %q, want what to send", got)
		}
	})
}

// TestLastUseOfSeveralAtOnce: of requests that come in the same minute with what they
// read before, one writes the use.
func TestLastUseOfSeveralAtOnce(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		_, text, err := b.CreateKey(t.Context(), m.Scope(scope.Test), "a")
		if err != nil {
			t.Fatal(err)
		}
		other := b.clock.Now().Add(-time.Second)
		callbacks := b.db.Exec(t.Context()).Callback().Update()
		err = callbacks.Before("*").Register("test:meanwhile", func(tx *gorm.DB) { // another replica's request
			_ = tx.AddError(tx.Session(&gorm.Session{NewDB: true}).Exec("UPDATE api_keys SET last_used_at = ?", other).Error)
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = callbacks.Remove("test:meanwhile") }()
		if got := b.refusal(t, text); got != "" {
			t.Fatalf("b.refusal(t, text): got = %v", got)
		}
		keys, err := b.ListKeys(t.Context(), m.Scope(scope.Test))
		if err != nil || !keys[0].LastUsedAt.Equal(other) {
			t.Errorf("last used %v, %v, want the other request's %v", keys[0].LastUsedAt, err, other)
		}
	})
}

// TestKeysOfAFailingDatabase: each statement's failure is the operation's; a use that
// can't be written is no reason to refuse a request.
func TestKeysOfAFailingDatabase(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		ctx, sc := t.Context(), m.Scope(scope.Test)
		var keys []apikey.Key
		for range 2 {
			key, _, err := b.CreateKey(ctx, sc, "a")
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, key)
		}
		_, text, err := b.CreateKey(ctx, sc, "used")
		if err != nil {
			t.Fatal(err)
		}
		roll, revoke := keys[0].ID, keys[1].ID
		for name, call := range map[string]func() error{
			"CreateKey": func() error { _, _, err := b.CreateKey(ctx, sc, "a"); return err },
			"ListKeys":  func() error { _, err := b.ListKeys(ctx, sc); return err },
			"RollKey":   func() error { _, _, err := b.RollKey(ctx, sc, roll); return err },
			"RevokeKey": func() error { return b.RevokeKey(ctx, sc, revoke) },
		} {
			t.Run(name, func(t *testing.T) {
				modelstest.FailStatements(t, b.db, call)
			})
		}
		modelstest.FailStatements(t, b.db, func() error { _, _, err := b.Authenticate(ctx, "Bearer "+text); return err }, "update api_keys")
	})
}

// TestUseOfAKeyIsWrittenOnceAMinute: requests within a minute of the last written use ask
// the database for nothing more than the key: not every request may wait for a writer.
func TestUseOfAKeyIsWrittenOnceAMinute(t *testing.T) {
	each(t, func(t *testing.T, b bench, m account.Membership) {
		_, text, err := b.CreateKey(t.Context(), m.Scope(scope.Test), "a")
		if err != nil {
			t.Fatal(err)
		}
		writes := 0
		callbacks := b.db.Exec(t.Context()).Callback().Update()
		if err := callbacks.Before("*").Register("test:count", func(*gorm.DB) { writes++ }); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = callbacks.Remove("test:count") }()
		for _, c := range []struct {
			wait time.Duration
			want int
		}{{0, 1}, {time.Minute - moment, 1}, {moment, 2}} {
			b.clock.Advance(c.wait)
			if got := b.refusal(t, text); got != "" || writes != c.want {
				t.Errorf("%v later: %q after %d writes, want %d", c.wait, got, writes, c.want)
			}
		}
	})
}
