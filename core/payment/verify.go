package payment

import (
	"context"
	"slices"
	"strings"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment/place"
	"cointill/core/scope"
	"cointill/models"
)

// verifiedScope is what Verify asks for together: whose payments, by which reference.
type verifiedScope struct {
	scope  scope.Scope
	column string
}

// Verify finds a payment of the scope by the reference made here (PAY_…) or by
// the merchant's own.
func (s *Service) Verify(ctx context.Context, sc scope.Scope, reference string) (View, error) {
	column := "business_reference"
	if strings.HasPrefix(reference, "PAY_") {
		column = "reference"
	}
	views, err := s.verifying.Get(ctx, verifiedScope{sc, column}, reference, s.readVerified)
	if err != nil {
		return View{}, err
	}
	v := views[reference]
	if v == nil {
		return View{}, fault.Missing("payment")
	}
	mine := *v
	mine.Transfers = slices.Clone(v.Transfers) // others got the same
	return mine, nil
}

func (s *Service) readVerified(ctx context.Context, of verifiedScope, references []string) (map[string]*View, error) {
	rows := of.scope.Rows
	if of.column == "reference" {
		rows = of.scope.Among
	}
	views, err := s.readViews(rows(models.Among(s.DB.Point(ctx), "payments."+of.column, references)))
	if err == nil {
		err = readExtras(s.DB.Point(ctx), views...)
	}
	found := make(map[string]*View, len(views))
	for _, v := range views {
		reference := v.Payment.BusinessReference
		if of.column == "reference" {
			reference = v.Payment.Reference
		}
		found[reference] = v
	}
	return found, err
}

// ByToken finds a payment by the access token of its page.
func (s *Service) ByToken(ctx context.Context, token string) (View, error) {
	if len(token) != TokenLength {
		return View{}, fault.Missing("payment") // nothing to look for
	}
	views, err := s.readViews(s.DB.Point(ctx).Where("payments.token_hash = ?", HashToken(token)))
	if err != nil {
		return View{}, err
	}
	if len(views) == 0 {
		return View{}, fault.Missing("payment")
	}
	v := *views[0]
	err = readExtras(s.DB.Point(ctx), &v)
	return v, err
}

// mostSighted bounds the timeline rows among which sightings of transfers are listed.
const mostSighted = 500

// Timeline lists the events of a payment in order. Sightings of transfers beyond the first 500
// rows are left out, because each transfer of dust adds a row.
func (s *Service) Timeline(ctx context.Context, sc scope.Scope, reference string) ([]models.Step, error) {
	v, err := s.Verify(ctx, sc, reference)
	if err != nil {
		return nil, err
	}
	var steps []models.Step
	err = s.DB.Read(ctx).Where("payment_id = ? AND (kind <> ? OR number <= ?)", v.Payment.ID, StepTransfer,
		mostSighted).Order("number").Find(&steps).Error
	return steps, err
}

// Rest returns the amount that is still to pay; zero when enough was received.
func (v View) Rest() money.Amount {
	rest := v.Payment.Due.Sub(v.Payment.Paid)
	if rest.Sign() < 0 {
		return money.Amount{}
	}
	return rest
}

// Enough reports whether nothing more needs to be asked for, with the tolerance
// that the payment was made with.
func (v View) Enough() bool {
	least, _ := v.decideCase().bounds()
	return v.Payment.Paid.Cmp(least) >= 0
}

// AsksForRest reports whether the customer can pay the rest to where they paid. At one address they can't: only the whole
// amount is known to be this payment's, and the rest may be another one's amount.
func (v View) AsksForRest() bool { return !v.Payment.ExactAmount }

// Destination is where and how to pay; its Address is empty before the payment is opened.
func (v View) Destination() place.Pay {
	rest := v.Rest()
	if rest.Sign() == 0 {
		rest = v.Payment.Due
	}
	return place.Describe(v.Payment, rest, v.contract, v.Business.Name)
}
