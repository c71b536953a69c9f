package ethereum

import (
	"context"
	"fmt"
	"log/slog"
	"math/big"
	"testing"

	"cointill/chain"
	"cointill/chain/abi"
	"cointill/chain/chaintest"
	"cointill/core/money"
	"cointill/internal/testing/speed"
)

// fakeNet drives a chain for the suite, in ether or in the token.
type fakeNet struct {
	testing.TB
	*fakeChain
	nodes  []*fakeNode
	source *Source
	tokens bool
}

func newFakeNet(t testing.TB, tokens bool, change ...func(*fakeNode)) *fakeNet {
	c := newFakeChain(t)
	n := &fakeNet{TB: t, fakeChain: c, tokens: tokens}
	for _, one := range change {
		node := newFakeNode(t, c)
		one(node)
		n.nodes = append(n.nodes, node)
	}
	n.Restart()
	return n
}

func (n *fakeNet) Features() chaintest.Features {
	if n.tokens {
		return chaintest.Features{Asset: "USDT", Amount: 1, MultiOutput: true, Payers: true, MaxReorg: 100}
	}
	return chaintest.Features{Asset: "ETH", Amount: 1, Mempool: true, Replace: true, Reverts: true, Payers: true,
		MaxReorg: 100}
}

func (n *fakeNet) Source() chain.Source { return n.source }

func (n *fakeNet) Restart() {
	var urls []string
	for _, node := range n.nodes {
		urls = append(urls, node.URL)
	}
	n.source = openNetwork(n.TB, n.params, slog.New(slog.NewTextHandler(n.TB.Output(), nil)), urls...)
}

func (n *fakeNet) Mine(times int) { n.mineBlocks(times) }

func (n *fakeNet) Reorg(depth int, keep bool)        { n.replaceBlocks(depth, keep) }
func (n *fakeNet) Where(txid string) chaintest.Place { return n.placeOf(txid) }
func (n *fakeNet) Replace(txid string) string        { return n.replaceTx(txid) }
func (n *fakeNet) Revert(o chain.Output) string      { return n.sendEther(o, true) }
func (n *fakeNet) Destination() chain.Destination    { return chain.Destination{Address: n.newAddress()} }

func (n *fakeNet) Pay(outputs ...chain.Output) string {
	if n.tokens {
		var scaled []chain.Output
		for _, o := range outputs {
			scaled = append(scaled, outputOf(o.Address, n.countTokens(o.Amount)))
		}
		return n.sendTokens(scaled...)
	}
	return n.sendEther(outputs[0], false)
}

// PayFrom sends ether from an account, or tokens that another one moves for it.
func (n *fakeNet) PayFrom(from string, o chain.Output) string {
	payer := *mustParseAccount(n, from)
	if !n.tokens {
		return n.sendTx(&fakeTx{From: payer, To: mustParseAccount(n, o.Address), Value: fmt.Sprintf("0x%x", o.Amount.Big())})
	}
	return n.sendTx(&fakeTx{To: (*account)(&n.params.Token), Logs: []fakeLog{tokenLog(account(n.params.Token), payer,
		*mustParseAccount(n, o.Address), n.countTokens(o.Amount).FillBytes(make([]byte, 32)))}})
}

// countTokens returns an amount of USDT in the contract's smallest unit.
func (n *fakeNet) countTokens(amount money.Amount) *big.Int {
	scale := int64(n.params.TokenDecimals - money.USDT.Info().Unit)
	return new(big.Int).Mul(amount.Big(), new(big.Int).Exp(big.NewInt(10), big.NewInt(scale), nil))
}

func keepDefaults(*fakeNode) {}

// limitMethods makes the node a provider with few methods that accepts one call at a time.
func limitMethods(n *fakeNode) {
	n.lacks["eth_getBlockReceipts"], n.most = true, 1
}

// rangeNet reads each block as the first of a range.
type rangeNet struct{ *fakeNet }

func (n rangeNet) Source() chain.Source { return rangeSource{n.source} }

type rangeSource struct{ chain.Source }

func (s rangeSource) At(ctx context.Context) (chain.View, error) {
	v, err := s.Source.At(ctx)
	v.Reader = rangeReader{v.Reader}
	return v, err
}

type rangeReader struct{ chain.Reader }

func (r rangeReader) Block(ctx context.Context, height int64, watch chain.Watch) (chain.Block, error) {
	blocks, err := r.Reader.(chain.RangeReader).Blocks(ctx, height, height+2, watch)
	if err != nil {
		return chain.Block{}, err
	}
	return blocks[0], nil
}

// TestConformanceOfRanges runs the suite with blocks that are read several at once.
func TestConformanceOfRanges(t *testing.T) {
	t.Parallel()
	for name, nodes := range map[string][]func(*fakeNode){"receipts": {keepDefaults}, "two": {limitMethods, keepDefaults}} {
		for _, tokens := range []bool{false, true} {
			t.Run(name+map[bool]string{false: " in ETH", true: " in USDT"}[tokens], func(t *testing.T) {
				t.Parallel()
				chaintest.Run(t, func(t *testing.T) chaintest.Net { return rangeNet{newFakeNet(t, tokens, nodes...)} })
			})
		}
	}
}

// TestConformance runs the suite in ether and in USDT, with nodes that give all receipts at once
// or one by one, and with two nodes.
func TestConformance(t *testing.T) {
	t.Parallel()
	for name, nodes := range map[string][]func(*fakeNode){"receipts": {keepDefaults}, "one by one": {limitMethods},
		"two": {keepDefaults, limitMethods}} {
		for _, tokens := range []bool{false, true} {
			t.Run(name+map[bool]string{false: " in ETH", true: " in USDT"}[tokens], func(t *testing.T) {
				t.Parallel()
				chaintest.Run(t, func(t *testing.T) chaintest.Net { return newFakeNet(t, tokens, nodes...) })
			})
		}
	}
}

// TestConformanceOfNetworks runs the suite on the main networks of the registry, in each coin that is paid with there.
// Small runs have one network of each coin, with other decimals and other costs than Ethereum.
func TestConformanceOfNetworks(t *testing.T) {
	t.Parallel()
	for _, p := range registryParams(t) {
		for _, tokens := range []bool{false, true} {
			paidWith, small := p.HasToken(), p.Chain == money.BSC
			if !tokens {
				paidWith, small = p.Native == money.ETH, p.Chain == money.Base
			}
			if !paidWith || !speed.Pick(small, true) {
				continue
			}
			t.Run(string(p.Network())+map[bool]string{false: " in ETH", true: " in USDT"}[tokens], func(t *testing.T) {
				t.Parallel()
				chaintest.Run(t, func(t *testing.T) chaintest.Net {
					c, node := newRegistryNode(t, p)
					n := &fakeNet{TB: t, fakeChain: c, tokens: tokens, nodes: []*fakeNode{node}}
					n.Restart()
					return n
				})
			})
		}
	}
}

// setBloom sets the bits of a value.
func setBloom(bloom, what []byte) {
	sum := abi.Keccak(what)
	for i := range 3 {
		bit := (uint(sum[2*i])<<8 | uint(sum[2*i+1])) & 2047
		bloom[255-bit/8] |= 1 << (bit % 8)
	}
}
