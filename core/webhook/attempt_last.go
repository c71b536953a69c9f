package webhook

import (
	"context"

	"cointill/core/scope"
	"cointill/models"
)

// LastAttempts returns the latest attempt of each delivery that has one, by delivery id,
// without requests and answers, for which a list has no room. Faults: Forbidden.
func (s *Service) LastAttempts(ctx context.Context, sc scope.Scope, deliveries []Delivery) (map[int64]Attempt, error) {
	if err := sc.CheckAction(scope.SeeWebhooks); err != nil {
		return nil, err
	}
	ids := make([]int64, 0, len(deliveries))
	for _, d := range deliveries {
		if d.ID != 0 {
			ids = append(ids, d.ID)
		}
	}
	last := map[int64]Attempt{}
	if len(ids) == 0 {
		return last, nil
	}
	var rows []models.DeliveryAttempt
	err := s.DB.Read(ctx).Omit("request", "header", "answer").
		Where("delivery_id IN (?)", sc.Rows(s.DB.Read(ctx)).Model(&models.Delivery{}).Select("id").
			Where("id IN ?", ids)).
		Where("attempt = (SELECT max(b.attempt) FROM delivery_attempts b WHERE b.delivery_id = " +
			"delivery_attempts.delivery_id)").Find(&rows).Error
	for _, row := range rows {
		last[row.DeliveryID] = shownAttempt(sc, row)
	}
	return last, err
}
