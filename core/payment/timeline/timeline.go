// Package timeline writes and reads the details of a payment's timeline rows: the act and the facts
// that pages make the row's sentence of.
package timeline

import (
	"encoding/json"

	"cointill/core/money"
	"cointill/models"
)

// Act says by a code what a person, a customer or the sandbox did to a payment. Rows of the timeline
// about the chain have none: their kind and reason say it.
type Act string

// The acts.
const (
	Attached   Act = "attached"    // an unmatched transfer was given to the payment
	Refunded   Act = "refunded"    // a refund outside of Cointill was recorded
	Sent       Act = "sent"        // a refund by Cointill is final
	Closed     Act = "closed"      // a reversed payment was marked as resolved
	Claimed    Act = "claimed"     // the customer named a transaction
	ClockMoved Act = "clock_moved" // the sandbox moved the payment's clock
)

// Facts are the facts of a timeline row, from its detail. Pages make the row's sentence of them in
// the reader's language; the row's remark is the same sentence in English.
type Facts struct {
	Act   Act    `json:"act"`
	Hash  string `json:"hash"`
	Asset string `json:"asset"`
	// Amount is the transfer's or the refund's; nil in rows without it.
	Amount *money.Amount `json:"amount"`
	// Paid and Due are the payment's when its state changed for a reason; nil in other rows.
	Paid *money.Amount `json:"paid"`
	Due  *money.Amount `json:"due"`
	// Network and Via are a transfer's that credits nothing because of them.
	Network string  `json:"network"`
	Via     *string `json:"via"`
	// Note is a person's; nil in rows without one.
	Note *string `json:"note"`
	// AnotherWay says that a refund has no transaction.
	AnotherWay bool `json:"another_way"`
}

// ReadFacts reads the facts of a timeline row. They are empty where its detail holds none.
func ReadFacts(row models.Step) (f Facts) {
	if json.Unmarshal([]byte(row.Detail), &f) != nil {
		return Facts{}
	}
	return f
}

// WriteDetail writes a timeline row's detail: its act and its facts.
func WriteDetail(act Act, facts map[string]any) string {
	if act != "" {
		facts["act"] = act
	}
	text, err := json.Marshal(facts)
	if err != nil {
		return "{}"
	}
	return string(text)
}

// FormatAmount writes the amount of a transfer as the timeline does. An asset that isn't one of
// Cointill's stands before its amount, and one without an amount holds it in its name.
func FormatAmount(asset string, amount money.Amount) string {
	if coin := money.Coin(asset); coin.Info().Unit > 0 {
		return coin.Format(amount) + " " + asset
	}
	if amount.Sign() > 0 {
		return asset + " " + amount.String()
	}
	return asset
}
