package send_test

import (
	"testing"
	"time"

	"gorm.io/gorm"

	"cointill/core/scope"
	"cointill/core/send"
	"cointill/models/modelstest"
)

// TestRulesAreReadOncePerApproval counts the queries of one approval that read rules.
func TestRulesAreReadOncePerApproval(t *testing.T) {
	o := newOffice(t, modelstest.Open(t, false, time.Now), scope.Test)
	admin := o.hire("ada@books.example", scope.Admin)
	asked, reads := o.payout(o.owner, "0.001"), 0
	o.must(o.db.Exec(t.Context()).Callback().Query().After("gorm:query").Register("count", func(tx *gorm.DB) {
		if tx.Statement.Table == "send_rules" {
			reads++
		}
	}))
	_, err := o.approve(admin, asked)
	o.must(err)
	o.expectState(asked, send.Ready)
	if reads != 1 {
		t.Errorf("an approval reads the rules %d times, want once", reads)
	}
}
