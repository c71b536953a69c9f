package send_test

import (
	"errors"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/payer"
	"cointill/models"
)

// TestBatchesAreChosenWhole (SD-16): a send of a batch is chosen with no other one, and a batch is prepared once.
func TestBatchesAreChosenWhole(t *testing.T) {
	eachBatches(t, func(b *batches) {
		b.receive()
		b.receive()
		oldest := b.ready("0.0001")
		v := b.mustStart(b.ready("0.0005"), b.ready("0.0004"))
		other := b.mustStart(b.ready("0.0003"), b.ready("0.0002"))
		one, another, newest := v.Sends[0], other.Sends[0], b.ready("0.0001")
		choose := func(sends ...send.View) (id int64, outdated bool, err error) {
			chosen, err := b.Choose(b.Context(), b.owner, listReferences(sends))
			return chosen.Row.ID, chosen.IsOutdated(), err
		}
		for name, c := range map[string]struct{ first, second, prepared send.View }{
			"an older send and one of a batch": {oldest, one, one},
			"one of a batch and a newer send":  {one, newest, one},
			"sends of two batches":             {one, another, another},
		} {
			_, _, err := choose(c.first, c.second)
			b.expectFault(name, err, "send_unavailable")
			if err == nil || !strings.Contains(err.Error(), c.prepared.Send.Reference+" was prepared before") {
				b.Errorf("%s: %v, want that %s was prepared before", name, err, c.prepared.Send.Reference)
			}
		}
		if id, outdated, err := choose(oldest, newest); id != 0 || outdated || err != nil {
			b.Errorf("sends that weren't prepared: the batch %d, outdated %t, %v; want no batch that is outdated", id,
				outdated, err)
		}
		orders := len(b.signer.Orders)
		id, err := b.start(v.Sends...)
		if err != nil || id != v.Row.ID || len(b.signer.Orders) != orders {
			b.Errorf("preparing a batch's sends together again: the batch %d, %v, and %d transactions; want the batch %d "+
				"and none", id, err, len(b.signer.Orders)-orders, v.Row.ID)
		}
	})
}

// TestBatchesPayNoMoneyThatIsGone (SD-9): with a refund of money that is gone a batch is handed to no wallet.
func TestBatchesPayNoMoneyThatIsGone(t *testing.T) {
	eachBatches(t, func(b *batches) {
		b.receive()
		stray := b.stray("stray", nil, money.Units(50_000))
		b.change(stray, map[string]any{"network": regtest})
		refund, err := b.approve(b.owner, b.ask(send.Request{Kind: send.Refund, TransferID: stray.ID, Amount: "0.0003",
			Address: recipient}))
		b.must(err)
		payout := b.ready("0.0002")
		v := b.mustStart(refund, payout)
		orders := len(b.signer.Orders)
		b.change(stray, map[string]any{"gone": true, "gone_reason": "reorged", "gone_at": b.clock.Now(), "height": nil})
		_, openErr := b.Open(b.Context(), b.owner, v.Row.ID)
		_, submitErr := b.submit(v, b.sign("signed", v, refund, payout))
		for name, err := range map[string]error{"Open": openErr, "Submit": submitErr,
			"PrepareAgain": b.PrepareAgain(b.Context(), b.owner, v.Row.ID, "")} {
			b.expectFault(name, err, "nothing_to_refund")
			if err == nil || !strings.Contains(err.Error(), refund.Send.Reference+": ") {
				b.Errorf("%s: %v, want the refund %s in the sentence", name, err, refund.Send.Reference)
			}
		}
		if len(b.signer.Orders) != orders || len(b.signer.Sent) != 0 {
			b.Errorf("%d transactions were prepared and %q broadcast, want none", len(b.signer.Orders)-orders, b.signer.Sent)
		}
	})
}

// TestBatchesOfANetworkThatIsOff: the batches of a network that this instance no longer serves are refused.
func TestBatchesOfANetworkThatIsOff(t *testing.T) {
	eachBatches(t, func(b *batches) {
		b.receive()
		first, second, third := b.ready("0.0003"), b.ready("0.0002"), b.ready("0.0001")
		v := b.mustStart(first, second, third)
		served := b.sends.Signers[regtest]
		delete(b.sends.Signers, regtest)
		_, err := b.Open(b.Context(), b.owner, v.Row.ID)
		b.expectFault("Open", err, "send_unavailable")
		_, err = b.submit(v, b.sign("signed", v, first, second, third))
		b.expectFault("Submit", err, "send_unavailable")
		b.sends.Signers[regtest] = served
		_, err = b.sends.Cancel(b.Context(), b.owner, first.Send.Reference)
		b.must(err)
		delete(b.sends.Signers, regtest)
		b.expectFault("PrepareAgain", b.PrepareAgain(b.Context(), b.owner, v.Row.ID, ""), "send_unavailable")
	})
}

// TestTheFirstOfTwoPreparationsHolds (SD-16) has another person prepare a batch again between reading and storing.
func TestTheFirstOfTwoPreparationsHolds(t *testing.T) {
	eachBatches(t, func(b *batches) {
		b.receive()
		v := b.mustStart(b.ready("0.0003"), b.ready("0.0002"))
		faster := b.hire("ada@books.example", scope.Admin)
		prepare := func(sc scope.Scope) error { return b.PrepareAgain(b.Context(), sc, v.Row.ID, chain.SpeedUsual) }
		b.sends.Signers[regtest] = payer.Signer{Domain: scope.Test,
			Signer: &duringOutputs{b.signer, func() { b.must(prepare(faster)) }}}
		b.expectFault("the slower of two", prepare(b.owner), "send_changed")
		if now := b.open(v.Row.ID).Row; now.Actor != faster.Actor {
			b.Errorf("the batch has the transaction that %s prepared, want that of %s", now.Actor, faster.Actor)
		}
	})
}

// unreadable is a signer that can't read its own terms.
type unreadable struct{ *chaintest.OutputSigner }

var errTerms = errors.New("the terms can't be read")

func (unreadable) ListInputs(string) (keys, shared []string, err error) { return nil, nil, errTerms }

// TestBatchesReserveWhatTheySpend (SD-9): a transaction whose outputs can't be read, so that they can't be reserved,
// isn't stored.
func TestBatchesReserveWhatTheySpend(t *testing.T) {
	eachBatches(t, func(b *batches) {
		b.receive()
		b.sends.Signers[regtest] = payer.Signer{Domain: scope.Test, Signer: unreadable{b.signer}}
		_, err := b.start(b.ready("0.0003"), b.ready("0.0002"))
		var rows []models.SendBatch
		b.must(b.db.Read(b.Context()).Find(&rows).Error)
		if !errors.Is(err, errTerms) || len(rows) != 0 {
			b.Errorf("preparing returns %v and stores %d batches, want %v and none", err, len(rows), errTerms)
		}
	})
}
