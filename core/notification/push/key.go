package push

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"

	"cointill/core/fault"
	"cointill/models"
)

// keyLife is how long browsers are switched on with a key. A browser keeps the key that it was switched on with.
const keyLife = 365 * 24 * time.Hour

// PublicKey returns the key that browsers are switched on with, base64url. It makes one when there is none, or none
// that is new enough.
func (s *Service) PublicKey(ctx context.Context) (string, error) {
	newest := func(tx *models.Tx) (row models.PushKey, err error) {
		err = tx.Where("created_at > ?", s.Clock().Add(-keyLife)).Order("id DESC").Limit(1).Find(&row).Error
		return row, err
	}
	row, err := newest(s.DB.Read(ctx))
	if err != nil || row.ID != 0 {
		return row.Public, err
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		if row, err = newest(tx); err != nil || row.ID != 0 {
			return err
		}
		private, public, err := generateKey()
		if err != nil {
			return err
		}
		row = models.PushKey{Public: public, Private: s.Secrets.Seal(keyPlace(public), private), CreatedAt: s.Clock()}
		return tx.Create(&row).Error
	})
	return row.Public, err
}

// keyPlace names the row that a private key is sealed for.
func keyPlace(public string) string { return "push_keys " + public }

// findKey finds a key by its public part. Invalid (key) for an unknown one.
func findKey(tx *models.Tx, public string) (row models.PushKey, err error) {
	err = tx.Where("public = ?", public).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = fault.RefuseField("key", "Is not a key of this server. Load the page again.")
	}
	return row, err
}

// Prune deletes the browsers whose session ended, the messages to them, and old keys that no browser has.
func (s *Service) Prune(ctx context.Context) error {
	now := s.Clock()
	return errors.Join(
		s.DB.Exec(ctx).Where("NOT "+hasSession, now).Delete(&models.PushSubscription{}).Error,
		s.DB.Exec(ctx).Where("NOT EXISTS (SELECT 1 FROM push_subscriptions WHERE push_subscriptions.id = subscription_id)").
			Delete(&models.PushMessage{}).Error,
		s.DB.Exec(ctx).Where("created_at <= ? AND NOT EXISTS (SELECT 1 FROM push_subscriptions WHERE "+
			"push_subscriptions.key_id = push_keys.id)", now.Add(-keyLife)).Delete(&models.PushKey{}).Error)
}
