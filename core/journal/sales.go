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
	var days []models.JournalDaySum
	if err := NarrowToFigures(selectDays(s.DB.List(ctx), sc), p).
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

// NarrowToFigures narrows a query of entries to those of a period that change a figure by currency.
func NarrowToFigures(query *models.Tx, p Period) *models.Tx {
	accounts := figureAccounts()
	return query.Where("booked_on >= ? AND booked_on <= ? AND currency <> ''", p.From, p.To).
		Where("debit IN ? OR credit IN ?", accounts, accounts)
}

// figureAccounts are the accounts that figures by currency count.
func figureAccounts() []Account { return []Account{Sales, Reversed, Refunds, Declined, Unmatched} }

// SumPayments sums the entries of payments in a period by currency. payments is a query for their
// ids.
func SumPayments(tx, payments *models.Tx, p Period) (map[money.Currency]CurrencyLine, error) {
	var days []models.JournalDaySum
	err := NarrowToFigures(tx.Model(&models.JournalEntry{}), p).Where("payment_id IN (?)", payments).
		Select("kind, debit, credit, currency, COUNT(*) AS entries, SUM(value) AS value, SUM(due) AS due, " +
			"COUNT(NULLIF(due, 0)) AS payments").
		Group("kind, debit, credit, currency").Find(&days).Error
	return sumCurrencies(days), err
}

// SumDays sums the entries of a period by currency, as a statement does.
func SumDays(tx *models.Tx, sc scope.Scope, p Period) (map[money.Currency]CurrencyLine, error) {
	var days []models.JournalDaySum
	err := NarrowToFigures(selectDays(tx, sc), p).Find(&days).Error
	return sumCurrencies(days), err
}

// sumCurrencies adds up sums of entries by currency.
func sumCurrencies(days []models.JournalDaySum) map[money.Currency]CurrencyLine {
	sums := map[money.Currency]CurrencyLine{}
	for _, d := range days {
		line := sums[money.Currency(d.Currency)]
		line.Currency = d.Currency
		line.addDay(d)
		sums[money.Currency(d.Currency)] = line
	}
	return sums
}

// PaymentFigures are what a payment adds to the figures of a statement, by its currency and by its
// coin.
type PaymentFigures struct {
	CurrencyLine
	Coin CoinLine
}

// ListFigures returns what payments add to the statement of a period, by their ids.
func ListFigures(tx *models.Tx, ids []int64, p Period) (map[int64]PaymentFigures, error) {
	var rows []struct {
		models.JournalDaySum
		PaymentID int64
		Sum       models.AmountSum
	}
	query := NarrowToFigures(models.Among(tx.Model(&models.JournalEntry{}), "payment_id", ids), p).
		Group("payment_id, kind, debit, credit")
	err := models.Select(query, "payment_id, kind, debit, credit, COUNT(*) AS entries, SUM(value) AS value, "+
		"SUM(due) AS due, COUNT(NULLIF(due, 0)) AS payments, "+models.SumAmounts(tx, "amount")+" AS sum").Find(&rows).Error
	found := map[int64]PaymentFigures{}
	for _, row := range rows {
		day, figures := row.JournalDaySum, found[row.PaymentID]
		day.Amount = row.Sum.Amount
		figures.CurrencyLine.addDay(day)
		figures.Coin.addDay(day, true)
		found[row.PaymentID] = figures
	}
	return found, err
}
