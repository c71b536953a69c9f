package sandbox

import (
	"slices"
	"strings"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/record"
	"cointill/core/scope"
	"cointill/models"
)

// Scenario is one way in which a customer's money may or may not arrive.
type Scenario struct {
	Code        string
	Label       string
	Explanation string        // one sentence: what happens, and how it ends
	Variant     string        // the code of the sentence: Code, or that and the phase of a payment; see Explanations
	short       string        // the sentence beside a payment that waits; Explanation is the longer text
	what        string        // the beginning of that sentence, where it can happen in a later phase too
	until       phase         // the last phase of a payment that it makes sense in
	coins       []money.Coin  // that it makes sense for; nil: all
	why         fault.Message // why it makes none for the others
	moves       func(*act) error
}

// phase is what a payment still does with money that comes.
type phase int

const (
	waiting   phase = iota // it waits for money, or for received money to become final
	abandoned              // it doesn't wait any more, but money brings it back
	ended                  // more money changes nothing but the list of unmatched transfers
)

func phaseOf(v payment.View) phase {
	switch state := v.State(); {
	case state == payment.Abandoned:
		return abandoned
	case state.Final():
		return ended
	}
	return waiting
}

// The codes of the scenarios (contract section 8).
const (
	Exact          = "exact"
	Underpay       = "underpay"
	Overpay        = "overpay"
	TwoParts       = "two_parts"
	Surplus        = "surplus"
	Late           = "late"
	AfterAbandoned = "after_abandoned"
	DoubleSpend    = "double_spend"
	Reorg          = "reorg"
	NeverConfirms  = "never_confirms"
	Revert         = "revert"
	MissingTag     = "missing_tag"
	WrongAsset     = "wrong_asset"
	WrongNetwork   = "wrong_network"
)

// Scenarios lists all of them, in the order pages show them.
func Scenarios() []Scenario {
	reorganised := []money.Coin{money.BTC, money.ETH, money.USDT, money.DOGE}
	validated := fault.NewMessage("A validated ledger of the XRP Ledger never changes, and nothing is seen before.")
	undone := "The payment confirms, a reorganisation takes the confirmation back, and a later block confirms it " +
		"for good: Successful in the end."
	failing := []money.Coin{money.ETH, money.USDT, money.XRP}
	return []Scenario{
		{Code: Exact, Label: "Exact amount", until: ended, moves: (*act).payExact, what: "The exact amount is paid",
			Explanation: "The customer pays what is still due: the payment becomes Successful at its final " +
				"confirmation."},
		{Code: Underpay, Label: "Underpaid", until: ended, moves: (*act).payTooLittle,
			what:        "90 % of the amount is paid",
			Explanation: "90 % is paid, and then the time to pay ends: the payment is Declined as underpaid."},
		{Code: Overpay, Label: "Overpaid", until: ended, moves: (*act).payTooMuch, what: "110 % of the amount is paid",
			Explanation: "110 % is paid: the payment is Declined as overpaid."},
		{Code: TwoParts, Label: "In two parts", until: abandoned, moves: (*act).payTwoParts,
			what: "60 % is paid, and the rest in the next block",
			Explanation: "60 % is paid, and the rest in the next block: the parts add up and the payment becomes " +
				"Successful."},
		{Code: Surplus, Label: "Surplus", until: abandoned, moves: (*act).paySurplus,
			what: "The exact amount is paid, and someone else sends 10 % more",
			Explanation: "The exact amount is paid, and someone else sends 10 % more: the payment becomes Successful, " +
				"and the second transfer is listed under Unmatched."},
		{Code: Late, Label: "Late", moves: (*act).payLate,
			Explanation: "The exact amount is paid after 7 minutes and before 24 hours: accepted with a remark, or " +
				"Declined, as the business has set."},
		{Code: AfterAbandoned, Label: "After 24 hours", until: abandoned, moves: (*act).payAfterAbandoned,
			Explanation: "The exact amount is paid after 24 hours, when the payment is Abandoned: it is Declined, " +
				"and the money is shown."},
		{Code: DoubleSpend, Label: "Double spend", coins: reorganised, why: validated, moves: (*act).doubleSpend,
			Explanation: "The payment is seen, then another transaction spends the same money elsewhere: the " +
				"payment becomes Failed."},
		{Code: Reorg, Label: "Reorganised", coins: reorganised, why: validated, moves: (*act).reorganise, short: undone,
			Explanation: undone +
				" On a payment that is Successful already the money leaves the chain until the scenario is played " +
				"again: it stays Successful and is flagged as reversed."},
		{Code: NeverConfirms, Label: "Never confirms", moves: (*act).neverConfirms,
			short: "The transaction is sent and no block ever takes it: the payment stays Initiated, and is Failed " +
				"once 24 hours have passed.",
			Explanation: "The transaction is sent and no block ever takes it: the payment stays Initiated. 30 " +
				"blocks later the mempool forgets it, " +
				"and once 24 hours have passed the payment is Failed as dropped; advance its clock to get there."},
		{Code: Revert, Label: "Reverted", coins: failing,
			why:   fault.NewMessage("Transactions of this coin can't fail once they are in a block."),
			moves: (*act).payReverted,
			Explanation: "The network records the transaction as failed, so it moved nothing: the payment becomes " +
				"Failed."},
		{Code: MissingTag, Label: "Without the tag", until: abandoned, coins: []money.Coin{money.XRP},
			why: fault.NewMessage("Only XRP has destination tags."), moves: (*act).missingTag,
			Explanation: "XRP arrives in the account without the payment's destination tag: it credits no payment " +
				"and is listed under Unmatched."},
		{Code: WrongAsset, Label: "Wrong asset", until: abandoned, coins: failing,
			why: fault.NewMessage("Addresses of this coin can receive nothing else."), moves: (*act).wrongAsset,
			Explanation: "Another asset arrives at the payment's address: it credits nothing and is listed under " +
				"Unmatched."},
		{Code: WrongNetwork, Label: "On another network", until: abandoned, coins: []money.Coin{money.ETH, money.USDT},
			why: fault.NewMessage("This coin has one network."), moves: (*act).wrongNetwork,
			Explanation: "The coin arrives at the payment's address on another network than the one shown: it counts " +
				"if that network is on for the business, and is listed under Unmatched otherwise."},
	}
}

// For lists the scenarios that make sense for a coin.
func For(coin money.Coin) []Scenario {
	return slices.DeleteFunc(Scenarios(), func(s Scenario) bool { return !s.fitsCoin(coin) })
}

func (s Scenario) fitsCoin(coin money.Coin) bool {
	return s.coins == nil || slices.Contains(s.coins, coin)
}

// Fitting lists the scenarios that can still happen to a payment as it stands,
// with what each would do to it now: none outside the sandbox, none for a payment that expired
// or is too small for its network, and for one that has ended those in which more money comes.
func Fitting(v payment.View) []Scenario {
	p := v.Payment
	unopened := p.Address == "" && (v.State() != payment.Pending || v.Now.After(p.ExpiresAt) || payment.TooSmall(p))
	if p.Domain != string(scope.Test) || !chain.Network(p.Network).IsSandbox() || unopened {
		return nil
	}
	var list []Scenario
	for _, s := range For(v.Coin()) {
		if s.checkCoin(v) == nil {
			s.explainPhase(v)
			list = append(list, s)
		}
	}
	return list
}

// reversesFinal reports that the scenario takes final money back.
func (s Scenario) reversesFinal(v payment.View) bool {
	return s.Code == Reorg && v.State() == payment.Successful && !v.Payment.Reversed
}

// restoresFinal reports that the scenario puts the money of a reversed payment back on the chain.
func (s Scenario) restoresFinal(v payment.View) bool {
	return s.Code == Reorg && v.State() == payment.Successful && v.Payment.Reversed
}

// heldTransfers are the payment's transfers that wait in the mempool.
func heldTransfers(v payment.View) []models.Transfer {
	return slices.DeleteFunc(slices.Clone(v.Transfers), func(t models.Transfer) bool {
		return t.Height != nil || t.Gone
	})
}

// checkCoin says why the scenario can't happen to a payment of a coin that it makes
// sense for; nil when it can.
func (s Scenario) checkCoin(v payment.View) error {
	p, now := v.Payment, phaseOf(v)
	switch {
	case s.reversesFinal(v):
		return s.checkDepth(v)
	case s.restoresFinal(v) && len(heldTransfers(v)) > 0:
		return nil
	case now > s.until && now == ended:
		return fault.New(fault.Conflict, "payment_ended",
			"This payment is %s already. Only more money can still come to it: use %s.",
			record.DescribeState(p.Status), listCodes(listUntil(ended)))
	case now > s.until:
		return fault.New(fault.Conflict, "payment_abandoned",
			"This payment is abandoned, and only a confirmation brings it back: use %s.",
			listCodes(listUntil(abandoned)))
	case s.Code == Late && v.Now.After(p.AbandonsAt):
		return errScenario("24 hours have passed for this payment: use after_abandoned.")
	case s.Code == Reorg && p.FinalDepth < 2:
		return errScenario("This payment is final at its first confirmation, so a reorganisation comes too late to " +
			"be seen.")
	case s.Code == Underpay && p.Due.MulDiv(90, 100).Sign() == 0:
		return errScenario("This payment is too small to pay less: it is one unit.")
	case s.Code == TwoParts && amountOwed(v).MulDiv(60, 100).Sign() == 0:
		return errScenario("What is owed is too small for two parts: it is one unit.")
	}
	return nil
}

// checkDepth refuses a reorganisation that no money is left for, or that would be deeper than is allowed.
func (s Scenario) checkDepth(v payment.View) error {
	switch depth, _ := heldDepth(v); {
	case depth == 0:
		return fault.New(fault.Conflict, "not_on_chain",
			"No transaction of this payment is on the chain, so none can be taken back.")
	case depth > maxReorg:
		return fault.New(fault.Conflict, "too_deep",
			"This payment has %d confirmations; the sandbox reorganises at most %d blocks.", depth, maxReorg)
	}
	return nil
}

// The variants of explanations, which follow the scenario's code: exact.ended.
const (
	whenWaiting   = ".waiting"   // the sentence beside a payment that waits
	whenAbandoned = ".abandoned" // of a payment that is abandoned
	whenEnded     = ".ended"     // of a payment that has ended
	whenReversing = ".reversing" // the money was final
	whenRestoring = ".restoring" // final money was taken back
	onLedger      = ".ledger"    // the network shows nothing before it is validated
)

// Explanations lists what scenarios do to payments, in English, by the codes of the variants.
// Translations are held against them.
func Explanations() map[string]string {
	all := map[string]string{}
	for _, s := range Scenarios() {
		for _, variant := range []string{"", whenWaiting, whenAbandoned, whenEnded, whenReversing, whenRestoring, onLedger} {
			if sentence := s.explainVariant(variant); sentence != "" {
				all[s.Code+variant] = sentence
			}
		}
	}
	return all
}

// explainVariant returns a variant of the explanation; "" for one that the scenario doesn't have.
func (s Scenario) explainVariant(variant string) string {
	switch {
	case variant == "":
		return s.Explanation
	case variant == whenWaiting:
		return s.short
	case variant == whenAbandoned && s.what != "":
		return s.what + ", too late: the payment is Declined as paid after it was abandoned."
	case variant == whenEnded && s.what != "" && s.until == ended:
		return s.what + " after the end: the payment stays as it is, and the money is listed under Unmatched."
	case variant == whenReversing && s.Code == Reorg:
		return "A reorganisation takes the money back, although it was final: the payment stays Successful and is " +
			"flagged as reversed."
	case variant == whenRestoring && s.Code == Reorg:
		return "The next block takes the money again: once it is final, the payment is no longer flagged as reversed."
	case variant == onLedger && s.Code == NeverConfirms:
		return "No ledger ever validates the transaction, so nothing is seen: the payment stays Initiated, and is " +
			"Abandoned once 24 hours have passed."
	}
	return ""
}

// explainPhase sets the explanation to what the scenario does to a payment in its phase.
func (s *Scenario) explainPhase(v payment.View) {
	variant := s.chooseVariant(v)
	s.Variant, s.Explanation = s.Code+variant, s.explainVariant(variant)
}

// chooseVariant returns the variant of the explanation for a payment in its phase.
func (s Scenario) chooseVariant(v payment.View) string {
	switch {
	case s.reversesFinal(v):
		return whenReversing
	case s.restoresFinal(v):
		return whenRestoring
	case s.what != "" && phaseOf(v) == ended:
		return whenEnded
	case s.what != "" && phaseOf(v) == abandoned:
		return whenAbandoned
	case s.Code == NeverConfirms && v.Coin() == money.XRP:
		return onLedger
	case s.short != "":
		return whenWaiting
	}
	return ""
}

// listUntil lists the scenarios that make sense up to a phase.
func listUntil(last phase) []Scenario {
	return slices.DeleteFunc(Scenarios(), func(s Scenario) bool { return s.until < last })
}

// findScenario finds a scenario by its code, for a coin. Anything else is a fault of the
// field "scenario".
func findScenario(code string, coin money.Coin) (Scenario, error) {
	for _, s := range Scenarios() {
		switch {
		case s.Code != code:
		case !s.fitsCoin(coin):
			return Scenario{}, errScenario("The scenario %s makes no sense for %s. %s Use one of %s.", code, coin,
				s.why, listCodes(For(coin)))
		default:
			return s, nil
		}
	}
	return Scenario{}, errScenario("Must be one of %s.", listCodes(Scenarios()))
}

func listCodes(scenarios []Scenario) string {
	var all []string
	for _, s := range scenarios {
		all = append(all, s.Code)
	}
	return strings.Join(all, ", ")
}

func errScenario(text string, args ...any) error { return fault.RefuseField("scenario", text, args...) }
