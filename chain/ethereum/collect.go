package ethereum

import (
	"context"

	"cointill/chain"
	"cointill/chain/ethereum/params"
	"cointill/chain/ethereum/rpc"
	"cointill/chain/ethereum/signing"
	"cointill/core/money"
)

var _ chain.Collector = (*Source)(nil)

// FetchCollectTerms implements chain.Collector. Prices are as for sends: twice the fee of the last block.
func (s *Source) FetchCollectTerms(ctx context.Context, q chain.CollectQuery) (t chain.CollectTerms, err error) {
	n, _, err := s.nodes.Current(ctx)
	if err != nil {
		return t, err
	}
	sample := chain.Order{From: q.Destination, To: chain.Destination{Address: q.Destination}}
	f, err := n.fetchOrderFacts(ctx, s.params, sample)
	if err != nil {
		return t, n.DemoteOnError(ctx, err)
	}
	t = chain.CollectTerms{L1Fee: f.L1Fee, Contract: f.Contract}
	t.MaxFee, t.Priority = f.ComputePrices()
	if q.GasPayer != "" {
		sample = chain.Order{From: q.GasPayer, To: chain.Destination{Address: firstSender(q)}}
		if f, err = n.fetchOrderFacts(ctx, s.params, sample); err != nil {
			return t, n.DemoteOnError(ctx, err)
		}
		t.FundingGas = f.Gas
		t.Payer = chain.GasPayer{Contract: f.PayerCode, Nonce: f.Next, Held: f.Ether}
	}
	if t.TokenGas, err = estimateFirst(ctx, n, s.params, q.Tokens); err == nil {
		t.NativeGas, err = estimateFirst(ctx, n, s.params, q.Native)
	}
	return t, n.DemoteOnError(ctx, err)
}

// firstSender returns an account that gas is sent to, or the destination where there is none.
func firstSender(q chain.CollectQuery) string {
	for _, o := range append(q.Tokens, q.Native...) {
		return o.From
	}
	return q.Destination
}

// estimateFirst returns the gas of the first of some orders that isn't refused; 0 for none.
func estimateFirst(ctx context.Context, n *server, p params.Params, orders []chain.Order) (uint64, error) {
	for _, o := range orders {
		call := map[string]string{"from": o.From, "to": o.To.Address, "value": "0x1"}
		if o.Asset == string(money.USDT) {
			transfer, err := signing.TransferCall(p.Token.String(), o.From, o.To.Address, p.ToTokenUnits(o.Amount))
			if err != nil {
				return 0, err
			}
			call = transfer
		}
		gas, err := n.estimateGas(ctx, p, call)
		if err != nil || gas > 0 {
			return gas, err
		}
	}
	return 0, nil
}

// FetchSenders implements chain.Collector.
func (s *Source) FetchSenders(ctx context.Context, orders []chain.Order) ([]chain.Sender, error) {
	n, _, err := s.nodes.Current(ctx)
	if err != nil {
		return nil, err
	}
	requests := make([]rpc.Request, 0, 3*len(orders))
	for _, o := range orders {
		call := map[string]string{"from": o.From, "to": o.From} // nothing is asked of the contract
		if o.Asset == string(money.USDT) {
			call, err = signing.TransferCall(s.params.Token.String(), o.From, o.To.Address, s.params.ToTokenUnits(o.Amount))
			if err != nil {
				return nil, err
			}
		}
		requests = append(requests, rpc.NewRequest("eth_getTransactionCount", o.From, "latest"),
			rpc.NewRequest("eth_getTransactionCount", o.From, "pending"), rpc.NewRequest("eth_call", call, "latest"))
	}
	answers, err := n.CallAll(ctx, maxSmallResponse, requests...)
	if err != nil {
		return nil, n.DemoteOnError(ctx, err)
	}
	senders := make([]chain.Sender, len(orders))
	for i := range senders {
		if senders[i], err = readSender(answers[3*i : 3*i+3]); err != nil {
			return nil, n.DemoteOnError(ctx, err)
		}
	}
	return senders, nil
}

// readSender reads the two numbers of an account, and whether its transfer works.
func readSender(answers []rpc.Response) (sender chain.Sender, err error) {
	var confirmed, next nonce
	for i, into := range []*nonce{&confirmed, &next} {
		if err := answers[i].DecodeInto(into); err != nil {
			return sender, asRefusal(err)
		}
	}
	call := answers[2]
	if call.Error != nil && !call.Error.IsRevert() {
		return sender, rpc.RefusedError(call.Error)
	}
	word, isWord := decodeWord(call) // some tokens answer that it didn't work
	return chain.Sender{Nonce: uint64(max(confirmed, next)), Waiting: next > confirmed,
		Refused: call.Error != nil || isWord && word.IsZero()}, nil
}

// BuildNumbered implements chain.Collector.
func (s *Source) BuildNumbered(o chain.Order, n chain.NumberedTerms) (chain.NumberedTransaction, error) {
	unsigned, err := signing.BuildUnsigned(s.joinTerms(o, signing.Terms{Nonce: n.Nonce, Gas: n.Gas, MaxFee: n.MaxFee,
		Priority: n.Priority}))
	return chain.NumberedTransaction{JSON: unsigned.JSON, Raw: unsigned.Raw}, err
}
