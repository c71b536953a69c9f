package golive

import (
	"context"

	"cointill/core/account/auth"
	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/models"
)

// trialPrefix begins the references of test payments.
const trialPrefix = "TRIAL_"

// The name of the customer of a test payment; the receipt goes to the member who starts it.
const (
	trialFirstName = "Test"
	trialLastName  = "Payment"
)

// StartTrial starts a payment of the smallest amount that the coin's network can carry. Faults as
// payment.Initiate; Unavailable without a price; Forbidden for the role till, which takes payments at the
// counter only.
func (s *Service) StartTrial(ctx context.Context, sc scope.Scope, method money.Method,
	currency money.Currency) (payment.Started, error) {
	for _, action := range []scope.Action{scope.SeeMethods, scope.StartPayments} {
		if err := sc.CheckAction(action); err != nil {
			return payment.Started{}, err
		}
	}
	id, err := auth.FindActor(sc)
	if err != nil {
		return payment.Started{}, err
	}
	var user models.User
	if err := s.DB.Read(ctx).Where("id = ?", id).Take(&user).Error; err != nil {
		return payment.Started{}, fault.MissingRow(err, "user")
	}
	amount, err := s.findSmallest(ctx, sc, method, currency)
	if err != nil {
		return payment.Started{}, err
	}
	reference := ident.New(trialPrefix)
	return s.Payments.Initiate(ctx, sc, payment.Request{Amount: amount, Currency: string(currency),
		Method: string(method), FirstName: trialFirstName, LastName: trialLastName, Email: user.Email,
		BusinessReference: reference,
		Also:              func(tx *models.Tx, _ models.Payment) error { return s.writeStep(tx, sc, stepPayment, reference) }})
}

// findSmallest returns the smallest amount, in whole units, that a coin's network can carry now. Unknown methods and
// currencies have one, too: Initiate refuses them.
func (s *Service) findSmallest(ctx context.Context, sc scope.Scope, method money.Method,
	currency money.Currency) (int64, error) {
	coin, known := method.Info()
	if !known || !currency.IsKnown() || coin.DustLimit == 0 {
		return payment.MinAmount, nil
	}
	policies, err := s.Quotes.Policies(ctx, sc)
	if err != nil {
		return 0, err
	}
	q, err := s.Quotes.Price(sc.Domain, coin.Coin, currency, policies[currency])
	if err != nil {
		return 0, err
	}
	return max(coin.MinimumFiat(q.Price).IntPart(), payment.MinAmount), nil
}
