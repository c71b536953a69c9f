package sandbox

import (
	"slices"
	"strings"

	"cointill/core/fault"
	"cointill/core/money"
)

// Scenario is one way in which a customer's money may or may not arrive.
type Scenario struct {
	Code        string
	Label       string
	Explanation string       // one sentence: what happens, and how it ends
	coins       []money.Coin // that it makes sense for; nil: all
	why         string       // why it makes none for the others
	later       bool         // makes sense for a payment that has ended: more money comes
	moves       func(*act) error
}

// The codes of the scenarios (contract section 8).
const (
	Exact          = "exact"
	Underpay       = "underpay"
	Overpay        = "overpay"
	TwoParts       = "two_parts"
	Late           = "late"
	AfterAbandoned = "after_abandoned"
	DoubleSpend    = "double_spend"
	Reorg          = "reorg"
	NeverConfirms  = "never_confirms"
	Revert         = "revert"
	MissingTag     = "missing_tag"
	WrongAsset     = "wrong_asset"
)

// Scenarios lists all of them, in the order pages show them.
func Scenarios() []Scenario {
	reorganised := []money.Coin{money.BTC, money.ETH, money.USDT, money.DOGE}
	validated := "A validated ledger of the XRP Ledger never changes, and nothing is seen before."
	failing := []money.Coin{money.ETH, money.USDT, money.XRP}
	return []Scenario{
		{Code: Exact, Label: "Exact amount", later: true, moves: (*act).exact,
			Explanation: "The customer pays what is still owed: the payment becomes Successful at its final confirmation."},
		{Code: Underpay, Label: "Too little", later: true, moves: (*act).underpay,
			Explanation: "90 % comes, and the window closes behind it: the payment is Declined as underpaid."},
		{Code: Overpay, Label: "Too much", later: true, moves: (*act).overpay,
			Explanation: "110 % comes: the payment is Declined as overpaid."},
		{Code: TwoParts, Label: "In two parts", moves: (*act).twoParts,
			Explanation: "60 % comes, and the rest in the next block: the parts add up and the payment becomes Successful."},
		{Code: Late, Label: "Late", moves: (*act).late,
			Explanation: "The exact amount comes after the 7 minutes and before the 24 hours: accepted with a remark, or Declined, as the business has set."},
		{Code: AfterAbandoned, Label: "After it was abandoned", moves: (*act).afterAbandoned,
			Explanation: "The exact amount comes after 24 hours, when the payment is Abandoned: it is Declined, and the money is shown."},
		{Code: DoubleSpend, Label: "Double spend", coins: reorganised, why: validated, moves: (*act).doubleSpend,
			Explanation: "The payment is seen, then another transaction spends the same money elsewhere: the payment becomes Failed."},
		{Code: Reorg, Label: "Reorganised away and back", coins: reorganised, why: validated, moves: (*act).reorg,
			Explanation: "The payment confirms, a reorganisation takes the confirmation back, and a later block confirms it for good: Successful in the end."},
		{Code: NeverConfirms, Label: "Never confirms", moves: (*act).neverConfirms,
			Explanation: "The transaction is sent and no block ever takes it: the payment stays Initiated."},
		{Code: Revert, Label: "Reverted", coins: failing, why: "Transactions of this coin can't fail once they are in a block.", moves: (*act).revert,
			Explanation: "The network records the transaction as failed, so it moved nothing: the payment becomes Failed."},
		{Code: MissingTag, Label: "Without the tag", coins: []money.Coin{money.XRP}, why: "Only XRP has destination tags.", moves: (*act).missingTag,
			Explanation: "XRP comes to the account without the payment's destination tag: it credits no payment and is listed under Unmatched."},
		{Code: WrongAsset, Label: "Wrong asset", coins: failing, why: "Addresses of this coin can receive nothing else.", moves: (*act).wrongAsset,
			Explanation: "Another asset comes to the payment's address: it credits nothing and is listed under Unmatched."},
	}
}

// For lists the scenarios that make sense for a coin.
func For(coin money.Coin) []Scenario {
	return slices.DeleteFunc(Scenarios(), func(s Scenario) bool { return !s.fits(coin) })
}

func (s Scenario) fits(coin money.Coin) bool { return s.coins == nil || slices.Contains(s.coins, coin) }

// find finds a scenario by its code, for a coin. Anything else is a fault of the
// field "scenario".
func find(code string, coin money.Coin) (Scenario, error) {
	for _, s := range Scenarios() {
		switch {
		case s.Code != code:
		case !s.fits(coin):
			return Scenario{}, refuse("The scenario " + code + " makes no sense for " + string(coin) + ". " + s.why +
				" Use one of " + codes(For(coin)) + ".")
		default:
			return s, nil
		}
	}
	return Scenario{}, refuse("Must be one of " + codes(Scenarios()) + ".")
}

func codes(scenarios []Scenario) string {
	var all []string
	for _, s := range scenarios {
		all = append(all, s.Code)
	}
	return strings.Join(all, ", ")
}

func refuse(sentence string) error {
	return fault.Validation(fault.Fields{"scenario": {sentence}})
}
