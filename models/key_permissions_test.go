package models_test

import (
	"os"
	"strings"
	"testing"

	"cointill/models"
	"cointill/models/modelstest"
)

// TestKeysThatExistKeepWhatTheyCouldDo: the migration gives sends:write to keys of the test domain
// alone, which could ask for sends before it.
func TestKeysThatExistKeepWhatTheyCouldDo(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		tx, dialect := db.Exec(t.Context()), "sqlite"
		if models.IsPostgres(tx) {
			dialect = "postgres"
		}
		text, err := os.ReadFile("migrations/" + dialect + "/0022_add_key_permissions.sql")
		if err != nil {
			t.Fatal(err)
		}
		_, up, _ := strings.Cut(string(text), "-- +goose Up")
		alter, update, _ := strings.Cut(strings.TrimSpace(up), "\n")
		for _, statement := range []string{"ALTER TABLE api_keys DROP COLUMN permissions",
			"INSERT INTO api_keys (business_id, domain, name, hash, hint, created_by, created_at) VALUES " +
				"(1, 'test', 'a', 'a', 'a', 'user:1', '2026-03-01'), (1, 'live', 'b', 'b', 'b', 'user:1', '2026-03-01')",
			alter, update} {
			if err := tx.Exec(statement).Error; err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		for domain, want := range map[string]string{
			"test": "payments:read payments:write links webhooks sends:read sends:write reports:read",
			"live": "payments:read payments:write links webhooks sends:read reports:read"} {
			var got string
			if err := tx.Model(&models.APIKey{}).Where("domain = ?", domain).Pluck("permissions", &got).Error; err != nil || got != want {
				t.Errorf("a key of %s may %q, %v, want %q", domain, got, err, want)
			}
		}
	})
}
