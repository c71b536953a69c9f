package webhook

import (
	"context"

	"cointill/core/scope"
	"cointill/models"
)

// AttemptsOf gives the attempts of deliveries, without what was sent and
// answered, by the delivery's id; at most 500, the first ones. Whoever may see
// the payment may see them. Faults: Forbidden.
func (s *Service) AttemptsOf(ctx context.Context, sc scope.Scope, deliveries []Delivery) (map[int64][]Attempt, error) {
	if err := sc.Can(scope.SeePayments); err != nil {
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
		Where("delivery_id IN (?)", sc.Rows(s.DB.Read(ctx)).Model(&models.Delivery{}).Select("id").Where("id IN ?", ids)).
		Order("id").Limit(500).Find(&rows).Error
	for _, row := range rows {
		made[row.DeliveryID] = append(made[row.DeliveryID], shownAttempt(sc, row))
	}
	return made, err
}
