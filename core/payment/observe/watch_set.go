package observe

import (
	"context"
	"sync"
	"time"

	"cointill/chain"
	"cointill/core/payment/departure"
	"cointill/models"
)

// numberingOverlap bounds the time between a destination's number and its commit. Younger rows
// are read again, because a lower number may be committed after a higher one.
const numberingOverlap = 30 * time.Second

// destinationBatch bounds how many destinations are held in memory as rows.
const destinationBatch = 10_000

// Addresses are the destinations that followers of a process look for. Those of networks that share their
// addresses share them, so that they are in memory once.
type Addresses struct {
	set *chain.WatchSet

	mu     sync.Mutex
	readTo int64 // destinations up to this number are all known
}

// NewAddresses makes addresses that are kept in a set.
func NewAddresses(set *chain.WatchSet) *Addresses { return &Addresses{set: set} }

// Load fills the watch set of a network: every destination ever given out, and the spend keys
// of transfers that are not final.
func (o *Observer) Load(ctx context.Context, network chain.Network) error {
	o.readSendsTo = 0
	if o.Watching.Shared == nil { // else they stay known
		o.addresses.readTo = 0
	}
	if err := o.Refresh(ctx, network); err != nil {
		return err
	}
	var keys []string
	err := o.DB.Read(ctx).Model(&models.Spend{}).Where("network = ?", string(network)).Pluck("spend_key", &keys).Error
	o.Watching.AddSpends(keys...)
	if err != nil || !network.HasOutputs() {
		return err
	}
	return o.watchOutputs(ctx, network)
}

// watchOutputs watches the outputs of businesses that are not known to be spent.
func (o *Observer) watchOutputs(ctx context.Context, network chain.Network) error {
	for after := int64(0); ; {
		var rows []models.Transfer
		err := o.DB.Read(ctx).Select("id", "tx_id", "idx").
			Where("network = ? AND spendable AND id > ?", string(network), after).
			Order("id").Limit(destinationBatch).Find(&rows).Error
		if err != nil {
			return err
		}
		for _, row := range rows {
			after = row.ID
			o.Watching.AddSpends(departure.FormatOutpoint(row))
		}
		if len(rows) < destinationBatch {
			return nil
		}
	}
}

// Refresh adds the destinations that were given out since it last ran, by any replica.
func (o *Observer) Refresh(ctx context.Context, network chain.Network) error {
	if err := o.refreshSends(ctx, network); err != nil {
		return err
	}
	return o.addresses.addDestinations(ctx, o.DB, o.Networks.Home(string(network)), o.Clock().Add(-numberingOverlap))
}

// addDestinations adds the destinations of a home network. Rows that were made before settled are read once.
func (a *Addresses) addDestinations(ctx context.Context, db *models.DB, home string, settled time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for after := a.readTo; ; {
		var rows []models.Destination
		err := db.Read(ctx).Select("id", "address", "created_at").Where("network = ? AND id > ?", home, after).
			Order("id").Limit(destinationBatch).Find(&rows).Error
		if err != nil {
			return err
		}
		addresses := make([]string, len(rows))
		for i, row := range rows {
			addresses[i], after = row.Address, row.ID
			if row.CreatedAt.Before(settled) {
				a.readTo = row.ID
			}
		}
		a.set.AddAddresses(addresses...)
		if len(rows) < destinationBatch {
			return nil
		}
	}
}
