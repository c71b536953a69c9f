package auth

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"cointill/core/fault"
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
	wait := startAnswerTimer(s.AnswerInterval)
	row, match, err := s.checkGuess(ctx, c)
	switch {
	case err != nil:
		return Entry{}, err
	case match:
		return newEntry(s.secret, s.now(), row), nil
	case row.ID != 0:
		if err := s.refusedUser(ctx, row.ID, "user.sign_in_refused"); err != nil {
			return Entry{}, err
		}
	}
	wait(ctx)
	return Entry{}, errSignIn
}

// checkGuess returns the user of an e-mail address, a zero row when there is none, and whether the
// password is right. It counts the guess.
func (s *Service) checkGuess(ctx context.Context, c Credentials) (row models.User, match bool, err error) {
	c.Email = strings.ToLower(strings.TrimSpace(c.Email))
	err = s.db.Read(ctx).Where("email = ?", c.Email).Take(&row).Error
	if err != nil && !errors.Is(err, gorm.ErrRecordNotFound) {
		return row, false, err
	}
	lane, guess := anonymousLane, s.tries.attemptKey("email", c.Email)
	familiar, err := isFamiliar(s.db.Read(ctx), s.now(), row.ID, c.Device)
	if err != nil {
		return row, false, err
	}
	if familiar {
		lane, guess = row.ID, s.tries.attemptKey("device", c.Email+" "+HashToken(c.Device))
	}
	address := s.tries.addressKey(c.IP)
	if err := s.tries.countMinute(ctx, address, perAddress); err != nil {
		return row, false, err
	}
	at, minutes := s.now(), []string{address}
	if err := s.tries.countGuess(ctx, guess, at); err != nil {
		return row, false, err
	}
	if familiar { // a browser has a count of its own: a stolen one gets few guesses
		user := s.tries.attemptKey("user", strconv.FormatInt(row.ID, 10))
		if err := s.tries.countMinute(ctx, user, perUser); err != nil {
			s.tries.takeBack(ctx, guess, at, minutes)
			return row, false, err
		}
		minutes = append(minutes, user)
	}
	match, err = s.comparePassword(ctx, &row, c.Password, lane)
	if err != nil { // the password was not compared
		s.tries.takeBack(ctx, guess, at, minutes)
		return row, false, err
	}
	if match = match && row.ID != 0; match {
		s.tries.forgetGuess(ctx, address, guess)
	}
	return row, match, nil
}

// comparePassword reports whether a password is a user's. It takes as long when there is no
// such user. A hash with older parameters is replaced, in the row too.
func (s *Service) comparePassword(ctx context.Context, row *models.User, password string, lane int64) (bool, error) {
	hash := row.PasswordHash
	if row.ID == 0 {
		hash = dummyHash(s.Cost)
	}
	if len(password) > 4*maxPassword {
		password = "" // no password of ours; hashing a long one would only cost time
	}
	match, stale, err := s.matchHash(ctx, password, hash, lane)
	if stale { // which says that it is the user's password
		s.replaceHash(ctx, row, password, lane)
	}
	return match, err
}

// replaceHash replaces a user's hash that was made with other parameters than today's.
func (s *Service) replaceHash(ctx context.Context, row *models.User, password string, lane int64) {
	hash, err := s.hashPassword(ctx, password, lane)
	if err == nil {
		err = s.db.Exec(ctx).Model(&models.User{}).Where("id = ?", row.ID).
			Updates(map[string]any{"password_hash": hash, "updated_at": s.now()}).Error
	}
	if err != nil {
		slog.WarnContext(ctx, "password hash not replaced", "error", err)
		return
	}
	row.PasswordHash = hash // what a pending sign-in is bound to
}
