package batch

import (
	"context"

	"cointill/chain"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/outputs"
	"cointill/core/send/payer"
	"cointill/models"
)

// Start prepares one transaction for sends that were not prepared before, and returns the number of their
// batch. account is one that ListAccounts lists for the network; speed chooses the fee.
//
// Faults: as Choose; Invalid for account; Conflict for sends that changed meanwhile, or that the account
// can't pay; Unavailable while the network's node can't be asked.
func (s *Batches) Start(ctx context.Context, sc scope.Scope, references []string, account string,
	speed send.Speed) (int64, error) {
	v, err := s.Choose(ctx, sc, references)
	if err != nil {
		return 0, err
	}
	if v.Row.ID > 0 {
		return v.Row.ID, nil
	}
	return s.prepareBatch(ctx, sc, v, account, speed)
}

// PrepareAgain prepares another transaction for the ready sends of a batch, from the same account. Only one
// of its transactions can confirm. Faults: as Open and Start.
func (s *Batches) PrepareAgain(ctx context.Context, sc scope.Scope, id int64, speed send.Speed) error {
	v, err := s.Open(ctx, sc, id)
	if err != nil {
		return err
	}
	if v.Sends = v.ListReady(); len(v.Sends) == 0 {
		return errNothing
	}
	_, err = s.prepareBatch(ctx, sc, v, v.Row.Account, speed)
	return err
}

// prepareBatch asks the network what a transaction needs that pays all sends of a batch, and stores it.
func (s *Batches) prepareBatch(ctx context.Context, sc scope.Scope, v View, account string, speed send.Speed) (int64, error) {
	signer, err := s.findSigner(v.Row.Network)
	if err != nil {
		return 0, err
	}
	asked, cancel := context.WithTimeout(ctx, send.NodePatience)
	defer cancel()
	order := orderOf(v.Sends, account)
	order.Speed = speed
	err = outputs.FillOrder(asked, s.Sends.DB, s.Sends.Clock(), holderOf(v.Row), signer, &order)
	if err != nil {
		return 0, payer.DescribeFilling(ctx, err)
	}
	terms, err := signer.PrepareTerms(asked, order, v.Row.Terms)
	if err != nil {
		return 0, payer.DescribeProblem(ctx, err)
	}
	keys, _, err := signer.ListInputs(terms)
	if err != nil {
		return 0, err
	}
	v.Row.Account, v.Row.Terms, v.Row.Paid, v.Row.Actor = account, terms, listNumbers(v.Sends), sc.Actor
	var id int64
	err = s.Sends.DB.Write(ctx, func(tx *models.Tx) (err error) {
		id, err = s.saveBatch(tx, v, order, keys)
		return err
	})
	return id, err
}

// saveBatch stores a prepared transaction, unless one of the sends changed since it was read. The rows of the
// sends are locked before the batch's own.
func (s *Batches) saveBatch(tx *models.Tx, v View, order chain.Order, keys []string) (int64, error) {
	row, now := v.Row, s.Sends.Clock()
	row.UpdatedAt = now
	if row.ID == 0 {
		row.CreatedAt = now
		if err := tx.Create(&row).Error; err != nil {
			return 0, err
		}
	}
	for _, seen := range v.Sends {
		one, err := s.Sends.Signing.LoadReady(tx, seen.Send.ID)
		if err != nil {
			return 0, payer.NameFault(seen.Send.Reference, err)
		}
		if one.Version() != seen.Version() {
			return 0, send.ErrSeenEarlier
		}
		one.Send.Account, one.Send.BatchID, one.Send.SigningAt = row.Account, &row.ID, &now
		if err := s.Sends.Signing.SaveSigning(tx, one, "signing", row.Actor,
			map[string]any{"account": row.Account, "batch": row.ID}); err != nil {
			return 0, err
		}
	}
	row.Sealed = s.sealBatch(row)
	if err := tx.Save(&row).Error; err != nil {
		return 0, err
	}
	return row.ID, outputs.Reserve(tx, now, holderOf(row), order, keys)
}

// Submit compares a signed transaction with all sends of a batch, and has the network's node broadcast it if
// it makes exactly these. Only the network's blocks change the sends' states.
//
// Faults: as Open; Invalid for signed; Conflict for a batch without a usable transaction, and for sends that
// changed meanwhile; Unavailable while the network's node can't be asked.
func (s *Batches) Submit(ctx context.Context, sc scope.Scope, id int64, signed string) (send.Submitted, error) {
	v, err := s.Open(ctx, sc, id)
	switch {
	case err != nil:
		return send.Submitted{}, err
	case v.IsOutdated():
		return send.Submitted{}, errOutdated
	case v.Unsigned == nil:
		return send.Submitted{}, errNothing
	}
	ready := v.ListReady()
	checked, differences, err := payer.CheckSigned(v.signer, orderOf(ready, v.Row.Account), v.Row.Terms, signed)
	if err != nil || len(differences) > 0 {
		return send.Submitted{Signed: checked, Differences: differences}, err
	}
	err = s.Sends.DB.Write(ctx, func(tx *models.Tx) error { return s.noteSigned(tx, sc, v.Row, ready, checked) })
	if err != nil {
		return send.Submitted{}, err
	}
	return s.Sends.Signing.Broadcast(ctx, v.signer, checked, ready...)
}

// noteSigned stores a checked transaction with the batch and each of its sends, unless they changed since
// they were read. The fee is of the whole transaction, and is booked once.
func (s *Batches) noteSigned(tx *models.Tx, sc scope.Scope, seen models.SendBatch, sends []send.View,
	checked chain.Signed) error {
	for _, one := range sends {
		now, err := s.Sends.Signing.LoadReady(tx, one.Send.ID)
		if err != nil {
			return payer.NameFault(one.Send.Reference, err)
		}
		if err := s.Sends.Signing.SaveSigned(tx, now, checked, sc.Actor); err != nil {
			return err
		}
	}
	// A preparation locks the sends first, so none is between these rows and the row of the batch.
	var row models.SendBatch
	if err := tx.Where("id = ?", seen.ID).Take(&row).Error; err != nil {
		return err
	}
	if row.Sealed != seen.Sealed {
		return send.ErrSeenEarlier
	}
	row.SignedHash, row.UpdatedAt = checked.Hash, s.Sends.Clock()
	return tx.Save(&row).Error
}
