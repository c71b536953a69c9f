package ethereum

import (
	"bytes"
	"log/slog"
	"math/big"
	"testing"
)

// TestNothingIsSent (ETH-5): ten thousand transfers of nothing to one payment's address,
// which anybody can have the token's contract write down, are no transfer, and no line
// of the log; what is sent among them is found.
func TestNothingIsSent(t *testing.T) {
	t.Parallel()
	c := newFakeChain(t)
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	b := newFixture(t, c, openLogged(t, logger, newFakeNode(t, c).URL))
	b.follower.Log = logger
	to, began := b.to(), 0
	b.step()
	began = bytes.Count(log.Bytes(), []byte("\n"))
	spam := &fakeTx{To: (*account)(&c.params.Token)}
	for range 10_000 {
		spam.Logs = append(spam.Logs, tokenLog(account(c.params.Token), c.someone(), *parse(t, to), make([]byte, 32)))
	}
	c.pay(out(to, 0), false) // nothing of ether
	real := c.token(out(to, 5))
	if rows := b.mined(c.send(spam)); len(rows) != 0 {
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
