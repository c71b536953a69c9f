package list

import (
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
	// A number is read payment by payment: a list of payments might be read whole first.
	holds := clause.Expr{SQL: "((SELECT 1 FROM payment_values v WHERE v.business_id = payments.business_id AND " +
		"v.domain = payments.domain AND v.value = ? AND v.created_at = payments.created_at AND " +
		"v.payment_id = payments.id) = 1)", Vars: []any{folded}}
	return []way{{holds: holds, look: func() ([]int64, bool, error) {
		return readLimited(rows().Select("payment_id").Order("created_at DESC"))
	}, narrow: func() (clause.Expression, error) { return narrowToEnds(rows, holds) }}}
}
