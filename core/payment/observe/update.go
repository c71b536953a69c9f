package observe

import (
	"slices"
	"strings"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/place"
	"cointill/core/payment/timeline"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/models"
)

// paymentUpdate collects the changes that one block or mempool snapshot makes to a payment.
type paymentUpdate struct {
	*payment.View
	events []pendingEvents // to send
	at     map[int64]int   // index in Transfers by transfer id; nil until it is needed

	summed  bool // there is the sum of Transfers
	sum     money.Amount
	counted map[int64]bool // the transfers that were ever credited to the ended payment; nil until they are needed
}

// paymentUpdates are the updates of the payments that one block or mempool snapshot changes.
type paymentUpdates struct {
	service *payment.Service
	tx      *models.Tx
	byID    map[int64]*paymentUpdate
	order   []int64       // their ids, in the order of their first change
	steps   []models.Step // timeline rows to write
}

// pendingEvents are events of a kind to send, with the transactions that each reports.
type pendingEvents struct {
	kind  string
	about [][]string
}

// loadUpdate returns the update of a payment. The payment is read once per block or snapshot,
// however many transfers concern it.
func (u *paymentUpdates) loadUpdate(id int64) (*paymentUpdate, error) {
	if n := u.byID[id]; n != nil {
		return n, nil
	}
	v, err := u.service.LoadPayment(u.tx, id)
	if err != nil {
		return nil, err
	}
	if u.byID == nil {
		u.byID = map[int64]*paymentUpdate{}
	}
	n := &paymentUpdate{View: v}
	u.byID[id], u.order = n, append(u.order, id)
	return n, nil
}

// recordSighting adds a transfer's first sighting to the payment's timeline and queues the
// event. via is the transfer's.
func (u *paymentUpdates) recordSighting(n *paymentUpdate, row models.Transfer, via string) {
	amount := timeline.FormatAmount(row.Asset, row.Amount)
	facts := map[string]any{"hash": row.TxID, "index": row.Index, "amount": row.Amount, "asset": row.Asset}
	remark, kind := "Seen on the network: "+amount+".", webhook.PaymentDetected
	switch row.Unmatched {
	case payment.WrongAsset:
		remark, kind = "Another asset came to this payment's address: "+amount+". It credits nothing.",
			webhook.PaymentUnexpectedTransfer
	case payment.NetworkOff:
		facts["network"] = row.Network
		remark, kind = amount+" came on "+place.NameNetwork(money.Coin(row.Asset), row.Network)+
			", which is off for this business. It is at this payment's address there, credits nothing, and is listed "+
			"under Unmatched.", webhook.PaymentUnexpectedTransfer
	case payment.AddressNotEntered:
		facts["network"] = row.Network
		remark, kind = amount+" came on "+place.NameNetwork(money.Coin(row.Asset), row.Network)+
			", for which the address of this business was not entered. It credits nothing, and is listed under "+
			"Unmatched.", webhook.PaymentUnexpectedTransfer
	case payment.NotPayment, payment.NoTransaction:
		facts["via"] = via
		remark, kind = "Money came to this payment's address in another way than by a payment ("+via+"): "+amount+
			". It credits nothing, and is listed under Unmatched.", webhook.PaymentUnexpectedTransfer
	case payment.Unproved:
		facts["via"] = via
		remark, kind = "A payment to this address can't be believed ("+via+"): its amount, "+amount+
			", is not proved. It credits nothing, and is listed under Unmatched.", webhook.PaymentUnexpectedTransfer
	case payment.AfterFinal:
		remark, kind = "More money came after the end: "+amount+". It is listed under Unmatched.",
			webhook.PaymentUnexpectedTransfer
	}
	n.queueEvent(kind, row.TxID)
	if row.Unmatched == "" {
		n.addPaid(row)
	}
	u.steps = append(u.steps, u.service.NumberStep(n.View, models.Step{Kind: payment.StepTransfer, From: n.Payment.Status,
		To: n.Payment.Status, Remark: remark,
		Reason: row.Unmatched, Detail: timeline.WriteDetail("", facts)}))
}

// queueEvent queues the event of a transaction. Its content doesn't depend on other
// transactions of the same block, which may differ after a restore.
func (n *paymentUpdate) queueEvent(kind, tx string) {
	for i := range n.events {
		if n.events[i].kind == kind {
			n.events[i].about = payment.AddReport(n.events[i].about, tx)
			return
		}
	}
	n.events = append(n.events, pendingEvents{kind, payment.AddReport(nil, tx)})
}

// addPaid adds a transfer to the amount paid.
func (n *paymentUpdate) addPaid(row models.Transfer) {
	n.sumTransfers()
	n.addToSum(row, money.Amount.Add)
	if n.at != nil {
		n.at[row.ID] = len(n.Transfers)
	}
	n.Transfers = append(n.Transfers, row)
	if n.Payment.FirstSeenAt == nil {
		n.Payment.FirstSeenAt = row.SeenAt
	}
}

// sumTransfers adds up the payment's transfers that are there. Further changes are added one by one,
// because a block may hold ten thousand of them.
func (n *paymentUpdate) sumTransfers() {
	if n.summed {
		return
	}
	n.summed, n.sum = true, money.Amount{}
	for _, t := range n.Transfers {
		n.addToSum(t, money.Amount.Add)
	}
}

// addToSum adds a transfer to the sum or subtracts it.
func (n *paymentUpdate) addToSum(t models.Transfer, with func(sum, part money.Amount) money.Amount) {
	if !t.Gone && !t.Reverted && t.Unmatched == "" {
		n.sum = with(n.sum, t.Amount)
	}
}

// findTransfer returns one of the payment's transfers, nil when it has no such transfer.
func (n *paymentUpdate) findTransfer(id int64) *models.Transfer {
	if n.at == nil {
		n.at = make(map[int64]int, len(n.Transfers))
		for i, t := range n.Transfers {
			n.at[t.ID] = i
		}
	}
	if i, has := n.at[id]; has {
		return &n.Transfers[i]
	}
	return nil
}

// refreshUpdate replaces a changed row in the payment that was read before the change.
func (u *paymentUpdates) refreshUpdate(row models.Transfer) {
	if row.PaymentID == nil || u.byID[*row.PaymentID] == nil {
		return
	}
	n := u.byID[*row.PaymentID]
	if was := n.findTransfer(row.ID); was != nil {
		n.addToSum(*was, money.Amount.Sub)
		n.addToSum(row, money.Amount.Add)
		*was = row
	}
}

// flushEvents writes the queued timeline rows and events of a block or snapshot.
func (u *paymentUpdates) flushEvents() error {
	if err := u.tx.Create(u.steps).Error; err != nil {
		return err
	}
	u.steps = nil
	for _, id := range u.order {
		n := u.byID[id]
		if len(n.events) == 0 {
			continue
		}
		n.Transfers = slices.DeleteFunc(n.Transfers, func(t models.Transfer) bool { return t.Unmatched != "" })
		if !payment.TakesNoTransfers(n.View) { // a later transfer may have replaced an earlier one
			n.sumTransfers()
			n.Payment.Paid = n.sum
		}
		for _, e := range n.events {
			for _, hashes := range e.about {
				if err := u.service.EmitEvent(u.tx, n.View, e.kind, strings.Join(hashes, " ")); err != nil {
					return err
				}
			}
		}
		if n.Payment.Domain == string(scope.Test) {
			n.Payment.Advanced += n.Payment.AdvanceOnSeen
			n.Payment.AdvanceOnSeen = 0
		}
		if err := u.service.SavePayment(u.tx, n.View); err != nil {
			return err
		}
	}
	u.byID, u.order = nil, nil
	return nil
}
