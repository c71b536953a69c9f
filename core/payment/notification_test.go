package payment_test

import (
	"fmt"
	"testing"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/models"
)

// notes are the notifications since the bench was made, each by kind, subject and how often it came.
func (b *bench) notes() (list []string) {
	b.t.Helper()
	var rows []models.Notification
	must(b.t, b.db.Read(b.t.Context()).Where("business_id = ? AND domain = ?", b.scope.BusinessID, string(b.scope.Domain)).Order("id").Find(&rows).Error)
	for _, row := range rows {
		list = append(list, fmt.Sprintf("%s %s %d", row.Kind, row.Subject, row.Times))
	}
	return list
}

func (b *bench) expectNotes(what string, want ...string) {
	b.t.Helper()
	if got := b.notes(); fmt.Sprint(got) != fmt.Sprint(want) {
		b.t.Fatalf("%s: the notifications are %q, want %q", what, got, want)
	}
}

// TestNotifications (AP-27): a payment that ends makes one notification, and money that belongs to no payment one for each
// address and hour, however many transfers it comes in.
func TestNotifications(t *testing.T) {
	each(t, func(_ *testing.T, b *bench) {
		v := b.opened()
		b.mine(b.pay(v, "exact", v.Payment.Due))
		b.expectNotes("a payment on its way")
		b.mine()
		paid := fmt.Sprintf("paid %s 1", v.Payment.Reference)
		b.expectNotes("a successful payment", paid)
		b.mine()
		b.tick()
		b.expectNotes("later blocks", paid)
		b.mine(b.pay(v, "more", money.Units(1000)))
		unmatched := b.open()[0].ID
		b.expectNotes("a transfer after the end", paid, fmt.Sprintf("unmatched %d 1", unmatched))
		b.mine(b.pay(v, "dust", money.Units(1000)), b.pay(v, "more dust", money.Units(1000)))
		b.expectNotes("two more to the same address", paid, fmt.Sprintf("unmatched %d 3", unmatched))
		short := b.underpaid("short", 1000)
		b.expectNotes("a declined payment", paid, fmt.Sprintf("unmatched %d 3", unmatched), fmt.Sprintf("declined %s 1", short.Payment.Reference))
		other := b.opened()
		b.mine(b.pay(other, "whole", other.Payment.Due), b.pay(other, "crumb", money.Units(2000)))
		b.mine()
		b.expect(other.Payment.Reference, payment.Successful, "")
		if got := b.notes(); len(got) != 5 || got[4] != fmt.Sprintf("unmatched %d 1", b.open()[0].ID) {
			b.t.Errorf("a payment with surplus: the notifications are %q, want the payment and its surplus at the end", got)
		}
	})
}
