package sandbox

import (
	"maps"
	"strings"
)

// Sentence is what the sandbox says in English, with the code and the facts that pages in other
// languages make it of.
type Sentence struct {
	Code  string
	Facts []string // names and values in pairs, of the blanks of the sentence
	Text  string   // in English
}

// isFinal is the blank for the time until money is final, as describeFinal fills it.
const isFinal = "after {{.Depth}} confirmations, in about {{.Seconds}} s"

// nextSentences say how a payment goes on after a scenario, in English, by their codes.
var nextSentences = map[string]string{
	"ended": "The payment stays {{.State}}; the money is listed under Unmatched, with the event " +
		"payment.unexpected_transfer.",
	"abandoned": "The payment becomes processing at the first confirmation, and declined (after_abandoned) " +
		isFinal + ".",
	Exact: "The payment becomes processing at the first confirmation, and successful " + isFinal + ".",
	"exact.late_accepted": "The payment comes late: processing at the first confirmation, and then successful (late) " +
		isFinal + ".",
	"exact.late_declined": "The payment comes late: processing at the first confirmation, and then declined (late) " +
		isFinal + ".",
	Underpay: "Once the money is seen the 7 minutes are over for this payment; it becomes declined (underpaid) " +
		isFinal + ".",
	Overpay: "The payment becomes processing at the first confirmation, and declined (overpaid) " + isFinal + ".",
	TwoParts: "The payment becomes processing with the first part, and successful " + isFinal +
		", when both parts are final.",
	Surplus: "The payment becomes processing at the first confirmation, and successful " + isFinal +
		". The second transfer is not part of it: it is listed under Unmatched then, with the event " +
		"payment.unexpected_transfer.",
	"late.accepted": "The payment's clock is past its 7 minutes; the payment becomes processing at the first " +
		"confirmation, and successful (late) " + isFinal + ".",
	"late.declined": "The payment's clock is past its 7 minutes; the payment becomes processing at the first " +
		"confirmation, and declined (late) " + isFinal + ".",
	AfterAbandoned: "The payment's clock is past its 24 hours; the money makes it processing at the first " +
		"confirmation, and declined (after_abandoned) " + isFinal + ".",
	DoubleSpend: "The payment shows the transfer as pending, then as replaced; it becomes failed (replaced) when " +
		"the rival is final, " + isFinal + ".",
	Reorg: "The payment becomes processing, goes back to initiated {{.Undone}} blocks from now, is " +
		"processing again {{.Back}} blocks later, and successful " + isFinal + ".",
	"reorg.reversed": "The payment stays successful and is flagged as reversed, with the event payment.reversed, as " +
		"soon as the reorganisation is seen. Play reorg again to put the money back on the chain.",
	"reorg.restored": "The payment is no longer flagged as reversed, with the event payment.restored, " + isFinal + ".",
	NeverConfirms: "The payment stays initiated with a pending transfer, even when its 24 hours end. {{.Blocks}} " +
		"blocks from now, in about {{.Seconds}} s, the mempool forgets the transaction; once 24 hours have passed " +
		"too, six of them without it (advance by 86400 seconds then), the payment becomes failed (dropped).",
	"never_confirms.ledger": "No ledger ever validates it, so the payment sees nothing and stays initiated; after 24 " +
		"hours it is abandoned.",
	"never_confirms.partly": "The payment waits for it, even when its 24 hours end. {{.Blocks}} blocks from now, in " +
		"about {{.Seconds}} s, the mempool forgets the transaction; once 24 hours have passed too, six of them " +
		"without it (advance by 86400 seconds then), the payment is decided by the money that is final.",
	Revert: "The payment becomes failed (reverted) when the block that records the failure is final, " + isFinal + ".",
	MissingTag: "The payment doesn't change; the money is listed under Unmatched (missing_tag) when the next " +
		"ledger is validated.",
	WrongAsset: "The payment doesn't change; the transfer is listed under Unmatched (wrong_asset), with the event " +
		"payment.unexpected_transfer.",
	WrongNetwork: "If {{.Network}} is on for this business, the payment becomes processing at the first " +
		"confirmation, and successful when it is final there. Otherwise it doesn't change, and the transfer is " +
		"listed under Unmatched (network_off), with the event payment.unexpected_transfer.",
	"wrong_network.abandoned": "If {{.Network}} is on for this business, the payment becomes processing at the first " +
		"confirmation, and declined (after_abandoned) when it is final there. Otherwise it doesn't change, and the " +
		"transfer is listed under Unmatched (network_off), with the event payment.unexpected_transfer.",
}

// NextSentences lists the sentences of Simulated.Next with their blanks, in English, by their codes.
// Translations are held against them.
func NextSentences() map[string]string { return maps.Clone(nextSentences) }

// newNext returns the next step of a code with its facts.
func newNext(code string, facts ...string) Sentence {
	filled := make([]string, len(facts))
	for i := 0; i+1 < len(facts); i += 2 {
		filled[i], filled[i+1] = "{{."+facts[i]+"}}", facts[i+1]
	}
	return Sentence{Code: code, Facts: facts, Text: strings.NewReplacer(filled...).Replace(nextSentences[code])}
}
