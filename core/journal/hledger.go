package journal

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"cointill/core/money"
	"cointill/core/scope"
)

// hledgerNames are the accounts as hledger's kinds of accounts want them.
var hledgerNames = map[Account]string{
	Wallet: "assets:wallet", Pending: "liabilities:pending", Sales: "revenues:sales", Refunds: "expenses:refunds",
	Declined: "liabilities:declined", Unmatched: "liabilities:unmatched", Reversed: "expenses:reversed",
	InFlight: "assets:in_flight", Payouts: "expenses:payouts", PaidTwice: "expenses:paid_twice",
	NetworkFees: "expenses:network_fees", Owner: "equity:owner",
}

// WriteHledger writes the entries of a filter as a journal file of hledger, which its command
// "hledger check --strict" accepts. It is whole only when no error is returned. Faults: as
// ReadStatement.
func (s *Service) WriteHledger(ctx context.Context, sc scope.Scope, f Filter, out io.Writer) error {
	if err := sc.CheckAction(scope.SeeBooks); err != nil {
		return err
	}
	statement, err := s.ReadStatement(ctx, sc, f.Period)
	if err != nil {
		return err
	}
	file := bufio.NewWriter(out)
	fmt.Fprintf(file, "; Journal in %s, from %s to %s, written by Cointill\n\n", sc.Domain, f.From, f.To)
	for _, info := range money.Coins() {
		fmt.Fprintf(file, "commodity 1.%0*d %s\n", info.Unit, 0, info.Coin)
	}
	for _, coin := range money.ListFeeCoins() {
		fmt.Fprintf(file, "commodity 1.%0*d %s\n", coin.Decimals(), 0, coin)
	}
	for _, currency := range money.Currencies() {
		fmt.Fprintf(file, "commodity 1.00 %s\n", currency)
	}
	for _, line := range statement.Coins {
		for _, account := range Accounts() {
			fmt.Fprintf(file, "account %s:%s\n", hledgerNames[account], line.Network)
		}
	}
	if err := s.ExportEntries(ctx, sc, f, func(list []Entry) error {
		for _, e := range list {
			writeTransaction(file, e)
		}
		return ctx.Err()
	}); err != nil {
		return err
	}
	return file.Flush()
}

// writeTransaction writes an entry as a transaction with two postings.
func writeTransaction(file io.Writer, e Entry) {
	coin := money.Coin(e.Coin)
	cost := ""
	if e.Currency != "" {
		cost = fmt.Sprintf(" @@ %s %s", money.FormatHundredths(e.Value), e.Currency)
	}
	fmt.Fprintf(file, "\n%s * %s | %s  ; at: %s", e.BookedOn, e.Kind, cmp.Or(e.Payment, "no payment"),
		e.CreatedAt.UTC().Format(time.RFC3339))
	if e.HappenedOn != e.BookedOn {
		fmt.Fprintf(file, ", happened_on: %s", e.HappenedOn)
	}
	if e.Send != "" {
		fmt.Fprintf(file, ", send: %s", e.Send)
	}
	if e.Hash != "" {
		fmt.Fprintf(file, ", hash: %s", e.Hash)
	}
	amount := coin.Format(e.Amount) + " " + e.Coin + cost
	fmt.Fprintf(file, "\n    %s:%s  %s\n", hledgerNames[Account(e.Debit)], e.Network, amount)
	fmt.Fprintf(file, "    %s:%s  -%s\n", hledgerNames[Account(e.Credit)], e.Network, amount)
}
