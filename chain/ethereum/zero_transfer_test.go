package ethereum

import (
	"bytes"
	"log/slog"
	"math/big"
	"slices"
	"testing"

	"cointill/chain/abi"
)

// TestZeroTransfersAreIgnored (ETH-5) sends ten thousand transfers of zero to one payment's
// address, which anyone can do with the token's contract. They give no transfer and no log line,
// and a real transfer among them is found.
func TestZeroTransfersAreIgnored(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	b := newFixture(t, c, openLogged(t, logger, newFakeNode(t, c).URL))
	b.follower.Log = logger
	to, began := b.watchNewAddress(), 0
	b.followToTip()
	began = bytes.Count(log.Bytes(), []byte("\n"))
	spam := &fakeTx{To: (*account)(&c.params.Token)}
	for range 10_000 {
		spam.Logs = append(spam.Logs,
			tokenLog(account(c.params.Token), c.newAccount(), *mustParseAccount(t, to), make([]byte, 32)))
	}
	c.sendEther(outputTo(to, 0), false) // zero ether
	real := c.sendTokens(outputTo(to, 5))
	if rows := b.mineAndFind(c.sendTx(spam)); len(rows) != 0 {
		t.Errorf("%d transfers of nothing are transfers", len(rows))
	}
	all := b.ledger.Transfers()
	if rows := all[real]; len(all) != 1 || len(rows) != 1 || rows[0].Amount.Big().Cmp(big.NewInt(5)) != 0 {
		t.Errorf("%d transactions, that of 5 with %d transfers", len(all), len(rows))
	}
	if lines := bytes.Count(log.Bytes(), []byte("\n")) - began; lines > 1 {
		t.Errorf("%d lines are written to the log: %.500s", lines, log.String())
	}
}

// TestTokenCallsWithoutLogsCreditNothing (ETH-2) calls the token's transfer and transferFrom with
// valid data. Each call succeeds, as for a token that returns false, but emits no log of a
// transfer to a watched address. Nothing is credited, pending or in a block.
func TestTokenCallsWithoutLogsCreditNothing(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	b := newFixture(t, c, newFakeNode(t, c).openSource(t))
	to, token := b.watchNewAddress(), account(c.params.Token)
	us, amount := accountTopic(*mustParseAccount(t, to)), hash{31: 5}
	transfer := slices.Concat([]byte{0xa9, 0x05, 0x9c, 0xbb}, us[:], amount[:])
	from := accountTopic(c.newAccount())
	transferFrom := slices.Concat([]byte{0x23, 0xb8, 0x72, 0xdd}, from[:], us[:], amount[:])
	approval := fakeLog{Address: token,
		Topics: []hash{hash(abi.Keccak([]byte("Approval(address,address,uint256)"))), from, us}, Data: amount[:]}
	for _, tx := range []*fakeTx{
		{To: &token, Input: transfer}, {To: &token, Input: transferFrom},
		{To: &token, Input: transfer, Logs: []fakeLog{approval}},
		// away from the watched address
		{To: &token, Input: transfer,
			Logs: []fakeLog{tokenLog(token, *mustParseAccount(t, to), c.newAccount(), amount[:])}},
		{To: &token, Input: transfer,
			Logs: []fakeLog{tokenLog(c.newAccount(), c.newAccount(), *mustParseAccount(t, to), amount[:])}},
	} {
		id := c.sendTx(tx)
		b.followToTip()
		if rows := b.mineAndFind(id); len(rows) != 0 {
			t.Errorf("%x with %d logs credits %+v", tx.Input[:4], len(tx.Logs), rows)
		}
	}
	if rows := b.mineAndFind(c.sendTokens(outputTo(to, 5))); len(rows) != 1 {
		t.Errorf("what moves credits %d times", len(rows))
	}
}
