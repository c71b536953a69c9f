package chaintest

import (
	"context"
	"slices"
	"strings"

	"cointill/chain"
	"cointill/core/money"
)

// OutputSigner is a chain.OutputSigner without a network. Its terms are the spend keys of the outputs that
// it chose: the first of the order's that are worth the amount.
type OutputSigner struct {
	Signer
	States     map[string]chain.OutputState // by spend key; unspent for others
	FailStates error                        // of FindOutputStates
	LoseStates int                          // how many states are missing from an answer
	Asked      [][]string                   // spend keys that FindOutputStates was given, by call
}

var _ chain.OutputSigner = (*OutputSigner)(nil)

// FindOutputStates implements chain.OutputSigner.
func (s *OutputSigner) FindOutputStates(_ context.Context, outputs []chain.OwnOutput) ([]chain.OutputState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys, states := make([]string, len(outputs)), make([]chain.OutputState, len(outputs))
	for i, output := range outputs {
		keys[i] = output.SpendKey()
		states[i] = s.States[keys[i]]
	}
	s.Asked = append(s.Asked, keys)
	return states[:len(states)-s.LoseStates], s.FailStates
}

// PrepareTerms implements chain.Signer.
func (s *OutputSigner) PrepareTerms(ctx context.Context, o chain.Order, earlier string) (string, error) {
	if _, err := s.Signer.PrepareTerms(ctx, o, earlier); err != nil {
		return "", err
	}
	var keys []string
	sum, shares := money.Amount{}, earlier == ""
	for _, output := range o.Outputs {
		if sum.Cmp(o.Amount) >= 0 {
			break
		}
		keys, sum = append(keys, output.SpendKey()), sum.Add(output.Amount)
		shares = shares || slices.Contains(strings.Split(earlier, ","), output.SpendKey())
	}
	if sum.Cmp(o.Amount) < 0 {
		return "", chain.Refusal("The account has too little.")
	}
	if !shares {
		return "", chain.OutputsTaken
	}
	return strings.Join(keys, ","), nil
}

// ListInputs implements chain.OutputSigner.
func (s *OutputSigner) ListInputs(terms string) ([]string, error) {
	return strings.Split(terms, ","), nil
}
