// Package till takes payments at a shop's counter: it starts them, reads their outcome and the day's sums,
// and keeps the PIN with which till mode is left. A till sees no payment that was not started at one.
package till

import (
	"cmp"
	"context"
	"slices"
	"time"

	"cointill/core/account/auth"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/models"
)

// Service is the tills of this server. Its fields are set before use.
type Service struct {
	DB       *models.DB
	Clock    clock.Clock
	Payments *payment.Service
	Networks networks.Chooser
	Secrets  *secret.Box
}

// Sale is what the keypad asks for.
type Sale struct {
	Amount   int64 // whole units of the currency
	Currency money.Currency
	Method   money.Method
	// Network is the code of the one that the payment is made on; empty lets the customer choose.
	Network money.Chain
	// Email gets the receipt: the customer's; empty stands for the business's own.
	Email string
}

// The name of customers who gave none.
const (
	firstName = "Counter"
	lastName  = "Customer"
)

// StartSale starts a payment at the counter and gives it its address, and returns it. Faults as
// payment.Initiate; Conflict (amount_too_small) when the coin's network can't carry the amount.
func (s *Service) StartSale(ctx context.Context, sc scope.Scope, sale Sale) (payment.Started, error) {
	if err := sc.CheckAction(scope.UseTill); err != nil {
		return payment.Started{}, err
	}
	user, err := auth.FindActor(sc)
	if err != nil {
		return payment.Started{}, err
	}
	email, err := s.findReceiver(ctx, sc, user, sale.Email)
	if err != nil {
		return payment.Started{}, err
	}
	row := models.CounterPayment{BusinessID: sc.BusinessID, Domain: string(sc.Domain),
		BusinessReference: ident.New("TILL_"), UserID: user, CreatedAt: s.Clock()}
	started, err := s.Payments.Initiate(ctx, sc, payment.Request{Amount: sale.Amount, Currency: string(sale.Currency),
		Method: string(sale.Method), Network: string(sale.Network), FirstName: firstName, LastName: lastName,
		Email: email, BusinessReference: row.BusinessReference,
		Also: func(tx *models.Tx, p models.Payment) error {
			if payment.TooSmall(p) {
				return payment.ErrTooSmall
			}
			return tx.Create(&row).Error
		}})
	if err != nil {
		return payment.Started{}, err
	}
	_, err = s.Payments.OpenByReference(ctx, sc, started.Reference)
	return started, err
}

// ListNetworks lists the networks that a coin can be paid on now, for coins that can be paid on several: those that are
// on for the business and take payments, the preselected one first.
func (s *Service) ListNetworks(ctx context.Context, sc scope.Scope) (map[money.Method][]networks.Served, error) {
	if err := sc.CheckAction(scope.UseTill); err != nil {
		return nil, err
	}
	accepted, err := networks.Accepted(s.DB.Read(ctx), sc, s.Networks)
	if err != nil {
		return nil, err
	}
	choices := map[money.Method][]networks.Served{}
	for _, info := range money.Coins() {
		offered := networks.Offered(s.Networks, sc.Domain, info, accepted[info.Method])
		offered = slices.DeleteFunc(offered, func(one networks.Served) bool {
			return !s.Networks.Problem(one.Network).IsZero()
		})
		if len(offered) > 1 {
			choices[info.Method] = offered
		}
	}
	return choices, nil
}

// findReceiver returns who gets the receipt: the customer, else the business's contact, else who takes the payment.
func (s *Service) findReceiver(ctx context.Context, sc scope.Scope, userID int64, given string) (string, error) {
	if given != "" {
		return given, nil
	}
	var business models.Business
	if err := s.DB.Read(ctx).Where("id = ?", sc.BusinessID).Take(&business).Error; err != nil {
		return "", fault.MissingRow(err, "business")
	}
	var user models.User
	err := s.DB.Read(ctx).Where("id = ?", userID).Take(&user).Error
	return cmp.Or(business.ContactEmail, user.Email), fault.MissingRow(err, "user")
}

// FindSale returns a payment that was started at a counter of the scope. NotFound for any other.
func (s *Service) FindSale(ctx context.Context, sc scope.Scope, reference string) (payment.View, error) {
	if err := sc.CheckAction(scope.UseTill); err != nil {
		return payment.View{}, err
	}
	v, err := s.Payments.Verify(ctx, sc, reference)
	if err != nil {
		return payment.View{}, err
	}
	var row models.CounterPayment
	err = sc.Rows(s.DB.Read(ctx)).Where("business_reference = ?", v.Payment.BusinessReference).Take(&row).Error
	return v, fault.MissingRow(err, "payment")
}

// Sum is what the counter's Successful payments of a day in one currency come to, in whole units.
type Sum struct {
	Currency money.Currency
	Count    int64
	Amount   int64
}

// Day is what a till shows of a day.
type Day struct {
	Sums []Sum // in the order of money.Currencies
	Last []models.Payment
}

// lastSales is how many of the newest sales a till lists.
const lastSales = 8

// ReadDay returns the sums of the counter's payments that were started at a time or later, and the newest of them. A
// payment whose money left the chain again counts no more.
func (s *Service) ReadDay(ctx context.Context, sc scope.Scope, from time.Time) (day Day, err error) {
	if err := sc.CheckAction(scope.UseTill); err != nil {
		return day, err
	}
	sales := func() *models.Tx {
		return sc.Rows(s.DB.Read(ctx).Model(&models.CounterPayment{})).
			Joins("JOIN payments ON payments.business_id = counter_payments.business_id AND payments.domain = "+
				"counter_payments.domain AND payments.business_reference = counter_payments.business_reference").
			Where("counter_payments.created_at >= ?", from)
	}
	var sums []Sum
	err = sales().Select("payments.currency, COUNT(*) AS count, SUM(payments.amount) AS amount").
		Where("payments.status = ? AND NOT payments.reversed", string(payment.Successful)).
		Group("payments.currency").Scan(&sums).Error
	if err != nil {
		return day, err
	}
	for _, currency := range money.Currencies() {
		for _, sum := range sums {
			if sum.Currency == currency {
				day.Sums = append(day.Sums, sum)
			}
		}
	}
	err = sales().Select("payments.*").Order("counter_payments.created_at DESC, payments.id DESC").Limit(lastSales).
		Scan(&day.Last).Error
	return day, err
}
