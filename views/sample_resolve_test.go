package views_test

import (
	"strings"

	"github.com/a-h/templ"

	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
)

// resolvePages are what is decided about a declined payment, and its receipt.
func resolvePages(live layout.Page) map[string]templ.Component {
	const hash = "a1075db55d416d3ca199f55b6084e2115b9345e16c5cf302fc80e9d5fbf5d48d"
	page := shell("Record a refund", "payments")
	before := []dashboard.RefundRow{{Amount: "1.000000 XRP", Fiat: "GH₵33.51", Hash: hash, Note: "The surplus, as agreed on the phone", At: now}, {Amount: "0.500000 XRP", Fiat: "GH₵16.76", Note: "Cash at the counter", At: now}}
	ask := dashboard.RefundProps{Page: page, Form: ui.Form{Values: map[string]string{"amount": "8.000000"}}, Reference: "PAY_c7LmZ1oDf9UeAq64GyTw", Coin: "XRP", Received: "8.000000 XRP", ReceivedFiat: "GH₵268.10", Left: "8.000000 XRP", LeftFiat: "GH₵268.10"}
	again := ask
	again.Before, again.Left, again.LeftFiat, again.Surplus = before, "6.500000 XRP", "GH₵217.83", "0.750000"
	again.Form = ui.Form{Values: map[string]string{"amount": "9", "hash": "xprv"}, Errors: map[string][]string{"amount": {"Is more than is left to refund: 6.500000 XRP."}, "hash": {"Must be a transaction hash: 64 of the characters 0–9 and a–f. Never enter a key or secret words here."}}}
	review := dashboard.RefundReviewProps{Page: page, Form: ui.Form{Values: map[string]string{"amount": "8", "hash": hash, "note": "Sent back whole"}}, Reference: ask.Reference, Customer: "Kofi Mensah", Email: "kofi@example.com", Amount: "8.000000 XRP", Fiat: "GH₵268.10", All: true}
	done := paymentPage()
	done.Page, done.CanAccept, done.CanRefund, done.Next, done.Scenarios = live, false, false, "Nothing. The refund is recorded below.", nil
	done.Refunds = before
	done.Notes = []dashboard.NoteRow{{Text: "Called Kofi: he pays the rest tomorrow.\n\n<b>Don’t</b> deliver before.", Author: "Amara Okafor", At: now},
		{Text: strings.Repeat("W", 200) + "\u202e", Author: strings.Repeat("Long name ", 9), At: now}}
	done.Unmatched = []dashboard.UnmatchedRow{{Amount: "31.250002 XRP", Asset: "XRP", Why: "Received after the end", Advice: "The payment had already ended. Send the money back, or deliver something for it.", Hash: hash, Seen: now, Href: "/dashboard/unmatched/7"}}
	reversed := paymentPage()
	reversed.Page, reversed.CanAccept, reversed.CanRefund, reversed.CanClose, reversed.Scenarios = live, false, false, true, nil
	reversed.Next, reversed.Flag = "Ask the customer to pay again. Deliver nothing for this payment until they have paid.", "The network took this money back after it was final. Check your wallet before you deliver anything."
	reversed.Notes, reversed.Note = done.Notes[:1], ui.Form{Values: map[string]string{"text": "x\u202e"},
		Errors: map[string][]string{"text": {"May not hold invisible or control characters."}}}
	paper := dashboard.ReceiptProps{Page: shell("Receipt", "payments"), Title: "Receipt", State: "successful", Business: "Sunbird Coffee", BusinessCode: "BUS_01H8XK", Customer: "Chidi Nwosu", Email: "chidi@example.com",
		Reference: "PAY_9hQ2mVx4Lr7TzKc1Bn3W", BusinessReference: "order-1042", Due: "₦25,000.00", DueCoin: "0.00021437 BTC", Received: "₦25,000.00", ReceivedCoin: "0.00021437 BTC", Sentence: "Paid and final.",
		Rate: "1 BTC = 116620796.00 NGN", Method: "Bitcoin", Network: "Bitcoin", Zone: "Africa/Lagos", Started: now, Settled: now, Printed: now,
		Transfers: []dashboard.TransferRow{{Hash: hash, Amount: "0.00021437 BTC", State: "3 confirmations"}}}
	short := paper
	short.Title, short.State, short.Received, short.ReceivedCoin, short.Sentence, short.Refunds = "Payment record", "declined", "₦20,000.00", "0.00017149 BTC", "Underpaid by 0.00004288 BTC (₦5,000.00).", before
	short.Flag = "The network took this money back after it was final. Check your wallet before you deliver anything."
	return map[string]templ.Component{
		"refund": dashboard.RefundForm(ask), "refund-refused": dashboard.RefundForm(again), "refund-review": dashboard.RefundReview(review),
		"payment-refunded": dashboard.Payment(done), "payment-reversed": dashboard.Payment(reversed), "payment-receipt": dashboard.PaymentReceipt(paper), "payment-record": dashboard.PaymentReceipt(short),
	}
}
