package auth

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"

	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/core/scope"
	"cointill/models"
)

// Factors is the second factors of users, with their recovery codes. Make one with NewFactors.
type Factors struct{ users *Service }

// NewFactors makes it.
func NewFactors(users *Service) *Factors { return &Factors{users} }

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
var errCode = fault.New(fault.Unauthenticated, "code_refused", "%s", codeRefused)

var codeRefused = fault.NewMessage("This code is wrong or was already used. Wait for the next one, or use a " +
	"recovery code.")

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
func (f *Factors) BeginSecondFactor(ctx context.Context, sc scope.Scope, p Proof) (Setup, error) {
	user, err := f.users.own(ctx, sc, p)
	if err != nil {
		return Setup{}, err
	}
	if user.SecondFactor {
		return Setup{}, errHasFactor
	}
	plain := sealedSetup{Secret: ident.RandomBytes(20), At: f.users.now()}
	text, err := json.Marshal(plain)
	if err != nil {
		return Setup{}, err
	}
	return describeSetup(user, plain.Secret, ident.Encode(f.users.secret.Seal(setupPlace(user.ID), text)))
}

var errHasFactor = fault.New(fault.Conflict, "second_factor_on",
	"Two-factor authentication is already on. Switch it off first to set it up again.")

func describeSetup(user User, secret []byte, sealed string) (Setup, error) {
	key, err := totp.Generate(totp.GenerateOpts{Issuer: "Cointill", AccountName: user.Email, Secret: secret})
	if err != nil {
		return Setup{}, err
	}
	return Setup{URL: key.URL(), Key: key.Secret(), Sealed: sealed}, nil
}

// ResumeSecondFactor is the setup again that BeginSecondFactor sealed for the
// user of a scope. Conflict (setup_expired) when it is another's or older than an hour.
func (f *Factors) ResumeSecondFactor(ctx context.Context, sc scope.Scope, sealed string) (Setup, error) {
	user, secret, err := f.openSetup(ctx, sc, sealed)
	if err != nil {
		return Setup{}, err
	}
	return describeSetup(user, secret, sealed)
}

func (f *Factors) openSetup(ctx context.Context, sc scope.Scope, sealed string) (User, []byte, error) {
	userID, err := FindActor(sc)
	if err != nil {
		return User{}, nil, err
	}
	var row models.User
	if err := f.users.db.Read(ctx).Where("id = ?", userID).Take(&row).Error; err != nil {
		return User{}, nil, fault.MissingRow(err, "user")
	}
	expired := fault.New(fault.Conflict, "setup_expired", "The setup has expired. Start again with a new QR code.")
	raw, _ := ident.Decode(sealed) // a text that is not base64 fails to open below
	text, err := f.users.secret.Open(setupPlace(userID), raw)
	if err != nil {
		return User{}, nil, expired
	}
	var plain sealedSetup
	if err := json.Unmarshal(text, &plain); err != nil {
		return User{}, nil, err
	}
	if f.users.now().Sub(plain.At) > setupTime {
		return User{}, nil, expired
	}
	return DescribeUser(row), plain.Secret, nil
}

// ConfirmSecondFactor switches a second factor on with a code of it, ends the
// user's other sessions, which were opened without one, and gives the recovery
// codes, once. session is the key of the session that stays. Invalid (code),
// Limited, Conflict as ResumeSecondFactor or when the user has one already.
func (f *Factors) ConfirmSecondFactor(ctx context.Context, sc scope.Scope, sealed, code, session, ip string) ([]string,
	error) {
	user, secret, err := f.openSetup(ctx, sc, sealed)
	if err != nil {
		return nil, err
	}
	address, guess := f.users.tries.addressKey(ip), f.users.tries.attemptKey("code", strconv.FormatInt(user.ID, 10))
	if err := f.users.tries.countMinute(ctx, address, perAddress); err != nil {
		return nil, err
	}
	if err := f.users.tries.countGuess(ctx, guess, f.users.now()); err != nil {
		return nil, err
	}
	step, ok := findStep(f.users.now(), secret, plainCode(code))
	if !ok {
		return nil, fault.RefuseField("code", "Does not match the code in the app. Check the code and the phone's "+
			"clock.")
	}
	f.users.tries.forgetGuess(ctx, address, guess)
	var codes []string
	err = f.users.db.Write(ctx, func(tx *models.Tx) error {
		now := f.users.now()
		on := tx.Model(&models.User{}).Where("id = ? AND totp_secret IS NULL", user.ID).Updates(map[string]any{
			"totp_secret": f.users.secret.Seal(totpPlace(user.ID), secret), "totp_at": now, "totp_step": step,
			"updated_at": now})
		if on.Error == nil && on.RowsAffected == 0 {
			return errHasFactor
		}
		if on.Error != nil {
			return on.Error
		}
		if codes, err = f.writeRecoveryCodes(tx, user.ID); err != nil {
			return err
		}
		if err := endOthers(tx, user.ID, session); err != nil {
			return err
		}
		return f.users.recordChange(tx, user, FactorOn, "user.second_factor_on")
	})
	f.users.WakeMailer(err)
	return codes, err
}

// RemoveSecondFactor switches the second factor off; faults as Reauthenticate.
func (f *Factors) RemoveSecondFactor(ctx context.Context, sc scope.Scope, p Proof, session string) error {
	user, err := f.users.Reauthenticate(ctx, sc, p)
	if err != nil {
		return err
	}
	err = f.users.db.Write(ctx, func(tx *models.Tx) error {
		if err := dropFactor(tx, f.users.now(), user.ID); err != nil {
			return err
		}
		if err := endOthers(tx, user.ID, session); err != nil {
			return err
		}
		return f.users.recordChange(tx, user, FactorOff, "user.second_factor_off")
	})
	f.users.WakeMailer(err)
	return err
}

// dropFactor takes a second factor away, with its recovery codes.
func dropFactor(tx *models.Tx, now time.Time, userID int64) error {
	off := tx.Model(&models.User{}).Where("id = ?", userID).
		Updates(map[string]any{"totp_secret": nil, "totp_at": nil, "updated_at": now})
	if off.Error != nil {
		return off.Error
	}
	return tx.Where("user_id = ?", userID).Delete(&models.RecoveryCode{}).Error
}
