package account

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cointill/core/fault"
	"cointill/core/limit"
	"cointill/models"
)

// Throttling of sign-ins, counted in the database so that any replica sees it.
const (
	maxDelay    = time.Minute    // between two guesses of one e-mail
	perAddress  = 20             // guesses of one address in a minute
	perUser     = 30             // sign-ins of one user's known browsers in a minute, right ones too: each costs a hash
	forgetAfter = 24 * time.Hour // an e-mail's guesses, when none follows
	retryBusy   = 5 * time.Second
)

// Credentials are what the sign-in form sends. IP is the client's address, and
// Device what the browser's cookie says of it.
type Credentials struct {
	Email, Password, IP, Device string
}

// Entry is whom a password belongs to. Pending is empty when that is enough to
// sign in; else it is what EnterCode takes, with a code.
type Entry struct {
	User    User
	Pending string
}

// errSignIn is the one answer to every failed sign-in, so that it doesn't reveal which e-mail
// addresses exist.
var errSignIn = fault.New(fault.Unauthenticated, "sign_in_failed", "The e-mail address or the password is wrong.")

// SignIn finds the user of some credentials. Every failure is Unauthenticated with the same
// sentence. It is Limited, with the time to wait, after several guesses in a row or many sign-
// ins of a user in a minute. A guess is counted before it is checked, so that concurrent
// guesses all count. A browser that the user has signed in with before has a count of its own
// and doesn't wait for unknown clients, so that guesses elsewhere lock no user out. It is
// Unavailable, without a count, when too many requests wait. Failures are answered at constant
// intervals, because only the refusals of existing accounts are recorded, which takes time.
func (s *Service) SignIn(ctx context.Context, c Credentials) (Entry, error) {
	wait := s.beat()
	row, match, err := s.guess(ctx, c)
	switch {
	case err != nil:
		return Entry{}, err
	case match:
		return s.entry(row), nil
	case row.ID != 0:
		if err := s.refusedUser(ctx, row.ID, "user.sign_in_refused"); err != nil {
			return Entry{}, err
		}
	}
	wait(ctx)
	return Entry{}, errSignIn
}

// guess returns the user of an e-mail address, a zero row when there is none, and whether the
// password is right. It counts the guess.
func (s *Service) guess(ctx context.Context, c Credentials) (row models.User, match bool, err error) {
	c.Email = strings.ToLower(strings.TrimSpace(c.Email))
	err = s.db.Read(ctx).Where("email = ?", c.Email).Take(&row).Error
	if err != nil && !errors.Is(err, gorm.ErrRecordNotFound) {
		return row, false, err
	}
	door, guess := strangers, s.attemptKey("email", c.Email)
	familiar, err := s.familiar(ctx, row.ID, c.Device)
	if err != nil {
		return row, false, err
	}
	if familiar {
		door, guess = row.ID, s.attemptKey("device", c.Email+" "+sessionID(c.Device))
	}
	address := s.addressKey(c.IP)
	if err := s.countMinute(ctx, address, perAddress); err != nil {
		return row, false, err
	}
	at, minutes := s.now(), []string{address}
	if err := s.countGuess(ctx, guess, at); err != nil {
		return row, false, err
	}
	if familiar { // a browser has a count of its own: a stolen one gets few guesses
		user := s.attemptKey("user", strconv.FormatInt(row.ID, 10))
		if err := s.countMinute(ctx, user, perUser); err != nil {
			s.takeBack(ctx, guess, at, minutes)
			return row, false, err
		}
		minutes = append(minutes, user)
	}
	match, err = s.comparePassword(ctx, &row, c.Password, door)
	if err != nil { // the password was not compared
		s.takeBack(ctx, guess, at, minutes)
		return row, false, err
	}
	if match = match && row.ID != 0; match {
		s.forgive(ctx, address, guess)
	}
	return row, match, nil
}

// comparePassword reports whether a password is a user's. It takes as long when there is no
// such user. A hash with older parameters is replaced, in the row too.
func (s *Service) comparePassword(ctx context.Context, row *models.User, password string, door int64) (bool, error) {
	hash := row.PasswordHash
	if row.ID == 0 {
		hash = s.dummyHash()
	}
	if len(password) > 4*maxPassword {
		password = "" // no password of ours; hashing a long one would only cost time
	}
	match, stale, err := s.matches(ctx, password, hash, door)
	if stale { // which says that it is the user's password
		s.replaceHash(ctx, row, password, door)
	}
	return match, err
}

func (s *Service) attemptKey(kind, text string) string {
	return s.secret.Hash("attempt", kind+":"+text)
}

// addressKey names what counts as one address.
func (s *Service) addressKey(ip string) string { return s.attemptKey("ip", limit.Neighbourhood(ip)) }

// countMinute lets so many through in a window of a minute.
func (s *Service) countMinute(ctx context.Context, key string, most int) error {
	now := s.now()
	for range 2 { // a second time when another request opened the window in between
		counted := s.db.Exec(ctx).
			Exec(`UPDATE attempts SET count = count + 1, updated_at = ? WHERE key = ? AND blocked_to > ? AND count < ?`,
				now, key, now, most)
		if counted.Error != nil || counted.RowsAffected == 1 {
			return counted.Error
		}
		opened := s.db.Exec(ctx).Exec(`INSERT INTO attempts (key, count, blocked_to, updated_at) VALUES (?, 1, ?, ?)
			ON CONFLICT (key) DO UPDATE SET count = 1, blocked_to = excluded.blocked_to, updated_at = excluded.updated_at
			WHERE attempts.blocked_to <= ?`, key, now.Add(time.Minute), now, now)
		if opened.Error != nil || opened.RowsAffected == 1 {
			return opened.Error
		}
	}
	var row models.Attempt
	if err := s.db.Read(ctx).Where("key = ?", key).Take(&row).Error; err != nil {
		return fault.MissingRow(err, "attempt")
	}
	return tooMany(row.BlockedTo.Sub(now))
}

// countGuess makes the guesses of one e-mail, browser or code wait for one another: 1, 2, 4 …
// up to 60 seconds. Of several at the same moment one is let through.
func (s *Service) countGuess(ctx context.Context, key string, now time.Time) error {
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
	won := s.db.Exec(ctx).Model(&models.Attempt{}).Where("key = ? AND count = ? AND updated_at = ?", key, row.Count,
		row.UpdatedAt).
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
	f := fault.New(fault.Limited, "too_many_attempts",
		"Too many attempts in a short time. Wait a moment, then try again.")
	f.RetryAfter = max(wait, time.Second)
	return f
}

// forgive takes back what a sign-in that succeeded had counted. When that
// fails, the next sign-in merely has to wait: no reason to refuse this one.
func (s *Service) forgive(ctx context.Context, address, guess string) {
	ctx, done := afterwards(ctx)
	defer done()
	err := s.db.Write(ctx, func(tx *models.Tx) error {
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
func (s *Service) takeBack(ctx context.Context, guess string, at time.Time, minutes []string) {
	ctx, done := afterwards(ctx)
	defer done()
	err := s.db.Write(ctx, func(tx *models.Tx) error {
		if err := uncount(tx, minutes...); err != nil {
			return err
		}
		return tx.Exec(`UPDATE attempts SET count = count - 1, blocked_to = updated_at WHERE key = ? AND updated_at = ?`, guess, at).Error
	})
	if err != nil {
		slog.WarnContext(ctx, "sign-in attempt not taken back", "error", err)
	}
}

// replaceHash replaces a user's hash that was made with other parameters than today's.
func (s *Service) replaceHash(ctx context.Context, row *models.User, password string, door int64) {
	hash, err := s.hashPassword(ctx, password, door)
	if err == nil {
		err = s.db.Exec(ctx).Model(&models.User{}).Where("id = ?", row.ID).
			Updates(map[string]any{"password_hash": hash, "updated_at": s.now()}).Error
	}
	if err != nil {
		slog.WarnContext(ctx, "password not hashed anew", "error", err)
		return
	}
	row.PasswordHash = hash // what a pending sign-in is bound to
}
