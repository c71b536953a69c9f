package auth

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/limit"
	"cointill/core/secret"
	"cointill/models"
)

// tries counts attempts to guess passwords and codes, in the database, so that any replica
// sees them.
type tries struct {
	db     *models.DB
	now    clock.Clock
	secret *secret.Box
}

func (t tries) attemptKey(kind, text string) string {
	return t.secret.Hash("attempt", kind+":"+text)
}

// addressKey names what counts as one address.
func (t tries) addressKey(ip string) string { return t.attemptKey("ip", limit.ClientPrefix(ip)) }

// countMinute lets so many through in a window of a minute.
func (t tries) countMinute(ctx context.Context, key string, most int) error {
	now := t.now()
	for range 2 { // a second time when another request opened the window in between
		counted := t.db.Exec(ctx).
			Exec(`UPDATE attempts SET count = count + 1, updated_at = ? WHERE key = ? AND blocked_to > ? AND count < ?`,
				now, key, now, most)
		if counted.Error != nil || counted.RowsAffected == 1 {
			return counted.Error
		}
		opened := t.db.Exec(ctx).Exec(`INSERT INTO attempts (key, count, blocked_to, updated_at) VALUES (?, 1, ?, ?)
			ON CONFLICT (key) DO UPDATE SET count = 1, blocked_to = excluded.blocked_to, updated_at = excluded.updated_at
			WHERE attempts.blocked_to <= ?`, key, now.Add(time.Minute), now, now)
		if opened.Error != nil || opened.RowsAffected == 1 {
			return opened.Error
		}
	}
	var row models.Attempt
	if err := t.db.Read(ctx).Where("key = ?", key).Take(&row).Error; err != nil {
		return fault.MissingRow(err, "attempt")
	}
	return tooMany(row.BlockedTo.Sub(now))
}

// countGuess makes the guesses of one e-mail, browser or code wait for one another: 1, 2, 4 …
// up to 60 seconds. Of several at the same moment one is let through.
func (t tries) countGuess(ctx context.Context, key string, now time.Time) error {
	var row models.Attempt
	err := t.db.Read(ctx).Where("key = ?", key).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		row = models.Attempt{Key: key, Count: 1, BlockedTo: now.Add(waitAfter(1)), UpdatedAt: now}
		made := t.db.Exec(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
		if made.Error == nil && made.RowsAffected == 0 {
			return tooMany(waitAfter(1))
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
	won := t.db.Exec(ctx).Model(&models.Attempt{}).Where("key = ? AND count = ? AND updated_at = ?", key, row.Count,
		row.UpdatedAt).
		Updates(map[string]any{"count": count, "blocked_to": now.Add(waitAfter(count)), "updated_at": now})
	if won.Error == nil && won.RowsAffected == 0 {
		return tooMany(waitAfter(count))
	}
	return won.Error
}

func waitAfter(count int) time.Duration {
	if count > 6 {
		return maxDelay
	}
	return time.Second << (count - 1)
}

func tooMany(wait time.Duration) error {
	f := fault.New(fault.Limited, "too_many_attempts",
		"Too many attempts in a short time. Wait a moment, then try again.")
	f.RetryAfter = max(wait, time.Second)
	return f
}

// forgetGuess takes back what a sign-in that succeeded had counted. When that
// fails, the next sign-in merely has to wait: no reason to refuse this one.
func (t tries) forgetGuess(ctx context.Context, address, guess string) {
	ctx, done := afterwards(ctx)
	defer done()
	err := t.db.Write(ctx, func(tx *models.Tx) error {
		if err := uncount(tx, address); err != nil {
			return err
		}
		return tx.Where("key = ?", guess).Delete(&models.Attempt{}).Error
	})
	if err != nil {
		slog.WarnContext(ctx, "sign-in attempts not reset", "error", err)
	}
}

// uncount takes one from the counts of a minute.
func uncount(tx *models.Tx, minutes ...string) error {
	return tx.Exec(`UPDATE attempts SET count = count - 1 WHERE key IN ? AND count > 0`, minutes).Error
}

// afterwards is time to write down what a request came to, although its own may be up.
func afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
}

// takeBack undoes the count of a guess that was made at a time and never looked at. Those
// before it still count, and so does it when another was let through meanwhile.
func (t tries) takeBack(ctx context.Context, guess string, at time.Time, minutes []string) {
	ctx, done := afterwards(ctx)
	defer done()
	err := t.db.Write(ctx, func(tx *models.Tx) error {
		if err := uncount(tx, minutes...); err != nil {
			return err
		}
		return tx.Exec(`UPDATE attempts SET count = count - 1, blocked_to = updated_at WHERE key = ? AND updated_at = ?`,
			guess, at).Error
	})
	if err != nil {
		slog.WarnContext(ctx, "sign-in attempt not taken back", "error", err)
	}
}
