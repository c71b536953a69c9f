package views_test

import (
	"github.com/a-h/templ"

	"cointill/views/dashboard"
	"cointill/views/ui"
)

// booksPages are statements and the journal.
func booksPages() map[string]templ.Component {
	statement := dashboard.StatementProps{Page: shell("Statements", "statements"), From: "2026-03-01", To: "2026-03-31",
		Month: "2026-03", Previous: "2026-02", Next: "2026-04", Query: "from=2026-03-01&to=2026-03-31", CanClose: true,
		Currencies: []dashboard.CurrencyRow{
			{Currency: "GHC", Payments: 3, Due: "GH₵1,920.00", Received: "GH₵1,919.10", Difference: "−GH₵0.90", Reversed: "GH₵0.00", Refunded: "GH₵0.00", Declined: "GH₵268.10"},
			{Currency: "NGN", Payments: 1204, Due: "₦60,200,000.00", Received: "₦60,150,000.00", Difference: "₦0.00", Reversed: "₦50,000.00", Refunded: "₦25,000.00", Declined: "₦108,000.00"}},
		Coins: []dashboard.CoinRow{
			{Coin: "BTC", Network: "sandbox-bitcoin", Opening: "0", Received: "0.66982711", Lost: "0.00055651", Refunded: "0", PaidOut: "0", PaidTwice: "0", NetworkFees: "0", Moved: "0.40000000", Closing: "0.26927060", InFlight: "0", Pending: "0.00053787", Declined: "0.00135041", Unmatched: "0.00000330"},
			{Coin: "ETH", Network: "sandbox-arbitrum", Opening: "0.02157245", Received: "0.06408678", Lost: "0", Refunded: "0.00415301", PaidOut: "0", PaidTwice: "0", NetworkFees: "0.00000244", Moved: "0", Closing: "0.08150378", InFlight: "0", Pending: "0", Declined: "0", Unmatched: "0"},
			{Coin: "USDT", Network: "sandbox-ethereum", Opening: "57896.219000", Received: "43163.004103", Lost: "0", Refunded: "123.000002", PaidOut: "61000.000000", PaidTwice: "0", NetworkFees: "0", Moved: "12500.000000", Closing: "27436.223101", InFlight: "0", Pending: "135.347062", Declined: "61.500000", Unmatched: "12.000000"},
			{Coin: "XRP", Network: "sandbox-xrpl", Opening: "12.000000", Received: "8.000000", Lost: "0", Refunded: "1.500000", PaidOut: "1.500000", PaidTwice: "0.500000", NetworkFees: "0.000024", Moved: "0", Closing: "16.499976", InFlight: "1.000000", Pending: "0", Declined: "6.500000", Unmatched: "0"}},
		Banks:  []dashboard.BankRow{{Currency: "GHC", Files: 1}, {Currency: "NGN", Files: 3}},
		Months: []dashboard.MonthRow{{Month: "2026-03"}, {Month: "2026-02", Closed: true, ClosedAt: now, ClosedBy: "Amara Okafor"}, {Month: "2026-01", Closed: true}}}
	closed := statement
	closed.Closed, closed.CanClose, closed.Next, closed.MoreLate = true, false, "", true
	closed.Late = []dashboard.EntryRow{{BookedOn: "2026-04-01", HappenedOn: "2026-03-31", Kind: "received", Debit: "wallet", Credit: "unmatched", Amount: "0.00000330 BTC", Value: "₦296.12", Network: "sandbox-bitcoin", Payment: "PAY_9hQ2mVx4Lr7TzKc1Bn3W", Hash: "a1075db55d416d3ca199f55b6084e2115b9345e16c5cf302fc80e9d5fbf5d48d"}}
	wrong := statement
	wrong.Wrong = map[string][]string{"to": {"Must not be before the first day."}}
	const hash = "a1075db55d416d3ca199f55b6084e2115b9345e16c5cf302fc80e9d5fbf5d48d"
	list := dashboard.JournalProps{Page: shell("Journal", "statements"), From: "2026-03-01", To: "2026-03-31", Account: "sales",
		Accounts: []string{"wallet", "pending", "sales", "refunds", "declined", "unmatched", "reversed"},
		Coins:    []string{"XRP", "BTC", "BTC", ""}, Networks: []string{"sandbox-xrpl", "sandbox-bitcoin", "sandbox-bitcoin", ""},
		Figures: []string{"received", "lost", "refunded"}, Statement: "/dashboard/statements?from=2026-03-01&to=2026-03-31",
		Sums:  []dashboard.SumRow{{Coin: "BTC", Network: "sandbox-bitcoin", Sum: "0.00055651"}, {Coin: "XRP", Network: "sandbox-xrpl", Sum: "-1.500000"}},
		Query: "from=2026-03-01&to=2026-03-31&account=sales", Pager: ui.PagerProps{Shown: "6 entries", Next: "/dashboard/journal?after=7"},
		Rows: []dashboard.EntryRow{
			{BookedOn: "2026-03-01", Kind: "received", Debit: "wallet", Credit: "pending", Network: "sandbox-bitcoin", Amount: "0.00055651 BTC", Value: "₦50,000.00", Payment: "PAY_9hQ2mVx4Lr7TzKc1Bn3W", Hash: hash},
			{BookedOn: "2026-03-01", HappenedOn: "2026-02-28", Kind: "settled", Debit: "pending", Credit: "sales", Network: "sandbox-bitcoin", Amount: "0.00055651 BTC", Value: "₦50,000.00", Payment: "PAY_9hQ2mVx4Lr7TzKc1Bn3W", Hash: hash},
			{BookedOn: "2026-03-02", Kind: "left", Debit: "reversed", Credit: "wallet", Network: "sandbox-bitcoin", Amount: "0.00055651 BTC", Value: "₦50,000.00", Payment: "PAY_9hQ2mVx4Lr7TzKc1Bn3W", Hash: hash},
			{BookedOn: "2026-03-02", Kind: "restored", Debit: "wallet", Credit: "reversed", Network: "sandbox-bitcoin", Amount: "0.00055651 BTC", Value: "₦50,000.00", Payment: "PAY_9hQ2mVx4Lr7TzKc1Bn3W", Hash: hash},
			{BookedOn: "2026-03-03", Kind: "lost", Debit: "unmatched", Credit: "wallet", Network: "sandbox-xrpl", Amount: "1.500000 XRP"},
			{BookedOn: "2026-03-03", Kind: "refunded", Debit: "refunds", Credit: "declined", Network: "sandbox-xrpl", Amount: "1.500000 XRP"}}}
	empty := dashboard.StatementProps{Page: shell("Statements", "statements"), From: "2026-03-01", To: "2026-03-31"}
	none := list
	none.Rows, none.Account = nil, ""
	return map[string]templ.Component{
		"statement": dashboard.Statement(statement), "statement-closed": dashboard.Statement(closed),
		"statement-empty": dashboard.Statement(empty), "statement-wrong": dashboard.Statement(wrong),
		"journal": dashboard.Journal(list), "journal-empty": dashboard.Journal(none),
	}
}
