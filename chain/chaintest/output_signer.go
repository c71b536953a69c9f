package chaintest

import (
	"context"
	"slices"
	"strings"

	"cointill/chain"
	"cointill/core/money"
)

// OutputSigner is a chain.OutputSigner without a network. Its terms are the spend keys of the outputs that
// it chose: the first of the order's that are worth all that it pays.
type OutputSigner struct {
	Signer
	States     map[string]chain.OutputState // by spend key; unspent for others
	FailStates error                        // of FindOutputStates
	LoseStates int                          // how many states are missing from an answer
	Asked      [][]string                   // spend keys that FindOutputStates was given, by call
	Shared     []string                     // of ListInputs; nil for all inputs
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
		if sum.Cmp(o.Total()) >= 0 {
			break
		}
		keys, sum = append(keys, output.SpendKey()), sum.Add(output.Amount)
		shares = shares || slices.Contains(strings.Split(earlier, ","), output.SpendKey())
	}
	if sum.Cmp(o.Total()) < 0 {
		return "", chain.Refusal("The account has too little.")
	}
	if !shares {
		return "", chain.OutputsTaken
	}
	return strings.Join(keys, ","), nil
}

// ListInputs implements chain.OutputSigner.
func (s *OutputSigner) ListInputs(terms string) (keys, shared []string, err error) {
	keys = strings.Split(terms, ",")
	if s.Shared != nil {
		return keys, s.Shared, nil
	}
	return keys, keys, nil
}

// CountParts implements chain.OutputSigner. A code has three parts, which are its lines.
func (s *OutputSigner) CountParts(text string) (have, want int) {
	if !strings.HasPrefix(text, "ur:") {
		return 0, 0
	}
	return len(strings.Fields(text)), 3
}
