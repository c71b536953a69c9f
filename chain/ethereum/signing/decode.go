package signing

import (
	"encoding/hex"
	"errors"
	"math/big"
	"strings"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"

	"cointill/chain/abi"
	"cointill/chain/ethereum/params"
)

// Errors for texts that can't be compared with a payment. They contain no part of the text.
var (
	ErrTooLarge    = errors.New("this is larger than any transaction that nodes take")
	ErrTransaction = errors.New("this is no transaction of Ethereum: a part may be missing")
	ErrUnsigned    = errors.New("this transaction is not signed yet")
	ErrType        = errors.New("this type of transaction is not accepted: only EIP-1559 and legacy ones are")
	ErrSignature   = errors.New("the signature is not valid")
)

// maxSize bounds a signed transaction in bytes. Nodes take no larger ones.
const maxSize = 128 * 1024

// transaction is a signed transaction as it stands in its encoding.
type transaction struct {
	legacy          bool
	chainID         *big.Int // nil means none: a legacy transaction that is valid on every network
	nonce, gasLimit uint64
	// maxFee and priorityFee are prices of gas. A legacy transaction has one price, which is in
	// maxFee; its priorityFee is nil.
	maxFee, priorityFee *big.Int
	receiver            []byte // 20 bytes; none in a transaction that makes a contract
	value               *big.Int
	calldata            []byte
	accessList          []byte // the encoded items

	parity      byte
	r, s        *big.Int
	signingHash [32]byte
}

// decodeText decodes hexadecimal digits with or without 0x.
func decodeText(text string) ([]byte, error) {
	text = strings.TrimPrefix(text, "0x")
	if len(text) > 2*maxSize {
		return nil, ErrTooLarge
	}
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) == 0 {
		return nil, ErrTransaction
	}
	return raw, nil
}

// decodeTransaction decodes a signed transaction.
func decodeTransaction(raw []byte) (transaction, error) {
	switch first := raw[0]; {
	case first == feeMarketType:
		return decodeFeeMarket(raw[1:])
	case first < stringBase:
		return transaction{}, ErrType
	}
	return decodeLegacy(raw)
}

// openList returns a reader for the items of a list that is the whole text.
func openList(text []byte) (*listReader, error) {
	whole := &listReader{rest: text}
	items := whole.readItem(true)
	if !whole.atEnd() {
		return nil, ErrTransaction
	}
	return &listReader{rest: items}, nil
}

func decodeFeeMarket(text []byte) (transaction, error) {
	r, err := openList(text)
	if err != nil {
		return transaction{}, err
	}
	items := r.rest
	t := transaction{chainID: r.readInteger(8), nonce: r.readUint(), priorityFee: r.readInteger(32),
		maxFee: r.readInteger(32)}
	t.readBody(r)
	t.accessList = r.readItem(true)
	unsigned := items[:len(items)-len(r.rest)]
	if r.err == nil && len(r.rest) == 0 {
		return transaction{}, ErrUnsigned
	}
	parity := r.readUint()
	t.readSignature(r)
	if !r.atEnd() || parity > 1 {
		return transaction{}, ErrTransaction
	}
	t.parity = byte(parity)
	t.signingHash = abi.Keccak([]byte{feeMarketType}, encodeList(unsigned))
	return t, nil
}

func decodeLegacy(text []byte) (transaction, error) {
	r, err := openList(text)
	if err != nil {
		return transaction{}, err
	}
	items := r.rest
	t := transaction{legacy: true, nonce: r.readUint(), maxFee: r.readInteger(32)}
	t.readBody(r)
	unsigned := items[:len(items)-len(r.rest)]
	v := r.readInteger(9)
	t.readSignature(r)
	if !r.atEnd() {
		return transaction{}, ErrTransaction
	}
	// Without a chain id v is 27 or 28, with one it is 35 or 36 plus twice the id (EIP-155).
	if v.IsUint64() && (v.Uint64() == 27 || v.Uint64() == 28) {
		t.parity = byte(v.Uint64() - 27)
		t.signingHash = abi.Keccak(encodeList(unsigned))
		return t, nil
	}
	v.Sub(v, big.NewInt(35))
	if v.Sign() < 0 {
		return transaction{}, ErrTransaction
	}
	t.parity = byte(v.Bit(0))
	t.chainID = v.Rsh(v, 1)
	replayProtected := appendInteger(append([]byte(nil), unsigned...), t.chainID)
	t.signingHash = abi.Keccak(encodeList(append(replayProtected, stringBase, stringBase)))
	return t, nil
}

// readBody reads the fields that both types have.
func (t *transaction) readBody(r *listReader) {
	t.gasLimit, t.receiver, t.value = r.readUint(), r.readString(), r.readInteger(32)
	t.calldata = r.readString()
	if size := len(t.receiver); size != 0 && size != len(params.Address{}) {
		r.err = errRLP
	}
}

func (t *transaction) readSignature(r *listReader) { t.r, t.s = r.readInteger(32), r.readInteger(32) }

// recoverSender returns the account whose key made the signature. It rejects the second signature
// that everyone can make of each, as nodes do (EIP-2).
func (t transaction) recoverSender() (params.Address, error) {
	var compact [65]byte
	compact[0] = 27 + t.parity
	t.r.FillBytes(compact[1:33])
	t.s.FillBytes(compact[33:])
	var s btcec.ModNScalar
	s.SetByteSlice(compact[33:])
	if s.IsOverHalfOrder() {
		return params.Address{}, ErrSignature
	}
	key, _, err := ecdsa.RecoverCompact(compact[:], t.signingHash[:])
	if err != nil {
		return params.Address{}, ErrSignature
	}
	return params.OfKey(key.SerializeUncompressed()[1:]), nil
}

// feeCap returns the most that the transaction costs beside what it moves.
func (t transaction) feeCap() *big.Int {
	return new(big.Int).Mul(new(big.Int).SetUint64(t.gasLimit), t.maxFee)
}
