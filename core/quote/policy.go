package quote

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/shopspring/decimal"
	"gorm.io/gorm/clause"

	"cointill/core/audit"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/quote/source"
	"cointill/core/scope"
	"cointill/models"
)

// Market says whose rate of a fiat currency prices are made with.
type Market string

// Official is what publishers of exchange rates and exchanges say; Street is
// what a dollar coin costs where people buy it, for currencies in which that
// differs; Manual is what the business set itself, for a time.
const (
	Official Market = "official"
	Street   Market = "street"
	Manual   Market = "manual"
)

// The bounds of a policy (basis points; how long a manual rate may stand).
const (
	MinSpread   = -500
	MaxSpread   = 1000
	MaxManual   = 30 * 24 * time.Hour
	wholeSpread = 10_000
)

// Policy is how a business wants a currency priced. The zero policy is the
// official rate as it is.
type Policy struct {
	Market Market // Official or Street; empty is Official
	// Spread in basis points is what a coin is counted for less than it costs, so
	// that a customer pays so much more of it: a cushion against its fall. Less
	// than zero is a discount.
	Spread int
	// Manual is the business's own rate, in fiat units for one US dollar, until
	// ManualUntil; then the market's counts again. Zero is none.
	Manual      decimal.Decimal
	ManualSince time.Time
	ManualUntil time.Time
}

// At is whose rate counts for a currency at a time. The dollar has no rate.
func (p Policy) At(c money.Currency, now time.Time) Market {
	switch {
	case c == money.USD:
		return Official
	case p.Manual.IsPositive() && now.Before(p.ManualUntil):
		return Manual
	case p.Market == Street:
		return Street
	}
	return Official
}

// Percent writes basis points as a percentage: 150 is 1.5.
func Percent(basisPoints int) string { return decimal.New(int64(basisPoints), -2).String() }

// manualLeg returns the manual rate as evidence.
func (p Policy) manualLeg(pair Pair) Leg {
	return Leg{Base: pair.Base, Quote: pair.Quote, Value: p.Manual,
		Readings: []Reading{{Source: string(Manual), Value: p.Manual, At: p.ManualSince}}}
}

func readPolicy(row models.RatePolicy) (p Policy, err error) {
	p = Policy{Market: Market(row.Market), Spread: row.Spread}
	if row.ManualUntil != nil {
		p.ManualSince, p.ManualUntil = row.UpdatedAt, *row.ManualUntil
		p.Manual, err = decimal.NewFromString(row.Manual)
	}
	return p, err
}

// Policies are what the business wants, by currency; those it never set are zero.
func (s *Service) Policies(ctx context.Context, sc scope.Scope) (map[money.Currency]Policy, error) {
	if err := sc.CheckAction(scope.SeeMethods); err != nil {
		return nil, err
	}
	return s.readPolicies(ctx, sc, nil)
}

func (s *Service) readPolicies(ctx context.Context, sc scope.Scope, _ []struct{}) (map[money.Currency]Policy, error) {
	var rows []models.RatePolicy
	if err := sc.Rows(s.DB.Point(ctx)).Find(&rows).Error; err != nil {
		return nil, err
	}
	all := map[money.Currency]Policy{}
	for _, row := range rows {
		p, err := readPolicy(row)
		if err != nil {
			return nil, err
		}
		all[money.Currency(row.Currency)] = p
	}
	return all, nil
}

// HasStreet reports whether a street rate is configured for a currency.
func (s *Service) HasStreet(domain scope.Domain, currency money.Currency) bool {
	p := Pair{Base: string(money.USDT), Quote: currency.ISOCode()}
	return domain == scope.Live &&
		slices.ContainsFunc(s.Asked, func(from source.Source) bool {
			return from.Street &&
				slices.Contains(from.Pairs(), p)
		})
}

// checkPolicy lists the errors of a policy, by field.
func (s *Service) checkPolicy(sc scope.Scope, currency money.Currency, p Policy) fault.Fields {
	fields, now := fault.Fields{}, s.Clock()
	if !currency.IsKnown() {
		fields.AddMessage("currency", money.UnknownCurrency)
		return fields
	}
	switch {
	case p.Market == Official, p.Market == Street && s.HasStreet(sc.Domain, currency):
	case p.Market == Street:
		fields.Add("market", "No source of a street rate is set up for this currency. The operator of this server "+
			"can name one.")
	default:
		fields.Add("market", "Must be official or street.")
	}
	if p.Spread < MinSpread || p.Spread > MaxSpread {
		fields.Add("spread", "Must be from −5 to 10 percent.")
	}
	if p.Manual.IsZero() && p.ManualUntil.IsZero() {
		return fields
	}
	limits, ok := bounds[Pair{Base: "USD", Quote: currency.ISOCode()}]
	switch {
	case !ok:
		fields.Add("manual", "The dollar has no rate of its own.")
	case !isInside(p.Manual, limits):
		fields.Add("manual", "Must be what one US dollar costs: from %s to %s %s.", limits[0].String(),
			limits[1].String(), currency)
	case p.Manual.Exponent() < -6:
		fields.Add("manual", "May have at most six decimals.")
	}
	if !p.ManualUntil.After(now) || p.ManualUntil.Sub(now) > MaxManual {
		fields.Add("manual_until", "Must be a time within the next 30 days: until then your own rate counts.")
	}
	return fields
}

// SetPolicy stores how the business wants a currency priced, from its next
// payment on. Invalid with every wrong field; Forbidden without the right.
func (s *Service) SetPolicy(ctx context.Context, sc scope.Scope, currency money.Currency, p Policy) error {
	if err := sc.CheckAction(scope.ManageBusiness); err != nil {
		return err
	}
	if p.Market == "" {
		p.Market = Official
	}
	if err := fault.Validation(s.checkPolicy(sc, currency, p)); err != nil {
		return err
	}
	now := s.Clock()
	row := models.RatePolicy{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Currency: string(currency),
		Market: string(p.Market), Spread: p.Spread, UpdatedBy: sc.Actor, UpdatedAt: now}
	if !p.Manual.IsZero() {
		row.Manual, row.ManualUntil = p.Manual.String(), &p.ManualUntil
	}
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		row.ID = 0 // a transaction may be run again
		var before []models.RatePolicy
		if err := sc.Rows(tx).Where("currency = ?", string(currency)).Find(&before).Error; err != nil {
			return err
		}
		if len(before) > 0 && maps.Equal(describePolicy(before[0]), describePolicy(row)) {
			return nil // the same form again
		}
		err := tx.Clauses(clause.OnConflict{
			Columns: []clause.Column{{Name: "business_id"}, {Name: "domain"}, {Name: "currency"}},
			DoUpdates: clause.AssignmentColumns([]string{"market", "spread", "manual", "manual_until", "updated_by",
				"updated_at"}),
		}).Create(&row).Error
		if err != nil {
			return err
		}
		detail := map[string]any{"after": describePolicy(row)}
		for _, b := range before {
			detail["before"] = describePolicy(b)
		}
		return audit.Record(tx, sc, now, "rates.changed", string(currency), detail)
	})
}

// describePolicy returns a policy as the audit log keeps it.
func describePolicy(row models.RatePolicy) map[string]any {
	t := map[string]any{"market": row.Market, "spread": row.Spread}
	if row.ManualUntil != nil {
		t["manual"], t["manual_until"] = row.Manual, row.ManualUntil.UTC().Format(time.RFC3339)
	}
	return t
}
