package journal

import (
	"context"

	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// DaySales are the sales of a day in one currency and coin.
type DaySales struct {
	Day, Currency, Coin string
	Payments            int64 // that became Successful
	Received            int64 // by them, less what left the chain, in hundredths
	// Reversed, Refunded, Declined and Unmatched have the meaning that they have in CurrencyLine.
	Reversed, Refunded, Declined, Unmatched int64
}

// Add returns the sales with the figures of others added.
func (s DaySales) Add(other DaySales) DaySales {
	s.Payments, s.Received, s.Reversed = s.Payments+other.Payments, s.Received+other.Received, s.Reversed+other.Reversed
	s.Refunded, s.Declined, s.Unmatched = s.Refunded+other.Refunded, s.Declined+other.Declined,
		s.Unmatched+other.Unmatched
	return s
}

// ListSales sums the sales of a period, and its declined, unmatched, refunded and reversed money, by
// day, currency and coin. Members who may see payments may see these sums.
//
// Faults: Forbidden; Invalid for an invalid period.
func (s *Service) ListSales(ctx context.Context, sc scope.Scope, p Period) ([]DaySales, error) {
	if err := sc.CheckAction(scope.SeePayments); err != nil {
		return nil, err
	}
	if err := p.checkPeriod(); err != nil {
		return nil, err
	}
	var days []models.JournalDay
	accounts := []Account{Sales, Reversed, Refunds, Declined, Unmatched}
	if err := sc.Rows(s.DB.List(ctx)).Where("booked_on >= ? AND booked_on <= ? AND currency <> ''", p.From, p.To).
		Where("debit IN ? OR credit IN ?", accounts, accounts).
		Order("booked_on, currency, coin").Find(&days).Error; err != nil {
		return nil, err
	}
	var list []DaySales
	for _, d := range days {
		var line CurrencyLine
		line.addDay(d)
		last := len(list) - 1
		if last < 0 || list[last].Day != d.BookedOn || list[last].Currency != d.Currency || list[last].Coin != d.Coin {
			list, last = append(list, DaySales{Day: d.BookedOn, Currency: d.Currency, Coin: d.Coin}), last+1
		}
		list[last] = list[last].Add(DaySales{Payments: line.Payments, Received: line.Received(), Reversed: line.Reversed,
			Refunded: line.Refunded, Declined: line.Declined, Unmatched: line.Unmatched})
	}
	return list, nil
}

// PaymentSums are what payments come to in a currency, in hundredths.
type PaymentSums struct {
	Received int64 // by Successful ones, less what left the chain, as ListSales has it for days
	Held     int64 // of Declined ones
}

// SumPayments sums what payments come to by currency. payments is a query for their ids.
func SumPayments(tx, payments *models.Tx) (map[money.Currency]PaymentSums, error) {
	sales, accounts := []Account{Sales, Reversed}, []Account{Sales, Reversed, Declined}
	var rows []struct {
		Currency       money.Currency
		Received, Held int64
	}
	err := tx.Model(&models.JournalEntry{}).Where("payment_id IN (?)", payments).
		Where("credit IN ? OR debit IN ?", accounts, accounts).
		Select("currency, SUM(CASE WHEN credit IN ? THEN value WHEN debit IN ? THEN -value ELSE 0 END) AS received, "+
			"SUM(CASE WHEN credit = ? THEN value WHEN debit = ? THEN -value ELSE 0 END) AS held", sales, sales, Declined,
			Declined).
		Group("currency").Find(&rows).Error
	sums := map[money.Currency]PaymentSums{}
	for _, r := range rows {
		sums[r.Currency] = PaymentSums{r.Received, r.Held}
	}
	return sums, err
}
