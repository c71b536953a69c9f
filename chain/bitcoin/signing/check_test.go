package signing

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"cointill/chain"
	"cointill/chain/bitcoin/params"
	"cointill/core/money"
)

// mixedPlan spends an output of each script type and has two payments and change.
func mixedPlan(t testing.TB, p params.Params) Plan {
	t.Helper()
	r := Request{Outputs: []Output{payTo(p, p2wpkh, 0, 100_000), payTo(p, p2pkh, 1, 200_000)},
		Change: changeOf(p, p2tr), FeeRate: 2000, HighestFeeRate: 3000}
	for i, kind := range kinds {
		r.Unspent = append(r.Unspent, unspentOutput(kind, i, 90_000))
	}
	return selectInputs(t, p, r)
}

// buildPSBT is BuildPSBT that must succeed.
func buildPSBT(t testing.TB, p params.Params, plan Plan) []byte {
	t.Helper()
	raw, err := BuildPSBT(p, plan)
	if err != nil {
		t.Fatalf("BuildPSBT: %v", err)
	}
	return raw
}

// refusalOf returns why a transaction is refused.
func refusalOf(t testing.TB, p params.Params, plan Plan, returned []byte) *Refusal {
	t.Helper()
	signed, err := CheckSigned(p, plan, returned)
	refusal := new(Refusal)
	if !errors.As(err, &refusal) {
		t.Fatalf("CheckSigned gave %+v, %v, want a refusal", signed.TxID, err)
	}
	return refusal
}

// finalize moves the signatures of a PSBT into final scripts, as wallets do.
func finalize(t testing.TB, p params.Params, raw []byte, plan Plan) []byte {
	t.Helper()
	made, err := decodePSBT(raw)
	if err != nil {
		t.Fatalf("decode the PSBT: %v", err)
	}
	for i, in := range plan.Inputs {
		var final wire.TxIn
		finalizeInput(scriptKindOf(p, in.Script), in, &final, made.inputs[i])
		made.inputs[i] = nil
		if len(final.SignatureScript) > 0 {
			made.inputs[i] = append(made.inputs[i], pair{[]byte{inFinalScript}, final.SignatureScript})
		}
		if len(final.Witness) > 0 {
			made.inputs[i] = append(made.inputs[i], pair{[]byte{inFinalWitness}, encodeWitness(final.Witness)})
		}
	}
	return made.encode()
}

func encodeWitness(witness wire.TxWitness) []byte {
	var out bytes.Buffer
	_ = wire.WriteVarInt(&out, 0, uint64(len(witness)))
	for _, item := range witness {
		_ = wire.WriteVarBytes(&out, 0, item)
	}
	return out.Bytes()
}

// TestSignedTransactionIsTakenInEachForm: the approved transaction is taken as a PSBT with signatures or finalised, in
// binary, base64 or hexadecimal, and as a transaction; each gives the same.
func TestSignedTransactionIsTakenInEachForm(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	plan := mixedPlan(t, p)
	psbt := signPSBT(t, buildPSBT(t, p, plan), plan.Inputs)
	final := finalize(t, p, psbt, plan)
	want := signTransaction(t, p, plan, leave, txscript.SigHashAll)
	text := base64.StdEncoding.EncodeToString(psbt)
	for name, returned := range map[string][]byte{
		"PSBT":               psbt,
		"base64":             []byte(text),
		"base64 in lines":    []byte(text[:76] + "\r\n" + text[76:] + "\n"),
		"hexadecimal":        []byte(hex.EncodeToString(psbt)),
		"finalised PSBT":     final,
		"finalised base64":   []byte(base64.StdEncoding.EncodeToString(final)),
		"transaction":        hexOf(want),
		"transaction, upper": bytes.ToUpper(append(hexOf(want), '\n')),
	} {
		signed, err := CheckSigned(p, plan, returned)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var tx wire.MsgTx
		if err := tx.Deserialize(bytes.NewReader(signed.Raw)); err != nil || tx.TxID() != signed.TxID {
			t.Errorf("%s: transaction %x of id %s: %v", name, signed.Raw, signed.TxID, err)
		}
		outputs, vsize := readOutputs(t, p, plan, signed.Raw)
		if signed.Fee.Cmp(plan.Fee) != 0 || !reflect.DeepEqual(outputs, plan.Outputs) {
			t.Errorf("%s: fee %s and outputs %+v, want %s and %+v", name, signed.Fee, outputs, plan.Fee, plan.Outputs)
		}
		if vsize > plan.VSize || vsize < plan.VSize-4 {
			t.Errorf("%s: %d vB, want %d or a few less", name, vsize, plan.VSize)
		}
	}
}

// TestEachScriptTypeIsChecked: a plan of one script type is taken with its signatures, and refused with a bit of any
// signature changed.
func TestEachScriptTypeIsChecked(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	for _, kind := range kinds {
		plan := selectInputs(t, p, requestOf(p, kind, 40_000, 40_000))
		psbt := signPSBT(t, buildPSBT(t, p, plan), plan.Inputs)
		if _, err := CheckSigned(p, plan, psbt); err != nil {
			t.Errorf("%s: %v", kindNames[kind], err)
		}
		for i, in := range plan.Inputs {
			changed, _ := decodePSBT(slices.Clone(psbt))
			m := changed.inputs[i]
			m[len(m)-1].value[20] ^= 1
			refusal := refusalOf(t, p, plan, changed.encode())
			if want := []Difference{{FieldSignature, in.Outpoint(), "", "invalid"}}; refusal.Code != Differs || !reflect.DeepEqual(refusal.Differences, want) {
				t.Errorf("%s, signature %d changed: %v, want %v", kindNames[kind], i, refusal, want)
			}
		}
	}
}

// TestChangedTransactionIsRefused (SD-7): each change of the approved transaction that a wallet could sign is refused, and its
// difference is named.
func TestChangedTransactionIsRefused(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	plan := mixedPlan(t, p)
	first, second, change := plan.Outputs[0], plan.Outputs[1], plan.Outputs[2]
	foreign := wire.OutPoint{Hash: [32]byte{7}, Index: 3}
	script := func(out Output) []byte { return p.Script(out.Address) }
	own := func(i int) string { return plan.Inputs[i].Outpoint() }
	highest := plan.MaxFee.MulDiv(3, 1)
	units := func(a money.Amount) int64 { return a.Big().Int64() }
	changeAtHighest := units(change.Amount.Add(plan.Fee).Sub(highest))
	for _, c := range []struct {
		name string
		edit func(tx *wire.MsgTx)
		want []Difference
	}{
		{"an amount", func(tx *wire.MsgTx) { tx.TxOut[0].Value-- }, []Difference{{FieldOutput, first.Address, "100000", "99999"}}},
		{"two amounts", func(tx *wire.MsgTx) { tx.TxOut[0].Value++; tx.TxOut[1].Value-- },
			[]Difference{{FieldOutput, first.Address, "100000", "100001"}, {FieldOutput, second.Address, "200000", "199999"}}},
		{"an address", func(tx *wire.MsgTx) { tx.TxOut[1].PkScript = script(payTo(p, p2tr, 9, 1)) },
			[]Difference{{FieldOutput, second.Address, "200000", ""}, {FieldOutput, payTo(p, p2tr, 9, 1).Address, "", "200000"}}},
		{"addresses swapped", func(tx *wire.MsgTx) {
			tx.TxOut[0].PkScript, tx.TxOut[1].PkScript = tx.TxOut[1].PkScript, tx.TxOut[0].PkScript
		}, []Difference{{FieldOutput, first.Address, "100000", "200000"}, {FieldOutput, second.Address, "200000", "100000"}}},
		{"an output left out", func(tx *wire.MsgTx) { tx.TxOut[2].Value += tx.TxOut[0].Value; tx.TxOut = tx.TxOut[1:] },
			[]Difference{{FieldOutput, first.Address, "100000", ""}}},
		{"an output more", func(tx *wire.MsgTx) { tx.TxOut[2].Value -= 600; tx.AddTxOut(wire.NewTxOut(600, script(first))) },
			[]Difference{{FieldOutput, first.Address, "", "600"}}},
		{"data more", func(tx *wire.MsgTx) { tx.AddTxOut(wire.NewTxOut(0, []byte{0x6a, 1, 2})) },
			[]Difference{{FieldOutput, "6a0102", "", "0"}}},
		{"change to another key", func(tx *wire.MsgTx) { tx.TxOut[2].PkScript = script(first) },
			[]Difference{{FieldChange, change.Address, change.Amount.String(), ""}, {FieldOutput, first.Address, "", change.Amount.String()}}},
		{"change twice", func(tx *wire.MsgTx) {
			tx.TxOut[2].Value -= 1000
			tx.AddTxOut(wire.NewTxOut(1000, script(change)))
		}, []Difference{{FieldOutput, change.Address, "", "1000"}}},
		{"change of dust", func(tx *wire.MsgTx) { tx.TxOut[2].Value = 329 },
			[]Difference{{FieldChange, change.Address, change.Amount.String(), "329"},
				{FieldFee, "", highest.String(), plan.Fee.Add(change.Amount).Sub(money.Units(329)).String()}}},
		{"no change", func(tx *wire.MsgTx) { tx.TxOut = tx.TxOut[:2] },
			[]Difference{{FieldChange, change.Address, change.Amount.String(), ""},
				{FieldFee, "", highest.String(), plan.Fee.Add(change.Amount).String()}}},
		{"the greatest fee and one", func(tx *wire.MsgTx) { tx.TxOut[2].Value = changeAtHighest - 1 },
			[]Difference{{FieldFee, "", highest.String(), highest.Add(money.Units(1)).String()}}},
		{"more than its inputs", func(tx *wire.MsgTx) { tx.TxOut[2].Value += units(plan.Fee) + 1 },
			[]Difference{{FieldFee, "", highest.String(), "-1"}}},
		{"a negative amount", func(tx *wire.MsgTx) { tx.TxOut[2].Value = -400_000 },
			[]Difference{{FieldChange, change.Address, change.Amount.String(), "-400000"},
				{FieldFee, "", highest.String(), plan.Fee.Add(change.Amount).Add(money.Units(400_000)).String()}}},
		{"an input left out", func(tx *wire.MsgTx) { tx.TxIn = tx.TxIn[1:] },
			[]Difference{{FieldInput, own(0), "90000", ""}, {FieldFee, "", highest.String(), plan.Fee.Sub(money.Units(90_000)).String()}}},
		{"a foreign input", func(tx *wire.MsgTx) { tx.AddTxIn(&wire.TxIn{PreviousOutPoint: foreign, Sequence: sequence}) },
			[]Difference{{FieldInput, foreign.String(), "", foreign.String()}}},
		{"another output of the same transaction", func(tx *wire.MsgTx) { tx.TxIn[1].PreviousOutPoint.Index = 0 },
			[]Difference{{FieldInput, plan.Inputs[1].TxID + ":0", "", plan.Inputs[1].TxID + ":0"}, {FieldInput, own(1), "90000", ""}}},
		{"an input twice", func(tx *wire.MsgTx) { tx.TxIn = append(tx.TxIn, tx.TxIn[0]) },
			[]Difference{{FieldInput, own(0), "", own(0)}}},
		{"a lock time", func(tx *wire.MsgTx) { tx.LockTime = 5 }, []Difference{{FieldLockTime, "", "0", "5"}}},
		{"a version", func(tx *wire.MsgTx) { tx.Version = 1 }, []Difference{{FieldVersion, "", "2", "1"}}},
		{"a sequence", func(tx *wire.MsgTx) { tx.TxIn[2].Sequence = 0xffffffff },
			[]Difference{{FieldSequence, own(2), "4294967293", "4294967295"}}},
	} {
		refusal := refusalOf(t, p, plan, hexOf(signTransaction(t, p, plan, c.edit, txscript.SigHashAll)))
		if refusal.Code != Differs || !reflect.DeepEqual(refusal.Differences, c.want) {
			t.Errorf("%s: %s %+v, want %+v", c.name, refusal.Code, refusal.Differences, c.want)
		}
	}
}

// TestChangeAndOrderAreTheWallets: a wallet may choose another fee within the limit, at the cost of the change, and
// another order of inputs and outputs.
func TestChangeAndOrderAreTheWallets(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	plan := mixedPlan(t, p)
	highest := plan.MaxFee.MulDiv(3, 1)
	for name, c := range map[string]struct {
		edit func(tx *wire.MsgTx)
		fee  money.Amount
	}{
		"the greatest fee": {func(tx *wire.MsgTx) { tx.TxOut[2].Value -= highest.Sub(plan.Fee).Big().Int64() }, highest},
		"no fee":           {func(tx *wire.MsgTx) { tx.TxOut[2].Value += plan.Fee.Big().Int64() }, money.Amount{}},
		"another order":    {func(tx *wire.MsgTx) { slices.Reverse(tx.TxIn); slices.Reverse(tx.TxOut) }, plan.Fee},
	} {
		signed, err := CheckSigned(p, plan, hexOf(signTransaction(t, p, plan, c.edit, txscript.SigHashAll)))
		if err != nil || signed.Fee.Cmp(c.fee) != 0 {
			t.Errorf("%s: fee %s, %v, want %s", name, signed.Fee, err, c.fee)
		}
	}
}

// TestOtherSighashTypesAreRefused (SD-7): a signature that leaves parts of the transaction open is refused for each script type,
// although the network would take it; taproot's ALL is as good as its DEFAULT.
func TestOtherSighashTypesAreRefused(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	for _, kind := range kinds {
		plan := selectInputs(t, p, requestOf(p, kind, 100_000))
		for _, sighash := range []txscript.SigHashType{txscript.SigHashNone, txscript.SigHashSingle,
			txscript.SigHashAll | txscript.SigHashAnyOneCanPay, txscript.SigHashNone | txscript.SigHashAnyOneCanPay,
			txscript.SigHashSingle | txscript.SigHashAnyOneCanPay} {
			tx := signTransaction(t, p, plan, leave, sighash)
			want := []Difference{{FieldSighash, plan.Inputs[0].Outpoint(), "ALL", fmt.Sprintf("%02x", byte(sighash))}}
			if refusal := refusalOf(t, p, plan, hexOf(tx)); refusal.Code != Differs || !reflect.DeepEqual(refusal.Differences, want) {
				t.Errorf("%s, type %x: %v, want %v", kindNames[kind], sighash, refusal, want)
			}
		}
	}
	plan := selectInputs(t, p, requestOf(p, p2tr, 100_000))
	tx := signTransaction(t, p, plan, leave, txscript.SigHashAll)
	outputs := txscript.NewCannedPrevOutputFetcher(plan.Inputs[0].Script, 100_000)
	hash, err := txscript.CalcTaprootSignatureHash(txscript.NewTxSigHashes(tx, outputs), txscript.SigHashAll, tx, 0, outputs)
	if err != nil {
		t.Fatalf("CalcTaprootSignatureHash: %v", err)
	}
	signature, err := schnorr.Sign(txscript.TweakTaprootPrivKey(*privateKey(0), nil), hash)
	if err != nil {
		t.Fatalf("sign: %v", err)
	}
	tx.TxIn[0].Witness[0] = append(signature.Serialize(), byte(txscript.SigHashAll))
	if _, err := CheckSigned(p, plan, hexOf(tx)); err != nil {
		t.Errorf("taproot with the type ALL: %v, want it taken", err)
	}
}

// TestIncompleteSignaturesAreNamed: a PSBT without signatures, or without one of them, is told from one that differs.
func TestIncompleteSignaturesAreNamed(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	plan := mixedPlan(t, p)
	unsigned := buildPSBT(t, p, plan)
	if refusal := refusalOf(t, p, plan, unsigned); refusal.Code != NotSigned || len(refusal.Differences) != 4 {
		t.Errorf("unsigned: %v, want 4 missing signatures", refusal)
	}
	half, _ := decodePSBT(signPSBT(t, unsigned, plan.Inputs))
	half.inputs[2] = nil
	want := []Difference{{FieldSignature, plan.Inputs[2].Outpoint(), "", "missing"}}
	if refusal := refusalOf(t, p, plan, half.encode()); refusal.Code != NotSigned || !reflect.DeepEqual(refusal.Differences, want) {
		t.Errorf("an input without signature: %v, want %v", refusal, want)
	}
	half.inputs[1][len(half.inputs[1])-1].value[12] ^= 1
	if refusal := refusalOf(t, p, plan, half.encode()); refusal.Code != Differs || len(refusal.Differences) != 2 {
		t.Errorf("one missing and one wrong: %v, want a difference of two signatures", refusal)
	}
}

// TestOddSignaturesAreRefused: scripts and witnesses that aren't exactly the signature of the input's key are refused.
func TestOddSignaturesAreRefused(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	plan := mixedPlan(t, p)
	at := map[scriptKind]int{}
	for i, in := range plan.Inputs {
		at[scriptKindOf(p, in.Script)] = i
	}
	for name, edit := range map[string]struct {
		kind scriptKind
		do   func(in *wire.TxIn)
	}{
		"an operation more in the script": {p2pkh, func(in *wire.TxIn) { in.SignatureScript = append(in.SignatureScript, txscript.OP_NOP) }},
		"a push more in the script":       {p2pkh, func(in *wire.TxIn) { in.SignatureScript = append([]byte{txscript.OP_0}, in.SignatureScript...) }},
		"a script of half a push":         {p2pkh, func(in *wire.TxIn) { in.SignatureScript = in.SignatureScript[:9] }},
		"a witness beside the script":     {p2pkh, func(in *wire.TxIn) { in.Witness = wire.TxWitness{{1}} }},
		"no key":                          {p2wpkh, func(in *wire.TxIn) { in.Witness = in.Witness[:1] }},
		"an empty signature":              {p2wpkh, func(in *wire.TxIn) { in.Witness[0] = nil }},
		"a script beside the witness":     {p2wpkh, func(in *wire.TxIn) { in.SignatureScript = []byte{txscript.OP_1} }},
		"no redeem script":                {p2shP2wpkh, func(in *wire.TxIn) { in.SignatureScript = nil }},
		"another redeem script":           {p2shP2wpkh, func(in *wire.TxIn) { in.SignatureScript = pushData(witnessScriptOf(originOf(9).PublicKey)) }},
		"an item more":                    {p2shP2wpkh, func(in *wire.TxIn) { in.Witness = append(in.Witness, []byte{1}) }},
		"an annex":                        {p2tr, func(in *wire.TxIn) { in.Witness = append(in.Witness, []byte{0x50}) }},
		"a script path":                   {p2tr, func(in *wire.TxIn) { in.Witness = wire.TxWitness{{txscript.OP_1}, make([]byte, 33)} }},
	} {
		i := at[edit.kind]
		tx := signTransaction(t, p, plan, leave, txscript.SigHashAll)
		edit.do(tx.TxIn[i])
		refusal := refusalOf(t, p, plan, hexOf(tx))
		want := []Difference{{FieldSignature, plan.Inputs[i].Outpoint(), "", "invalid"}}
		if name == "an empty signature" {
			want = []Difference{{FieldSighash, plan.Inputs[i].Outpoint(), "ALL", "00"}}
		}
		if refusal.Code != Differs || !reflect.DeepEqual(refusal.Differences, want) {
			t.Errorf("%s: %v, want %v", name, refusal, want)
		}
	}
}

// TestSignatureByAnotherKeyIsRefused: a PSBT signed by other keys than the inputs' is as good as unsigned, and a
// transaction signed by them is refused.
func TestSignatureByAnotherKeyIsRefused(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	for _, kind := range []scriptKind{p2pkh, p2shP2wpkh, p2wpkh} {
		plan := selectInputs(t, p, requestOf(p, kind, 100_000))
		made, _ := decodePSBT(buildPSBT(t, p, plan))
		other := privateKey(9)
		signature := signInput(t, made.tx, 0, plan.Inputs[0], other, plan.Inputs, txscript.SigHashAll)
		made.inputs[0] = append(made.inputs[0], pair{append([]byte{inPartialSig}, originOf(9).PublicKey...), signature})
		if refusal := refusalOf(t, p, plan, made.encode()); refusal.Code != NotSigned {
			t.Errorf("%s, PSBT signed by another key: %v, want not signed", kindNames[kind], refusal)
		}
		tx := made.tx.Copy()
		foreign := plan.Inputs[0]
		foreign.Origin = originOf(9)
		finalizeInput(kind, foreign, tx.TxIn[0], made.inputs[0])
		if refusal := refusalOf(t, p, plan, hexOf(tx)); refusal.Code != Differs {
			t.Errorf("%s, transaction signed by another key: %v, want a difference", kindNames[kind], refusal)
		}
	}
}

// TestAmountsAreThePlans: a PSBT whose previous outputs were exchanged is verified with the plan's amounts, so a signature
// over others is wrong.
func TestAmountsAreThePlans(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	for _, kind := range []scriptKind{p2shP2wpkh, p2wpkh, p2tr} {
		plan := selectInputs(t, p, requestOf(p, kind, 100_000))
		lied := slices.Clone(plan.Inputs)
		lied[0].Amount = money.Units(60_000)
		if refusal := refusalOf(t, p, plan, signPSBT(t, buildPSBT(t, p, plan), lied)); refusal.Code != Differs {
			t.Errorf("%s: %v, want a difference", kindNames[kind], refusal)
		}
	}
}

// TestUndecodableAnswersAreRefused (SD-8): other files and texts are refused by their code, a large one before it is decoded.
func TestUndecodableAnswersAreRefused(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	plan := mixedPlan(t, p)
	psbt := buildPSBT(t, p, plan)
	version2, _ := decodePSBT(psbt)
	version2.global = append(version2.global, pair{[]byte{globalVersion}, []byte{2, 0, 0, 0}})
	signed := hexOf(signTransaction(t, p, plan, leave, txscript.SigHashAll))
	for name, c := range map[string]struct {
		returned []byte
		want     Code
		cause    string
	}{
		"nothing":                      {nil, Malformed, "it ends too early"},
		"words":                        {[]byte("I signed it!"), Malformed, "neither hexadecimal nor base64"},
		"a picture in base64":          {[]byte("iVBORw0KGgo="), Malformed, "base64 of something else"},
		"half a PSBT":                  {psbt[:len(psbt)-1], Malformed, "it ends too early"},
		"half a transaction":           {signed[:len(signed)-2], Malformed, "it ends too early"},
		"a transaction and more":       {append(slices.Clone(signed), "00"...), Malformed, "bytes follow its end"},
		"a PSBT of version 2":          {version2.encode(), PSBTVersion, "another version"},
		"one byte too many":            {bytes.Repeat([]byte{' '}, chain.MaxSigned+1), TooLarge, "too_large"},
		"10 MB of padding":             {append(slices.Clone(psbt), make([]byte, 10_000_000)...), TooLarge, "too_large"},
		"as many bytes as are decoded": {append(slices.Clone(psbt), make([]byte, chain.MaxSigned-len(psbt))...), Malformed, "bytes follow"},
	} {
		refusal := refusalOf(t, p, plan, c.returned)
		if refusal.Code != c.want || !strings.Contains(refusal.Error(), c.cause) {
			t.Errorf("%s: %v, want %s and the words %q", name, refusal, c.want, c.cause)
		}
	}
	plan.Fee = money.Units(1)
	if _, err := CheckSigned(p, plan, signed); !errors.Is(err, ErrPlan) {
		t.Errorf("a plan that doesn't balance: %v, want ErrPlan", err)
	}
}

// TestDogecoinTransactionIsChecked: the transaction that Dogecoin's wallet signs is taken, and refused with a witness.
func TestDogecoinTransactionIsChecked(t *testing.T) {
	p := networkOf(t, money.Dogecoin)
	r := requestOf(p, p2pkh, 500_000_000, 600_000_000)
	r.FeeRate, r.Outputs[0].Amount = 1_000_000, money.Units(1_000_000_000)
	plan := selectInputs(t, p, r)
	tx := signTransaction(t, p, plan, leave, txscript.SigHashAll)
	signed, err := CheckSigned(p, plan, hexOf(tx))
	if err != nil || signed.TxID != tx.TxID() || len(signed.Raw) != tx.SerializeSize() {
		t.Errorf("CheckSigned gave %s of %d bytes, %v, want %s of %d", signed.TxID, len(signed.Raw), err, tx.TxID(), tx.SerializeSize())
	}
	tx.TxIn[0].Witness = wire.TxWitness{{1}}
	if refusal := refusalOf(t, p, plan, hexOf(tx)); refusal.Code != Differs {
		t.Errorf("with a witness: %v, want a difference", refusal)
	}
}

// TestPaymentsToOneAddressAreTakenInAnyOrder: two payments to the same address are the same two in another order.
func TestPaymentsToOneAddressAreTakenInAnyOrder(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	r := requestOf(p, p2wpkh, 300_000)
	r.Outputs = []Output{payTo(p, p2pkh, 0, 50_000), payTo(p, p2pkh, 0, 60_000)}
	plan := selectInputs(t, p, r)
	swap := func(tx *wire.MsgTx) { tx.TxOut[0], tx.TxOut[1] = tx.TxOut[1], tx.TxOut[0] }
	if _, err := CheckSigned(p, plan, hexOf(signTransaction(t, p, plan, swap, txscript.SigHashAll))); err != nil {
		t.Errorf("in another order: %v, want it taken", err)
	}
}

// TestChangeMayShrinkToTheDustLimit: change of the dust limit is taken, a satoshi less is a difference.
func TestChangeMayShrinkToTheDustLimit(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	plan := selectInputs(t, p, requestOf(p, p2wpkh, 50_000+282+400))
	for amount, taken := range map[int64]bool{294: true, 293: false} {
		set := func(tx *wire.MsgTx) { tx.TxOut[1].Value = amount }
		if _, err := CheckSigned(p, plan, hexOf(signTransaction(t, p, plan, set, txscript.SigHashAll))); (err == nil) != taken {
			t.Errorf("change of %d: %v, want it taken: %t", amount, err, taken)
		}
	}
}

// TestShortSignatureOfECDSAHasItsType: only taproot has signatures without a type.
func TestShortSignatureOfECDSAHasItsType(t *testing.T) {
	signature := make([]byte, 64)
	signature[63] = byte(txscript.SigHashNone)
	if sighash, covers := sighashOf(p2wpkh, signature); covers || sighash != byte(txscript.SigHashNone) {
		t.Errorf("64 bytes of ECDSA: type %x, covers all: %t, want NONE", sighash, covers)
	}
	if sighash, covers := sighashOf(p2tr, signature); !covers || sighash != 0 {
		t.Errorf("64 bytes of Schnorr: type %x, covers all: %t, want DEFAULT", sighash, covers)
	}
}

// TestOnlyTheSignatureIsInAWitness: parts beside the signature, such as an annex that it covers, aren't left to the
// scripts' rules, which would take some that nodes don't relay.
func TestOnlyTheSignatureIsInAWitness(t *testing.T) {
	for name, in := range map[string]*wire.TxIn{
		"an annex":        {Witness: wire.TxWitness{make([]byte, 64), {txscript.TaprootAnnexTag}}},
		"a script":        {SignatureScript: []byte{txscript.OP_1}},
		"an empty script": {SignatureScript: []byte{txscript.OP_1}, Witness: wire.TxWitness{}},
	} {
		if _, state := signatureOf(p2tr, in); state != signatureOdd {
			t.Errorf("%s: state %d, want %d", name, state, signatureOdd)
		}
	}
}
