package sandbox_test

import (
	"fmt"
	"testing"
	"time"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/chain/sandbox"
	"cointill/core/clock"
	"cointill/core/ident"
	"cointill/core/money"
	"cointill/models"
	"cointill/models/modelstest"
)

// sandboxNet drives a sandbox chain for the conformance suite.
type sandboxNet struct {
	testing.TB
	db     *models.DB
	kind   money.Chain
	chain  *sandbox.Chain
	clock  *clock.Fake
	serial uint32
}

var _ chaintest.Net = (*sandboxNet)(nil)

func newSandboxNet(t testing.TB, db *models.DB, kind money.Chain) *sandboxNet {
	n := &sandboxNet{TB: t, db: db, kind: kind, clock: clock.NewFake(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))}
	n.Restart()
	return n
}

func (n *sandboxNet) Features() chaintest.Features {
	f := chaintest.Features{Asset: "BTC", Amount: 1000, Mempool: true, MultiOutput: true, Replace: true, Reverts: true,
		MaxReorg: 100}
	if n.kind == money.XRPL {
		f.Asset, f.Mempool, f.Replace, f.MaxReorg = "XRP", false, false, 0
	}
	return f
}

func (n *sandboxNet) Source() chain.Source { return n.chain }

func (n *sandboxNet) Restart() {
	c, err := sandbox.Open(n.Context(), n.db, n.kind, n.clock.Now)
	n.failOn(err)
	n.chain = c
}

func (n *sandboxNet) Destination() chain.Destination {
	n.serial++
	d := chain.Destination{Address: "addr-" + ident.RandomText(12)}
	if n.kind == money.XRPL {
		tag := n.serial
		d.Tag = &tag
		if n.serial%5 == 0 {
			d.Tag = nil
		}
		d.Address = "account-" + ident.RandomText(12)
	}
	return d
}

func (n *sandboxNet) Pay(outputs ...chain.Output) string {
	return n.broadcastTx(chain.Tx{Outputs: outputs, Spends: []string{ident.RandomText(20), ident.RandomText(20)}})
}

func (n *sandboxNet) Revert(output chain.Output) string {
	return n.broadcastTx(chain.Tx{Outputs: []chain.Output{output}, Spends: []string{ident.RandomText(20)}, Reverted: true})
}

func (n *sandboxNet) broadcastTx(tx chain.Tx) string {
	txid, err := n.chain.Broadcast(n.Context(), tx)
	n.failOn(err)
	return txid
}

func (n *sandboxNet) Replace(txid string) string {
	tx := chain.Tx{Outputs: []chain.Output{{Asset: "BTC", Destination: n.Destination(), Amount: money.Units(5)}},
		Spends: n.spendKeys(txid)}
	_, err := n.chain.ApplyMoves(n.Context(),
		chain.Move{Kind: chain.MoveDrop, TxIDs: []string{txid}}, chain.Move{Kind: chain.MoveBroadcast, Tx: &tx})
	n.failOn(err)
	return tx.ID(n.chain.Network())
}

func (n *sandboxNet) Mine(count int) {
	n.clock.Advance(time.Second)
	_, err := n.chain.Mine(n.Context(), count)
	n.failOn(err)
}

func (n *sandboxNet) Reorg(depth int, keep bool) {
	move := chain.Move{Kind: chain.MoveReorg, Depth: depth}
	if !keep {
		var rows []models.SandboxTx
		view, err := n.chain.At(n.Context())
		n.failOn(err)
		n.failOn(n.db.Read(n.Context()).Where("network = ? AND height > ?", n.chain.Network(), view.Tip.Height-int64(depth)).
			Find(&rows).Error)
		for _, row := range rows {
			move.TxIDs = append(move.TxIDs, row.TxID)
		}
	}
	_, err := n.chain.ApplyMoves(n.Context(), move)
	n.failOn(err)
}

func (n *sandboxNet) Where(txid string) chaintest.Place {
	row, ok := n.readRow(txid)
	if !ok || row.Height == nil {
		return chaintest.Place{Pending: ok}
	}
	var block models.SandboxBlock
	n.failOn(n.db.Read(n.Context()).Where("network = ? AND height = ?", n.chain.Network(), *row.Height).
		Take(&block).Error)
	return chaintest.Place{Height: block.Height, Hash: block.Hash}
}

func (n *sandboxNet) spendKeys(txid string) []string {
	row, ok := n.readRow(txid)
	if !ok {
		n.Fatalf("no transaction %s", txid)
	}
	tx, err := sandbox.ParseTx(row.Body)
	n.failOn(err)
	return tx.Spends
}

func (n *sandboxNet) readRow(txid string) (models.SandboxTx, bool) {
	var rows []models.SandboxTx
	n.failOn(n.db.Read(n.Context()).Where("network = ? AND tx_id = ?", n.chain.Network(), txid).Find(&rows).Error)
	if len(rows) == 0 {
		return models.SandboxTx{}, false
	}
	return rows[0], true
}

func (n *sandboxNet) failOn(err error) {
	n.Helper()
	if err != nil {
		n.Fatal(err)
	}
}

// TestConformance runs the suite on each kind of chain. All cases of a kind share one database, so
// each case starts from the chain of the case before.
func TestConformance(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		for _, kind := range []money.Chain{money.Bitcoin, money.Ethereum, money.XRPL} {
			t.Run(fmt.Sprint(kind), func(t *testing.T) {
				t.Parallel()
				chaintest.Run(t, func(t *testing.T) chaintest.Net { return newSandboxNet(t, db, kind) })
			})
		}
	})
}
