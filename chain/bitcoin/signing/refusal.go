package signing

import (
	"fmt"

	"cointill/chain"
	"cointill/core/money"
)

// Code says why a returned transaction is refused.
type Code string

// The codes of refusals.
const (
	TooLarge    Code = "too_large"    // more than chain.MaxSigned bytes; nothing of it was decoded
	Malformed   Code = "malformed"    // neither a PSBT nor a transaction
	PSBTVersion Code = "psbt_version" // a PSBT of another version than 0
	NotSigned   Code = "unsigned"     // an input has no signature
	Differs     Code = "differs"      // it isn't the approved transaction, or a signature of it is wrong
)

// Refusal is the error of CheckSigned about a returned transaction.
type Refusal struct {
	Code Code
	// Differences list everything in which the transaction isn't the approved one, for NotSigned and
	// Differs.
	Differences []Difference
	cause       error
}

// Error implements error.
func (r *Refusal) Error() string {
	text := "signing: the returned transaction is refused: " + string(r.Code)
	for _, d := range r.Differences {
		text += fmt.Sprintf("; %s of %s: approved %q, signed %q", d.Field, d.Subject, d.Approved, d.Signed)
	}
	if r.cause != nil {
		text += ": " + r.cause.Error()
	}
	return text
}

// Unwrap returns what the decoding failed with.
func (r *Refusal) Unwrap() error { return r.cause }

// Field names a part of a transaction.
type Field string

// The fields that differences are about, with their subject and their values. A value is empty where
// there is none: an output that isn't approved, an input that isn't signed for.
const (
	// FieldInput: a spent output. The subject is its outpoint; the values are its amount if it is the
	// account's, else the outpoint.
	FieldInput Field = "input"
	// FieldOutput: an output that pays. The subject is the address, or the script in hexadecimal where
	// it has none; the values are amounts.
	FieldOutput Field = "output"
	// FieldChange: the output that returns to the account, as for FieldOutput.
	FieldChange Field = "change"
	// FieldFee: the fee. Approved is the greatest that is taken.
	FieldFee Field = "fee"
	// FieldVersion, FieldLockTime and FieldSequence: numbers of the transaction that say when it is
	// valid (BIP 68) and whether it can be replaced (BIP 125). The subject of FieldSequence is an
	// outpoint.
	FieldVersion  Field = "version"
	FieldLockTime Field = "lock_time"
	FieldSequence Field = "sequence"
	// FieldSighash: which parts of the transaction a signature covers (BIP 143, BIP 341). The subject is
	// the input's outpoint; the values are "ALL" and the type's byte in hexadecimal.
	FieldSighash Field = "sighash"
	// FieldSignature: an input's signature. The subject is the input's outpoint; Signed is "missing" or
	// "invalid".
	FieldSignature Field = "signature"
)

// Difference is a part of the signed transaction that isn't as approved. Amounts are in satoshi, in
// decimal digits.
type Difference struct {
	Field    Field  `json:"field"`
	Subject  string `json:"subject"`
	Approved string `json:"approved"`
	Signed   string `json:"signed"`
}

// Describe writes amounts in the coin, and names the subject in each value.
func (d Difference) Describe(coin money.Coin) chain.Difference {
	shown := chain.Difference{Field: string(d.Field), Approved: d.Approved, Signed: d.Signed}
	for _, value := range []*string{&shown.Approved, &shown.Signed} {
		amount, err := money.ParseUnits(*value)
		switch {
		case err != nil: // empty, or no amount
			continue
		case d.Field == FieldOutput, d.Field == FieldChange, d.Field == FieldInput:
			*value = fmt.Sprintf("%s %s, %s", coin.Format(amount), coin, d.Subject)
		case d.Field == FieldFee:
			*value = fmt.Sprintf("%s %s", coin.Format(amount), coin)
		}
	}
	if d.Field == FieldSignature || d.Field == FieldSighash || d.Field == FieldSequence {
		shown.Signed = fmt.Sprintf("%s, %s", shown.Signed, d.Subject)
	}
	return shown
}
