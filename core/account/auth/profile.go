package auth

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"strings"

	"gorm.io/gorm"

	"cointill/core/contact"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

// Rename gives the user of a scope another name. Invalid (name).
func (s *Service) Rename(ctx context.Context, sc scope.Scope, name string) error {
	userID, err := FindActor(sc)
	if err != nil {
		return err
	}
	if sentence := contact.CheckLabel(name); !sentence.IsZero() {
		return fault.Validation(fault.Fields{"name": {sentence}})
	}
	return s.db.Write(ctx, func(tx *models.Tx) error {
		var user models.User
		if err := tx.Where("id = ?", userID).Take(&user).Error; err != nil {
			return fault.MissingRow(err, "user")
		}
		if user.Name == name {
			return nil
		}
		if err := tx.Model(&models.User{}).Where("id = ?", userID).
			Updates(map[string]any{"name": name, "updated_at": s.now()}).Error; err != nil {
			return err
		}
		return s.auditUser(tx, userID, "user.renamed", map[string]string{"before": user.Name, "after": name})
	})
}

// languageCode is the shape of a language's code.
var languageCode = regexp.MustCompile(`^[a-z]{2,3}$`)

// ChooseLanguage sets the language of the scope's user, for the dashboard and its mails. Which
// languages there are is the caller's to know. Invalid (language).
func (s *Service) ChooseLanguage(ctx context.Context, sc scope.Scope, language string) error {
	userID, err := FindActor(sc)
	if err != nil {
		return err
	}
	if !languageCode.MatchString(language) {
		return fault.RefuseField("language", "Must be one of the languages offered.")
	}
	return s.db.Write(ctx, func(tx *models.Tx) error {
		var user models.User
		if err := tx.Where("id = ?", userID).Take(&user).Error; err != nil {
			return fault.MissingRow(err, "user")
		}
		if user.Language == language {
			return nil
		}
		if err := tx.Model(&models.User{}).Where("id = ?", userID).
			Updates(map[string]any{"language": language, "updated_at": s.now()}).Error; err != nil {
			return err
		}
		return s.auditUser(tx, userID, "user.language_changed",
			map[string]string{"before": user.Language, "after": language})
	})
}

// ChangePassword gives the user of a scope another password and ends their other
// sessions; session is the key of the one that stays. Invalid (password: the
// present one, new_password), Limited after wrong ones in a row.
func (s *Service) ChangePassword(ctx context.Context, sc scope.Scope, p Proof, next, session string) error {
	fields := fault.Fields{}
	if p.Password == "" {
		fields.Add("password", "Is required.")
	}
	if sentence := CheckPassword(next); !sentence.IsZero() {
		fields.AddMessage("new_password", sentence)
	} else if next == p.Password {
		fields.Add("new_password", "Is already your password.")
	}
	if err := fault.Validation(fields); err != nil {
		return err
	}
	user, err := s.own(ctx, sc, p)
	if err != nil {
		return err
	}
	hash, err := s.hashPassword(ctx, next, user.ID)
	if err != nil {
		return err
	}
	err = s.db.Write(ctx, func(tx *models.Tx) error {
		if err := s.replacePassword(tx, user.ID, hash, session); err != nil {
			return err
		}
		return s.recordChange(tx, user, PasswordChanged, "user.password_changed")
	})
	s.WakeMailer(err)
	return err
}

// AskEmail mails a link to the new address of the scope's user, and a notice to the present
// one. Nothing changes before the link is used. When another user has the new address, the
// answer is the same and no mail is sent there. Invalid (email), and as Reauthenticate.
func (s *Service) AskEmail(ctx context.Context, sc scope.Scope, email string, p Proof) error {
	email = strings.ToLower(strings.TrimSpace(email))
	if sentence := contact.CheckEmail(email); !sentence.IsZero() {
		return fault.Validation(fault.Fields{"email": {sentence}})
	}
	user, err := s.Reauthenticate(ctx, sc, p)
	if err != nil {
		return err
	}
	if email == user.Email {
		return fault.RefuseField("email", "Is already your e-mail address.")
	}
	now, seed := s.now(), NewSeed()
	err = s.db.Write(ctx, func(tx *models.Tx) error {
		row := models.Ticket{UserID: user.ID, Kind: ticketEmail, Hash: HashToken(s.TicketToken(seed)), Data: email,
			CreatedAt: now, ExpiresAt: now.Add(emailTime)}
		if err := writeTicket(tx, row); err != nil {
			return err
		}
		if err := s.auditUser(tx, user.ID, "user.email_asked", map[string]string{"after": email}); err != nil {
			return err
		}
		if err := s.queueLetter(tx, Letter{Kind: EmailAsked, To: user, NewEmail: email,
			URL: s.Base + accountPath}); err != nil {
			return err
		}
		taken, err := isTaken(tx, email)
		if err != nil || taken {
			return err
		}
		to := user
		to.Email = email
		return s.queueLetter(tx, Letter{Kind: EmailConfirm, To: to, NewEmail: email, Until: row.ExpiresAt,
			URL: s.Base + "/email/" + seed})
	})
	s.WakeMailer(err)
	return err
}

func isTaken(tx *models.Tx, email string) (bool, error) {
	var found int64
	err := tx.Model(&models.User{}).Where("email = ?", email).Count(&found).Error
	return found > 0, err
}

// FindEmail is whose address a link changes, and to what. Gone for a link that is over.
func (s *Service) FindEmail(ctx context.Context, token string) (user User, email string, err error) {
	row, found, err := s.ticket(s.db.Read(ctx), ticketEmail, token)
	return DescribeUser(found), row.Data, err
}

// ConfirmEmail makes the address that a link was sent to the user's. Gone for a
// link that is over, also when another user has the address meanwhile.
func (s *Service) ConfirmEmail(ctx context.Context, token string) error {
	err := s.db.Write(ctx, func(tx *models.Tx) error {
		row, user, err := s.ticket(tx, ticketEmail, token)
		if err != nil {
			return err
		}
		if err := useTicket(tx, row); err != nil {
			return err
		}
		before := DescribeUser(user)
		if taken, err := isTaken(tx, row.Data); err != nil || taken {
			return cmp.Or(err, error(errTicket))
		}
		changed := tx.Model(&models.User{}).Where("id = ?", user.ID).
			Updates(map[string]any{"email": row.Data, "updated_at": s.now()})
		if errors.Is(changed.Error, gorm.ErrDuplicatedKey) { // at this very moment
			return errTicket
		}
		if changed.Error != nil {
			return changed.Error
		}
		// A link to the former address opens nothing any more.
		if err := tx.Where("user_id = ?", user.ID).Delete(&models.Ticket{}).Error; err != nil {
			return err
		}
		if err := s.auditUser(tx, user.ID, "user.email_changed",
			map[string]string{"before": before.Email, "after": row.Data}); err != nil {
			return err
		}
		return s.queueLetter(tx, Letter{Kind: EmailChanged, To: before, NewEmail: row.Data, URL: s.Base + accountPath})
	})
	s.WakeMailer(err)
	return err
}
