package journal_test

import (
	"fmt"
	"slices"
	"testing"

	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/send/request"
	"cointill/models"
	"cointill/models/modelstest"
)

// fillCoins posts entries of each figure of a statement before April and in it, on two networks.
func fillCoins(t *testing.T, db *models.DB) {
	t.Helper()
	postEntries(t, db, "march", noon.AddDate(0, 0, -7), journal.Pending, journal.Declined)
	postEntries(t, db, "unmatched", noon.AddDate(0, 0, -7), journal.Pending, journal.Unmatched)
	postEntries(t, db, "sold", noon, journal.Pending, journal.Sales, journal.Reversed, journal.Sales, journal.Reversed)
	postEntries(t, db, "lost", noon, journal.Pending, journal.Nowhere)
	postEntries(t, db, "waits", noon.AddDate(0, 0, 2), journal.Pending)
	refund := createSend(t, db, "SND_R", request.Refund, nil, "aa")
	payout := createSend(t, db, "SND_P", request.Payout, nil, "bb")
	april := refund
	april.Network = "other"
	postSend(t, db, refund, journal.Wallet, journal.InFlight, journal.Declined)
	postSend(t, db, april, journal.Wallet, journal.InFlight, journal.Refunds, journal.InFlight, journal.Refunds)
	postSend(t, db, payout, journal.Wallet, journal.InFlight, journal.Payouts)
	postSend(t, db, payout, journal.Wallet, journal.InFlight)
}

// TestFiguresLeadToWhatTheySum checks that the entries of each figure by coin and network add up to it, and
// that the sum of the list is the figure.
func TestFiguresLeadToWhatTheySum(t *testing.T) {
	of := func(account journal.Account) journal.Filter { return journal.Filter{Account: account} }
	within := map[string]struct {
		filter journal.Filter
		figure func(journal.CoinLine) money.Amount
	}{
		"received": {journal.Filter{Figure: journal.FigureReceived}, func(l journal.CoinLine) money.Amount { return l.Received }},
		"lost":     {journal.Filter{Figure: journal.FigureLost}, func(l journal.CoinLine) money.Amount { return l.Lost }},
		"refunded": {journal.Filter{Figure: journal.FigureRefunded}, func(l journal.CoinLine) money.Amount { return l.Refunded }},
		"paid out": {of(journal.Payouts), func(l journal.CoinLine) money.Amount { return l.PaidOut }},
	}
	balances := map[journal.Account]func(journal.CoinLine) money.Amount{
		journal.Pending:   func(l journal.CoinLine) money.Amount { return l.Pending },
		journal.Declined:  func(l journal.CoinLine) money.Amount { return l.Declined },
		journal.Unmatched: func(l journal.CoinLine) money.Amount { return l.Unmatched },
		journal.InFlight:  func(l journal.CoinLine) money.Amount { return l.InFlight },
	}
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books := reader(t, db, noon)
		fillCoins(t, db)
		for _, summed := range []bool{false, true} {
			if summed {
				if _, err := books.SumEntries(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for _, month := range []string{"2026-03-25..2026-03-31", "2026-04"} {
				p, err := journal.ParsePeriod(month)
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range statementOf(t, books, month).Coins {
					for name, c := range within {
						f := c.filter
						f.Period, f.Coin, f.Network = p, l.Coin, l.Network
						checkSum(t, books, fmt.Sprint(name, " of ", month, " on ", l.Network), f, c.figure(l))
					}
					for account, figure := range balances {
						f := journal.Filter{Period: journal.Period{From: journal.AllDays().From, To: p.To}, Account: account,
							Coin: l.Coin, Network: l.Network}
						checkSum(t, books, fmt.Sprint(account, " at the end of ", month, " on ", l.Network), f, figure(l))
					}
				}
			}
		}
		all := journal.Filter{Period: journal.AllDays(), Figure: journal.FigureReceived}
		if sums, err := books.SumList(t.Context(), finance, all); len(sums) != 0 || err != nil {
			t.Errorf("a figure without a start has the sums %v (%v), want none", sums, err)
		}
		coins, err := books.ListCoins(t.Context(), finance)
		want := []journal.CoinNetwork{{Coin: "BTC", Network: "other"}, {Coin: "BTC", Network: "sandbox-bitcoin"}}
		if err != nil || !slices.Equal(coins, want) {
			t.Errorf("the coins are %v (%v), want %v", coins, err, want)
		}
	})
}

// checkSum checks that the sum of a filter and the sum of the entries that it lists are a figure.
func checkSum(t *testing.T, books *journal.Service, name string, f journal.Filter, want money.Amount) {
	t.Helper()
	f.Limit = 100
	sums, err := books.SumList(t.Context(), finance, f)
	sum := money.Amount{}
	for _, s := range sums {
		sum = sum.Add(s.Sum)
	}
	if err != nil || len(sums) > 1 || sum.Cmp(want) != 0 {
		t.Errorf("%s: the sums are %v (%v), want %s", name, sums, err, want)
	}
	list, _, err := books.ListEntries(t.Context(), finance, f)
	added := money.Amount{}
	for _, e := range list {
		if e.Coin != f.Coin || e.Network != f.Network {
			t.Errorf("%s: an entry in %s on %s is listed", name, e.Coin, e.Network)
		}
		if addsTo(f, e) {
			added = added.Add(e.Amount)
		} else {
			added = added.Sub(e.Amount)
		}
	}
	n, countErr := books.CountEntries(t.Context(), finance, f)
	if err != nil || countErr != nil || added.Cmp(want) != 0 || n != int64(len(list)) {
		t.Errorf("%s: %d entries add up to %s (%v), and are counted as %d (%v), want %s", name, len(list), added, err, n,
			countErr, want)
	}
}

// addsTo reports whether an entry makes the figure or the account of a filter more.
func addsTo(f journal.Filter, e journal.Entry) bool {
	if f.Account != "" {
		return f.Account.GrowsByDebit() == (e.Debit == string(f.Account))
	}
	return e.Kind != journal.Restored && e.Kind != journal.Reopened
}

// TestSumsOfListsWithoutAnAccount checks the sums of all entries of a network, and which filters are narrow.
func TestSumsOfListsWithoutAnAccount(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		books := reader(t, db, noon)
		fillCoins(t, db)
		for _, p := range []journal.Period{all, journal.AllDays(), {From: "0001-01-01", To: "2026-03-31"}} {
			sums, err := books.SumList(t.Context(), finance, journal.Filter{Period: p, Network: "other"})
			want := journal.CoinSum{CoinNetwork: journal.CoinNetwork{Coin: "BTC", Network: "other"}, Sum: money.Units(4000)}
			if err != nil || len(sums) != 1 || fmt.Sprint(sums[0]) != fmt.Sprint(want) {
				t.Errorf("from %s to %s: the sums are %v (%v), want %v", p.From, p.To, sums, err, want)
			}
		}
	})
	for _, f := range []journal.Filter{{Account: journal.Sales}, {Coin: "BTC"}, {Network: "n"},
		{Figure: journal.FigureLost}} {
		if !f.IsNarrow() {
			t.Errorf("%+v is not narrow, want that it is", f)
		}
	}
	if f := (journal.Filter{Period: all, After: 1}); f.IsNarrow() {
		t.Errorf("%+v is narrow, want that it isn't", f)
	}
}
