package diagnose

import (
	"os"
	"strings"
	"testing"
	"time"

	"cointill/models"
	"cointill/models/modelstest"
)

// TestAttemptsThatExistGetCodes: the migration finds the code of each sentence without an answer, and
// leaves attempts with an answer alone.
func TestAttemptsThatExistGetCodes(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		tx, dialect := db.Exec(t.Context()), "sqlite"
		if models.IsPostgres(tx) {
			dialect = "postgres"
		}
		text, err := os.ReadFile("../../../models/migrations/" + dialect + "/0032_add_attempt_codes.sql")
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]Code{"The webhook's headers can't be read. Give them anew.": HeadersUnreadable,
			"A sentence of no release.": "", "The endpoint answered 500 Internal Server Error.": "", "": ""}
		for code := range problems {
			want[code.Describe()] = code
		}
		rows := []models.DeliveryAttempt{}
		for sentence := range want {
			status := 0
			if strings.Contains(sentence, "500") {
				status = 500
			}
			rows = append(rows, models.DeliveryAttempt{DeliveryID: 1, Attempt: len(rows), At: time.Unix(1, 0).UTC(),
				Status: status, Error: sentence})
		}
		if err := tx.Create(&rows).Error; err != nil {
			t.Fatal(err)
		}
		_, update, _ := strings.Cut(string(text), ";\n")
		if err := tx.Exec(update).Error; err != nil {
			t.Fatal(err)
		}
		if err := tx.Find(&rows).Error; err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if Code(row.Code) != want[row.Error] {
				t.Errorf("the attempt with %q has the code %q, want %q", row.Error, row.Code, want[row.Error])
			}
		}
	})
}
