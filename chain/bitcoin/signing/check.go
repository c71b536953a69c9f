package signing

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"unicode"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/core/money"
)

// Signed is an approved transaction with valid signatures.
type Signed struct {
	TxID string
	Raw  []byte // to broadcast
	Fee  money.Amount
}

// CheckSigned decodes what a wallet returned for a plan: a PSBT, binary or in base64, with signatures
// or finalised, or a transaction in hexadecimal. It returns the transaction if it spends the plan's
// inputs, all and no others, pays the plan's outputs, all and no others, with a fee of at most three
// times Plan.MaxFee, and each input has a valid signature over the whole transaction. Only the amount
// of the change may differ. The scripts and amounts that it verifies signatures with are the plan's.
// The error is a *Refusal, or wraps ErrPlan.
func CheckSigned(p params.Params, plan Plan, returned []byte) (Signed, error) {
	approved, err := newTransaction(p, plan)
	if err != nil {
		return Signed{}, err
	}
	if len(returned) > chain.MaxSigned {
		return Signed{}, &Refusal{Code: TooLarge}
	}
	tx, packet, err := decodeReturned(returned)
	if errors.Is(err, errPSBTVersion) {
		return Signed{}, &Refusal{Code: PSBTVersion, cause: err}
	}
	if err != nil {
		return Signed{}, &Refusal{Code: Malformed, cause: err}
	}
	if differences := listDifferences(p, plan, approved, tx); len(differences) > 0 {
		return Signed{}, &Refusal{Code: Differs, Differences: differences}
	}
	inputs := inputsOf(plan, approved, tx)
	if packet != nil {
		for i, in := range inputs {
			finalizeInput(scriptKindOf(p, in.Script), in, tx.TxIn[i], packet.inputs[i])
		}
	}
	if err := checkSignatures(p, tx, inputs); err != nil {
		return Signed{}, err
	}
	return describeSigned(tx, inputs), nil
}

// decodeReturned decodes a transaction; packet is nil if it isn't in a PSBT.
func decodeReturned(returned []byte) (tx *wire.MsgTx, decoded *packet, err error) {
	raw := returned
	if !bytes.HasPrefix(raw, []byte(magic)) {
		if raw, err = decodeText(returned); err != nil {
			return nil, nil, err
		}
	}
	if !bytes.HasPrefix(raw, []byte(magic)) {
		tx, err = readTransaction(raw, true)
		return tx, nil, err
	}
	p, err := decodePSBT(raw)
	return p.tx, &p, err
}

// decodeText decodes hexadecimal or base64 with line breaks.
func decodeText(text []byte) ([]byte, error) {
	text = bytes.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
	raw := make([]byte, hex.DecodedLen(len(text)))
	if _, err := hex.Decode(raw, text); err == nil {
		return raw, nil
	}
	raw = make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(raw, text)
	if err != nil {
		return nil, errors.New("it is neither hexadecimal nor base64")
	}
	if !bytes.HasPrefix(raw, []byte(magic)) {
		return nil, errors.New("it is base64 of something else than a PSBT")
	}
	return raw[:n], nil
}

// inputsOf returns the plan's inputs in the order in which a transaction spends them.
func inputsOf(plan Plan, approved, tx *wire.MsgTx) []Input {
	at := map[wire.OutPoint]Input{}
	for i, in := range approved.TxIn {
		at[in.PreviousOutPoint] = plan.Inputs[i]
	}
	inputs := make([]Input, len(tx.TxIn))
	for i, in := range tx.TxIn {
		inputs[i] = at[in.PreviousOutPoint]
	}
	return inputs
}

// checkSignatures verifies the signature of every input. The outputs that it spends are the plan's.
func checkSignatures(p params.Params, tx *wire.MsgTx, inputs []Input) error {
	spent := map[wire.OutPoint]*wire.TxOut{}
	for i, in := range inputs {
		spent[tx.TxIn[i].PreviousOutPoint] = wire.NewTxOut(in.Amount.Big().Int64(), in.Script)
	}
	fetcher := txscript.NewMultiPrevOutFetcher(spent)
	hashes := txscript.NewTxSigHashes(tx, fetcher)
	refusal := &Refusal{Code: NotSigned}
	for i, in := range inputs {
		d := Difference{Field: FieldSignature, Subject: in.Outpoint()}
		kind := scriptKindOf(p, in.Script)
		signature, state := signatureOf(kind, tx.TxIn[i])
		sighash, covers := sighashOf(kind, signature)
		switch {
		case state == signatureMissing:
			d.Signed = "missing"
		case state == signatureOdd:
			d.Signed = "invalid"
		case !covers:
			d = Difference{FieldSighash, d.Subject, "ALL", hex.EncodeToString([]byte{sighash})}
		case !isValid(tx, i, in, fetcher, hashes):
			d.Signed = "invalid"
		default:
			continue
		}
		if state != signatureMissing {
			refusal.Code = Differs
		}
		refusal.Differences = append(refusal.Differences, d)
	}
	if len(refusal.Differences) > 0 {
		return refusal
	}
	return nil
}

// isValid runs the scripts of an input by the rules by which nodes relay transactions.
func isValid(tx *wire.MsgTx, i int, in Input, f txscript.PrevOutputFetcher, hashes *txscript.TxSigHashes) bool {
	engine, err := txscript.NewEngine(in.Script, tx, i, txscript.StandardVerifyFlags, nil, hashes,
		in.Amount.Big().Int64(), f)
	return err == nil && engine.Execute() == nil
}

// describeSigned describes a transaction that was checked.
func describeSigned(tx *wire.MsgTx, inputs []Input) Signed {
	var raw bytes.Buffer
	_ = tx.Serialize(&raw) // a buffer takes everything
	s := Signed{TxID: tx.TxID(), Raw: raw.Bytes()}
	for _, in := range inputs {
		s.Fee = s.Fee.Add(in.Amount)
	}
	for _, out := range tx.TxOut {
		s.Fee = s.Fee.Sub(money.Units(out.Value))
	}
	return s
}
