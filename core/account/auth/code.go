package auth

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pquerna/otp/hotp"

	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/core/secret"
	"cointill/models"
)

// recordChange records a change of a user's account and mails it to them.
func (s *Service) recordChange(tx *models.Tx, user User, kind LetterKind, action string) error {
	if err := s.auditUser(tx, user.ID, action, nil); err != nil {
		return err
	}
	return s.queueLetter(tx, Letter{Kind: kind, To: user, URL: s.Base + accountPath})
}

// newEntry returns what a right password is worth.
func newEntry(box *secret.Box, now time.Time, row models.User) Entry {
	e := Entry{User: DescribeUser(row)}
	if e.User.SecondFactor {
		at := strconv.FormatInt(now.Unix(), 10)
		e.Pending = strings.Join([]string{strconv.FormatInt(row.ID, 10), at, pendingSum(box, row, at)}, ".")
	}
	return e
}

// pendingSum binds a half sign-in to the password it was made with.
func pendingSum(box *secret.Box, row models.User, at string) string {
	return box.Hash("pending sign-in", fmt.Sprintf("%d %s %s", row.ID, at, row.PasswordHash))
}

// EnterCode finishes a sign-in that needs a code. left is how many recovery
// codes remain when one of them was used, -1 for a code of the app.
// Unauthenticated: code_refused, or sign_in_expired ten minutes after the
// password or when that was changed; Limited after wrong codes in a row.
func (s *Service) EnterCode(ctx context.Context, pending, code, ip string) (user User, left int, err error) {
	id, rest, _ := strings.Cut(pending, ".")
	at, sum, _ := strings.Cut(rest, ".")
	userID, _ := strconv.ParseInt(id, 10, 64) // 0 is no user
	seconds, _ := strconv.ParseInt(at, 10, 64)
	var rows []models.User
	if err := s.db.Read(ctx).Where("id = ?", userID).Limit(1).Find(&rows).Error; err != nil {
		return User{}, 0, err
	}
	if len(rows) == 0 || sum != pendingSum(s.secret, rows[0], at) || s.now().Sub(time.Unix(seconds, 0)) > pendingTime {
		return User{}, 0, errPending
	}
	left, err = s.useCode(ctx, userID, code, ip)
	return DescribeUser(rows[0]), left, err
}

// useCode takes a code of the app or a recovery code, which then is used up.
func (s *Service) useCode(ctx context.Context, userID int64, code, ip string) (left int, err error) {
	address, guess := s.tries.addressKey(ip), s.tries.attemptKey("code", strconv.FormatInt(userID, 10))
	if err := s.tries.countMinute(ctx, address, perAddress); err != nil {
		return 0, err
	}
	if err := s.tries.countGuess(ctx, guess, s.now()); err != nil {
		return 0, err
	}
	code = plainCode(code)
	left, accepted := -1, false
	err = s.db.Write(ctx, func(tx *models.Tx) error {
		if len(code) == recoveryLength {
			left, accepted, err = s.useRecoveryCode(tx, userID, code)
		} else {
			left = -1
			accepted, err = s.useStep(tx, userID, code)
		}
		if err == nil && !accepted {
			return auditAct(tx, s.now(), userID, audit.Act{Action: "user.code_refused", Refused: true})
		}
		return err
	})
	if err == nil && !accepted {
		err = errCode
	}
	if err == nil {
		s.tries.forgetGuess(ctx, address, guess)
	}
	return left, err
}

// useStep takes a code of the app. The code of a step works once, and no code of an earlier
// step works afterwards.
func (s *Service) useStep(tx *models.Tx, userID int64, code string) (bool, error) {
	var user models.User
	if err := tx.Where("id = ?", userID).Take(&user).Error; err != nil {
		return false, fault.MissingRow(err, "user")
	}
	if user.TOTPSecret == nil {
		return false, nil
	}
	secret, err := s.secret.Open(totpPlace(userID), user.TOTPSecret)
	if err != nil {
		return false, err
	}
	step, ok := findStep(s.now(), secret, code)
	if !ok {
		return false, nil
	}
	used := tx.Model(&models.User{}).Where("id = ? AND totp_step < ?", userID, step).Update("totp_step", step)
	return used.RowsAffected == 1, used.Error
}

// findStep returns the step of a code, at most totpSkew away from a time.
func findStep(at time.Time, secret []byte, code string) (step int64, ok bool) {
	now := at.Unix() / int64(totpStep/time.Second)
	for step := now + totpSkew; step >= now-totpSkew; step-- {
		// An error says that the code hasn't the length of one: it isn't right.
		if right, _ := hotp.ValidateCustom(code, uint64(step), ident.Base32(secret), totpOptions); right {
			return step, true
		}
	}
	return 0, false
}

// plainCode removes the spaces and hyphens that people type in a code.
func plainCode(code string) string {
	const most = 64
	if len(code) > most {
		return ""
	}
	return strings.NewReplacer(" ", "", "-", "", "\u00a0", "", "I", "1", "L", "1", "O", "0").
		Replace(strings.ToUpper(code))
}

func totpPlace(userID int64) string  { return fmt.Sprintf("users/%d/totp", userID) }
func setupPlace(userID int64) string { return fmt.Sprintf("users/%d/totp setup", userID) }
