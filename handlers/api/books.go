package api

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"cointill/core/account/apikey"
	"cointill/core/clock"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/handlers/api/openapi"
)

// entryData is an entry of the journal.
type entryData struct {
	BookedOn   string  `json:"booked_on" format:"date" example:"2026-01-31" doc:"The day of the fact in the business's time zone, or the first open day when that month was closed."`
	HappenedOn string  `json:"happened_on" format:"date" example:"2026-01-31" doc:"The day of the fact."`
	Kind       string  `json:"kind" example:"settled"`
	Debit      string  `json:"debit" example:"pending" doc:"The account that is debited."`
	Credit     string  `json:"credit" example:"sales" doc:"The account that is credited."`
	Coin       string  `json:"coin" example:"BTC" doc:"The coin."`
	Network    string  `json:"network" example:"sandbox-bitcoin" doc:"The network."`
	Amount     string  `json:"amount" example:"0.00055651" doc:"The amount of the coin."`
	Currency   *string `json:"currency" example:"NGN" doc:"The currency of the value; null where no rate was locked."`
	Value      *string `json:"value" example:"50000.00" doc:"The amount's value at the locked rate; null where no rate was locked."`
	Reference  *string `json:"reference" example:"PAY_7QSY02XQT7G50PTFE5MESS2FBX" doc:"The payment; null for none."`
	Send       *string `json:"send" example:"SND_3K9V7QZ2M4X8N6B1C5D0F7G2HJ" doc:"The send; null for none."`
	Hash       *string `json:"hash" example:"4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b" doc:"The transaction that moved the money; of a send the one that pays it, of its fee the one that cost it. null where there is none, or where several are possible."`
	CreatedAt  string  `json:"created_at" format:"date-time" example:"2026-01-31T12:00:00.000000Z" doc:"When it was posted."`
}

// monthData is a month of the books.
type monthData struct {
	Period   string  `json:"period" example:"2026-01" doc:"The month."`
	Closed   bool    `json:"closed" example:"true" doc:"Whether it is closed: no entry is booked in it any more."`
	ClosedAt *string `json:"closed_at" format:"date-time" example:"2026-02-01T08:00:00.000000Z" doc:"When it was closed; null while it is open, or was closed with a later month."`
	ClosedBy *string `json:"closed_by" example:"Ama Mensah" doc:"The person who closed it; null where closed_at is."`
}

// statementData is the statement of a period.
type statementData struct {
	From       string         `json:"from" format:"date" example:"2026-01-01" doc:"The first day."`
	To         string         `json:"to" format:"date" example:"2026-01-31" doc:"The last day."`
	Closed     bool           `json:"closed" example:"true" doc:"Whether every month of the period is closed."`
	Currencies []currencyData `json:"currencies" doc:"By currency, at the payments' locked rates."`
	Coins      []coinData     `json:"coins" doc:"By coin and network, in exact quantities."`
}

type currencyData struct {
	Currency   string `json:"currency" example:"NGN" doc:"The currency."`
	Payments   int64  `json:"payments" example:"12" doc:"Payments that became Successful."`
	Due        string `json:"due" example:"600000.00" doc:"What they asked for."`
	Received   string `json:"received" example:"599800.00" doc:"Received by Successful payments, less what was reversed."`
	Difference string `json:"difference" example:"-200.00" doc:"What they received less what they asked for, before reversals."`
	Reversed   string `json:"reversed" example:"0.00" doc:"What left the chain after its payment was Successful, less what returned."`
	Refunded   string `json:"refunded" example:"0.00" doc:"Sent back: by completed refunds, and as people recorded."`
	Declined   string `json:"declined" example:"1000.00" doc:"By how much the money of Declined payments that is held grew."`
}

type coinData struct {
	Coin      string `json:"coin" example:"BTC" doc:"The coin."`
	Network   string `json:"network" example:"sandbox-bitcoin" doc:"The network."`
	Opening   string `json:"opening" example:"0.00000000" doc:"Received before the period and not known to have left."`
	Received  string `json:"received" example:"0.00660000" doc:"Confirmed in the period."`
	Lost      string `json:"lost" example:"0.00000000" doc:"Left the chain, less what returned."`
	Refunded  string `json:"refunded" example:"0.00000000" doc:"Sent back: by completed refunds, and as a person recorded."`
	PaidOut   string `json:"paid_out" example:"0.00000000" doc:"Sent by completed payouts."`
	PaidTwice string `json:"paid_twice" example:"0.00000000" doc:"Sent by second transactions of a send."`
	Fees      string `json:"network_fees" example:"0.00000000" doc:"Taken by the network for the transactions of sends."`
	Moved     string `json:"moved_by_owner" example:"0.00000000" doc:"Moved from your addresses by no send, where the network shows it."`
	InFlight  string `json:"in_flight" example:"0.00000000" doc:"Of sends that were processing at the end; it is part of closing."`
	Closing   string `json:"closing" example:"0.00660000" doc:"Opening and received, less what left."`
	Sales     string `json:"sales" example:"0.00650000" doc:"Of Successful payments in the period, less what left the chain."`
	Pending   string `json:"pending" example:"0.00000000" doc:"Held at the end for payments that had not ended."`
	Declined  string `json:"declined" example:"0.00010000" doc:"Held at the end, of Declined payments."`
	Unmatched string `json:"unmatched" example:"0.00000000" doc:"Held at the end, for no payment."`
}

func (s *service) bookOperations() []*operation {
	const tag = "Books"
	period := pathParam("period", "A month such as 2026-01, or days such as 2026-01-01..2026-01-15.", "2026-01")
	return []*operation{
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/statements", ID: "listStatements",
			Permission: apikey.ReadReports, Tag: tag, Summary: "List months", Message: "Months found.",
			About: "The months in which something was booked, the latest first, and whether they are closed.",
			Data:  monthData{}, Many: true}, run: listStatements},
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/statements/{period}", ID: "getStatement",
			Permission: apikey.ReadReports, Tag: tag, Summary: "Get a statement", Message: "Statement found.",
			About: "The amounts of a month, or of a range of days: by currency, and by coin and network. Every " +
				"figure is a sum of entries of the journal. They cover money that your addresses received, " +
				"sends with their fees, refunds that a person recorded and what else left your addresses; they are " +
				"not a wallet's balance.",
			Params: []*huma.Param{period}, Data: statementData{}, Refusals: []int{404}},
			run: runRead(passParam("period", "statement", readStatement), showStatement)},
		{Operation: openapi.Operation{Method: http.MethodGet, Path: "/v1/journal", ID: "listEntries",
			Permission: apikey.ReadReports, Tag: tag, Summary: "List entries", Message: "Entries found.",
			About: "The entries that were booked in a range of days, in the order in which they were posted. Each " +
				"debits one account and credits another with the same amount. None is ever changed.",
			Params: append([]*huma.Param{dayParam("from", "The first day; the first of all when left out."),
				dayParam("to", "The last day; the last of all when left out."),
				enumParam("account", "Only entries that debit or credit this account.", accountNames()),
				enumParam("coin", "Only entries in this coin.", coinNames()),
				{Name: "network", In: "query", Description: "Only entries on this network, as entries name it.",
					Example: "sandbox-bitcoin", Schema: &huma.Schema{Type: huma.TypeString}}},
				pageParams()...),
			Data: entryData{}, Many: true}, run: listEntries},
	}
}

func dayParam(name, about string) *huma.Param {
	return &huma.Param{Name: name, In: "query", Description: about, Example: "2026-01-31",
		Schema: &huma.Schema{Type: huma.TypeString, Format: "date"}}
}

// coinNames lists the coins that entries may have, those of networks' fees among them.
func coinNames() (names []string) {
	for _, info := range money.Coins() {
		names = append(names, string(info.Coin))
	}
	return append(names, openapi.CodeNames(money.ListFeeCoins())...)
}

// accountNames lists the accounts as parameters write them.
func accountNames() (names []string) {
	for _, account := range journal.Accounts() {
		names = append(names, string(account))
	}
	return names
}

func listStatements(c *call) error {
	months, err := c.api.Books.ListMonths(c.ctx, c.scope)
	if err != nil {
		return err
	}
	return answerList(c, showAll(months, func(m journal.Month) monthData {
		shown := monthData{Period: m.Month, Closed: m.Closed, ClosedAt: formatStamp(m.ClosedAt)}
		if m.ClosedBy != "" {
			shown.ClosedBy = &m.ClosedBy
		}
		return shown
	}), "")
}

func readStatement(c *call, period string) (journal.Statement, error) {
	p, err := journal.ParsePeriod(period)
	if err != nil {
		return journal.Statement{}, err
	}
	return c.api.Books.ReadStatement(c.ctx, c.scope, p)
}

func showStatement(_ *call, s journal.Statement) (any, error) {
	shown := statementData{From: s.From, To: s.To, Closed: s.Closed, Currencies: []currencyData{}, Coins: []coinData{}}
	for _, l := range s.Currencies {
		shown.Currencies = append(shown.Currencies, currencyData{Currency: l.Currency, Payments: l.Payments,
			Due: money.FormatHundredths(l.Due), Received: money.FormatHundredths(l.Received()),
			Difference: money.FormatHundredths(l.Difference()), Reversed: money.FormatHundredths(l.Reversed),
			Refunded: money.FormatHundredths(l.Refunded), Declined: money.FormatHundredths(l.Declined)})
	}
	for _, l := range s.Coins {
		in := money.Coin(l.Coin).Format
		shown.Coins = append(shown.Coins, coinData{Coin: l.Coin, Network: l.Network, Opening: in(l.Opening),
			Received: in(l.Received), Lost: in(l.Lost), Refunded: in(l.Refunded),
			PaidOut: in(l.PaidOut), PaidTwice: in(l.PaidTwice), Fees: in(l.NetworkFees), Moved: in(l.Moved),
			InFlight: in(l.InFlight), Closing: in(l.Closing),
			Sales: in(l.Sales), Pending: in(l.Pending), Declined: in(l.Declined), Unmatched: in(l.Unmatched)})
	}
	return shown, nil
}

func listEntries(c *call) error {
	q := c.newQuery()
	all := journal.AllDays()
	f := journal.Filter{Period: journal.Period{From: cmp.Or(q.readText("from"), all.From),
		To: cmp.Or(q.readText("to"), all.To)},
		Account: journal.Account(q.oneOf("account", accountNames())), Coin: q.oneOf("coin", coinNames()),
		Network: q.readText("network"), Limit: q.readLimit()}
	list := fmt.Sprintf("journal %s %s %s %s %s", f.From, f.To, f.Account, f.Coin, f.Network)
	f.After = q.readBefore(list)
	if err := q.validationError(); err != nil {
		return err
	}
	rows, next, err := c.api.Books.ListEntries(c.ctx, c.scope, f)
	if err != nil {
		return err
	}
	return answerList(c, showAll(rows, showEntry), c.makeCursor(list, next))
}

func showEntry(e journal.Entry) entryData {
	shown := entryData{BookedOn: e.BookedOn, HappenedOn: e.HappenedOn, Kind: e.Kind, Debit: e.Debit, Credit: e.Credit,
		Coin: e.Coin, Network: e.Network, Amount: money.Coin(e.Coin).Format(e.Amount),
		CreatedAt: clock.Format(e.CreatedAt)}
	if e.Currency != "" {
		value := money.FormatHundredths(e.Value)
		shown.Currency, shown.Value = &e.Currency, &value
	}
	if e.Payment != "" {
		shown.Reference = &e.Payment
	}
	if e.Send != "" {
		shown.Send = &e.Send
	}
	if e.Hash != "" {
		shown.Hash = &e.Hash
	}
	return shown
}
