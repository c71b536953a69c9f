// Package refund checks what a person reports of a refund that was sent outside of Cointill, and
// counts how much of the money of a payment or of a transfer may still be refunded.
package refund

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cointill/core/fault"
	"cointill/models"
)

// TransactionHash is how transactions of every coin here are named: 32 bytes in
// hexadecimal digits. It is this narrow so that no private key, seed or extended
// key that a customer pastes by mistake is ever kept.
var TransactionHash = regexp.MustCompile(`^(0x)?[0-9a-fA-F]{64}$`)

// Report is a refund that a person reports. It was sent outside of Cointill.
type Report struct {
	Amount string // of the coin, as typed; "" where it is all of a transfer
	TxID   string // of the transaction that sent it; "" when Note says how
	Note   string
}

// maxNote is how many characters a note may have.
const maxNote = 300

// CheckDetails reports the errors in the description of a refund.
func (r Report) CheckDetails(fields fault.Fields) {
	if r.TxID != "" && !TransactionHash.MatchString(r.TxID) {
		fields.Add("hash", "Must be a transaction hash: 64 of the characters 0–9 and a–f. Never enter a key or "+
			"secret words here.")
	}
	if r.TxID == "" && r.Note == "" {
		fields.Add("note", "Give the transaction’s hash, or say here how the money was sent back.")
	}
	CheckNote(r.Note, fields)
}

// CheckTransfer reports the errors in a refund of a whole transfer. The books have money of it once a block holds it.
func (r Report) CheckTransfer(t models.Transfer) error {
	if !t.IsConfirmed() {
		return fault.New(fault.Conflict, "not_confirmed",
			"This transfer has no confirmation, so it can't be marked as refunded. Wait for it.")
	}
	fields := fault.Fields{}
	r.CheckDetails(fields)
	RefuseIncoming(r.TxID, []string{t.TxID}, fields)
	return fault.Validation(fields)
}

// CheckNote reports the errors in a person's note.
func CheckNote(note string, fields fault.Fields) {
	switch hidden := func(c rune) bool { return !unicode.IsGraphic(c) || c != ' ' && unicode.IsSpace(c) }; {
	case !utf8.ValidString(note) || utf8.RuneCountInString(note) > maxNote:
		fields.Add("note", "Must not be longer than 300 characters.")
	case strings.ContainsFunc(note, hidden):
		fields.Add("note", "May not hold invisible or control characters.")
	}
}

// RefuseIncoming reports the hash of a transaction that brought the money.
func RefuseIncoming(hash string, came []string, fields fault.Fields) {
	if slices.ContainsFunc(came, func(txid string) bool { return SameHash(txid, hash) }) {
		fields.Add("hash", "This is the transaction that brought the money. Give the one that sent it back.")
	}
}

// SameHash compares hashes with and without the prefix 0x and in either case.
func SameHash(a, b string) bool {
	return strings.EqualFold(strings.TrimPrefix(a, "0x"), strings.TrimPrefix(b, "0x"))
}
