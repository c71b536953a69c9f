// Package journal is the books of a business (contract section 11): an append-only list of
// entries, each of which moves an amount from one account to another. An entry is posted in
// the transaction that records its fact.
//
// The books cover money that watched addresses received, sends with their fees, refunds that a person
// recorded, and what else left these addresses. They are not a wallet's balance.
package journal

// Account is an account of a business in a domain, in exact quantities of a coin on a network.
type Account string

// The accounts. Wallet, Refunds and Reversed grow by debits, the others by credits.
const (
	Wallet    Account = "wallet"    // received, and not known to have left
	Pending   Account = "pending"   // confirmed for a payment that has not ended
	Sales     Account = "sales"     // of Successful payments
	Refunds   Account = "refunds"   // sent back of Successful payments
	Declined  Account = "declined"  // held, of Declined payments
	Unmatched Account = "unmatched" // held, for no payment
	Reversed  Account = "reversed"  // left the chain after its payment was Successful
	InFlight  Account = "in_flight" // of sends that are processing
	Payouts   Account = "payouts"   // paid out by completed sends
	// PaidTwice is what second transactions of a send took.
	PaidTwice Account = "paid_twice"
	// NetworkFees is what networks took for the transactions of sends, in their own coins.
	NetworkFees Account = "network_fees"
	// Owner is what the merchant moved by their own hand, where followers see it.
	Owner Account = "owner"
)

// The further places of a transfer. They hold no money.
const (
	Nowhere  Account = ""         // on no chain, or not looked at yet
	Returned Account = "returned" // sent back whole, as a person recorded
	None     Account = "none"     // not booked: its amount or its asset can't be believed
)

// Accounts lists the accounts in the order of pages.
func Accounts() []Account {
	return []Account{Wallet, Pending, Sales, Refunds, Declined, Unmatched, Reversed, InFlight, Payouts, PaidTwice,
		NetworkFees, Owner}
}

// GrowsByDebit reports whether an account's balance is its debits less its credits.
func (a Account) GrowsByDebit() bool {
	switch a {
	case Wallet, Refunds, Reversed, InFlight, Payouts, PaidTwice, NetworkFees, Owner:
		return true
	}
	return false
}

// The kinds of entries: what happened to the money.
const (
	Received = "received" // it was confirmed
	Lost     = "lost"     // it left the chain before it was final
	Settled  = "settled"  // its payment ended, or a person decided about it
	Refunded = "refunded" // a person recorded that it was sent back
	Left     = "left"     // it left the chain after its payment was Successful
	Restored = "restored" // it is on the chain again after that
)

// The kinds of entries of sends.
const (
	Sent      = "sent"       // a transaction that pays it was seen
	Unsent    = "unsent"     // that transaction failed
	Completed = "completed"  // it is final
	Reopened  = "reopened"   // it left the chain after it was final
	SentTwice = "sent_twice" // a second transaction paid it
	SentOnce  = "sent_once"  // that one left the chain
	FeePaid   = "fee_paid"   // the network took a fee for a transaction that is final
	FeeUnpaid = "fee_unpaid" // that transaction left the chain
)

// Kind is a kind of entries, with what happened in the words of the API.
type Kind struct{ Name, About string }

// Kinds lists the kinds of all entries.
func Kinds() []Kind {
	return []Kind{{Received, "confirmed"}, {Lost, "left the chain before it was final"},
		{Settled, "its payment ended, or a person decided"}, {Refunded, "sent back, as a person recorded"},
		{Left, "left the chain after its payment was Successful"}, {Restored, "on the chain again after that"},
		{Sent, "a transaction that pays a send was seen"}, {Unsent, "it failed"}, {Completed, "it is final"},
		{Reopened, "it left the chain after that"}, {SentTwice, "a second transaction paid the send"},
		{SentOnce, "that one left the chain"},
		{FeePaid, "the network took a fee for a send's transaction that is final"}, {FeeUnpaid, "it left the chain"},
		{Moved, "left your addresses by no send"}, {Unmoved, "it is there again, or a send moved it after all"}}
}

// kindOf returns the kind of an entry between two accounts. refund tells money that a person
// sent back from money that left the chain.
func kindOf(debit, credit Account, refund bool) string {
	switch {
	case debit == Reversed:
		return Left
	case credit == Reversed:
		return Restored
	case debit == Wallet:
		return Received
	case credit != Wallet:
		return Settled
	case refund:
		return Refunded
	}
	return Lost
}

// holdsMoney reports whether a place is an account that stands for money in the wallet.
func (a Account) holdsMoney() bool {
	return a == Pending || a == Sales || a == Declined || a == Unmatched
}

// findEntry returns the accounts to debit and credit when the money of a transfer goes from one
// place to another one. ok is false when no account changes.
func findEntry(from, to Account) (debit, credit Account, ok bool) {
	switch {
	case from == Sales && to == Reversed:
		return Reversed, Wallet, true
	case from == Reversed && to == Sales:
		return Wallet, Reversed, true
	case from == Returned && to == Reversed: // sent back, and not received any more
		return Unmatched, Wallet, true
	case from == Reversed && to == Returned:
		return Wallet, Unmatched, true
	case from.holdsMoney() && to.holdsMoney():
		return from, to, true
	case to.holdsMoney():
		return Wallet, to, true
	case from.holdsMoney():
		return from, Wallet, true
	}
	return "", "", false
}
