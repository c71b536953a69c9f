package overview

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"cointill/core/journal"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/stats"
	"cointill/handlers/dashboard/display"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// axisCeiling returns the least of 1, 2 or 5 times a power of ten that is not below n, from 10 on.
func axisCeiling(n int64) int64 {
	if n <= 0 {
		return 0
	}
	for power := int64(10); ; power *= 10 {
		for _, factor := range []int64{1, 2, 5} {
			if factor*power >= n {
				return factor * power
			}
		}
	}
}

// formatCompact writes an amount for an axis: 500k, 2.5M.
func formatCompact(currency money.Currency, n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1_000_000_000, "B"}, {1_000_000, "M"}, {1_000, "k"}} {
		if n < unit.size {
			continue
		}
		text := strconv.FormatInt(n/unit.size, 10)
		if tenths := n % unit.size * 10 / unit.size; tenths > 0 {
			text += "." + strconv.FormatInt(tenths, 10)
		}
		return currency.Sign() + text + unit.name
	}
	return currency.Sign() + strconv.FormatInt(n, 10)
}

// coinShares returns the amounts received by coin, the largest first.
func coinShares(ctx context.Context, sold []journal.DaySales, asked span,
	currency money.Currency) (list []dashboard.Share) {
	sums, all := map[money.Coin]received{}, int64(0)
	for _, s := range sold {
		if s.Currency == string(currency) && (s.Payments != 0 || s.Received != 0) {
			sum := sums[money.Coin(s.Coin)]
			sums[money.Coin(s.Coin)] = received{sum.payments + s.Payments, sum.value + s.Received}
		}
	}
	for _, sum := range sums { // a coin whose reversals exceed its sales has no share
		all += max(sum.value, 0)
	}
	coins := money.Coins()
	slices.SortStableFunc(coins,
		func(a, b money.CoinInfo) int { return cmp.Compare(sums[b.Coin].value, sums[a.Coin].value) })
	var parts []int64
	for _, coin := range coins {
		sum, sells := sums[coin.Coin]
		if !sells {
			continue
		}
		where := asked.paymentSearch()
		where.Method, where.Currency, where.States = string(coin.Method), string(currency),
			[]string{string(payment.Successful)}
		list = append(list, dashboard.Share{Coin: string(coin.Coin), Text: coin.Name, Href: where.Href(),
			Value:    display.FormatHundredths(currency, sum.value),
			Note:     words.N(ctx, "payments.counted", int(sum.payments)),
			Permille: int(max(sum.value, 0) * 1000 / max(all, 1))})
		parts = append(parts, max(sum.value, 0))
	}
	for i, percent := range display.FormatShares(parts) {
		list[i].Percent = percent
	}
	return list
}

// moneyRows are the received, held, refunded and reversed money in a currency, by coin and in all;
// none when everything was received by Successful payments.
func moneyRows(sold []journal.DaySales, currency money.Currency) (rows []dashboard.MoneyRow, all dashboard.MoneyRow) {
	sums, sum := map[money.Coin]journal.DaySales{}, journal.DaySales{}
	for _, s := range sold {
		if s.Currency == string(currency) {
			sums[money.Coin(s.Coin)] = sums[money.Coin(s.Coin)].Add(s)
			sum = sum.Add(s)
		}
	}
	others := false
	for _, coin := range money.Coins() {
		if s, has := sums[coin.Coin]; has {
			others = others || s.Declined != 0 || s.Unmatched != 0 || s.Refunded != 0 || s.Reversed != 0
			rows = append(rows, moneyRow(coin.Name, s, currency))
		}
	}
	if !others {
		return nil, all
	}
	return rows, moneyRow("", sum, currency)
}

func moneyRow(coin string, s journal.DaySales, currency money.Currency) dashboard.MoneyRow {
	show := func(value int64) string { return display.FormatHundredths(currency, value) }
	return dashboard.MoneyRow{Coin: coin, Received: show(s.Received), Declined: show(s.Declined),
		Unmatched: show(s.Unmatched), Refunded: show(s.Refunded), Reversed: show(s.Reversed)}
}

// stateShares are how many payments stand in each state. Reversed ones are
// successful, as everywhere.
func stateShares(ctx context.Context, t totals, asked span) (list []dashboard.Share) {
	var parts []int64
	for _, state := range payment.States() {
		n := t.states[string(state)]
		if state == payment.Successful {
			n += t.states[stats.Reversed]
		}
		if n == 0 {
			continue
		}
		where := asked.paymentSearch()
		where.States = []string{string(state)}
		list = append(list, dashboard.Share{State: string(state), Text: ui.StateWord(ctx, string(state)),
			Href: where.Href(), Value: words.FormatThousands(ctx, n),
			Permille: int(n * 1000 / max(t.count, 1))})
		parts = append(parts, n)
	}
	for i, percent := range display.FormatShares(parts) {
		list[i].Percent = percent
	}
	return list
}
