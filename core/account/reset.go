package account

import (
	"context"
	"strings"

	"gorm.io/gorm/clause"

	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

// ResetPassword gives the owner with an e-mail a new password and ends their
// sessions; it returns their business. It is for the operator. NotFound when
// nobody has the e-mail, Invalid (password) when the new one won't do.
func (s *Service) ResetPassword(ctx context.Context, email, password string) (models.Business, error) {
	if sentence := checkPassword(password); sentence != "" {
		return models.Business{}, fault.Validation(fault.Fields{"password": {sentence}})
	}
	hash, err := s.hashPassword(ctx, password)
	if err != nil {
		return models.Business{}, err
	}
	var business models.Business
	err = s.db.Write(ctx, func(tx *models.Tx) error {
		var user models.User
		if err := tx.Clauses(clause.Returning{}).Model(&user).Where("email = ?", strings.ToLower(email)).
			Updates(map[string]any{"password_hash": hash, "updated_at": s.now()}).Error; err != nil {
			return err
		}
		if user.ID == 0 {
			return fault.Missing("user")
		}
		var member models.Member
		if err := tx.Where("user_id = ?", user.ID).Order("id").Take(&member).Error; err != nil {
			return missing(err, "user")
		}
		if err := tx.Where("id = ?", member.BusinessID).Take(&business).Error; err != nil {
			return err
		}
		if err := tx.Where("user_id = ?", user.ID).Delete(&models.Session{}).Error; err != nil {
			return err
		}
		sc := scope.Scope{BusinessID: business.ID, Domain: scope.Live, Actor: "operator", Role: scope.System}
		return Audit(tx, sc, s.now(), "user.password_reset", user.Email, nil)
	})
	return business, err
}
