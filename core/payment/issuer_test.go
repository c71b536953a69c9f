package payment_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/networks"
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
	fails          error // of both questions
	failsBarred    error
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
	return barred, errors.Join(i.fails, i.failsBarred)
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
		registry := &networks.Registry{DB: b.db, Domains: map[scope.Domain]map[money.Chain]chain.Network{scope.Test: {money.Bitcoin: network}}}
		said := func() networks.Notes {
			t.Helper()
			must(t, registry.Refresh(t.Context()))
			return registry.Notes(scope.Test, money.Bitcoin)
		}
		if got := said(); got != (networks.Notes{Token: "Paused."}) {
			t.Errorf("notes are %+v", got)
		}
		i.network, i.token, i.barred = "Stalls.", "", map[string]bool{open.Payment.Address: true}
		b.clock.Advance(time.Hour)
		if got := look(); len(got) != 1 || got[0] != open.Payment.Address {
			t.Errorf("barred are %q", got)
		}
		if got := said(); got != (networks.Notes{Network: "Stalls."}) {
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

// TestIssuerMonitorAsksForWhatMatters checks which addresses the issuer is asked for: those that
// hold the token, may receive some, or were frozen at the last check.
func TestIssuerMonitorAsksForWhatMatters(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		set := func(row any, id int64, column string, value any) { b.set(row, id, map[string]any{column: value}) }
		i := &fakeIssuer{token: "Paused.", failsBarred: errors.New("asked")}
		w := &issuer.Monitor{Service: b.service, Network: network, Token: money.BTC, Issuer: i}
		destinations := func() (all []models.Destination) {
			must(t, b.db.Read(t.Context()).Order("id").Find(&all).Error)
			return all
		}
		over, paid, other := b.opened(), b.opened(), b.opened()
		b.mine(b.pay(paid, "paid", paid.Payment.Due), b.pay(other, "other", other.Payment.Due))
		b.mine()
		set(&models.Payment{}, over.Payment.ID, "due_read", nil)
		must(t, b.db.Exec(t.Context()).Model(&models.Transfer{}).Where("tx_id = 'other'").Update("asset", "another").Error)
		must(t, b.db.Exec(t.Context()).Model(&models.Destination{}).Where("1 = 1").Update("wallet_id", 1).Error)
		set(&models.Destination{}, destinations()[1].ID, "wallet_id", nil)
		if err := w.Step(t.Context()); err != nil || len(i.asked) != 0 {
			t.Fatalf("asked for %q, error %v; want nothing: the payments have ended, and the paid one has no wallet", i.asked, err)
		}

		set(&models.Destination{}, destinations()[1].ID, "wallet_id", 1)
		open, read := b.opened(), b.opened()
		must(t, b.db.Exec(t.Context()).Model(&models.Destination{}).Where("1 = 1").Update("wallet_id", 1).Error)
		set(&models.Payment{}, open.Payment.ID, "due_at", b.clock.Now())
		set(&models.Payment{}, open.Payment.ID, "due_read", nil)
		set(&models.Payment{}, read.Payment.ID, "due_at", nil)
		loose := models.Destination{Network: string(network), Address: "of no payment", BusinessID: b.scope.BusinessID,
			Domain: "test", CreatedAt: b.clock.Now()}
		leftOut := int64(7)
		loose.WalletID, loose.Index = destinations()[0].WalletID, &leftOut
		must(t, b.db.Exec(t.Context()).Create(&loose).Error)
		shared := models.Destination{Network: string(network), Address: "of all payments", BusinessID: b.scope.BusinessID,
			Domain: "test", WalletID: loose.WalletID, CreatedAt: b.clock.Now()}
		must(t, b.db.Exec(t.Context()).Create(&shared).Error)
		since := b.clock.Now()
		set(&models.Destination{}, destinations()[0].ID, "barred_at", since)
		b.clock.Advance(time.Hour)
		w = &issuer.Monitor{Service: b.service, Network: network, Token: money.BTC, Issuer: i}
		for range 2 { // a question that fails is asked again
			i.asked = nil
			if err := w.Step(t.Context()); !errors.Is(err, i.failsBarred) {
				t.Fatalf("a failed question returns %v, want its error", err)
			}
		}
		want := []string{over.Payment.Address, paid.Payment.Address, open.Payment.Address, read.Payment.Address,
			shared.Address}
		if !slices.Equal(i.asked, want) {
			t.Errorf("asked for %q, want %q: frozen, paid, two open ones, and the one of all", i.asked, want)
		}

		i.failsBarred, i.barred = nil, map[string]bool{over.Payment.Address: true}
		must(t, b.db.Exec(t.Context()).Model(&models.ChainCursor{}).Where("network = ?", string(network)).Update("fence", 1).Error)
		must(t, w.Step(t.Context())) // nothing has changed, so that nothing is written, and no lease is needed
		if got := destinations()[0].BarredAt; got == nil || !got.Equal(since) {
			t.Errorf("frozen since %v, want %v as before", got, since)
		}
	})
}

// TestIssuerMonitorWritesChanges checks that warnings are written when they change, also away,
// and not after a question that failed.
func TestIssuerMonitorWritesChanges(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		cursor := func() *models.Tx {
			return b.db.Exec(t.Context()).Model(&models.ChainCursor{}).Where("network = ?", string(network))
		}
		writeNote := func(note string) { must(t, cursor().Update("note", note).Error) }
		readNote := func() (note string) {
			t.Helper()
			must(t, cursor().Select("note").Scan(&note).Error)
			return note
		}
		i := &fakeIssuer{}
		w := &issuer.Monitor{Service: b.service, Network: network, Token: money.BTC, Issuer: i}
		writeNote("Of an earlier process.")
		must(t, w.Step(t.Context()))
		if got := readNote(); got != "" {
			t.Errorf("the first step leaves the note %q, want none", got)
		}
		writeNote("By hand.")
		must(t, w.Step(t.Context()))
		if got := readNote(); got != "By hand." {
			t.Errorf("a step without a change writes %q", got)
		}
		i.network, i.fails = "Stalls.", errors.New("no node")
		if err := w.Step(t.Context()); !errors.Is(err, i.fails) || readNote() != "By hand." {
			t.Errorf("a failed question returns %v and writes %q", err, readNote())
		}
	})
}
