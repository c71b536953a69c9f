package webhook

import (
	"context"

	"cointill/core/scope"
	"cointill/models"
)

// AttemptsOf returns the first attempts of deliveries, at most 500, by delivery id, without
// requests and answers, for roles with the right to see payments. Faults: Forbidden.
func (s *Service) AttemptsOf(ctx context.Context, sc scope.Scope, deliveries []Delivery) (map[int64][]Attempt, error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return nil, err
	}
	var ids []int64
	for _, d := range deliveries {
		if d.ID != 0 {
			ids = append(ids, d.ID)
		}
	}
	made := map[int64][]Attempt{}
	if len(ids) == 0 {
		return made, nil
	}
	var rows []models.DeliveryAttempt
	err := s.DB.Read(ctx).Omit("request", "header", "answer").
		Where("delivery_id IN (?)", sc.Rows(s.DB.Read(ctx)).Model(&models.Delivery{}).Select("id").
			Where("id IN ?", ids)).
		Order("id").Limit(500).Find(&rows).Error
	for _, row := range rows {
		made[row.DeliveryID] = append(made[row.DeliveryID], shownAttempt(sc, row))
	}
	return made, err
}
