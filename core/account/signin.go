package account

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cointill/core/fault"
	"cointill/models"
)

// Throttling of sign-ins, counted in the database so that any replica sees it.
const (
	maxDelay    = time.Minute // between two guesses of one e-mail
	perAddress  = 20          // guesses of one address in addressTime
	addressTime = time.Minute
	forgetAfter = 24 * time.Hour // an e-mail's guesses, when none follows
	retryBusy   = 5 * time.Second
)

// Credentials are what the sign-in form sends. IP is the client's address.
type Credentials struct {
	Email, Password, IP string
}

// errSignIn is the one answer to every failed sign-in: it tells nobody which e-mails exist.
var errSignIn = fault.New(fault.Unauthenticated, "sign_in_failed", "The e-mail address and the password do not belong together.")

// SignIn finds the user that the credentials belong to. Unauthenticated with
// one sentence for every failure; Limited, with the time to wait, after guesses
// in a row. The guess is counted before it is checked, so that many at once
// count as many.
func (s *Service) SignIn(ctx context.Context, c Credentials) (User, error) {
	c.Email = strings.ToLower(strings.TrimSpace(c.Email))
	address, email := s.attemptKey("ip", neighbourhood(c.IP)), s.attemptKey("email", c.Email)
	if err := s.countAddress(ctx, address); err != nil {
		return User{}, err
	}
	if err := s.countEmail(ctx, email); err != nil {
		return User{}, err
	}
	var user models.User
	err := s.db.Read(ctx).Where("email = ?", c.Email).Take(&user).Error
	known := err == nil
	if err != nil && !errors.Is(err, gorm.ErrRecordNotFound) {
		return User{}, err
	}
	hash := user.PasswordHash
	if !known {
		hash = s.dummy() // takes as long as a real comparison
	}
	if len(c.Password) > 4*maxPassword {
		c.Password = "" // no password of ours; hashing a long one would only cost time
	}
	match, stale, err := s.matches(ctx, c.Password, hash)
	if err != nil {
		return User{}, err
	}
	if !known || !match {
		return User{}, errSignIn
	}
	s.forgive(ctx, address, email)
	if stale {
		s.rehash(ctx, user.ID, c.Password)
	}
	return User{ID: user.ID, Name: user.Name, Email: user.Email}, nil
}

func (s *Service) attemptKey(kind, text string) string {
	return s.secret.Hash("attempt", kind+":"+text)
}

// neighbourhood is what counts as one address: in IPv6 a customer has a whole /64.
func neighbourhood(ip string) string {
	address, err := netip.ParseAddr(ip)
	if err != nil || address.Unmap().Is4() {
		return ip
	}
	prefix, _ := address.Prefix(64) // a valid IPv6 address has one
	return prefix.String()
}

// countAddress lets an address guess perAddress times in a window of addressTime.
func (s *Service) countAddress(ctx context.Context, key string) error {
	now := s.now()
	for range 2 { // a second time when another request opened the window in between
		counted := s.db.Exec(ctx).Exec(`UPDATE attempts SET count = count + 1, updated_at = ? WHERE key = ? AND blocked_to > ? AND count < ?`,
			now, key, now, perAddress)
		if counted.Error != nil || counted.RowsAffected == 1 {
			return counted.Error
		}
		opened := s.db.Exec(ctx).Exec(`INSERT INTO attempts (key, count, blocked_to, updated_at) VALUES (?, 1, ?, ?)
			ON CONFLICT (key) DO UPDATE SET count = 1, blocked_to = excluded.blocked_to, updated_at = excluded.updated_at
			WHERE attempts.blocked_to <= ?`, key, now.Add(addressTime), now, now)
		if opened.Error != nil || opened.RowsAffected == 1 {
			return opened.Error
		}
	}
	var row models.Attempt
	if err := s.db.Read(ctx).Where("key = ?", key).Take(&row).Error; err != nil {
		return missing(err, "attempt")
	}
	return tooMany(row.BlockedTo.Sub(now))
}

// countEmail makes the guesses of one e-mail wait for one another: 1, 2, 4 …
// up to 60 seconds. Of several at the same moment one is let through.
func (s *Service) countEmail(ctx context.Context, key string) error {
	now := s.now()
	var row models.Attempt
	err := s.db.Read(ctx).Where("key = ?", key).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		row = models.Attempt{Key: key, Count: 1, BlockedTo: now.Add(delay(1)), UpdatedAt: now}
		made := s.db.Exec(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
		if made.Error == nil && made.RowsAffected == 0 {
			return tooMany(delay(1))
		}
		return made.Error
	}
	if err != nil {
		return err
	}
	if row.BlockedTo.After(now) {
		return tooMany(row.BlockedTo.Sub(now))
	}
	count := row.Count + 1
	if now.Sub(row.UpdatedAt) > forgetAfter {
		count = 1
	}
	won := s.db.Exec(ctx).Model(&models.Attempt{}).Where("key = ? AND count = ? AND updated_at = ?", key, row.Count, row.UpdatedAt).
		Updates(map[string]any{"count": count, "blocked_to": now.Add(delay(count)), "updated_at": now})
	if won.Error == nil && won.RowsAffected == 0 {
		return tooMany(delay(count))
	}
	return won.Error
}

func delay(count int) time.Duration {
	if count > 6 {
		return maxDelay
	}
	return time.Second << (count - 1)
}

func tooMany(wait time.Duration) error {
	f := fault.New(fault.Limited, "too_many_attempts", "Too many sign-ins in a short time. Wait a moment, then try again.")
	f.RetryAfter = max(wait, time.Second)
	return f
}

// forgive takes back what a sign-in that succeeded had counted. When that
// fails, the next sign-in merely has to wait: no reason to refuse this one.
func (s *Service) forgive(ctx context.Context, address, email string) {
	err := s.db.Write(ctx, func(tx *models.Tx) error {
		if err := tx.Exec(`UPDATE attempts SET count = count - 1 WHERE key = ? AND count > 0`, address).Error; err != nil {
			return err
		}
		return tx.Where("key = ?", email).Delete(&models.Attempt{}).Error
	})
	if err != nil {
		slog.WarnContext(ctx, "sign-in attempts not reset", "error", err)
	}
}

// rehash replaces a hash that was made with other parameters than today's.
func (s *Service) rehash(ctx context.Context, userID int64, password string) {
	hash, err := s.hashPassword(ctx, password)
	if err == nil {
		err = s.db.Exec(ctx).Model(&models.User{}).Where("id = ?", userID).
			Updates(map[string]any{"password_hash": hash, "updated_at": s.now()}).Error
	}
	if err != nil {
		slog.WarnContext(ctx, "password not hashed anew", "error", err)
	}
}
