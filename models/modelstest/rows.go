package modelstest

import (
	"encoding/json"
	"testing"

	"cointill/models"
)

// ReadRows returns all rows of some tables as text, so that a test can see whether an
// operation left them as they were.
func ReadRows(t testing.TB, db *models.DB, tables ...string) string {
	t.Helper()
	rows := map[string][]map[string]any{}
	for _, table := range tables {
		var found []map[string]any
		if err := db.Read(t.Context()).Table(table).Order("id").Find(&found).Error; err != nil {
			t.Fatalf("reading %s: %v", table, err)
		}
		rows[table] = found
	}
	text, err := json.MarshalIndent(rows, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
