package auth

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/models"
)

// Proof is what shows that the person at a session is its user: their password,
// and a code where they have a second factor. IP is where they are, Device what
// their browser's cookie says.
type Proof struct {
	Password, Code, IP, Device string
}

// Reauthenticator is the part of Service by which other packages ask for a proof.
type Reauthenticator interface {
	Reauthenticate(ctx context.Context, sc scope.Scope, p Proof) (User, error)
}

// Reauthenticate asks the user who acts in a scope to prove who they are again,
// before an act that a stolen session must not reach. Tries are counted and
// slowed down together with the user's sign-ins. Invalid (password, code) when
// it is another, Limited after wrong ones in a row, Forbidden for who is no user.
func (s *Service) Reauthenticate(ctx context.Context, sc scope.Scope, p Proof) (User, error) {
	user, err := s.own(ctx, sc, p)
	if err != nil || !user.SecondFactor {
		return user, err
	}
	if strings.TrimSpace(p.Code) == "" {
		return User{}, fault.RefuseField("code", "Is required.")
	}
	if _, err := s.useCode(ctx, user.ID, p.Code, p.IP); err != nil {
		return User{}, atField("code", err)
	}
	return user, nil
}

// own asks only for the password.
func (s *Service) own(ctx context.Context, sc scope.Scope, p Proof) (User, error) {
	userID, err := FindActor(sc)
	if err != nil {
		return User{}, err
	}
	if p.Password == "" {
		return User{}, fault.RefuseField("password", "Is required.")
	}
	var row models.User
	if err := s.db.Read(ctx).Where("id = ?", userID).Take(&row).Error; err != nil {
		return User{}, fault.MissingRow(err, "user")
	}
	_, match, err := s.checkGuess(ctx, Credentials{Email: row.Email, Password: p.Password, IP: p.IP, Device: p.Device})
	var f *fault.Fault
	switch {
	case err == nil && !match:
		if err := s.refusedUser(ctx, userID, "user.password_refused"); err != nil {
			return User{}, err
		}
		return User{}, fault.RefuseField("password", "This isn't your password.")
	case errors.As(err, &f) && f.Kind == fault.Limited:
		slower := *f
		slower.Sentence = fault.NewMessage("Too many attempts in a short time. Wait a moment, then " +
			"enter your password again.")
		return User{}, &slower
	}
	return DescribeUser(row), err
}

// atField puts the refusal of a code beside the field that it was typed into.
func atField(field string, err error) error {
	if fault.KindOf(err) == fault.Unauthenticated {
		return fault.Validation(fault.Fields{field: {codeRefused}})
	}
	return err
}

// FindActor returns the user who acts in a scope; Forbidden for a key or the system.
func FindActor(sc scope.Scope) (int64, error) {
	id, isUser := strings.CutPrefix(sc.Actor, "user:")
	userID, err := strconv.ParseInt(id, 10, 64)
	if !isUser || err != nil {
		return 0, fault.New(fault.Forbidden, "role_not_allowed", "Only a person with a password may do this.")
	}
	return userID, nil
}

// auditUser records an act on a user's own account in every business they work
// in: each of them rests on that account. detail is as in Audit.
func (s *Service) auditUser(tx *models.Tx, userID int64, action string, detail any) error {
	return auditAct(tx, s.now(), userID, audit.Act{Action: action, Detail: detail})
}

// refusedUser records in the audit log of each of the user's businesses that access to the
// account was refused.
func (s *Service) refusedUser(ctx context.Context, userID int64, action string) error {
	return s.db.Write(ctx, func(tx *models.Tx) error {
		return auditAct(tx, s.now(), userID, audit.Act{Action: action, Refused: true})
	})
}

func auditAct(tx *models.Tx, now time.Time, userID int64, a audit.Act) error {
	var user models.User
	if err := tx.Where("id = ?", userID).Take(&user).Error; err != nil {
		return fault.MissingRow(err, "user")
	}
	var businesses []int64
	if err := tx.Model(&models.Member{}).Where("user_id = ?", userID).Order("business_id").
		Pluck("business_id", &businesses).Error; err != nil {
		return err
	}
	a.Subject = user.Email
	for _, id := range businesses { // in one order for everybody: each append holds a chain
		sc := scope.Scope{BusinessID: id, Domain: scope.Live, Actor: ActorOf(userID)}
		if err := audit.AppendAct(tx, sc, now, a); err != nil {
			return err
		}
	}
	return nil
}
