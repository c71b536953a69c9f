// Package claim notes the transactions that customers say to have paid with.
package claim

import (
	"context"

	"cointill/core/fault"
	"cointill/core/payment"
	"cointill/core/payment/refund"
	"cointill/core/payment/timeline"
	"cointill/models"
)

// Service notes them.
type Service struct{ Payments *payment.Service }

// Note notes the hash that a customer says to have paid with. It moves no
// state: only the chain does. At most ten are kept for a payment.
func (c *Service) Note(ctx context.Context, token, hash string) error {
	s := c.Payments
	if !refund.TransactionHash.MatchString(hash) {
		return fault.RefuseField("hash", "Must be a transaction hash: 64 of the characters 0–9 and a–f. Never enter "+
			"a key or secret words here.")
	}
	found, err := s.ByToken(ctx, token)
	if err != nil {
		return err
	}
	p := found.Payment
	if p.Address == "" {
		return fault.New(fault.Conflict, "payment_not_opened",
			"This payment was never opened, so nothing can have been paid to it.")
	}
	_, err = s.ChangePayment(ctx, p, func(tx *models.Tx, v *payment.View) error {
		var notes int64
		if err := tx.Model(&models.Step{}).Where("payment_id = ? AND actor = ? AND kind = ?", p.ID, "customer",
			payment.StepNote).Count(&notes).Error; err != nil {
			return err
		}
		if notes >= 10 {
			return fault.New(fault.Limited, "too_many_claims",
				"Too many hashes were entered for this payment. Please contact the merchant.")
		}
		row := s.NumberStep(v, models.Step{Kind: payment.StepNote, From: v.Payment.Status, To: v.Payment.Status,
			Actor:  "customer",
			Remark: "The customer says to have paid with this transaction.",
			Detail: timeline.WriteDetail(timeline.Claimed, map[string]any{"hash": hash})})
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		return s.SavePayment(tx, v)
	})
	return err
}
