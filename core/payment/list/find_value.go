package list

import (
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/payment/value"
	"cointill/models"
)

// valueWays returns the way to find payments by a whole value in their metadata; none for a text that is no value.
func (by finder) valueWays(text string) []way {
	folded, ok := value.Fold(text)
	if !ok {
		return nil
	}
	rows := func() *models.Tx { return by.selectRows(&models.PaymentValue{}).Where("value = ?", folded) }
	// A number is read payment by payment: what is true of rows in a list might be read for all of them first.
	holds := clause.Expr{SQL: "((SELECT 1 FROM payment_values v WHERE v.business_id = payments.business_id AND " +
		"v.domain = payments.domain AND v.value = ? AND v.created_at = payments.created_at AND " +
		"v.payment_id = payments.id) = 1)", Vars: []any{folded}}
	return []way{{holds: holds, look: func() ([]int64, bool, error) {
		return readLimited(rows().Select("payment_id").Order("created_at DESC"))
	}, narrow: func() (clause.Expression, error) { return narrowToValues(rows, holds) }}}
}

// narrowToValues adds to what holds of payments when the first and the last with the value were made, so that the
// list is not walked down to them.
func narrowToValues(rows func() *models.Tx, holds clause.Expr) (clause.Expression, error) {
	var ends [2][]time.Time
	for i, order := range []string{"created_at", "created_at DESC"} {
		if err := rows().Order(order).Limit(1).Pluck("created_at", &ends[i]).Error; err != nil || len(ends[i]) == 0 {
			return holds, err
		}
	}
	return clause.Expr{SQL: "(? AND created_at BETWEEN ? AND ?)", Vars: []any{holds, ends[0][0], ends[1][0]}}, nil
}
