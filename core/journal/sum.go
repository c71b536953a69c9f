package journal

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"gorm.io/gorm/clause"

	"cointill/core/money"
	"cointill/core/scope"
	"cointill/models"
)

// unsummed is the table of entries that aren't in the sums of days and months yet. SQLite reads the tables
// of a CROSS JOIN in their order.
const unsummed = "(SELECT journal_entries.* FROM unsummed_entries CROSS JOIN journal_entries WHERE id = entry_id) " +
	"AS unsummed"

// selectDays selects the sums of the scope's days, with entries that aren't in them yet.
func selectDays(tx *models.Tx, sc scope.Scope) *models.Tx {
	const key = "business_id, domain, booked_on, kind, debit, credit, coin, network, currency"
	return sc.Rows(tx.Table("(SELECT " + key + ", entries, payments, amount, value, due FROM journal_day_sums " +
		"UNION ALL SELECT " + key + ", 1, CASE WHEN due > 0 THEN 1 ELSE 0 END, amount, value, due FROM " + unsummed +
		") AS journal_day_sums"))
}

// selectMonths selects the months in which something is booked with their coins, each in one row or in several.
func selectMonths(tx *models.Tx, sc scope.Scope) *models.Tx {
	return sc.Rows(tx.Table("(SELECT business_id, domain, month, coin, network FROM journal_month_sums UNION ALL " +
		"SELECT business_id, domain, substr(booked_on, 1, 7), coin, network FROM " + unsummed + ") AS months"))
}

// sumAtOnce is how many entries one transaction sums.
const sumAtOnce = 1000

// SumEntries adds entries to the sums of their days and months, and returns how many it added. Of several
// programs one adds at a time.
func (s *Service) SumEntries(ctx context.Context) (n int, err error) {
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		entries, err := takeUnsummed(tx)
		if n = len(entries); err != nil || n == 0 {
			return err
		}
		days := sumByDay(entries)
		months := sumByMonth(days)
		if err := addToDays(tx, days); err != nil {
			return err
		}
		return addToMonths(tx, months)
	})
	return n, err
}

// takeUnsummed takes the next entries that aren't in the sums.
func takeUnsummed(tx *models.Tx) (entries []models.JournalEntry, err error) {
	if models.IsPostgres(tx) {
		if err := tx.Exec("SELECT pg_advisory_xact_lock(1786)").Error; err != nil {
			return nil, err
		}
	}
	var ids []int64
	err = tx.Model(&models.UnsummedEntry{}).Order("entry_id").Limit(sumAtOnce).Pluck("entry_id", &ids).Error
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	if err := models.Among(tx, "id", ids).Find(&entries).Error; err != nil {
		return nil, err
	}
	return entries, models.Among(tx, "entry_id", ids).Delete(&models.UnsummedEntry{}).Error
}

// RunSums adds entries to the sums every interval, until the context ends.
func (s *Service) RunSums(ctx context.Context, interval time.Duration) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		n, err := s.SumEntries(ctx)
		if err != nil && ctx.Err() == nil {
			slog.ErrorContext(ctx, "journal entries can't be summed", "error", err)
		}
		if err == nil && n == sumAtOnce {
			continue // there are more
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// sumByDay sums entries by their days and properties.
func sumByDay(entries []models.JournalEntry) (days []models.JournalDaySum) {
	for _, e := range entries {
		days = addDay(days, sumEntry(e))
	}
	return days
}

// sumEntry returns an entry as the sum of a day that has no other.
func sumEntry(e models.JournalEntry) models.JournalDaySum {
	day := models.JournalDaySum{BusinessID: e.BusinessID, Domain: e.Domain, BookedOn: e.BookedOn, Kind: e.Kind,
		Debit: e.Debit, Credit: e.Credit, Coin: e.Coin, Network: e.Network, Currency: e.Currency, Entries: 1,
		Amount: e.Amount, Value: e.Value, Due: e.Due}
	if e.Due > 0 {
		day.Payments = 1
	}
	return day
}

// addDay adds a sum to the one of its key, in a list in the order of compareDays.
func addDay(days []models.JournalDaySum, day models.JournalDaySum) []models.JournalDaySum {
	i, found := slices.BinarySearchFunc(days, day, compareDays)
	if !found {
		return slices.Insert(days, i, day)
	}
	row := &days[i]
	row.Entries, row.Payments = row.Entries+day.Entries, row.Payments+day.Payments
	row.Amount, row.Value, row.Due = row.Amount.Add(day.Amount), row.Value+day.Value, row.Due+day.Due
	return days
}

// compareDays orders the sums of days by their keys.
func compareDays(a, b models.JournalDaySum) int {
	return cmp.Or(cmp.Compare(a.BusinessID, b.BusinessID), cmp.Compare(a.Domain, b.Domain),
		cmp.Compare(a.BookedOn, b.BookedOn), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Debit, b.Debit),
		cmp.Compare(a.Credit, b.Credit), cmp.Compare(a.Coin, b.Coin), cmp.Compare(a.Network, b.Network),
		cmp.Compare(a.Currency, b.Currency))
}

// sumByMonth sums days by their months and accounts.
func sumByMonth(days []models.JournalDaySum) (months []models.JournalMonthSum) {
	type key struct {
		books
		month, debit, credit, coin, network string
	}
	at := map[key]int{}
	for _, d := range days {
		k := key{books{d.BusinessID, d.Domain}, monthOf(d.BookedOn), d.Debit, d.Credit, d.Coin, d.Network}
		i, found := at[k]
		if !found {
			i = len(months)
			at[k], months = i, append(months, models.JournalMonthSum{BusinessID: d.BusinessID, Domain: d.Domain, Month: k.month,
				Debit: d.Debit, Credit: d.Credit, Coin: d.Coin, Network: d.Network})
		}
		months[i].Amount = months[i].Amount.Add(d.Amount)
	}
	return months
}

// monthOf returns the month of a day.
func monthOf(day string) string { return day[:len(monthLayout)] }

// addToDays adds sums of days to the stored ones: it makes them the whole sums.
func addToDays(tx *models.Tx, days []models.JournalDaySum) error {
	for i := range days {
		d := &days[i]
		var stored models.JournalDaySum
		if err := tx.Where("(business_id, domain, booked_on, kind, debit, credit, coin, network, currency) = "+
			"(?, ?, ?, ?, ?, ?, ?, ?, ?)", d.BusinessID, d.Domain, d.BookedOn, d.Kind, d.Debit, d.Credit, d.Coin, d.Network,
			d.Currency).Limit(1).Find(&stored).Error; err != nil {
			return err
		}
		d.Entries, d.Payments, d.Amount = d.Entries+stored.Entries, d.Payments+stored.Payments, d.Amount.Add(stored.Amount)
		d.Value, d.Due = d.Value+stored.Value, d.Due+stored.Due
	}
	return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&days).Error
}

// addToMonths adds sums of months to the stored ones: it makes them the whole sums.
func addToMonths(tx *models.Tx, months []models.JournalMonthSum) error {
	for i := range months {
		m := &months[i]
		var stored models.JournalMonthSum
		if err := tx.Where("(business_id, domain, month, debit, credit, coin, network) = (?, ?, ?, ?, ?, ?, ?)", m.BusinessID,
			m.Domain, m.Month, m.Debit, m.Credit, m.Coin, m.Network).Limit(1).Find(&stored).Error; err != nil {
			return err
		}
		m.Amount = m.Amount.Add(stored.Amount)
	}
	return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&months).Error
}

// ReadHeld returns how much of a payment's money an account that grows by credits holds on each network.
func ReadHeld(tx *models.Tx, payment int64, account Account) (held map[string]money.Amount, err error) {
	var rows []struct {
		Network, Credit string
		Sum             models.AmountSum
	}
	query := tx.Model(&models.JournalEntry{}).Where("payment_id = ? AND (debit = ? OR credit = ?)", payment, account,
		account).Group("network, credit")
	err = models.Select(query, "network, credit, "+models.SumAmounts(tx, "amount")+" AS sum").Find(&rows).Error
	held = map[string]money.Amount{}
	for _, r := range rows {
		if Account(r.Credit) == account {
			held[r.Network] = held[r.Network].Add(r.Sum.Amount)
		} else {
			held[r.Network] = held[r.Network].Sub(r.Sum.Amount)
		}
	}
	return held, err
}
