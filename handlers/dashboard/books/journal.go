package books

import (
	"slices"
	"strconv"

	"cointill/core/journal"
	"cointill/core/money"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/words"
)

// listEntries lists the entries of a period.
func (h *Handlers) listEntries(c *page.Ctx) error {
	ctx := c.UserContext()
	period, wrong := h.readPeriod(c)
	f := journal.Filter{Period: period, Limit: listing.PageSize}
	values := page.ReadQuery(c)
	if account := journal.Account(values.Get("account")); slices.Contains(journal.Accounts(), account) {
		f.Account = account
	}
	if after, err := strconv.ParseInt(values.Get("after"), 10, 64); err == nil && after > 0 {
		f.After = after
	}
	list, next, err := h.Journal.ListEntries(ctx, c.Scope, f)
	if err != nil {
		return err
	}
	props := dashboard.JournalProps{Page: c.FillLayout(words.T(ctx, "books.journal"), "statements"), From: period.From,
		To: period.To, Account: string(f.Account), Query: periodQuery(period).Encode(),
		Wrong: words.TranslateFields(ctx, wrong)}
	for _, account := range journal.Accounts() {
		props.Accounts = append(props.Accounts, string(account))
	}
	for _, e := range list {
		props.Rows = append(props.Rows, entryRow(e))
	}
	query := periodQuery(period)
	if f.Account != "" {
		query.Set("account", string(f.Account))
	}
	first := journalPath + "?" + query.Encode()
	query.Set("after", strconv.FormatInt(next, 10))
	props.Pager = listing.MakePager(words.N(ctx, "books.entries", len(list)), f.After > 0, first, next > 0,
		journalPath+"?"+query.Encode())
	return c.Render(dashboard.Journal(props))
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
