package signing

import (
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/btcsuite/btcd/wire/v2"

	"cointill/chain/bitcoin/params"
	"cointill/core/money"
)

// feeFactor is how many times Plan.MaxFee a signed transaction's fee may be.
const feeFactor = 3

// listDifferences returns where a transaction differs from the approved one, without its signatures.
// The amount of the change may differ: a wallet may choose another fee.
func listDifferences(p params.Params, plan Plan, approved, signed *wire.MsgTx) []Difference {
	var c comparison
	c.add(FieldVersion, "", formatInt(int64(approved.Version)), formatInt(int64(signed.Version)))
	c.add(FieldLockTime, "", formatInt(int64(approved.LockTime)), formatInt(int64(signed.LockTime)))
	spent, known := c.compareInputs(plan, approved, signed)
	paid := c.compareOutputs(p, plan, approved, signed)
	if fee, most := spent.Sub(paid), plan.MaxFee.MulDiv(feeFactor, 1); known && (fee.Sign() < 0 || fee.Cmp(most) > 0) {
		c.differences = append(c.differences, Difference{FieldFee, "", most.String(), fee.String()})
	}
	return c.differences
}

// comparison collects differences.
type comparison struct{ differences []Difference }

// add adds a difference if the values differ.
func (c *comparison) add(field Field, subject, approved, signed string) {
	if approved != signed {
		c.differences = append(c.differences, Difference{field, subject, approved, signed})
	}
}

// compareInputs compares the spent outputs, in any order. It returns what the known ones are worth, and
// whether all are known.
func (c *comparison) compareInputs(plan Plan, approved, signed *wire.MsgTx) (spent money.Amount, known bool) {
	left := map[wire.OutPoint]int{} // positions in the plan
	for i, in := range approved.TxIn {
		left[in.PreviousOutPoint] = i
	}
	known = true
	for _, in := range signed.TxIn {
		subject := in.PreviousOutPoint.String()
		i, ok := left[in.PreviousOutPoint]
		if !ok { // foreign, or there twice
			c.add(FieldInput, subject, "", subject)
			known = false
			continue
		}
		delete(left, in.PreviousOutPoint)
		spent = spent.Add(plan.Inputs[i].Amount)
		c.add(FieldSequence, subject, formatInt(int64(approved.TxIn[i].Sequence)), formatInt(int64(in.Sequence)))
	}
	for i, in := range approved.TxIn {
		if _, ok := left[in.PreviousOutPoint]; ok {
			c.add(FieldInput, plan.Inputs[i].Outpoint(), plan.Inputs[i].Amount.String(), "")
		}
	}
	return spent, known
}

// compareOutputs compares the outputs, in any order, and returns what the signed ones pay.
func (c *comparison) compareOutputs(p params.Params, plan Plan, approved, signed *wire.MsgTx) (paid money.Amount) {
	unmatched := slices.Clone(signed.TxOut)
	for _, out := range unmatched {
		paid = paid.Add(money.Units(out.Value))
	}
	// take removes the first output that fits from the unmatched ones.
	take := func(fits func(*wire.TxOut) bool) *wire.TxOut {
		i := slices.IndexFunc(unmatched, fits)
		if i < 0 {
			return nil
		}
		taken := unmatched[i]
		unmatched = slices.Delete(unmatched, i, i+1)
		return taken
	}
	var missing []int
	for i, out := range approved.TxOut {
		same := func(o *wire.TxOut) bool { return o.Value == out.Value && string(o.PkScript) == string(out.PkScript) }
		if take(same) == nil {
			missing = append(missing, i)
		}
	}
	for _, i := range missing {
		out, change := approved.TxOut[i], plan.Outputs[i].Change != nil
		other := take(func(o *wire.TxOut) bool { return string(o.PkScript) == string(out.PkScript) })
		switch field := outputField(change); {
		case other == nil:
			c.add(field, plan.Outputs[i].Address, formatInt(out.Value), "")
		case !change || other.Value < dustLimit(p, out.PkScript):
			c.add(field, plan.Outputs[i].Address, formatInt(out.Value), formatInt(other.Value))
		}
	}
	for _, out := range unmatched {
		subject := p.Address(out.PkScript)
		if subject == "" {
			subject = hex.EncodeToString(out.PkScript)
		}
		c.add(FieldOutput, subject, "", formatInt(out.Value))
	}
	return paid
}

func outputField(change bool) Field {
	if change {
		return FieldChange
	}
	return FieldOutput
}

func formatInt(n int64) string { return strconv.FormatInt(n, 10) }
