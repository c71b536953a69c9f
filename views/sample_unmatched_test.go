package views_test

import (
	"strings"
	"time"

	"github.com/a-h/templ"

	"cointill/views/dashboard"
	"cointill/views/ui"
)

// unmatchedPages are the list of unmatched money, and what is done about it.
func unmatchedPages() map[string]templ.Component {
	page := shell("Unmatched", "unmatched")
	tabs := []dashboard.Tab{{Text: "Open", Href: "/dashboard/unmatched", On: true}, {Text: "Attached", Href: "/dashboard/unmatched?show=attached"}, {Text: "Refunded", Href: "/dashboard/unmatched?show=refunded"}}
	untagged := dashboard.UnmatchedRow{Amount: "31.250002 XRP", Network: "XRP Ledger", Asset: "XRP",
		Why: "No destination tag", Advice: "It arrived in your account without a tag, so its payment is unknown. Ask the sender.", Address: "rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY", Hash: "E3FE6EA3D48F0C2B639448020EA4F03D4F4F8FFDB243A852A0F59177921B4879", Seen: now, Href: "/dashboard/unmatched/7"}
	wrong := dashboard.UnmatchedRow{Amount: "Another asset", Network: "XRP Ledger", Unlisted: true,
		Asset: "FAKE-XRP", Units: "31250002", Why: "Wrong asset", Address: "rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY",
		Tag: "4021881377", Hash: "a1075db55d416d3ca199f55b6084e2115b9345e16c5cf302fc80e9d5fbf5d48d",
		Seen: now, State: "Unconfirmed", PaymentReference: "PAY_9hQ2mVx4Lr7TzKc1Bn3W", Value: "₦48,250.00",
		Href: "/dashboard/unmatched/8"}
	list := rows()
	open := dashboard.UnmatchedTransferProps{Page: page, UnmatchedRow: untagged, Coin: "XRP", Block: "96,412,003",
		CanAttach: true, CanRefund: true,
		Form:  ui.Form{Values: map[string]string{"reference": "PAY_MINE"}, Errors: map[string][]string{"reference": {"No payment here has this reference. Look it up under Transactions."}}},
		Meant: []dashboard.MeantRow{{PaymentRow: list[3], Lacks: "31.250002 XRP", Fits: "exactly that amount", Reasons: []string{"The money came to this payment’s address.", "Its customer says to have paid with this transaction."}}, {PaymentRow: list[2], Lacks: "9.250000 XRP", Fits: "22.000002 more"}}}
	done := open
	done.CanAttach, done.CanRefund, done.Form, done.State, done.Advice, done.Done, done.DoneAt, done.DoneHash, done.DoneNote = false, false, ui.Form{}, "Refunded", "A team member recorded that it was sent back.", true, now, wrong.Hash, "Sent back to the exchange"
	seen := done
	seen.DoneAt = time.Time{}
	sent := open
	sent.CanAttach, sent.CanRefund, sent.Form, sent.State, sent.Advice, sent.Refund = false, false, ui.Form{}, "Refund open", "A refund of it is open. To resolve it in another way, withdraw the refund first.", "SND_9hQ2mVx4Lr7TzKc1Bn3W"
	review := dashboard.AttachProps{Warning: "The money came to the address of another payment, PAY_c7LmZ1oDf9UeAq64GyTw. Attach it here only if you know that this customer sent it.", Page: page, UnmatchedRow: untagged, Payment: list[3], After: "successful", Due: "31.250002 XRP", Before: "0.000000 XRP", Then: "31.250002 XRP", ThenFiat: "$18.00",
		Happens: []string{"It leaves this list and counts towards the payment from the time it was first seen.", "The payment becomes successful. The same rules apply as for every payment.", "Your webhooks are notified. The customer gets the receipt, if your business sends receipts.", "The audit log records it under your name. This can’t be undone."}}
	back := dashboard.UnmatchedRefundProps{Page: page, Href: untagged.Href, Amount: untagged.Amount, Hash: untagged.Hash,
		Form: ui.Form{Values: map[string]string{"hash": wrong.Hash, "note": "Sent back to the exchange"}}}
	return map[string]templ.Component{
		"unmatched-refund-review": dashboard.UnmatchedRefundReview(back),
		"unmatched":               dashboard.Unmatched(dashboard.UnmatchedProps{Page: page, Tabs: tabs, Rows: []dashboard.UnmatchedRow{untagged, wrong, sent.UnmatchedRow}, Pager: ui.PagerProps{Shown: "2 transfers"}}),
		"unmatched-empty":         dashboard.Unmatched(dashboard.UnmatchedProps{Page: page, Tabs: tabs}), "unmatched-none-attached": dashboard.Unmatched(dashboard.UnmatchedProps{Page: page, Tabs: tabs, Shown: "attached"}),
		"unmatched-transfer": dashboard.UnmatchedTransfer(open), "unmatched-transfer-refund-open": dashboard.UnmatchedTransfer(sent), "unmatched-transfer-refunded": dashboard.UnmatchedTransfer(done), "unmatched-transfer-to-see": dashboard.UnmatchedTransfer(seen), "attach-review": dashboard.AttachReview(review),
	}
}

// customerPages are the list of customers and one of them.
func customerPages() map[string]templ.Component {
	page := shell("Customers", "customers")
	var list []dashboard.CustomerRow
	for i, row := range rows() {
		list = append(list, dashboard.CustomerRow{Code: "CUS_m2Vn8QkLx0Td", Name: row.Customer, Email: row.Email, Href: "/dashboard/customers/CUS_m2Vn8QkLx0Td", Payments: []string{"1", "4", "100+"}[i%3], First: row.Created.AddDate(0, -3, 0), Last: row.Created})
	}
	one := dashboard.CustomerProps{Page: page, CustomerRow: list[1], Volumes: []string{"₦1,284,500.00", "KSh 42,000.00"}, SuccessRate: "91 %", SuccessNote: "22 of 24 completed", Recent: rows()[:4], AllHref: "/dashboard/payments?q=wanjiru"}
	long := one
	long.Name, long.Email, long.Payments, long.Volumes = strings.Repeat("Ọláyínká", 12), strings.Repeat("a", 60)+"@"+strings.Repeat("b", 60)+".example", "More than 5,000", nil
	long.Limit = "Based on the latest 5,000 payments."
	mine, gone := one, one
	mine.EraseHref = "/dashboard/customers/CUS_m2Vn8QkLx0Td/erase"
	gone.Name, gone.Email, gone.Erased = "Erased Customer", "cus_m2vn8qklx0td@erased.invalid", true
	erasing := dashboard.EraseProps{Page: page, Code: one.Code, Name: one.Name, Email: one.Email, Href: one.Href, Payments: "4 payments", SecondFactor: true,
		Form: ui.Form{Errors: map[string][]string{"password": {"This isn't your password."}}}}
	waiting := erasing
	waiting.Form, waiting.Refused = ui.Form{}, "A payment of this customer has not ended. Erase the data after it has, which takes a day at most."
	return map[string]templ.Component{
		"customer-mine": dashboard.Customer(mine), "customer-erased": dashboard.Customer(gone), "customer-erase": dashboard.EraseCustomer(erasing), "customer-erase-refused": dashboard.EraseCustomer(waiting),
		"customers": dashboard.Customers(dashboard.CustomersProps{Page: page, Rows: list, Pager: ui.PagerProps{Shown: "8 customers", Next: "/dashboard/customers?after=x"}}), "customers-empty": dashboard.Customers(dashboard.CustomersProps{Page: page}),
		"customers-none": dashboard.Customers(dashboard.CustomersProps{Page: page, Query: "<nobody>"}), "customer": dashboard.Customer(one), "customer-long": dashboard.Customer(long),
	}
}
