package account

import (
	"context"
	"time"

	"cointill/core/account/auth"
	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

// Teammate is a member of a business as the others see them.
type Teammate struct {
	User  auth.User
	Role  scope.Role
	Since time.Time
}

// Team lists the members of the scope's business, in the order in which they came.
func (s *Service) Team(ctx context.Context, sc scope.Scope) ([]Teammate, error) {
	if err := sc.CheckAction(scope.ManageBusiness); err != nil {
		return nil, err
	}
	var members []models.Member
	if err := s.db.Read(ctx).Where("business_id = ?", sc.BusinessID).Order("id").Find(&members).Error; err != nil {
		return nil, err
	}
	var users []models.User
	err := s.db.Read(ctx).Joins("JOIN members ON members.user_id = users.id").
		Where("members.business_id = ?", sc.BusinessID).Find(&users).Error
	if err != nil {
		return nil, err
	}
	byID := map[int64]models.User{}
	for _, user := range users {
		byID[user.ID] = user
	}
	var team []Teammate
	for _, m := range members {
		team = append(team, Teammate{User: auth.DescribeUser(byID[m.UserID]), Role: scope.Role(m.Role),
			Since: m.CreatedAt})
	}
	return team, nil
}

// SetRole changes the role of a member of the scope's business, from their next request on.
// Invalid (role), NotFound when they are no member any more, Conflict (last_owner), Forbidden
// for roles that may not change it, and for an admin about owners.
func (s *Service) SetRole(ctx context.Context, sc scope.Scope, userID int64, role scope.Role) error {
	if err := grant(sc, role); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *models.Tx) error {
		member, user, err := s.teammate(tx, sc, userID)
		if err != nil || member.Role == string(role) {
			return err
		}
		if err := s.keepOwner(tx, member); err != nil {
			return err
		}
		if err := tx.Model(&models.Member{}).Where("id = ?", member.ID).
			Updates(map[string]any{"role": string(role), "role_since": s.now()}).Error; err != nil {
			return err
		}
		if err := s.dropInvitations(tx, sc, userID, role); err != nil {
			return err
		}
		return audit.Record(tx, sc, s.now(), "member.role_changed", user.Email,
			map[string]string{"before": member.Role, "after": string(role)})
	})
}

// RemoveMember ends a membership: it counts from the next request on. Faults as SetRole.
func (s *Service) RemoveMember(ctx context.Context, sc scope.Scope, userID int64) error {
	if err := sc.CheckAction(scope.ManageBusiness); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *models.Tx) error {
		member, user, err := s.teammate(tx, sc, userID)
		if err != nil {
			return err
		}
		if err := s.keepOwner(tx, member); err != nil {
			return err
		}
		if err := tx.Where("id = ?", member.ID).Delete(&models.Member{}).Error; err != nil {
			return err
		}
		if err := s.dropInvitations(tx, sc, userID, ""); err != nil {
			return err
		}
		return audit.Record(tx, sc, s.now(), "member.removed", user.Email, map[string]string{"before": member.Role})
	})
}

// teammate finds a member, once no other change of the team is under way.
func (s *Service) teammate(tx *models.Tx, sc scope.Scope, userID int64) (models.Member, models.User, error) {
	var member models.Member
	var user models.User
	if err := lockBusiness(tx, sc.BusinessID); err != nil {
		return member, user, err
	}
	if err := tx.Where("business_id = ? AND user_id = ?", sc.BusinessID, userID).Take(&member).Error; err != nil {
		return member, user, fault.MissingRow(err, "member")
	}
	if err := grant(sc, scope.Role(member.Role)); err != nil {
		return member, user, err
	}
	err := tx.Where("id = ?", userID).Take(&user).Error
	return member, user, fault.MissingRow(err, "user")
}

// keepOwner refuses to take the last owner from a business.
func (s *Service) keepOwner(tx *models.Tx, member models.Member) error {
	if member.Role != string(scope.Owner) {
		return nil
	}
	var owners int64
	err := tx.Model(&models.Member{}).Where("business_id = ? AND role = ?", member.BusinessID, string(scope.Owner)).
		Count(&owners).Error
	if err == nil && owners < 2 {
		return fault.New(fault.Conflict, "last_owner", "A business needs an owner. Make another member an owner first.")
	}
	return err
}

// dropInvitations takes back what a member had invited others to and could no
// longer offer, now that their role is another one.
func (s *Service) dropInvitations(tx *models.Tx, sc scope.Scope, userID int64, role scope.Role) error {
	still := []string{""} // no role: an empty list would be no condition
	for _, r := range Grantable(role) {
		still = append(still, string(r))
	}
	return tx.Where("business_id = ? AND invited_by = ? AND role NOT IN ?", sc.BusinessID, userID, still).
		Delete(&models.Invitation{}).Error
}

// Owners lists the owners of a business, in the order in which they came. It
// may run inside a transaction.
func Owners(tx *models.Tx, businessID int64) ([]auth.User, error) {
	var rows []models.User
	err := tx.Joins("JOIN members ON members.user_id = users.id").
		Where("members.business_id = ? AND members.role = ?", businessID, string(scope.Owner)).Order("members.id").
		Find(&rows).Error
	var owners []auth.User
	for _, row := range rows {
		owners = append(owners, auth.DescribeUser(row))
	}
	return owners, err
}

// Refused records that a member was refused a page of the dashboard or an action on it.
func (s *Service) Refused(ctx context.Context, sc scope.Scope, method, path string) error {
	return s.db.Write(ctx, func(tx *models.Tx) error {
		return audit.AppendAct(tx, sc, s.now(), audit.Act{Action: "access.refused", Subject: path,
			Detail: map[string]string{"method": method, "role": string(sc.Role)}, Refused: true})
	})
}
