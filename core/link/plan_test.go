package link_test

import (
	"slices"
	"strings"
	"testing"

	"cointill/core/payment/bulk"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestPlanOfCollected: what links brought in is summed from their own payments, and not
// looked for among all of a merchant's.
func TestPlanOfCollected(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		links, _, now, sc := bench(t, db)
		plan := bulk.Plan{Business: sc.BusinessID, Its: 200, Others: 3, Theirs: 200, Until: now.Now()}
		if db.Postgres() {
			plan.Its, plan.Others, plan.Theirs = 3000, 20, 6000
		}
		if err := bulk.Fill(t.Context(), db, plan); err != nil {
			t.Fatal(err)
		}
		if db.Postgres() {
			if err := db.Exec(t.Context()).Exec("VACUUM ANALYZE payments").Error; err != nil {
				t.Fatal(err)
			}
		}
		ids := make([]int64, 25)
		for i := range ids {
			ids[i] = int64(i + 1)
		}
		plans := modelstest.ReadPlans(t, db, db.Read(t.Context()), func() {
			if _, err := links.SumCollected(t.Context(), sc, ids); err != nil {
				t.Fatal(err)
			}
		})
		if len(plans) != 1 || !slices.ContainsFunc(plans[0].Lines, func(line string) bool { return strings.Contains(line, "payments_of_link") }) {
			t.Errorf("%+v", plans)
		}
	})
}
