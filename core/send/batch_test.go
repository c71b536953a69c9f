package send_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"cointill/chain"
	"cointill/chain/chaintest"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/batch"
	"cointill/core/send/match"
	"cointill/models"
)

// batches is an office whose sends on Bitcoin are signed together.
type batches struct {
	*bitcoinOffice
	*batch.Batches
}

func eachBatches(t *testing.T, test func(b *batches)) {
	eachBitcoinOffice(t, func(o *bitcoinOffice) { test(&batches{o, &batch.Batches{Sends: o.sends}}) })
}

func listReferences(sends []send.View) (references []string) {
	for _, v := range sends {
		references = append(references, v.Send.Reference)
	}
	return references
}

// start prepares sends together from the first account.
func (b *batches) start(sends ...send.View) (int64, error) {
	return b.Start(b.Context(), b.owner, listReferences(sends), accountKey, chain.SpeedFast)
}

// mustStart prepares sends together.
func (b *batches) mustStart(sends ...send.View) batch.View {
	b.Helper()
	id, err := b.start(sends...)
	b.must(err)
	return b.open(id)
}

func (b *batches) open(id int64) batch.View {
	b.Helper()
	v, err := b.Open(b.Context(), b.owner, id)
	b.must(err)
	return v
}

// sign returns what a wallet signs for sends on the terms of a batch.
func (b *batches) sign(hash string, v batch.View, sends ...send.View) string {
	o := chain.Order{From: accountKey, Asset: "BTC"}
	for i, one := range sends {
		p := chain.Payee{To: chain.Destination{Address: one.Send.Address}, Amount: one.Send.Amount}
		if i == 0 {
			o.To, o.Amount = p.To, p.Amount
			continue
		}
		o.Beside = append(o.Beside, p)
	}
	return chaintest.Sign(hash, o, v.Row.Terms)
}

func (b *batches) submit(v batch.View, signed string) (send.Submitted, error) {
	return b.Submit(b.Context(), b.owner, v.Row.ID, signed)
}

// TestOneTransactionPaysABatch (SD-16) prepares three sends together and takes the signed transaction, which pays all.
func TestOneTransactionPaysABatch(t *testing.T) {
	eachBatches(t, func(b *batches) {
		older, newer := b.receive(), b.receive()
		first, second, third := b.ready("0.0005"), b.ready("0.0004"), b.ready("0.0004")
		v := b.mustStart(third, first, second)
		if want := spendKey(newer) + "," + spendKey(older); v.Row.Terms != want || v.Row.Account != accountKey {
			b.Errorf("the batch is prepared with %q from %q, want %q", v.Row.Terms, v.Row.Account, want)
		}
		order := b.signer.Orders[len(b.signer.Orders)-1]
		if order.Amount.Cmp(first.Send.Amount) != 0 || len(order.Beside) != 2 || order.Speed != chain.SpeedFast ||
			order.Total().Cmp(money.Units(130_000)) != 0 {
			b.Errorf("the signer was given %+v, want the three sends in the order in which they were asked for", order)
		}
		if got := listReferences(v.ListReady()); !slices.Equal(got, listReferences([]send.View{first, second, third})) ||
			v.Unsigned == nil || v.IsOutdated() {
			b.Errorf("the batch has %q ready, want all of them and their transaction", got)
		}
		for name, signed := range map[string]string{"one send less": b.sign("h", v, first, second),
			"another order": b.sign("h", v, second, first, third), "a send twice": b.sign("h", v, first, second, third, third)} {
			done, err := b.submit(v, signed)
			if err != nil || len(done.Differences) == 0 {
				b.Errorf("%s: %+v, %v, want differences", name, done, err)
			}
		}
		if len(b.signer.Sent) != 0 || b.find(first).Send.SignedHash != "" {
			b.Errorf("transactions that differ were broadcast: %q", b.signer.Sent)
		}
		_, err := b.submit(v, "no transaction")
		b.expectField("a text that is no transaction", err, "signed", "Is not a signed transaction")
		if now := b.find(first).Send; len(b.signer.Sent) != 0 || now.BroadcastAt != nil {
			b.Errorf("a text that is no transaction was broadcast at %v: %q", now.BroadcastAt, b.signer.Sent)
		}
		good := b.sign("hash of all", v, first, second, third)
		done, err := b.submit(v, good)
		b.must(err)
		if done.Signed.Hash != "hash of all" || len(done.Differences) != 0 || !slices.Equal(b.signer.Sent, []string{good}) {
			b.Errorf("the approved transaction: %+v, broadcast %q; want it once", done, b.signer.Sent)
		}
		for _, one := range []send.View{first, second, third} {
			now := b.find(one)
			if now.Send.SignedHash != "hash of all" || now.Send.Account != accountKey || now.Send.SigningAt == nil {
				b.Errorf("%s has the hash %q and the account %q, want those of the batch", now.Send.Reference,
					now.Send.SignedHash, now.Send.Account)
			}
		}
	})
}

// TestEachOutputOfABatchPaysItsSend (SD-16) has one transaction pay sends of the same amount to the same address.
func TestEachOutputOfABatchPaysItsSend(t *testing.T) {
	eachBatches(t, func(b *batches) {
		own, _ := b.receive(), b.receive()
		other := b.ready("0.0004") // of the same amount to the same address, and older
		first, second := b.ready("0.0004"), b.ready("0.0004")
		v := b.mustStart(first, second)
		_, err := b.submit(v, b.sign("signed", v, first, second))
		b.must(err)
		var got []int64
		b.must(b.db.Write(b.Context(), func(tx *models.Tx) error {
			got = nil
			transfer := chain.Transfer{TxID: "signed", Asset: "BTC", Amount: first.Send.Amount, Spends: []string{spendKey(own)},
				Destination: chain.Destination{Address: recipient}}
			m, err := match.New(tx, regtest, []chain.Transfer{transfer})
			for i := range 3 {
				if err != nil {
					return err
				}
				transfer.Index = i
				var paid *models.Send
				if paid, err = m.Match(transfer, 0); err != nil {
					return err
				}
				got = append(got, paid.ID)
				err = tx.Create(&models.Transfer{Network: regtest, TxID: "signed", Index: i, Asset: "BTC", Address: recipient,
					Amount: transfer.Amount, SendID: &paid.ID, FirstSeenAt: b.clock.Now(), CreatedAt: b.clock.Now(),
					UpdatedAt: b.clock.Now()}).Error
			}
			return err
		}))
		// A third output of the same amount pays one of the batch twice, never the send that isn't in it.
		if want := []int64{first.Send.ID, second.Send.ID, first.Send.ID}; !slices.Equal(got, want) {
			b.Errorf("the outputs pay the sends %v, want %v; %d is in no batch", got, want, other.Send.ID)
		}
	})
}

// TestSendsThatCantBeSignedTogether (SD-16) checks the sentence of each refusal, and that nothing is prepared then.
func TestSendsThatCantBeSignedTogether(t *testing.T) {
	eachBatches(t, func(b *batches) {
		b.receive()
		b.receive()
		fresh, more, prepared := b.ready("0.0004"), b.ready("0.0003"), b.ready("0.0002")
		_, err := b.prepare(prepared, accountKey)
		b.must(err)
		waiting := b.payout(b.owner, "0.0001")
		changed, elsewhere, sandbox := b.ready("0.0001"), b.ready("0.0001"), b.ready("0.0001")
		b.set(changed, map[string]any{"amount": money.Units(10_001)})
		reseal := func(v send.View, network string) {
			b.set(v, map[string]any{"network": network})
			row := b.find(v).Send
			b.must(b.db.Write(b.Context(), func(tx *models.Tx) error {
				return b.sends.Signing.SaveSigning(tx, &send.View{Send: row}, "test", "user:1", nil)
			}))
		}
		reseal(elsewhere, "dogecoin-regtest")
		reseal(sandbox, "sandbox-bitcoin")
		clerk := b.hire("esi@books.example", scope.Finance)
		many := make([]send.View, send.MaxTogether+1)
		for i := range many {
			many[i].Send.Reference = fmt.Sprint("SND_", i)
		}
		for name, c := range map[string]struct {
			sends []send.View
			code  string
			says  string
		}{
			"none":                       {nil, "send_unavailable", "at most 100"},
			"too many":                   {many, "send_unavailable", "at most 100"},
			"one that waits":             {[]send.View{fresh, waiting}, "send_not_ready", waiting.Send.Reference + ": "},
			"one that was changed":       {[]send.View{fresh, changed}, "send_changed", changed.Send.Reference + ": "},
			"one prepared by itself":     {[]send.View{fresh, prepared}, "send_unavailable", prepared.Send.Reference + " was prepared"},
			"two networks":               {[]send.View{fresh, elsewhere}, "send_unavailable", "on bitcoin-regtest and dogecoin-regtest"},
			"a network without a choice": {[]send.View{sandbox}, "send_unavailable", "one by one"},
		} {
			_, err := b.start(c.sends...)
			_, err2 := b.Choose(b.Context(), b.owner, listReferences(c.sends))
			for call, err := range map[string]error{"Start": err, "Choose": err2} {
				b.expectFault(call+" of "+name, err, c.code)
				if err == nil || !strings.Contains(err.Error(), c.says) {
					b.Errorf("%s of %s: %v, want %q in the sentence", call, name, err, c.says)
				}
			}
		}
		_, err = b.Start(b.Context(), clerk, listReferences([]send.View{fresh, more}), accountKey, "")
		b.expectFault("a clerk", err, "role_not_allowed")
		_, err = b.Start(b.Context(), b.rival(), listReferences([]send.View{fresh, more}), accountKey, "")
		if fault.KindOf(err) != fault.NotFound {
			b.Errorf("sends of another business: %v, want NotFound", err)
		}
		_, err = b.Start(b.Context(), b.owner, listReferences([]send.View{fresh, more}), "another key", "")
		b.expectField("a key of others", err, "account", "Must be one of your account keys.")
		_, err = b.Start(b.Context(), b.owner, listReferences([]send.View{fresh, more}), secondKey, "")
		b.expectFault("a key without money", err, "send_unavailable")
		var rows []models.SendBatch
		b.must(b.db.Read(b.Context()).Find(&rows).Error)
		if now := b.find(fresh).Send; len(rows) != 0 || now.BatchID != nil || now.Account != "" {
			b.Errorf("refusals left %d batches and %s in %v, want none", len(rows), now.Reference, now.BatchID)
		}
		v := b.mustStart(fresh, more)
		_, err = b.start(fresh, b.ready("0.00001"))
		b.expectFault("one of a batch with another", err, "send_unavailable")
		if err == nil || !strings.Contains(err.Error(), fresh.Send.Reference+" was prepared before") {
			b.Errorf("one of a batch with another: %v, want that %s was prepared before", err, fresh.Send.Reference)
		}
		if chosen, err := b.Choose(b.Context(), b.owner, []string{fresh.Send.Reference}); err != nil ||
			chosen.Row.ID != v.Row.ID || len(chosen.Sends) != 2 {
			b.Errorf("choosing a send of a batch: %+v, %v, want the batch %d", chosen.Row, err, v.Row.ID)
		}
		_, err = b.prepare(fresh, accountKey)
		b.expectFault("prepare one of a batch by itself", err, "send_prepared")
		_, err = b.sends.Signing.Submit(b.Context(), b.owner, fresh.Send.Reference, "signed")
		b.expectFault("submit for one of a batch", err, "send_prepared")
		_, err = b.Open(b.Context(), clerk, v.Row.ID)
		b.expectFault("a clerk who opens it", err, "role_not_allowed")
		for _, err := range []error{b.PrepareAgain(b.Context(), b.owner, 99, ""),
			func() error { _, err := b.Open(b.Context(), b.rivalOf(), v.Row.ID); return err }()} {
			if fault.KindOf(err) != fault.NotFound {
				b.Errorf("a batch that isn't there, or is another business's: %v, want NotFound", err)
			}
		}
	})
}

// rivalOf is the scope of a business that doesn't exist.
func (b *batches) rivalOf() scope.Scope {
	sc := b.owner
	sc.BusinessID = 77
	return sc
}

// TestSendsOfABatchEnd (SD-16): when a send of a prepared batch ends, its transaction is refused, and the next
// one pays the others with an output of the first.
func TestSendsOfABatchEnd(t *testing.T) {
	eachBatches(t, func(b *batches) {
		one := b.receive()
		first, second, third := b.ready("0.0003"), b.ready("0.0002"), b.ready("0.0001")
		v := b.mustStart(first, second, third)
		signed := b.sign("h", v, first, second, third)
		_, err := b.sends.Cancel(b.Context(), b.owner, first.Send.Reference)
		b.must(err)
		now := b.open(v.Row.ID)
		if !now.IsOutdated() || now.Unsigned != nil || len(now.ListReady()) != 2 {
			b.Errorf("after a withdrawal the batch is outdated %t with %v and %d ready, want no transaction and two",
				now.IsOutdated(), now.Unsigned, len(now.ListReady()))
		}
		_, err = b.submit(v, signed)
		b.expectFault("submit what pays a withdrawn send", err, "send_changed")
		bigger := b.receive()
		b.must(b.db.Exec(b.Context()).Model(&models.Transfer{}).Where("id = ?", bigger.ID).
			UpdateColumn("amount", money.Units(5_000_000)).Error)
		b.must(b.PrepareAgain(b.Context(), b.owner, v.Row.ID, chain.SpeedUsual))
		if got := b.signer.Earlier[len(b.signer.Earlier)-1]; got != v.Row.Terms {
			b.Errorf("the signer was given the earlier terms %q, want %q", got, v.Row.Terms)
		}
		again := b.open(v.Row.ID)
		if again.Row.Terms != spendKey(one) || again.IsOutdated() || again.Unsigned == nil {
			b.Errorf("prepared again it has %q, outdated %t; want the output of before", again.Row.Terms, again.IsOutdated())
		}
		done, err := b.submit(again, b.sign("h2", again, second, third))
		if err != nil || len(done.Differences) > 0 {
			b.Errorf("the new transaction: %+v, %v, want it taken", done, err)
		}
		b.change(b.pay(third, "h2", 0), map[string]any{"idx": 1})
		b.pay(second, "h2", 0)
		for _, v := range []send.View{second, third} {
			b.expectState(b.evaluate(v), send.Processing)
		}
		_, err = b.submit(again, b.sign("h2", again, second, third))
		b.expectFault("submit what was seen", err, "send_not_ready")
		err = b.PrepareAgain(b.Context(), b.owner, v.Row.ID, "")
		b.expectFault("prepare what was seen", err, "send_not_ready")
	})
}

// TestBatchesKeepTheirOutputs (SD-9): neither a send nor another batch takes the outputs of a batch while any of
// its sends is open, and takes them afterwards.
func TestBatchesKeepTheirOutputs(t *testing.T) {
	eachBatches(t, func(b *batches) {
		one := b.receive()
		first, second := b.ready("0.0003"), b.ready("0.0002")
		b.mustStart(first, second)
		third, fourth := b.ready("0.0002"), b.ready("0.0001")
		_, err := b.prepare(third, accountKey)
		b.expectFault("a send", err, "send_unavailable")
		_, err = b.start(third, fourth)
		b.expectFault("another batch", err, "send_unavailable")
		_, err = b.sends.Cancel(b.Context(), b.owner, first.Send.Reference)
		b.must(err)
		_, err = b.start(third, fourth)
		b.expectFault("another batch, while one send is open", err, "send_unavailable")
		_, err = b.sends.Cancel(b.Context(), b.owner, second.Send.Reference)
		b.must(err)
		if v := b.mustStart(third, fourth); v.Row.Terms != spendKey(one) {
			b.Errorf("after all sends ended another batch is prepared with %q, want %q", v.Row.Terms, spendKey(one))
		}
		_, err = b.prepare(b.ready("0.0001"), accountKey)
		b.expectFault("a send after that", err, "send_unavailable")
	})
}

// TestPreparedBatchesAreSealed (SD-16) changes a batch and its sends in the database: nothing is signed then.
func TestPreparedBatchesAreSealed(t *testing.T) {
	eachBatches(t, func(b *batches) {
		b.receive()
		b.receive()
		first, second, outside := b.ready("0.0003"), b.ready("0.0002"), b.ready("0.0001")
		v := b.mustStart(first, second)
		spare := b.mustStart(b.ready("0.0005"), b.ready("0.0004"))
		refused := func(name string) {
			b.Helper()
			_, err := b.Open(b.Context(), b.owner, v.Row.ID)
			b.expectFault("open with "+name, err, "send_changed")
			_, err = b.submit(v, b.sign("h", v, first, second))
			b.expectFault("submit with "+name, err, "send_changed")
			b.expectFault("prepare with "+name, b.PrepareAgain(b.Context(), b.owner, v.Row.ID, ""), "send_changed")
		}
		write := func(columns map[string]any) {
			b.must(b.db.Exec(b.Context()).Model(&models.SendBatch{}).Where("id = ?", v.Row.ID).UpdateColumns(columns).Error)
		}
		for name, columns := range map[string]map[string]any{"other terms": {"terms": spare.Row.Terms},
			"another account": {"account": secondKey}, "other sends": {"paid": fmt.Sprintf("[%d]", first.Send.ID)},
			"another network": {"network": "dogecoin-regtest"}, "the seal of another": {"sealed": spare.Row.Sealed}} {
			write(columns)
			refused(name)
			write(map[string]any{"terms": v.Row.Terms, "account": v.Row.Account, "paid": v.Row.Paid,
				"network": v.Row.Network, "sealed": v.Row.Sealed})
		}
		b.set(outside, map[string]any{"batch_id": v.Row.ID, "account": accountKey})
		refused("a send that was put into it")
		b.set(outside, map[string]any{"batch_id": nil, "account": ""})
		b.set(second, map[string]any{"amount": money.Units(1)})
		refused("another amount of a send")
		b.set(second, map[string]any{"amount": second.Send.Amount})
		b.set(second, map[string]any{"batch_id": spare.Row.ID})
		if now := b.open(v.Row.ID); !now.IsOutdated() {
			b.Error("with a send moved to another batch the transaction can be used, want it refused")
		}
		_, err := b.Open(b.Context(), b.owner, spare.Row.ID)
		b.expectFault("a batch with a send of another", err, "send_changed")
		b.set(second, map[string]any{"batch_id": v.Row.ID})
		if now := b.open(v.Row.ID); now.Unsigned == nil {
			b.Error("without changes the batch has no transaction, want it")
		}
	})
}

// TestBatchesAreMadeOnce (SD-16) prepares the same sends in many ways at once: each is in one transaction.
func TestBatchesAreMadeOnce(t *testing.T) {
	eachBatches(t, func(b *batches) {
		var sends []send.View
		for range 4 {
			b.receive()
			sends = append(sends, b.ready("0.0001"))
		}
		var group sync.WaitGroup
		for i := range sends {
			for _, call := range []func() error{
				func() error { _, err := b.start(sends[i], sends[(i+1)%4]); return err },
				func() error { _, err := b.prepare(sends[i], accountKey); return err },
			} {
				group.Go(func() {
					if err := call(); err != nil && fault.KindOf(err) != fault.Conflict {
						b.Errorf("preparing returns %v, want no error or Conflict", err)
					}
				})
			}
		}
		group.Wait()
		holder := map[string]string{}
		var rows []models.SendBatch
		b.must(b.db.Read(b.Context()).Find(&rows).Error)
		for _, row := range rows {
			if v := b.open(row.ID); v.Unsigned == nil || len(v.Sends) != 2 {
				b.Errorf("the batch %d has %d sends and the transaction %v, want two and one", row.ID, len(v.Sends), v.Unsigned)
			}
			for key := range strings.SplitSeq(row.Terms, ",") {
				holder[key] += fmt.Sprint(" batch ", row.ID)
			}
		}
		for _, v := range sends {
			now := b.find(v).Send
			if now.BatchID != nil && now.Terms != "" {
				b.Errorf("%s is prepared by itself and in the batch %d", now.Reference, *now.BatchID)
			}
			if now.Terms != "" {
				for key := range strings.SplitSeq(now.Terms, ",") {
					holder[key] += " " + now.Reference
				}
			}
		}
		for key, by := range holder {
			if strings.Count(by, " ") > 2 || strings.Count(by, "SND_")+strings.Count(by, "batch") != 1 {
				b.Errorf("%s is reserved by%s, want one", key, by)
			}
		}
	})
}

// TestRetriedSendsLeaveTheirBatch: after a transaction that can't confirm any more each send is prepared afresh.
func TestRetriedSendsLeaveTheirBatch(t *testing.T) {
	for reason, stays := range map[string]bool{send.Replaced: false, send.Dropped: true} {
		t.Run(reason, func(t *testing.T) {
			eachBatches(t, func(b *batches) {
				b.receive()
				b.receive()
				first, second := b.ready("0.0003"), b.ready("0.0002")
				v := b.mustStart(first, second)
				for _, one := range []send.View{first, second} {
					b.set(one, map[string]any{"status": "failed", "reason": reason})
				}
				_, err := b.sends.Approvals.Retry(b.Context(), b.owner, first.Send.Reference, send.Proof{Password: password})
				b.must(err)
				if stays {
					_, err = b.approve(b.owner, first)
					b.must(err)
				}
				now := b.find(first).Send
				if (now.BatchID != nil) != stays || (now.Account != "") != stays {
					b.Errorf("it is in the batch %v with the account %q, want that it stays: %t", now.BatchID, now.Account, stays)
				}
				_, err = b.prepare(first, accountKey)
				if !stays {
					b.must(err)
					_, err = b.sends.Approvals.Retry(b.Context(), b.owner, second.Send.Reference, send.Proof{Password: password})
					b.must(err)
					if _, err = b.Open(b.Context(), b.owner, v.Row.ID); fault.KindOf(err) != fault.NotFound {
						b.Errorf("opening a batch that all sends left returns %v, want NotFound", err)
					}
					return
				}
				b.expectFault("by itself", err, "send_prepared")
				b.must(b.PrepareAgain(b.Context(), b.owner, v.Row.ID, ""))
				if got := b.signer.Earlier[len(b.signer.Earlier)-1]; got != v.Row.Terms {
					b.Errorf("prepared again it is given the earlier terms %q, want %q", got, v.Row.Terms)
				}
			})
		})
	}
}

// TestLargestBatch signs 100 sends with one transaction.
func TestLargestBatch(t *testing.T) {
	eachBatches(t, func(b *batches) {
		b.receive()
		var sends []send.View
		for range send.MaxTogether {
			sends = append(sends, b.ready("0.00001"))
		}
		v := b.mustStart(sends...)
		done, err := b.submit(v, b.sign("h", v, sends...))
		if err != nil || len(done.Differences) > 0 || len(b.open(v.Row.ID).ListReady()) != send.MaxTogether {
			b.Errorf("%d sends: %+v, %v, want one transaction for all", len(v.Sends), done, err)
		}
	})
}
