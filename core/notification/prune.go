package notification

import (
	"context"
	"errors"
	"time"

	"cointill/models"
)

// Kept is how long notifications are kept.
const Kept = 90 * 24 * time.Hour

// pruneBatch is how many notifications are deleted in one transaction.
const pruneBatch = 500

// Prune deletes notifications that are older than Kept, a batch of the oldest, and reports whether there may be more.
func (s *Service) Prune(ctx context.Context) (more bool, err error) {
	var oldest []models.Notification
	if err := s.DB.Read(ctx).Select("id", "created_at").Order("id").Limit(pruneBatch).Find(&oldest).Error; err != nil {
		return false, err
	}
	var ids []int64
	for _, row := range oldest {
		if row.CreatedAt.Before(s.Clock().Add(-Kept)) {
			ids = append(ids, row.ID)
		}
	}
	if len(ids) == 0 {
		return false, nil
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		if err := tx.Where("notification_id IN ?", ids).Delete(&models.NotificationRead{}).Error; err != nil {
			return err
		}
		return tx.Where("id IN ?", ids).Delete(&models.Notification{}).Error
	})
	return len(ids) == pruneBatch, err
}

// ForgetFormerMembers deletes what people chose and read in businesses that they left.
func (s *Service) ForgetFormerMembers(ctx context.Context) error {
	db := s.DB.Exec(ctx)
	return errors.Join(
		db.Where("NOT EXISTS (SELECT 1 FROM members WHERE members.business_id = notification_choices.business_id AND "+
			"members.user_id = notification_choices.user_id)").Delete(&models.NotificationChoice{}).Error,
		db.Where("NOT EXISTS (SELECT 1 FROM members WHERE members.business_id = notification_readers.business_id AND "+
			"members.user_id = notification_readers.user_id)").Delete(&models.NotificationReader{}).Error,
		db.Where("NOT EXISTS (SELECT 1 FROM members WHERE members.business_id = notification_reads.business_id AND "+
			"members.user_id = notification_reads.user_id)").Delete(&models.NotificationRead{}).Error)
}
