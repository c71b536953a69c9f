package send_test

import (
	"testing"

	"gorm.io/gorm"

	"cointill/chain"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/match"
	"cointill/core/send/payer"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestMatcherReadsWhatMayBePaid asks for many sends to one address: those of other amounts and those
// that ended unsigned aren't read, and one query tells which are paid.
func TestMatcherReadsWhatMayBePaid(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, scope.Test)
		admin := o.hire("ada@books.example", scope.Admin)
		ready := func(amount string) send.View {
			v, err := o.approve(admin, o.payout(o.owner, amount))
			o.must(err)
			return v
		}
		for range 3 {
			ready("0.002")
			_, err := o.sends.Cancel(t.Context(), o.owner, ready("0.001").Send.Reference)
			o.must(err)
		}
		first, second, third := ready("0.001"), ready("0.001"), ready("0.001")
		o.payFinally(first, "first")
		o.must(db.Exec(t.Context()).Create(&models.Transfer{Network: first.Send.Network, TxID: "second",
			SendID: &second.Send.ID}).Error)
		moved := chain.Transfer{TxID: "fourth", Destination: chain.Destination{Address: recipient}, Asset: "BTC", Amount: first.Send.Amount,
			Spends: []string{payer.SandboxAccount(o.owner.BusinessID, "test") + ":1"}}
		var rows, queries int64
		count := func(tx *gorm.DB) { queries++; rows += tx.RowsAffected }
		tx := db.Exec(t.Context())
		o.must(tx.Callback().Query().After("gorm:query").Register("count", count))
		defer func() { o.must(tx.Callback().Query().Remove("count")) }()
		match := func() *models.Send {
			m, err := match.New(tx, first.Send.Network, []chain.Transfer{moved, moved})
			o.must(err)
			found, err := m.Match(moved, 0)
			o.must(err)
			return found
		}
		if got := match(); got == nil || got.ID != third.Send.ID {
			t.Errorf("a transfer of 0.001 pays %+v, want the oldest send that nothing pays, %d", got, third.Send.ID)
		}
		if queries != 2 || rows != 5 { // three sends, and the ids of two
			t.Errorf("%d queries read %d rows, want 2 that read 5: three sends, and which two are paid", queries, rows)
		}
		o.must(db.Exec(t.Context()).Create(&models.Transfer{Network: first.Send.Network, TxID: "third",
			SendID: &third.Send.ID}).Error)
		if got := match(); got == nil || got.ID != first.Send.ID {
			t.Errorf("a transfer after all are paid pays %+v, want the first twice, %d", got, first.Send.ID)
		}
	})
}
