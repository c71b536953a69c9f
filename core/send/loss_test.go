package send_test

import (
	"testing"
	"time"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/models"
	"cointill/models/modelstest"
)

// payFinally stores a transaction that pays a send, in a final block.
func (o *office) payFinally(v send.View, txid string) *models.Transfer {
	o.Helper()
	height := int64(10)
	row := &models.Transfer{Network: v.Send.Network, TxID: txid, Asset: "BTC", Address: recipient, Amount: v.Send.Amount,
		Height: &height, FirstSeenAt: o.clock.Now(), SendID: &v.Send.ID}
	o.must(o.db.Exec(o.Context()).Create(row).Error)
	o.must(o.db.Exec(o.Context()).Save(&models.ChainCursor{Network: v.Send.Network, Height: 30}).Error)
	o.must(o.sends.Evaluator.Evaluate(o.Context(), v.Send.ID))
	o.expectState(v, send.Successful)
	return row
}

// TestMoneyOfALostSendIsRefundableAgain reverses final refunds of a payment and of an unmatched
// transfer: their money stays reserved while the transaction may return, and can be refunded again
// once another has spent the same money for good.
func TestMoneyOfALostSendIsRefundableAgain(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, scope.Test)
		admin := o.hire("ada@books.example", scope.Admin)
		started, err := o.payments.Initiate(t.Context(), o.owner, payment.Request{Currency: "USD", Amount: 50,
			FirstName: "Esi", LastName: "Owusu", Email: "esi@example.com", Method: string(money.CryptoBitcoin)})
		o.must(err)
		o.must(db.Exec(t.Context()).Model(&models.Payment{}).Where("reference = ?", started.Reference).
			Updates(map[string]any{"status": "successful", "paid": money.Units(100_000)}).Error)
		height := int64(5)
		stray := models.Transfer{BusinessID: o.owner.BusinessID, Domain: string(o.owner.Domain), Network: "sandbox-bitcoin",
			TxID: "stray", Asset: "BTC", Amount: money.Units(70_000), Height: &height, Unmatched: payment.UnknownPayment}
		o.must(db.Exec(t.Context()).Create(&stray).Error)
		for name, request := range map[string]send.Request{
			"payment":  {Kind: send.Refund, Payment: started.Reference, Address: recipient},
			"transfer": {Kind: send.Refund, TransferID: stray.ID, Address: recipient},
		} {
			asked, err := o.sends.Ask(t.Context(), o.owner, request)
			o.must(err)
			_, err = o.approve(admin, asked)
			o.must(err)
			paid := o.payFinally(asked, "refund-of-"+name)
			change := func(changes map[string]any) {
				o.must(db.Exec(t.Context()).Model(paid).Updates(changes).Error)
				o.must(o.sends.Evaluator.Evaluate(t.Context(), asked.Send.ID))
			}
			refuse := func(what string) {
				_, err := o.sends.Ask(t.Context(), o.owner, request)
				o.expectFault(name+": another refund while "+what, err, "nothing_to_refund")
			}
			refuse("the first is final")
			change(map[string]any{"gone": true, "gone_reason": "dropped", "gone_at": o.clock.Now().Add(-9 * time.Hour)})
			refuse("its transaction is dropped")
			change(map[string]any{"conflict_height": 30})
			refuse("the transaction that replaced it isn't final")
			change(map[string]any{"conflict_height": 12})
			lost, err := o.sends.Find(t.Context(), o.owner, asked.Send.Reference)
			o.must(err)
			if lost.State() != send.Successful || !lost.Send.Reversed || lost.Send.Reason != send.Replaced {
				t.Errorf("%s: the refund is %s (%s), reversed: %t, want successful (replaced), reversed", name, lost.State(),
					lost.Send.Reason, lost.Send.Reversed)
			}
			again, err := o.sends.Ask(t.Context(), o.owner, request)
			if err != nil || again.Send.Amount.Cmp(asked.Send.Amount) != 0 {
				t.Fatalf("%s: another refund once the first is lost: of %s, %v, want %s", name, again.Send.Amount, err,
					asked.Send.Amount)
			}
			_, err = o.sends.Cancel(t.Context(), o.owner, again.Send.Reference)
			o.must(err)
			change(map[string]any{"gone": false, "gone_reason": "", "conflict_height": nil})
			refuse("the first returned and is final")
		}
		var resolved models.Transfer
		o.must(db.Read(t.Context()).Where("id = ?", stray.ID).Take(&resolved).Error)
		if resolved.Resolution != payment.Refunded {
			t.Errorf("once its refund returned, the transfer's resolution is %q, want refunded", resolved.Resolution)
		}
	})
}
