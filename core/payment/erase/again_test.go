package erase

import (
	"testing"
	"time"

	"cointill/core/payment/bulk"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestErasureRunsAgain: a conflict runs the transaction of a batch a second time, on the same payments.
func TestErasureRunsAgain(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		noon := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
		business := models.Business{Code: "BUS_1", Name: "Shop", TimeZone: "Africa/Lagos", LatePayments: "accept",
			CreatedAt: noon, UpdatedAt: noon}
		must(db.Exec(t.Context()).Create(&business).Error)
		must(bulk.Fill(t.Context(), db, bulk.Plan{Business: business.ID, Its: paymentsAtOnce + 10, Until: noon}))
		var c models.Customer
		must(db.Read(t.Context()).Order("id").Take(&c).Error)
		must(db.Exec(t.Context()).Model(&models.Payment{}).Where("true").Update("customer_id", c.ID).Error)
		modelstest.ConflictOnce(t, db, "update payments")
		must((&Service{DB: db}).erasePayments(t.Context(), c))
		var left int64
		must(db.Read(t.Context()).Model(&models.Payment{}).Where("customer_name <> 'Erased Customer'").Count(&left).Error)
		if left > 0 {
			t.Errorf("%d payments still name the customer, want none", left)
		}
	})
}
