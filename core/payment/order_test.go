package payment_test

import (
	"encoding/json"
	"testing"

	"cointill/chain"
	"cointill/models"
)

// TestAnyOrder (WH-11): a receiver that keeps what has the highest sequence, as the
// documentation tells it to, knows the truth after the last event of a payment,
// in whichever of all orders six events come, also when one comes twice.
func TestAnyOrder(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		v := b.opened()
		tx := b.pay(v, "aa", v.Payment.Due)
		b.mine(tx)
		b.reorg(1, &chain.Pending{Transfers: []chain.Transfer{tx}})
		b.mine(tx)
		b.mine()
		if got := b.events(v.Payment.ID); got != "initiated detected processing initiated processing successful" {
			t.Fatalf("b.events(v.Payment.ID): got = %v", got)
		}
		var rows []models.Event
		if err := b.db.Read(t.Context()).Where("payment_id = ?", v.Payment.ID).Order("id").Find(&rows).Error; err != nil {
			t.Fatal(err)
		}
		type event struct {
			Sequence int
			Data     struct{ Status string }
		}
		told := make([]event, len(rows))
		for i, row := range rows {
			if err := json.Unmarshal([]byte(row.Body), &told[i]); err != nil {
				t.Fatal(err)
			}
		}
		orders := 0
		permute(told, func(order []event) {
			orders++
			var known event
			for _, e := range append(order[:len(order):len(order)], order[0]) {
				if e.Sequence > known.Sequence {
					known = e
				}
			}
			if known.Data.Status != "successful" || known.Sequence != len(told) {
				t.Fatalf("%+v comes to %+v", order, known)
			}
		})
		if orders != 720 {
			t.Errorf("%d orders", orders)
		}
	})
}

// permute calls fn with each order of a list.
func permute[T any](list []T, fn func([]T)) {
	var from func(int)
	from = func(n int) {
		if n == len(list) {
			fn(list)
			return
		}
		for i := n; i < len(list); i++ {
			list[n], list[i] = list[i], list[n]
			from(n + 1)
			list[n], list[i] = list[i], list[n]
		}
	}
	from(0)
}
