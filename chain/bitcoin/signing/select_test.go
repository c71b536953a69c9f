package signing

import (
	"errors"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"cointill/chain/bitcoin/params"
	"cointill/core/money"
)

// selectInputs is SelectInputs that must succeed.
func selectInputs(t testing.TB, p params.Params, r Request) Plan {
	t.Helper()
	plan, err := SelectInputs(p, r)
	if err != nil {
		t.Fatalf("SelectInputs: %v", err)
	}
	return plan
}

// requestOf pays 50,000 satoshi from one output of each amount.
func requestOf(p params.Params, kind scriptKind, amounts ...int64) Request {
	r := Request{Outputs: []Output{payTo(p, kind, 0, 50_000)}, Change: changeOf(p, kind), FeeRate: 2000}
	for i, amount := range amounts {
		r.Unspent = append(r.Unspent, unspentOutput(kind, i, amount))
	}
	return r
}

// drawRequest draws a request with inputs and outputs of all script types.
func drawRequest(t *rapid.T, p params.Params, of []scriptKind) Request {
	kind := rapid.SampledFrom(of)
	r := Request{Change: changeOf(p, kind.Draw(t, "change")), FeeRate: rapid.Int64Range(1, 300_000).Draw(t, "rate")}
	r.HighestFeeRate = r.FeeRate * rapid.Int64Range(0, 4).Draw(t, "highest")
	for i := range rapid.IntRange(1, 12).Draw(t, "unspent") {
		r.Unspent = append(r.Unspent, unspentOutput(kind.Draw(t, "kind"), i, rapid.Int64Range(1, 3_000_000).Draw(t, "amount")))
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "outputs") {
		r.Outputs = append(r.Outputs, payTo(p, kind.Draw(t, "to"), i, rapid.Int64Range(546, 1_000_000).Draw(t, "pays")))
	}
	return r
}

// TestPlanBalancesAndPaysItsFee: a plan's inputs pay for its outputs and its fee; the fee is the rate's for the signed
// size, and change that is dust at most beside it.
func TestPlanBalancesAndPaysItsFee(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t, p, kinds)
		plan, err := SelectInputs(p, r)
		if short := new(ShortfallError); errors.As(err, &short) {
			if short.Missing().Sign() <= 0 {
				t.Fatalf("%v, want something missing", short)
			}
			return
		}
		if err != nil {
			t.Fatalf("SelectInputs: %v", err)
		}
		tx, err := newTransaction(p, plan) // checks that it balances
		if err != nil {
			t.Fatalf("newTransaction: %v", err)
		}
		fee, exact := plan.Fee.Big().Int64(), feeOf(plan.VSize, r.FeeRate)
		most := exact
		if len(plan.Outputs) == len(r.Outputs) {
			change := p.Script(r.Change.Address)
			most += dustLimit(p, change) + feeOf(outputSize(change)+2, r.FeeRate)
		}
		if fee < exact || fee > most {
			t.Fatalf("a fee of %d for %d vB at %d, want %d to %d", fee, plan.VSize, r.FeeRate, exact, most)
		}
		if want := max(fee, feeOf(plan.VSize, r.HighestFeeRate)); plan.MaxFee.Cmp(money.Units(want)) != 0 {
			t.Fatalf("a highest fee of %s, want %d", plan.MaxFee, want)
		}
		for i, out := range r.Outputs {
			if tx.TxOut[i].Value != out.Amount.Big().Int64() || plan.Outputs[i].Address != out.Address {
				t.Fatalf("output %d pays %d to %s, want %s to %s", i, tx.TxOut[i].Value, plan.Outputs[i].Address, out.Amount, out.Address)
			}
		}
		slices.Reverse(r.Unspent)
		if again, err := SelectInputs(p, r); err != nil || !reflect.DeepEqual(again, plan) {
			t.Fatalf("the unspent outputs in another order gave %+v, %v, want %+v", again, err, plan)
		}
	})
}

// TestEstimatedSizeIsTheSignedOne: a signed transaction has the estimated virtual bytes, less those that its signatures
// are shorter.
func TestEstimatedSizeIsTheSignedOne(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	rapid.Check(t, func(rt *rapid.T) {
		r := drawRequest(rt, p, kinds)
		r.FeeRate, r.HighestFeeRate = 1, 0
		plan, err := SelectInputs(p, r)
		if err != nil {
			return // too little
		}
		tx := signTransaction(t, p, plan, leave, 1)
		weight := int64(3*tx.SerializeSizeStripped() + tx.SerializeSize())
		if size := (weight + 3) / 4; size > plan.VSize || size < plan.VSize-2*int64(len(plan.Inputs)) {
			rt.Fatalf("signed %d vB, estimated %d, with %d inputs", size, plan.VSize, len(plan.Inputs))
		}
	})
}

// TestSizeOfEachScriptType: the estimate for one input and one output of each type is the size that is known for it.
func TestSizeOfEachScriptType(t *testing.T) {
	for kind, want := range map[scriptKind]int64{p2pkh: 192, p2shP2wpkh: 134, p2wpkh: 110, p2tr: 111} {
		script := kind.scriptOf(originOf(0).PublicKey)
		if got := virtualSize(map[scriptKind]int64{kind: 1}, script); got != want {
			t.Errorf("virtualSize(%s) = %d, want %d", kindNames[kind], got, want)
		}
	}
}

// TestDustLimits: the limits are the ones of Bitcoin Core for each script type, and Dogecoin's own.
func TestDustLimits(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	for kind, want := range map[scriptKind]int64{p2pkh: 546, p2shP2wpkh: 540, p2wpkh: 294, p2tr: 330} {
		if got := dustLimit(p, kind.scriptOf(originOf(0).PublicKey)); got != want {
			t.Errorf("dustLimit(%s) = %d, want %d", kindNames[kind], got, want)
		}
	}
	if got := dustLimit(networkOf(t, money.Dogecoin), p2pkh.scriptOf(originOf(0).PublicKey)); got != 1_000_000 {
		t.Errorf("dustLimit of Dogecoin = %d, want 1000000", got)
	}
}

// TestChangeBelowDustIsLeftToTheFee: change of the dust limit is made, a satoshi less goes to the fee.
func TestChangeBelowDustIsLeftToTheFee(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	withChange := feeOf(110+31, 2000)
	for amount, outputs := range map[int64]int{50_000 + withChange + 294: 2, 50_000 + withChange + 293: 1} {
		plan := selectInputs(t, p, requestOf(p, p2wpkh, amount))
		if len(plan.Outputs) != outputs {
			t.Errorf("%d satoshi made %d outputs, want %d", amount, len(plan.Outputs), outputs)
		}
		if want := amount - 50_000 - 294*int64(outputs-1); plan.Fee.Cmp(money.Units(want)) != 0 {
			t.Errorf("%d satoshi pay a fee of %s, want %d", amount, plan.Fee, want)
		}
	}
}

// TestShortfallNamesTheMissingAmount: with the missing amount the same request succeeds, with a satoshi less it doesn't.
func TestShortfallNamesTheMissingAmount(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	short := new(ShortfallError)
	if _, err := SelectInputs(p, requestOf(p, p2wpkh, 20_000, 21_000)); !errors.As(err, &short) || short.Limited {
		t.Fatalf("SelectInputs gave %v, want a shortfall of inputs that are all spent", err)
	}
	missing := short.Missing().Big().Int64()
	if fee := feeOf(110+68, 2000); missing != 9_000+fee {
		t.Errorf("%d missing, want 9000 and the fee of %d", missing, fee)
	}
	if plan := selectInputs(t, p, requestOf(p, p2wpkh, 20_000, 21_000+missing)); len(plan.Inputs) != 2 {
		t.Errorf("%d inputs, want 2", len(plan.Inputs))
	}
	if _, err := SelectInputs(p, requestOf(p, p2wpkh, 20_000, 21_000+missing-1)); !errors.As(err, &short) {
		t.Errorf("a satoshi less than the missing amount gave %v, want a shortfall", err)
	}
	if _, err := SelectInputs(p, requestOf(p, p2wpkh)); !errors.As(err, &short) || short.Available.Sign() != 0 {
		t.Errorf("no unspent outputs gave %v, want a shortfall", err)
	}
}

// TestInputsAreBounded: no more inputs than MaxInputs are spent, nor previous transactions that exceed their bound; the
// shortfall says so.
func TestInputsAreBounded(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	short := new(ShortfallError)
	amounts := slices.Repeat([]int64{1000}, MaxInputs+1)
	r := requestOf(p, p2wpkh, amounts...)
	r.FeeRate = 1
	r.Outputs[0].Amount = money.Units(1000*MaxInputs + 500)
	if _, err := SelectInputs(p, r); !errors.As(err, &short) || !short.Limited {
		t.Errorf("%d inputs needed: %v, want a shortfall that is limited", len(amounts), err)
	}
	r.Outputs[0].Amount = money.Units(1000*MaxInputs - 500)
	if plan := selectInputs(t, p, r); len(plan.Inputs) != MaxInputs {
		t.Errorf("%d inputs, want %d", len(plan.Inputs), MaxInputs)
	}
	r = requestOf(p, p2wpkh, 40_000, 30_000, 20_000)
	r.Unspent[0] = withPrevious(r.Unspent[0], maxPrevious/2)
	r.Unspent[1] = withPrevious(r.Unspent[1], maxPrevious/2)
	if plan := selectInputs(t, p, r); len(plan.Inputs) != 2 || plan.Inputs[1].Outpoint() != r.Unspent[1].Outpoint() {
		t.Errorf("%d inputs, the last %s, want the two largest", len(plan.Inputs), plan.Inputs[len(plan.Inputs)-1].Outpoint())
	}
	r.Unspent[1] = withPrevious(r.Unspent[1], maxPrevious/2+1)
	if plan := selectInputs(t, p, r); len(plan.Inputs) != 2 || plan.Inputs[1].Outpoint() != r.Unspent[2].Outpoint() {
		t.Errorf("%d inputs, the last %s, want the first and the third", len(plan.Inputs), plan.Inputs[len(plan.Inputs)-1].Outpoint())
	}
	r.Unspent = r.Unspent[:2]
	if _, err := SelectInputs(p, r); !errors.As(err, &short) || !short.Limited {
		t.Errorf("two large previous transactions needed: %v, want a shortfall that is limited", err)
	}
}

// withPrevious gives an input a previous transaction of a size, of 1,000 bytes or more.
func withPrevious(in Input, size int) Input {
	tx, _ := readTransaction(in.Previous, true)
	tx.TxIn[0].SignatureScript = make([]byte, 1000)
	tx.TxIn[0].SignatureScript = make([]byte, 1000+size-tx.SerializeSize())
	for tx.SerializeSize() > size { // the length of the script takes more bytes
		tx.TxIn[0].SignatureScript = tx.TxIn[0].SignatureScript[1:]
	}
	in.Previous, in.TxID = rawBytes(tx), tx.TxID()
	return in
}

// TestInputBelowItsOwnFeeIsNotSpent: an unspent output that costs more than it is worth is left alone.
func TestInputBelowItsOwnFeeIsNotSpent(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	short := new(ShortfallError)
	_, err := SelectInputs(p, requestOf(p, p2wpkh, 50_000, 136)) // which an input costs
	if !errors.As(err, &short) || short.Available.Cmp(money.Units(50_000)) != 0 || short.Limited {
		t.Errorf("SelectInputs gave %v, want 50000 available", err)
	}
}

// TestReplacementSpendsASharedInput: one of the outpoints is spent, the largest that is unspent, whatever it is worth;
// without one there is no plan.
func TestReplacementSpendsASharedInput(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	r := requestOf(p, p2wpkh, 1_000_000, 30, 90, 2_000_000)
	r.OneOf = []string{r.Unspent[1].Outpoint(), unspentOutput(p2wpkh, 77, 5).Outpoint(), r.Unspent[2].Outpoint()}
	plan := selectInputs(t, p, r)
	if len(plan.Inputs) != 2 || plan.Inputs[0].Outpoint() != r.Unspent[2].Outpoint() ||
		plan.Inputs[1].Outpoint() != r.Unspent[3].Outpoint() {
		t.Errorf("%d inputs, the first %s, want the shared one of 90 and the largest", len(plan.Inputs), plan.Inputs[0].Outpoint())
	}
	r.OneOf = []string{r.Unspent[3].Outpoint()}
	if plan := selectInputs(t, p, r); len(plan.Inputs) != 1 || plan.Inputs[0].Outpoint() != r.OneOf[0] {
		t.Errorf("%d inputs, the first %s, want the shared one, which is the largest", len(plan.Inputs), plan.Inputs[0].Outpoint())
	}
	r.OneOf = []string{unspentOutput(p2wpkh, 77, 5).Outpoint()}
	if _, err := SelectInputs(p, r); !errors.Is(err, ErrSharedInput) {
		t.Errorf("no shared input is unspent: %v, want ErrSharedInput", err)
	}
}

// without takes an input's previous transaction away.
func without(in Input) Input {
	in.Previous = nil
	return in
}

// TestRequestsAtTheLimitsAreTaken: the greatest of each number that is limited is no error of the request.
func TestRequestsAtTheLimitsAreTaken(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	all := int64(21_000_000 * 1e8)
	for name, change := range map[string]func(r *Request){
		"outputs of all there is":  func(r *Request) { r.Outputs = []Output{payTo(p, p2pkh, 0, all-50_000), payTo(p, p2pkh, 0, 50_000)} },
		"unspent of all there is":  func(r *Request) { r.Unspent[0] = without(unspentOutput(p2wpkh, 9, all-100_000)) },
		"one unspent of all":       func(r *Request) { r.Unspent = []Input{without(unspentOutput(p2wpkh, 9, all))} },
		"the most outputs":         func(r *Request) { r.Outputs = slices.Repeat(r.Outputs, MaxOutputs) },
		"the highest fee rate":     func(r *Request) { r.FeeRate = maxRate },
		"the highest offered rate": func(r *Request) { r.HighestFeeRate = maxRate },
		"a path of all steps":      func(r *Request) { r.Unspent[0].Origin.Path = make([]uint32, maxPath) },
		"a change path of all":     func(r *Request) { r.Change.Change.Path = make([]uint32, maxPath) },
	} {
		r := requestOf(p, p2wpkh, 100_000, 100_000)
		change(&r)
		if _, err := SelectInputs(p, r); errors.Is(err, ErrPlan) {
			t.Errorf("%s: %v, want a plan or a shortfall", name, err)
		}
	}
}

// TestScriptsOfOtherTypesAreUnknown: scripts that aren't spent here have no type, and bytes that are no compressed key have
// no script.
func TestScriptsOfOtherTypesAreUnknown(t *testing.T) {
	p := networkOf(t, money.Bitcoin)
	for name, script := range map[string][]byte{"none": nil, "P2WSH": append([]byte{0, 32}, make([]byte, 32)...),
		"data": {0x6a, 1, 2}, "a later witness version": append([]byte{0x52, 32}, make([]byte, 32)...)} {
		if kind := scriptKindOf(p, script); kind != unknownScript {
			t.Errorf("%s is taken for %s", name, kindNames[kind])
		}
	}
	for name, key := range map[string][]byte{"nothing": nil, "an uncompressed key": privateKey(1).PubKey().SerializeUncompressed(),
		"no point": make([]byte, 33)} {
		for _, kind := range kinds {
			if script := kind.scriptOf(key); script != nil {
				t.Errorf("%s has the %s script %x, want none", name, kindNames[kind], script)
			}
		}
	}
}

// TestImpossibleRequestsAreRefused: each of these changes of a good request makes it none.
func TestImpossibleRequestsAreRefused(t *testing.T) {
	p, doge := networkOf(t, money.Bitcoin), networkOf(t, money.Dogecoin)
	good := func() Request { return requestOf(p, p2pkh, 100_000, 200_000) }
	selectInputs(t, p, good())
	for name, change := range map[string]func(r *Request){
		"no outputs":        func(r *Request) { r.Outputs = nil },
		"too many outputs":  func(r *Request) { r.Outputs = slices.Repeat(r.Outputs, MaxOutputs+1) },
		"an output of dust": func(r *Request) { r.Outputs[0].Amount = money.Units(545) },
		"more than 64 bits": func(r *Request) {
			r.Outputs[0].Amount = r.Outputs[0].Amount.Add(money.FromBig(new(big.Int).Lsh(big.NewInt(1), 64)))
		},
		"more than there is":     func(r *Request) { r.Outputs[0].Amount = money.Units(21_000_000*1e8 + 1) },
		"outputs beyond all":     func(r *Request) { r.Outputs = slices.Repeat([]Output{payTo(p, p2pkh, 0, 21_000_000*1e8)}, 2) },
		"a bad address":          func(r *Request) { r.Outputs[0].Address += "1" },
		"another network":        func(r *Request) { r.Outputs[0].Address = "1BoatSLRHtKNngkdXEeobR76b53LETtpyT" },
		"no change address":      func(r *Request) { r.Change.Address = "" },
		"change without key":     func(r *Request) { r.Change.Change = nil },
		"change of another key":  func(r *Request) { o := originOf(3); r.Change.Change = &o },
		"change with a path":     func(r *Request) { r.Change.Change.Path = make([]uint32, maxPath+1) },
		"no fee rate":            func(r *Request) { r.FeeRate = 0 },
		"a fee rate beyond all":  func(r *Request) { r.FeeRate = maxRate + 1 },
		"a highest rate beyond":  func(r *Request) { r.HighestFeeRate = maxRate + 1 },
		"an input twice":         func(r *Request) { r.Unspent = append(r.Unspent, r.Unspent[0]) },
		"inputs beyond all":      func(r *Request) { r.Unspent[0] = unspentOutput(p2wpkh, 8, 21_000_000*1e8) },
		"an input of nothing":    func(r *Request) { r.Unspent[0] = unspentOutput(p2wpkh, 8, 0) },
		"an input of less":       func(r *Request) { r.Unspent[0].Amount = money.Units(-5) },
		"an input beyond all":    func(r *Request) { r.Unspent[0] = without(unspentOutput(p2wpkh, 8, 21_000_000*1e8+1)) },
		"an input's id":          func(r *Request) { r.Unspent[0] = without(unspentOutput(p2wpkh, 8, 9)); r.Unspent[0].TxID = "ab" },
		"an input of no script":  func(r *Request) { r.Unspent[0] = without(unspentOutput(p2wpkh, 8, 9)); r.Unspent[0].Script = nil },
		"an input's script":      func(r *Request) { r.Unspent[0].Script = []byte{0x51} },
		"an input's key":         func(r *Request) { r.Unspent[0].Origin = originOf(3) },
		"an input without key":   func(r *Request) { r.Unspent[0].Origin.PublicKey = nil },
		"a key of no point":      func(r *Request) { r.Unspent[0].Origin.PublicKey = make([]byte, 33) },
		"an input's path":        func(r *Request) { r.Unspent[0].Origin.Path = make([]uint32, maxPath+1) },
		"another previous":       func(r *Request) { r.Unspent[0].Previous = r.Unspent[1].Previous },
		"half a previous":        func(r *Request) { r.Unspent[0].Previous = r.Unspent[0].Previous[:20] },
		"another amount":         func(r *Request) { r.Unspent[0].Amount = money.Units(99_999) },
		"more than a previous":   func(r *Request) { r.Unspent[0].Previous = append(r.Unspent[0].Previous, 0) },
		"a previous of other id": func(r *Request) { r.Unspent[0].Previous = withPrevious(r.Unspent[0], 2000).Previous },
		"another script there": func(r *Request) {
			tx, _ := readTransaction(r.Unspent[0].Previous, true)
			tx.TxOut[1].PkScript = []byte{0x51}
			r.Unspent[0].Previous, r.Unspent[0].TxID = rawBytes(tx), tx.TxID()
		},
		"another output": func(r *Request) { r.Unspent[0].Vout = 0 },
		"no such output": func(r *Request) { r.Unspent[0].Vout = 2 },
	} {
		r := good()
		change(&r)
		if _, err := SelectInputs(p, r); !errors.Is(err, ErrPlan) {
			t.Errorf("%s: %v, want ErrPlan", name, err)
		}
	}
	r := requestOf(doge, p2pkh, 100_000_000)
	r.Outputs[0].Amount = money.Units(2_000_000)
	selectInputs(t, doge, r)
	r.Unspent = append(r.Unspent, unspentOutput(p2wpkh, 1, 100_000))
	if _, err := SelectInputs(doge, r); !errors.Is(err, ErrPlan) {
		t.Errorf("a witness output on Dogecoin: %v, want ErrPlan", err)
	}
}
