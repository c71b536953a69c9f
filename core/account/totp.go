package account

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"

	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/core/scope"
	"cointill/models"
)

// The second factor is RFC 6238 as every authenticator app knows it: six digits
// of HMAC-SHA-1 over steps of 30 seconds. Clocks may be a step apart.
const (
	totpStep    = 30 * time.Second
	totpSkew    = 1
	setupTime   = time.Hour // from the secret that is shown to the code that confirms it
	pendingTime = 10 * time.Minute
)

var totpOptions = hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1}

// errCode is the one answer to every code that is refused.
var errCode = fault.New(fault.Unauthenticated, "code_refused",
	"This code is wrong or was already used. Wait for the next one, or use a recovery code.")

var errPending = fault.New(fault.Unauthenticated, "sign_in_expired",
	"Your sign-in has expired. Enter your e-mail address and password again.")

// Setup is a second factor before it works. URL is what its QR code says, Key
// the same to type; Sealed is what ConfirmSecondFactor takes.
type Setup struct {
	URL, Key, Sealed string
}

// sealedSetup is what Sealed holds.
type sealedSetup struct {
	Secret []byte
	At     time.Time
}

// BeginSecondFactor makes the secret of a second factor. It works only once a
// code of it confirmed that an app has it: nothing is stored before. Conflict
// when the user has one; otherwise as Reauthenticate.
func (s *Service) BeginSecondFactor(ctx context.Context, sc scope.Scope, p Proof) (Setup, error) {
	user, err := s.own(ctx, sc, p)
	if err != nil {
		return Setup{}, err
	}
	if user.SecondFactor {
		return Setup{}, errHasFactor
	}
	plain := sealedSetup{Secret: ident.RandomBytes(20), At: s.now()}
	text, err := json.Marshal(plain)
	if err != nil {
		return Setup{}, err
	}
	return setup(user, plain.Secret, ident.Encode(s.secret.Seal(setupPlace(user.ID), text)))
}

var errHasFactor = fault.New(fault.Conflict, "second_factor_on",
	"Two-factor authentication is already on. Switch it off first to set it up again.")

func setup(user User, secret []byte, sealed string) (Setup, error) {
	key, err := totp.Generate(totp.GenerateOpts{Issuer: "Cointill", AccountName: user.Email, Secret: secret})
	if err != nil {
		return Setup{}, err
	}
	return Setup{URL: key.URL(), Key: key.Secret(), Sealed: sealed}, nil
}

// ResumeSecondFactor is the setup again that BeginSecondFactor sealed for the
// user of a scope. Conflict (setup_expired) when it is another's or older than an hour.
func (s *Service) ResumeSecondFactor(ctx context.Context, sc scope.Scope, sealed string) (Setup, error) {
	user, secret, err := s.unseal(ctx, sc, sealed)
	if err != nil {
		return Setup{}, err
	}
	return setup(user, secret, sealed)
}

func (s *Service) unseal(ctx context.Context, sc scope.Scope, sealed string) (User, []byte, error) {
	userID, err := actor(sc)
	if err != nil {
		return User{}, nil, err
	}
	var row models.User
	if err := s.db.Read(ctx).Where("id = ?", userID).Take(&row).Error; err != nil {
		return User{}, nil, fault.MissingRow(err, "user")
	}
	expired := fault.New(fault.Conflict, "setup_expired", "The setup has expired. Start again with a new QR code.")
	raw, _ := ident.Decode(sealed) // a text that is not base64 fails to open below
	text, err := s.secret.Open(setupPlace(userID), raw)
	if err != nil {
		return User{}, nil, expired
	}
	var plain sealedSetup
	if err := json.Unmarshal(text, &plain); err != nil {
		return User{}, nil, err
	}
	if s.now().Sub(plain.At) > setupTime {
		return User{}, nil, expired
	}
	return known(row), plain.Secret, nil
}

// ConfirmSecondFactor switches a second factor on with a code of it, ends the
// user's other sessions, which were opened without one, and gives the recovery
// codes, once. session is the key of the session that stays. Invalid (code),
// Limited, Conflict as ResumeSecondFactor or when the user has one already.
func (s *Service) ConfirmSecondFactor(ctx context.Context, sc scope.Scope, sealed, code, session, ip string) ([]string,
	error) {
	user, secret, err := s.unseal(ctx, sc, sealed)
	if err != nil {
		return nil, err
	}
	address, guess := s.addressKey(ip), s.attemptKey("code", strconv.FormatInt(user.ID, 10))
	if err := s.countMinute(ctx, address, perAddress); err != nil {
		return nil, err
	}
	if err := s.countGuess(ctx, guess, s.now()); err != nil {
		return nil, err
	}
	step, ok := s.stepOf(secret, plainCode(code))
	if !ok {
		return nil, fault.Validation(
			fault.Fields{"code": {"Does not match the code in the app. Check the code and the phone's clock."}})
	}
	s.forgive(ctx, address, guess)
	var codes []string
	err = s.db.Write(ctx, func(tx *models.Tx) error {
		now := s.now()
		on := tx.Model(&models.User{}).Where("id = ? AND totp_secret IS NULL", user.ID).Updates(map[string]any{
			"totp_secret": s.secret.Seal(totpPlace(user.ID), secret), "totp_at": now, "totp_step": step,
			"updated_at": now})
		if on.Error == nil && on.RowsAffected == 0 {
			return errHasFactor
		}
		if on.Error != nil {
			return on.Error
		}
		if codes, err = s.writeRecoveryCodes(tx, user.ID); err != nil {
			return err
		}
		if err := endOthers(tx, user.ID, session); err != nil {
			return err
		}
		return s.changed(tx, user, FactorOn, "user.second_factor_on")
	})
	s.wake(err)
	return codes, err
}

// RemoveSecondFactor switches the second factor off; faults as Reauthenticate.
func (s *Service) RemoveSecondFactor(ctx context.Context, sc scope.Scope, p Proof, session string) error {
	user, err := s.Reauthenticate(ctx, sc, p)
	if err != nil {
		return err
	}
	err = s.db.Write(ctx, func(tx *models.Tx) error {
		if err := s.dropFactor(tx, user.ID); err != nil {
			return err
		}
		if err := endOthers(tx, user.ID, session); err != nil {
			return err
		}
		return s.changed(tx, user, FactorOff, "user.second_factor_off")
	})
	s.wake(err)
	return err
}

// dropFactor takes a second factor away, with its recovery codes.
func (s *Service) dropFactor(tx *models.Tx, userID int64) error {
	off := tx.Model(&models.User{}).Where("id = ?", userID).
		Updates(map[string]any{"totp_secret": nil, "totp_at": nil, "updated_at": s.now()})
	if off.Error != nil {
		return off.Error
	}
	return tx.Where("user_id = ?", userID).Delete(&models.RecoveryCode{}).Error
}

// changed records a change of a user's account and tells them of it.
func (s *Service) changed(tx *models.Tx, user User, kind LetterKind, action string) error {
	if err := s.auditUser(tx, user.ID, action, nil); err != nil {
		return err
	}
	return s.queueLetter(tx, Letter{Kind: kind, To: user, URL: s.Base + accountPath})
}

// entry is what a right password is worth.
func (s *Service) entry(row models.User) Entry {
	e := Entry{User: known(row)}
	if e.User.SecondFactor {
		at := strconv.FormatInt(s.now().Unix(), 10)
		e.Pending = strings.Join([]string{strconv.FormatInt(row.ID, 10), at, s.pendingSum(row, at)}, ".")
	}
	return e
}

// pendingSum binds a half sign-in to the password it was made with.
func (s *Service) pendingSum(row models.User, at string) string {
	return s.secret.Hash("pending sign-in", fmt.Sprintf("%d %s %s", row.ID, at, row.PasswordHash))
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
	if len(rows) == 0 || sum != s.pendingSum(rows[0], at) || s.now().Sub(time.Unix(seconds, 0)) > pendingTime {
		return User{}, 0, errPending
	}
	left, err = s.useCode(ctx, userID, code, ip)
	return known(rows[0]), left, err
}

// useCode takes a code of the app or a recovery code, which then is used up.
func (s *Service) useCode(ctx context.Context, userID int64, code, ip string) (left int, err error) {
	address, guess := s.addressKey(ip), s.attemptKey("code", strconv.FormatInt(userID, 10))
	if err := s.countMinute(ctx, address, perAddress); err != nil {
		return 0, err
	}
	if err := s.countGuess(ctx, guess, s.now()); err != nil {
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
			return s.auditAct(tx, userID, audit.Act{Action: "user.code_refused", Refused: true})
		}
		return err
	})
	if err == nil && !accepted {
		err = errCode
	}
	if err == nil {
		s.forgive(ctx, address, guess)
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
	step, ok := s.stepOf(secret, code)
	if !ok {
		return false, nil
	}
	used := tx.Model(&models.User{}).Where("id = ? AND totp_step < ?", userID, step).Update("totp_step", step)
	return used.RowsAffected == 1, used.Error
}

// stepOf is the step that a code is of, at most totpSkew away from now.
func (s *Service) stepOf(secret []byte, code string) (step int64, ok bool) {
	now := s.now().Unix() / int64(totpStep/time.Second)
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
