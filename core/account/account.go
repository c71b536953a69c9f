// Package account holds who may use Cointill: businesses with their users, roles and payment
// methods, and the login sessions of browsers. Each call reads the rights from the database,
// so that every replica refuses a revoked access at once.
package account

import (
	"cmp"
	"context"
	"runtime"
	"strings"
	"time"

	"github.com/alexedwards/argon2id"
	"gorm.io/gorm/clause"

	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/contact"
	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/core/memory"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/models"
)

// Service holds what the package's operations need. Make one with New.
type Service struct {
	db     *models.DB
	now    clock.Clock
	secret *secret.Box

	// Missing says in a sentence what keeps a payment method from working for a
	// business in a domain: no network, or nothing to receive with; "" means
	// nothing does. Without it, live has no network at all.
	Missing func(ctx context.Context, sc scope.Scope, method money.Method) (string, error)

	// Mails queues mails about accounts, Render writes them, and WakeMails is called after
	// the commit. Without the first two no mail and no link is sent.
	Mails     Mails
	Render    func(Letter) (subject, text, html string)
	WakeMails func()
	// Operators are the addresses, in lower case, of who runs this installation.
	Operators []string
	// Base is this server's address, for the links in mails: https://till.example.
	Base string
	// AskSetupToken has the first sign-up ask for the set-up token: for a server that others
	// than its own machine may reach before its owner does.
	AskSetupToken bool

	// Cost is the cost of new password hashes; older hashes are replaced at sign-in.
	Cost argon2id.Params
	// Beat is the interval at which refused sign-ins and requested resets are answered, so
	// that their duration doesn't reveal whether a user exists; 0 answers at once.
	Beat time.Duration

	hashing *line
}

// New makes the service.
func New(db *models.DB, now clock.Clock, box *secret.Box) *Service {
	s := &Service{db: db, now: now, secret: box, Beat: 500 * time.Millisecond, hashing: newLine(2, nil)}
	// Explicit, because the library's defaults follow the number of processors.
	s.Cost = argon2id.Params{Memory: memory.Hash >> 10, Iterations: 3, Parallelism: 1, SaltLength: 16, KeyLength: 32}
	s.Missing = func(_ context.Context, sc scope.Scope, _ money.Method) (string, error) {
		if sc.Domain == scope.Test {
			return "", nil
		}
		return "No live network is configured for it yet. The operator of this server sets one up first.", nil
	}
	return s
}

// LimitHashing lets no more passwords be hashed at once than a plan has memory for. Call it
// before any is hashed.
func (s *Service) LimitHashing(plan memory.Plan) {
	var collect func()
	if plan.Collect {
		collect = runtime.GC
	}
	s.hashing = newLine(plan.Hashes, collect)
}

// User is a person who signs in.
type User struct {
	ID    int64
	Name  string
	Email string
	// SecondFactor says that signing in needs a code, too.
	SecondFactor bool
}

// known is a row as the rest of the program sees it.
func known(row models.User) User {
	return User{ID: row.ID, Name: row.Name, Email: row.Email, SecondFactor: row.TOTPSecret != nil}
}

// Membership is a user with the business they work in and their role there.
type Membership struct {
	User     User
	Business models.Business
	Role     scope.Role
}

// NewBusiness is what sign-up asks for.
type NewBusiness struct {
	BusinessName string
	Name         string // of the owner
	Email        string
	Password     string
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
func (s *Service) SignUp(ctx context.Context, n NewBusiness) (models.Business, User, error) {
	if empty, err := s.Empty(ctx); err != nil || !empty { // asked before the costly hash
		return models.Business{}, User{}, cmp.Or(err, error(errSignUpClosed))
	}
	if s.AskSetupToken {
		if err := s.checkSetupToken(ctx, n.SetupToken, n.IP); err != nil {
			return models.Business{}, User{}, err
		}
	}
	return s.create(ctx, n, true)
}

var errSignUpClosed = fault.New(fault.Forbidden, "sign_up_closed",
	"Sign-up is closed: this server has a business. Its operator makes others with cointill business create; its "+
		"owner invites you to join.")

// CreateBusiness creates a business with its owner, every payment method
// enabled in test and none in live. It is for the operator; pages call SignUp.
// Invalid with a sentence per field: business_name, name, email, password.
func (s *Service) CreateBusiness(ctx context.Context, n NewBusiness) (models.Business, User, error) {
	return s.create(ctx, n, false)
}

func (s *Service) create(ctx context.Context, n NewBusiness, onlyFirst bool) (models.Business, User, error) {
	n.Email = strings.ToLower(n.Email)
	if err := n.check(); err != nil {
		return models.Business{}, User{}, err
	}
	hash, err := s.hashPassword(ctx, n.Password, strangers)
	if err != nil {
		return models.Business{}, User{}, err
	}
	now := s.now()
	business := models.Business{Code: ident.New("BUS_"), Name: n.BusinessName, TimeZone: "Africa/Lagos",
		LatePayments:    "accept",
		ReceiptsEnabled: true, CreatedAt: now, UpdatedAt: now}
	user := models.User{Email: n.Email, Name: n.Name, PasswordHash: hash, CreatedAt: now, UpdatedAt: now}
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
		if err := dropSetupToken(tx); err != nil {
			return err
		}
		return s.insertBusiness(tx, &business, &user, now)
	})
	if err != nil {
		return models.Business{}, User{}, err
	}
	return business, known(user), nil
}

func (s *Service) insertBusiness(tx *models.Tx, business *models.Business, user *models.User, now time.Time) error {
	made := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(user)
	if made.Error != nil {
		return made.Error
	}
	if made.RowsAffected == 0 {
		return fault.Validation(fault.Fields{"email": {"Is already used by another user of this server."}})
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
	sc := scope.Scope{BusinessID: business.ID, Domain: scope.Live, Actor: userActor(user.ID), Role: scope.Owner}
	return audit.Record(tx, sc, now, "business.created", business.Code,
		map[string]string{"name": business.Name, "owner": user.Email})
}

func (n NewBusiness) check() error {
	fields := fault.Fields{}
	for field, sentence := range map[string]string{
		"business_name": contact.CheckLabel(n.BusinessName), "name": contact.CheckLabel(n.Name),
		"email": contact.CheckEmail(n.Email), "password": checkPassword(n.Password),
	} {
		if sentence != "" {
			fields.Add(field, sentence)
		}
	}
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
	return Membership{User: known(user), Business: business, Role: scope.Role(member.Role)}, nil
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

// Scope is the member's scope in a domain.
func (m Membership) Scope(domain scope.Domain) scope.Scope {
	return scope.Scope{BusinessID: m.Business.ID, Domain: domain, Actor: userActor(m.User.ID), Role: m.Role}
}

// Business finds a business by its BUS_ code.
func (s *Service) Business(ctx context.Context, code string) (models.Business, error) {
	var business models.Business
	err := s.db.Read(ctx).Where("code = ?", code).Take(&business).Error
	return business, fault.MissingRow(err, "business")
}
