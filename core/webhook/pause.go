package webhook

import (
	"time"

	"cointill/models"
)

// pauseEndpoint records that an endpoint receives nothing from now on, and cancels its pending
// deliveries.
func (s *Service) pauseEndpoint(tx *models.Tx, endpointID string, since time.Time) error {
	// Pending events are missed, too.
	var oldest []time.Time
	waiting := tx.Model(&models.Delivery{}).Where("endpoint_id = ? AND done_at IS NULL", endpointID).Order("due_at").
		Limit(mostCancelled)
	if err := waiting.Pluck("created_at", &oldest).Error; err != nil {
		return err
	}
	for _, at := range oldest {
		if at.Before(since) {
			since = at
		}
	}
	// An event from before the last pause that was sent again belongs to that one.
	var last []models.EndpointPause
	if err := tx.Where("endpoint_id = ?", endpointID).Order("since DESC, id DESC").Limit(1).
		Find(&last).Error; err != nil {
		return err
	}
	if len(last) > 0 && last[0].Until != nil && since.Before(*last[0].Until) {
		since = *last[0].Until
	}
	if err := tx.Create(&models.EndpointPause{EndpointID: endpointID, Since: since}).Error; err != nil {
		return err
	}
	return s.cancelWaiting(tx, endpointID, EndpointInactive)
}

// mostCancelled bounds how many deliveries are cancelled at once; others are
// when their time comes.
const mostCancelled = 1000

// cancelWaiting cancels the pending deliveries of an endpoint, except running attempts.
func (s *Service) cancelWaiting(tx *models.Tx, endpointID string, why Reason) error {
	now := s.Clock()
	waiting := tx.Model(&models.Delivery{}).Select("id").
		Where("endpoint_id = ? AND done_at IS NULL AND (claimed_at IS NULL OR due_at <= ?)", endpointID, now).
		Limit(mostCancelled)
	// Asked once more of the locked row: on PostgreSQL it may have been claimed meanwhile.
	return tx.Model(&models.Delivery{}).Where("id IN (?) AND outcome = '' AND (claimed_at IS NULL OR due_at <= ?)",
		waiting, now).Updates(map[string]any{
		"done_at": now, "claimed_at": nil, "outcome": Cancelled, "last_error": why.Sentence,
		"last_code": why.Code,
	}).Error
}

// pauseOrResume notes what a change of active means; nil is no change.
func (s *Service) pauseOrResume(tx *models.Tx, found models.Endpoint, active *bool) error {
	switch {
	case active == nil || *active == found.Active:
		return nil
	case !*active:
		return s.pauseEndpoint(tx, found.ID, s.Clock())
	}
	return tx.Model(&models.EndpointPause{}).Where("endpoint_id = ? AND until IS NULL", found.ID).
		Update("until", s.Clock()).Error
}
