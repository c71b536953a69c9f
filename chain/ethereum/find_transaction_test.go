package ethereum

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/core/money"
)

// TestTransactionsAreFound (SD-13) asks for a transaction by its hash: only its own transfers to watched
// addresses are returned, with the account that the amount came from and the fee.
func TestTransactionsAreFound(t *testing.T) {
	t.Parallel()
	f := newWatchedCase(t)
	sender := f.newAccount()
	ether := f.sendTx(&fakeTx{From: sender, Nonce: 4, To: mustParseAccount(t, f.address), Value: "0x5"})
	wallet := f.newAccount()
	tokens := f.sendTx(&fakeTx{From: sender, Nonce: 5, To: &wallet, Logs: []fakeLog{tokenLog(account(f.params.Token),
		wallet, *mustParseAccount(t, f.address), money.Units(7).Big().FillBytes(make([]byte, 32)))}})
	other := f.sendTx(&fakeTx{To: &wallet, Value: "0x5"})
	f.mineBlocks(3)
	pending := f.sendTx(&fakeTx{To: &wallet, Value: "0x5"})
	for name, c := range map[string]struct{ id, want string }{
		"ether": {ether, fmt.Sprintf("1 ETH 5 %s %s:4", spendPrefix(sender), strings.ToLower(sender.String()))},
		"in capitals": {strings.ToUpper(ether), fmt.Sprintf("1 ETH 5 %s %s:4", spendPrefix(sender),
			strings.ToLower(sender.String()))},
		"of a contract":  {tokens, fmt.Sprintf("1 USDT 7 %s %s:5", spendPrefix(wallet), strings.ToLower(sender.String()))},
		"to others only": {other, "1"},
	} {
		block, err := f.source.FindTransaction(t.Context(), c.id, f.watch)
		got := fmt.Sprint(block.Height)
		for _, t := range block.Transfers {
			got += fmt.Sprintf(" %s %s %s %s", t.Asset, t.Amount, t.From, t.Spends[0])
		}
		if err != nil || got != c.want || len(block.Spends) != 0 {
			t.Errorf("%s: FindTransaction(%s) = %s, %v, want %s", name, c.id, got, err, c.want)
		}
	}
	for id, want := range map[string]error{"": chain.ErrTransactionID, "0x12": chain.ErrTransactionID,
		"0x" + strings.Repeat("zz", 32): chain.ErrTransactionID, "0x" + strings.Repeat("11", 32): chain.ErrNoTransaction,
		pending: chain.ErrUnconfirmed} {
		if block, err := f.source.FindTransaction(t.Context(), id, f.watch); !errors.Is(err, want) {
			t.Errorf("FindTransaction(%q) = %+v, %v, want %v", id, block, err, want)
		}
	}
	f.node.setBehaviour(func(n *fakeNode) { n.lacks["eth_getTransactionByHash"] = true })
	if block, err := f.source.FindTransaction(t.Context(), ether, f.watch); err == nil {
		t.Errorf("of a node that doesn't answer FindTransaction = %+v, want an error", block)
	}
}

// TestEtherOfContractsIsFoundByTraces (SD-13): a contract wallet's ether leaves no log.
func TestEtherOfContractsIsFoundByTraces(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"debug_traceBlockByHash", "trace_block"} {
		f := newWatchedCase(t)
		wallet := f.newAccount()
		to := *mustParseAccount(t, f.address)
		id := f.sendTx(&fakeTx{To: &wallet, Calls: []any{map[string]any{"type": "CALL", "from": wallet.String(),
			"to": to.String(), "value": "0x9"}}})
		f.mineBlocks(1)
		if block, err := f.source.FindTransaction(t.Context(), id, f.watch); err != nil || len(block.Transfers) != 0 {
			t.Errorf("without traces FindTransaction = %+v, %v, want no transfer", block, err)
		}
		f.node.setBehaviour(func(n *fakeNode) { delete(n.lacks, method) })
		block, err := f.source.FindTransaction(t.Context(), id, f.watch)
		if err != nil || len(block.Transfers) != 1 || block.Transfers[0].From != spendPrefix(wallet) ||
			block.Transfers[0].Amount.Cmp(money.Units(9)) != 0 {
			t.Errorf("with %s FindTransaction = %+v, %v, want 9 wei of %s", method, block, err, wallet)
		}
	}
}
