package send_test

import (
	"testing"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/core/scope"
	"cointill/core/send/outputs"
	"cointill/core/send/payer"
	"cointill/models"
	"cointill/models/modelstest"
)

// hold keeps a transaction open until act waits for its locks, calls waiting, which may be nil, and commits. On
// SQLite, which has one writer, act runs after the commit.
func (o *office) hold(during func(tx *models.Tx) error, act func() error, waiting func()) error {
	o.Helper()
	if !o.db.Postgres() {
		o.must(o.db.Write(o.Context(), during))
		return act()
	}
	held, release, committed, done := make(chan struct{}), make(chan struct{}), make(chan error, 1), make(chan error, 1)
	go func() {
		committed <- o.db.Write(o.Context(), func(tx *models.Tx) error {
			if err := during(tx); err != nil {
				close(held)
				return err
			}
			close(held)
			<-release
			return nil
		})
	}()
	<-held
	go func() { done <- act() }()
	modelstest.AwaitLock(o, o.db)
	if waiting != nil {
		waiting()
	}
	close(release)
	o.must(<-committed)
	return <-done
}

// TestReservationWaitsForABatch (SD-9): of a batch and a send that take an output at once, the second is refused,
// although the first was no batch yet when the second began.
func TestReservationWaitsForABatch(t *testing.T) {
	eachBatches(t, func(b *batches) {
		taken := b.receive()
		first, second := b.ready("0.0003"), b.ready("0.0002")
		keys := []string{spendKey(taken)}
		order := chain.Order{From: accountKey, Change: chain.OwnAddress{Address: "change"}}
		order.Change.Path = []uint32{1, 0}
		whole := outputs.HolderOf(first.Send)
		whole.SendID, whole.BatchID = 0, 7
		reserve := func(tx *models.Tx, h outputs.Holder) error {
			return outputs.Reserve(tx, b.clock.Now(), h, order, keys)
		}
		err := b.hold(func(tx *models.Tx) error {
			if err := tx.Model(&models.Send{}).Where("id = ?", first.Send.ID).UpdateColumn("batch_id", whole.BatchID).Error; err != nil {
				return err
			}
			return reserve(tx, whole)
		}, func() error {
			return b.db.Write(b.Context(), func(tx *models.Tx) error { return reserve(tx, outputs.HolderOf(second.Send)) })
		}, nil)
		b.expectFault("the send that came second", err, "send_changed")
		var row models.Transfer
		b.must(b.db.Read(b.Context()).Where("id = ?", taken.ID).Take(&row).Error)
		if row.ReservedBatch == nil || *row.ReservedBatch != whole.BatchID || row.ReservedBy != nil {
			b.Errorf("the output is reserved for a send: %t, for a batch: %t; want the batch %d", row.ReservedBy != nil,
				row.ReservedBatch != nil, whole.BatchID)
		}
	})
}

// TestBatchesLockTheirSendsFirst: a preparation that waits for a send holds no lock on its batch, as what is
// signed meanwhile locks the sends first, too.
func TestBatchesLockTheirSendsFirst(t *testing.T) {
	eachBatches(t, func(b *batches) {
		b.receive()
		first, second := b.ready("0.0003"), b.ready("0.0002")
		v := b.mustStart(first, second)
		var rows []models.SendBatch
		b.must(b.hold(func(tx *models.Tx) error {
			return tx.Model(&models.Send{}).Where("id = ?", first.Send.ID).UpdateColumn("updated_at", b.clock.Now()).Error
		}, func() error { return b.PrepareAgain(b.Context(), b.owner, v.Row.ID, chain.SpeedUsual) }, func() {
			b.must(b.db.Write(b.Context(), func(tx *models.Tx) error {
				return tx.Raw("SELECT * FROM send_batches WHERE id = ? FOR NO KEY UPDATE NOWAIT", v.Row.ID).Scan(&rows).Error
			}))
		}))
		if b.db.Postgres() && len(rows) != 1 {
			b.Errorf("%d batches could be locked, want one", len(rows))
		}
	})
}

// duringCheck is a signer that does something while it checks a signed transaction.
type duringCheck struct {
	*chaintest.OutputSigner
	act func()
}

func (s *duringCheck) CheckSigned(o chain.Order, terms, signed string) (chain.Signed, []chain.Difference, error) {
	s.act()
	return s.OutputSigner.CheckSigned(o, terms, signed)
}

// TestSignedBatchesAreStoredUnchanged (SD-16): a transaction that was checked is stored with its own batch, and with
// none that was prepared again while it was checked.
func TestSignedBatchesAreStoredUnchanged(t *testing.T) {
	eachBatches(t, func(b *batches) {
		for range 4 {
			b.receive()
		}
		other := b.mustStart(b.ready("0.0005"), b.ready("0.0004"))
		first, second := b.ready("0.0003"), b.ready("0.0002")
		v := b.mustStart(first, second)
		hashes := func() (own, others string) {
			return b.open(v.Row.ID).Row.SignedHash, b.open(other.Row.ID).Row.SignedHash
		}
		prepare := func(sealed string) {
			b.must(b.db.Exec(b.Context()).Model(&models.SendBatch{}).Where("id = ?", v.Row.ID).
				UpdateColumn("sealed", sealed).Error)
		}
		b.sends.Signers[regtest] = payer.Signer{Domain: scope.Test, Signer: &duringCheck{b.signer, func() { prepare("another") }}}
		_, err := b.submit(v, b.sign("signed", v, first, second))
		b.expectFault("prepared again meanwhile", err, "send_changed")
		prepare(v.Row.Sealed)
		if own, others := hashes(); own != "" || others != "" || b.find(first).Send.SignedHash != "" || len(b.signer.Sent) > 0 {
			b.Errorf("the batches have the transactions %q and %q, and %q were broadcast, want none", own, others, b.signer.Sent)
		}
		b.sends.Signers[regtest] = payer.Signer{Domain: scope.Test, Signer: b.signer}
		_, err = b.submit(v, b.sign("signed", v, first, second))
		b.must(err)
		if own, others := hashes(); own != "signed" || others != "" {
			b.Errorf("the batch has the transaction %q and another one %q, want signed and none", own, others)
		}
	})
}
