package list

import (
	"context"

	"cointill/core/payment"
	"cointill/core/payment/refund"
	"cointill/core/scope"
	"cointill/models"
)

// FindRefundSends returns the last send that refunds each of the transfers or a part of it, by the transfer's id. An
// open one goes before a complete one. Faults: Forbidden.
func (s *Service) FindRefundSends(ctx context.Context, sc scope.Scope, transfers []int64) (map[int64]models.Send,
	error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil || len(transfers) == 0 {
		return nil, err
	}
	var sends []models.Send
	err := refund.SelectReserving(sc.Rows(s.DB.List(ctx))).Select("reference", "transfer_id", "status").
		Where("transfer_id IN ?", transfers).Order("id").Find(&sends).Error
	found := map[int64]models.Send{}
	for _, row := range sends {
		last := found[*row.TransferID]
		if last.Reference == "" || row.Status != string(payment.Successful) || last.Status == row.Status {
			found[*row.TransferID] = row
		}
	}
	return found, err
}
