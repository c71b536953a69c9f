package auth

import (
	"context"
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/ident"
	"cointill/models"
)

// DeviceLife is for how long a browser is known after its last sign-in.
const DeviceLife = 400 * 24 * time.Hour

// tokenLength is the length of a token of package ident.
const tokenLength = 43

// Visit is where a sign-in comes from: what the browser's cookie says of it, its
// name and its address.
type Visit struct {
	Device, UserAgent, IP string
}

// Arrive records the browser and address of a sign-in, and returns the value of the browser's
// cookie. A browser that is new to the user causes a mail, unless it is expected: at sign-up
// there is no earlier one.
func (s *Service) Arrive(ctx context.Context, user User, v Visit, expected bool) (device string, err error) {
	if len(v.Device) != tokenLength {
		v.Device = ident.NewToken()
	}
	now, name := s.now(), agent(v.UserAgent)
	err = s.db.Write(ctx, func(tx *models.Tx) error {
		seen := tx.Model(&models.Device{}).Where("user_id = ? AND hash = ?", user.ID, HashToken(v.Device)).
			Updates(map[string]any{"seen_at": now, "ip": v.IP, "user_agent": name})
		if seen.Error != nil {
			return seen.Error
		}
		if err := s.auditUser(tx, user.ID, "user.signed_in",
			map[string]bool{"new_browser": seen.RowsAffected == 0}); err != nil || seen.RowsAffected > 0 {
			return err
		}
		row := models.Device{UserID: user.ID, Hash: HashToken(v.Device), UserAgent: name, IP: v.IP, CreatedAt: now,
			SeenAt: now}
		made := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
		if made.RowsAffected == 0 || expected { // an error has stored nothing either
			return made.Error
		}
		return s.queueLetter(
			tx,
			Letter{Kind: NewDevice, To: user, UserAgent: name, IP: v.IP, URL: s.Base + accountPath},
		)
	})
	s.WakeMailer(err)
	return v.Device, err
}

// isFamiliar reports whether a user has signed in with a browser before.
func isFamiliar(tx *models.Tx, now time.Time, userID int64, device string) (bool, error) {
	var found int64
	err := tx.Model(&models.Device{}).
		Where("user_id = ? AND hash = ? AND seen_at > ?", userID, HashToken(device), now.Add(-DeviceLife)).
		Count(&found).Error
	return found > 0, err
}
