package models_test

import (
	"testing"

	"cointill/models"
	"cointill/models/modelstest"
)

// TestAmongNoValuesFindsNothing: an empty list of ids or texts finds no row, as a list of which
// none exists does.
func TestAmongNoValuesFindsNothing(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		for name, query := range map[string]*models.Tx{
			"no ids":   models.Among(db.Read(t.Context()), "id", []int64(nil)),
			"no texts": models.Among(db.Read(t.Context()), "reference", []string{}),
			"one id":   models.Among(db.Read(t.Context()), "id", []int64{7}),
		} {
			var rows []models.Payment
			if err := query.Find(&rows).Error; err != nil || len(rows) != 0 {
				t.Errorf("%s: found %d rows (%v), want none", name, len(rows), err)
			}
		}
	})
}
