package observe

import (
	"slices"
	"strings"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/models"
)

// paymentUpdate is a payment that a block or a picture of the mempool brings something.
type paymentUpdate struct {
	*payment.View
	events []pendingEvent // to send
	at     map[int64]int  // where in Transfers each is, by id; nil while nobody asked

	summed       bool // the sums are of Transfers as they are now
	there, mined money.Amount
}

// pendingEvent is an event that is to be sent, and the transactions that it is about.
type pendingEvent struct {
	kind  string
	about []string
}

// loadUpdate is a payment as this block or picture finds it: read once, however many
// transfers concern it.
func (a *applying) loadUpdate(id int64) (*paymentUpdate, error) {
	if n := a.views[id]; n != nil {
		return n, nil
	}
	v, err := a.LoadPayment(a.tx, id)
	if err != nil {
		return nil, err
	}
	if a.views == nil {
		a.views = map[int64]*paymentUpdate{}
	}
	n := &paymentUpdate{View: v}
	a.views[id], a.told = n, append(a.told, id)
	return n, nil
}

// recordSighting puts a transfer's first sighting on the payment's timeline, and notes
// what the merchant is to be told. Via is the transfer's.
func (a *applying) recordSighting(n *paymentUpdate, row models.Transfer, via string) {
	amount := row.Asset
	if row.Amount.Sign() > 0 { // else the asset's name says how much
		amount += " " + row.Amount.String()
	}
	if coin := money.Coin(row.Asset); coin.Info().Unit > 0 {
		amount = coin.Format(row.Amount) + " " + row.Asset
	}
	remark, kind := "Seen on the network: "+amount+".", webhook.PaymentDetected
	switch row.Unmatched {
	case payment.WrongAsset:
		remark, kind = "Another asset came to this payment's address: "+amount+". It credits nothing.", webhook.PaymentUnexpectedTransfer
	case payment.NotPayment, payment.NoTransaction:
		remark, kind = "Money came to this payment's address in another way than by a payment ("+via+"): "+amount+". It credits nothing, and is listed under Unmatched.", webhook.PaymentUnexpectedTransfer
	case payment.Unproved:
		remark, kind = "A payment to this address can't be believed ("+via+"): its amount, "+amount+", is not proved. It credits nothing, and is listed under Unmatched.", webhook.PaymentUnexpectedTransfer
	case payment.AfterFinal:
		remark, kind = "More money came after the end: "+amount+". It is listed under Unmatched.", webhook.PaymentUnexpectedTransfer
	}
	n.queueEvent(kind, row.TxID)
	if row.Unmatched == "" {
		n.addPaid(row)
	}
	a.steps = append(a.steps, a.NumberStep(n.View, models.Step{Kind: payment.StepTransfer, From: n.Payment.Status, To: n.Payment.Status, Remark: remark,
		Reason: row.Unmatched, Detail: payment.StepDetail(map[string]any{"hash": row.TxID, "index": row.Index, "amount": row.Amount.String(), "asset": row.Asset})}))
}

// maxEventsPerBlock is how many transactions of one block or picture have an event of their own, of a
// kind and for a payment. The last of these is about all further ones too, so that nobody
// can make more work than there are blocks by sending dust.
const maxEventsPerBlock = 10

// queueEvent notes that the merchant is to be told of a transaction. What one event is about
// doesn't depend on what was seen with it: after a restore other things may be.
func (n *paymentUpdate) queueEvent(kind, tx string) {
	var last *pendingEvent
	of := 0
	for i := range n.events {
		if n.events[i].kind == kind {
			last, of = &n.events[i], of+1
		}
	}
	switch {
	case last != nil && last.about[len(last.about)-1] == tx:
	case of == maxEventsPerBlock:
		last.about = append(last.about, tx)
	default:
		n.events = append(n.events, pendingEvent{kind, []string{tx}})
	}
}

// addPaid adds a transfer to what was paid.
func (n *paymentUpdate) addPaid(row models.Transfer) {
	n.sumTransfers()
	n.addToSums(row, money.Amount.Add)
	if n.at != nil {
		n.at[row.ID] = len(n.Transfers)
	}
	n.Transfers = append(n.Transfers, row)
	if n.Payment.FirstSeenAt == nil {
		n.Payment.FirstSeenAt = row.SeenAt
	}
}

// sumTransfers adds up what is there of the payment's transfers, and what of it blocks hold.
// Further changes are weighed one by one: a block may have ten thousand of them.
func (n *paymentUpdate) sumTransfers() {
	if n.summed {
		return
	}
	n.summed, n.there, n.mined = true, money.Amount{}, money.Amount{}
	for _, t := range n.Transfers {
		n.addToSums(t, money.Amount.Add)
	}
}

// addToSums adds a transfer to the sums, or takes it away.
func (n *paymentUpdate) addToSums(t models.Transfer, with func(sum, part money.Amount) money.Amount) {
	if t.Gone || t.Reverted || t.Unmatched != "" {
		return
	}
	n.there = with(n.there, t.Amount)
	if t.Height != nil {
		n.mined = with(n.mined, t.Amount)
	}
}

// minedByOthers is what blocks hold of the payment's other transfers.
func (n *paymentUpdate) minedByOthers(row models.Transfer) money.Amount {
	n.sumTransfers()
	rest := *n
	if t := n.findTransfer(row.ID); t != nil {
		rest.addToSums(*t, money.Amount.Sub)
	}
	return rest.mined
}

// findTransfer is one of the payment's as it was read, nil when it is none of them.
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

// flushEvents tells merchants what a block or a picture of the mempool brought.
func (a *applying) flushEvents() error {
	if len(a.steps) > 0 {
		if err := a.tx.CreateInBatches(a.steps, maxKeysPerQuery).Error; err != nil {
			return err
		}
		a.steps = nil
	}
	for _, id := range a.told {
		n := a.views[id]
		if len(n.events) == 0 {
			continue
		}
		n.Transfers = slices.DeleteFunc(n.Transfers, func(t models.Transfer) bool { return t.Unmatched != "" })
		if !payment.TakesNoTransfers(n.View) { // what came later may have taken some of it away
			n.sumTransfers()
			n.Payment.Paid = n.there
		}
		for _, h := range n.events {
			if err := a.EmitEvent(a.tx, n.View, h.kind, strings.Join(h.about, " ")); err != nil {
				return err
			}
		}
		if ahead := n.Payment.AdvanceOnSeen; ahead > 0 && n.Payment.Domain == string(scope.Test) {
			n.Payment.AdvanceOnSeen = 0
			n.Payment.Advanced += ahead
		}
		if err := a.SavePayment(a.tx, n.View); err != nil {
			return err
		}
	}
	a.views, a.told = nil, nil
	return nil
}
