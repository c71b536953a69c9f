package main

import (
	"regexp"
	"strings"
	"testing"

	"cointill/core/scope"
	"cointill/internal/app"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestLockedOutAgain: what docs/operations.md says to run in a restored database takes a
// key back, signs everybody out and ends the links of mails and invitations.
func TestLockedOutAgain(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		settings := &app.Settings{DataDir: t.TempDir()}
		if db.Postgres() {
			settings.DatabaseURL = modelstest.URL(t)
		}
		b := openTill(t, settings)
		b.found()
		owner := b.scope
		owner.Role = scope.Owner
		key, secret, err := b.Keys.CreateKey(t.Context(), owner, "Shop")
		if err != nil {
			t.Fatal(err)
		}
		now := b.Clock()
		for _, row := range []any{
			&models.Session{ID: "a", UserID: 1, Data: "{}", CreatedAt: now, SeenAt: now, ExpiresAt: now.AddDate(1, 0, 0)},
			&models.Ticket{UserID: 1, Kind: "reset", Hash: "a", CreatedAt: now, ExpiresAt: now.AddDate(1, 0, 0)},
			&models.Invitation{BusinessID: owner.BusinessID, Email: "bea@till.example", Role: "admin", CreatedAt: now, SentAt: now, ExpiresAt: now.AddDate(1, 0, 0)},
		} {
			if err := b.DB.Exec(t.Context()).Create(row).Error; err != nil {
				t.Fatal(err)
			}
		}
		ask := func() error { _, _, err := b.Keys.Authenticate(t.Context(), "Bearer "+secret); return err }
		if err := ask(); err != nil {
			t.Fatal(err)
		}
		for _, statement := range regexp.MustCompile("`((?:UPDATE api_keys|DELETE FROM sessions|SELECT created_at)[^`]+)`").FindAllStringSubmatch(file(t, "operations.md"), -1) {
			text := strings.Replace(statement[1], "'…'", "'"+key.Hint+"'", 1)
			if !db.Postgres() {
				text = strings.Replace(text, "now()", "CURRENT_TIMESTAMP", 1)
			}
			for one := range strings.SplitSeq(text, ";") {
				if err := b.DB.Exec(t.Context()).Exec(one).Error; err != nil {
					t.Errorf("%s: %v", one, err)
				}
			}
		}
		if err := ask(); err == nil || !strings.Contains(err.Error(), "revoked") {
			t.Errorf("the key is taken: %v", err)
		}
		if keys, err := b.Keys.ListKeys(t.Context(), owner); err != nil || len(keys) != 1 || keys[0].RevokedAt == nil {
			t.Errorf("%+v, %v", keys, err)
		}
		for _, table := range []any{&models.Session{}, &models.Ticket{}, &models.Invitation{}} {
			var left int64
			if err := b.DB.Read(t.Context()).Model(table).Count(&left).Error; err != nil || left > 0 {
				t.Errorf("%d rows of %T are left, %v", left, table, err)
			}
		}
	})
}
