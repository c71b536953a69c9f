package account

import (
	"context"
	"slices"

	"cointill/core/account/auth"
	"cointill/core/fault"
	"cointill/models"
)

var errOperatorAddress = fault.New(fault.Forbidden, "operator_address",
	"This address is that of who runs this server, and can't be taken with an invitation's link. Ask them to make "+
		"their own account.")

// Operator reports whether a user runs this installation: their address is among
// Operators, and they have a second factor or a passkey, so that a password
// alone opens nothing of it.
func (s *Service) Operator(ctx context.Context, user auth.User) (bool, error) {
	if !slices.Contains(s.Operators, user.Email) {
		return false, nil
	}
	if user.SecondFactor {
		return true, nil
	}
	return auth.HasPasskey(s.db.Read(ctx), user.ID)
}

// OperatorUsers are the users whose addresses are among Operators, for mails to
// them. It may run inside a transaction.
func (s *Service) OperatorUsers(tx *models.Tx) ([]auth.User, error) {
	if len(s.Operators) == 0 {
		return nil, nil
	}
	var rows []models.User
	err := tx.Where("email IN ?", s.Operators).Order("id").Limit(100).Find(&rows).Error
	var list []auth.User
	for _, row := range rows {
		list = append(list, auth.DescribeUser(row))
	}
	return list, err
}
