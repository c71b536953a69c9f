package tron

import (
	"fmt"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/chain/tron/params"
	"cointill/core/money"
)

// fixture follows a fake chain into a ledger.
type fixture struct {
	testing.TB
	chain    *fakeChain
	node     *fakeNode
	source   *Source
	ledger   *chaintest.Ledger
	watch    *chain.WatchSet
	follower *chain.Follower
}

func newFixture(t testing.TB, n *fakeNode, others ...*fakeNode) *fixture {
	watch := &chain.WatchSet{Codec: Codec()}
	f := &fixture{TB: t, chain: n.chain, node: n, source: n.openSource(t, others...), watch: watch,
		ledger: chaintest.NewLedger(watch, 400)}
	f.follower = chain.NewFollower(chain.FollowerConfig{Network: f.source.Network(), Source: f.source, Store: f.ledger,
		Watch: watch})
	f.followToTip()
	return f
}

// watchNewAddress returns a new address after adding it to the watch.
func (f *fixture) watchNewAddress() string {
	address := f.chain.newAddress()
	f.watch.AddAddresses(address)
	return address
}

// followToTip checks that a step succeeds and brings the ledger to the chain's tip.
func (f *fixture) followToTip() {
	f.Helper()
	if _, err := f.follower.Step(f.Context()); err != nil {
		f.Fatalf("step: %v", err)
	}
	if f.ledger.Tip() != f.chain.tipID() || f.ledger.Problem() != "" || len(f.ledger.ListViolations()) > 0 {
		f.Fatalf("at %v of %v, health %q, %v", f.ledger.Tip(), f.chain.tipID(), f.ledger.Problem(), f.ledger.ListViolations())
	}
}

func outputTo(address string, amount int64) chain.Output {
	return chain.Output{Destination: chain.Destination{Address: address}, Amount: money.Units(amount)}
}

// TestOnlyExactTransfersCredit: a transfer counts by the log that the contract of USDT emitted in a transaction that
// succeeded, and by nothing else.
func TestOnlyExactTransfersCredit(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	f := newFixture(t, newFakeNode(t, c))
	to := f.watchNewAddress()
	watched := mustParseAccount(t, to)
	change := func(edit func(*fakeTx)) func() string {
		return func() string {
			tx := c.tokenTx(testToken, outputTo(to, 1_500_000))
			edit(tx)
			return c.sendTx(tx)
		}
	}
	for _, one := range []struct {
		name string
		send func() string
		want string // the transfers: index, asset, amount
	}{
		{"a transfer", change(func(*fakeTx) {}), "1 USDT 1500000"},
		{"two transfers", change(func(tx *fakeTx) { tx.logs = append(tx.logs, tx.logs[0]) }),
			"1 USDT 1500000, 2 USDT 1500000"},
		{"after a log of another contract", change(func(tx *fakeTx) {
			tx.logs = append([]fakeLog{{otherToken, tx.logs[0].topics, tx.logs[0].data}}, tx.logs...)
		}), "2 USDT 1500000"},
		{"another contract", func() string { return c.sendTx(c.tokenTx(otherToken, outputTo(to, 5))) }, ""},
		{"to another address", func() string { return c.sendTokens(outputTo(c.newAddress(), 5)) }, ""},
		{"a failed transaction with a log", change(func(tx *fakeTx) { tx.result = "REVERT" }), ""},
		{"out of energy", change(func(tx *fakeTx) { tx.result = "OUT_OF_ENERGY" }), ""},
		{"a transaction that calls no contract", change(func(tx *fakeTx) { tx.result = "" }), ""},
		{"no amount", func() string { return c.sendTokens(outputTo(to, 0)) }, ""},
		{"from itself", change(func(tx *fakeTx) { tx.logs[0].topics[1] = accountTopic(watched) }), ""},
		{"another event", change(func(tx *fakeTx) { tx.logs[0].topics[0][0]++ }), ""},
		{"two topics", change(func(tx *fakeTx) { tx.logs[0].topics = tx.logs[0].topics[:2] }), ""},
		{"four topics", change(func(tx *fakeTx) { tx.logs[0].topics = append(tx.logs[0].topics, hash{}) }), ""},
		{"no account in a topic", change(func(tx *fakeTx) { tx.logs[0].topics[2][0] = 1 }), ""},
		{"a long amount", change(func(tx *fakeTx) { tx.logs[0].data = append(tx.logs[0].data, 0) }), ""},
		{"a short amount", change(func(tx *fakeTx) { tx.logs[0].data = tx.logs[0].data[1:] }), ""},
		{"the largest amount", change(func(tx *fakeTx) { tx.logs[0].data = []byte(strings.Repeat("\xff", 32)) }),
			"1 USDT 115792089237316195423570985008687907853269984665640564039457584007913129639935"},
		{"TRX", func() string { return c.sendNative(to, 2_500_000, "") }, "0 2.5 TRX 0"},
		{"TRX that failed", func() string { return c.sendNative(to, 2_500_000, "FAILED") }, ""},
	} {
		id := one.send()
		c.mineBlocks(1)
		f.followToTip()
		var got []string
		for _, row := range f.ledger.Transfers()[id] {
			got = append(got, fmt.Sprint(row.Index, " ", row.Asset, " ", row.Amount))
			if row.Address != to || row.Fee.Cmp(money.Units(345000)) != 0 || len(row.Spends) > 0 || row.Via != "" || row.Reverted {
				t.Errorf("%s: row %+v, want a transfer to %s with its fee", one.name, row, to)
			}
		}
		if text := strings.Join(got, ", "); text != one.want {
			t.Errorf("%s: %q, want %q", one.name, text, one.want)
		}
	}
}

// TestFeeIsThePayersOwn: the fee of a transaction is shown of the transfers of the account that sent it. What a
// contract moves for another account cost that account nothing.
func TestFeeIsThePayersOwn(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	f := newFixture(t, newFakeNode(t, c))
	to := f.watchNewAddress()
	own, other, unread := c.tokenTx(testToken, outputTo(to, 5)), c.tokenTx(testToken, outputTo(to, 6)),
		c.tokenTx(testToken, outputTo(to, 7))
	other.value["owner_address"] = params.Address(otherToken).Hex()
	unread.value["owner_address"] = "nothing"
	ids := map[string]int64{c.sendTx(own): 345000, c.sendTx(other): 0, c.sendTx(unread): 0}
	c.mineBlocks(1)
	f.followToTip()
	for id, want := range ids {
		rows := f.ledger.Transfers()[id]
		if len(rows) != 1 || rows[0].Fee.Cmp(money.Units(want)) != 0 {
			t.Errorf("%+v, want one transfer with a fee of %d sun", rows, want)
		}
	}
}

// TestSolidifiedBlocksAreFinal: what a node says is solidified is final, up to the tip; of several nodes the lowest
// counts.
func TestSolidifiedBlocksAreFinal(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	first, second := newFakeNode(t, c), newFakeNode(t, c)
	f := newFixture(t, first, second)
	c.mineBlocks(50)
	for _, one := range []struct {
		name string
		set  func(*fakeNode)
		want int64
	}{
		{"both", func(*fakeNode) {}, 31},
		{"one lags", func(n *fakeNode) { n.hidden = 2 }, 29},
		{"one says more than there is", func(n *fakeNode) {
			n.tamper = func(path string, _ map[string]any, answer any) any {
				if path == "/walletsolidity/getblock" {
					return c.blocks[40].headerJSON()
				}
				return answer
			}
		}, 31},
	} {
		second.setBehaviour(func(n *fakeNode) { n.hidden, n.tamper = 0, nil })
		second.setBehaviour(one.set)
		view, err := f.source.At(t.Context())
		if err != nil || view.Tip.Finalized != one.want {
			t.Errorf("%s: finalized %d, %v, want %d", one.name, view.Tip.Finalized, err, one.want)
		}
	}
}

// TestTransactionsAreFound: a transaction is found by its id with its watched transfers, or the reason is given.
func TestTransactionsAreFound(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	f := newFixture(t, newFakeNode(t, c))
	to := f.watchNewAddress()
	id, other := c.sendTokens(outputTo(to, 7)), c.sendTokens(outputTo(to, 8))
	c.mineBlocks(3)
	f.followToTip()
	for _, text := range []string{id, "0x" + strings.ToUpper(id)} {
		block, err := f.source.FindTransaction(t.Context(), text, f.watch)
		if err != nil || len(block.Transfers) != 1 || block.Transfers[0].TxID != id || block.Height != 1 {
			t.Errorf("FindTransaction(%s) = %+v, %v, want the transfer in block 1", text, block, err)
		}
	}
	pending := c.sendTokens(outputTo(to, 9))
	for text, want := range map[string]error{"": chain.ErrTransactionID, id[1:]: chain.ErrTransactionID,
		strings.Repeat("0", 64): chain.ErrNoTransaction, pending: chain.ErrNoTransaction} {
		if _, err := f.source.FindTransaction(t.Context(), text, f.watch); err != want {
			t.Errorf("FindTransaction(%s): %v, want %v", text, err, want)
		}
	}
	if len(f.ledger.Transfers()[other]) != 1 {
		t.Errorf("the other transaction has the transfers %+v", f.ledger.Transfers()[other])
	}
}
