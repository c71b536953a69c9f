package signing

import (
	"bytes"
	"fmt"
	"math/big"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"pgregory.net/rapid"

	"cointill/chain/abi"
	"cointill/chain/ethereum/params"
	"cointill/core/money"
)

// wallet signs transactions of any content with a key that only these tests have.
type wallet struct{ key *btcec.PrivateKey }

func newWallet(number byte) wallet {
	key, _ := btcec.PrivKeyFromBytes(bytes.Repeat([]byte{number}, 32))
	return wallet{key}
}

func (w wallet) address() string {
	return params.OfKey(w.key.PubKey().SerializeUncompressed()[1:]).String()
}

// draft is the content of a transaction before it is signed.
type draft struct {
	chainID, nonce, gasLimit, value *big.Int
	priorityFee, maxFee             *big.Int // a legacy transaction has only maxFee
	receiver, calldata, accessList  []byte
}

// newDraft returns the transaction that a wallet makes of a payment.
func newDraft(t rapid.TB, p Payment) draft {
	t.Helper()
	approved, err := p.parseTransfer()
	if err != nil {
		t.Fatalf("%+v: %v", p, err)
	}
	receiver := approved.receiver()
	return draft{chainID: new(big.Int).SetUint64(p.ChainID), nonce: new(big.Int).SetUint64(p.Nonce),
		gasLimit: new(big.Int).SetUint64(p.GasLimit), value: approved.value(),
		priorityFee: p.MaxPriorityFeePerGas.Big(), maxFee: p.MaxFeePerGas.Big(), receiver: receiver[:],
		calldata: approved.calldata()}
}

// encodeFields returns the items before the signature of an EIP-1559 transaction.
func (d draft) encodeFields() []byte {
	var to []byte
	for _, n := range []*big.Int{d.chainID, d.nonce, d.priorityFee, d.maxFee, d.gasLimit} {
		to = appendInteger(to, n)
	}
	to = appendString(appendInteger(appendString(to, d.receiver), d.value), d.calldata)
	return append(to, encodeList(d.accessList)...)
}

// encodeLegacyFields returns the items before the signature of a legacy transaction.
func (d draft) encodeLegacyFields() []byte {
	var to []byte
	for _, n := range []*big.Int{d.nonce, d.maxFee, d.gasLimit} {
		to = appendInteger(to, n)
	}
	return appendString(appendInteger(appendString(to, d.receiver), d.value), d.calldata)
}

// sign returns the EIP-1559 transaction.
func (w wallet) sign(d draft) []byte {
	fields := d.encodeFields()
	parity, r, s := w.signHash(abi.Keccak([]byte{feeMarketType}, encodeList(fields)))
	return encodeFeeMarket(fields, big.NewInt(int64(parity)), r, s)
}

func encodeFeeMarket(fields []byte, signature ...*big.Int) []byte {
	fields = bytes.Clone(fields)
	for _, n := range signature {
		fields = appendInteger(fields, n)
	}
	return append([]byte{feeMarketType}, encodeList(fields)...)
}

// signLegacy returns the legacy transaction; without a chain id it is valid on every network.
func (w wallet) signLegacy(d draft) []byte {
	fields := d.encodeLegacyFields()
	v, signedFields := big.NewInt(27), bytes.Clone(fields)
	if d.chainID != nil {
		v.Add(v.Lsh(d.chainID, 1), big.NewInt(35))
		signedFields = append(appendInteger(signedFields, d.chainID), stringBase, stringBase)
	}
	parity, r, s := w.signHash(abi.Keccak(encodeList(signedFields)))
	for _, n := range []*big.Int{v.Add(v, big.NewInt(int64(parity))), r, s} {
		fields = appendInteger(fields, n)
	}
	return encodeList(fields)
}

func (w wallet) signHash(hash [32]byte) (parity byte, r, s *big.Int) {
	compact := ecdsa.SignCompact(w.key, hash[:], false)
	return compact[0] - 27, new(big.Int).SetBytes(compact[1:33]), new(big.Int).SetBytes(compact[33:])
}

// samplePayment returns a payment of ether or of a token that newWallet(1) makes.
func samplePayment(token bool) Payment {
	p := Payment{ChainID: 11155111, From: newWallet(1).address(), To: "0x2444374e5963746b7AC424F7C0EF1f6030F32507",
		Amount: money.Units(25_000_000), Nonce: 7, GasLimit: 65_000, MaxFeePerGas: money.Units(30_000_000_000),
		MaxPriorityFeePerGas: money.Units(1_000_000_000)}
	if token {
		p.Token = "0xE8C314C6b26f08665444cAc2f5EC78980593AEA4"
	}
	return p
}

// listFields writes the fields of the differences that CheckSigned finds, or its error.
func listFields(p Payment, raw []byte) string {
	_, differences, err := CheckSigned(p, formatBytes(raw))
	if err != nil {
		return err.Error()
	}
	fields := []string{}
	for _, d := range differences {
		fields = append(fields, d.Field)
	}
	return fmt.Sprint(fields)
}
