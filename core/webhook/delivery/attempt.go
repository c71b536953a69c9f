package delivery

import (
	"context"

	"cointill/core/scope"
	"cointill/models"
)

// LastAttempts returns the latest attempt of each delivery that has one, by delivery id,
// without requests and answers, for which a list has no room. Faults: Forbidden.
func (s *Service) LastAttempts(ctx context.Context, sc scope.Scope, deliveries []Delivery) (map[int64]Attempt,
	error) {
	if err := sc.CheckAction(scope.SeeWebhooks); err != nil {
		return nil, err
	}
	last := map[int64]Attempt{}
	var rows []models.DeliveryAttempt
	err := attemptsOf(sc, s.DB.Read(ctx), deliveries).
		Where("attempt = (SELECT max(b.attempt) FROM delivery_attempts b WHERE b.delivery_id = " +
			"delivery_attempts.delivery_id)").Find(&rows).Error
	for _, row := range rows {
		last[row.DeliveryID] = shownAttempt(sc, row)
	}
	return last, err
}

// attemptsOf returns the query for the attempts of deliveries, without requests and answers.
func attemptsOf(sc scope.Scope, db *models.Tx, deliveries []Delivery) *models.Tx {
	ids := make([]int64, 0, len(deliveries))
	for _, d := range deliveries {
		ids = append(ids, d.ID) // 0 for a skipped one, which has no attempt
	}
	return db.Omit("request", "header", "answer").
		Where("delivery_id IN (?)", sc.Rows(db).Model(&models.Delivery{}).Select("id").Where("id IN ?", ids))
}
