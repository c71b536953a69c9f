package sandbox_test

import (
	"strings"
	"testing"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/sandbox"
	"cointill/core/send"
	"cointill/core/send/letter"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestRefundToAnAddressThatItsCustomerNames goes from the request to the last mail, for every coin.
func TestRefundToAnAddressThatItsCustomerNames(t *testing.T) {
	modelstest.EachFull(t, func(t *testing.T, db *models.DB) {
		b := newBench(t, db)
		for _, info := range money.Coins() {
			t.Run(string(info.Coin), func(t *testing.T) {
				b.T = t
				paid := b.initiateFor(info.Coin, 70)
				b.simulate(paid, sandbox.Exact)
				b.passUntil(func() bool { return b.view(paid).State() == payment.Successful })
				asked, err := b.sends.Ask(t.Context(), b.scope, send.Request{Kind: send.Refund, Payment: paid})
				b.must(err)
				page := b.customerMail(asked, letter.Claim)
				_, err = b.sends.Claims.NameAddress(t.Context(), strings.TrimPrefix(page, "http://localhost/refund/"),
					somewhere[info.Coin], nil)
				b.must(err)
				seed := strings.TrimPrefix(b.customerMail(asked, letter.Confirm), "http://localhost/refund/confirm/")
				_, err = b.sends.Claims.ConfirmAddress(t.Context(), b.sends.Users.TicketToken(seed))
				b.must(err)
				_, err = b.sandbox.ApproveSend(t.Context(), b.scope, asked.Send.Reference)
				b.must(err)
				_, err = b.sandbox.SimulateSend(t.Context(), b.scope, asked.Send.Reference, sandbox.Exact)
				b.must(err)
				b.passUntil(func() bool {
					v, err := b.sends.Find(t.Context(), b.scope, asked.Send.Reference)
					b.must(err)
					return v.State() == send.Successful
				})
				for _, kind := range []letter.Kind{letter.OnItsWay, letter.Done} {
					if got := b.customerMail(asked, kind); got != page {
						t.Errorf("the mail %s leads to %q, want %q", kind, got, page)
					}
				}
			})
		}
	})
}

// customerMail returns the address in the one mail of a kind to a send's customer.
func (b *bench) customerMail(v send.View, kind letter.Kind) string {
	b.Helper()
	var rows []models.Mail
	b.must(b.db.Read(b.Context()).Where("kind = ? AND about LIKE ?", "send_"+string(kind), v.Send.Reference+"%").
		Find(&rows).Error)
	if len(rows) != 1 || rows[0].To != "esi@example.com" || rows[0].FromName != "Kofi Books" {
		b.Fatalf("the mails %s of %s are %+v, want one from Kofi Books to esi@example.com", kind, v.Send.Reference, rows)
	}
	return rows[0].Text
}
