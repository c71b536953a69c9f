package auth

import (
	"context"
	"strconv"
	"time"

	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/models"
)

// Recovery codes: as many as fit a card, 50 random bits each.
const (
	recoveryCodes  = 10
	recoveryLength = 10
)

// NewRecoveryCodes replaces the recovery codes of the user of a scope and gives
// the new ones, once. Conflict without a second factor; else as Reauthenticate.
func (f *Factors) NewRecoveryCodes(ctx context.Context, sc scope.Scope, p Proof) (codes []string, err error) {
	user, err := f.users.Reauthenticate(ctx, sc, p)
	if err != nil {
		return nil, err
	}
	if !user.SecondFactor {
		return nil, fault.New(fault.Conflict, "second_factor_off", "Two-factor authentication is off. Set it up first.")
	}
	err = f.users.db.Write(ctx, func(tx *models.Tx) error {
		if codes, err = f.writeRecoveryCodes(tx, user.ID); err != nil {
			return err
		}
		return f.users.auditUser(tx, user.ID, "user.recovery_codes_made", nil)
	})
	return codes, err
}

// Factor is how a user's second factor stands.
type Factor struct {
	On    bool
	Since time.Time // when it was switched on
	Left  int       // recovery codes that were not used
}

// SecondFactor tells how the second factor of the user of a scope stands.
func (f *Factors) SecondFactor(ctx context.Context, sc scope.Scope) (Factor, error) {
	userID, err := FindActor(sc)
	if err != nil {
		return Factor{}, err
	}
	var row models.User
	err = f.users.db.Read(ctx).Where("id = ?", userID).Take(&row).Error
	if row.TOTPAt == nil { // it is off, or an error
		return Factor{}, fault.MissingRow(err, "user")
	}
	left, err := unused(f.users.db.Read(ctx), userID)
	return Factor{On: true, Since: *row.TOTPAt, Left: left}, err
}

func unused(tx *models.Tx, userID int64) (int, error) {
	var left int64
	err := tx.Model(&models.RecoveryCode{}).Where("user_id = ? AND used_at IS NULL", userID).Count(&left).Error
	return int(left), err
}

// writeRecoveryCodes makes a user's recovery codes in place of those before.
func (f *Factors) writeRecoveryCodes(tx *models.Tx, userID int64) ([]string, error) {
	if err := tx.Where("user_id = ?", userID).Delete(&models.RecoveryCode{}).Error; err != nil {
		return nil, err
	}
	codes, rows := make([]string, recoveryCodes), make([]models.RecoveryCode, recoveryCodes)
	for i := range codes {
		code := ident.RandomText(recoveryLength)
		codes[i] = code[:recoveryLength/2] + "-" + code[recoveryLength/2:]
		rows[i] = models.RecoveryCode{UserID: userID, Hash: hashRecoveryCode(f.users.secret, userID, code),
			CreatedAt: f.users.now()}
	}
	return codes, tx.Create(&rows).Error
}

// useRecoveryCode uses a code up, and tells how many are left.
func (s *Service) useRecoveryCode(tx *models.Tx, userID int64, code string) (left int, ok bool, err error) {
	used := tx.Model(&models.RecoveryCode{}).Where("user_id = ? AND hash = ? AND used_at IS NULL", userID,
		hashRecoveryCode(s.secret, userID, code)).
		Update("used_at", s.now())
	if used.RowsAffected == 0 { // none such, or an error
		return 0, false, used.Error
	}
	if left, err = unused(tx, userID); err != nil {
		return 0, false, err
	}
	return left, true, s.auditUser(tx, userID, "user.recovery_code_used", map[string]int{"left": left})
}

func hashRecoveryCode(box *secret.Box, userID int64, code string) string {
	return box.Hash("recovery code", strconv.FormatInt(userID, 10)+" "+code)
}
