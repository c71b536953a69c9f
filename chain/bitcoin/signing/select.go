package signing

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"cointill/chain/bitcoin/params"
	"cointill/core/money"
)

// Limits of a transaction. They keep the PSBT below chain.MaxSigned when it is signed, and the work of a
// wallet that signs it in bounds.
const (
	MaxInputs  = 200
	MaxOutputs = 1000 // without the change
	// maxPrevious bounds the bytes of all previous transactions, which the PSBT holds.
	maxPrevious = 150_000
	// maxRate bounds fee rates, in satoshi for 1,000 virtual bytes.
	maxRate = 1_000_000_000
)

// Request asks for a transaction.
type Request struct {
	Unspent []Input  // the account's unspent outputs that no other transaction reserves
	Outputs []Output // each payment; there may be several
	// Change is where the rest returns to, with the origin of its key. Its amount is ignored.
	Change Output
	// FeeRate is in satoshi for 1,000 virtual bytes: 1000 for 1 sat/vB.
	FeeRate int64
	// HighestFeeRate is the highest of the rates that the user could choose from. Zero stands for
	// FeeRate.
	HighestFeeRate int64
	// OneOf are outpoints ("txid:vout"). The transaction spends at least one of them, if there are any.
	// A transaction that replaces a failed one spends an input of it, so that only one of them
	// can confirm. Nodes that still hold the failed one ask for a higher fee and fee rate (BIP 125).
	OneOf []string
}

// ShortfallError says that the unspent outputs are worth too little.
type ShortfallError struct {
	Needed    money.Amount // the payments, and the fee for spending all inputs
	Available money.Amount // the unspent outputs that one transaction can spend
	// Limited is true if more unspent outputs are there than one transaction can spend: a
	// transaction to the account itself joins them.
	Limited bool
}

// Missing returns how much must be added.
func (e *ShortfallError) Missing() money.Amount { return e.Needed.Sub(e.Available) }

// Error implements error.
func (e *ShortfallError) Error() string {
	return fmt.Sprintf("signing: %s needed, %s available, %s missing", e.Needed, e.Available, e.Missing())
}

// ErrSharedInput is returned when no unspent output is one of Request.OneOf.
var ErrSharedInput = errors.New("signing: none of the outputs is unspent of which one must be spent")

// SelectInputs chooses unspent outputs for payments: the one that must be spent, then the largest
// first, until they pay for the outputs and the fee. The same request always gives the same plan.
// Change below the dust limit is left to the fee. The error is a *ShortfallError,
// ErrSharedInput, or wraps ErrPlan.
func SelectInputs(p params.Params, r Request) (Plan, error) {
	s, err := newSelection(p, r)
	if err != nil {
		return Plan{}, err
	}
	unspent, err := s.sortUnspent(r)
	if err != nil {
		return Plan{}, err
	}
	limited := false
	for i, in := range unspent {
		if s.isEnough() {
			break
		}
		if len(s.inputs) == MaxInputs || s.previous+len(in.Previous) > maxPrevious {
			limited = true
			continue
		}
		// The first one may be one that must be spent, whatever it is worth.
		if i > 0 && s.costOf(in) >= in.Amount.Big().Int64() {
			continue
		}
		s.add(in)
	}
	if !s.isEnough() {
		return Plan{}, &ShortfallError{money.Units(s.paid + s.fee()), money.Units(s.spent), limited}
	}
	return s.makePlan(r), nil
}

// selection is the state of SelectInputs.
type selection struct {
	params   params.Params
	rate     int64
	scripts  [][]byte // of the payments
	change   []byte   // its script
	paid     int64    // by the payments
	inputs   []Input
	kinds    map[scriptKind]int64 // of the inputs
	spent    int64                // by the inputs
	previous int                  // bytes of their previous transactions
}

// newSelection checks the request's outputs and rates.
func newSelection(p params.Params, r Request) (*selection, error) {
	s := &selection{params: p, rate: r.FeeRate, kinds: map[scriptKind]int64{}, change: p.Script(r.Change.Address)}
	for i, out := range r.Outputs {
		made, err := makeOutput(p, out)
		if err != nil {
			return nil, fmt.Errorf("%w: output %d: %w", ErrPlan, i, err)
		}
		if s.paid += made.Value; s.paid > p.MaxAmount() {
			return nil, fmt.Errorf("%w: outputs of %d", ErrPlan, s.paid)
		}
		s.scripts = append(s.scripts, made.PkScript)
	}
	change := r.Change
	change.Amount = money.Units(dustLimit(p, s.change))
	switch _, err := makeOutput(p, change); {
	case err != nil:
		return nil, fmt.Errorf("%w: change: %w", ErrPlan, err)
	case change.Change == nil:
		return nil, fmt.Errorf("%w: change without the origin of its key", ErrPlan)
	case len(r.Outputs) == 0 || len(r.Outputs) > MaxOutputs:
		return nil, fmt.Errorf("%w: %d outputs", ErrPlan, len(r.Outputs))
	case r.FeeRate <= 0 || max(r.FeeRate, r.HighestFeeRate) > maxRate:
		return nil, fmt.Errorf("%w: fee rates of %d and %d", ErrPlan, r.FeeRate, r.HighestFeeRate)
	}
	return s, nil
}

// sortUnspent checks the unspent outputs and returns them in the order of choice.
func (s *selection) sortUnspent(r Request) ([]Input, error) {
	total := int64(0)
	for i, in := range r.Unspent {
		if err := checkInput(s.params, in); err != nil {
			return nil, fmt.Errorf("%w: unspent output %d: %w", ErrPlan, i, err)
		}
		if total += in.Amount.Big().Int64(); total > s.params.MaxAmount() {
			return nil, fmt.Errorf("%w: unspent outputs of %d", ErrPlan, total)
		}
	}
	unspent := slices.Clone(r.Unspent)
	slices.SortFunc(unspent, func(a, b Input) int {
		return cmp.Or(b.Amount.Cmp(a.Amount), cmp.Compare(a.TxID, b.TxID), cmp.Compare(a.Vout, b.Vout))
	})
	for i := 1; i < len(unspent); i++ {
		if unspent[i].Outpoint() == unspent[i-1].Outpoint() {
			return nil, fmt.Errorf("%w: unspent output %s is there twice", ErrPlan, unspent[i].Outpoint())
		}
	}
	if len(r.OneOf) == 0 {
		return unspent, nil
	}
	i := slices.IndexFunc(unspent, func(in Input) bool { return slices.Contains(r.OneOf, in.Outpoint()) })
	if i < 0 {
		return nil, ErrSharedInput
	}
	return slices.Concat(unspent[i:i+1], unspent[:i], unspent[i+1:]), nil
}

func (s *selection) add(in Input) {
	s.inputs = append(s.inputs, in)
	s.kinds[scriptKindOf(s.params, in.Script)]++
	s.spent += in.Amount.Big().Int64()
	s.previous += len(in.Previous)
}

// costOf returns the fee for spending an input.
func (s *selection) costOf(in Input) int64 {
	kind := scriptKindOf(s.params, in.Script)
	return feeOf(plainBytes[kind]+(witnessBytes[kind]+3)/4, s.rate)
}

// vsize returns the size of the transaction, with change or without.
func (s *selection) vsize(change bool) int64 {
	if change {
		return virtualSize(s.kinds, append(slices.Clip(s.scripts), s.change)...)
	}
	return virtualSize(s.kinds, s.scripts...)
}

// fee returns the fee without change.
func (s *selection) fee() int64 { return feeOf(s.vsize(false), s.rate) }

func (s *selection) isEnough() bool { return s.spent >= s.paid+s.fee() }

func (s *selection) makePlan(r Request) Plan {
	plan := Plan{Inputs: s.inputs, Outputs: slices.Clone(r.Outputs), VSize: s.vsize(false)}
	fee := s.spent - s.paid
	if change := fee - feeOf(s.vsize(true), s.rate); change >= dustLimit(s.params, s.change) {
		out := r.Change
		out.Amount = money.Units(change)
		plan.Outputs = append(plan.Outputs, out)
		plan.VSize, fee = s.vsize(true), fee-change
	}
	plan.Fee = money.Units(fee)
	plan.MaxFee = money.Units(max(fee, feeOf(plan.VSize, r.HighestFeeRate)))
	return plan
}
