package account

import (
	"context"
	"slices"

	"gorm.io/gorm/clause"

	"cointill/core/account/auth"
	"cointill/core/audit"
	"cointill/core/contact"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

// Invited is an invitation as its reader sees it.
type Invited struct {
	Business string
	Email    string
	Role     scope.Role
	By       string // name of who invited; "" when they are gone
	// User is the user with this address, who signs in to accept; 0 for none.
	User int64
}

var errInvitation = fault.New(fault.Gone, "invitation_over",
	"This invitation is no longer valid: it was accepted, revoked, sent again, or is older than seven days. Ask for "+
		"a new one.")

// FindInvitation is what a link invites to; Gone for a link that is over.
func (s *Service) FindInvitation(ctx context.Context, token string) (Invited, error) {
	_, in, err := s.invited(s.db.Read(ctx), token)
	return in, err
}

func (s *Service) invited(tx *models.Tx, token string) (models.Invitation, Invited, error) {
	var rows []models.Invitation
	if err := tx.Where("hash = ? AND expires_at > ?", auth.HashToken(token), s.now()).Limit(1).
		Find(&rows).Error; err != nil {
		return models.Invitation{}, Invited{}, err
	}
	if len(rows) == 0 {
		return models.Invitation{}, Invited{}, errInvitation
	}
	row := rows[0]
	var business models.Business
	if err := tx.Where("id = ?", row.BusinessID).Take(&business).Error; err != nil {
		return row, Invited{}, fault.MissingRow(err, "business")
	}
	in := Invited{Business: business.Name, Email: row.Email, Role: scope.Role(row.Role)}
	var users []models.User
	if err := tx.Where("id = ? OR email = ?", row.InvitedBy, row.Email).Limit(2).Find(&users).Error; err != nil {
		return row, Invited{}, err
	}
	for _, user := range users {
		if user.ID == row.InvitedBy {
			in.By = user.Name
		}
		if user.Email == row.Email {
			in.User = user.ID
		}
	}
	return row, in, nil
}

// Newcomer is what the form of an invitation asks for.
type Newcomer struct {
	Name, Password string
	Language       string // "" for none
}

// AcceptAsNew makes the reader of an invitation a user and a member. Invalid (name, password),
// Gone for a link that is over, Conflict (sign_in_to_accept) when a user has the address
// already, Forbidden (operator_address) for an operator's.
func (s *Service) AcceptAsNew(ctx context.Context, token string, n Newcomer) (auth.User, int64, error) {
	in, err := s.FindInvitation(ctx, token)
	if err != nil {
		return auth.User{}, 0, err
	}
	if slices.Contains(s.Operators, in.Email) && in.User == 0 { // without a mail server the inviter has the link
		return auth.User{}, 0, errOperatorAddress
	}
	fields := fault.Fields{}
	fields.AddMessage("name", contact.CheckLabel(n.Name))
	fields.AddMessage("password", auth.CheckPassword(n.Password))
	if err := fault.Validation(fields); err != nil {
		return auth.User{}, 0, err
	}
	if in.User != 0 {
		return auth.User{}, 0, errSignInToAccept
	}
	hash, err := s.Auth.HashPassword(ctx, n.Password)
	if err != nil {
		return auth.User{}, 0, err
	}
	var user models.User
	var business int64
	err = s.db.Write(ctx, func(tx *models.Tx) error {
		now := s.now()
		row, _, err := s.invited(tx, token)
		if err != nil {
			return err
		}
		user = models.User{Email: row.Email, Name: n.Name, PasswordHash: hash, Language: n.Language, CreatedAt: now,
			UpdatedAt: now}
		made := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&user)
		if made.Error != nil {
			return made.Error
		}
		if made.RowsAffected == 0 {
			return errSignInToAccept
		}
		business = row.BusinessID
		return s.join(tx, row, user)
	})
	return auth.DescribeUser(user), business, err
}

var errSignInToAccept = fault.New(fault.Conflict, "sign_in_to_accept",
	"You already have an account here. Sign in to accept.")

// Accept makes a signed-in user a member, and gives the business. Gone for a
// link that is over; Conflict (other_user) when the invitation is for another address.
func (s *Service) Accept(ctx context.Context, token string, userID int64) (business int64, err error) {
	err = s.db.Write(ctx, func(tx *models.Tx) error {
		row, in, err := s.invited(tx, token)
		if err != nil {
			return err
		}
		if in.User != userID || userID == 0 {
			return fault.New(fault.Conflict, "other_user",
				"This invitation is for %s. Sign in with that address to accept it.", row.Email)
		}
		var user models.User
		if err := tx.Where("id = ?", userID).Take(&user).Error; err != nil {
			return fault.MissingRow(err, "user")
		}
		business = row.BusinessID
		return s.join(tx, row, user)
	})
	return business, err
}

// join uses an invitation up and makes its user a member.
func (s *Service) join(tx *models.Tx, row models.Invitation, user models.User) error {
	if err := lockBusiness(tx, row.BusinessID); err != nil {
		return err
	}
	used := tx.Where("hash = ?", row.Hash).Delete(&models.Invitation{})
	if used.Error == nil && used.RowsAffected == 0 {
		return errInvitation
	}
	if used.Error != nil {
		return used.Error
	}
	now := s.now()
	member := models.Member{BusinessID: row.BusinessID, UserID: user.ID, Role: row.Role, CreatedAt: now}
	made := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&member)
	if made.RowsAffected == 0 { // a member already, or an error
		return made.Error
	}
	sc := scope.Scope{BusinessID: row.BusinessID, Domain: scope.Live, Actor: auth.ActorOf(user.ID)}
	return audit.Record(tx, sc, now, "member.joined", user.Email, map[string]string{"role": row.Role})
}
