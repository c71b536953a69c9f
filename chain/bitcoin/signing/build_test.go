package signing

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"testing"

	"cointill/chain"
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
	o := chain.KeyOrigin{Fingerprint: [4]byte{0xd9, 0x0c, 0x6a, 0x4f}, Path: []uint32{1<<31 + 84, 0, 5}}
	if got, want := hex.EncodeToString(encodeOrigin(o)), "d90c6a4f"+"54000080"+"00000000"+"05000000"; got != want {
		t.Errorf("encodeOrigin() = %s, want %s", got, want)
	}
	if got := hex.EncodeToString(encodeTapOrigin(o)); got != "00"+hex.EncodeToString(encodeOrigin(o)) {
		t.Errorf("encodeTapOrigin() = %s, want no leaves and the origin", got)
	}
}

// TestInconsistentPlanIsNotWritten: a plan that was changed so that it doesn't balance, or is out of bounds, is refused.
func TestInconsistentPlanIsNotWritten(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	for name, change := range map[string]func(plan *Plan){
		"another fee":    func(plan *Plan) { plan.Fee = plan.Fee.Add(money.Units(1)) },
		"another amount": func(plan *Plan) { plan.Outputs[0].Amount = money.Units(50_001) },
		"nothing at all": func(plan *Plan) { *plan = Plan{} },
		"no inputs":      func(plan *Plan) { plan.Inputs = nil; plan.Fee = money.Units(-100_000).Add(plan.Fee) },
		"no outputs":     func(plan *Plan) { plan.Outputs, plan.Fee = nil, plan.Inputs[0].Amount },
		"an input twice": func(plan *Plan) {
			plan.Inputs, plan.Fee = append(plan.Inputs, plan.Inputs[0]), plan.Fee.Add(plan.Inputs[0].Amount)
		},
		"an input's key":       func(plan *Plan) { plan.Inputs[0].Origin = originOf(4) },
		"an output to nowhere": func(plan *Plan) { plan.Outputs[0].Address = "nowhere" },
		"more than 64 bits": func(plan *Plan) {
			more := money.FromBig(new(big.Int).Lsh(big.NewInt(1), 64))
			plan.Outputs[0].Amount, plan.Fee = plan.Outputs[0].Amount.Add(more), plan.Fee.Sub(more)
		},
		"more than there is": func(plan *Plan) {
			all := without(unspentOutput(p2wpkh, 3, 21_000_000*1e8))
			plan.Inputs, plan.Fee = append(plan.Inputs, all), plan.Fee.Add(all.Amount)
		},
		"too many inputs": func(plan *Plan) {
			for i := range MaxInputs {
				plan.Inputs, plan.Fee = append(plan.Inputs, without(unspentOutput(p2wpkh, i+1, 10))), plan.Fee.Add(money.Units(10))
			}
		},
		"too many outputs": func(plan *Plan) {
			plan.Outputs = slices.Repeat(plan.Outputs[:1], MaxOutputs+2)
			plan.Inputs[0] = without(unspentOutput(p2wpkh, 1, 50_000*(MaxOutputs+2)))
			plan.Fee = money.Units(0)
		},
		"an id of no digits": func(plan *Plan) {
			plan.Inputs[0].TxID = "zz" + plan.Inputs[0].TxID[2:]
			plan.Inputs[0].Previous = nil
		},
		"a negative fee": func(plan *Plan) {
			plan.Outputs[0].Amount = money.Units(200_000)
			plan.Fee = plan.Inputs[0].Amount.Sub(plan.Outputs[0].Amount).Sub(plan.Outputs[1].Amount)
		},
		"a large PSBT": func(plan *Plan) { plan.Inputs[0] = withPrevious(plan.Inputs[0], maxPSBT) },
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

// TestPSBTNeedsPreviousOfP2PKH: a PSBT for P2PKH must show amounts by the transactions that made them (BIP 174). A list
// of previous outputs needs none.
func TestPSBTNeedsPreviousOfP2PKH(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	plan := selectInputs(t, p, requestOf(p, p2pkh, 100_000))
	for _, previous := range [][]byte{nil, {}} {
		plan.Inputs[0].Previous = previous
		if _, err := BuildPSBT(p, plan); !errors.Is(err, ErrPlan) {
			t.Errorf("a PSBT without the previous transaction: %v, want ErrPlan", err)
		}
		if _, err := BuildUnsigned(p, plan); err != nil {
			t.Errorf("a transaction with previous outputs: %v, want none", err)
		}
	}
}

// TestPlansAtTheLimitsAreWritten: a plan with as many inputs and outputs as there may be, one without a fee, and a PSBT of
// exactly the greatest size.
func TestPlansAtTheLimitsAreWritten(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	plan := selectInputs(t, p, requestOf(p, p2wpkh, 100_000))
	size := len(buildPSBT(t, p, plan)) - len(plan.Inputs[0].Previous) + 4 // its length takes five bytes
	plan.Inputs[0] = withPrevious(plan.Inputs[0], maxPSBT-size)
	if raw := buildPSBT(t, p, plan); len(raw) != maxPSBT {
		t.Errorf("a PSBT of %d bytes, want %d", len(raw), maxPSBT)
	}
	plan.Inputs[0] = withPrevious(plan.Inputs[0], maxPSBT-size+1)
	if _, err := BuildPSBT(p, plan); !errors.Is(err, ErrPlan) {
		t.Errorf("a PSBT of a byte more: %v, want ErrPlan", err)
	}
	plan = Plan{Outputs: slices.Repeat([]Output{payTo(p, p2wpkh, 0, 546)}, MaxOutputs+1)}
	for i := range MaxInputs - 1 {
		plan.Inputs = append(plan.Inputs, without(unspentOutput(p2wpkh, i, 1)))
	}
	plan.Inputs = append(plan.Inputs, without(unspentOutput(p2wpkh, MaxInputs, 546*(MaxOutputs+1)-MaxInputs+1)))
	buildPSBT(t, p, plan)
	all := Plan{Inputs: []Input{without(unspentOutput(p2wpkh, 0, 21_000_000*1e8))}, Outputs: []Output{payTo(p, p2wpkh, 0, 21_000_000*1e8)}}
	buildPSBT(t, p, all)
}

// TestStoredPlanIsTheSame: a plan that was stored as JSON is written as the same PSBT, and takes the same transaction.
func TestStoredPlanIsTheSame(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	plan := mixedPlan(t, p)
	var stored Plan
	text, err := json.Marshal(plan)
	if err == nil {
		err = json.Unmarshal(text, &stored)
	}
	if err != nil {
		t.Fatalf("store %s: %v", text, err)
	}
	psbt := buildPSBT(t, p, plan)
	if again := buildPSBT(t, p, stored); !bytes.Equal(again, psbt) {
		t.Errorf("the stored plan makes %x, want %x", again, psbt)
	}
	if _, err := CheckSigned(p, stored, signPSBT(t, psbt, plan.Inputs)); err != nil {
		t.Errorf("the stored plan's transaction: %v", err)
	}
}

// TestUnsignedTransactionNamesItsPreviousOutputs: the JSON has the shape of signrawtransaction's arguments, with amounts
// in whole coins.
func TestUnsignedTransactionNamesItsPreviousOutputs(t *testing.T) {
	p := networkOf(t, money.Dogecoin)
	r := requestOf(p, p2pkh, 9_123_456_789_012_345)
	r.Outputs[0].Amount = money.Units(5_000_000)
	plan := selectInputs(t, p, r)
	unsigned, err := BuildUnsigned(p, plan)
	if err != nil {
		t.Fatalf("BuildUnsigned: %v", err)
	}
	got, err := json.Marshal(unsigned.Previous)
	in := plan.Inputs[0]
	want := `[{"txid":"` + in.TxID + `","vout":1,"scriptPubKey":"` + hex.EncodeToString(in.Script) + `","amount":91234567.89012345}]`
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
