package wallet

import (
	"context"
	"strconv"

	"github.com/shopspring/decimal"

	"cointill/core/collect"
	"cointill/core/money"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// leftRows bounds how many amounts that stay the page lists; README.txt has all of them.
const leftRows = 100

// reasonWords say why money stays.
var reasonWords = map[collect.Reason]string{
	collect.NotWorth: "collect.why_not_worth",
	collect.NoGas:    "collect.why_no_gas",
	collect.Barred:   "collect.why_barred",
	collect.Refused:  "collect.why_refused",
	collect.Waiting:  "collect.why_waiting",
	collect.FeeCoin:  "collect.why_fee_coin",
}

// planProps is what a plan does.
func planProps(ctx context.Context, p collect.Plan) dashboard.CollectPlan {
	shown := dashboard.CollectPlan{Network: labelNetwork(p.Network), Destination: p.Input.Destination,
		GasPayer: p.Input.GasPayer, Steps: listSteps(ctx, p), Warnings: listWarnings(ctx, p), Notes: listNotes(ctx, p),
		Count: words.N(ctx, "collect.transactions_n", len(p.Transactions())), Fees: describeFees(ctx, p)}
	shown.Arrives, shown.Value = describeArriving(ctx, p)
	for _, l := range p.Left[:min(len(p.Left), leftRows)] {
		shown.Left = append(shown.Left, leftRow(ctx, p, l))
	}
	if more := len(p.Left) - len(shown.Left); more > 0 {
		shown.LeftMore = words.N(ctx, "collect.left_more", more)
	}
	if len(p.Left) > 0 {
		shown.LeftText = describeLeft(ctx, p)
	}
	return shown
}

// listSteps lists the steps that have transactions.
func listSteps(ctx context.Context, p collect.Plan) (steps []dashboard.CollectStep) {
	add := func(title, text string, transfers []collect.Transfer, files ...string) {
		if len(transfers) == 0 {
			return
		}
		amount, fees := collect.Sum(transfers)
		coin := transfers[0].Coin
		step := dashboard.CollectStep{Title: title, Text: text, Files: files, Amount: plainCoin(coin, amount),
			Count: words.N(ctx, "collect.transactions_n", len(transfers)), Value: formatValue(p, coin, amount)}
		if fees.Sign() > 0 {
			step.Fee = plainCoin(p.Input.Native, fees)
		}
		steps = append(steps, step)
	}
	gas, files := "collect.step_gas_text", []string{collect.GasFile}
	switch {
	case p.Input.Terms.Payer.Contract:
		gas, files = "collect.step_safe_text", []string{collect.SafeFile}
	case p.Safe:
		gas, files = "collect.step_both_text", []string{collect.GasFile, collect.SafeFile}
	}
	add(words.T(ctx, "collect.step_gas"), words.T(ctx, gas), p.Gas, files...)
	add(words.T(ctx, "collect.step_token"), words.T(ctx, "collect.step_token_text"), p.Tokens, collect.TokenFile)
	add(string(p.Input.Native), words.T(ctx, "collect.step_native_text"), p.Natives, p.NativeFile())
	return steps
}

// listWarnings lists what to look at before anything is signed.
func listWarnings(ctx context.Context, p collect.Plan) (list []string) {
	native := p.Input.Native
	if p.Input.Terms.Contract {
		list = append(list, words.T(ctx, "collect.contract", "Network", labelNetwork(p.Network)))
	}
	if p.Short.Sign() > 0 {
		list = append(list, words.T(ctx, "collect.short", "Held", plainCoin(native, p.Input.Terms.Payer.Held), "Short",
			plainCoin(native, p.Short)))
	}
	lacking := 0
	for _, l := range p.Left {
		if l.Why == collect.NoGas && l.Coin == money.USDT {
			lacking++
		}
	}
	if lacking > 0 {
		list = append(list, words.N(ctx, "collect.no_gas", lacking))
	}
	return list
}

// listNotes lists what to know of the figures.
func listNotes(ctx context.Context, p collect.Plan) (list []string) {
	if len(p.Transactions()) > 0 {
		list = append(list, words.T(ctx, "collect.fees_note"))
	}
	for _, coin := range p.Unpriced {
		list = append(list, words.T(ctx, "collect.unpriced", "Coin", string(coin)))
	}
	if p.Later > 0 {
		list = append(list, words.N(ctx, "collect.later", p.Later, "Most", strconv.Itoa(collect.MaxAddresses)))
	}
	return list
}

// joinAmounts writes amounts of the token and of the network's own coin, without those that are zero.
func joinAmounts(ctx context.Context, native money.Coin, token, own money.Amount) string {
	switch {
	case token.Sign() == 0:
		return plainCoin(native, own)
	case own.Sign() == 0:
		return plainCoin(money.USDT, token)
	}
	return words.T(ctx, "collect.and", "First", plainCoin(money.USDT, token), "Second", plainCoin(native, own))
}

// describeArriving is what arrives at the destination, and its value; empty where a price isn't known.
func describeArriving(ctx context.Context, p collect.Plan) (amounts, value string) {
	token, _ := collect.Sum(p.Tokens)
	own, _ := collect.Sum(p.Natives)
	sum := decimal.Zero
	for _, part := range []struct {
		coin   money.Coin
		amount money.Amount
	}{{money.USDT, token}, {p.Input.Native, own}} {
		worth, known := p.Value(part.coin, part.amount)
		if !known && part.amount.Sign() > 0 {
			return joinAmounts(ctx, p.Input.Native, token, own), ""
		}
		sum = sum.Add(worth)
	}
	return joinAmounts(ctx, p.Input.Native, token, own), money.USD.FormatForPeople(sum)
}

// describeFees is what all transactions cost at most.
func describeFees(ctx context.Context, p collect.Plan) string {
	fees := p.Fees()
	text := plainCoin(p.Input.Native, fees)
	if value := formatValue(p, p.Input.Native, fees); value != "" {
		text = words.T(ctx, "collect.fees_fiat", "Fees", text, "Fiat", value)
	}
	if len(p.Gas) > 0 && p.Input.Terms.Payer.Contract {
		text = words.T(ctx, "collect.fees_safe", "Fees", text)
	}
	return text
}

// formatValue is what an amount is worth, for people; empty where no price is known.
func formatValue(p collect.Plan, coin money.Coin, amount money.Amount) string {
	worth, known := p.Value(coin, amount)
	if !known {
		return ""
	}
	return money.USD.FormatForPeople(worth)
}

// leftRow is an amount that stays.
func leftRow(ctx context.Context, p collect.Plan, l collect.LeftOut) dashboard.CollectLeft {
	row := dashboard.CollectLeft{Address: l.Address, Path: l.Path, Amount: plainCoin(l.Coin, l.Amount),
		Value: formatValue(p, l.Coin, l.Amount), Why: words.T(ctx, reasonWords[l.Why])}
	if l.Why == collect.NotWorth || l.Why == collect.NoGas {
		row.Cost = plainCoin(p.Input.Native, l.Cost)
		if value := formatValue(p, p.Input.Native, l.Cost); value != "" {
			row.Cost = words.T(ctx, "collect.fees_fiat", "Fees", row.Cost, "Fiat", value)
		}
	}
	return row
}

// describeLeft sums up what stays.
func describeLeft(ctx context.Context, p collect.Plan) string {
	var token, own money.Amount
	for _, l := range p.Left {
		if l.Coin == money.USDT {
			token = token.Add(l.Amount)
		} else {
			own = own.Add(l.Amount)
		}
	}
	return words.T(ctx, "collect.left_of", "Count", words.N(ctx, "collect.left_n", len(p.Left)), "Amounts",
		joinAmounts(ctx, p.Input.Native, token, own))
}
