package models_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"cointill/models"
	"cointill/models/modelstest"
)

// TestAppend adds more rows than one statement takes, and reads them.
func TestAppend(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		at := time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)
		var rows, got []models.APICall
		for n := range 120 {
			rows = append(rows, models.APICall{BusinessID: 7, Domain: "test", KeyID: int64(n), Request: fmt.Sprint("req_", n), Method: "GET", Path: "/v1/ü\\N\t\n",
				Status: 200, Micros: 12, IP: "::1", Agent: `"`, Sent: "", Answered: `{"a":"\\"}`, CreatedAt: at})
		}
		if err := errors.Join(models.Append(t.Context(), db, rows), models.Append[models.APICall](t.Context(), db, nil)); err != nil {
			t.Fatal(err)
		}
		if err := db.Read(t.Context()).Order("id").Find(&got).Error; err != nil {
			t.Fatal(err)
		}
		for n := range got {
			if got[n].ID == 0 {
				t.Error("no id")
			}
			got[n].ID, rows[n].ID = 0, 0
		}
		if !reflect.DeepEqual(got, rows) {
			t.Errorf("%+v", got[:min(2, len(got))])
		}
		spoilt := []models.APICall{{Domain: "test", CreatedAt: at}, {Domain: "no\x00pe", CreatedAt: at}}
		if err := models.Append(t.Context(), db, spoilt); db.Postgres() && err == nil {
			t.Error("a NUL was taken")
		}
		var left int64
		if err := db.Read(t.Context()).Model(&models.APICall{}).Where("business_id = 0").Count(&left).Error; err != nil || db.Postgres() && left != 0 {
			t.Error("half of it was kept", left, err)
		}
	})
}
