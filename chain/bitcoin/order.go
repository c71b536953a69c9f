package bitcoin

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/go-json-experiment/json"

	"cointill/chain"
	"cointill/chain/bitcoin/feerate"
	"cointill/chain/bitcoin/signing"
	"cointill/chain/bitcoin/signing/ur"
	"cointill/chain/node"
	"cointill/core/money"
)

const (
	// partBytes is how much of a PSBT each part of an animated QR code has.
	partBytes = 200
	// maxParts bounds the parts: more take too long to show. Larger PSBTs go by file.
	maxParts = 30
	// maxPrevious is how many previous transactions are fetched for wallets that like to see them, and
	// maxPreviousBytes how many bytes they may have: the signed PSBT fits in base64 into 256 KiB.
	maxPrevious      = 20
	maxPreviousBytes = 100_000
)

var _ chain.OutputSigner = (*Source)(nil)

// orderTerms are what a transaction has beside its order.
type orderTerms struct {
	Plan signing.Plan `json:"plan"`
	Rate int64        `json:"rate"` // satoshi for 1,000 virtual bytes
	// Shared are outputs that each transaction spends that was prepared for the order, so that only one of
	// them can confirm; nil for all inputs of the first one.
	Shared []string `json:"shared,omitempty"`
}

// listShared lists the outputs that each transaction for the order spends so far.
func (t orderTerms) listShared() []string {
	if t.Shared != nil {
		return t.Shared
	}
	return listOutpoints(t.Plan)
}

func listOutpoints(plan signing.Plan) (keys []string) {
	for _, in := range plan.Inputs {
		keys = append(keys, in.Outpoint())
	}
	return keys
}

// FindOutputStates implements chain.OutputSigner.
func (s *Source) FindOutputStates(ctx context.Context, outputs []chain.OwnOutput) ([]chain.OutputState, error) {
	n, _, err := s.nodes.Current(ctx)
	if err != nil {
		return nil, err
	}
	states, err := n.fetchOutputStates(ctx, outputs)
	return states, n.DemoteOnError(ctx, err)
}

// PrepareTerms implements chain.Signer.
func (s *Source) PrepareTerms(ctx context.Context, o chain.Order, earlier string) (string, error) {
	n, _, err := s.nodes.Current(ctx)
	if err != nil {
		return "", err
	}
	rates, err := n.fetchFeeRates(ctx)
	if err != nil {
		return "", n.DemoteOnError(ctx, err)
	}
	request := signing.Request{
		Change:  signing.Output{Address: o.Change.Address, Change: &o.Change.KeyOrigin},
		FeeRate: rates.chooseRate(o.Speed), HighestFeeRate: rates.chooseRate(chain.SpeedFast)}
	for _, p := range o.Payees() {
		request.Outputs = append(request.Outputs, signing.Output{Address: p.To.Address, Amount: p.Amount})
	}
	for _, output := range o.Outputs {
		request.Unspent = append(request.Unspent, signing.Input{TxID: output.TxID, Vout: uint32(output.Index),
			Amount: output.Amount, Script: s.params.Script(output.Address), Origin: output.KeyOrigin})
	}
	if earlier != "" {
		var before orderTerms
		if err := json.Unmarshal([]byte(earlier), &before); err != nil {
			return "", err
		}
		request.OneOf = before.listShared()
	}
	plan, err := signing.SelectInputs(s.params, request)
	if err != nil {
		return "", describeShortage(s.params.Coin, o, err)
	}
	if err := n.addPrevious(ctx, o, &plan); err != nil {
		return "", n.DemoteOnError(ctx, err)
	}
	terms := orderTerms{Plan: plan, Rate: request.FeeRate}
	for _, key := range listOutpoints(plan) {
		if slices.Contains(request.OneOf, key) {
			terms.Shared = append(terms.Shared, key)
		}
	}
	text, err := json.Marshal(terms)
	return string(text), err
}

// describeShortage says in words why no transaction can be made.
func describeShortage(coin money.Coin, o chain.Order, err error) error {
	var short *signing.ShortfallError
	switch {
	case errors.Is(err, signing.ErrSharedInput):
		return chain.OutputsTaken
	case errors.As(err, &short) && short.Limited:
		return errManyPieces
	case errors.As(err, &short):
		takes := "this send takes"
		if len(o.Beside) > 0 {
			takes = "these sends take"
		}
		return chain.Refusal(fmt.Sprintf("The account has %s %s that can be spent now; %s %s %s with the "+
			"network's fee. Money that is on its way, or that another send waits to spend, doesn't count.",
			coin.Format(short.Available), coin, takes, coin.Format(short.Needed), coin))
	}
	return fmt.Errorf("a send of %s: %w", o.Total(), err)
}

const errManyPieces chain.Refusal = "The account's money lies in more pieces than one transaction can spend. Send a part " +
	"of it to the account itself first, so that it lies in one piece."

// addPrevious adds the transactions that made the inputs, for wallets that verify amounts with them. A
// PSBT must have them for P2PKH (BIP 174), and wallets for Dogecoin take none.
func (n *server) addPrevious(ctx context.Context, o chain.Order, plan *signing.Plan) error {
	if !n.params.Segwit {
		return nil
	}
	size := 0
	for i := range plan.Inputs {
		in := &plan.Inputs[i]
		required := txscript.IsPayToPubKeyHash(in.Script)
		if i >= maxPrevious && !required {
			continue
		}
		at := slices.IndexFunc(o.Outputs, func(own chain.OwnOutput) bool { return own.SpendKey() == in.Outpoint() })
		raw, err := n.fetchMinedTx(ctx, in.TxID, o.Outputs[at].BlockHash)
		if err != nil {
			return err
		}
		if err := checkTxID(raw, n.params, in.TxID); err != nil {
			return node.DamagedDataError("a transaction", err)
		}
		if size += len(raw); size <= maxPreviousBytes {
			in.Previous = raw
		} else if required {
			return errManyPieces
		}
	}
	return nil
}

// readTerms reads what PrepareTerms returned. Its plan must pay all of the order, and nothing else but change.
func readTerms(o chain.Order, text string) (t orderTerms, err error) {
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return t, err
	}
	pays, out := o.Payees(), t.Plan.Outputs
	same := len(out) == len(pays) || len(out) == len(pays)+1 && out[len(pays)].Change != nil
	for i := 0; same && i < len(pays); i++ {
		same = out[i].Address == pays[i].To.Address && out[i].Amount.Cmp(pays[i].Amount) == 0 && out[i].Change == nil
	}
	if !same {
		return t, errors.New("bitcoin: the terms are of another send")
	}
	return t, nil
}

// ListInputs implements chain.OutputSigner.
func (s *Source) ListInputs(terms string) (keys, shared []string, err error) {
	var t orderTerms
	if err := json.Unmarshal([]byte(terms), &t); err != nil {
		return nil, nil, err
	}
	return listOutpoints(t.Plan), t.listShared(), nil
}

// BuildUnsigned implements chain.Signer.
func (s *Source) BuildUnsigned(o chain.Order, terms string) (u chain.Unsigned, err error) {
	t, err := readTerms(o, terms)
	if err != nil {
		return u, err
	}
	u = chain.Unsigned{Fee: t.Plan.Fee, FeeAsset: string(s.params.Coin), FeeRate: feerate.Format(s.params.Coin, t.Rate)}
	if last := t.Plan.Outputs[len(t.Plan.Outputs)-1]; last.Change != nil {
		u.Change = &chain.Payee{To: chain.Destination{Address: last.Address}, Amount: last.Amount}
	}
	if !s.params.Segwit {
		unsigned, err := signing.BuildUnsigned(s.params, t.Plan)
		if err != nil {
			return u, err
		}
		text, err := json.Marshal(unsigned)
		u.Files = []chain.SigningFile{{Name: "unsigned.json", Type: "application/json", Content: text}}
		return u, err
	}
	raw, err := signing.BuildPSBT(s.params, t.Plan)
	if err != nil {
		return u, err
	}
	u.Files = []chain.SigningFile{{Name: "unsigned.psbt", Type: "application/octet-stream", Content: raw},
		{Name: "unsigned.txt", Type: "text/plain", Content: []byte(base64.StdEncoding.EncodeToString(raw) + "\n")}}
	u.Parts, err = encodeParts(raw)
	return u, err
}

// encodeParts returns the texts of an animated QR code of a PSBT; none for a long one.
func encodeParts(raw []byte) (parts []string, err error) {
	code, err := ur.NewEncoder(ur.TypePSBT, raw, partBytes)
	if err != nil || code.CountFragments() > maxParts {
		return nil, err
	}
	for i := range code.CountFragments() {
		parts = append(parts, code.EncodePart(uint32(i+1)))
	}
	return parts, nil
}

// CountParts implements chain.OutputSigner.
func (s *Source) CountParts(text string) (have, want int) {
	d, err := ur.ReadParts(text)
	if err != nil {
		return 0, 0
	}
	return d.CountParts()
}

// CheckSigned implements chain.Signer.
func (s *Source) CheckSigned(o chain.Order, terms, signed string) (chain.Signed, []chain.Difference, error) {
	t, err := readTerms(o, terms)
	if err != nil {
		return chain.Signed{}, nil, err
	}
	returned, err := ur.JoinPSBT(signed)
	if err != nil {
		return chain.Signed{}, nil, err
	}
	checked, err := signing.CheckSigned(s.params, t.Plan, returned)
	var refused *signing.Refusal
	if errors.As(err, &refused) && len(refused.Differences) > 0 {
		var differences []chain.Difference
		for _, d := range refused.Differences {
			differences = append(differences, d.Describe(s.params.Coin))
		}
		return chain.Signed{}, differences, nil
	}
	return chain.Signed{Hash: checked.TxID, Raw: hex.EncodeToString(checked.Raw), Fee: checked.Fee}, nil, err
}

// Broadcast implements chain.Signer.
func (s *Source) Broadcast(ctx context.Context, raw string) error {
	n, _, err := s.nodes.Current(ctx)
	if err != nil {
		return err
	}
	said, err := n.broadcastTx(ctx, raw)
	if err != nil {
		return n.DemoteOnError(ctx, err)
	}
	return describeBroadcast(said)
}

// ParseAccount implements chain.Signer: accounts are the account keys that payments are received with.
func (s *Source) ParseAccount(string) (account, spendPrefix string, err error) {
	return "", "", chain.InputRefusal("Sends of this coin are paid from your account key. There is nothing to register.")
}
