package books

import (
	"net/url"
	"slices"
	"strconv"

	"cointill/core/fault"
	"cointill/core/journal"
	"cointill/core/money"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// listEntries lists the entries of a filter, with their sums.
func (h *Handlers) listEntries(c *page.Ctx) error {
	ctx := c.UserContext()
	f, wrong := h.readFilter(c)
	f.Limit = listing.PageSize
	if after, err := strconv.ParseInt(page.ReadQuery(c).Get("after"), 10, 64); err == nil && after > 0 {
		f.After = after
	}
	list, next, err := h.Journal.ListEntries(ctx, c.Scope, f)
	if err != nil {
		return err
	}
	coins, err := h.Journal.ListCoins(ctx, c.Scope)
	if err != nil {
		return err
	}
	props := dashboard.JournalProps{Page: c.FillLayout(words.T(ctx, "books.journal"), "statements"), To: f.To,
		Account: string(f.Account), Coin: f.Coin, Network: f.Network, Figure: string(f.Figure),
		Statement: statementPath + "?" + statementQuery(f).Encode(), Query: filterQuery(f).Encode(),
		Wrong: words.TranslateFields(ctx, wrong)}
	if f.HasStart() {
		props.From = f.From
	}
	if f.IsNarrow() {
		sums, err := h.Journal.SumList(ctx, c.Scope, f)
		if err != nil {
			return err
		}
		for _, s := range sums {
			props.Sums = append(props.Sums, dashboard.SumRow{Coin: s.Coin, Network: s.Network,
				Sum: formatCoin(money.Coin(s.Coin), s.Sum)})
		}
	}
	for _, account := range journal.Accounts() {
		props.Accounts = append(props.Accounts, string(account))
	}
	for _, figure := range journal.Figures() {
		props.Figures = append(props.Figures, string(figure))
	}
	for _, known := range append(coins, journal.CoinNetwork{Coin: f.Coin, Network: f.Network}) {
		props.Coins, props.Networks = append(props.Coins, known.Coin), append(props.Networks, known.Network)
	}
	for _, e := range list {
		props.Rows = append(props.Rows, entryRow(e))
	}
	query := filterQuery(f)
	first := journalPath + "?" + query.Encode()
	query.Set("after", strconv.FormatInt(next, 10))
	props.Pager = listing.MakePager(words.N(ctx, "books.entries", len(list)), f.After > 0, first, next > 0,
		journalPath+"?"+query.Encode())
	return c.Render(dashboard.Journal(props))
}

// readFilter reads the filter of the address. A last day alone is a period without a start. wrong is as of
// readPeriod.
func (h *Handlers) readFilter(c *page.Ctx) (f journal.Filter, wrong fault.Fields) {
	values := page.ReadQuery(c)
	f.Period, wrong = h.readPeriod(c)
	if to := page.CleanText(values.Get("to")); to != "" && values.Get("from") == "" && values.Get("month") == "" {
		until := journal.Period{From: journal.AllDays().From, To: to}
		if wrong = until.FindErrors(); len(wrong) == 0 {
			f.Period = until
		}
	}
	if account := journal.Account(values.Get("account")); slices.Contains(journal.Accounts(), account) {
		f.Account = account
	}
	if figure := journal.Figure(values.Get("figure")); slices.Contains(journal.Figures(), figure) {
		f.Figure = figure
	}
	f.Coin, f.Network = page.CleanText(values.Get("coin")), page.CleanText(values.Get("network"))
	return f, wrong
}

// filterQuery returns a filter as the parameters of an address.
func filterQuery(f journal.Filter) url.Values {
	query := periodQuery(f.Period)
	if !f.HasStart() {
		query.Del("from")
	}
	for name, value := range map[string]string{"account": string(f.Account), "coin": f.Coin, "network": f.Network,
		"figure": string(f.Figure)} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// statementQuery returns the period of the statement that leads to a filter: the last month where the filter
// has no start.
func statementQuery(f journal.Filter) url.Values {
	if !f.HasStart() {
		return url.Values{"month": {f.To[:len("2006-01")]}}
	}
	return periodQuery(f.Period)
}

// entryRow shows an entry.
func entryRow(e journal.Entry) dashboard.EntryRow {
	row := dashboard.EntryRow{BookedOn: e.BookedOn, Kind: e.Kind, Debit: e.Debit, Credit: e.Credit, Network: e.Network,
		Amount: money.Coin(e.Coin).Format(e.Amount) + " " + e.Coin, Payment: e.Payment,
		Send: e.Send, Hash: e.Hash}
	if e.HappenedOn != e.BookedOn {
		row.HappenedOn = e.HappenedOn
	}
	if e.Currency != "" {
		row.Value = display.FormatHundredths(money.Currency(e.Currency), e.Value)
	}
	return row
}
