// Package journaltest compares the books with the transfers, payments, refunds and sends on record.
package journaltest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"cointill/chain"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/models"
)

// books names the books of a business in a domain, for one coin on one network.
type books struct {
	business              int64
	domain, coin, network string
}

// line is an account of some books.
type line struct {
	books
	account journal.Account
}

// record is the state of a database that the books are compared with.
type record struct {
	entries    []models.JournalEntry
	transfers  []models.Transfer
	payments   map[int64]models.Payment
	refunds    []models.Resolution // that people recorded
	sends      []models.Send
	departures []models.Departure
}

// Check fails a test for each difference.
func Check(t testing.TB, db *models.DB) {
	t.Helper()
	found, err := Compare(context.WithoutCancel(t.Context()), db) // the test may have ended
	if err != nil {
		t.Fatal(err)
	}
	for _, difference := range found {
		t.Errorf("the books differ from the records: %s", difference)
	}
}

// Compare returns every account whose entries differ from what transfers, payments and refunds
// say, and every payment whose sales differ from its amount received.
func Compare(ctx context.Context, db *models.DB) (found []string, err error) {
	r, err := readRecord(ctx, db)
	if err != nil {
		return nil, err
	}
	posted, owed := r.sumEntries(), r.sumRecords()
	for l := range owed {
		posted[l] = posted[l].Add(money.Amount{})
	}
	for l, amount := range posted {
		if want := owed[l]; amount.Cmp(want) != 0 {
			found = append(found, fmt.Sprintf("books of business %d in %s: account %s of %s on %s holds %s, want %s",
				l.business, l.domain, l.account, l.coin, l.network, amount, want))
		}
	}
	sums, err := compareSums(ctx, db)
	return slices.Concat(found, r.compareSales(), r.compareValues(), sums), err
}

// compareSums compares the sums of days and months with the entries that are in them.
func compareSums(ctx context.Context, db *models.DB) (found []string, err error) {
	var days []models.JournalDaySum
	var months []models.JournalMonthSum
	var entries []models.JournalEntry
	tx := db.Exec(ctx)
	err = errors.Join(tx.Find(&days).Error, tx.Find(&months).Error,
		tx.Where("id NOT IN (SELECT entry_id FROM unsummed_entries)").Find(&entries).Error)
	sums := map[string]models.JournalDaySum{}
	add := func(key string, amount money.Amount, n, payments, value, due int64) {
		s := sums[key]
		s.Amount, s.Entries, s.Payments = s.Amount.Add(amount), s.Entries+n, s.Payments+payments
		s.Value, s.Due = s.Value+value, s.Due+due
		sums[key] = s
	}
	day := func(d models.JournalDaySum) string {
		return fmt.Sprint(d.BusinessID, d.Domain, d.BookedOn, d.Kind, d.Debit, d.Credit, d.Coin, d.Network, d.Currency)
	}
	month := func(m models.JournalMonthSum) string {
		return fmt.Sprint(m.BusinessID, m.Domain, m.Month, m.Debit, m.Credit, m.Coin, m.Network)
	}
	for _, e := range entries {
		counted := int64(0)
		if e.Due > 0 {
			counted = 1
		}
		add(day(models.JournalDaySum{BusinessID: e.BusinessID, Domain: e.Domain, BookedOn: e.BookedOn, Kind: e.Kind,
			Debit: e.Debit, Credit: e.Credit, Coin: e.Coin, Network: e.Network, Currency: e.Currency}),
			e.Amount, 1, counted, e.Value, e.Due)
		add(month(models.JournalMonthSum{BusinessID: e.BusinessID, Domain: e.Domain, Month: e.BookedOn[:len("2006-01")],
			Debit: e.Debit, Credit: e.Credit, Coin: e.Coin, Network: e.Network}), e.Amount, 0, 0, 0, 0)
	}
	for _, d := range days {
		add(day(d), money.Units(0).Sub(d.Amount), -d.Entries, -d.Payments, -d.Value, -d.Due)
	}
	for _, m := range months {
		add(month(m), money.Units(0).Sub(m.Amount), 0, 0, 0, 0)
	}
	for key, rest := range sums {
		if rest.Amount.Sign() != 0 || rest.Entries != 0 || rest.Payments != 0 || rest.Value != 0 || rest.Due != 0 {
			found = append(found, fmt.Sprintf("the sums of %s lack %+v", key, rest))
		}
	}
	return found, err
}

func readRecord(ctx context.Context, db *models.DB) (r record, err error) {
	var payments []models.Payment
	tx := db.Exec(ctx)
	err = errors.Join(tx.Order("id").Find(&r.entries).Error, tx.Find(&r.transfers).Error,
		tx.Find(&payments).Error, tx.Where("kind = 'refunded' AND send_id IS NULL").Find(&r.refunds).Error,
		tx.Find(&r.sends).Error, tx.Find(&r.departures).Error)
	r.payments = map[int64]models.Payment{}
	for _, p := range payments {
		r.payments[p.ID] = p
	}
	return r, err
}

// sumEntries returns the balance of each account that has an entry. Sales and reversed money
// are one account here: a transfer that left the chain counts in both.
func (r record) sumEntries() map[line]money.Amount {
	sums := map[line]money.Amount{}
	add := func(of books, account journal.Account, by money.Amount) {
		if account == journal.Reversed {
			account, by = journal.Sales, money.Units(0).Sub(by)
		}
		l := line{of, account}
		sums[l] = sums[l].Add(by)
	}
	for _, e := range r.entries {
		of := books{e.BusinessID, e.Domain, e.Coin, e.Network}
		debit, credit := journal.Account(e.Debit), journal.Account(e.Credit)
		for account, by := range map[journal.Account]money.Amount{debit: e.Amount,
			credit: money.Units(0).Sub(e.Amount)} {
			if !account.GrowsByDebit() {
				by = money.Units(0).Sub(by)
			}
			add(of, account, by)
		}
	}
	return sums
}

// sumRecords returns what each account must hold.
func (r record) sumRecords() map[line]money.Amount {
	sums := map[line]money.Amount{}
	add := func(of books, account journal.Account, by money.Amount) {
		sums[line{of, account}] = sums[line{of, account}].Add(by)
	}
	for _, refund := range r.refunds {
		if refund.TransferID != nil {
			continue // the transfer says so
		}
		p := r.payments[*refund.PaymentID]
		of := books{p.BusinessID, p.Domain, p.Coin, cmp.Or(refund.Network, p.Network)}
		account, by := journal.Refunds, refund.Amount
		if p.Status == "declined" {
			account, by = journal.Declined, money.Units(0).Sub(by)
		}
		add(of, account, by)
		add(of, journal.Wallet, money.Units(0).Sub(refund.Amount))
	}
	for _, s := range r.sends {
		of := books{s.BusinessID, s.Domain, s.Coin, s.Network}
		if account := journal.Account(s.Booked); account != journal.Nowhere {
			by := s.Amount
			if !account.GrowsByDebit() {
				by = money.Units(0).Sub(by)
			}
			add(of, account, by)
			add(of, journal.Wallet, money.Units(0).Sub(s.Amount))
		}
		add(of, journal.PaidTwice, s.BookedTwice)
		add(of, journal.Wallet, money.Units(0).Sub(s.BookedTwice))
		of.coin = string(money.Coin(s.Coin).Info().FeeCoin(chain.Network(s.Network).Code()))
		add(of, journal.NetworkFees, s.BookedFee)
		add(of, journal.Wallet, money.Units(0).Sub(s.BookedFee))
	}
	for _, d := range r.departures {
		of := books{d.BusinessID, d.Domain, d.Coin, d.Network}
		add(of, journal.Owner, d.Booked)
		add(of, journal.Wallet, money.Units(0).Sub(d.Booked))
	}
	for _, t := range r.transfers {
		if t.BusinessID == 0 || t.Unmatched == "unproved" || !journal.IsBooked(t.Asset, t.Amount) ||
			t.PaymentID == nil && t.Unmatched == "" {
			continue // the last is the change of a send, which stays in the wallet
		}
		amount, isBack := t.Amount, r.isBack(t)
		switch {
		case t.IsConfirmed() == isBack: // it came and was sent back, or isn't here
			continue
		case isBack: // it was sent back, and left the chain
			amount = money.Amount{}.Sub(amount)
		}
		of := books{t.BusinessID, t.Domain, t.Asset, t.Network}
		account := journal.Unmatched
		if t.Unmatched == "" {
			account = accountOf(r.payments[*t.PaymentID].Status)
		}
		add(of, account, amount)
		add(of, journal.Wallet, amount)
	}
	return sums
}

// accountOf returns the account of money that counts for a payment in a state.
func accountOf(status string) journal.Account {
	switch status {
	case "successful":
		return journal.Sales
	case "declined", "failed", "expired":
		return journal.Declined
	}
	return journal.Pending
}

// compareValues compares the values with which transfers entered and left accounts of currencies: where an account
// has nothing of a transfer, it has no value of it either.
func (r record) compareValues() (found []string) {
	type held struct {
		transfer int64
		account  journal.Account
	}
	amounts, values := map[held]money.Amount{}, map[held]map[string]int64{}
	for _, e := range r.entries {
		if e.TransferID == nil || e.SendID != nil {
			continue
		}
		for _, account := range []journal.Account{journal.Sales, journal.Declined, journal.Unmatched} {
			h := held{*e.TransferID, account}
			if values[h] == nil {
				values[h] = map[string]int64{}
			}
			switch string(account) {
			case e.Credit:
				amounts[h], values[h][e.Currency] = amounts[h].Add(e.Amount), values[h][e.Currency]+e.Value
			case e.Debit:
				amounts[h], values[h][e.Currency] = amounts[h].Sub(e.Amount), values[h][e.Currency]-e.Value
			}
		}
	}
	for h, amount := range amounts {
		for currency, value := range values[h] {
			if amount.Sign() == 0 && value != 0 {
				found = append(found, fmt.Sprintf("account %s holds nothing of transfer %d, and %d of %q", h.account,
					h.transfer, value, currency))
			}
		}
	}
	return found
}

// compareSales compares the sales of each payment with what it says that it received.
func (r record) compareSales() (found []string) {
	type sale struct {
		amount     money.Amount
		value, due int64
	}
	sales := map[int64]sale{}
	for _, e := range r.entries {
		if e.PaymentID == nil {
			continue
		}
		s := sales[*e.PaymentID]
		switch string(journal.Sales) {
		case e.Credit:
			s = sale{s.amount.Add(e.Amount), s.value + e.Value, s.due + e.Due}
		case e.Debit:
			s = sale{s.amount.Sub(e.Amount), s.value - e.Value, s.due}
		}
		sales[*e.PaymentID] = s
	}
	for id, p := range r.payments {
		want := sale{}
		if p.Status == "successful" {
			want = sale{p.Paid, valueOf(p), 100 * p.Amount}
		}
		if got := sales[id]; got.amount.Cmp(want.amount) != 0 || got.value != want.value ||
			got.due != want.due {
			found = append(found, fmt.Sprintf("sales of %s (%s, %d %s): %s worth %d for %d, want %s worth %d for %d",
				p.Reference, p.Status, p.Amount, p.Currency, got.amount, got.value, got.due, want.amount, want.value,
				want.due))
		}
	}
	return found
}

// valueOf returns the value of what a payment received, in hundredths, rounded half to even.
func valueOf(p models.Payment) int64 {
	if p.Due.Sign() == 0 {
		return 0
	}
	exact := new(big.Rat).SetFrac(p.Paid.Big(), p.Due.Big())
	exact.Mul(exact, new(big.Rat).SetInt64(100*p.Amount))
	value := new(big.Int).Quo(exact.Num(), exact.Denom())
	switch exact.Sub(exact, new(big.Rat).SetInt(value)).Cmp(big.NewRat(1, 2)) {
	case 1:
		return value.Int64() + 1
	case 0:
		return value.Int64() + value.Int64()%2
	}
	return value.Int64()
}

// isBack reports whether a person recorded that a transfer was sent back. Where only sends refund it, their entries
// say so.
func (r record) isBack(t models.Transfer) bool {
	recorded := slices.ContainsFunc(r.refunds, func(refund models.Resolution) bool {
		return refund.TransferID != nil && *refund.TransferID == t.ID
	})
	sent := slices.ContainsFunc(r.sends, func(s models.Send) bool { return s.TransferID != nil && *s.TransferID == t.ID })
	return t.Resolution == "refunded" && (recorded || !sent)
}
