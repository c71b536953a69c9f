package payment_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/issuer"
	"cointill/core/scope"
	"cointill/models"
)

// fakeIssuer is who issues a network's token.
type fakeIssuer struct {
	network, token string
	barred         map[string]bool
	asked          []string
	fails          error
}

func (i *fakeIssuer) Notes(context.Context) (string, string, error) {
	return i.network, i.token, i.fails
}

func (i *fakeIssuer) Barred(_ context.Context, addresses []string) ([]bool, error) {
	i.asked = append(i.asked, addresses...)
	barred := make([]bool, len(addresses))
	for n, address := range addresses {
		barred[n] = i.barred[address]
	}
	return barred, i.fails
}

// TestIssuerMonitor (ETH-6, ETH-7): what is unusual about a network and its token is written
// down when it changes, and so is which addresses are barred: of payments that are
// open, or that the token came to. That changes no payment.
func TestIssuerMonitor(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		paid, open, over := b.opened(), b.opened(), b.opened()
		b.mine(b.pay(paid, "aa", paid.Payment.Due))
		for range 3 {
			b.mine()
		}
		b.expect(paid.Payment.Reference, payment.Successful, "")
		must(t, b.db.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", over.Payment.ID).Update("due_read", nil).Error)
		must(t, b.db.Exec(t.Context()).Model(&models.Destination{}).Where("network = ?", string(network)).Update("wallet_id", 1).Error)
		i := &fakeIssuer{token: "Paused.", barred: map[string]bool{paid.Payment.Address: true, over.Payment.Address: true}}
		w := &issuer.Monitor{Service: b.service, Network: network, Token: money.BTC, Issuer: i}
		look := func() (barred []string) {
			t.Helper()
			i.asked = nil
			for range 2 { // the second finds no more
				must(t, w.Step(t.Context()))
			}
			must(t, b.db.Read(t.Context()).Model(&models.Destination{}).Where("barred_at IS NOT NULL").Order("id").Pluck("address", &barred).Error)
			return barred
		}
		if got := look(); len(got) != 1 || got[0] != paid.Payment.Address || len(i.asked) != 2 || i.asked[1] != open.Payment.Address {
			t.Errorf("barred are %q, asked was for %q", got, i.asked)
		}
		if got := look(); len(got) != 1 || len(i.asked) != 0 {
			t.Errorf("within an hour it was asked for %q", i.asked)
		}
		registry := &payment.Registry{DB: b.db, Domains: map[scope.Domain]map[money.Chain]chain.Network{scope.Test: {money.Bitcoin: network}}}
		said := func() payment.Notes {
			t.Helper()
			must(t, registry.Refresh(t.Context()))
			return registry.Notes(scope.Test, money.Bitcoin)
		}
		if got := said(); got != (payment.Notes{Token: "Paused."}) {
			t.Errorf("notes are %+v", got)
		}
		i.network, i.token, i.barred = "Stalls.", "", map[string]bool{open.Payment.Address: true}
		b.clock.Advance(time.Hour)
		if got := look(); len(got) != 1 || got[0] != open.Payment.Address {
			t.Errorf("barred are %q", got)
		}
		if got := said(); got != (payment.Notes{Network: "Stalls."}) {
			t.Errorf("notes are %+v", got)
		}
		b.expect(paid.Payment.Reference, payment.Successful, "")

		w = &issuer.Monitor{Service: b.service, Network: network, Token: money.BTC, Issuer: &fakeIssuer{token: "Old."}, Fence: -1}
		if err := w.Step(t.Context()); !errors.Is(err, chain.ErrStale) {
			t.Errorf("who lost the lease was told %v", err)
		}
		if got := said(); got.Token != "" {
			t.Errorf("who lost the lease has written %+v", got)
		}
		i.fails = errors.New("no node")
		w.Issuer, w.Fence = i, 0
		if err := w.Step(t.Context()); !errors.Is(err, i.fails) {
			t.Errorf("a node that fails: %v", err)
		}
	})
}
