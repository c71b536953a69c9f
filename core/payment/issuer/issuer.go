// Package issuer watches what the issuer of a token does: whether the token is paused, and
// whether addresses of payments are frozen.
package issuer

import (
	"context"
	"time"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/models"
)

// Issuer is a network with a token that somebody issues, who can stop it, replace
// its contract, or bar addresses from sending any.
type Issuer interface {
	// Notes are what people should know of the network, and of its token, although
	// both can be used: sentences, or "".
	Notes(ctx context.Context) (network, token string, err error)
	// Barred tells of addresses, in their order, whether they are barred now.
	Barred(ctx context.Context, addresses []string) ([]bool, error)
}

const (
	// wardenBatch is how many addresses one look takes.
	addressBatch = 200
	// wardenRest is how long all addresses are left alone after the last of them was
	// looked at. A barred address changes no payment: it is for the merchant to know.
	restBetweenRounds = time.Hour
)

// Monitor keeps what merchants should know of a network and its token: that it is
// paused, say, or that its issuer has barred one of their addresses. Of addresses,
// those are looked at that the token was paid to, and those of open payments.
type Monitor struct {
	*payment.Service
	Network chain.Network
	Token   money.Coin
	Issuer  Issuer
	Fence   int64 // of the lease under which it works

	noted bool // what is written is what was said last
	said  [2]string
	after int64     // the last destination that was looked at; 0 before a round
	rests time.Time // until when there is no further round
}

// Run looks every so often until the context ends; a look that fails is made again.
func (w *Monitor) Run(ctx context.Context, every time.Duration) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		_ = w.Step(ctx) // the follower's health tells when nothing can be read
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// Step writes down what has changed, and looks at some addresses.
func (w *Monitor) Step(ctx context.Context) error {
	network, token, err := w.Issuer.Notes(ctx)
	if err != nil {
		return err
	}
	if said := [2]string{network, token}; !w.noted || said != w.said {
		set := map[string]any{"note": network, "token_note": token}
		if err := w.WriteUnderFence(ctx, w.Network, w.Fence, func(tx *models.Tx) error {
			return tx.Model(&models.ChainCursor{}).Where("network = ?", string(w.Network)).Updates(set).Error
		}); err != nil {
			return err
		}
		w.noted, w.said = true, said
	}
	if w.after == 0 && w.Clock().Before(w.rests) {
		return nil
	}
	var rows []models.Destination
	err = w.DB.Read(ctx).Where("network = ? AND wallet_id IS NOT NULL AND id > ?", string(w.Network), w.after).Order("id").Limit(addressBatch).Find(&rows).Error
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
	return w.WriteUnderFence(ctx, w.Network, w.Fence, func(tx *models.Tx) error {
		for id, since := range changed {
			if err := tx.Model(&models.Destination{}).Where("id = ?", id).Update("barred_at", since).Error; err != nil {
				return err
			}
		}
		return nil
	})
}

// listAddresses are those of some destinations that have the token, may get some, or are
// known to be barred.
func (w *Monitor) listAddresses(ctx context.Context, rows []models.Destination) (some []models.Destination, err error) {
	var payments []int64
	for _, row := range rows {
		if row.PaymentID != nil {
			payments = append(payments, *row.PaymentID)
		}
	}
	var open, paid []int64
	err = w.DB.Read(ctx).Model(&models.Payment{}).Where("id IN ? AND (due_at IS NOT NULL OR due_read IS NOT NULL)", payments).Pluck("id", &open).Error
	if err == nil {
		err = w.DB.Read(ctx).Model(&models.Transfer{}).Where("payment_id IN ? AND asset = ?", payments, string(w.Token)).Pluck("payment_id", &paid).Error
	}
	if err != nil {
		return nil, err
	}
	wanted := map[int64]bool{}
	for _, id := range append(open, paid...) {
		wanted[id] = true
	}
	for _, row := range rows {
		if row.BarredAt != nil || row.PaymentID != nil && wanted[*row.PaymentID] {
			some = append(some, row)
		}
	}
	return some, nil
}
