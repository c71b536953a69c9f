package signing

import (
	"context"

	"cointill/core/payment/refund"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/models"
)

// NoteSent records that a wallet says that it has sent the transaction of a prepared send, by its hash: the send
// keeps its money from then on, as one whose transaction was given to the network here. Wallets may choose another
// number than the prepared one, so that a second transaction could confirm beside the first. Only the network's
// blocks show which transaction pays the send.
//
// Faults: Forbidden; NotFound; Invalid for the hash; Conflict for a send that is not ready, was changed or wasn't
// prepared.
func (s *Service) NoteSent(ctx context.Context, sc scope.Scope, reference, hash string) error {
	if err := sc.CheckAction(scope.SignSends); err != nil {
		return err
	}
	if !refund.TransactionHash.MatchString(hash) {
		return errHash
	}
	found, err := s.Sends.Find(ctx, sc, reference)
	if err != nil {
		return err
	}
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		v, err := s.Sends.Signing.LoadReady(tx, found.Send.ID)
		if err != nil {
			return err
		}
		if v.Send.Terms == "" {
			return send.ErrNotPrepared
		}
		now := s.Clock()
		v.Send.BroadcastAt = &now
		return s.Sends.Signing.SaveSigning(tx, v, "wallet_sent", sc.Actor, map[string]any{"hash": hash})
	})
}
