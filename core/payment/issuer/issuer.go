// Package issuer watches what the issuer of a token does: whether the token is paused, and
// whether addresses of payments are frozen.
package issuer

import (
	"context"
	"time"

	"cointill/chain"
	"cointill/core/clock"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/fence"
	"cointill/models"
)

// Issuer is a network with a token whose issuer can pause it, replace its contract, or freeze
// addresses.
type Issuer interface {
	// Notes returns warnings about the network and about its token, although both can be
	// used: sentences, or "".
	Notes(ctx context.Context) (network, token string, err error)
	// Barred returns for each address, in order, whether the issuer has frozen it.
	Barred(ctx context.Context, addresses []string) ([]bool, error)
}

const (
	// addressBatch is how many addresses one check takes.
	addressBatch = 200
	// restBetweenRounds is the time between two rounds through all addresses. A frozen address
	// changes no payment; it is information for the merchant.
	restBetweenRounds = time.Hour
)

// Monitor records warnings about a network and its token: that the token is paused, for
// example, or that its issuer froze an address of the merchant. It checks the addresses that
// received the token and the addresses of open payments.
type Monitor struct {
	*payment.Service
	Network chain.Network
	Token   money.Coin
	Issuer  Issuer
	Fence   int64 // of the lease under which it works

	noted bool // said is written
	said  [2]string
	after int64     // the last destination that was checked; 0 before a round
	rests time.Time // no round starts before
}

// Run checks at each interval until the context ends. A check that fails is repeated.
func (w *Monitor) Run(ctx context.Context, every time.Duration) error {
	// The follower's health tells when nothing can be read.
	return clock.RunEvery(ctx, every, func() { _ = w.Step(ctx) })
}

// Step writes changed warnings and checks some addresses.
func (w *Monitor) Step(ctx context.Context) error {
	network, token, err := w.Issuer.Notes(ctx)
	if err != nil {
		return err
	}
	if said := [2]string{network, token}; !w.noted || said != w.said {
		set := map[string]any{"note": network, "token_note": token}
		if err := fence.Write(ctx, w.DB, w.Network, w.Fence, func(tx *models.Tx) error {
			return tx.Model(&models.ChainCursor{}).Where("network = ?", string(w.Network)).Updates(set).Error
		}); err != nil {
			return err
		}
		w.noted, w.said = true, said
	}
	if w.Clock().Before(w.rests) {
		return nil
	}
	var rows []models.Destination
	err = w.DB.Read(ctx).Where("network = ? AND wallet_id IS NOT NULL AND id > ?", string(w.Network), w.after).
		Order("id").Limit(addressBatch).Find(&rows).Error
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		w.after, w.rests = 0, w.Clock().Add(restBetweenRounds)
		return nil
	}
	if err := w.checkAddresses(ctx, rows); err != nil {
		return err
	}
	w.after = rows[len(rows)-1].ID
	return nil
}

// checkAddresses asks whether some addresses are barred, and writes down where that has changed.
func (w *Monitor) checkAddresses(ctx context.Context, rows []models.Destination) error {
	rows, err := w.listAddresses(ctx, rows)
	if err != nil || len(rows) == 0 {
		return err
	}
	addresses := make([]string, len(rows))
	for i, row := range rows {
		addresses[i] = row.Address
	}
	barred, err := w.Issuer.Barred(ctx, addresses)
	if err != nil {
		return err
	}
	changed := map[int64]any{} // since when each is barred, by destination
	for i, row := range rows {
		switch {
		case barred[i] && row.BarredAt == nil:
			changed[row.ID] = w.Clock()
		case !barred[i] && row.BarredAt != nil:
			changed[row.ID] = nil
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return fence.Write(ctx, w.DB, w.Network, w.Fence, func(tx *models.Tx) error {
		for id, since := range changed {
			if err := tx.Model(&models.Destination{}).Where("id = ?", id).Update("barred_at", since).Error; err != nil {
				return err
			}
		}
		return nil
	})
}

// listAddresses selects the destinations that have the token, may receive some, or were frozen
// at the last check. The one address of a business may always receive some.
func (w *Monitor) listAddresses(ctx context.Context, rows []models.Destination) (some []models.Destination, err error) {
	var payments []int64
	for _, row := range rows {
		if row.PaymentID != nil {
			payments = append(payments, *row.PaymentID)
		}
	}
	var open, paid []int64
	err = w.DB.Read(ctx).Model(&models.Payment{}).Where("id IN ? AND (due_at IS NOT NULL OR due_read IS NOT NULL)",
		payments).Pluck("id", &open).Error
	if err == nil {
		err = w.DB.Read(ctx).Model(&models.Transfer{}).Where("payment_id IN ? AND asset = ?", payments,
			string(w.Token)).Pluck("payment_id", &paid).Error
	}
	if err != nil {
		return nil, err
	}
	wanted := map[int64]bool{}
	for _, id := range append(open, paid...) {
		wanted[id] = true
	}
	for _, row := range rows {
		oneAddress := row.PaymentID == nil && row.Index == nil
		if row.BarredAt != nil || oneAddress || row.PaymentID != nil && wanted[*row.PaymentID] {
			some = append(some, row)
		}
	}
	return some, nil
}
