// Package batch has one transaction pay several approved sends, on networks whose transactions spend outputs
// (Bitcoin, Dogecoin).
//
// A send that was prepared in a batch stays in it until it ends, as a transaction of the batch may have been
// signed: each transaction that is prepared for a batch spends an output of all earlier ones, so that only
// one of them can confirm. When a send of a batch ends before it was signed, the prepared transaction is
// refused from then on, and the next one pays the others.
package batch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cointill/chain"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/outputs"
	"cointill/core/send/payer"
	"cointill/models"
)

// Batches hands batches of sends to wallets, and takes back signed transactions.
type Batches struct{ Sends *send.Service }

// View is a batch with its sends.
type View struct {
	Row   models.SendBatch // its ID is 0 before it is prepared
	Sends []send.View      // in the order in which they were asked for
	// Unsigned is the prepared transaction; nil where there is none that pays exactly the ready sends.
	Unsigned *send.Unsigned
	signer   chain.OutputSigner // that made Unsigned
}

// ListReady lists the sends of the batch that are to be signed.
func (v View) ListReady() []send.View {
	return slices.DeleteFunc(slices.Clone(v.Sends), func(one send.View) bool { return one.State() != send.Ready })
}

// IsOutdated reports that a transaction was prepared, and no longer pays exactly the ready sends.
func (v View) IsOutdated() bool {
	ready := v.ListReady()
	return v.Row.ID > 0 && len(ready) > 0 && v.Row.Paid != listNumbers(ready)
}

// Choose finds sends that one transaction can pay, by their references. Where they are a prepared batch
// already, it is returned.
//
// Faults: Forbidden; Conflict for sends that can't be signed together.
func (s *Batches) Choose(ctx context.Context, sc scope.Scope, references []string) (v View, err error) {
	if err := sc.CheckAction(scope.SignSends); err != nil {
		return v, err
	}
	references = slices.Compact(slices.Sorted(slices.Values(references)))
	if len(references) == 0 || len(references) > send.MaxTogether {
		return v, newRefusal("Tick the sends that one transaction is to pay, at most 100.")
	}
	if v.Sends, err = s.listSends(ctx, sc, send.Filter{References: references}); err != nil {
		return v, err
	}
	if len(v.Sends) != len(references) {
		return v, fault.Missing("send")
	}
	first := v.Sends[0].Send
	v.Row = models.SendBatch{BusinessID: sc.BusinessID, Domain: string(sc.Domain), Network: first.Network}
	if _, err := s.findSigner(first.Network); err != nil {
		return v, err
	}
	for _, one := range v.Sends {
		row := one.Send
		if err := payer.NameFault(row.Reference, s.Sends.Signing.CheckReady(one)); err != nil {
			return v, err
		}
		if row.Network != first.Network {
			return v, newRefusal(
				"These sends are on %s and %s. One transaction pays sends of one network. Tick those of "+
					"one coin.", first.Network, row.Network)
		}
		fresh := row.Account == "" && first.Account == "" // neither was prepared
		if same := row.BatchID != nil && first.BatchID != nil && *row.BatchID == *first.BatchID; !fresh && !same {
			if row.Account == "" {
				row = first
			}
			return v, newRefusal(
				"%s was prepared before, and its transaction may still confirm. Sign it as it was prepared, "+
					"or withdraw it and ask for it again. Tick the others without it.", row.Reference)
		}
	}
	if first.BatchID != nil {
		return s.Open(ctx, sc, *first.BatchID)
	}
	return v, nil
}

// listSends lists sends in the order in which they were asked for.
func (s *Batches) listSends(ctx context.Context, sc scope.Scope, f send.Filter) ([]send.View, error) {
	f.Limit = send.MaxTogether
	list, _, err := s.Sends.List(ctx, sc, f)
	slices.Reverse(list)
	return list, err
}

// findSigner finds the signer of a network whose transactions spend outputs.
func (s *Batches) findSigner(network string) (chain.OutputSigner, error) {
	signer, is := s.Sends.Signers[network].Signer.(chain.OutputSigner)
	if !is {
		return nil, newRefusal("Sends on %s are signed one by one.", network)
	}
	return signer, nil
}

// Open returns a prepared batch.
//
// Faults: Forbidden; NotFound; Conflict for one that was changed in the database.
func (s *Batches) Open(ctx context.Context, sc scope.Scope, id int64) (v View, err error) {
	if err := sc.CheckAction(scope.SignSends); err != nil {
		return v, err
	}
	if err := sc.Rows(s.Sends.DB.Read(ctx)).Where("id = ?", id).Take(&v.Row).Error; err != nil {
		return v, fault.MissingRow(err, "batch")
	}
	if v.Sends, err = s.listSends(ctx, sc, send.Filter{Batch: id}); err != nil {
		return v, err
	}
	if len(v.Sends) == 0 { // they failed for good, and were prepared by themselves since
		return v, fault.Missing("batch")
	}
	if v.Row.Sealed != s.sealBatch(v.Row) {
		return v, errChanged
	}
	ready := v.ListReady()
	for _, one := range ready {
		if err := payer.NameFault(one.Send.Reference, s.Sends.Signing.CheckReady(one)); err != nil {
			return v, err
		}
	}
	if len(ready) == 0 || v.IsOutdated() {
		return v, nil
	}
	if err := s.Sends.Signing.CheckMoney(ctx, ready...); err != nil {
		return v, err
	}
	if v.signer, err = s.findSigner(v.Row.Network); err != nil {
		return v, err
	}
	unsigned, err := v.signer.BuildUnsigned(orderOf(ready, v.Row.Account), v.Row.Terms)
	v.Unsigned = &unsigned
	return v, err
}

// orderOf returns sends that an account pays, for the network's adapter.
func orderOf(sends []send.View, account string) chain.Order {
	order := send.OrderOf(sends[0].Send, account)
	for _, one := range sends[1:] {
		more := send.OrderOf(one.Send, account)
		order.Beside = append(order.Beside, chain.Payee{To: more.To, Amount: more.Amount})
	}
	return order
}

// listNumbers writes the numbers of sends as batches store them, in JSON.
func listNumbers(sends []send.View) string {
	ids := make([]string, len(sends))
	for i, one := range sends {
		ids[i] = fmt.Sprint(one.Send.ID)
	}
	return "[" + strings.Join(ids, ",") + "]"
}

// sealBatch returns what a batch stores: only this server can make it.
func (s *Batches) sealBatch(row models.SendBatch) string {
	return s.Sends.Secrets.Hash("send batch", fmt.Sprintf("%d %d %s %s %s\n%s\n%s", row.ID, row.BusinessID, row.Domain,
		row.Network, row.Paid, row.Account, row.Terms))
}

func holderOf(row models.SendBatch) outputs.Holder {
	return outputs.Holder{BusinessID: row.BusinessID, Domain: row.Domain, Network: row.Network, BatchID: row.ID}
}

func newRefusal(text string, args ...any) error {
	return fault.New(fault.Conflict, "send_unavailable", text, args...)
}

var (
	errChanged = fault.New(fault.Conflict, "send_changed",
		"The prepared transaction was changed in the database, so it "+
			"can't be signed. Withdraw its sends, ask for them again, and find out who changed it.")
	errOutdated = fault.New(fault.Conflict, "send_changed",
		"Since this transaction was prepared one of its sends ended "+
			"or was made ready again, so it can't be used any more. Prepare it again, and sign the new one.")
	errNothing = fault.New(fault.Conflict, "send_not_ready", "None of these sends waits for a signature.")
)
