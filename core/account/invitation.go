package account

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/account/auth"
	"cointill/core/audit"
	"cointill/core/contact"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/ident"
	"cointill/core/scope"
	"cointill/models"
)

const (
	invitationTime = 7 * 24 * time.Hour
	keepInvitation = 30 * 24 * time.Hour // listed as over, to be sent again
	mostOpen       = 100                 // invitations of a business
)

// Invitation is an open invitation of a person to a business.
type Invitation struct {
	ID        int64
	Email     string
	Role      scope.Role
	By        string // name of who invited; "" when they are gone
	SentAt    time.Time
	ExpiresAt time.Time
	// Link is the address that the mail carries.
	Link string
	// Mail is the state of that mail: pending, sent, kept, failed or unknown, as in
	// core/mail; empty when none was written or it is no longer kept.
	Mail string
	// MailWhy is a sentence on what went wrong with it last; "" for nothing.
	MailWhy string
}

// Grantable lists the roles that a role may give and take, most powerful first:
// an admin has no say about owners (contract section 9).
func Grantable(role scope.Role) []scope.Role {
	switch role {
	case scope.Owner, scope.System:
		return []scope.Role{scope.Owner, scope.Admin, scope.Finance, scope.Developer, scope.Till}
	case scope.Admin:
		return []scope.Role{scope.Admin, scope.Finance, scope.Developer, scope.Till}
	}
	return nil
}

var errOwners = fault.New(fault.Forbidden, "owners_only", "Only an owner can manage owners.")

// grant refuses a role that the scope's role may not give or take.
func grant(sc scope.Scope, role scope.Role) error {
	if err := sc.CheckAction(scope.ManageBusiness); err != nil {
		return err
	}
	if slices.Contains(Grantable(sc.Role), role) {
		return nil
	}
	if role == scope.Owner {
		return errOwners
	}
	return fault.RefuseField("role", "Choose one of the roles.")
}

// Invite invites a person to the scope's business and mails them a link, valid for seven days.
// A person who is invited already gets the new role and a new link. Invalid (email, role),
// Conflict (is_member, too_many_invitations), Forbidden for roles that may not invite, and for
// an admin about owners.
func (s *Service) Invite(ctx context.Context, sc scope.Scope, email string, role scope.Role) (Invitation, error) {
	email = strings.ToLower(strings.TrimSpace(email))
	if err := grant(sc, role); err != nil && fault.KindOf(err) != fault.Invalid {
		return Invitation{}, err
	}
	fields := fault.Fields{}
	fields.AddMessage("email", contact.CheckEmail(email))
	if grant(sc, role) != nil {
		fields.Add("role", "Choose one of the roles.")
	}
	if err := fault.Validation(fields); err != nil {
		return Invitation{}, err
	}
	by, err := auth.FindActor(sc)
	if err != nil {
		return Invitation{}, err
	}
	made, err := idempotency.Do(ctx, s.db, func(tx *models.Tx) (Invitation, error) {
		if err := s.mayInvite(tx, sc, email); err != nil {
			return Invitation{}, err
		}
		row := models.Invitation{BusinessID: sc.BusinessID, Email: email, Role: string(role), InvitedBy: by,
			CreatedAt: s.now()}
		return s.send(tx, sc, row, "member.invited")
	})
	s.Auth.WakeMailer(err)
	return made, err
}

func (s *Service) mayInvite(tx *models.Tx, sc scope.Scope, email string) error {
	if err := lockBusiness(tx, sc.BusinessID); err != nil {
		return err
	}
	var members, open int64
	err := tx.Model(&models.Member{}).Joins("JOIN users ON users.id = members.user_id").
		Where("members.business_id = ? AND users.email = ?", sc.BusinessID, email).Count(&members).Error
	if err != nil {
		return err
	}
	if members > 0 {
		return fault.New(fault.Conflict, "is_member", "A user with this address is already in the team.")
	}
	var present []models.Invitation
	if err := tx.Where("business_id = ? AND email = ?", sc.BusinessID, email).Find(&present).Error; err != nil {
		return err
	}
	for _, row := range present {
		if err := grant(sc, scope.Role(row.Role)); err != nil {
			return err // an admin takes no owner's invitation back by sending another
		}
	}
	if err := tx.Model(&models.Invitation{}).Where("business_id = ? AND email <> ?", sc.BusinessID, email).
		Count(&open).Error; err != nil {
		return err
	}
	if open >= mostOpen {
		return fault.New(fault.Conflict, "too_many_invitations", "There are 100 open invitations. Revoke some first.")
	}
	return nil
}

// send stores an invitation with a new link in place of the previous one, and mails it.
func (s *Service) send(tx *models.Tx, sc scope.Scope, row models.Invitation, action string) (Invitation, error) {
	now := s.now()
	row.Seed, row.SentAt, row.ExpiresAt = auth.NewSeed(), now, now.Add(invitationTime)
	row.Hash, row.Mail = auth.HashToken(s.Auth.TicketToken(row.Seed)), ident.New("invitation ")
	err := tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "business_id"}, {Name: "email"}},
		DoUpdates: clause.AssignmentColumns([]string{"role", "seed", "hash", "invited_by", "sent_at", "expires_at",
			"mail"})}).Create(&row).Error
	if err != nil {
		return Invitation{}, err
	}
	detail := map[string]string{"role": row.Role}
	if err := audit.Record(tx, sc, now, action, row.Email, detail); err != nil {
		return Invitation{}, err
	}
	var business models.Business
	if err := tx.Where("id = ?", row.BusinessID).Take(&business).Error; err != nil {
		return Invitation{}, err
	}
	var by models.User
	if err := tx.Where("id = ?", row.InvitedBy).Take(&by).Error; err != nil {
		return Invitation{}, fault.MissingRow(err, "user")
	}
	letter := auth.Letter{Kind: auth.InviteSent, To: auth.User{Email: row.Email}, By: auth.DescribeUser(by),
		Business: business.Name,
		Role:     scope.Role(row.Role),
		Until:    row.ExpiresAt, URL: s.Auth.Base + invitationPath + row.Seed}
	return s.shown(row, by.Name), s.Auth.QueueLetterAbout(tx, letter, row.Mail)
}

const invitationPath = "/invitation/"

func (s *Service) shown(row models.Invitation, by string) Invitation {
	return Invitation{ID: row.ID, Email: row.Email, Role: scope.Role(row.Role), By: by, SentAt: row.SentAt,
		ExpiresAt: row.ExpiresAt,
		Link:      s.Auth.Base + invitationPath + s.Auth.TicketToken(row.Seed)}
}

// Invitations lists who was asked into the scope's business and hasn't come, at
// most 100, the latest first.
func (s *Service) Invitations(ctx context.Context, sc scope.Scope) ([]Invitation, error) {
	if err := sc.CheckAction(scope.ManageBusiness); err != nil {
		return nil, err
	}
	var rows []models.Invitation
	if err := s.db.Read(ctx).Where("business_id = ?", sc.BusinessID).Order("sent_at DESC, id DESC").Limit(mostOpen).
		Find(&rows).Error; err != nil {
		return nil, err
	}
	var ids []int64
	for _, row := range rows {
		ids = append(ids, row.InvitedBy)
	}
	var users []models.User
	if err := s.db.Read(ctx).Where("id IN ?", ids).Find(&users).Error; err != nil {
		return nil, err
	}
	names := map[int64]string{}
	for _, user := range users {
		names[user.ID] = user.Name
	}
	mails, err := s.invitationMails(ctx, rows)
	if err != nil {
		return nil, err
	}
	var list []Invitation
	for _, row := range rows {
		shown := s.shown(row, names[row.InvitedBy])
		if mail, ok := mails[row.Mail]; ok {
			shown.Mail, shown.MailWhy = cmp.Or(mail.Outcome, "pending"), mail.LastError
		}
		list = append(list, shown)
	}
	return list, nil
}

// invitationMails returns the mails of invitations by their subject.
func (s *Service) invitationMails(ctx context.Context, rows []models.Invitation) (map[string]models.Mail, error) {
	var about []string
	for _, row := range rows {
		about = append(about, row.Mail) // "" is about none
	}
	var mails []models.Mail
	err := s.db.Read(ctx).Select("about", "outcome", "last_error").
		Where("kind = ? AND about IN ?", auth.MailKind(auth.InviteSent), about).Find(&mails).Error
	found := map[string]models.Mail{}
	for _, mail := range mails {
		found[mail.About] = mail
	}
	return found, err
}

// invitation finds an invitation of the scope's business, and refuses roles that may not
// decide about it.
func (s *Service) invitation(tx *models.Tx, sc scope.Scope, id int64) (models.Invitation, error) {
	var row models.Invitation
	if err := tx.Where("id = ? AND business_id = ?", id, sc.BusinessID).Take(&row).Error; err != nil {
		return row, fault.MissingRow(err, "invitation")
	}
	return row, grant(sc, scope.Role(row.Role))
}

// ResendInvitation mails a new link in place of the one before. NotFound when it
// was accepted or taken back meanwhile; Forbidden as Invite.
func (s *Service) ResendInvitation(ctx context.Context, sc scope.Scope, id int64) (Invitation, error) {
	if err := sc.CheckAction(scope.ManageBusiness); err != nil {
		return Invitation{}, err
	}
	by, err := auth.FindActor(sc)
	if err != nil {
		return Invitation{}, err
	}
	made, err := idempotency.Do(ctx, s.db, func(tx *models.Tx) (Invitation, error) {
		if err := lockBusiness(tx, sc.BusinessID); err != nil {
			return Invitation{}, err
		}
		row, err := s.invitation(tx, sc, id)
		if err != nil {
			return Invitation{}, err
		}
		row.InvitedBy = by
		return s.send(tx, sc, row, "invitation.resent")
	})
	s.Auth.WakeMailer(err)
	return made, err
}

// RevokeInvitation takes an invitation back: its link works no more. Faults as ResendInvitation.
func (s *Service) RevokeInvitation(ctx context.Context, sc scope.Scope, id int64) error {
	if err := sc.CheckAction(scope.ManageBusiness); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *models.Tx) error {
		if err := lockBusiness(tx, sc.BusinessID); err != nil {
			return err
		}
		row, err := s.invitation(tx, sc, id)
		if err != nil {
			return err
		}
		if err := tx.Where("id = ?", row.ID).Delete(&models.Invitation{}).Error; err != nil {
			return err
		}
		return audit.Record(tx, sc, s.now(), "invitation.revoked", row.Email, map[string]string{"role": row.Role})
	})
}

// lockBusiness makes changes of one business's team wait for one another.
func lockBusiness(tx *models.Tx, id int64) error {
	var business models.Business
	return fault.MissingRow(
		tx.Clauses(clause.Locking{Strength: "NO KEY UPDATE"}).Where("id = ?", id).Take(&business).Error,
		"business",
	)
}

// Sweep deletes invitations that ended long ago. Run it now and then.
func (s *Service) Sweep(ctx context.Context) error {
	return s.db.Exec(ctx).Where("expires_at <= ?", s.now().Add(-keepInvitation)).Delete(&models.Invitation{}).Error
}
