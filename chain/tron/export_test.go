package tron

import (
	"testing"

	"cointill/chain"
)

// FakeNetwork is a fake chain with one node, and the source that reads it over HTTP.
type FakeNetwork struct {
	*Source
	chain *fakeChain
}

// NewFakeNetwork makes a network with the name of a real one.
func NewFakeNetwork(t testing.TB, name string) *FakeNetwork {
	c := newFakeChain(t)
	p := testParams()
	p.Name, p.Test = name, name != "mainnet"
	return &FakeNetwork{openURLs(t, p, newFakeNode(t, c).URL), c}
}

// Solidity is how many blocks above a solidified one are not.
func (n *FakeNetwork) Solidity() int { return n.chain.solidity }

// Mine adds blocks. The first one has what was sent.
func (n *FakeNetwork) Mine(blocks int) { n.chain.mineBlocks(blocks) }

// Reorganise replaces the last blocks by empty ones.
func (n *FakeNetwork) Reorganise(depth int) { n.chain.replaceBlocks(depth, false) }

// Send sends USDT to an address, and returns the transaction's id.
func (n *FakeNetwork) Send(to chain.Output) string { return n.chain.sendTokens(to) }

// SendOther sends units of another token.
func (n *FakeNetwork) SendOther(to chain.Output) string {
	return n.chain.sendTx(n.chain.tokenTx(otherToken, to))
}
