package signing

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"testing"

	"cointill/core/money"
)

// keysOf returns the types of a map's keys in their order, for example "00 06".
func keysOf(m []pair) (text string) {
	for _, entry := range m {
		text += " " + hex.EncodeToString(entry.key[:1])
	}
	return text
}

// TestPSBTHoldsWhatWalletsNeed: inputs and change of each script type have the entries that BIP 174 and 371 name.
func TestPSBTHoldsWhatWalletsNeed(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	for _, c := range []struct {
		kind                   scriptKind
		full, without, outputs string // entries with the previous transaction, without it, and of the change
	}{
		{p2pkh, " 00 06", "", " 02"},
		{p2shP2wpkh, " 00 01 04 06", " 01 04 06", " 00 02"},
		{p2wpkh, " 00 01 06", " 01 06", " 02"},
		{p2tr, " 01 16 17", " 01 16 17", " 05 07"},
	} {
		r := requestOf(p, c.kind, 100_000, 200_000)
		if c.without != "" {
			r.Unspent[0].Previous = nil
		}
		r.Outputs[0].Amount = money.Units(250_000)
		plan := selectInputs(t, p, r)
		raw, err := BuildPSBT(p, plan)
		if err != nil {
			t.Errorf("%s: %v", kindNames[c.kind], err)
			continue
		}
		made, err := decodePSBT(raw)
		if err != nil {
			t.Errorf("%s: %v", kindNames[c.kind], err)
			continue
		}
		if got := keysOf(made.inputs[0]); got != c.full {
			t.Errorf("%s: input entries%s, want%s", kindNames[c.kind], got, c.full)
		}
		if got := keysOf(made.inputs[1]); c.without != "" && got != c.without {
			t.Errorf("%s without previous transaction: input entries%s, want%s", kindNames[c.kind], got, c.without)
		}
		if to, change := keysOf(made.outputs[0]), keysOf(made.outputs[1]); to != "" || change != c.outputs {
			t.Errorf("%s: output entries%s and%s, want none and%s", kindNames[c.kind], to, change, c.outputs)
		}
		for i, in := range made.tx.TxIn {
			if in.Sequence != 0xfffffffd {
				t.Errorf("%s: input %d has sequence %x, want fffffffd", kindNames[c.kind], i, in.Sequence)
			}
		}
	}
}

// TestKeyOriginIsWrittenAsInBIP174: the fingerprint, then each step in four bytes, the lowest first.
func TestKeyOriginIsWrittenAsInBIP174(t *testing.T) {
	o := KeyOrigin{Fingerprint: [4]byte{0xd9, 0x0c, 0x6a, 0x4f}, Path: []uint32{1<<31 + 84, 0, 5}}
	if got, want := hex.EncodeToString(o.encode()), "d90c6a4f"+"54000080"+"00000000"+"05000000"; got != want {
		t.Errorf("encode() = %s, want %s", got, want)
	}
	if got := hex.EncodeToString(o.encodeTap()); got != "00"+hex.EncodeToString(o.encode()) {
		t.Errorf("encodeTap() = %s, want no leaves and the origin", got)
	}
}

// TestInconsistentPlanIsNotWritten: a plan that was changed so that it doesn't balance, or is out of bounds, is refused.
func TestInconsistentPlanIsNotWritten(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	for name, change := range map[string]func(plan *Plan){
		"another fee":    func(plan *Plan) { plan.Fee = plan.Fee.Add(money.Units(1)) },
		"another amount": func(plan *Plan) { plan.Outputs[0].Amount = money.Units(50_001) },
		"no inputs":      func(plan *Plan) { plan.Inputs = nil },
		"no outputs":     func(plan *Plan) { plan.Outputs = nil },
		"an input twice": func(plan *Plan) { plan.Inputs = append(plan.Inputs, plan.Inputs[0]) },
		"an id of no digits": func(plan *Plan) {
			plan.Inputs[0].TxID = "zz" + plan.Inputs[0].TxID[2:]
			plan.Inputs[0].Previous = nil
		},
		"a negative fee": func(plan *Plan) {
			plan.Outputs[0].Amount = money.Units(200_000)
			plan.Fee = plan.Inputs[0].Amount.Sub(plan.Outputs[0].Amount).Sub(plan.Outputs[1].Amount)
		},
		"a large PSBT": func(plan *Plan) {
			large := unspentOutput(p2wpkh, 0, 100_000)
			tx, _ := readTransaction(large.Previous, true)
			tx.TxIn[0].SignatureScript = make([]byte, maxPSBT)
			plan.Inputs[0].Previous, plan.Inputs[0].TxID = rawBytes(tx), tx.TxID()
		},
	} {
		plan := selectInputs(t, p, requestOf(p, p2wpkh, 100_000))
		change(&plan)
		if _, err := BuildPSBT(p, plan); !errors.Is(err, ErrPlan) {
			t.Errorf("%s: BuildPSBT gave %v, want ErrPlan", name, err)
		}
		if _, err := BuildUnsigned(p, plan); !errors.Is(err, ErrPlan) && name != "a large PSBT" {
			t.Errorf("%s: BuildUnsigned gave %v, want ErrPlan", name, err)
		}
	}
}

// TestUnsignedTransactionNamesItsPreviousOutputs: the JSON has the shape of signrawtransaction's arguments, with amounts
// in whole coins.
func TestUnsignedTransactionNamesItsPreviousOutputs(t *testing.T) {
	p := networkOf(t, money.Dogecoin)
	r := requestOf(p, p2pkh, 123_456_789_012)
	r.Outputs[0].Amount = money.Units(5_000_000)
	plan := selectInputs(t, p, r)
	unsigned, err := BuildUnsigned(p, plan)
	if err != nil {
		t.Fatalf("BuildUnsigned: %v", err)
	}
	got, err := json.Marshal(unsigned.Previous)
	in := plan.Inputs[0]
	want := `[{"txid":"` + in.TxID + `","vout":1,"scriptPubKey":"` + hex.EncodeToString(in.Script) + `","amount":1234.56789012}]`
	if err != nil || string(got) != want {
		t.Errorf("previous outputs %s, %v, want %s", got, err, want)
	}
	raw, _ := hex.DecodeString(unsigned.Hex)
	if tx, err := readTransaction(raw, false); err != nil || tx.Version != 1 || len(tx.TxOut) != 2 {
		t.Errorf("transaction %s: %v, want version 1 and 2 outputs", unsigned.Hex, err)
	}
	nested, err := BuildUnsigned(networkOf(t, money.Bitcoin), selectInputs(t, networkOf(t, money.Bitcoin),
		requestOf(networkOf(t, money.Bitcoin), p2shP2wpkh, 100_000)))
	if script := hex.EncodeToString(witnessScriptOf(originOf(0).PublicKey)); err != nil || nested.Previous[0].RedeemScript != script {
		t.Errorf("redeem script %s, %v, want %s", nested.Previous[0].RedeemScript, err, script)
	}
}
