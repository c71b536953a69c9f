package observe

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"cointill/chain"
	"cointill/core/money"
	"cointill/core/send/destination"
	"cointill/core/send/match"
	"cointill/models"
)

// loadKnown reads the stored rows of transfers of a block or snapshot, and the sends that new ones
// may pay.
func (a *batchApplier) loadKnown(transfers []chain.Transfer) error {
	if err := a.loadKnownTransfers(transfers); err != nil {
		return err
	}
	var fresh []chain.Transfer
	for _, t := range transfers {
		if _, known := a.known[t.Key()]; !known {
			fresh = append(fresh, t)
		}
	}
	var err error
	a.matcher, err = match.New(a.tx, a.network, fresh)
	return err
}

// matchSend gives a new transfer the send that it pays. foreign reports that it pays none, and goes
// to no address of a payment: it was seen because a send goes to that address, too.
func (a *batchApplier) matchSend(row *models.Transfer, t chain.Transfer, block *chain.Header) (foreign bool, err error) {
	height := int64(0)
	if block != nil {
		height = block.Height
	}
	paid, err := a.matcher.Match(t, height)
	if err != nil {
		return false, err
	}
	if paid != nil {
		row.SendID, row.Fee = &paid.ID, feeOf(t)
		return false, nil
	}
	places, err := a.findDestinations(row)
	if err != nil || len(places) > 0 {
		return false, err
	}
	var own []int64 // with another tag
	err = a.tx.Model(&models.Destination{}).Where("network = ? AND address = ?", a.home, t.Address).Limit(1).
		Pluck("id", &own).Error
	return len(own) == 0, err
}

// feeOf returns what the transaction of a transfer cost the account that the amount came from. A contract
// wallet's transaction is paid for by the account that sends it, so it cost that account nothing. Where transactions
// have no spend keys the network shows the fee of the payer's own transactions alone.
func feeOf(t chain.Transfer) money.Amount {
	sentByPayer := t.From != "" && (len(t.Spends) == 0 || slices.ContainsFunc(t.Spends, func(key string) bool {
		return strings.HasPrefix(key, t.From)
	}))
	if t.Invoice == "" && !sentByPayer {
		return money.Amount{}
	}
	return t.Fee
}

// evaluateSends brings sends to where the facts put them, like evaluatePayments.
func (o *Observer) evaluateSends(ctx context.Context, network string, tip int64, paid []int64) {
	if err := o.sends.Evaluator.EvaluateDue(ctx, network, tip, paid); err != nil && ctx.Err() == nil {
		slog.ErrorContext(ctx, "some sends could not be evaluated; they are tried again", "network", network, "error",
			err)
	}
	if len(paid) > 0 {
		o.SignalChange()
	}
}

// refreshSends adds the addresses of sends that became ready since it last ran, by any replica.
func (o *Observer) refreshSends(ctx context.Context, network chain.Network) error {
	settled := o.Clock().Add(-numberingOverlap)
	for after := o.readSendsTo; ; {
		rows, err := destination.ListAddresses(ctx, o.DB, string(network), after, destinationBatch)
		if err != nil {
			return err
		}
		for _, row := range rows {
			after = row.ID
			if row.CreatedAt.Before(settled) {
				o.readSendsTo = row.ID
			}
			o.Watching.AddAddresses(row.Address)
		}
		if len(rows) < destinationBatch {
			return nil
		}
	}
}
