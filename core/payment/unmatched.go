package payment

import (
	"context"

	"cointill/core/scope"
	"cointill/models"
)

// UnmatchedTransfer is money that credits no payment. Why is its Unmatched code.
type UnmatchedTransfer struct {
	models.Transfer
	// Reference is the payment that its address was given to, "" when there is none.
	Reference string
}

// Unmatched lists the scope's transfers that credit no payment, newest first,
// those below an id; 0 begins with the newest. next is the before of the next
// page, 0 at the end. limit is 1–100.
func (s *Service) Unmatched(ctx context.Context, sc scope.Scope, before int64, limit int) (list []UnmatchedTransfer, next int64, err error) {
	if err := sc.Can(scope.SeePayments); err != nil {
		return nil, 0, err
	}
	query := sc.Rows(s.DB.Read(ctx)).Where("unmatched <> ''")
	if before > 0 {
		query = query.Where("id < ?", before)
	}
	limit = min(max(limit, 1), 100)
	var rows []models.Transfer
	if err := query.Order("id DESC").Limit(limit + 1).Find(&rows).Error; err != nil {
		return nil, 0, err
	}
	if len(rows) > limit {
		rows, next = rows[:limit], rows[limit-1].ID
	}
	references, err := s.references(ctx, sc, rows)
	for _, row := range rows {
		one := UnmatchedTransfer{Transfer: row}
		if row.PaymentID != nil {
			one.Reference = references[*row.PaymentID]
		}
		list = append(list, one)
	}
	return list, next, err
}

// references are the references of the payments that transfers came to, by id.
func (s *Service) references(ctx context.Context, sc scope.Scope, transfers []models.Transfer) (map[int64]string, error) {
	var ids []int64
	for _, t := range transfers {
		if t.PaymentID != nil {
			ids = append(ids, *t.PaymentID)
		}
	}
	found := map[int64]string{}
	if len(ids) == 0 {
		return found, nil
	}
	var payments []models.Payment
	err := sc.Rows(s.DB.Read(ctx)).Select("id", "reference").Where("id IN ?", ids).Find(&payments).Error
	for _, p := range payments {
		found[p.ID] = p.Reference
	}
	return found, err
}
