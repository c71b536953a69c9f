// Package golive keeps the checklist for going live: which nodes answer, which wallets and which test payment a
// business has. In the sandbox the same steps are rehearsed, with sample keys that receive nothing.
package golive

import (
	"context"
	"strings"

	"gorm.io/gorm/clause"

	"cointill/core/account"
	"cointill/core/account/auth"
	"cointill/core/clock"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/core/system"
	"cointill/core/wallet"
	"cointill/models"
)

// Deps are what the checklist works with.
type Deps struct {
	DB       *models.DB
	Clock    clock.Clock
	Networks payment.Networks // which network serves a coin, and its health
	Payments *payment.Service
	Quotes   *quote.Service
	Users    auth.Reauthenticator
	System   *system.Service
}

// Service is the checklist. Make one with New.
type Service struct {
	Deps
	samples *wallet.Service
	asked   nodeReports
}

// New makes the service.
func New(deps Deps) *Service {
	s := &Service{Deps: deps}
	s.samples = s.newSamples()
	return s
}

// The steps that are stored. The step of a wallet ends in its chain.
const (
	stepWallet  = "wallet "
	stepPayment = "payment"
)

// Progress is how far a business has come in a domain, as far as no other package tells.
type Progress struct {
	// Networks are those that the checklist lists.
	Networks []Network
	// Rehearsed are the chains whose wallets were set up with a key in the sandbox.
	Rehearsed map[money.Chain]bool
	// Payment is the last test payment; its ID is 0 where there is none.
	Payment models.Payment
	// Owners counts the owners of the business; Unprotected are those without a second factor or a passkey.
	Owners      int
	Unprotected []auth.User
}

// ReadProgress reads the progress. The test payment is left out for a role that may not see payments.
// Faults: Forbidden.
func (s *Service) ReadProgress(ctx context.Context, sc scope.Scope) (p Progress, err error) {
	if err := sc.CheckAction(scope.SeeMethods); err != nil {
		return p, err
	}
	db := s.DB.Read(ctx)
	var rows []models.GoingLiveStep // one for each chain, and one
	if err := sc.Rows(db).Find(&rows).Error; err != nil {
		return p, err
	}
	p.Rehearsed = map[money.Chain]bool{}
	for _, row := range rows {
		if kind, is := strings.CutPrefix(row.Step, stepWallet); is {
			p.Rehearsed[money.Chain(kind)] = true
		}
		if row.Step != stepPayment || !sc.Allows(scope.SeePayments) {
			continue
		}
		var found []models.Payment
		err := sc.Rows(db).Where("business_reference = ?", row.Subject).Omit("Quote", "Metadata").Find(&found).Error
		if err != nil {
			return p, err
		}
		if len(found) > 0 {
			p.Payment = found[0]
		}
	}
	if p.Networks, err = listNetworks(db, sc, p.Rehearsed); err != nil {
		return p, err
	}
	return p, s.readOwners(db, sc, &p)
}

// readOwners finds out which owners sign in with a password alone.
func (s *Service) readOwners(db *models.Tx, sc scope.Scope, p *Progress) error {
	owners, err := account.Owners(db, sc.BusinessID)
	if err != nil {
		return err
	}
	p.Owners = len(owners)
	for _, owner := range owners {
		var keys int64
		err := db.Model(&models.Passkey{}).Where("user_id = ?", owner.ID).Count(&keys).Error
		if err != nil {
			return err
		}
		if !owner.SecondFactor && keys == 0 {
			p.Unprotected = append(p.Unprotected, owner)
		}
	}
	return nil
}

// writeStep stores that a step was taken, in place of the last time.
func (s *Service) writeStep(tx *models.Tx, sc scope.Scope, step, subject string) error {
	row := models.GoingLiveStep{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Step: step, Subject: subject,
		CreatedBy: sc.Actor, CreatedAt: s.Clock()}
	again := clause.OnConflict{Columns: []clause.Column{{Name: "business_id"}, {Name: "domain"}, {Name: "step"}},
		DoUpdates: clause.AssignmentColumns([]string{"subject", "created_by", "created_at"})}
	return tx.Clauses(again).Create(&row).Error
}
