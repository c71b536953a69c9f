package signing

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"

	"cointill/chain"
	"cointill/chain/xrpl/params"
	"cointill/core/money"
)

// Codes of the fields of a chain.Difference.
const (
	FieldTransactionType    = "transaction_type"
	FieldNetworkID          = "network_id"
	FieldSender             = "sender"
	FieldDestination        = "destination"
	FieldTag                = "tag"
	FieldAmount             = "amount"
	FieldFee                = "fee"
	FieldSequence           = "sequence"
	FieldLastLedgerSequence = "last_ledger_sequence"
	FieldInvoiceID          = "invoice_id"
	FieldFlags              = "flags"
	FieldSourceTag          = "source_tag"
	FieldTicketSequence     = "ticket_sequence"
	FieldSendMax            = "send_max"
	FieldDeliverMin         = "deliver_min"
	FieldPaths              = "paths"
	FieldMemos              = "memos"
	FieldSigners            = "signers"
	FieldOther              = "other_field" // any other; its value has the header before it
)

// Errors for texts that can't be compared with a payment. They contain no part of the text.
var (
	ErrTooLarge    = errors.New("this is larger than any payment")
	ErrTransaction = errors.New("this is no transaction of the XRP Ledger: a part may be missing")
	ErrUnsigned    = errors.New("this transaction is not signed yet")
	ErrSignature   = errors.New("the signature is not valid")
)

const (
	// maxSize bounds a signed transaction in bytes. One with all paths and memos that servers
	// accept has half as many.
	maxSize = 16 * 1024
	// maxFeeFactor is how many times the approved fee a signed transaction may cost at most.
	maxFeeFactor = 3
	// maxShown bounds the bytes that a difference shows of a field.
	maxShown = 256
	// paymentType is the type of a payment, in the binary form 0.
	paymentType = "Payment"
	// canonicalFlag asks for a canonical signature, which all must be today. Some wallets set it.
	canonicalFlag = 0x80000000
)

// extraFields are the codes of fields that an approved payment never has.
var extraFields = map[fieldCode]string{fieldSourceTag: FieldSourceTag, fieldTicketSequence: FieldTicketSequence,
	fieldSendMax: FieldSendMax, fieldDeliverMin: FieldDeliverMin, fieldPaths: FieldPaths, fieldMemos: FieldMemos,
	fieldSigners: FieldSigners}

// Signed is a signed transaction.
type Signed struct {
	Hash    string
	Account string // the account that pays
	Raw     string // as servers take it
	Fee     money.Amount
	// OtherKey says that the account's own key did not sign. The ledger accepts the signature only
	// if the key is the account's regular key, which the ledger alone knows.
	OtherKey bool
}

// CheckSigned compares a signed transaction, in hexadecimal, with the payment that was approved.
// Without differences it makes exactly that payment, for at most three times the approved fee. An
// error means that there is nothing to compare.
func CheckSigned(p Payment, raw string) (Signed, []chain.Difference, error) {
	from, to, err := p.parse()
	if err != nil {
		return Signed{}, nil, err
	}
	if len(raw) > 2*maxSize {
		return Signed{}, nil, ErrTooLarge
	}
	text, err := hex.DecodeString(raw)
	if err != nil || len(text) == 0 {
		return Signed{}, nil, ErrTransaction
	}
	fields, err := readFields(text)
	if err != nil {
		return Signed{}, nil, ErrTransaction
	}
	c := newComparison(fields)
	key, err := c.verifySignature(fields)
	if err != nil {
		return Signed{}, nil, err
	}
	account := c.takeAccount(fieldAccount)
	fee, _ := parseDrops(c.values[fieldFee])
	c.comparePayment(p, from, to, account)
	c.addExtraFields(fields)
	return Signed{Hash: formatHex(computeHalfHash("TXN\x00", text)), Account: account, Raw: formatHex(text), Fee: fee,
		OtherKey: params.Account(address.Hash160(key)).String() != account}, c.found, nil
}

// comparison collects differences. values has the fields that were not compared yet.
type comparison struct {
	values map[fieldCode][]byte
	found  []chain.Difference
}

func newComparison(fields []field) *comparison {
	c := &comparison{values: map[fieldCode][]byte{}}
	for _, f := range fields {
		c.values[f.code] = f.value
	}
	return c
}

func (c *comparison) compare(field, approved, signed string) {
	if approved != signed {
		c.add(field, approved, signed)
	}
}

func (c *comparison) add(field, approved, signed string) {
	c.found = append(c.found, chain.Difference{Field: field, Approved: approved, Signed: signed})
}

// take returns a field that is compared now; nil means that there is none.
func (c *comparison) take(code fieldCode) []byte {
	value := c.values[code]
	delete(c.values, code)
	return value
}

// takeNumber returns a field of 32 bits in decimal digits; "" means that there is none.
func (c *comparison) takeNumber(code fieldCode) string {
	value := c.take(code)
	if value == nil {
		return ""
	}
	return fmt.Sprint(binary.BigEndian.Uint32(value))
}

// takeAccount returns a field's classic address; "" means that there is none.
func (c *comparison) takeAccount(code fieldCode) string {
	value := c.take(code)
	if len(value) != len(params.Account{}) {
		return formatShown(value)
	}
	return params.Account(value).String()
}

// comparePayment compares all fields that an approved payment has.
func (c *comparison) comparePayment(p Payment, from, to params.Account, account string) {
	kind := formatHex(c.take(fieldTransactionType))
	if kind == "0000" {
		kind = paymentType
	}
	c.compare(FieldTransactionType, paymentType, kind)
	c.compare(FieldNetworkID, formatNumber(p.namedNetwork()), c.takeNumber(fieldNetworkID))
	c.compare(FieldSender, from.String(), account)
	c.compare(FieldDestination, to.String(), c.takeAccount(fieldDestination))
	c.compare(FieldTag, formatNumber(p.Tag), c.takeNumber(fieldDestinationTag))
	c.compare(FieldAmount, p.Amount.String(), formatAmount(c.take(fieldAmount)))
	c.compareFee(p.Fee)
	c.compare(FieldSequence, fmt.Sprint(p.Sequence), c.takeNumber(fieldSequence))
	c.compare(FieldLastLedgerSequence, fmt.Sprint(p.LastLedgerSequence), c.takeNumber(fieldLastLedgerSequence))
	c.compare(FieldInvoiceID, formatHex(p.InvoiceID[:]), formatHex(c.take(fieldInvoiceID)))
	c.compareFlags()
}

// compareFee reports a fee above its bound, and one that is no amount of XRP.
func (c *comparison) compareFee(approved money.Amount) {
	value := c.take(fieldFee)
	if fee, ok := parseDrops(value); !ok || fee.Cmp(approved.MulDiv(maxFeeFactor, 1)) > 0 {
		c.add(FieldFee, approved.String(), formatAmount(value))
	}
}

// compareFlags reports all flags but the one without an effect.
func (c *comparison) compareFlags() {
	if value := c.take(fieldFlags); value != nil {
		flags := binary.BigEndian.Uint32(value) &^ canonicalFlag
		c.compare(FieldFlags, fmt.Sprintf("0x%08X", 0), fmt.Sprintf("0x%08X", flags))
	}
}

// addExtraFields reports all fields that were not compared.
func (c *comparison) addExtraFields(fields []field) {
	for _, f := range fields {
		if _, extra := c.values[f.code]; !extra {
			continue
		}
		name, value := extraFields[f.code], formatShown(f.value)
		switch {
		case name == "":
			name, value = FieldOther, formatShown(f.whole)
		case f.code.kind == kindUint32:
			value = c.takeNumber(f.code)
		case f.code.kind == kindAmount:
			value = formatAmount(f.value)
		}
		c.add(name, "", value)
	}
}

// verifySignature checks the signature and returns the key that made it. A transaction that
// several people signed has no such key, and its signers are a difference.
func (c *comparison) verifySignature(fields []field) (key []byte, err error) {
	key, signature := c.take(fieldSigningPubKey), c.take(fieldTxnSignature)
	switch {
	case len(signature) == 0 && c.values[fieldSigners] != nil:
		return key, nil
	case len(signature) == 0:
		return nil, ErrUnsigned
	case !isSignature(key, signature, joinSigned(fields)):
		return nil, ErrSignature
	}
	return key, nil
}

// isSignature reports whether a key made a signature in its only form that servers accept.
func isSignature(key, signature, text []byte) bool {
	if len(key) != btcec.PubKeyBytesLenCompressed {
		return false
	}
	if key[0] == 0xed {
		return ed25519.Verify(key[1:], text, signature)
	}
	point, err := btcec.ParsePubKey(key)
	if err != nil {
		return false
	}
	parsed, err := ecdsa.ParseDERSignature(signature)
	// Written again, a signature has its lower s and nothing behind it.
	return err == nil && bytes.Equal(parsed.Serialize(), signature) &&
		parsed.Verify(computeHalfHash("", text), point)
}

// computeHalfHash returns the first half of a SHA-512 hash.
func computeHalfHash(prefix string, text []byte) []byte {
	sum := sha512.Sum512(append([]byte(prefix), text...))
	return sum[:32]
}

// parseDrops reads an amount of XRP that is not negative.
func parseDrops(value []byte) (money.Amount, bool) {
	// The first three bits say: no issued currency, positive, no multi-purpose token.
	if len(value) != 8 || value[0]>>5 != 0b010 {
		return money.Amount{}, false
	}
	return money.Units(int64(binary.BigEndian.Uint64(value) &^ (0b111 << 61))), true
}

// formatAmount writes an amount: XRP in drops, others as bytes with 0x, so that none looks like a
// number of drops. "" means that there is none.
func formatAmount(value []byte) string {
	if drops, ok := parseDrops(value); ok {
		return drops.String()
	}
	if len(value) == 0 {
		return ""
	}
	return "0x" + formatHex(value)
}

func formatNumber(n *uint32) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

// formatShown writes the beginning of some bytes.
func formatShown(text []byte) string {
	if len(text) > maxShown {
		return formatHex(text[:maxShown]) + "…"
	}
	return formatHex(text)
}
