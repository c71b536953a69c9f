package send_test

import (
	"testing"

	"cointill/chain"
	"cointill/core/send"
	"cointill/core/send/match"
	"cointill/models/modelstest"
)

// TestFailedStatementsOfBatchesAreErrors checks that each operation returns the error of each of its statements.
func TestFailedStatementsOfBatchesAreErrors(t *testing.T) {
	eachBatches(t, func(b *batches) {
		own, _ := b.receive(), b.receive()
		first, second := b.ready("0.0003"), b.ready("0.0002")
		ctx, references := b.Context(), listReferences([]send.View{first, second})
		chooses := func() error { _, err := b.Choose(ctx, b.owner, references); return err }
		fails := func(name string, call func() error) {
			b.Run(name, func(t *testing.T) { modelstest.FailStatements(t, b.db, call) })
		}
		fails("Choose", chooses)
		fails("Start", func() error { _, err := b.start(first, second); return err })
		v := b.mustStart(first, second)
		fails("Choose a batch", chooses)
		fails("Open", func() error { _, err := b.Open(ctx, b.owner, v.Row.ID); return err })
		fails("PrepareAgain", func() error { return b.PrepareAgain(ctx, b.owner, v.Row.ID, "") })
		v = b.open(v.Row.ID)
		signed := b.sign("signed", v, first, second)
		moved := chain.Transfer{TxID: "signed", Asset: "BTC", Amount: first.Send.Amount, Spends: []string{spendKey(own)},
			Destination: chain.Destination{Address: recipient}}
		fails("Match", func() error {
			m, err := match.New(b.db.Read(ctx), regtest, []chain.Transfer{moved})
			if err != nil {
				return err
			}
			_, err = m.Match(moved, 0)
			return err
		})
		fails("Submit", func() error { _, err := b.submit(v, signed); return err })
	})
}
