package auth

import (
	"context"
	"strings"
	"time"

	"cointill/core/audit"
	"cointill/core/contact"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

// ResetPassword gives the owner with an e-mail address a new password and ends their sessions.
// It returns their business. It is for the operator. NotFound when no owner has the address,
// Invalid (password) for a refused password.
func (s *Service) ResetPassword(ctx context.Context, email, password string) (models.Business, error) {
	if sentence := CheckPassword(password); !sentence.IsZero() {
		return models.Business{}, fault.Validation(fault.Fields{"password": {sentence}})
	}
	hash, err := s.hashPassword(ctx, password, anonymousLane)
	if err != nil {
		return models.Business{}, err
	}
	var business models.Business
	err = s.db.Write(ctx, func(tx *models.Tx) error {
		var user models.User
		if err := tx.Where("email = ?", strings.ToLower(email)).Take(&user).Error; err != nil {
			return fault.MissingRow(err, "user")
		}
		var member models.Member
		if err := tx.Where("user_id = ?", user.ID).Order("id").Take(&member).Error; err != nil {
			return fault.MissingRow(err, "user")
		}
		if err := tx.Where("id = ?", member.BusinessID).Take(&business).Error; err != nil {
			return err
		}
		if err := s.replacePassword(tx, user.ID, hash, ""); err != nil {
			return err
		}
		sc := scope.Scope{BusinessID: business.ID, Domain: scope.Live, Actor: "operator", Role: scope.System}
		return audit.Record(tx, sc, s.now(), "user.password_reset", user.Email, nil)
	})
	return business, err
}

// ResetFactor switches off the second factor of the user with an e-mail address and removes
// their passkeys, because an unknown person may hold them. It is for the operator. NotFound
// when no user has the address.
func (s *Service) ResetFactor(ctx context.Context, email string) error {
	return s.db.Write(ctx, func(tx *models.Tx) error {
		var user models.User
		if err := tx.Where("email = ?", strings.ToLower(email)).Take(&user).Error; err != nil {
			return fault.MissingRow(err, "user")
		}
		if err := dropFactor(tx, s.now(), user.ID); err != nil {
			return err
		}
		if err := tx.Where("user_id = ?", user.ID).Delete(&models.Passkey{}).Error; err != nil {
			return err
		}
		return s.auditUser(tx, user.ID, "user.second_factor_reset", map[string]string{"by": "operator"})
	})
}

// replacePassword stores a new password. What the old one opened is closed: the
// sessions but the one with the key, links in mails, and browsers that were known.
func (s *Service) replacePassword(tx *models.Tx, userID int64, hash, session string) error {
	err := tx.Model(&models.User{}).Where("id = ?", userID).
		Updates(map[string]any{"password_hash": hash, "updated_at": s.now()}).Error
	if err == nil {
		err = endOthers(tx, userID, session)
	}
	if err == nil {
		err = tx.Where("user_id = ?", userID).Delete(&models.Ticket{}).Error
	}
	if err == nil && session == "" {
		err = tx.Where("user_id = ?", userID).Delete(&models.Device{}).Error
	}
	return err
}

// Links that mails carry.
const (
	ticketReset = "reset"
	ticketEmail = "email"
	resetTime   = time.Hour
	emailTime   = 24 * time.Hour
	resetRest   = time.Minute // between two mails to one address
)

var errTicket = fault.New(fault.Gone, "mail_link_over",
	"This link is no longer valid: it was used, replaced by a newer one, or is too old. Request a new one.")

// AskReset mails the user with an e-mail address a link to choose a new password. Neither its
// answer nor its duration reveals whether there is such a user. Invalid (email) for a
// malformed address; Limited when one address asks often.
func (s *Service) AskReset(ctx context.Context, email, ip string) error {
	wait := startAnswerTimer(s.AnswerInterval)
	email = strings.ToLower(strings.TrimSpace(email))
	if sentence := contact.CheckEmail(email); !sentence.IsZero() {
		return fault.Validation(fault.Fields{"email": {sentence}})
	}
	if err := s.tries.countMinute(ctx, s.tries.addressKey(ip), perAddress); err != nil {
		return err
	}
	var users []models.User
	if err := s.db.Read(ctx).Where("email = ?", email).Limit(1).Find(&users).Error; err != nil {
		return err
	}
	var user models.User
	if len(users) > 0 {
		user = users[0]
	}
	now, seed := s.now(), NewSeed()
	err := s.db.Write(ctx, func(tx *models.Tx) error {
		var recent int64
		err := tx.Model(&models.Ticket{}).Where("user_id = ? AND kind = ? AND created_at > ?", user.ID, ticketReset,
			now.Add(-resetRest)).Count(&recent).Error
		if err != nil || recent > 0 && user.ID != 0 {
			return err
		}
		row := models.Ticket{UserID: user.ID, Kind: ticketReset, Hash: HashToken(s.TicketToken(seed)), CreatedAt: now,
			ExpiresAt: now.Add(resetTime)}
		if err := writeTicket(tx, row); err != nil || user.ID == 0 {
			return err
		}
		if err := s.auditUser(tx, user.ID, "user.password_reset_asked", map[string]string{"from": ip}); err != nil {
			return err
		}
		return s.queueLetter(tx, Letter{Kind: Reset, To: DescribeUser(user), IP: ip, Until: row.ExpiresAt,
			URL: s.Base + "/reset/" + seed})
	})
	s.WakeMailer(err)
	wait(ctx)
	return err
}

// writeTicket makes a ticket in place of the user's others of its kind.
func writeTicket(tx *models.Tx, row models.Ticket) error {
	if err := tx.Where("user_id = ? AND kind = ?", row.UserID, row.Kind).Delete(&models.Ticket{}).Error; err != nil {
		return err
	}
	return tx.Create(&row).Error
}

// ticket finds what a link lets its reader do; Gone when nothing any more.
func (s *Service) ticket(tx *models.Tx, kind, token string) (models.Ticket, models.User, error) {
	var tickets []models.Ticket
	var users []models.User
	err := tx.Where("hash = ? AND kind = ? AND expires_at > ?", HashToken(token), kind, s.now()).Limit(1).
		Find(&tickets).Error
	if len(tickets) > 0 {
		err = tx.Where("id = ?", tickets[0].UserID).Limit(1).Find(&users).Error
	}
	if err != nil {
		return models.Ticket{}, models.User{}, err
	}
	if len(users) == 0 {
		return models.Ticket{}, models.User{}, errTicket
	}
	return tickets[0], users[0], nil
}

// useTicket deletes a ticket; Gone when another request used it.
func useTicket(tx *models.Tx, row models.Ticket) error {
	used := tx.Where("hash = ?", row.Hash).Delete(&models.Ticket{})
	if used.Error == nil && used.RowsAffected == 0 {
		return errTicket
	}
	return used.Error
}

// FindReset is whose password a link changes. Gone for a link that is over.
func (s *Service) FindReset(ctx context.Context, token string) (User, error) {
	_, user, err := s.ticket(s.db.Read(ctx), ticketReset, token)
	return DescribeUser(user), err
}

// FinishReset gives the user of a link a new password and ends every session of
// theirs. The second factor stays. Invalid (password), Gone for a link that is over.
func (s *Service) FinishReset(ctx context.Context, token, password string) error {
	if _, err := s.FindReset(ctx, token); err != nil {
		return err // before the costly hash
	}
	if sentence := CheckPassword(password); !sentence.IsZero() {
		return fault.Validation(fault.Fields{"password": {sentence}})
	}
	hash, err := s.hashPassword(ctx, password, anonymousLane)
	if err != nil {
		return err
	}
	err = s.db.Write(ctx, func(tx *models.Tx) error {
		row, user, err := s.ticket(tx, ticketReset, token)
		if err != nil {
			return err
		}
		if err := useTicket(tx, row); err != nil {
			return err
		}
		if err := s.replacePassword(tx, user.ID, hash, ""); err != nil {
			return err
		}
		return s.recordChange(tx, DescribeUser(user), PasswordChanged, "user.password_reset")
	})
	s.WakeMailer(err)
	return err
}
