package account

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

// Reauthenticate asks the user who acts in a scope for their password again,
// before an act that a stolen session must not reach. Tries are counted and
// slowed down together with the user's sign-ins. Invalid (password) when it is
// another, Limited after wrong ones in a row, Forbidden for who is no user.
func (s *Service) Reauthenticate(ctx context.Context, sc scope.Scope, password, ip string) (User, error) {
	id, isUser := strings.CutPrefix(sc.Actor, "user:")
	userID, err := strconv.ParseInt(id, 10, 64)
	if !isUser || err != nil {
		return User{}, fault.New(fault.Forbidden, "role_not_allowed", "Only a person with a password may do this.")
	}
	if password == "" {
		return User{}, fault.Validation(fault.Fields{"password": {"Is required."}})
	}
	var row models.User
	if err := s.db.Read(ctx).Where("id = ?", userID).Take(&row).Error; err != nil {
		return User{}, missing(err, "user")
	}
	user, err := s.SignIn(ctx, Credentials{Email: row.Email, Password: password, IP: ip})
	var f *fault.Fault
	switch {
	case errors.As(err, &f) && f.Kind == fault.Unauthenticated:
		return User{}, fault.Validation(fault.Fields{"password": {"Is not your password."}})
	case errors.As(err, &f) && f.Kind == fault.Limited:
		slower := *f
		slower.Sentence = "Too many tries in a short time. Wait a moment, then type your password again."
		return User{}, &slower
	}
	return user, err
}

// Owners lists the owners of a business, in the order in which they came. It
// may run inside a transaction.
func Owners(tx *models.Tx, businessID int64) ([]User, error) {
	var rows []models.User
	err := tx.Joins("JOIN members ON members.user_id = users.id").
		Where("members.business_id = ? AND members.role = ?", businessID, string(scope.Owner)).Order("members.id").Find(&rows).Error
	var owners []User
	for _, row := range rows {
		owners = append(owners, User{ID: row.ID, Name: row.Name, Email: row.Email})
	}
	return owners, err
}
