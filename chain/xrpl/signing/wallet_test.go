package signing

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"pgregory.net/rapid"

	"cointill/chain"
	"cointill/chain/xrpl/params"
	"cointill/core/money"
)

// wallet signs transactions of any content with a key that only these tests have: one of
// secp256k1, or of ed25519.
type wallet struct {
	secp    *btcec.PrivateKey
	edwards ed25519.PrivateKey
}

func newWallet(number byte) wallet {
	key, _ := btcec.PrivKeyFromBytes(bytes.Repeat([]byte{number}, 32))
	return wallet{secp: key}
}

func newEdwardsWallet(number byte) wallet {
	return wallet{edwards: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{number}, 32))}
}

func (w wallet) publicKey() []byte {
	if w.edwards != nil {
		return append([]byte{0xed}, w.edwards.Public().(ed25519.PublicKey)...)
	}
	return w.secp.PubKey().SerializeCompressed()
}

func (w wallet) address() string { return params.Account(address.Hash160(w.publicKey())).String() }

// draft is the content of a transaction before it is signed, without lengths before values.
type draft map[fieldCode][]byte

// newDraft returns the transaction that a wallet makes of a payment.
func newDraft(t rapid.TB, p Payment) draft {
	t.Helper()
	from, to, err := p.parse()
	if err != nil {
		t.Fatalf("%+v: %v", p, err)
	}
	d := draft{fieldTransactionType: {0, 0}, fieldAccount: from[:], fieldDestination: to[:],
		fieldAmount: encodeDrops(p.Amount.Big().Uint64()), fieldFee: encodeDrops(p.Fee.Big().Uint64()),
		fieldSequence: encodeNumber(p.Sequence), fieldLastLedgerSequence: encodeNumber(p.LastLedgerSequence),
		fieldInvoiceID: p.InvoiceID[:]}
	if p.Tag != nil {
		d[fieldDestinationTag] = encodeNumber(*p.Tag)
	}
	if p.NetworkID > lastUnnamedNetwork {
		d[fieldNetworkID] = encodeNumber(p.NetworkID)
	}
	return d
}

func encodeNumber(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

func encodeDrops(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n|1<<62) }

// encode returns the fields in canonical order.
func (d draft) encode() []byte {
	var to []byte
	for _, code := range slices.SortedFunc(maps.Keys(d), compareCodes) {
		to = append(to, encodeField(code, d[code])...)
	}
	return to
}

// encodeField returns header, length and value of a field.
func encodeField(code fieldCode, value []byte) []byte {
	var header []byte
	switch {
	case code.kind > 15 && code.number > 15:
		header = []byte{0, code.kind, code.number}
	case code.kind > 15:
		header = []byte{code.number, code.kind}
	case code.number > 15:
		header = []byte{code.kind << 4, code.number}
	default:
		header = []byte{code.kind<<4 | code.number}
	}
	if code.kind == kindBlob || code.kind == kindAccount || code.kind == kindVector256 {
		header = appendLength(header, len(value))
	}
	return append(header, value...)
}

func appendLength(to []byte, length int) []byte {
	if length <= 192 {
		return append(to, byte(length))
	}
	return append(to, byte(193+(length-193)/256), byte((length-193)%256))
}

// sign returns the signed transaction.
func (w wallet) sign(d draft) []byte {
	d = maps.Clone(d)
	d[fieldSigningPubKey] = w.publicKey()
	d[fieldTxnSignature] = w.signText(d)
	return d.encode()
}

// signText signs all fields but the signers.
func (w wallet) signText(d draft) []byte {
	d = maps.Clone(d)
	delete(d, fieldSigners)
	text := append([]byte("STX\x00"), d.encode()...)
	if w.edwards != nil {
		return ed25519.Sign(w.edwards, text)
	}
	return ecdsa.Sign(w.secp, computeHalfHash("", text)).Serialize()
}

// samplePayment returns a payment that newWallet(1) makes.
func samplePayment() Payment {
	tag := uint32(7)
	return Payment{Account: newWallet(1).address(), Destination: "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh", Tag: &tag,
		Amount: money.Units(25_000_000), Fee: money.Units(12), Sequence: 9, LastLedgerSequence: 95_000_000,
		InvoiceID: [32]byte{0xab, 31: 0xcd}, NetworkID: 21337}
}

// listFields returns the fields of differences.
func listFields(differences []chain.Difference) (fields []string) {
	for _, d := range differences {
		fields = append(fields, d.Field)
	}
	return fields
}
