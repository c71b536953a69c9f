// Package account holds businesses with their members, roles, invitations and payment methods.
// Each call reads the rights from the database, so that every replica refuses a revoked access
// at once. Package auth has the users and how they sign in.
package account

import (
	"cmp"
	"context"
	"strings"
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/account/auth"
	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/contact"
	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/scope"
	"cointill/models"
)

// Service is the businesses of this server and who works in them. Make one with New.
type Service struct {
	// Auth is the users who work in them.
	Auth *auth.Service

	db  *models.DB
	now clock.Clock

	// Missing says in a sentence what keeps a payment method from working for a
	// business in a domain: no network, or nothing to receive with; zero means
	// nothing does. Without it, live has no network at all.
	Missing func(ctx context.Context, sc scope.Scope, method money.Method) (fault.Message, error)
	// Networks are those that serve coins; nil for none.
	Networks networks.Chooser
	// Operators are the addresses, in lower case, of the people who run this installation.
	Operators []string
}

// New makes the service.
func New(db *models.DB, now clock.Clock, users *auth.Service) *Service {
	s := &Service{Auth: users, db: db, now: now}
	s.Missing = func(_ context.Context, sc scope.Scope, _ money.Method) (fault.Message, error) {
		if sc.Domain == scope.Test {
			return fault.Message{}, nil
		}
		return networks.DescribeUnserved(), nil
	}
	return s
}

// Membership is a user with the business they work in and their role there.
type Membership struct {
	User     auth.User
	Business models.Business
	Role     scope.Role
}

// NewBusiness is what sign-up asks for.
type NewBusiness struct {
	BusinessName string
	Name         string // of the owner
	Email        string
	Password     string
	Language     string // of the owner; "" for none
	// SetupToken and IP, the client's address, are for SignUp alone.
	SetupToken, IP string
}

// Empty reports whether no user has signed up yet. Only then sign-up is open.
func (s *Service) Empty(ctx context.Context) (bool, error) {
	var ids []int64
	err := s.db.Read(ctx).Model(&models.User{}).Limit(1).Pluck("id", &ids).Error
	return len(ids) == 0, err
}

// SignUp creates the first business of this server from its public form. It is
// refused with Forbidden as soon as there is a user, also when two race; without the
// set-up token, where it is asked for, before anything else is looked at.
func (s *Service) SignUp(ctx context.Context, n NewBusiness) (models.Business, auth.User, error) {
	if empty, err := s.Empty(ctx); err != nil || !empty { // asked before the costly hash
		return models.Business{}, auth.User{}, cmp.Or(err, error(errSignUpClosed))
	}
	if err := s.Auth.CheckSetupToken(ctx, n.SetupToken, n.IP); err != nil {
		return models.Business{}, auth.User{}, err
	}
	return s.storeBusiness(ctx, n, true)
}

var errSignUpClosed = fault.New(fault.Forbidden, "sign_up_closed",
	"Sign-up is closed: this server has a business. Its operator makes others with cointill business create; its "+
		"owner invites you to join.")

// CreateBusiness creates a business with its owner, every payment method
// enabled in test and none in live. It is for the operator; pages call SignUp.
// Invalid with a sentence per field: business_name, name, email, password.
func (s *Service) CreateBusiness(ctx context.Context, n NewBusiness) (models.Business, auth.User, error) {
	return s.storeBusiness(ctx, n, false)
}

func (s *Service) storeBusiness(ctx context.Context, n NewBusiness, onlyFirst bool) (models.Business, auth.User,
	error) {
	n.Email = strings.ToLower(n.Email)
	if err := n.check(); err != nil {
		return models.Business{}, auth.User{}, err
	}
	hash, err := s.Auth.HashPassword(ctx, n.Password)
	if err != nil {
		return models.Business{}, auth.User{}, err
	}
	now := s.now()
	business := models.Business{Code: ident.New("BUS_"), Name: n.BusinessName, TimeZone: "Africa/Lagos",
		LatePayments:    "accept",
		ReceiptsEnabled: true, CreatedAt: now, UpdatedAt: now}
	user := models.User{Email: n.Email, Name: n.Name, PasswordHash: hash, Language: n.Language, CreatedAt: now,
		UpdatedAt: now}
	err = s.db.Write(ctx, func(tx *models.Tx) error {
		business.ID, user.ID = 0, 0 // Write may run this again
		// Of two that race to be first, the unique name lets one through.
		first := tx.Clauses(clause.OnConflict{DoNothing: true}).
			Create(&models.Instance{Name: "first_business", Value: business.Code})
		if first.Error != nil {
			return first.Error
		}
		if onlyFirst && first.RowsAffected == 0 {
			return errSignUpClosed
		}
		if err := auth.DropSetupToken(tx); err != nil {
			return err
		}
		return s.insertBusiness(tx, &business, &user, now)
	})
	if err != nil {
		return models.Business{}, auth.User{}, err
	}
	return business, auth.DescribeUser(user), nil
}

func (s *Service) insertBusiness(tx *models.Tx, business *models.Business, user *models.User, now time.Time) error {
	made := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(user)
	if made.Error != nil {
		return made.Error
	}
	if made.RowsAffected == 0 {
		return fault.RefuseField("email", "Is already used by another user of this server.")
	}
	if err := tx.Create(business).Error; err != nil {
		return err
	}
	member := models.Member{BusinessID: business.ID, UserID: user.ID, Role: string(scope.Owner), CreatedAt: now}
	if err := tx.Create(&member).Error; err != nil {
		return err
	}
	var methods []models.Method
	for _, coin := range money.Coins() {
		for _, domain := range []scope.Domain{scope.Test, scope.Live} {
			methods = append(methods, models.Method{BusinessID: business.ID, Domain: string(domain),
				Code:    string(coin.Method),
				Enabled: domain == scope.Test, UpdatedAt: now})
		}
	}
	if err := tx.Create(&methods).Error; err != nil {
		return err
	}
	sc := scope.Scope{BusinessID: business.ID, Domain: scope.Live, Actor: auth.ActorOf(user.ID), Role: scope.Owner}
	return audit.Record(tx, sc, now, "business.created", business.Code,
		map[string]string{"name": business.Name, "owner": user.Email})
}

func (n NewBusiness) check() error {
	fields := fault.Fields{}
	fields.AddMessage("business_name", contact.CheckLabel(n.BusinessName))
	fields.AddMessage("name", contact.CheckLabel(n.Name))
	fields.AddMessage("email", contact.CheckEmail(n.Email))
	fields.AddMessage("password", auth.CheckPassword(n.Password))
	return fault.Validation(fields)
}

// Membership tells in which business a user works, and as what: in the one with
// the preferred id when they are a member there, else in the one they came to
// first. It is asked at each request, so that a changed role takes effect at
// once. NotFound when the user works nowhere.
func (s *Service) Membership(ctx context.Context, userID, preferred int64) (Membership, error) {
	var user models.User
	var member models.Member
	var business models.Business
	db := s.db.Read(ctx)
	err := db.Where("user_id = ?", userID).
		Order(clause.OrderBy{Expression: clause.Expr{SQL: "CASE WHEN business_id = ? THEN 0 ELSE 1 END, id",
			Vars: []any{preferred}}}).Take(&member).Error
	if err != nil {
		return Membership{}, fault.MissingRow(err, "membership")
	}
	if err := db.Where("id = ?", userID).Take(&user).Error; err != nil {
		return Membership{}, fault.MissingRow(err, "user")
	}
	if err := db.Where("id = ?", member.BusinessID).Take(&business).Error; err != nil {
		return Membership{}, fault.MissingRow(err, "business")
	}
	return Membership{User: auth.DescribeUser(user), Business: business, Role: scope.Role(member.Role)}, nil
}

// Workplace is a business that a user works in.
type Workplace struct {
	ID   int64
	Name string
	Role scope.Role
}

// Workplaces lists the businesses of a user, in the order in which they came to them.
func (s *Service) Workplaces(ctx context.Context, userID int64) (list []Workplace, err error) {
	err = s.db.Read(ctx).Model(&models.Member{}).Select("businesses.id, businesses.name, members.role").
		Joins("JOIN businesses ON businesses.id = members.business_id").Where("members.user_id = ?", userID).
		Order("members.id").Scan(&list).Error
	return list, err
}

// Scope is the member's scope in a domain. The till role has the domain that the business gave it.
func (m Membership) Scope(domain scope.Domain) scope.Scope {
	if m.Role == scope.Till {
		domain = scope.Domain(m.Business.TillDomain)
	}
	return scope.Scope{BusinessID: m.Business.ID, Domain: domain, Actor: auth.ActorOf(m.User.ID), Role: m.Role}
}

// FindBusiness returns the business of a scope.
func (s *Service) FindBusiness(ctx context.Context, sc scope.Scope) (b models.Business, err error) {
	err = s.db.Read(ctx).Where("id = ?", sc.BusinessID).Take(&b).Error
	return b, fault.MissingRow(err, "business")
}

// Business finds a business by its BUS_ code.
func (s *Service) Business(ctx context.Context, code string) (models.Business, error) {
	var business models.Business
	err := s.db.Read(ctx).Where("code = ?", code).Take(&business).Error
	return business, fault.MissingRow(err, "business")
}
