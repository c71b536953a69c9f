package send

import (
	"context"
	"encoding/json"

	"github.com/shopspring/decimal"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/core/send/rules"
	"cointill/models"
)

// prices are today's, for the value of a send.
type prices struct {
	usd   quote.Quote
	today quote.Quote // in the send's currency; zero where it isn't needed
}

// readPrices reads the prices that a send's amount and value need.
func (s *store) readPrices(ctx context.Context, sc scope.Scope, row models.Send) (p prices, err error) {
	coin := money.Coin(row.Coin)
	if p.usd, err = s.Quotes.Quote(ctx, sc, coin, money.USD); err != nil {
		return p, err
	}
	if row.Rate == RateToday {
		p.today, err = s.Quotes.Quote(ctx, sc, coin, money.Currency(row.Currency))
	}
	return p, err
}

// setAmount sets the amount, price and value of a send. left is how much may be refunded.
func (s *Service) setAmount(row *models.Send, from source, r Request, q prices, left money.Amount) error {
	coin := money.Coin(row.Coin)
	fields := fault.Fields{}
	switch {
	case row.Fiat > 0 && row.Kind == Refund && (from.view == nil || from.view.Payment.Coin != row.Coin):
		fields.Add("fiat_amount", "No price was locked for this money: give an amount of %s.", row.Coin)
	case row.Fiat > 0:
		convertFiat(row, from, q, left)
	case r.Amount == "":
		row.Amount = left
	}
	name := "amount"
	if row.Fiat > 0 {
		name = "fiat_amount"
	}
	switch {
	case len(fields) > 0:
	case row.Kind == Refund && left.Sign() <= 0:
		return errAllRefunded
	case row.Kind == Refund && row.Amount.Cmp(left) > 0:
		fields.Add(name, "Is more than is left to refund: %s %s.", coin.Format(left), row.Coin)
	default:
		checkCarried(*row, name, fields)
	}
	usd := coin.ToFiat(row.Amount, q.usd.MarketPrice())
	if len(fields) == 0 && usd.GreaterThan(decimal.New(rules.MaxAmount, -2)) {
		fields.Add(name, "Is worth more than 1,000,000,000 USD.")
	}
	if err := fault.Validation(fields); err != nil {
		return err
	}
	setValue(row, from, q)
	return nil
}

// checkCarried adds a sentence to a field if the network can't carry so little.
func checkCarried(row models.Send, field string, fields fault.Fields) {
	info := money.Coin(row.Coin).Info()
	if !info.Carries(row.Amount) || row.Amount.Sign() <= 0 {
		fields.Add(field, "Is less than the network can carry (%s).", info.FormatDustLimit())
	}
}

// convertFiat sets the amount of a send in fiat.
func convertFiat(row *models.Send, from source, q prices, left money.Amount) {
	if row.Rate == RatePayment {
		p := from.view.Payment
		row.Amount = p.Due.MulDiv(row.Fiat, 100*p.Amount)
		return
	}
	row.Amount = money.Coin(row.Coin).FromFiat(decimal.New(row.Fiat, -2), q.today.MarketPrice())
	if row.Kind == Refund && row.Amount.Cmp(left) > 0 { // capped by the coin received
		row.Amount = left
	}
}

// setValue values a send in its currency and in USD.
func setValue(row *models.Send, from source, q prices) {
	coin := money.Coin(row.Coin)
	row.ValueUSD = money.CountHundredths(coin.ToFiat(row.Amount, q.usd.MarketPrice()))
	switch {
	case row.Rate == RateToday:
		row.Price, row.Quote = q.today.MarketPrice().String(), encodeQuote(q.today)
		row.Value = money.CountHundredths(coin.ToFiat(row.Amount, q.today.MarketPrice()))
	case from.view != nil && from.view.Payment.Coin == row.Coin:
		row.Price, row.Value = from.view.Payment.Price, money.CountHundredths(from.view.Fiat(row.Amount))
	case from.transfer == nil: // a payout
		row.Currency, row.Price, row.Quote = string(money.USD), q.usd.MarketPrice().String(), encodeQuote(q.usd)
		row.Value = row.ValueUSD
	default: // no price was locked for this money
		row.Currency = ""
	}
}

// encodeQuote writes the evidence of a price.
func encodeQuote(q quote.Quote) string {
	text, err := json.Marshal(q)
	if err != nil {
		panic(err) // texts and numbers always marshal
	}
	return string(text)
}
