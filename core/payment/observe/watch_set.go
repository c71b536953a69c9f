package observe

import (
	"context"
	"time"

	"cointill/chain"
	"cointill/models"
)

// numberingOverlap bounds the time between a destination's number and its commit. Younger rows
// are read again, because a lower number may be committed after a higher one.
const numberingOverlap = 30 * time.Second

// destinationBatch bounds how many destinations are held in memory as rows.
const destinationBatch = 10_000

// Load fills the watch set of a network: every destination ever given out, and the spend keys
// of transfers that are not final.
func (o *Observer) Load(ctx context.Context, network chain.Network) error {
	o.readTo, o.readSendsTo = 0, 0
	if err := o.Refresh(ctx, network); err != nil {
		return err
	}
	var keys []string
	err := o.DB.Read(ctx).Model(&models.Spend{}).Where("network = ?", string(network)).Pluck("spend_key", &keys).Error
	o.Watching.AddSpends(keys...)
	return err
}

// Refresh adds the destinations that were given out since it last ran, by any replica.
func (o *Observer) Refresh(ctx context.Context, network chain.Network) error {
	if err := o.refreshSends(ctx, network); err != nil {
		return err
	}
	settled := o.Clock().Add(-numberingOverlap)
	for after := o.readTo; ; {
		var rows []models.Destination
		err := o.DB.Read(ctx).Select("id", "address", "created_at").Where("network = ? AND id > ?", string(network),
			after).
			Order("id").Limit(destinationBatch).Find(&rows).Error
		if err != nil {
			return err
		}
		addresses := make([]string, len(rows))
		for i, row := range rows {
			addresses[i], after = row.Address, row.ID
			if row.CreatedAt.Before(settled) {
				o.readTo = row.ID
			}
		}
		o.Watching.AddAddresses(addresses...)
		if len(rows) < destinationBatch {
			return nil
		}
	}
}
